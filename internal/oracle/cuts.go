package oracle

import (
	"fmt"
	"maps"

	"github.com/oncesim/oncesim/model"
)

// A checkpoint holds states and records that were in flight. What it amounts to is the states after
// these have been delivered: each task takes its own first, in their order, then what the tasks
// before it emit from theirs.

// deliveriesMax bounds the ways to deliver what a checkpoint holds.
const deliveriesMax = 100

// delivery explores the ways to deliver what is in flight, task by task.
type delivery struct {
	job     *model.Job
	choices *choices
	parts   []*part
	in      [][][]model.Record // per task and input channel: what was emitted on the way
	states  map[slot]*version
	results []map[slot]*version
	isOpen  bool // there are too many ways
}

// delivered lists the states that a checkpoint may amount to; isOpen: not all of them.
func (r *run) delivered(c *checkpoint, by *choices) (results []map[slot]*version, isOpen bool) {
	job := r.o.job
	d := &delivery{job: job, choices: by, parts: c.parts, states: map[slot]*version{},
		in: make([][][]model.Record, len(job.Tasks))}
	for i := range job.Tasks {
		d.in[i] = make([][]model.Record, len(job.Tasks[i].In))
		if p := c.parts[i]; p != nil {
			for j, v := range p.states {
				d.states[slot{job.Tasks[i].Op, p.records[j].Key}] = v
			}
		}
	}
	d.task(0)
	return d.results, d.isOpen
}

// task goes on with task i and all behind it.
func (d *delivery) task(i int) {
	switch {
	case d.isOpen:
		return
	case i == len(d.job.Tasks):
		d.isOpen = len(d.results) == deliveriesMax
		d.results = append(d.results, maps.Clone(d.states))
		return
	case d.job.Tasks[i].Role != model.Operate:
		d.task(i + 1)
		return
	}
	task := &d.job.Tasks[i]
	orders := merges(d.in[i], deliveriesMax)
	d.isOpen = d.isOpen || orders == nil
	for _, order := range orders {
		order = append(d.flightOf(i), order...)
		lists := d.choices.along(task, order, deliveriesMax)
		d.isOpen = d.isOpen || lists == nil
		for _, nonces := range lists {
			d.through(task, order, nonces)
		}
	}
}

// flightOf is what a task has to take before anything else.
func (d *delivery) flightOf(i int) []model.Record {
	if p := d.parts[i]; p != nil {
		return p.records[p.state:len(p.records):len(p.records)]
	}
	return nil
}

// through lets a task take records, goes on behind it, and takes back what it did.
func (d *delivery) through(task *model.Task, order []model.Record, nonces []uint64) {
	before := d.states
	d.states = maps.Clone(before)
	for i := range order {
		rec := &order[i]
		at := slot{task.Op, rec.Key}
		base := d.states[at]
		a := &application{task: task, in: *rec}
		after := valueOf(base)
		a.outs, _ = try(task, rec, nonceAt(nonces, i), &after)
		if task.Operator.Kind != model.Stateless {
			d.states[at] = newVersion(base, a, after, sound)
		}
		for j := range a.outs {
			d.pass(task, &a.outs[j])
		}
	}
	d.task(int(task.Proc) + 1)
	d.states = before
	for _, out := range task.Out {
		d.in[out.Peer][out.There] = d.in[out.Peer][out.There][:0]
	}
}

func (d *delivery) pass(task *model.Task, rec *model.Record) {
	for _, route := range task.Routes {
		out := task.Out[route.Pick(task.Subtask, rec)]
		channel := &d.in[out.Peer][out.There]
		*channel = append(*channel, *rec)
	}
}

// cutOf is where a checkpoint cuts the input: the offset of each partition that its source goes on
// with, or where the batch ends.
func (r *run) cutOf(c *checkpoint) []int64 {
	offsets := make([]int64, len(r.o.input.Parts))
	end := func(id model.ID) {
		offsets[id.Part] = min(id.Offset, int64(len(r.o.input.Parts[id.Part].Records)))
	}
	for part := range offsets { // sources come first, in partition order
		if p := c.parts[part]; p != nil && p.state > 0 {
			end(p.records[0].ID)
		}
	}
	for i := range c.plan {
		end(c.plan[i].ID)
	}
	return offsets
}

