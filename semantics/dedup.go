package semantics

import (
	"fmt"

	"github.com/oncesim/oncesim/model"
)

// Dedup takes every input up once: its id, the state that it makes and what it emits are durable in
// one write, before anything is acknowledged or sent. MillWheel calls it strong productions.
var Dedup = model.Mode{
	Name: "dedup",
	Says: "every task writes id, state and outputs in one step, and takes an input up once",
	Source: "Akidau et al., MillWheel, VLDB 2013: exactly-once delivery and strong productions; " +
		"the order of a channel as in Kafka, ProducerAppendInfo",
	State:   model.WrittenThrough,
	Commits: true,
	Sink:    "identity-log",
	Params:  dedupParams("how long a sender waits for an acknowledgement"),
	Claims: []string{"at-most-once", "at-least-once", "exactly-once-state", "exactly-once",
		"effectively-once", "order", "no-revision"},
	// A stale read is outside: one of the outbox hides rows that nobody asks for again.
	Tolerates: dedupTolerates(),
	Cells: table(`
		no-fault           all                -
		crash              all                -
		lose-request       all                -
		lose-answer        all                -
		delay-call         all                -
		duplicate-call     all                -
		pause              all                -
		zombie             all                -
		lose-message       all                -
		duplicate-message  all                -
		reorder-message    all                -
		delay-message      all                -
		partition          all                -
		service-crash      all                -
		refuse-call        all                -
		forget-call        stateless          L ST (RO)
		forget-call        commutative        L SL NS ST (W RO)
		forget-call        non-commutative    L SL NS SX ST (W RO)
		forget-call        non-deterministic  L SL NS ST (W RO)
		stale-read         stateless          - (L)
		stale-read         commutative        - (L SL W NS SD)
		stale-read         non-commutative    - (L W NS SD)
		stale-read         non-deterministic  - (L W NS SD)
		truncate           stateless          L
		truncate           commutative        L SL W
		truncate           non-commutative    L SL
		truncate           non-deterministic  L SL
		poison             all                ST
		short-horizon      stateless          RO
		short-horizon      commutative        W NS SD RO
		short-horizon      non-commutative    W SX SD RO (WS NS)
		short-horizon      non-deterministic  W NS SD RO`),
	RestsOn: dedupRestsOn("one write", "id, state and outputs become durable together",
		model.Mechanism{Name: "fencing", Says: "the store refuses a task that was replaced",
			Classes: []string{"zombie"}, Without: []model.ParamValue{{Name: "fencing"}}}),
	Harmless: dedupHarmless(),
	New: func(job *model.Job, task *model.Task) model.Process {
		switch task.Role {
		case model.Source:
			return newDedupSource(job, task, 1)
		case model.Operate:
			return newDedupOperator(job, task)
		}
		return newDedupSink(job, task)
	},
}

// dedupTolerates is the envelope: every fault that leaves services what they were told.
func dedupTolerates() []string {
	return []string{"no-fault", "crash", "lose-request", "lose-answer", "delay-call",
		"duplicate-call", "pause", "zombie", "lose-message", "duplicate-message",
		"reorder-message", "delay-message", "partition", "service-crash", "refuse-call"}
}

// dedupRestsOn is what a deduplicating mode rests on: when it writes, what it has in common with
// its sibling, and more.
func dedupRestsOn(name, says string, more ...model.Mechanism) []model.Mechanism {
	return append([]model.Mechanism{
		{Name: name, Says: says, Variant: "dedup-id-first",
			Classes: []string{"crash", "zombie", "refuse-call"}},
		{Name: "order", Says: "a receiver waits for what is missing",
			Classes: []string{"crash", "lose-message", "reorder-message", "delay-message"},
			Without: []model.ParamValue{{Name: "in-order"}}},
		{Name: "identity", Says: "the external system knows what it holds", Sink: "append-log",
			Classes: []string{"crash", "lose-answer", "delay-call", "duplicate-call",
				"duplicate-message", "partition", "service-crash"}},
	}, more...)
}

// dedupHarmless are the classes that take nothing from what a deduplicating mode rests on.
func dedupHarmless() []model.Harmless {
	return []model.Harmless{
		{Class: "lose-request", Says: "what was not applied is asked for again"},
		{Class: "pause", Says: "who goes on before it is replaced was only slow"},
	}
}

