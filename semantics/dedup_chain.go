package semantics

import "github.com/oncesim/oncesim/model"

// unfinished is an input whose step was taken and whose outputs are not all acknowledged, or that
// is not written yet.
//
//	end       the number behind its last output
//	after     the state after its step, where hasState
type unfinished struct {
	msg      model.Message
	end      int64
	hasState bool
	after    model.Value
}

// chain is what the operators have in common whose outputs are not durable: an input is
// acknowledged when its outputs are, so that acknowledgements go up the job hop by hop from the
// sink, and what a task that dies had sent its successor sends again.
//
//	msg    the input in hand
//	open   what is unfinished, oldest first
type chain struct {
	task  *model.Task
	keyed keyed
	in    inbox
	out   outbox
	msg   model.Message
	open  []unfinished
}

func newChain(job *model.Job, task *model.Task) chain {
	return chain{task: task, keyed: newKeyed(job, task, model.WrittenThrough),
		in: newInbox(job, task), out: newOutbox(job, task, task.Hop)}
}

// start begins a life and asks for the catalogs.
func (p *chain) start(self model.Self, s *model.Script) {
	p.keyed.reset(self)
	p.in.reset()
	p.out.reset()
	p.out.begin(self)
	p.msg, p.open = model.Message{}, p.open[:0]
	p.in.load(s)
}

// handles takes the events that come to the same in whatever order a mode writes, and reports
// whether this was one.
func (p *chain) handles(s *model.Script, ev *model.Event) bool {
	switch {
	case failRefused(s, ev):
	case ev.Kind == model.TimerFired:
		p.out.due(s)
	case ev.Kind == model.Answered && ev.Msg.Kind == model.LoadIDs:
		p.in.learn(ev)
	default:
		return false
	}
	return true
}

// receive takes an input in hand and reports true, if it is its turn. What is known is only
// acknowledged; what is unfinished is acknowledged when it is finished, as it came last.
func (p *chain) receive(s *model.Script, m *model.Message) bool {
	what := p.in.look(m)
	for i := range p.open {
		if o := &p.open[i].msg; o.Channel == m.Channel && inputOf(&o.Record) == inputOf(&m.Record) {
			if m.Seq > o.Seq {
				*o = *m
			}
			return false
		}
	}
	switch what {
	case isKnown:
		acknowledge(s, p.task, m)
	case isNew:
		p.msg = *m
	}
	return what == isNew
}

// send sends the outputs of the input in hand.
func (p *chain) send(s *model.Script, outputs []model.Record, after model.Value) {
	p.out.addNext(outputs)
	p.open = append(p.open, unfinished{msg: p.msg, end: p.out.next, after: after,
		hasState: p.keyed.hasState()})
	p.out.send(s)
}

// oldest is the oldest unfinished input if all its outputs are acknowledged, else nil.
func (p *chain) oldest() *unfinished {
	if len(p.open) == 0 || p.out.delivered() < p.open[0].end {
		return nil
	}
	return &p.open[0]
}

// finish acknowledges the oldest unfinished input and forgets it.
func (p *chain) finish(s *model.Script) {
	acknowledge(s, p.task, &p.open[0].msg)
	p.open = append(p.open[:0], p.open[1:]...)
}

func (p *chain) state(c *model.Codec) {
	p.keyed.state(c)
	p.in.state(c)
	p.out.state(c)
	c.Message(&p.msg)
	model.Slice(c, &p.open, func(u *unfinished) {
		c.Message(&u.msg)
		c.Int64(&u.end)
		c.Bool(&u.hasState)
		c.Value(&u.after)
	})
}

// idSink is what the sinks have in common that keep ids apart from what they write.
type idSink struct {
	task *model.Task
	in   inbox
	msg  model.Message // the output in hand
}

func newIDSink(job *model.Job, task *model.Task) idSink {
	return idSink{task: task, in: newInbox(job, task)}
}

// Start implements model.Process.
func (p *idSink) Start(_ model.Self, s *model.Script) {
	p.in.reset()
	p.msg = model.Message{}
	p.in.load(s)
}

// handles is that of a chain.
func (p *idSink) handles(s *model.Script, ev *model.Event) bool {
	switch {
	case failRefused(s, ev):
	case ev.Kind == model.Answered && ev.Msg.Kind == model.LoadIDs:
		p.in.learn(ev)
	default:
		return false
	}
	return true
}

// receive takes an output in hand and reports true, if it is its turn. What is known is only
// acknowledged.
func (p *idSink) receive(s *model.Script, m *model.Message) bool {
	what := p.in.look(m)
	switch what {
	case isKnown:
		acknowledge(s, p.task, m)
	case isNew:
		p.msg = *m
	}
	return what == isNew
}

// State implements model.Process.
func (p *idSink) State(c *model.Codec) {
	p.in.state(c)
	c.Message(&p.msg)
}
