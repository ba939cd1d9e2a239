package semantics

import (
	"fmt"

	"github.com/oncesim/oncesim/model"
)

// DedupIDLast writes the id of an input when everything that comes of it is done: a crash between
// the two repeats it, in the state and in the output.
var DedupIDLast = model.Mode{
	Name:      "dedup-id-last",
	Says:      "the id is written last, alone: a crash before it repeats the input",
	Source:    "the other order of dedup-id-first; MillWheel, VLDB 2013, writes both at once",
	State:     model.WrittenThrough,
	Commits:   true,
	Sink:      "append-log",
	Params:    dedupParams(chainTimeout),
	Claims:    []string{"at-least-once"},
	Tolerates: dedupTolerates(),
	Cells: table(`
		no-fault           all                -
		crash              stateless          D
		crash              commutative        W NS D SD (RV RG)
		crash              non-commutative    W NS SX D SD (RV RG)
		crash              non-deterministic  W NS D SD (RV)
		lose-request       stateless          - (D)
		lose-request       commutative        - (W NS D SD)
		lose-request       non-commutative    - (W NS SX D SD)
		lose-request       non-deterministic  - (W NS D SD)
		lose-answer        stateless          D
		lose-answer        commutative        D (W NS SD)
		lose-answer        non-commutative    D (W NS SX SD)
		lose-answer        non-deterministic  D (W NS SD)
		delay-call         stateless          D RG
		delay-call         commutative        SL NS D RG (W SD)
		delay-call         non-commutative    SL NS SX D RG (W SD)
		delay-call         non-deterministic  SL NS D RG (W SX SD)
		duplicate-call     stateless          D (RG)
		duplicate-call     commutative        D RG (SL W NS SD)
		duplicate-call     non-commutative    D RG (SL W NS SX SD)
		duplicate-call     non-deterministic  D (W NS SD RG)
		pause              stateless          - (D)
		pause              commutative        - (W NS D SD)
		pause              non-commutative    - (W NS SX D SD)
		pause              non-deterministic  - (W NS D SD)
		zombie             stateless          D RG
		zombie             commutative        W NS D SD RG (SL RV)
		zombie             non-commutative    W NS SX D SD RG (SL RV)
		zombie             non-deterministic  W NS SX D SD RG (SL RV)
		lose-message       stateless          - (D)
		lose-message       commutative        - (W NS D SD)
		lose-message       non-commutative    - (W NS SX D SD)
		lose-message       non-deterministic  - (W NS D SD)
		duplicate-message  stateless          - (D)
		duplicate-message  commutative        - (W NS D SD)
		duplicate-message  non-commutative    - (W NS SX D SD)
		duplicate-message  non-deterministic  - (W NS D SD)
		reorder-message    stateless          - (D)
		reorder-message    commutative        - (W NS D SD)
		reorder-message    non-commutative    - (W NS SX D SD)
		reorder-message    non-deterministic  - (W NS D SD)
		delay-message      stateless          - (D)
		delay-message      commutative        - (W NS D SD)
		delay-message      non-commutative    - (W NS SX D SD)
		delay-message      non-deterministic  - (W NS D SD)
		partition          stateless          D
		partition          commutative        D (W NS SD)
		partition          non-commutative    D (W NS SX SD)
		partition          non-deterministic  D (W NS SD)
		service-crash      stateless          - (D)
		service-crash      commutative        - (W NS D SD)
		service-crash      non-commutative    - (W NS SX D SD)
		service-crash      non-deterministic  - (W NS D SD)
		refuse-call        stateless          D
		refuse-call        commutative        W NS D SD (RV RG)
		refuse-call        non-commutative    W NS D SD (SX RV RG)
		refuse-call        non-deterministic  W NS D SD (RV)
		forget-call        stateless          L ST (D)
		forget-call        commutative        L SL NS ST (W D SD)
		forget-call        non-commutative    L SL NS SX ST (W WS D SD)
		forget-call        non-deterministic  L SL NS ST (W SX D SD)
		stale-read         stateless          - (D)
		stale-read         commutative        - (W NS D SD)
		stale-read         non-commutative    - (W NS SX D SD)
		stale-read         non-deterministic  - (W NS D SD)
		truncate           stateless          L (D)
		truncate           commutative        L SL W (NS D SD)
		truncate           non-commutative    L SL (W WS NS SX D SD)
		truncate           non-deterministic  L SL (W NS D SD)
		poison             stateless          ST (D)
		poison             commutative        SD ST (NS D RV RG)
		poison             non-commutative    NS SD ST (D RV RG)
		poison             non-deterministic  ST (NS D SD RV)
		short-horizon      stateless          D RO RG
		short-horizon      commutative        W NS D SD RV RO RG
		short-horizon      non-commutative    W NS SX D SD RV RO RG (WS)
		short-horizon      non-deterministic  W NS D SD RV RO RG`),
	IsVariant: true,
	New: func(job *model.Job, task *model.Task) model.Process {
		switch task.Role {
		case model.Source:
			return newDedupSource(job, task, task.Hop)
		case model.Operate:
			return &idLastOperator{chain: newChain(job, task)}
		}
		return &idLastSink{newIDSink(job, task)}
	},
}