// dedupParams are the parameters of a deduplicating mode; waits says what its timeout is.
func dedupParams(waits string) []model.Param {
	return []model.Param{batchParam,
		{Name: "window", Default: 4, Min: 1, Max: 1000,
			Says: "how many messages a sender has unacknowledged at most"},
		commitEveryParam,
		{Name: "timeout", Default: 30_000_000, Min: 1_000_000, Max: 10_000_000_000, IsTime: true,
			Says: waits},
		{Name: "horizon", Default: 1000, Min: 0, Max: 1_000_000,
			Says: "how many ids of a channel a task remembers; out of order, one forgotten is new"},
		{Name: "fencing", Default: 1, Min: 0, Max: 1, IsPremise: true,
			Says: "1: the store refuses a task that was replaced; 0: it does not look"},
		{Name: "in-order", Default: 1, Min: 0, Max: 1, IsPremise: true,
			Says: "1: a receiver waits for what is missing; 0: it takes up what comes"},
		deadLetterParam}
}

// dedupOperator takes an input up in one write:
//
//	1  its id, the new state and the outputs become durable together
//	2  the input is acknowledged
//	3  the outputs are sent, until they are acknowledged
//
// A crash before 1 leaves nothing, and the sender sends again. After it the next life finds all of
// it in the row of the task: the sender's repetition is known, and 3 begins again.
type dedupOperator struct {
	task  *model.Task
	keyed keyed
	in    inbox
	out   outbox
	msg   model.Message // the input in hand
	parts []model.Record
}

func newDedupOperator(job *model.Job, task *model.Task) *dedupOperator {
	return &dedupOperator{task: task, keyed: newKeyed(job, task, model.WrittenThrough),
		in: newInbox(job, task), out: newOutbox(job, task, 1)}
}

// Start implements model.Process. Asking for the row fences off the lives before this one.
func (p *dedupOperator) Start(self model.Self, s *model.Script) {
	p.keyed.reset(self)
	p.in.reset()
	p.out.reset()
	p.msg = model.Message{}
	s.CallUntilDone(model.StateStore, p.in.row(model.LoadOutbox))
	p.in.load(s)
}

// Step implements model.Process.
func (p *dedupOperator) Step(ev *model.Event, s *model.Script) {
	switch {
	case failRefused(s, ev):
	case ev.Kind == model.TimerFired:
		p.out.due(s)
	case ev.Kind == model.Delivered && ev.Msg.Kind == model.Ack:
		p.out.acknowledge(s, &ev.Msg)
	case ev.Kind == model.Delivered:
		p.receive(&ev.Msg, s)
	case ev.Kind == model.Answered && ev.Msg.Kind == model.LoadOutbox:
		p.out.next = ev.Ans.Seq
		p.queue(ev.Ans.Seq, ev.Ans.Records)
	case ev.Kind == model.Answered && ev.Msg.Kind == model.LoadIDs:
		if p.in.learn(ev) {
			p.out.send(s)
		}
	case ev.Kind == model.Answered && ev.Msg.Kind == model.Get:
		p.keyed.learn(ev)
		p.update(s)
	case ev.Kind == model.Answered && ev.Msg.Kind == model.Update:
		p.in.take(&p.msg)
		acknowledge(s, p.task, &p.msg)
		p.queue(ev.Ans.Seq, ev.Msg.Parts)
		p.out.send(s)
	default:
		panic(fmt.Sprintf("semantics: operator steps on %+v", *ev))
	}
}

// receive begins to take an input up, if it is its turn.
func (p *dedupOperator) receive(m *model.Message, s *model.Script) {
	switch p.in.look(m) {
	case isKnown:
		acknowledge(s, p.task, m)
	case isNew:
		p.msg = *m
		if p.keyed.isReady(s, m.Record) {
			p.update(s)
		}
	}
}

// update takes the step and writes everything that it comes to, in one request. The outbox gets
// each output once for every route. A step that was set aside leaves its id alone.
func (p *dedupOperator) update(s *model.Script) {
	after, ok := p.keyed.take(s, &p.msg)
	if !ok {
		return
	}
	p.parts = p.parts[:0]
	for _, rec := range p.keyed.out.Records() {
		for range p.task.Routes {
			p.parts = append(p.parts, rec)
		}
	}
	m := p.in.update(&p.msg, p.keyed.op, p.keyed.hasState(), after)
	m.Parts, m.Cursor = p.parts, p.out.delivered()
	s.CallUntilDone(model.StateStore, m)
}

