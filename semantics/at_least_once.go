package semantics

import (
	"fmt"

	"github.com/oncesim/oncesim/model"
)

// AtLeastOnce commits an offset only when everything before it has been acknowledged down to the
// sink, and sends again what is not acknowledged in time.
var AtLeastOnce = model.Mode{
	Name: "at-least-once",
	Says: "process, then commit the offset: a crash repeats what was in between",
	Source: "Kafka documentation, Message Delivery Semantics: process, then save the position; " +
		"Samza documentation, Checkpointing",
	State:   model.WrittenThrough,
	Commits: true,
	Sink:    "append-log",
	Params: []model.Param{batchParam,
		{Name: "window", Default: 4, Min: 1, Max: 1000,
			Says: "how many records a source has unacknowledged at most"},
		{Name: "commit-every", Default: 4, Min: 1, Max: 1000,
			Says: "how many finished records one offset commit covers"},
		{Name: "timeout", Default: 30_000_000, Min: 1_000_000, Max: 10_000_000_000, IsTime: true,
			Says: "how long a sender waits for an acknowledgement, times its hops to the sink"}},
	// No fault of calls or messages and no zombie makes it lose: what is not acknowledged is sent
	// again. State is another matter, and it is not claimed: see the cells of delay-call and
	// zombie.
	Claims: []string{"at-least-once"},
	Tolerates: []string{"no-fault", "crash", "lose-request", "lose-answer", "delay-call",
		"duplicate-call", "pause", "zombie", "lose-message", "duplicate-message", "reorder-message",
		"delay-message"},
	// RO comes from the window: with several records in flight, one that is sent again can be
	// overtaken. It is the trade that Kafka's max.in.flight.requests.per.connection makes.
	Cells: table(`
		no-fault        stateless    -
		crash           stateless    D RO RG
		lose-request    stateless    - (D RO RG)
		lose-answer     stateless    D (RO RG)
		delay-call      stateless    D RG (RO)
		duplicate-call  stateless    D (RO RG)
		pause           stateless    - (D RO RG)
		zombie          stateless    D RG (RO)
		lose-message       stateless    D RO RG
		duplicate-message  stateless    D (RO RG)
		reorder-message    stateless    RO (D RG)
		delay-message      stateless    D RO RG

		no-fault        commutative  -
		crash           commutative  D SD RV W NS RO RG
		lose-request    commutative  - (D SD RV W NS RO RG)
		lose-answer     commutative  D (SD RV W NS RO RG)
		delay-call      commutative  SL D NS RG (SD RV W RO)
		duplicate-call  commutative  D RG (SL SD RV W NS RO)
		pause           commutative  - (D SD RV W NS RO RG)
		zombie          commutative  D SD RV W NS RG (SL RO)
		lose-message       commutative  D SD RV W RO RG (NS)
		duplicate-message  commutative  D SD RV W NS (RO RG)
		reorder-message    commutative  W RO (D SD RV NS RG)
		delay-message      commutative  D SD RV W RO RG (NS)`),
	New: func(job *model.Job, task *model.Task) model.Process {
		switch task.Role {
		case model.Source:
			return newAtLeastOnceSource(job, task)
		case model.Operate:
			return newAtLeastOnceOperator(job, task)
		}
		return &atLeastOnceSink{task: task}
	},
}

// newWindow gives a task its window. A task further from the sink waits longer, so that a resend
// near a failure comes before a resend of the whole chain.
func newWindow(job *model.Job, task *model.Task) window {
	return window{timeout: job.Param("timeout") * int64(task.Hop)}
}

// atLeastOnceSource hands out records within a window and commits the lowest unfinished position.
//
//	batch[taken:]   fetched and not handed out yet
//	open            acknowledgements missing per record handed out, from position base on
//	committed       ≤ base: everything before base is finished
type atLeastOnceSource struct {
	task      *model.Task
	cursor    cursor
	window    window
	most      int
	every     int64
	batch     []model.Record
	taken     int
	open      []int64
	base      int64
	committed int64
	fetching  bool
}

