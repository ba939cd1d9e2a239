package semantics

import (
	"fmt"

	"github.com/oncesim/oncesim/model"
)

// AtMostOnce commits the offset of a batch before it hands the batch out, and never looks back.
var AtMostOnce = model.Mode{
	Name: "at-most-once",
	Says: "commit the offset, then process: a crash loses what was in between",
	Source: "Kafka documentation, Message Delivery Semantics: save the position, then process; " +
		"producer retries off",
	State:   model.WrittenThrough,
	Commits: true,
	Sink:    "append-log",
	Params:  []model.Param{batchParam, deadLetterParam},
	Claims:  []string{"at-most-once"},
	// A late or doubled commit moves the offset back, a doubled write is two entries, and a late
	// put overwrites a newer one: what can be overtaken is outside the envelope. A doubled message
	// is two of them to tasks that do not look. A late or overtaken one only changes the order.
	Tolerates: []string{"no-fault", "crash", "lose-request", "lose-answer", "pause", "lose-message",
		"reorder-message", "delay-message", "partition", "service-crash", "refuse-call", "truncate",
		"poison"},
	Cells: table(`
		no-fault           all                -
		crash              stateless          L
		crash              commutative        L SL W
		crash              non-commutative    L SL (W WS)
		crash              non-deterministic  L SL W
		lose-request       stateless          L
		lose-request       commutative        L (SL W)
		lose-request       non-commutative    L (SL W WS)
		lose-request       non-deterministic  L (SL W)
		lose-answer        stateless          - (L)
		lose-answer        commutative        - (L SL W)
		lose-answer        non-commutative    - (L SL W WS)
		lose-answer        non-deterministic  - (L SL W)
		delay-call         stateless          RO (L D RG)
		delay-call         commutative        SL W NS RO (L)
		delay-call         non-commutative    SL W NS SX RO (L WS D RG)
		delay-call         non-deterministic  SL NS RO (L W)
		duplicate-call     stateless          D (L RG)
		duplicate-call     commutative        D RG (L SL W NS)
		duplicate-call     non-commutative    D RG (L SL W WS NS SX)
		duplicate-call     non-deterministic  D (L SL W NS RG)
		pause              stateless          - (L)
		pause              commutative        - (L SL W)
		pause              non-commutative    - (L SL W WS)
		pause              non-deterministic  - (L SL W)
		zombie             stateless          D RO RG (L)
		zombie             commutative        W D SD RV RG (L SL NS RO)
		zombie             non-commutative    W NS D SD RV RO RG (L SL WS SX)
		zombie             non-deterministic  W NS D SD RV RO RG (L SL)
		lose-message       stateless          L
		lose-message       commutative        L SL W
		lose-message       non-commutative    L SL (W WS)
		lose-message       non-deterministic  L SL (W)
		duplicate-message  stateless          D (L RG)
		duplicate-message  commutative        W NS D SD RV RG (L SL)
		duplicate-message  non-commutative    W D SD RV RG (L SL WS NS SX)
		duplicate-message  non-deterministic  W NS D SD RV (L SL RG)
		reorder-message    stateless          RO (L)
		reorder-message    commutative        W RO (L SL)
		reorder-message    non-commutative    W RO (L SL WS SX)
		reorder-message    non-deterministic  RO (L SL W)
		delay-message      stateless          RO (L)
		delay-message      commutative        W RO (L SL)
		delay-message      non-commutative    W RO (L SL WS SX)
		delay-message      non-deterministic  W RO (L SL)
		partition          stateless          L
		partition          commutative        L SL (W)
		partition          non-commutative    L SL (W WS)
		partition          non-deterministic  L SL (W)
		service-crash      stateless          L
		service-crash      commutative        L (SL W)
		service-crash      non-commutative    L (SL W WS)
		service-crash      non-deterministic  L (SL W)
		refuse-call        stateless          L
		refuse-call        commutative        L SL W
		refuse-call        non-commutative    L SL (W WS)
		refuse-call        non-deterministic  L SL W
		forget-call        stateless          L ST (D)
		forget-call        commutative        L SL NS ST (W D SD RV RG)
		forget-call        non-commutative    L SL NS SX ST (W WS D SD RV RG)
		forget-call        non-deterministic  L SL NS ST (W D SD RV)
		stale-read         stateless          - (L D)
		stale-read         commutative        - (L SL W NS D SD RV RG)
		stale-read         non-commutative    - (L SL W WS NS SX D SD RV RG)
		stale-read         non-deterministic  - (L SL W NS D SD RV)
		truncate           stateless          L
		truncate           commutative        L SL W
		truncate           non-commutative    L SL (W WS)
		truncate           non-deterministic  L SL (W)
		poison             stateless          L
		poison             commutative        L SL W
		poison             non-commutative    L SL (W WS)
		poison             non-deterministic  L SL (W)`),
	New: func(job *model.Job, task *model.Task) model.Process {
		switch task.Role {
		case model.Source:
			return &atMostOnceSource{task: task, cursor: newCursor(job, task)}
		case model.Operate:
			return newFlowOperator(job, task, model.WrittenThrough)
		}
		return &flowSink{task: task}
	},
}

// atMostOnceSource: the committed offset is ahead of everything that was handed out.
type atMostOnceSource struct {
	task   *model.Task
	cursor cursor
}

// Start implements model.Process.
func (p *atMostOnceSource) Start(_ model.Self, s *model.Script) { p.cursor.open(s, model.Position) }

// Step implements model.Process.
func (p *atMostOnceSource) Step(ev *model.Event, s *model.Script) {
	switch {
	case failRefused(s, ev):
	case ev.Kind == model.TimerFired:
		p.cursor.fetch(s)
	case ev.Kind == model.Answered && ev.Msg.Kind == model.Position:
		p.cursor.next = ev.Ans.Seq
		p.cursor.fetch(s)
	case ev.Kind == model.Answered && ev.Msg.Kind == model.Fetch:
		p.took(ev, s)
	case ev.Kind == model.Answered && ev.Msg.Kind == model.OffsetCommit:
	default:
		panic(fmt.Sprintf("semantics: source steps on %+v", *ev))
	}
}

// took commits behind the batch and only then hands it out. The commit is repeated until it is
// known to be done: going on after an unconfirmed one would repeat the batch after a crash, and a
// refused one ends the life. A batch without records moves the position where the input is gone.
func (p *atMostOnceSource) took(ev *model.Event, s *model.Script) {
	before := p.cursor.next
	p.cursor.took(s, &ev.Ans)
	if p.cursor.next == before {
		return
	}
	p.cursor.commit(s, p.cursor.next)
	for _, rec := range ev.Ans.Records {
		sendAlong(s, p.task, rec, model.Message{})
	}
	if ev.Ans.N > 0 {
		p.cursor.fetch(s)
	}
}

// State implements model.Process.
func (p *atMostOnceSource) State(c *model.Codec) { p.cursor.state(c) }
