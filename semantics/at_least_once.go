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
	Params:  atLeastOnceParams(),
	// No fault of calls or messages and no zombie makes it lose: what is not acknowledged is sent
	// again. State is another matter, and it is not claimed: see the cells of delay-call and
	// zombie.
	Claims: []string{"at-least-once"},
	Tolerates: []string{"no-fault", "crash", "lose-request", "lose-answer", "delay-call",
		"duplicate-call", "pause", "zombie", "lose-message", "duplicate-message", "reorder-message",
		"delay-message", "partition", "service-crash", "refuse-call", "stale-read"},
	// RO comes from the window: with several records in flight, one that is sent again can be
	// overtaken. It is the trade that Kafka's max.in.flight.requests.per.connection makes.
	Cells: table(`
		no-fault           all                -
		crash              stateless          D RO RG
		crash              commutative        W NS D SD RV RO RG
		crash              non-commutative    W NS SX D SD RV RO RG (WS)
		crash              non-deterministic  W NS D SD RV RO RG
		lose-request       stateless          - (D RO RG)
		lose-request       commutative        - (W NS D SD RV RO RG)
		lose-request       non-commutative    - (W WS NS SX D SD RV RO RG)
		lose-request       non-deterministic  - (W NS D SD RV RO RG)
		lose-answer        stateless          D (RO RG)
		lose-answer        commutative        D (W NS SD RV RO RG)
		lose-answer        non-commutative    D (W WS NS SX SD RV RO RG)
		lose-answer        non-deterministic  D (W NS SD RV RO RG)
		delay-call         stateless          D RG (RO)
		delay-call         commutative        SL NS D RG (W SD RV RO)
		delay-call         non-commutative    SL NS SX D RG (W WS SD RV RO)
		delay-call         non-deterministic  SL NS D RG (W SD RV RO)
		duplicate-call     stateless          D (RO RG)
		duplicate-call     commutative        D RG (SL W NS SD RV RO)
		duplicate-call     non-commutative    D RG (SL W WS NS SX SD RV RO)
		duplicate-call     non-deterministic  D (SL W NS SD RV RO RG)
		pause              stateless          - (D RO RG)
		pause              commutative        - (W NS D SD RV RO RG)
		pause              non-commutative    - (W WS NS SX D SD RV RO RG)
		pause              non-deterministic  - (W NS D SD RV RO RG)
		zombie             stateless          D RG (RO)
		zombie             commutative        W NS D SD RV RG (SL RO)
		zombie             non-commutative    W NS SX D SD RV RG (SL WS RO)
		zombie             non-deterministic  W NS D SD RV RG (SL SX RO)
		lose-message       stateless          D RO RG
		lose-message       commutative        W NS D SD RV RO RG
		lose-message       non-commutative    W SX D SD RV RO RG (WS NS)
		lose-message       non-deterministic  W D SD RV RO RG (NS)
		duplicate-message  stateless          D (RO RG)
		duplicate-message  commutative        W NS D SD RV RG (RO)
		duplicate-message  non-commutative    W D SD RV RG (WS NS SX RO)
		duplicate-message  non-deterministic  W NS D SD RV (RO RG)
		reorder-message    stateless          RO (D RG)
		reorder-message    commutative        W RO (NS D SD RV RG)
		reorder-message    non-commutative    W RO (WS NS SX D SD RV RG)
		reorder-message    non-deterministic  RO (W NS D SD RV RG)
		delay-message      stateless          D RO RG
		delay-message      commutative        W NS D SD RV RO RG
		delay-message      non-commutative    W NS SX D SD RV RO RG (WS)
		delay-message      non-deterministic  W NS D SD RV RO RG
		partition          stateless          D RG (RO)
		partition          commutative        W NS D SD RV RG (RO)
		partition          non-commutative    W NS SX D SD RV RG (WS RO)
		partition          non-deterministic  W NS D SD RV RG (RO)
		service-crash      stateless          D RG (RO)
		service-crash      commutative        D SD RV RG (W NS RO)
		service-crash      non-commutative    SX D SD RV RG (W WS NS RO)
		service-crash      non-deterministic  D SD RV RG (W NS RO)
		refuse-call        stateless          D RO RG
		refuse-call        commutative        W NS D SD RV RO RG
		refuse-call        non-commutative    W SX D SD RV RO RG (WS NS)
		refuse-call        non-deterministic  W NS D SD RV RO RG
		forget-call        stateless          L ST (D RO RG)
		forget-call        commutative        L SL NS ST (W D SD RV RO RG)
		forget-call        non-commutative    L SL NS SX ST (W WS D SD RV RO RG)
		forget-call        non-deterministic  L SL NS ST (W D SD RV RO RG)
		stale-read         stateless          - (D RO RG)
		stale-read         commutative        - (SL W NS D SD RV RO RG)
		stale-read         non-commutative    - (W WS NS SX D SD RV RO RG)
		stale-read         non-deterministic  - (SL W NS D SD RV RO RG)
		truncate           stateless          L (D RO RG)
		truncate           commutative        L SL W (NS D SD RV RO RG)
		truncate           non-commutative    L SL (W WS NS SX D SD RV RO RG)
		truncate           non-deterministic  L SL (W NS D SD RV RO RG)
		poison             stateless          ST (D RO RG)
		poison             commutative        D SD RV RG ST (NS RO)
		poison             non-commutative    D SD RV RG ST (NS RO)
		poison             non-deterministic  ST (NS D SD RV RO RG)`),
	New: newAtLeastOnce,
}

