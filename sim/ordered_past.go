package sim

import "github.com/oncesim/oncesim/model"

// chains are what is kept of the past: all of it on which a verdict can depend, and no more.
//
// An event that judges look at is about some objects: a process, a partition of the input, a row, a
// key, a task's parts of checkpoints, the pointer of the store, the external system. An object has
// a chain, the hash of the last event about it, of the chains that this event met, and so of
// everything that happened before it by way of objects. Equal chains mean histories that differ by
// exchanging neighbours that are about different objects, and by what is not an event here. What
// remains to be seen is that the checkers cannot tell such histories apart.
//
//   - Claims are replayed life by life (checker/claims.go): an application, the request that
//     stores a state, what a Get or a Download returned, and how a life began and ended, are
//     events of their process. What a Get or a Download returned depends on what was stored before
//     it: the chain of the object when it was served is part of what is told. One that is never
//     told is ignored by judges, so that reading is no event.
//   - Which of several claims of one step is the latest when its output is claimed to be applied
//     further on, or asked to be written, matters only where a step is claimed twice. Then, as
//     Known.repeats says, these are events of the input record as well.
//   - Servings are looked at one object at a time: offsets by partition, states by key, parts by
//     task and checkpoint, the completed checkpoint by itself, transactions and batches in the
//     external system, which is one object. A Completion, the end of a batch and a Discard are
//     about the parts of all tasks: which are there then is what a checkpoint is.
//   - Whether a request was that of a replaced attempt (checker/survey.go) is part of the event.
//     Ids that are given out are judged only in that respect.
//   - Readers poll after each serving of the external system, so that what they saw, and in which
//     poll, follows from its chain. Time, which decides about transactions that are past theirs,
//     is part of the events of a sink that has transactions.
//   - That the input ends counts if it is told. Fetches are otherwise cited, never judged.
//   - A checkpoint that the claims do not explain is judged by the history up to its completion
//     (checker/cuts.go). That judges values: any order of the inputs before the cut will do. Which
//     claims were made by then matters only where operators are not deterministic, since claims
//     are where their nonces are found; then a Completion is about all processes.
//   - The order of a list decides which of several anomalies is named first, not whether there is
//     one. Where the budget of a search is spent the verdict is unknown, and counted as such.
//
// Too fine a division costs time, too coarse a one would be wrong. TestOrdered_OnePastOneVerdict
// looks for two runs with one key and two verdicts.
type chains struct {
	list  []sum
	total sum
	log   []replaced // to undo
	base  objects
}

// replaced is what a chain was.
type replaced struct {
	object int
	was    sum
}

// objects says where in chains each kind of object begins.
type objects struct {
	external, pointer, parts, rows, inputs, keys, records, end int
	isRandom, hasTime                                          bool
}

// How many different keys, and input records, have chains of their own. Others share them, which
// is too fine and not wrong.
const (
	keyChains    = 16
	recordChains = 32
)

func (c *chains) open(w *World) {
	n := len(w.slots)
	b := objects{external: n, pointer: n + 1, parts: n + 2, rows: 2*n + 2, inputs: 3*n + 2}
	b.keys = b.inputs + len(w.input.Parts)
	b.records = b.keys + keyChains
	b.end = b.records + recordChains
	for i := range w.job.Topology.Stages {
		b.isRandom = b.isRandom || w.job.Topology.Stages[i].Operator.Kind == model.NonDeterministic
	}
	b.hasTime = w.sink.Transactional
	c.base, c.list, c.total = b, make([]sum, b.end), sum{}
}

// undo goes back to where the log was shorter.
func (c *chains) undo(log int, total sum) {
	for i := len(c.log) - 1; i >= log; i-- {
		c.list[c.log[i].object] = c.log[i].was
	}
	c.log, c.total = c.log[:log], total
}

// happened adds an event to the chains of its objects.
func (c *chains) happened(event sum, about ...int) {
	for _, i := range about {
		event.add(c.list[i].a, c.list[i].b)
	}
	for _, i := range about {
		c.log = append(c.log, replaced{i, c.list[i]})
		c.total.minus(c.part(i))
		c.list[i] = event
		c.total.plus(c.part(i))
	}
}

