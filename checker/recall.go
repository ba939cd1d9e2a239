package checker

import (
	"slices"

	"github.com/oncesim/oncesim/model"
)

// recall remembers what operators without state make of the records of an input: the same of the
// same record, each time. It lasts for as long as runs of one job on one input are judged.
type recall struct {
	input   *model.Input
	steps   []pureStep     // by dense slot of the step
	ins     []model.Record // inputs of steps that are not records of the input
	records []model.Record // what the steps emit
	keys    texts
	hints   []hint // by dense slot: the key of the record
}

// hint is a key and its number, plus one. The text is that of the record itself: to compare a text
// with itself takes no look at it.
type hint struct {
	text string
	n    int32
	to   model.ProcID // the task that the key leads to, plus one
}

// pureStep is a step that has been taken.
type pureStep struct {
	in   *model.Record // nil: it has not
	from int32         // in records: what it emits
	outs int32
}

// open forgets the steps of another job or input.
func (r *recall) open(input *model.Input, dense int) {
	r.input, r.ins, r.records = input, r.ins[:0], r.records[:0]
	r.steps = slices.Grow(r.steps[:0], dense)[:dense]
	clear(r.steps)
	r.forget(dense)
}

// forget forgets the keys.
func (r *recall) forget(dense int) {
	r.keys.reset()
	r.hints = slices.Grow(r.hints[:0], dense)[:dense]
	clear(r.hints)
}

// key numbers the key of a record. The records of one identity nearly always have one key, so that
// it need not be hashed.
func (j *Judge) key(rec *model.Record) int32 {
	r := &j.recall
	if rec.Path != 0 {
		return r.keys.number(rec.Key)
	}
	slot := j.slot(rec.ID, rec.Op, 0)
	if slot == noSlot {
		return r.keys.number(rec.Key)
	}
	h := &r.hints[slot]
	if h.n == 0 || h.text != rec.Key {
		*h = hint{text: rec.Key, n: r.keys.number(rec.Key) + 1}
	}
	return h.n - 1
}

// recall returns what a step emits, or false where it is not known.
func (r *recall) recall(slot int32, in *model.Record) ([]model.Record, bool) {
	s := &r.steps[slot]
	if s.in == nil || s.in != in && *s.in != *in {
		return nil, false
	}
	return r.records[s.from : s.from+s.outs], true
}

// keep remembers a step, unless it has been taken on another record of the same identity.
func (r *recall) keep(slot int32, in *model.Record, records []model.Record) {
	s := &r.steps[slot]
	if s.in != nil {
		return
	}
	s.from, s.outs = int32(len(r.records)), int32(len(records))
	r.records = append(r.records, records...)
	if s.in = r.input.At(in.ID); *s.in != *in {
		r.ins = append(r.ins, *in)
		s.in = &r.ins[len(r.ins)-1]
	}
}

// receiver is the task that a record goes to along a route of a task.
func (j *Judge) receiver(task *model.Task, route int, rec *model.Record) *model.Task {
	to := j.plan.receivers[task.Proc][route]
	if to == model.Nobody {
		to = j.keyed(task, route, rec)
	}
	return &j.plan.job.Tasks[to]
}

// keyed is receiver where the key decides.
func (j *Judge) keyed(task *model.Task, route int, rec *model.Record) model.ProcID {
	isKnown := rec.Op > 0 && rec.Path == 0 && j.plan.stages[rec.Op].keyed == 1
	if !isKnown {
		return task.Out[task.Routes[route].Pick(task.Subtask, rec)].Peer
	}
	j.key(rec)
	h := &j.recall.hints[j.slot(rec.ID, rec.Op, 0)]
	if h.to == 0 {
		h.to = task.Out[task.Routes[route].Pick(task.Subtask, rec)].Peer + 1
	}
	return h.to - 1
}
