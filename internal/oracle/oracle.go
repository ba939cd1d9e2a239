package oracle

import (
	"fmt"

	"github.com/oncesim/oncesim/model"
)

// Oracle judges runs of one job under one mode on one input, one at a time.
type Oracle struct {
	job       *model.Job
	mode      *model.Mode
	input     *model.Input
	shape     model.SinkShape
	legal     legal             // what every run may do, unless it isRandom
	cuts      map[string]*legal // likewise, up to a cut of the input
	above     [][]bool          // per stage: is another one above it?
	stateful  bool              // some operator keeps state
	isChained bool              // and so does one above it: see hasChain
	isRandom  bool              // some operator is not deterministic: the run decides what is legal
}

// New returns an oracle. It enumerates the legal executions of the job, which every judgement
// shares. Where an operator is not deterministic, each judgement enumerates its own.
func New(job *model.Job, mode *model.Mode, input *model.Input, shape model.SinkShape) *Oracle {
	if shape > model.Keys {
		panic(fmt.Sprintf("oracle: sink shape %d", shape))
	}
	o := &Oracle{job: job, mode: mode, input: input, shape: shape,
		above: ancestors(job.Topology), cuts: map[string]*legal{}}
	for _, stage := range job.Topology.Stages {
		o.stateful = o.stateful || stage.Operator.Kind != model.Stateless
		o.isRandom = o.isRandom || stage.Operator.Kind == model.NonDeterministic
	}
	o.isChained = o.hasChain()
	if !o.isRandom {
		o.legal = enumerate(job, input, nil)
	}
	return o
}

// Judge judges one run by its full trace. Of its history nothing is used but how it ended and what
// its lives decided by.
func Judge(job *model.Job, mode *model.Mode, input *model.Input, shape model.SinkShape,
	trace []model.Entry, h *model.History) *Report {
	return New(job, mode, input, shape).Judge(trace, h)
}

// Judge judges one run by its full trace. Of its history nothing is used but how it ended and what
// its lives decided by.
func (o *Oracle) Judge(trace []model.Entry, h *model.History) *Report {
	r := follow(o, trace, h.Lives)
	r.end = h.End.Reason
	list := properties()
	report := &Report{verdicts: make([]verdict, len(list))}
	for i := range list {
		v := &report.verdicts[i]
		v.property = list[i].name
		list[i].judge(r, v)
		v.conclude(r)
	}
	return report
}

// property is one property and its judge. The judge notes findings, or leaves the verdict open.
type property struct {
	name  string
	judge func(r *run, v *verdict)
}

func properties() []property {
	return []property{
		{"at-most-once", (*run).atMostOnce},
		{"at-least-once", (*run).atLeastOnce},
		{"replay-explained", (*run).replayExplained},
		{"exactly-once-state", (*run).exactlyOnceState},
		{"exactly-once", (*run).exactlyOnce},
		{"effectively-once", (*run).effectivelyOnce},
		{"order", (*run).order},
		{"no-revision", (*run).noRevision},
		{"progress", (*run).progress},
		{"mechanism", (*run).mechanism},
		{"atomic-visibility", (*run).atomicVisibility},
		{"global-visibility", (*run).globalVisibility},
		{"agreement", (*run).agreement},
		{"conserved", (*run).conserved},
	}
}
