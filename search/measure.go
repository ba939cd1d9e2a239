package search

import (
	"slices"

	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/scenarios"
)

// Sizes of what is written, in bytes.
const (
	numberBytes   = 8
	positionBytes = 2 * numberBytes // the partition, and the offset in it
	identityBytes = 4 * numberBytes // partition, offset, operator and path
)

// Measure says what a judged run cost.
func Measure(res *scenarios.Result) Metrics {
	m := meter{res: res, hist: res.Subject.History, shown: map[model.ID]int64{},
		state: map[row]int64{}, written: map[step]bool{}, table: map[row]model.Record{},
		parts: map[part]int64{}, txns: newTxnLog()}
	for i := range m.hist.Servings {
		m.serving(&m.hist.Servings[i])
	}
	m.observed()
	for _, size := range m.state {
		m.StateBytes += size
	}
	for _, size := range m.parts {
		m.StateBytes += size
	}
	m.DurableWrites = m.Durable.Sum()
	m.latencies()
	m.messages()
	m.duplicates()
	m.losses()
	m.IsTraced = len(res.Trace) > 0
	m.reached()
	m.recognised()
	return m.Metrics
}

// meter measures one run.
type meter struct {
	Metrics
	res     *scenarios.Result
	hist    *model.History
	shown   map[model.ID]int64   // by input record: when an output of it was visible first
	state   map[row]int64        // bytes of the keyed state
	written map[step]bool        // outputs that the external system took
	table   map[row]model.Record // what its rows hold, if it is a table

	parts    map[part]int64 // bytes of state and of records in flight in what was uploaded
	retained []int64        // completed checkpoints whose parts are kept
	txns     *txnLog
}

// step is the identity of a record: of an output, or of the input of a step.
type step struct {
	id   model.ID
	op   int32
	path model.Path
}

func stepOf(r *model.Record) step { return step{r.ID, r.Op, r.Path} }

// row is where a table or the state store keeps a record.
type row struct {
	part int64
	step step // of a table by identity
	op   int32
	key  string
}

// serving counts one application of a request by its service.
func (m *meter) serving(s *model.Serving) {
	req := &m.hist.Calls[s.Call].Req
	if s.Forgotten {
		return
	}
	m.txns.serve(s, req, m.visible)
	switch s.Ans.Outcome {
	case model.Done:
		if m.changes(s, req) {
			m.DurableCalls++
		}
	case model.DoneBefore:
		m.DuplicatesAbsorbed++
	case model.Stale:
		if m.written[stepOf(&req.Record)] && m.txns.parts[partOf(req)] == nil {
			m.DuplicatesAbsorbed++
		}
	}
}

// changes counts what a request made durable, and reports whether that is anything.
func (m *meter) changes(s *model.Serving, req *model.Message) bool {
	switch req.Kind {
	case model.OffsetCommit:
		m.wrote(&m.Durable.Position, &m.BytesWritten.Position, positionBytes)
	case model.Put:
		m.putState(&req.Record)
	case model.Mark:
		m.mark()
	case model.Update:
		m.mark()
		if req.Flags&model.WithState != 0 {
			m.putState(&req.Record)
		}
		for i := range req.Parts {
			m.output(&req.Parts[i])
		}
	case model.Write:
		return m.show(s, req, &req.Record)
	case model.WriteBatch:
		isNew := false
		for i := range req.Parts {
			isNew = m.show(s, req, &req.Parts[i]) || isNew
		}
		return isNew
	default:
		return m.coordinates(req)
	}
	return true
}

// wrote counts one durable write.
func (m *meter) wrote(count, bytes *int64, size int) {
	*count++
	*bytes += int64(size)
}

func (m *meter) putState(rec *model.Record) {
	size := len(rec.Key) + valueBytes(rec.Value)
	m.wrote(&m.Durable.State, &m.BytesWritten.State, size)
	m.state[row{op: rec.Op, key: rec.Key}] = int64(size)
}

// mark counts an entry of a catalog: the identity of an input, and its number on the channel.
func (m *meter) mark() {
	m.wrote(&m.Durable.Dedup, &m.BytesWritten.Dedup, identityBytes+numberBytes)
}

func (m *meter) output(rec *model.Record) {
	m.wrote(&m.Durable.Output, &m.BytesWritten.Output,
		identityBytes+len(rec.Key)+valueBytes(rec.Value))
}

func valueBytes(v model.Value) int { return numberBytes + len(v.Text) }