// legalAt is what the job may do on its input up to a cut. What operators that are not
// deterministic decide there, they have decided before the checkpoint.
func (r *run) legalAt(offsets []int64, by *choices) *legal {
	if r.o.isRandom {
		l := enumerate(r.o.job, r.o.before(offsets), by)
		return &l
	}
	at := fmt.Sprint(offsets)
	if r.o.cuts[at] == nil {
		l := enumerate(r.o.job, r.o.before(offsets), nil)
		r.o.cuts[at] = &l
	}
	return r.o.cuts[at]
}

// before is the input up to a cut.
func (o *Oracle) before(offsets []int64) *model.Input {
	var parts []model.Partition
	for i, part := range o.input.Parts {
		parts = append(parts, model.Partition{Every: part.Every,
			Records: append([]model.Record(nil), part.Records[:offsets[i]]...)})
	}
	return model.NewInput(parts)
}

// consistentCuts looks for completed checkpoints that amount to the state of no legal execution of
// the input that they cut off.
func (r *run) consistentCuts(v *verdict) {
	if !r.o.stateful || len(r.completions) == 0 || !r.canRead(v) {
		return
	}
	for _, c := range r.completions {
		switch r.isConsistent(c) {
		case nothing:
			v.add(model.InconsistentCut, checkpointRecord(c.id), c.n)
		case gaveUp:
			v.leave("too many legal executions to list")
		}
	}
}

func (r *run) isConsistent(c *checkpoint) answer {
	var by *choices
	if r.o.isRandom {
		by = r.choices(c.n)
	}
	legal := r.legalAt(r.cutOf(c), by)
	results, isOpen := r.delivered(c, by)
	left := triesMax
	for _, states := range results {
		maps.DeleteFunc(states, func(_ slot, v *version) bool {
			return v.value == model.Value{} // none is the same
		})
		for i := range legal.executions {
			x := &legal.executions[i]
			isKnown := !x.isGuess || r.isInFlight(c) // what is in flight was not decided yet
			if isKnown && r.gives(x, by, states, &left) {
				return found
			}
		}
	}
	if isOpen || legal.isOpen || left < 0 {
		return gaveUp
	}
	return nothing
}

// isInFlight reports whether a checkpoint holds records that operators are still to take.
func (r *run) isInFlight(c *checkpoint) bool {
	for i, p := range c.parts {
		isOperator := r.o.job.Tasks[i].Role == model.Operate
		if p != nil && isOperator && int(p.state) < len(p.records) {
			return true
		}
	}
	return false
}

// settle finds the final states of a run whose state is in its checkpoints: those of the newest
// completed one, as far as the store still has its parts. Where they depend on the way to deliver
// what is in flight, some legal way counts.
func (r *run) settle() map[slot]*version {
	if len(r.completions) == 0 {
		return map[slot]*version{}
	}
	newest := r.completions[len(r.completions)-1]
	results, _ := r.delivered(r.complete(newest.id, newest.n), r.possible)
	left := triesMax
	for _, states := range results {
		for i := range r.legal.executions {
			x := &r.legal.executions[i]
			if r.gives(x, r.possible, states, &left) {
				return states
			}
		}
	}
	if len(results) == 0 {
		return map[slot]*version{}
	}
	return results[0]
}

// conserved asks of every completed checkpoint whether the sum that the topology conserves comes
// out, with what is on its way between operators.
func (r *run) conserved(v *verdict) {
	law := r.o.job.Topology.Conserves
	if law == nil {
		return
	}
	for _, c := range r.completions {
		sum := int64(0)
		for i, p := range c.parts {
			if p != nil && r.o.job.Tasks[i].Role == model.Operate {
				sum += p.sum(law)
			}
		}
		if sum != law.Total {
			v.add(model.Unbalanced, checkpointRecord(c.id), c.n)
		}
	}
}

// sum adds up what a part of an operator holds.
func (p *part) sum(law *model.Invariant) int64 {
	sum := int64(0)
	for i := range p.records {
		rec := &p.records[i]
		switch {
		case int64(i) < p.state:
			sum += law.State(rec.Op, rec.Value)
		case rec.Op != 0:
			sum += law.Record(*rec)
		}
	}
	return sum
}
