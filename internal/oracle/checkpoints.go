package oracle

import (
	"maps"
	"slices"

	"github.com/oncesim/oncesim/model"
)

// part is what a task has uploaded of a checkpoint, with the lineage that its records have in the
// life that uploaded it.
type part struct {
	records []model.Record
	state   int64      // so many of the records are keyed state, or what the role of the task keeps
	states  []*version // of an operator: of each keyed state
	from    []int64    // per record: the delivery that brought it, or 0
	attempt int32      // of the life that uploaded it
	isGone  bool
}

// partKey is the place of a part.
type partKey struct {
	checkpoint int64
	task       int64
}

// checkpoint is a checkpoint as it was when it was completed.
type checkpoint struct {
	id    int64
	n     int64          // the event that completed it
	parts []*part        // per task; nil: it has none
	plan  []model.Record // of a batch: where it ends in each partition
}

// cut is the memory of a life as it was at a barrier.
type cut struct {
	checkpoint int64
	memory     map[string]*version
}

// snapshots is what a run tells of checkpoints.
type snapshots struct {
	uploads     map[int64]*part     // by the invocation of the upload
	downloaded  map[int64]*part     // by the serving of the download
	parts       map[partKey][]*part // what the store has had in a place, the latest last
	ofTask      map[int64][]*part   // what it has had of a task
	kept        []keptState
	completions []*checkpoint
	retained    []int64
	plans       map[int64][]model.Record // of batches
}

func newSnapshots() snapshots {
	return snapshots{uploads: map[int64]*part{}, downloaded: map[int64]*part{},
		parts: map[partKey][]*part{}, ofTask: map[int64][]*part{},
		plans: map[int64][]model.Record{}}
}

// passed notes the state of a life when its first barrier of a checkpoint leaves it: that is the
// snapshot, though it is uploaded later.
func (r *run) passed(e *model.Entry) {
	if l := r.lifeOf(e); l.cut.checkpoint != e.Msg.Seq {
		l.cut = cut{e.Msg.Seq, maps.Clone(l.memory)}
	}
}

// uploading finds what the records of a part are to the life that uploads it.
func (r *run) uploading(e *model.Entry) {
	l, p := r.lifeOf(e), &part{records: e.Msg.Parts, state: e.Msg.N, attempt: e.Attempt}
	for i := range p.records {
		rec := &p.records[i]
		if int64(i) < p.state && r.o.job.Tasks[e.Proc].Role == model.Operate {
			p.states = append(p.states, l.versionOf(rec, e.Msg.Seq))
			p.from = append(p.from, 0)
			continue
		}
		p.from = append(p.from, r.brought(l, rec))
	}
	r.uploads[e.N] = p
}

// versionOf finds the version that a life has uploaded: of its snapshot, of its memory if the
// snapshot is a view of it, or of what went before.
func (l *life) versionOf(rec *model.Record, checkpoint int64) *version {
	if l.cut.checkpoint == checkpoint {
		if v := l.cut.memory[rec.Key]; v != nil && v.value == rec.Value {
			return v
		}
	}
	memory := l.memory[rec.Key]
	for v := memory; v != nil; v = v.base {
		if v.value == rec.Value {
			return v
		}
	}
	if memory == nil {
		return &version{value: rec.Value, flaw: fabricated}
	}
	return &version{base: memory, value: rec.Value, length: memory.length, again: memory.again,
		flaw: unexplained}
}

// torn is what is left of a part of which the store has kept the beginning.
func (p *part) torn() *part {
	n := len(model.FirstHalf(p.records))
	return &part{records: p.records[:n], state: min(p.state, int64(n)),
		states: p.states[:min(n, len(p.states))], from: p.from[:n], attempt: p.attempt}
}

// uploaded keeps a part that the store has accepted.
func (r *run) uploaded(e *model.Entry, p *part) {
	if e.Detail == "torn" {
		p = p.torn()
	}
	at := partKey{e.Msg.Seq, e.Msg.Token}
	r.parts[at] = append(r.parts[at], p)
	r.ofTask[at.task] = append(r.ofTask[at.task], p)
	for i, v := range p.states {
		r.kept = append(r.kept, keptState{e.N, p.records[i], v})
	}
}

// keptState is a keyed state in a part that the store has accepted.
type keptState struct {
	n   int64
	rec model.Record
	v   *version
}

// partOf is the part that the store has of a task, or nil.
func (r *run) partOf(checkpoint int64, task model.ProcID) *part {
	list := r.parts[partKey{checkpoint, int64(task)}]
	if len(list) == 0 || list[len(list)-1].isGone {
		return nil
	}
	return list[len(list)-1]
}

