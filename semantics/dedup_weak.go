package semantics

import (
	"fmt"

	"github.com/oncesim/oncesim/model"
)

// DedupWeak sends first and writes afterwards: MillWheel's weak productions. What a crash repeats
// must come out as it did, or the output that the next task has kept and the state that the
// repetition makes belong to two executions.
var DedupWeak = model.Mode{
	Name: "dedup-weak",
	Says: "outputs are sent before id and state are written: a repetition must come out the same",
	Source: "Akidau et al., MillWheel, VLDB 2013: weak productions; acknowledgements wait for " +
		"those of the next task",
	State:     model.WrittenThrough,
	Commits:   true,
	Sink:      "identity-log",
	Params:    dedupParams(chainTimeout),
	Claims:    []string{"at-least-once", "no-revision"},
	Tolerates: dedupTolerates(),
	// W and NS come from tasks with several inputs: a repetition merges them in another order, and
	// the next task has kept what the first order gave.
	Cells: table(`
		no-fault           all                -
		crash              stateless          -
		crash              commutative        W NS
		crash              non-commutative    W (NS SX)
		crash              non-deterministic  W NS SX
		lose-request       stateless          -
		lose-request       commutative        - (W NS)
		lose-request       non-commutative    - (W NS SX)
		lose-request       non-deterministic  - (W NS SX)
		lose-answer        stateless          -
		lose-answer        commutative        - (W NS)
		lose-answer        non-commutative    - (W NS SX)
		lose-answer        non-deterministic  - (W NS SX)
		delay-call         stateless          -
		delay-call         commutative        - (W NS)
		delay-call         non-commutative    - (W NS SX)
		delay-call         non-deterministic  - (W NS SX)
		duplicate-call     stateless          -
		duplicate-call     commutative        - (W NS)
		duplicate-call     non-commutative    - (W NS SX)
		duplicate-call     non-deterministic  - (W NS SX)
		pause              stateless          -
		pause              commutative        - (W NS)
		pause              non-commutative    - (W NS SX)
		pause              non-deterministic  - (W NS SX)
		zombie             stateless          -
		zombie             commutative        W NS
		zombie             non-commutative    W (NS SX)
		zombie             non-deterministic  W NS SX
		lose-message       stateless          -
		lose-message       commutative        - (W NS)
		lose-message       non-commutative    - (W NS SX)
		lose-message       non-deterministic  - (W NS SX)
		duplicate-message  stateless          -
		duplicate-message  commutative        - (W NS)
		duplicate-message  non-commutative    - (W NS SX)
		duplicate-message  non-deterministic  - (W NS SX)
		reorder-message    stateless          -
		reorder-message    commutative        - (W NS)
		reorder-message    non-commutative    - (W NS SX)
		reorder-message    non-deterministic  - (W NS SX)
		delay-message      stateless          -
		delay-message      commutative        - (W NS)
		delay-message      non-commutative    - (W NS SX)
		delay-message      non-deterministic  - (W NS SX)
		partition          stateless          -
		partition          commutative        - (W NS)
		partition          non-commutative    - (W NS SX)
		partition          non-deterministic  - (W NS SX)
		service-crash      stateless          -
		service-crash      commutative        - (W NS)
		service-crash      non-commutative    - (W NS SX)
		service-crash      non-deterministic  - (W NS SX)
		refuse-call        stateless          -
		refuse-call        commutative        W NS
		refuse-call        non-commutative    W (NS SX)
		refuse-call        non-deterministic  W NS SX
		forget-call        stateless          L ST
		forget-call        commutative        L SL NS ST (W)
		forget-call        non-commutative    L SL NS SX ST (W)
		forget-call        non-deterministic  L SL NS ST (W SX)
		stale-read         stateless          -
		stale-read         commutative        - (SL W NS SD)
		stale-read         non-commutative    - (W NS SX SD)
		stale-read         non-deterministic  - (SL W NS SX SD)
		truncate           stateless          L
		truncate           commutative        L SL W (NS)
		truncate           non-commutative    L SL (W NS SX)
		truncate           non-deterministic  L SL (W NS SX)
		poison             stateless          ST
		poison             commutative        NS ST
		poison             non-commutative    NS ST
		poison             non-deterministic  ST (NS)
		short-horizon      stateless          RO
		short-horizon      commutative        W NS SD RO
		short-horizon      non-commutative    W NS SX SD RO (WS)
		short-horizon      non-deterministic  W NS SX SD RO`),
	RestsOn:   dedupRestsOn("id last", "the id of an input is written when its outputs are"),
	IsVariant: true,
	Harmless: append(dedupHarmless(), model.Harmless{Class: "stale-read",
		Says: "an input whose id a read misses is taken up again, and its outputs are known"}),
	New: func(job *model.Job, task *model.Task) model.Process {
		switch task.Role {
		case model.Source:
			return newDedupSource(job, task, task.Hop)
		case model.Operate:
			return &weakOperator{chain: newChain(job, task)}
		}
		return newDedupSink(job, task)
	},
}

// chainTimeout says what the timeout is where acknowledgements go up from the sink.
const chainTimeout = "how long a sender waits for an acknowledgement, times its hops to the sink"

// weakOperator takes an input up in this order:
//
//	1  the outputs are sent, until they are acknowledged
//	2  its id and the new state become durable together
//	3  the input is acknowledged
//
// Inputs come to 2 in the order in which their steps were taken; the state in memory runs ahead.
type weakOperator struct{ chain }

// Start implements model.Process.
func (p *weakOperator) Start(self model.Self, s *model.Script) { p.start(self, s) }

// Step implements model.Process.
func (p *weakOperator) Step(ev *model.Event, s *model.Script) {
	switch {
	case p.handles(s, ev):
	case ev.Kind == model.Delivered && ev.Msg.Kind == model.Ack:
		p.out.acknowledge(s, &ev.Msg)
		p.update(s)
	case ev.Kind == model.Delivered:
		if p.receive(s, &ev.Msg) && p.keyed.isReady(s, p.msg.Record) {
			p.apply(s)
		}
	case ev.Kind == model.Answered && ev.Msg.Kind == model.Get:
		p.keyed.learn(ev)
		p.apply(s)
	case ev.Kind == model.Answered && ev.Msg.Kind == model.Update:
		p.in.take(&p.open[0].msg)
		p.finish(s)
		p.update(s)
	default:
		panic(fmt.Sprintf("semantics: operator steps on %+v", *ev))
	}
}

// apply takes the step in memory and sends what comes of it.
func (p *weakOperator) apply(s *model.Script) {
	after, ok := p.keyed.take(s, &p.msg)
	if !ok {
		return
	}
	p.send(s, p.keyed.out.Records(), after)
	p.update(s)
}

// update writes the oldest unfinished input when its outputs are acknowledged.
func (p *weakOperator) update(s *model.Script) {
	if o := p.oldest(); o != nil {
		s.CallUntilDone(model.StateStore, p.in.update(&o.msg, p.keyed.op, o.hasState, o.after))
	}
}

// State implements model.Process.
func (p *weakOperator) State(c *model.Codec) { p.state(c) }