// queue takes rows of the store's outbox from a number on. Every input adds one for each route, in
// their order: the number tells the route.
func (p *dedupOperator) queue(number int64, list []model.Record) {
	for _, rec := range list {
		p.out.add(number, p.task.Routes[number%int64(len(p.task.Routes))], rec)
		number++
	}
}

// State implements model.Process.
func (p *dedupOperator) State(c *model.Codec) {
	p.keyed.state(c)
	p.in.state(c)
	p.out.state(c)
	c.Message(&p.msg)
}

// acknowledge tells the sender of an input that it can forget it.
func acknowledge(s *model.Script, task *model.Task, m *model.Message) {
	to, ack := ackOf(task, m)
	s.Send(to, ack)
}

// dedupSource hands out records within a window; a record is finished when the next task has taken
// it up. Where it begins again after a crash, what is known is only acknowledged.
type dedupSource struct {
	task   *model.Task
	intake intake
	out    outbox
}

func newDedupSource(job *model.Job, task *model.Task, hops int) *dedupSource {
	return &dedupSource{task: task, intake: newIntake(job, task),
		out: newOutbox(job, task, hops)}
}

// Start implements model.Process.
func (p *dedupSource) Start(_ model.Self, s *model.Script) {
	p.out.reset()
	p.intake.open(s)
}

// Step implements model.Process.
func (p *dedupSource) Step(ev *model.Event, s *model.Script) {
	switch {
	case failRefused(s, ev):
	case ev.Kind == model.TimerFired && ev.Token == pollToken:
		p.intake.due()
		p.fill(s)
	case ev.Kind == model.TimerFired:
		p.out.due(s)
	case ev.Kind == model.Delivered:
		p.out.acknowledge(s, &ev.Msg)
		p.intake.settle(s, p.oldest())
		p.fill(s)
	case ev.Kind == model.Answered && ev.Msg.Kind == model.Position:
		p.intake.begin(&ev.Ans)
		p.fill(s)
	case ev.Kind == model.Answered && ev.Msg.Kind == model.Fetch:
		p.intake.fetched(s, &ev.Ans)
		p.intake.settle(s, p.oldest())
		p.fill(s)
	case ev.Kind == model.Answered && ev.Msg.Kind == model.OffsetCommit:
	default:
		panic(fmt.Sprintf("semantics: source steps on %+v", *ev))
	}
}

// fill hands out records while the window has room, and fetches when none is left.
func (p *dedupSource) fill(s *model.Script) {
	for len(p.out.left()) < p.out.most {
		rec, ok := p.intake.next()
		if !ok {
			break
		}
		for _, route := range p.task.Routes {
			p.out.add(rec.ID.Offset, route, rec)
		}
	}
	p.out.send(s)
	p.intake.refill(s)
}

// oldest is the offset of the oldest unfinished record, or nothing.
func (p *dedupSource) oldest() int64 {
	if len(p.out.left()) == 0 {
		return nothing
	}
	return p.out.delivered()
}

// State implements model.Process.
func (p *dedupSource) State(c *model.Codec) {
	p.intake.state(c)
	p.out.state(c)
}

// dedupSink leaves it to the external system to know what is there already: a write carries the
// number of the output and the number before it. A refused write leaves a gap; the sender sends
// what is missing again, and then this one.
type dedupSink struct {
	task  *model.Task
	flags model.Flags
	msg   model.Message // what is being written
}

func newDedupSink(job *model.Job, task *model.Task) *dedupSink {
	p := &dedupSink{task: task}
	if job.Param("in-order") == 1 {
		p.flags = model.InOrder
	}
	return p
}

// Start implements model.Process.
func (p *dedupSink) Start(model.Self, *model.Script) { p.msg = model.Message{} }

// Step implements model.Process.
func (p *dedupSink) Step(ev *model.Event, s *model.Script) {
	switch {
	case ev.Kind == model.Delivered:
		p.msg = ev.Msg
		m := write(p.task, p.msg.Record)
		m.Flags, m.Channel, m.Token, m.Cursor = p.flags, p.msg.Channel, p.msg.Seq, p.msg.Cursor
		m.N = lifeOf(p.msg.Seq)
		s.CallUntilDone(model.External, m)
	case ev.Kind == model.Answered && ev.Ans.Outcome != model.Refused:
		acknowledge(s, p.task, &p.msg)
	}
}

// State implements model.Process.
func (p *dedupSink) State(c *model.Codec) { c.Message(&p.msg) }