// part is what a chain adds to the total.
func (c *chains) part(i int) sum {
	if c.list[i] == (sum{}) {
		return sum{}
	}
	s := sum{traceK10 ^ uint64(i), traceK11 ^ uint64(i)}
	s.add(c.list[i].a, c.list[i].b)
	return s
}

// about appends the objects in a service that a request is about.
func (c *chains) about(req *model.Message, list []int) []int {
	b := &c.base
	switch req.Kind {
	case model.Position, model.Latest, model.Fetch, model.OffsetCommit:
		return append(list, b.inputs+int(req.Record.ID.Part))
	case model.Get, model.Put:
		return append(list, b.key(&req.Record))
	case model.LoadIDs, model.LoadOutbox, model.Update, model.Mark:
		list = append(list, b.rows+int(req.Token))
		if req.Flags&model.WithState != 0 {
			list = append(list, b.key(&req.Record))
		}
		return list
	case model.Upload, model.Download:
		return append(list, b.parts+int(req.Token))
	case model.NextCheckpoint, model.Newest, model.PlanBatch, model.NewestBatch:
		return append(list, b.pointer)
	case model.Completion, model.FinishBatch, model.Discard:
		list = append(list, b.pointer)
		for i := b.parts; i < b.rows; i++ {
			list = append(list, i)
		}
		return list
	}
	return append(list, b.external)
}

// key is the chain of a keyed state.
func (b *objects) key(r *model.Record) int {
	return b.keys + int((model.HashText(r.Key)+uint64(r.Op))%keyChains)
}

// record is the chain of an input record.
func (b *objects) record(id model.ID) int {
	return b.records + int((uint64(id.Part)*7+uint64(id.Offset))%recordChains)
}

// remember adds the events of a step to the past.
func (o *Ordered) remember(before mark, it *waiting) {
	switch it.kind {
	case itemServe:
		o.rememberServing(it)
	case itemAnswer:
		o.rememberTold(it)
	}
	o.rememberClaims(before)
	o.rememberLives(before)
}

// rememberServing adds a serving. Where it changes nothing, what it says of the past goes with the
// answer.
func (o *Ordered) rememberServing(it *waiting) {
	w := o.w
	call, in := &w.hist.Calls[it.call], w.insts[it.inst]
	req := &call.Req
	about := o.past.about(req, o.scratch.about[:0])
	o.scratch.about = about
	for _, object := range about {
		o.learned.touched[object] |= 1 << in.slot
	}
	event := sumOf(itemServe)
	event.add(it.a, it.b)
	event.answer(&call.Ans)
	if a := o.answerTo(it.call); a != nil {
		a.number, a.effect, a.sum = it.number, it.effect, event
		if req.Kind == model.Get || req.Kind == model.Download {
			for _, object := range about {
				a.add(o.past.list[object].a, o.past.list[object].b)
			}
			if !w.calls[it.call].blocking {
				a.add(o.past.list[in.slot].a, o.past.list[in.slot].b)
			}
		}
	}
	reigns := w.slots[in.slot].newest == it.inst
	if !req.Kind.IsDurable() || req.Kind == model.NextCheckpoint && reigns {
		return
	}
	if !reigns {
		event.add(1, 1)
	}
	if call.Service == model.External && o.past.base.hasTime {
		event.add(uint64(w.now), 0)
	}
	if o.past.base.isRandom && (req.Kind == model.Completion || req.Kind == model.FinishBatch) {
		for i := range w.slots {
			about = append(about, i)
		}
		o.scratch.about = about
	}
	o.past.happened(event, about...)
}

// answerTo is the answer on its way to a call, or nil.
func (o *Ordered) answerTo(call int32) *waiting {
	for i := len(o.items) - 1; i >= 0; i-- {
		if it := &o.items[i]; it.kind == itemAnswer && it.call == call {
			return it
		}
	}
	return nil
}