func newAtLeastOnceSource(job *model.Job, task *model.Task) *atLeastOnceSource {
	return &atLeastOnceSource{task: task, cursor: newCursor(job, task),
		window: newWindow(job, task), most: int(job.Param("window")),
		every: job.Param("commit-every")}
}

// Start implements model.Process.
func (p *atLeastOnceSource) Start(self model.Self, s *model.Script) {
	p.window.reset(self.Attempt)
	p.batch, p.taken, p.open = p.batch[:0], 0, p.open[:0]
	p.base, p.committed, p.fetching = 0, 0, false
	p.cursor.open(s, model.Position)
}

// Step implements model.Process.
func (p *atLeastOnceSource) Step(ev *model.Event, s *model.Script) {
	switch {
	case ev.Kind == model.TimerFired && ev.Token == pollToken:
		p.fetching = false
		p.fill(s)
	case ev.Kind == model.TimerFired:
		p.window.due(s)
	case ev.Kind == model.Delivered:
		if input, ok := p.window.acknowledge(&ev.Msg); ok {
			p.finished(s, input)
		}
	case ev.Kind == model.Answered && ev.Msg.Kind == model.Position:
		p.cursor.next, p.base, p.committed = ev.Ans.Seq, ev.Ans.Seq, ev.Ans.Seq
		p.fill(s)
	case ev.Kind == model.Answered && ev.Msg.Kind == model.Fetch:
		p.fetched(ev, s)
	case ev.Kind == model.Answered && ev.Msg.Kind == model.OffsetCommit:
	default:
		panic(fmt.Sprintf("semantics: source steps on %+v", *ev))
	}
}

// fetched keeps a batch; if there is none yet, the cursor's timer asks again.
func (p *atLeastOnceSource) fetched(ev *model.Event, s *model.Script) {
	p.batch, p.taken = append(p.batch[:0], ev.Ans.Records...), 0
	p.cursor.took(s, &ev.Ans)
	p.fetching = ev.Ans.N == 0 && !ev.Ans.End
	p.fill(s)
}

// fill hands out records while the window has room, and fetches when none is left.
func (p *atLeastOnceSource) fill(s *model.Script) {
	for p.taken < len(p.batch) && len(p.open) < p.most {
		rec := p.batch[p.taken]
		p.taken++
		p.open = append(p.open, int64(p.window.send(s, p.task, rec, rec.ID.Offset)))
	}
	if p.taken == len(p.batch) && !p.fetching && !p.cursor.isEnd {
		p.fetching = true
		p.cursor.fetch(s)
	}
}

// finished counts an acknowledgement. Only when a record and all before it are finished may the
// committed offset move behind it: effects first, position second.
func (p *atLeastOnceSource) finished(s *model.Script, offset int64) {
	p.open[offset-p.base]--
	done := 0
	for done < len(p.open) && p.open[done] == 0 {
		done++
	}
	p.base += int64(done)
	p.open = append(p.open[:0], p.open[done:]...)
	isLast := p.cursor.isEnd && p.taken == len(p.batch) && len(p.open) == 0
	if p.base-p.committed >= p.every || isLast && p.base > p.committed {
		p.committed = p.base
		p.cursor.commit(s, p.base)
	}
	p.fill(s)
}

// State implements model.Process.
func (p *atLeastOnceSource) State(c *model.Codec) {
	p.cursor.state(c)
	p.window.state(c)
	model.Slice(c, &p.batch, c.Record)
	taken := int64(p.taken)
	c.Int64(&taken)
	p.taken = int(taken)
	model.Slice(c, &p.open, c.Int64)
	c.Int64(&p.base)
	c.Int64(&p.committed)
	c.Bool(&p.fetching)
}

// owed is an input that is not finished: the outputs that are not acknowledged yet.
type owed struct {
	missing int64
	msg     model.Message
}

