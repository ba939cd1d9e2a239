package checker

import (
	"fmt"

	"github.com/oncesim/oncesim/model"
)

// plan is what the judge knows of a job before it looks at any history. It is made once a job and
// kept for as long as the same job is judged.
type plan struct {
	job       *model.Job
	ops       int32 // operators, numbered from 1
	parts     int
	stages    []stagePlan // by operator; 0 is unused
	lineages  []lineage   // by operator and source partition
	stateful  bool        // some operator keeps state
	ambiguous bool        // records reach an operator by two routes: an identity names two records
	beyond    bool        // an operator with state comes after another one
	single    bool        // the first operator has no state and alone reads the input
	// receivers are by task and route who gets all of it; Nobody: the key decides.
	receivers [][]model.ProcID
	sinks     []int32   // by task: the partition of the sink that it writes to; -1: none
	merges    []bool    // by task: it keeps no state and takes its inputs from several channels
	heads     [][]int32 // by source partition: the operators that read it
	parallel  bool      // an operator that feeds another runs several tasks side by side
}

// stagePlan is what is known of one operator.
type stagePlan struct {
	operator *model.Operator
	terminal bool // it feeds the sink
	stateful bool
	alone    bool    // no stateful operator comes before it: its inputs depend on no order
	next     []int32 // the operators that read from it
	keyed    int     // along how many routes the key decides where its outputs go
	// straight: by bit, the terminal operators by which what one task emits reaches the sink in
	// order, since there is one task at each hop.
	straight uint32
}

// lineage is how the records of one source partition reach one operator.
type lineage struct {
	ways   int32 // by how many routes; 0: not at all
	parent int32 // the operator before it; 0: the input
	depth  int32 // the operators on the way, this one included
	owner  int32 // the first stateful operator on the way, this one included; 0: none
	folds  int32 // the stateful operators on the way, this one included
}

// of returns the lineage of a partition at an operator.
func (p *plan) of(op, part int32) *lineage { return &p.lineages[int(op)*p.parts+int(part)] }

// next is the operator at the far end of a route, or 0 for the sink.
func (p *plan) next(task *model.Task, route model.Route) int32 {
	return p.job.Tasks[task.Out[route.First].Peer].Op
}

// direct finds the routes along which everything goes to one task, what leads to the sink, since
// all of it is sent forward, and which tasks merge channels.
func (p *plan) direct() {
	p.receivers = make([][]model.ProcID, len(p.job.Tasks))
	for i := range p.job.Tasks {
		task, sink := &p.job.Tasks[i], int32(-1)
		for _, route := range task.Routes {
			to := model.ProcID(model.Nobody)
			if route.Exchange == model.Forward || route.Count == 1 {
				to = task.Out[route.Pick(task.Subtask, &model.Record{})].Peer
			}
			if next := &p.job.Tasks[task.Out[route.First].Peer]; next.Role == model.Sink {
				if to == model.Nobody {
					panic(fmt.Sprintf("checker: task %s writes to the sink by key", task.Name))
				}
				sink = p.job.Tasks[to].Part
			}
			if to == model.Nobody && task.Subtask == 0 {
				p.stages[task.Op].keyed++
			}
			p.receivers[i] = append(p.receivers[i], to)
		}
		p.sinks = append(p.sinks, sink)
		p.merges = append(p.merges, task.Role == model.Operate && len(task.In) > 1 &&
			!p.stages[task.Op].stateful)
	}
	p.single = !p.stages[1].stateful
	p.heads = make([][]int32, p.parts)
	for part := range int32(p.parts) {
		for op := int32(1); op <= p.ops; op++ {
			if p.of(op, part).depth == 1 {
				p.heads[part] = append(p.heads[part], op)
				p.single = p.single && op == 1
			}
		}
	}
}

// make fills p for a job; it does nothing for the job that it was made for last. It reports whether
// the job is another one.
func (p *plan) make(job *model.Job) (isNew bool) {
	if p.job == job {
		return false
	}
	t := job.Topology
	*p = plan{job: job, ops: int32(len(t.Stages)), parts: t.Partitions()}
	p.stages = make([]stagePlan, p.ops+1)
	p.lineages = make([]lineage, int(p.ops+1)*p.parts)
	for i := range t.Stages {
		operator := t.Stages[i].Operator
		stateful := operator.Kind != model.Stateless
		p.stages[i+1] = stagePlan{operator: operator, terminal: t.IsTerminal(i),
			stateful: stateful, alone: true}
		p.stateful = p.stateful || stateful
		p.parallel = p.parallel || !t.IsTerminal(i) && t.Stages[i].Parallel > 1
	}
	p.trace()
	p.direct()
	for op := range p.stages {
		p.beyond = p.beyond || p.stages[op].stateful && !p.stages[op].alone
	}
	for op := p.ops; op > 0; op-- {
		stage := &p.stages[op]
		if stage.terminal {
			stage.straight = 1 << op
		}
		for _, next := range stage.next {
			if t.Stages[next-1].Parallel <= 1 {
				stage.straight |= p.stages[next].straight
			}
		}
	}
	return true
}

// trace follows the routes of one subtask of each stage, since all subtasks have the same. Tasks
// are numbered along the flow, so that one pass does.
func (p *plan) trace() {
	for i := range p.job.Tasks {
		task := &p.job.Tasks[i]
		switch {
		case task.Role == model.Sink, task.Role == model.Extra,
			task.Role == model.Operate && task.Subtask > 0:
			continue
		}
		for _, route := range task.Routes {
			op := p.next(task, route)
			if op == 0 {
				continue
			}
			p.lead(task, op)
			if task.Role == model.Operate {
				p.stages[task.Op].next = append(p.stages[task.Op].next, op)
			}
		}
	}
}

// lead adds the way from a task to an operator, for each partition whose records take it.
func (p *plan) lead(task *model.Task, op int32) {
	for part := range int32(p.parts) {
		from := lineage{}
		switch {
		case task.Role == model.Operate:
			from = *p.of(task.Op, part)
		case task.Part == part:
			from.ways = 1
		}
		if from.ways > 0 {
			p.join(p.of(op, part), from, task.Op, op)
		}
	}
}

func (p *plan) join(l *lineage, from lineage, parent, op int32) {
	ways := l.ways + from.ways
	*l = lineage{ways: ways, parent: parent, depth: from.depth + 1, owner: from.owner,
		folds: from.folds}
	p.ambiguous = p.ambiguous || ways > 1
	stage := &p.stages[op]
	stage.alone = stage.alone && from.owner == 0
	if stage.stateful {
		l.folds++
	}
	if stage.stateful && l.owner == 0 {
		l.owner = op
	}
}
