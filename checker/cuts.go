package checker

import (
	"math"
	"slices"
	"sort"

	"github.com/oncesim/oncesim/model"
)

// cuts say of one completed checkpoint after the other whether it is the state of its cut. What is
// known of one is the base for the next: only what came in between is looked at.
type cuts struct {
	isWitness bool    // the last one is explained, and what follows is about it
	ends      []int64 // its cut
	tops      []int32 // by cell: the version that it has, plus one
	full      int     // how many cells have one
	held      []bool  // by slot: the step is in it
	taken     []bool  // by claim: and so it was taken
	due       []int32 // by operator: how many inputs it must have had
	had       []int32 // and has had
	added     []int32 // claims, plus one
	lanes     table   // (way of tasks, partition) → reached
	reached   []reach
	undone    []undo
	inner     *Judge // for what the claims do not explain
}

// reach is how far a channel has been taken.
type reach struct {
	at   int64
	path model.Path
}

func (r reach) isBefore(other reach) bool {
	return r.at < other.at || r.at == other.at && r.path < other.path
}

// undo is how far a channel had been taken before a record that is in flight.
type undo struct {
	lane int32
	reach
}

// judgeCuts judges each completed checkpoint: its state, after what it holds in flight has been
// delivered, must be that of a failure-free execution of exactly the inputs before its cut. It
// returns a reason where that is not known.
func (j *Judge) judgeCuts() (reason string) {
	c := &j.cuts
	c.isWitness = false
	for i := range j.checkpoints.completed {
		done := &j.checkpoints.completed[i]
		if j.isCut(done) {
			continue
		}
		result, why := j.searchCut(done)
		switch result {
		case model.Violated:
			j.reportCut(model.InconsistentCut, done)
		case model.Undecided:
			reason = max(reason, why)
		}
	}
	return reason
}

// reportCut reports something about a completed checkpoint.
func (j *Judge) reportCut(kind model.AnomalyKind, done *completion) {
	a := model.Anomaly{Kind: kind, Record: ofCheckpoint(done.id),
		Expected: model.Fact{Times: -1}, Observed: model.Fact{Times: -1}}
	a.Cite(done.at)
	j.Report(a)
}

// ofCheckpoint is the record of anomalies that are about a checkpoint as a whole.
func ofCheckpoint(id int64) model.Record {
	return model.Record{ID: model.ID{Part: -1, Offset: id}}
}

// isCut reports whether the claims explain a checkpoint.
func (j *Judge) isCut(done *completion) bool {
	c := &j.cuts
	if c.isWitness && j.isFurther(done) && j.follows(done) {
		return true
	}
	j.forgetCut()
	c.isWitness = j.follows(done)
	return c.isWitness
}

// isFurther reports whether a cut is not before the last one anywhere.
func (j *Judge) isFurther(done *completion) bool {
	for part, end := range j.cuts.ends {
		if j.checkpoints.ends[int(done.ends)+part] < end {
			return false
		}
	}
	return true
}

// forgetCut begins with the empty state and the empty cut.
func (j *Judge) forgetCut() {
	c := &j.cuts
	ops := int(j.plan.ops) + 1
	c.ends = slices.Grow(c.ends[:0], j.plan.parts)[:j.plan.parts]
	clear(c.ends)
	c.due, c.had = slices.Grow(c.due[:0], ops)[:ops], slices.Grow(c.had[:0], ops)[:ops]
	clear(c.due)
	clear(c.had)
	c.tops, c.full, c.held, c.taken = c.tops[:0], 0, c.held[:0], c.taken[:0]
	c.lanes.reset()
	c.reached = c.reached[:0]
}

// follows reports whether a checkpoint is the last one and what claims have added to it: each input
// between the two cuts once, and first in first out on every channel. It takes the checkpoint to be
// the last one from then on.
func (j *Judge) follows(done *completion) bool {
	if !j.addVersions(done) {
		return false
	}
	c := &j.cuts
	c.held = lengthen(c.held, len(j.nodes), false)
	c.taken = lengthen(c.taken, len(j.claims.list), false)
	slices.Sort(c.added)
	j.addInputs(done)
	for _, claim := range c.added {
		if !j.addStep(done, claim) {
			return false
		}
	}
	if j.isInFlight(done) {
		return j.followsInFlight(done)
	}
	return j.isBalanced()
}

// isBalanced reports whether each operator has had as many inputs as it must.
func (j *Judge) isBalanced() bool {
	for op := int32(1); op <= j.plan.ops; op++ {
		if j.plan.stages[op].stateful && j.cuts.due[op] != j.cuts.had[op] {
			return false
		}
	}
	return true
}