// show counts a record that the external system took, and reports whether it changed anything
// there: a row that is written as it was is a repetition that a table absorbs.
func (m *meter) show(s *model.Serving, req *model.Message, rec *model.Record) bool {
	m.written[stepOf(rec)] = true
	if !m.txns.holds(req) {
		m.visible(rec.ID, s.At)
	}
	if m.res.Subject.Shape != model.Log {
		where := row{part: req.Seq, step: stepOf(rec)}
		if m.res.Subject.Shape == model.Keys {
			where = row{part: req.Seq, op: rec.Op, key: rec.Key}
		}
		if old, known := m.table[where]; known && old == *rec {
			m.DuplicatesAbsorbed++
			return false
		}
		m.table[where] = *rec
	}
	m.output(rec)
	return true
}

// visible notes that an output of an input record can be seen from a time on.
func (m *meter) visible(id model.ID, at int64) {
	if before, known := m.shown[id]; !known || at < before {
		m.shown[id] = at
	}
}

// observed takes in what readers saw before all else says that it could be seen: those of
// uncommitted data.
func (m *meter) observed() {
	for i := range m.hist.Observations {
		o := &m.hist.Observations[i]
		m.visible(o.Out.ID, o.At)
	}
}

func (m *meter) latencies() {
	input := m.res.Subject.Input
	var all []int64
	for id, at := range m.shown {
		if input.Has(id) {
			all = append(all, at-input.Parts[id.Part].Arrival(id.Offset))
		}
	}
	slices.Sort(all)
	m.LatencyP50, m.LatencyP99 = percentile(all, 50), percentile(all, 99)
}

func (m *meter) messages() {
	for _, sent := range m.hist.Extent.Messages {
		for i, n := range sent {
			switch _, kind := model.MessageAt(i); kind {
			case model.Data:
				m.DataMessages += n
			case model.Ack:
				m.AckMessages += n
			default:
				m.ControlMessages += n
			}
		}
	}
}

// duplicates counts what one identity shows more than once in the end.
func (m *meter) duplicates() {
	seen := map[step]bool{}
	for i := range m.hist.Final {
		name := stepOf(&m.hist.Final[i].Out)
		if seen[name] {
			m.DuplicatesVisible++
		}
		seen[name] = true
	}
}

// losses counts the records of which some property says that they are lost.
func (m *meter) losses() {
	lost := map[model.ID]bool{}
	for i := range m.res.Verdicts {
		for j := range m.res.Verdicts[i].Anomalies {
			if a := &m.res.Verdicts[i].Anomalies[j]; a.Kind == model.Loss {
				lost[a.Record.ID] = true
			}
		}
	}
	m.Lost = int64(len(lost))
}

// reached counts the records that reached a first operator again.
func (m *meter) reached() {
	type place struct {
		id    model.ID
		stage int
	}
	seen := map[place]bool{}
	for i := range m.res.Trace {
		e := &m.res.Trace[i]
		if e.Kind != model.EntryDeliver || e.Msg.Kind != model.Data || e.Msg.Record.Op != 0 {
			continue
		}
		task := &m.res.Subject.Job.Tasks[e.Proc]
		if task.Role != model.Operate {
			continue
		}
		at := place{e.Msg.Record.ID, task.Stage}
		if seen[at] {
			m.Replayed++
		}
		seen[at] = true
	}
}

// recognised counts the data that a life acknowledged more often than it did anything about it:
// an operator takes a step, a sink has a write answered.
func (m *meter) recognised() {
	type input struct {
		proc    model.ProcID
		attempt int32
		step    step
	}
	open := map[input]int64{}
	tasks := m.res.Subject.Job.Tasks
	for i := range m.res.Trace {
		e := &m.res.Trace[i]
		if e.Proc < 0 {
			continue
		}
		role := tasks[e.Proc].Role
		at := input{e.Proc, e.Attempt, stepOf(&e.Msg.Record)}
		switch {
		case e.Kind == model.EntryApply,
			e.Kind == model.EntryAnswer && e.Msg.Kind == model.Write && isSettled(e.Outcome):
			open[at]++
		case e.Kind != model.EntrySend || e.Msg.Kind != model.Ack:
		case role != model.Operate && role != model.Sink || tasks[e.To].Role == model.Extra:
		case open[at] > 0:
			open[at]--
		default:
			m.DuplicatesAbsorbed++
		}
	}
}

// isSettled reports whether an outcome leaves nothing to do: what was asked for is there.
func isSettled(o model.Outcome) bool {
	return o == model.Done || o == model.DoneBefore || o == model.Stale
}
