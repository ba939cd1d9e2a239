package defects

import "github.com/oncesim/oncesim/model"

// sendBeforeUpdate sends outputs under the numbers that the store is going to give them. n is the
// next of these.
var sendBeforeUpdate = Defect{
	Name: "send-before-it-is-kept", Kind: &ReplayDiffers, IsKindOnly: true,
	Modes:    []string{"dedup"},
	Says:     "outputs leave before they are durable, and a repetition draws other ones",
	Origin:   "apache/beam#7991 (BEAM-6751)",
	Property: "exactly-once",
	Shown: Case{Topology: "lottery", Records: 1,
		Plan: []string{"crash bonus/0 before update 1"}},
	Process: of(model.Operate, meddling{
		heard: func(m *meddler, ev *model.Event, _ *model.Script) bool {
			switch {
			case ev.Kind != model.Answered:
			case ev.Msg.Kind == model.LoadOutbox:
				m.n = ev.Ans.Seq + ev.Ans.N
			case ev.Msg.Kind == model.Update:
				m.n = max(m.n, ev.Ans.Seq+int64(len(ev.Msg.Parts)))
			}
			return true
		},
		said: func(m *meddler, list []model.Effect) []model.Effect {
			for i := range list {
				if is(&list[i], model.Update) {
					out := append(early(m, list[i].Msg.Parts), list[i:]...)
					return append(list[:i:i], out...)
				}
			}
			return list
		},
	}),
}

// early sends what an update is to put in the outbox.
func early(m *meddler, parts []model.Record) []model.Effect {
	var s model.Script
	for i, rec := range parts {
		number := m.n + int64(i)
		route := m.task.Routes[number%int64(len(m.task.Routes))]
		to := m.task.Out[route.Pick(m.task.Subtask, &rec)]
		s.Send(to.Peer, model.Message{Kind: model.Data, Channel: to.There, Seq: number,
			Cursor: number - 1, Record: rec})
	}
	return s.Effects
}

var nameByAttempt = Defect{
	Name: "row-named-by-attempt", Kind: &ReplayDiffers, Modes: []string{"idempotent"},
	Says:     "the name of a row has the attempt of its writer in it: a repetition is another row",
	Origin:   "apache/spark#22331 (SPARK-25331)",
	Property: "at-most-once",
	Shown: Case{Topology: "pipeline", Records: 1,
		Plan: []string{"crash sink/0 before ack of write 1"}},
	Service: named(func(_ int64, req *model.Message) rowName {
		return rowName{rec: identity(&req.Record), number: int64(req.Attempt)}
	}),
}

// nameSlot is how long the rows of nameByClock have one name.
const nameSlot = 10_000_000

var nameByClock = Defect{
	Name: "row-named-by-clock", Kind: &ReplayDiffers, IsKindOnly: true,
	Modes:    []string{"idempotent"},
	Says:     "the name of a row has the time in it: a repetition that comes late is another row",
	Origin:   "confluentinc/kafka-connect-storage-cloud#341",
	Property: "at-most-once",
	Shown: Case{Topology: "pipeline", Records: 1,
		Plan: []string{"lose answer of write 1 from sink/0"}},
	Service: named(func(now int64, req *model.Message) rowName {
		return rowName{rec: identity(&req.Record), number: now / nameSlot}
	}),
}

// nameByCount has the sink tell the number of a write in Token. n is the number of the last one.
var nameByCount = Defect{
	Name: "row-named-by-count", Kind: &ReplayDiffers, IsKindOnly: true,
	Modes:    []string{"idempotent"},
	Says:     "a row is named by how many its writer has written: a restart hits other rows",
	Origin:   "Zooz/kafka-s3-connector#2",
	Property: "no-revision",
	Shown: Case{Topology: "pipeline", Records: 2,
		Plan: []string{"crash sink/0 after effect 2"}},
	Process: of(model.Sink, meddling{
		said: each(func(m *meddler, e *model.Effect) {
			if is(e, model.Write) {
				m.n++
				e.Msg.Token = m.n
			}
		}),
	}),
	Service: named(func(_ int64, req *model.Message) rowName {
		return rowName{number: req.Token}
	}),
}

// rowName is what a namedTable finds a row by.
type rowName struct {
	rec    model.Record
	number int64
}

// identity is what a record is, without what it says.
func identity(r *model.Record) model.Record {
	return model.Record{ID: r.ID, Path: r.Path, Op: r.Op}
}

// namedTable is a table of outputs that has its own names for their rows.
type namedTable struct {
	name  func(now int64, req *model.Message) rowName
	parts []namedPart
}

// namedPart is a partition.
//
//	rows       the names, in the order in which they came
//	changes    what became of rows, in order; places[i] is the row of changes[i]
type namedPart struct {
	rows    []rowName
	changes []model.Record
	places  []int64
}

// named puts a namedTable in the place of the external table.
func named(name func(now int64, req *model.Message) rowName) func(model.ServiceID,
	model.Service) model.Service {
	return only(model.External, func(behind) model.Service { return &namedTable{name: name} })
}

// Reset implements model.Service.
func (t *namedTable) Reset() { t.parts = nil }

// Serve implements model.Service.
func (t *namedTable) Serve(now int64, req *model.Message, ans *model.Answer) {
	for int64(len(t.parts)) <= req.Seq {
		t.parts = append(t.parts, namedPart{})
	}
	part := &t.parts[req.Seq]
	switch {
	case req.Kind == model.Write:
		ans.Seq = part.row(t.name(now, req))
		part.changes = append(part.changes, req.Record)
		part.places = append(part.places, ans.Seq)
	case req.Flags&model.Whole != 0:
		ans.Records = part.whole()
	default:
		ans.Seq, ans.Records = req.Cursor, part.changes[req.Cursor:]
		ans.Places = part.places[req.Cursor:]
	}
	ans.N = int64(len(ans.Records))
}

// row is the place of a name, a new one if it has none yet.
func (p *namedPart) row(name rowName) int64 {
	for i := range p.rows {
		if p.rows[i] == name {
			return int64(i)
		}
	}
	p.rows = append(p.rows, name)
	return int64(len(p.rows) - 1)
}

// whole is what the rows hold.
func (p *namedPart) whole() []model.Record {
	rows := make([]model.Record, len(p.rows))
	for i, row := range p.places {
		rows[row] = p.changes[i]
	}
	return rows
}

// State implements model.Service.
func (t *namedTable) State(c *model.Codec) {
	model.Slice(c, &t.parts, func(p *namedPart) {
		model.Slice(c, &p.rows, func(n *rowName) {
			c.Record(&n.rec)
			c.Int64(&n.number)
		})
		model.Slice(c, &p.changes, c.Record)
		model.Slice(c, &p.places, c.Int64)
	})
}