// addVersions collects the claims between the versions in the last checkpoint and those in this
// one. It reports false where these are not made of those.
func (j *Judge) addVersions(done *completion) bool {
	c := &j.cuts
	c.added = c.added[:0]
	c.tops = lengthen(c.tops, len(j.states.cells), 0)
	again, before := 0, c.full
	for _, n := range j.checkpoints.parts[done.from:done.to] {
		u := &j.checkpoints.uploads[n]
		for _, s := range j.checkpoints.saved[u.from:u.to] {
			top := c.tops[s.cell] - 1
			if c.tops[s.cell] = s.version + 1; top >= 0 {
				again++
			} else {
				c.full++
				top = 0
			}
			version := s.version
			for ; version > top; version = j.claims.list[version-1].base {
				c.added = append(c.added, version)
			}
			if version != top {
				return false
			}
		}
	}
	return again == before
}

// addInputs has the operators wait for what the inputs come to that are in this cut and were not in
// the last one.
func (j *Judge) addInputs(done *completion) {
	for part := range j.plan.parts {
		end := j.checkpoints.ends[int(done.ends)+part]
		records := j.s.Input.Parts[part].Records[j.cuts.ends[part]:end]
		j.cuts.ends[part] = end
		for i := range records {
			for _, op := range j.plan.heads[part] {
				j.await(0, op, &records[i])
			}
		}
	}
}

// await has operators with state wait for a record, or for what comes of it.
func (j *Judge) await(level int, op int32, rec *model.Record) {
	if j.plan.stages[op].stateful {
		j.cuts.due[op]++
		return
	}
	records, _ := j.pure(level, op, j.slot(rec.ID, op, rec.Path), rec)
	for i := range records {
		for _, next := range j.plan.stages[op].next {
			j.await(level+1, next, &records[i])
		}
	}
}

// addStep adds a claim; it reports whether its input is in the cut, was not taken before and comes
// in turn.
func (j *Judge) addStep(done *completion, claim int32) bool {
	c, me, app := &j.cuts, &j.claims.list[claim-1], &j.h.Applications[claim-1]
	if c.held[me.slot] || !j.isIn(done, app.In.ID) {
		return false
	}
	way := j.wayTo(&app.In)
	way.pass(int32(app.Proc))
	lane := j.laneBy(&way)
	at := reach{way.at, app.In.Path}
	if !way.isKnown || !c.reached[lane].isBefore(at) {
		return false
	}
	c.held[me.slot], c.reached[lane] = true, at
	c.taken[claim-1] = true
	c.had[me.op]++
	for n := range me.outs {
		e := &j.claims.emitted[me.out+n]
		out := model.Record{ID: app.In.ID, Path: app.In.Path.Child(int(n)), Op: me.op, Key: e.key,
			Value: e.value}
		for _, next := range j.plan.stages[me.op].next {
			j.await(0, next, &out)
		}
	}
	return true
}

// way is how a record came to where it is: from a partition of the input, or from a task with
// state, through tasks without. What comes one way is first in first out.
type way struct {
	tasks   uint64 // fingerprint
	from    uint64 // the partition; or that it is a task with state
	at      int64  // the offset there, or the claim that emitted it
	isKnown bool
}

func (w *way) pass(task int32) {
	w.tasks = model.Mix(w.tasks^hashA, uint64(uint32(task))^hashB)
}

// wayTo is how a record came to the next task: from the checkpoint, as far as tasks with state are
// on its way.
func (j *Judge) wayTo(rec *model.Record) (w way) {
	if rec.Op == 0 {
		return way{from: uint64(uint32(rec.ID.Part)), at: rec.ID.Offset,
			isKnown: *rec == *j.s.Input.At(rec.ID)}
	}
	if j.plan.stages[rec.Op].stateful {
		from := j.takenEmitter(rec)
		w = way{from: math.MaxUint64, at: int64(from), isKnown: from > 0}
		if w.isKnown {
			w.pass(int32(j.h.Applications[from-1].Proc))
		}
		return w
	}
	from := j.emitter(rec)
	if from == 0 {
		return way{}
	}
	w = j.wayTo(&j.h.Applications[from-1].In)
	w.pass(int32(j.h.Applications[from-1].Proc))
	return w
}

// laneBy is the number of a way.
func (j *Judge) laneBy(w *way) int32 {
	n, fresh := j.cuts.lanes.number(w.tasks, w.from)
	if fresh {
		j.cuts.reached = append(j.cuts.reached, reach{at: -1})
	}
	return n
}

// takenEmitter is the claim in the checkpoint that emits a record as it is, plus one, or 0.
func (j *Judge) takenEmitter(rec *model.Record) int32 {
	first := j.nodes[j.slot(rec.ID, rec.Op, rec.Path>>model.PathBits)].claim
	for i := first; i > 0; i = j.claims.list[i-1].next {
		if j.cuts.taken[i-1] && j.emits(i, rec) {
			return i
		}
	}
	return 0
}

