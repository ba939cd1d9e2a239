package oracle

import (
	"slices"

	"github.com/oncesim/oncesim/model"
)

// legal is what the job may do on its input when nothing fails.
type legal struct {
	executions  []execution
	isOpen      bool                     // there are too many to list
	isAmbiguous bool                     // two records of one execution have the same identity
	contents    map[ident][]model.Record // what each identity may be
	places      map[ident][]int32        // in which partitions of the sink
	certain     map[ident]bool           // is an identity emitted by every execution?
	varies      bool                     // some identity is not
}

// execution is one way to merge, up to the tasks that feed the sink. What those make of their
// input channels is left to choose: the groups say what can come of each key, and in is what the
// keys together can be merged from.
type execution struct {
	groups  []group
	in      [][][]model.Record // per task that feeds the sink, else nil: its input channels
	isGuess bool               // it has a step of which nobody knows what it would have decided
}

// group is what one operator makes of the inputs of one key.
type group struct {
	slot     slot
	part     int32 // of the sink, at a stage that feeds it
	inputs   []model.Record
	outcomes []outcome
}

// outcome is the result of one order of the inputs of a group.
type outcome struct {
	state model.Value
	outs  []model.Record // visible ones: empty at a stage that does not feed the sink
}

// The bounds of the enumeration.
const (
	executionsMax = 100
	ordersMax     = 1000 // of one group
)

// enumeration explores the merges task by task, in an order in which every task comes after all
// that it reads from.
type enumeration struct {
	job     *model.Job
	input   *model.Input
	choices *choices
	in      [][][]model.Record // per task and input channel: what travels over it
	groups  []group
	legal   legal
}

func enumerate(job *model.Job, input *model.Input, c *choices) legal {
	e := &enumeration{job: job, input: input, choices: c,
		in: make([][][]model.Record, len(job.Tasks))}
	for i := range job.Tasks {
		e.in[i] = make([][]model.Record, len(job.Tasks[i].In))
	}
	e.task(0)
	e.legal.summarize()
	return e.legal
}

// task goes on with task i and all behind it.
func (e *enumeration) task(i int) {
	if e.legal.isOpen {
		return
	}
	if i == len(e.job.Tasks) {
		e.keep()
		return
	}
	task := &e.job.Tasks[i]
	switch {
	case task.Role == model.Source:
		for _, rec := range e.input.Parts[task.Part].Records {
			e.pass(task, &rec)
		}
		e.task(i + 1)
	case task.Role != model.Operate:
		e.task(i + 1) // what reaches the sink is known
	case feedsSink(e.job, task):
		before := len(e.groups)
		e.groups = append(e.groups, e.byKey(task)...)
		e.task(i + 1)
		e.groups = e.groups[:before]
	default:
		orders := merges(e.in[i], executionsMax)
		e.legal.isOpen = e.legal.isOpen || orders == nil
		for _, order := range orders {
			lists := e.choices.along(task, order, executionsMax)
			e.legal.isOpen = e.legal.isOpen || lists == nil
			for _, nonces := range lists {
				e.through(task, order, nonces)
			}
		}
	}
}

// pass lets a record of a task travel along its routes.
func (e *enumeration) pass(task *model.Task, rec *model.Record) {
	for _, route := range task.Routes {
		out := task.Out[route.Pick(task.Subtask, rec)]
		channel := &e.in[out.Peer][out.There]
		*channel = append(*channel, *rec)
	}
}

// through lets a task that does not feed the sink take its inputs in an order, deciding by nonces,
// goes on behind it, and takes back what it sent.
func (e *enumeration) through(task *model.Task, order []model.Record, nonces []uint64) {
	before := len(e.groups)
	states := map[string]int{}
	for i := range order {
		rec := &order[i]
		g, ok := states[rec.Key]
		if !ok {
			g = len(e.groups)
			states[rec.Key] = g
			e.groups = append(e.groups, group{slot: slot{task.Op, rec.Key},
				outcomes: make([]outcome, 1)})
		}
		at := &e.groups[g]
		at.inputs = append(at.inputs, *rec)
		outs := take(task, rec, nonceAt(nonces, i), &at.outcomes[0].state)
		for j := range outs {
			e.pass(task, &outs[j])
		}
	}
	e.task(int(task.Proc) + 1)
	e.groups = e.groups[:before]
	for _, out := range task.Out {
		e.in[out.Peer][out.There] = e.in[out.Peer][out.There][:0]
	}
}

// take takes one step and returns what it emits.
func take(task *model.Task, rec *model.Record, nonce uint64, state *model.Value) []model.Record {
	outs, _ := try(task, rec, nonce, state)
	return outs
}