// atLeastOnceOperator acknowledges an input when all outputs of its step are acknowledged. What
// it holds is in memory: when it dies, upstream sends again.
//
//	base        number of the oldest input that may be unfinished
//	owed[i]     is input base+i
type atLeastOnceOperator struct {
	task   *model.Task
	keyed  keyed
	window window
	msg    model.Message // the input whose state was asked for
	base   int64
	owed   []owed
}

func newAtLeastOnceOperator(job *model.Job, task *model.Task) *atLeastOnceOperator {
	return &atLeastOnceOperator{task: task, keyed: newKeyed(task, model.WrittenThrough),
		window: newWindow(job, task)}
}

// Start implements model.Process.
func (p *atLeastOnceOperator) Start(self model.Self, _ *model.Script) {
	p.keyed.reset()
	p.window.reset(self.Attempt)
	p.msg, p.base, p.owed = model.Message{}, 0, p.owed[:0]
}

// Step implements model.Process.
func (p *atLeastOnceOperator) Step(ev *model.Event, s *model.Script) {
	switch {
	case ev.Kind == model.TimerFired:
		p.window.due(s)
	case ev.Kind == model.Delivered && ev.Msg.Kind == model.Ack:
		if input, ok := p.window.acknowledge(&ev.Msg); ok {
			p.settle(s, input, 1)
		}
	case ev.Kind == model.Delivered:
		p.msg = ev.Msg
		if p.keyed.isReady(s, p.msg.Record) {
			p.apply(s)
		}
	case ev.Kind == model.Answered && ev.Msg.Kind == model.Get:
		p.keyed.learn(ev)
		p.apply(s)
	case ev.Kind == model.Answered && ev.Msg.Kind == model.Put:
	default:
		panic(fmt.Sprintf("semantics: operator steps on %+v", *ev))
	}
}

// apply takes the step: state is written through first, then outputs leave.
func (p *atLeastOnceOperator) apply(s *model.Script) {
	input := p.base + int64(len(p.owed))
	p.owed = append(p.owed, owed{msg: p.msg})
	missing := 0
	for _, out := range p.keyed.apply(s, p.msg.Record) {
		missing += p.window.send(s, p.task, out, input)
	}
	p.owed[input-p.base].missing = int64(missing)
	p.settle(s, input, 0)
}

// settle counts acknowledgements of the outputs of an input, and acknowledges it when none is
// missing.
func (p *atLeastOnceOperator) settle(s *model.Script, input, acks int64) {
	o := &p.owed[input-p.base]
	o.missing -= acks
	if o.missing == 0 {
		to, ack := ackOf(p.task, &o.msg)
		s.Send(to, ack)
	}
	done := 0
	for done < len(p.owed) && p.owed[done].missing == 0 {
		done++
	}
	p.base += int64(done)
	p.owed = append(p.owed[:0], p.owed[done:]...)
}

// State implements model.Process.
func (p *atLeastOnceOperator) State(c *model.Codec) {
	p.keyed.state(c)
	p.window.state(c)
	c.Message(&p.msg)
	c.Int64(&p.base)
	model.Slice(c, &p.owed, func(o *owed) {
		c.Int64(&o.missing)
		c.Message(&o.msg)
	})
}

// atLeastOnceSink writes until the write is known to be done, then acknowledges.
type atLeastOnceSink struct {
	task *model.Task
}

// Start implements model.Process.
func (p *atLeastOnceSink) Start(model.Self, *model.Script) {}

// Step implements model.Process.
func (p *atLeastOnceSink) Step(ev *model.Event, s *model.Script) {
	if ev.Kind != model.Delivered {
		return
	}
	s.CallUntilDone(model.External, write(p.task, ev.Msg.Record))
	to, ack := ackOf(p.task, &ev.Msg)
	s.Send(to, ack)
}

// State implements model.Process.
func (p *atLeastOnceSink) State(*model.Codec) {}