// rememberTold adds that a caller knows an answer.
func (o *Ordered) rememberTold(it *waiting) {
	call := &o.w.hist.Calls[it.call]
	switch call.Req.Kind {
	case model.Fetch:
		if !call.Ans.End {
			return
		}
	case model.Get, model.Download:
	default:
		return
	}
	event := sumOf(itemAnswer)
	event.add(it.a, it.b)
	o.past.happened(event, int(call.Proc))
}

// rememberClaims adds what processes claimed, and what they asked to be stored, in order.
func (o *Ordered) rememberClaims(before mark) {
	h := &o.w.hist
	claims, calls := h.Applications[before.applications:], h.Calls[before.calls:]
	for len(claims)+len(calls) > 0 {
		if len(calls) == 0 || len(claims) > 0 && claims[0].N < calls[0].Invoked {
			o.rememberClaim(&claims[0])
			claims = claims[1:]
			continue
		}
		if req := &calls[0].Req; req.Kind.IsDurable() {
			event := sumOf(itemResume)
			event.message(req)
			o.happened(event, calls[0].Proc, req, calls[0].Service == model.External)
		}
		calls = calls[1:]
	}
}

func (o *Ordered) rememberClaim(a *model.Application) {
	event := sumOf(itemSuspect)
	event.add(uint64(a.Op), uint64(a.Outputs))
	event.record(&a.In)
	event.text(a.Dropped)
	req := model.Message{Record: a.In}
	o.happened(event, a.Proc, &req, true)
	if o.known.repeatsSteps() || o.learned.repeats {
		return
	}
	for i := range o.w.hist.Applications {
		other := &o.w.hist.Applications[i]
		if other != a && other.Op == a.Op && other.In.Same(a.In) {
			o.learned.repeats = true
		}
	}
}

// happened adds an event of a process, and where steps repeat of the records that it is about.
func (o *Ordered) happened(event sum, p model.ProcID, req *model.Message, isOfRecords bool) {
	about := append(o.scratch.about[:0], int(p))
	if isOfRecords && o.known.repeatsSteps() {
		about = append(about, o.past.base.record(req.Record.ID))
		for i := range req.Parts {
			about = append(about, o.past.base.record(req.Parts[i].ID))
		}
	}
	o.scratch.about = about
	o.past.happened(event, about...)
}

// rememberLives adds which lives ended in a step, and which began.
func (o *Ordered) rememberLives(before mark) {
	h := &o.w.hist
	for i := range h.Lives {
		life := &h.Lives[i]
		isNew := i >= before.lives
		wasAlive := isNew || o.hadNotEnded(i)
		event := sumOf(itemFence)
		if isNew {
			event.add(uint64(life.Attempt)<<32|uint64(life.Life), life.Nonce)
			o.past.happened(event, int(life.Proc))
		}
		if life.Ended != 0 && wasAlive {
			event = sumOf(itemFault)
			event.add(uint64(life.How), model.HashText(life.Reason))
			o.past.happened(event, int(life.Proc))
			o.learned.fails = o.learned.fails || life.How == model.GaveUp
		}
	}
}

// hadNotEnded reports whether a life had not ended before the step that was taken last.
func (o *Ordered) hadNotEnded(life int) bool {
	f := &o.frames[o.depth-1]
	if f.one.index != nobody {
		return int(f.one.life) == life && f.one.ended == 0
	}
	return f.all[life].ended == 0
}

// PastLen is how many events the past has, each counted once for every object that it is about.
// Runs that end under one Ending have as many.
func (o *Ordered) PastLen() int { return len(o.past.log) }

// IsTowards reports whether all that the last step added to the past is part of the past of goal,
// another driver of the same job that has come to the end of a run. What holds of every step on a
// way to an end that has the same Ending holds of few others.
func (o *Ordered) IsTowards(goal *Ordered) bool {
	for _, r := range o.past.log[o.frames[o.depth-1].pastLog:] {
		if !goal.past.has(r.object, o.past.list[r.object]) {
			return false
		}
	}
	return true
}

// has reports whether the chain of an object is, or was, a sum.
func (c *chains) has(object int, s sum) bool {
	if c.list[object] == s {
		return true
	}
	for i := range c.log {
		if c.log[i].object == object && c.log[i].was == s {
			return true
		}
	}
	return false
}