// try takes one step, which may fail: then it emits nothing and the state stays as it was.
func try(task *model.Task, rec *model.Record, nonce uint64,
	state *model.Value) (outs []model.Record, ok bool) {
	var out model.Outputs
	out.Begin(task.Op, *rec)
	out.Seed(nonce)
	after := task.Operator.Step(*rec, *state, &out)
	if out.Failed() != "" {
		return nil, false
	}
	*state = after
	return out.Records(), true
}

// byKey splits what a task reads by key and takes each key in every order.
func (e *enumeration) byKey(task *model.Task) []group {
	channels := e.in[task.Proc]
	var groups []group
	for _, key := range keysOf(channels) {
		mine := under(key, channels)
		g := group{slot: slot{task.Op, key}, inputs: concat(mine),
			part: e.job.Tasks[task.Out[0].Peer].Part}
		orders := [][]model.Record{concat(mine)}
		if task.Operator.Kind != model.Stateless {
			orders = merges(mine, ordersMax)
		}
		e.legal.isOpen = e.legal.isOpen || orders == nil
		for _, order := range orders {
			lists := e.choices.along(task, order, ordersMax-len(g.outcomes))
			e.legal.isOpen = e.legal.isOpen || lists == nil
			for _, nonces := range lists {
				g.take(task, order, nonces)
			}
		}
		groups = append(groups, g)
	}
	return groups
}

// take adds the outcome of one order, deciding by nonces.
func (g *group) take(task *model.Task, order []model.Record, nonces []uint64) {
	var o outcome
	for i := range order {
		o.outs = append(o.outs, take(task, &order[i], nonceAt(nonces, i), &o.state)...)
	}
	g.outcomes = append(g.outcomes, o)
}

// keep adds the execution that the choices so far amount to.
func (e *enumeration) keep() {
	if len(e.legal.executions) == executionsMax {
		e.legal.isOpen = true
		return
	}
	x := execution{groups: slices.Clone(e.groups), in: make([][][]model.Record, len(e.in))}
	taken := map[ident]bool{}
	for i := range x.groups {
		for j := range x.groups[i].inputs {
			id := inputOf(stepOf(&x.groups[i].inputs[j]), x.groups[i].slot.op)
			e.legal.isAmbiguous = e.legal.isAmbiguous || taken[id]
			taken[id] = true
			x.isGuess = x.isGuess || e.isGuess(&x.groups[i], j)
		}
	}
	for i := range e.job.Tasks {
		if feedsSink(e.job, &e.job.Tasks[i]) {
			for _, channel := range e.in[i] {
				x.in[i] = append(x.in[i], slices.Clone(channel))
			}
		}
	}
	e.legal.executions = append(e.legal.executions, x)
}

// isGuess reports whether nobody knows what the step of a group on one of its inputs decides.
func (e *enumeration) isGuess(g *group, input int) bool {
	operator := e.job.Topology.Stages[g.slot.op-1].Operator
	return e.choices.isGuess(operator, &g.inputs[input], g.slot.op)
}

// feedsSink reports whether what a task emits becomes visible.
func feedsSink(job *model.Job, task *model.Task) bool {
	return task.Role == model.Operate && job.Topology.IsTerminal(task.Stage)
}

// summarize collects what each identity may be, and which identities are in every execution.
func (l *legal) summarize() {
	l.contents, l.certain = map[ident][]model.Record{}, map[ident]bool{}
	l.places = map[ident][]int32{}
	if l.isOpen {
		l.executions = nil
		return
	}
	count, ways := map[ident]int{}, len(l.executions)
	for _, x := range l.executions {
		for _, g := range x.groups {
			inAll := map[ident]int{}
			for _, o := range g.outcomes {
				for i := range o.outs {
					id := identOf(&o.outs[i])
					inAll[id]++
					l.admit(id, &o.outs[i])
					if !slices.Contains(l.places[id], g.part) {
						l.places[id] = append(l.places[id], g.part)
					}
				}
			}
			for id, n := range inAll {
				if n == len(g.outcomes) {
					count[id]++
				}
			}
		}
	}
	for id := range l.contents {
		l.certain[id] = count[id] == ways
		l.varies = l.varies || count[id] != ways
	}
}

// admit notes that an identity may be rec.
func (l *legal) admit(id ident, rec *model.Record) {
	for _, known := range l.contents[id] {
		if known == *rec {
			return
		}
	}
	l.contents[id] = append(l.contents[id], *rec)
}
