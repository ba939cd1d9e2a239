package checker

import (
	"slices"

	"github.com/oncesim/oncesim/model"
)

// flight is a step on a record that was in flight when a checkpoint was made, or on what came of
// one: the life that begins from it takes it before anything else.
type flight struct {
	passage
	op    int32
	slot  int32
	cell  int32
	claim int32 // a claim of the step that was made later on this very state, plus one
	rec   model.Record
	after model.Value
}

// passage is how a record that was in flight comes to a step: from the task that has it in its part
// through tasks without state.
type passage struct {
	root  *model.Record // as it was in flight; nil: it comes of another flight
	tasks [model.HopsMax]int32
	hops  int32
}

// deliver takes the steps on what is in flight in the completed checkpoint that is looked at, as
// the lives that begin from it do.
//
// Operators come last first: what they hold was sent before anything that is still in flight in
// front of them.
func (j *Judge) deliver(done *completion) {
	c := &j.checkpoints
	c.flights = c.flights[:0]
	for op := j.plan.ops; op > 0; op-- {
		for _, n := range c.parts[done.from:done.to] {
			u := &c.uploads[n]
			task := j.holder(&j.h.Calls[u.call].Req)
			if task != nil && task.Role == model.Operate && task.Op == op {
				j.deliverPart(u, task)
			}
		}
	}
}

// deliverPart delivers what is in flight in one part.
func (j *Judge) deliverPart(u *upload, task *model.Task) {
	nonce := uint64(0)
	if u.life != noLife {
		nonce = j.h.Lives[u.life].Nonce
	}
	list := j.flightOf(u)
	for i := range list {
		rec := &list[i]
		if !j.s.Input.Has(rec.ID) {
			continue
		}
		if l := j.plan.of(task.Op, rec.ID.Part); l.ways > 0 && l.parent == rec.Op {
			j.land(0, task, passage{root: rec}, rec, nonce)
		}
	}
}

// land has a task take the step on a record, and those that follow from it.
func (j *Judge) land(level int, task *model.Task, by passage, rec *model.Record, nonce uint64) {
	slot := j.slot(rec.ID, task.Op, rec.Path)
	var records []model.Record
	if by.root != nil {
		by.tasks[by.hops] = int32(task.Proc)
		by.hops++
	}
	if j.plan.stages[task.Op].stateful {
		records = j.landState(level, task.Op, slot, by, rec, nonce)
		by = passage{}
	} else {
		records, _ = j.pure(level, task.Op, slot, rec)
	}
	for i := range records {
		for route := range task.Routes {
			if next := j.receiver(task, route, &records[i]); next.Role == model.Operate {
				j.land(level+1, next, by, &records[i], nonce)
			}
		}
	}
}

// landState is land for an operator with state.
func (j *Judge) landState(level int, op, slot int32, by passage, rec *model.Record,
	nonce uint64) (records []model.Record) {
	c := &j.checkpoints
	f := flight{passage: by, op: op, slot: slot, cell: j.states.cell(op, j.key(rec)), rec: *rec}
	base, isClaimed := j.cut(&j.states.cells[f.cell]), true
	for i := range slices.Backward(c.flights) {
		if before := &c.flights[i]; before.cell == f.cell {
			base.value, base.version, isClaimed = before.after, before.claim, before.claim > 0
			break
		}
	}
	if isClaimed {
		f.claim = j.landing(slot, rec, base.version)
	}
	if f.claim > 0 {
		nonce = j.claims.list[f.claim-1].nonce
	}
	f.after, records = j.step(level, op, rec, base.value, nonce)
	c.flights = append(c.flights, f)
	return records
}

// landing is a claim of a step on a record and a version, plus one, or 0: it is what the life did
// that began from the checkpoint.
func (j *Judge) landing(slot int32, rec *model.Record, base int32) int32 {
	for i := j.nodes[slot].claim; i > 0; i = j.claims.list[i-1].next {
		me, in := &j.claims.list[i-1], &j.h.Applications[i-1].In
		if me.base == base && me.cell >= 0 && in.Key == rec.Key && in.Value == rec.Value {
			return i
		}
	}
	return 0
}