// completed makes a checkpoint the completed one, and drops those that are not retained.
func (r *run) completed(e *model.Entry) {
	id := e.Msg.Seq
	if n := len(r.retained); n > 0 && id < r.retained[n-1] {
		r.found = append(r.found, Finding{Kind: model.PointerRegression,
			Record: checkpointRecord(id), Event: e.N})
	}
	r.completions = append(r.completions, r.complete(id, e.N))
	if i := slices.Index(r.retained, id); i >= 0 { // what followed it is given up
		r.retained = r.retained[:i]
	}
	r.retained = append(r.retained, id)
	if over := int64(len(r.retained)) - e.Msg.N; over > 0 {
		r.retained = r.retained[over:]
	}
	r.drop(func(other int64, _ *part) bool {
		return other < id && !slices.Contains(r.retained, other)
	})
}

// finished makes the state that a batch leaves the one that counts: batches are checkpoints whose
// cut was planned before.
func (r *run) finished(e *model.Entry) {
	c := r.complete(e.Msg.Seq, e.N)
	c.plan = r.plans[e.Msg.Seq]
	r.completions = append(r.completions, c)
}

// complete collects the parts of a checkpoint.
func (r *run) complete(id, n int64) *checkpoint {
	c := &checkpoint{id: id, n: n}
	for i := range r.o.job.Tasks {
		c.parts = append(c.parts, r.partOf(id, r.o.job.Tasks[i].Proc))
	}
	return c
}

// discarded drops the parts of a checkpoint. Of a batch, which is run again under its number, it
// leaves what the attempt that asks, or a later one, has uploaded.
func (r *run) discarded(e *model.Entry) {
	_, isBatch := r.plans[e.Msg.Seq]
	r.drop(func(checkpoint int64, p *part) bool {
		return checkpoint == e.Msg.Seq && (!isBatch || p.attempt < e.Attempt)
	})
}

// drop drops some parts. Lives that have them may go on with them.
func (r *run) drop(isToGo func(checkpoint int64, p *part) bool) {
	for at, list := range r.parts {
		if p := list[len(list)-1]; isToGo(at.checkpoint, p) {
			p.isGone = true
		}
	}
}

// checkpointRecord is the record under which a checkpoint is reported.
func checkpointRecord(id int64) model.Record {
	return model.Record{ID: model.ID{Part: -1, Offset: id}}
}

// downloads finds the part that a served download answers with: one that the store has had in that
// place, or else of that task. An answer that is none of them is put together from their records.
func (r *run) downloads(e *model.Entry) *part {
	if !e.Ans.Found {
		return nil
	}
	list := slices.Clone(r.ofTask[e.Msg.Token])
	if e.Msg.Seq != 0 {
		list = append(list, r.parts[partKey{e.Msg.Seq, e.Msg.Token}]...)
	}
	slices.Reverse(list)
	for _, p := range list {
		if p.state == e.Ans.N && slices.Equal(p.records, e.Ans.Records) {
			return p
		}
	}
	p := &part{records: e.Ans.Records, state: e.Ans.N}
	for i := range p.records {
		isState := int64(i) < p.state && r.o.job.Tasks[e.Proc].Role == model.Operate
		v, from := lineageOf(list, &p.records[i], isState)
		if isState {
			p.states = append(p.states, v)
		}
		p.from = append(p.from, from)
	}
	return p
}

// lineageOf finds a record of an answer in the first part that has it: as a state, the version, or
// as one in flight, what brought it.
func lineageOf(list []*part, rec *model.Record, isState bool) (v *version, from int64) {
	for _, p := range list {
		for i := range p.records {
			if p.records[i] == *rec && isState == (i < len(p.states)) {
				if isState {
					return p.states[i], 0
				}
				return nil, p.from[i]
			}
		}
	}
	return &version{value: rec.Value, flaw: fabricated}, 0
}

// restored has a life begin from a part.
func (r *run) restored(e *model.Entry) {
	l, p := r.lifeOf(e), r.downloaded[e.Cause]
	if p == nil {
		return
	}
	l.memory, l.flight = nil, nil
	for i := range p.records {
		if i < len(p.states) {
			l.remember(p.records[i].Key, p.states[i])
			continue
		}
		l.flight = append(l.flight, inFlight{rec: p.records[i], delivered: p.from[i]})
	}
}

// inFlight is a record that a life has from the part that it began from.
type inFlight struct {
	rec       model.Record
	delivered int64 // to the life that uploaded it, or 0
	isTaken   bool  // it was applied
}

// taken finds the delivery that an application handles. What was in flight comes first.
func (r *run) taken(l *life, rec *model.Record) int64 {
	for i := range l.flight {
		if f := &l.flight[i]; !f.isTaken && f.rec == *rec {
			f.isTaken = true
			return f.delivered
		}
	}
	return r.handled(l, rec)
}

// brought finds the delivery that brought a record which a life has kept: to itself, or to the life
// whose part it began from.
func (r *run) brought(l *life, rec *model.Record) int64 {
	n := r.handled(l, rec)
	if n != 0 && r.entry(n).Msg.Record == *rec {
		return n
	}
	for i := len(l.flight) - 1; i >= 0; i-- {
		if l.flight[i].rec == *rec {
			return l.flight[i].delivered
		}
	}
	return n
}