// isInFlight reports whether operators have something in flight in a checkpoint.
func (j *Judge) isInFlight(done *completion) bool {
	for _, n := range j.checkpoints.parts[done.from:done.to] {
		u := &j.checkpoints.uploads[n]
		task := j.holder(&j.h.Calls[u.call].Req)
		if task != nil && task.Role == model.Operate && len(j.flightOf(u)) > 0 {
			return true
		}
	}
	return false
}

// followsInFlight reports whether, with what is in flight, each operator has had all its inputs.
// What comes of a step on what is in flight is awaited and had at once.
func (j *Judge) followsInFlight(done *completion) bool {
	c := &j.cuts
	j.lookAt(done)
	j.deliver(done)
	c.held = lengthen(c.held, len(j.nodes), false)
	c.undone = c.undone[:0]
	follows := true
	for i := range j.checkpoints.flights {
		follows = follows && j.addFlight(done, &j.checkpoints.flights[i])
	}
	follows = follows && j.isBalanced()
	for i := range slices.Backward(c.undone) {
		f, u := &j.checkpoints.flights[i], &c.undone[i]
		if c.held[f.slot] = false; f.root != nil {
			c.reached[u.lane] = u.reach
			c.had[f.op]--
		}
	}
	return follows
}

// addFlight adds a step on what is in flight; it reports whether the record is in the cut, was not
// taken before and comes in turn.
func (j *Judge) addFlight(done *completion, f *flight) bool {
	c, u := &j.cuts, undo{}
	if c.held[f.slot] || !j.isIn(done, f.rec.ID) {
		return false
	}
	if f.root != nil {
		way := j.wayTo(f.root)
		for _, task := range f.tasks[:f.hops] {
			way.pass(task)
		}
		lane, at := j.laneBy(&way), reach{way.at, f.rec.Path}
		if !way.isKnown || !c.reached[lane].isBefore(at) {
			return false
		}
		u = undo{lane, c.reached[lane]}
		c.reached[lane] = at
		c.had[f.op]++
	}
	c.held[f.slot] = true
	c.undone = append(c.undone, u)
	return true
}

// searchCut looks for an execution of the inputs before a cut that gives the states in a
// checkpoint, whatever the claims say: it judges the run up to its completion on these inputs
// alone.
func (j *Judge) searchCut(done *completion) (model.Result, string) {
	var parts []model.Partition
	for i := range j.s.Input.Parts {
		part := j.s.Input.Parts[i] // its records are shared: numbering them again would write
		part.Records = slices.Clone(part.Records[:j.checkpoints.ends[int(done.ends)+i]])
		parts = append(parts, part)
	}
	h := &model.History{Lives: j.h.Lives, End: model.End{Reason: model.Quiescent, N: done.at}}
	h.Calls = j.h.Calls[:sort.Search(len(j.h.Calls), func(i int) bool {
		return j.h.Calls[i].Invoked > done.at
	})]
	h.Servings = j.h.Servings[:sort.Search(len(j.h.Servings), func(i int) bool {
		return j.h.Servings[i].N > done.at
	})]
	h.Applications = j.h.Applications[:sort.Search(len(j.h.Applications), func(i int) bool {
		return j.h.Applications[i].N > done.at
	})]
	if j.cuts.inner == nil {
		j.cuts.inner = NewJudge()
	}
	inner, s := j.cuts.inner, j.s
	s.Input, s.History = model.NewInput(parts), h
	inner.begin(s)
	inner.finder.left = j.finder.left
	inner.verdict = &model.Verdict{}
	inner.replay()
	j.handOver(done, inner)
	result, reason := inner.judgeState(backend)
	j.finder.left = inner.finder.left
	if result == model.Violated && j.drawsInFlight() {
		return model.Undecided, reasonDraws
	}
	return result, reason
}

// drawsInFlight reports whether an operator that is not deterministic takes something that is in
// flight in the checkpoint that was last delivered: what it draws then is not in the run.
func (j *Judge) drawsInFlight() bool {
	return slices.ContainsFunc(j.checkpoints.flights, func(f flight) bool {
		return j.isRandom(f.op)
	})
}

// handOver gives another judge the states that what is in flight has made: it may be behind the
// cut, and so unknown there.
func (j *Judge) handOver(done *completion, inner *Judge) {
	j.lookAt(done)
	j.deliver(done)
	inner.checkpoints.landed = inner.checkpoints.landed[:0]
	for i := range j.checkpoints.flights {
		f := &j.checkpoints.flights[i]
		cell := inner.states.cell(f.op, inner.recall.keys.number(f.rec.Key))
		inner.states.cells[cell].backend = held{alien, done.at, f.after}
	}
}