// atLeastOnceParams are the parameters of the modes that are at least once hop by hop.
func atLeastOnceParams() []model.Param {
	return []model.Param{batchParam,
		{Name: "window", Default: 4, Min: 1, Max: 1000,
			Says: "how many records a source has unacknowledged at most"},
		commitEveryParam,
		{Name: "timeout", Default: 30_000_000, Min: 1_000_000, Max: 10_000_000_000, IsTime: true,
			Says: "how long a sender waits for an acknowledgement, times its hops to the sink"},
		deadLetterParam}
}

func newAtLeastOnce(job *model.Job, task *model.Task) model.Process {
	switch task.Role {
	case model.Source:
		return newAtLeastOnceSource(job, task)
	case model.Operate:
		return newAtLeastOnceOperator(job, task)
	}
	return &atLeastOnceSink{task: task}
}

// newWindow gives a task its window. A task further from the sink waits longer, so that a resend
// near a failure comes before a resend of the whole chain.
func newWindow(job *model.Job, task *model.Task) window {
	return window{timeout: job.Param("timeout") * int64(task.Hop)}
}

// atLeastOnceSource hands out records within a window and commits the lowest unfinished position.
//
//	first       number of the oldest record that may be unfinished, in the order of handing out
//	open[i]     is record first+i; open[0] is unfinished
type atLeastOnceSource struct {
	task   *model.Task
	intake intake
	window window
	most   int
	first  int64
	open   []handedOut
}

// handedOut is a record on its way: how many acknowledgements are missing.
type handedOut struct {
	offset  int64
	missing int64
}

func newAtLeastOnceSource(job *model.Job, task *model.Task) *atLeastOnceSource {
	return &atLeastOnceSource{task: task, intake: newIntake(job, task),
		window: newWindow(job, task), most: int(job.Param("window"))}
}

// Start implements model.Process.
func (p *atLeastOnceSource) Start(self model.Self, s *model.Script) {
	p.window.reset(self.Attempt)
	p.first, p.open = 0, p.open[:0]
	p.intake.open(s)
}

// Step implements model.Process.
func (p *atLeastOnceSource) Step(ev *model.Event, s *model.Script) {
	switch {
	case failRefused(s, ev):
	case ev.Kind == model.TimerFired && ev.Token == pollToken:
		p.intake.due()
		p.fill(s)
	case ev.Kind == model.TimerFired:
		p.window.due(s)
	case ev.Kind == model.Delivered:
		if number, ok := p.window.acknowledge(&ev.Msg); ok {
			p.finished(s, number)
		}
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
func (p *atLeastOnceSource) fill(s *model.Script) {
	for len(p.open) < p.most {
		rec, ok := p.intake.next()
		if !ok {
			break
		}
		missing := p.window.send(s, p.task, rec, p.first+int64(len(p.open)))
		p.open = append(p.open, handedOut{offset: rec.ID.Offset, missing: int64(missing)})
	}
	p.intake.refill(s)
}

// oldest is the offset of the oldest unfinished record, or nothing.
func (p *atLeastOnceSource) oldest() int64 {
	if len(p.open) == 0 {
		return nothing
	}
	return p.open[0].offset
}

// finished counts an acknowledgement of a record.
func (p *atLeastOnceSource) finished(s *model.Script, number int64) {
	p.open[number-p.first].missing--
	done := 0
	for done < len(p.open) && p.open[done].missing == 0 {
		done++
	}
	p.first += int64(done)
	p.open = append(p.open[:0], p.open[done:]...)
	p.intake.settle(s, p.oldest())
	p.fill(s)
}

// State implements model.Process.
func (p *atLeastOnceSource) State(c *model.Codec) {
	p.intake.state(c)
	p.window.state(c)
	c.Int64(&p.first)
	model.Slice(c, &p.open, func(h *handedOut) {
		c.Int64(&h.offset)
		c.Int64(&h.missing)
	})
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
	return &atLeastOnceOperator{task: task, keyed: newKeyed(job, task, model.WrittenThrough),
		window: newWindow(job, task)}
}

// Start implements model.Process.
func (p *atLeastOnceOperator) Start(self model.Self, _ *model.Script) {
	p.keyed.reset(self)
	p.window.reset(self.Attempt)
	p.msg, p.base, p.owed = model.Message{}, 0, p.owed[:0]
}

// Step implements model.Process.
func (p *atLeastOnceOperator) Step(ev *model.Event, s *model.Script) {
	switch {
	case failRefused(s, ev):
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
	list, ok := p.keyed.apply(s, &p.msg)
	if !ok {
		return
	}
	p.owed = append(p.owed, owed{msg: p.msg})
	missing := 0
	for _, out := range list {
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
	if failRefused(s, ev) || ev.Kind != model.Delivered {
		return
	}
	s.CallUntilDone(model.External, write(p.task, ev.Msg.Record))
	to, ack := ackOf(p.task, &ev.Msg)
	s.Send(to, ack)
}

// State implements model.Process.
func (p *atLeastOnceSink) State(*model.Codec) {}