// idLastOperator takes an input up in this order:
//
//	1  the new state becomes durable
//	2  the outputs are sent, until they are acknowledged
//	3  its id becomes durable
//	4  the input is acknowledged
type idLastOperator struct{ chain }

// Start implements model.Process.
func (p *idLastOperator) Start(self model.Self, s *model.Script) { p.start(self, s) }

// Step implements model.Process.
func (p *idLastOperator) Step(ev *model.Event, s *model.Script) {
	switch {
	case p.handles(s, ev):
	case ev.Kind == model.Delivered && ev.Msg.Kind == model.Ack:
		p.out.acknowledge(s, &ev.Msg)
		p.mark(s)
	case ev.Kind == model.Delivered:
		if p.receive(s, &ev.Msg) && p.keyed.isReady(s, p.msg.Record) {
			p.apply(s)
		}
	case ev.Kind == model.Answered && ev.Msg.Kind == model.Get:
		p.keyed.learn(ev)
		p.apply(s)
	case ev.Kind == model.Answered && ev.Msg.Kind == model.Put:
	case ev.Kind == model.Answered && ev.Msg.Kind == model.Mark:
		p.in.take(&p.open[0].msg)
		p.finish(s)
		p.mark(s)
	default:
		panic(fmt.Sprintf("semantics: operator steps on %+v", *ev))
	}
}

// apply takes the step, writes the state through and sends what comes of it.
func (p *idLastOperator) apply(s *model.Script) {
	if outputs, ok := p.keyed.apply(s, &p.msg); ok {
		p.send(s, outputs, model.Value{})
		p.mark(s)
	}
}

// mark writes the id of the oldest unfinished input when its outputs are acknowledged.
func (p *idLastOperator) mark(s *model.Script) {
	if o := p.oldest(); o != nil {
		p.in.mark(s, &o.msg)
	}
}

// State implements model.Process.
func (p *idLastOperator) State(c *model.Codec) { p.state(c) }

// idLastSink writes an output, then its id, and acknowledges it.
type idLastSink struct{ idSink }

// Step implements model.Process.
func (p *idLastSink) Step(ev *model.Event, s *model.Script) {
	switch {
	case p.handles(s, ev):
	case ev.Kind == model.Delivered:
		if p.receive(s, &ev.Msg) {
			s.CallUntilDone(model.External, write(p.task, p.msg.Record))
		}
	case ev.Kind == model.Answered && ev.Msg.Kind == model.Write:
		p.in.mark(s, &p.msg)
	case ev.Kind == model.Answered && ev.Msg.Kind == model.Mark:
		p.in.take(&p.msg)
		acknowledge(s, p.task, &p.msg)
	default:
		panic(fmt.Sprintf("semantics: sink steps on %+v", *ev))
	}
}
