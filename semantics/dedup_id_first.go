package semantics

import (
	"fmt"

	"github.com/oncesim/oncesim/model"
)

// DedupIDFirst writes the id of an input before anything comes of it: a crash between the two
// loses the input, for its sender's repetition is known.
var DedupIDFirst = model.Mode{
	Name: "dedup-id-first",
	Says: "the id is written first, alone: a crash behind it loses the input",
	Source: "Pulsar issue 21892: a message whose number is raised before it is kept is lost; " +
		"MillWheel, VLDB 2013, writes both at once",
	State:   model.WrittenThrough,
	Commits: true,
	Sink:    "append-log",
	Params:  dedupParams(chainTimeout),
	Claims:  []string{"at-most-once"},
	Tolerates: []string{"no-fault", "crash", "lose-request", "pause", "lose-message",
		"duplicate-message", "reorder-message", "delay-message", "service-crash", "refuse-call"},
	Cells: table(`
		no-fault           all                -
		crash              stateless          L
		crash              commutative        L SL W
		crash              non-commutative    L SL (W)
		crash              non-deterministic  L SL W
		lose-request       stateless          - (L)
		lose-request       commutative        - (L SL W)
		lose-request       non-commutative    - (L SL W WS)
		lose-request       non-deterministic  - (L SL W)
		lose-answer        stateless          D (L)
		lose-answer        commutative        D (L SL W)
		lose-answer        non-commutative    D (L SL W)
		lose-answer        non-deterministic  D (L SL W)
		delay-call         stateless          D RG (L RO)
		delay-call         commutative        SL NS D RG (L W RO)
		delay-call         non-commutative    SL NS SX D RG (L W WS RO)
		delay-call         non-deterministic  SL NS D RG (L W RO)
		duplicate-call     stateless          D (L RG)
		duplicate-call     commutative        D (L SL W NS RG)
		duplicate-call     non-commutative    D (L SL W WS RG)
		duplicate-call     non-deterministic  D (L SL W)
		pause              stateless          - (L)
		pause              commutative        - (L SL W)
		pause              non-commutative    - (L SL W WS)
		pause              non-deterministic  - (L SL W)
		zombie             stateless          L RO
		zombie             commutative        L SL W NS RO
		zombie             non-commutative    L SL W WS NS RO (SX)
		zombie             non-deterministic  L SL W NS RO
		lose-message       stateless          - (L)
		lose-message       commutative        - (L SL W)
		lose-message       non-commutative    - (L SL W)
		lose-message       non-deterministic  - (L SL W)
		duplicate-message  stateless          - (L)
		duplicate-message  commutative        - (L SL W)
		duplicate-message  non-commutative    - (L SL W WS)
		duplicate-message  non-deterministic  - (L SL W)
		reorder-message    stateless          - (L)
		reorder-message    commutative        - (L SL W)
		reorder-message    non-commutative    - (L SL W WS)
		reorder-message    non-deterministic  - (L SL W)
		delay-message      stateless          - (L)
		delay-message      commutative        - (L SL W)
		delay-message      non-commutative    - (L SL W WS)
		delay-message      non-deterministic  - (L SL W)
		partition          stateless          D (L)
		partition          commutative        D (L SL W)
		partition          non-commutative    D (L SL W WS)
		partition          non-deterministic  D (L SL W)
		service-crash      stateless          - (L)
		service-crash      commutative        - (L SL W)
		service-crash      non-commutative    - (L SL WS)
		service-crash      non-deterministic  - (L SL W)
		refuse-call        stateless          L
		refuse-call        commutative        L SL W
		refuse-call        non-commutative    L SL (W)
		refuse-call        non-deterministic  L SL W
		forget-call        stateless          L ST (D)
		forget-call        commutative        L SL NS ST (W D SD)
		forget-call        non-commutative    L SL NS SX ST (W WS D SD)
		forget-call        non-deterministic  L SL NS ST (W D SD)
		stale-read         stateless          - (L D)
		stale-read         commutative        - (L SL W D)
		stale-read         non-commutative    - (L SL W WS D)
		stale-read         non-deterministic  - (L SL W D)
		truncate           stateless          L
		truncate           commutative        L SL W
		truncate           non-commutative    L SL (W WS)
		truncate           non-deterministic  L SL (W)
		poison             stateless          L
		poison             commutative        L SL W
		poison             non-commutative    L SL (W WS)
		poison             non-deterministic  L SL (W)
		short-horizon      stateless          L D RO RG
		short-horizon      commutative        L SL W NS D SD RV RO RG
		short-horizon      non-commutative    L SL W NS SX D SD RV RO RG (WS)
		short-horizon      non-deterministic  L SL W NS D SD RV RO RG`),
	IsVariant: true,
	New: func(job *model.Job, task *model.Task) model.Process {
		switch task.Role {
		case model.Source:
			return newDedupSource(job, task, task.Hop)
		case model.Operate:
			return &idFirstOperator{chain: newChain(job, task)}
		}
		return &idFirstSink{newIDSink(job, task)}
	},
}

// idFirstOperator takes an input up in this order:
//
//	1  its id becomes durable
//	2  the new state becomes durable
//	3  the outputs are sent, until they are acknowledged
//	4  the input is acknowledged
type idFirstOperator struct{ chain }

// Start implements model.Process.
func (p *idFirstOperator) Start(self model.Self, s *model.Script) { p.start(self, s) }

// Step implements model.Process.
func (p *idFirstOperator) Step(ev *model.Event, s *model.Script) {
	switch {
	case p.handles(s, ev):
	case ev.Kind == model.Delivered && ev.Msg.Kind == model.Ack:
		p.out.acknowledge(s, &ev.Msg)
		p.settle(s)
	case ev.Kind == model.Delivered:
		if p.receive(s, &ev.Msg) {
			p.in.mark(s, &p.msg)
		}
	case ev.Kind == model.Answered && ev.Msg.Kind == model.Mark:
		p.in.take(&p.msg)
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

// apply takes the step, writes the state through and sends what comes of it.
func (p *idFirstOperator) apply(s *model.Script) {
	if outputs, ok := p.keyed.apply(s, &p.msg); ok {
		p.send(s, outputs, model.Value{})
		p.settle(s)
	}
}

// settle acknowledges the inputs whose outputs are acknowledged.
func (p *idFirstOperator) settle(s *model.Script) {
	for p.oldest() != nil {
		p.finish(s)
	}
}

// State implements model.Process.
func (p *idFirstOperator) State(c *model.Codec) { p.state(c) }

// idFirstSink writes the id of an output, then the output, and acknowledges it.
type idFirstSink struct{ idSink }

// Step implements model.Process.
func (p *idFirstSink) Step(ev *model.Event, s *model.Script) {
	switch {
	case p.handles(s, ev):
	case ev.Kind == model.Delivered:
		if p.receive(s, &ev.Msg) {
			p.in.mark(s, &p.msg)
		}
	case ev.Kind == model.Answered && ev.Msg.Kind == model.Mark:
		p.in.take(&p.msg)
		s.CallUntilDone(model.External, write(p.task, p.msg.Record))
	case ev.Kind == model.Answered && ev.Msg.Kind == model.Write:
		acknowledge(s, p.task, &p.msg)
	default:
		panic(fmt.Sprintf("semantics: sink steps on %+v", *ev))
	}
}
