package semantics

import (
	"fmt"

	"github.com/oncesim/oncesim/model"
)

// The flow tasks pass records on and never look back: no acknowledgement, no repetition. They
// serve the modes that may lose.

// flowOperator applies an operator to what comes and sends what it emits.
type flowOperator struct {
	task  *model.Task
	keyed keyed
	in    model.Message // the record whose state was asked for
}

func newFlowOperator(job *model.Job, task *model.Task,
	durability model.Durability) *flowOperator {
	return &flowOperator{task: task, keyed: newKeyed(job, task, durability)}
}

// Start implements model.Process.
func (p *flowOperator) Start(self model.Self, _ *model.Script) {
	p.keyed.reset(self)
	p.in = model.Message{}
}

// Step implements model.Process.
func (p *flowOperator) Step(ev *model.Event, s *model.Script) {
	switch {
	case failRefused(s, ev): // of a put: its record is lost to state and output, not to one of them
	case ev.Kind == model.Delivered:
		p.in = ev.Msg
		if p.keyed.isReady(s, p.in.Record) {
			p.apply(s)
		}
	case ev.Kind == model.Answered && ev.Msg.Kind == model.Get:
		p.keyed.learn(ev)
		p.apply(s)
	case ev.Kind == model.Answered && ev.Msg.Kind == model.Put:
	default:
		panic(fmt.Sprintf("semantics: flow operator steps on %+v", *ev))
	}
}

// apply takes the step; one that fails ends the life, and nothing is sent.
func (p *flowOperator) apply(s *model.Script) {
	list, _ := p.keyed.apply(s, &p.in)
	for _, out := range list {
		sendAlong(s, p.task, out, model.Message{})
	}
}

// State implements model.Process.
func (p *flowOperator) State(c *model.Codec) {
	p.keyed.state(c)
	c.Message(&p.in)
}

// sendAlong sends a record once along every route of a task.
func sendAlong(s *model.Script, task *model.Task, rec model.Record, m model.Message) {
	m.Kind, m.Record = model.Data, rec
	for _, route := range task.Routes {
		out := task.Out[route.Pick(task.Subtask, &rec)]
		m.Channel = out.There
		s.Send(out.Peer, m)
	}
}

// flowSink writes what comes, once. A write whose answer is lost is not repeated: repeating it is
// what would turn "at most once" into duplicates. A write that is refused is a lost record.
type flowSink struct {
	task *model.Task
}

// Start implements model.Process.
func (p *flowSink) Start(model.Self, *model.Script) {}

// Step implements model.Process.
func (p *flowSink) Step(ev *model.Event, s *model.Script) {
	if ev.Kind == model.Delivered {
		s.Call(model.External, write(p.task, ev.Msg.Record))
	}
}

// State implements model.Process.
func (p *flowSink) State(*model.Codec) {}

// write is the request that makes a record visible.
func write(task *model.Task, rec model.Record) model.Message {
	return model.Message{Kind: model.Write, Seq: int64(task.Part), Record: rec}
}
