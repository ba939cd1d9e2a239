package semantics

import "github.com/oncesim/oncesim/model"

// IdempotentByKey is at-least-once in front of a table in which the last write to a key wins. A
// replay shows older values again on its way and ends where it should.
//
// With version 1 a write carries the number that its Data message has in the life of its sender,
// above the number of that life. Numbers are given in the order of sending and a message that is
// sent again keeps its own; a later life has a higher number. So among the writes of one sender
// task the last one sent wins, whoever repeats an older one and whenever it arrives: a resend, a
// doubled or late request, a zombie of the sender or of the sink. A key must be written by one task
// at a time; the numbers of two say nothing of each other.
//
// The version orders the last hop. It cannot tell that the sender itself took its inputs in another
// order than theirs, as it does when one of several records in flight is repeated: the window is 1
// unless set otherwise. What a zombie source or a late message hands to the sender once more is
// numbered as if it were new. It ends above its successors, and one of those that has yet to be
// sent again is stale by then and never shown.
var IdempotentByKey = model.Mode{
	Name: "idempotent-by-key",
	Says: "at-least-once into a table by key: the last write of a key wins",
	Source: "Confluent documentation, Elasticsearch sink connector: record keys as document ids, " +
		"external versions; Kafka documentation, max.in.flight.requests.per.connection",
	State:   model.WrittenThrough,
	Commits: true,
	Sink:    "table-by-key",
	Params:  idempotentByKeyParams(),
	Claims:  []string{"at-least-once"},
	// A zombie source is outside the envelope; see above.
	Tolerates: []string{"no-fault", "crash", "lose-request", "lose-answer", "delay-call",
		"duplicate-call", "pause", "lose-message", "duplicate-message", "reorder-message",
		"delay-message", "partition", "service-crash", "refuse-call", "stale-read"},
	Cells: table(`
		no-fault           all                -
		crash              stateless          RG
		crash              commutative        W NS SD RV RG
		crash              non-commutative    W NS SX SD RV RG
		crash              non-deterministic  W NS SD RV RG
		lose-request       stateless          - (RG)
		lose-request       commutative        - (W NS SD RV RG)
		lose-request       non-commutative    - (W NS SX SD RV RG)
		lose-request       non-deterministic  - (W NS SD RV RG)
		lose-answer        stateless          - (RG)
		lose-answer        commutative        - (W NS SD RV RG)
		lose-answer        non-commutative    - (W NS SX SD RV RG)
		lose-answer        non-deterministic  - (W NS SD RV RG)
		delay-call         stateless          - (RG)
		delay-call         commutative        SL NS (W SD RV RG)
		delay-call         non-commutative    SL W NS SX (SD RV RG)
		delay-call         non-deterministic  SL NS (W SD RV RG)
		duplicate-call     stateless          - (RG)
		duplicate-call     commutative        - (SL W NS SD RV RG)
		duplicate-call     non-commutative    - (W NS SX SD RV RG)
		duplicate-call     non-deterministic  - (W NS SD RV RG)
		pause              stateless          - (RG)
		pause              commutative        - (W NS SD RV RG)
		pause              non-commutative    - (W NS SX SD RV RG)
		pause              non-deterministic  - (W NS SD RV RG)
		zombie             stateless          W RG (L)
		zombie             commutative        SL W NS SD RV RG
		zombie             non-commutative    W NS SX SD RV RG (SL)
		zombie             non-deterministic  SL W NS SD RV RG (L SX)
		lose-message       stateless          - (RG)
		lose-message       commutative        W NS SD RV RG
		lose-message       non-commutative    W NS SX SD RV RG
		lose-message       non-deterministic  W NS SD RV (RG)
		duplicate-message  stateless          - (RG)
		duplicate-message  commutative        W NS SD RV (RG)
		duplicate-message  non-commutative    W NS SD RV RG (SX)
		duplicate-message  non-deterministic  W NS SD RV (RG)
		reorder-message    stateless          - (RG)
		reorder-message    commutative        - (W NS SD RV RG)
		reorder-message    non-commutative    - (W NS SX SD RV RG)
		reorder-message    non-deterministic  - (W NS SD RV RG)
		delay-message      stateless          - (W RG)
		delay-message      commutative        W NS SD RV RG
		delay-message      non-commutative    W NS SX SD RV RG
		delay-message      non-deterministic  W NS SD RV (RG)
		partition          stateless          - (RG)
		partition          commutative        W NS SD RV RG
		partition          non-commutative    W NS SX SD RV RG
		partition          non-deterministic  W NS SD RV (RG)
		service-crash      stateless          - (RG)
		service-crash      commutative        W NS SD RV RG
		service-crash      non-commutative    SX SD RG (W NS RV)
		service-crash      non-deterministic  W NS SD RV (RG)
		refuse-call        stateless          RG
		refuse-call        commutative        W NS SD RV RG
		refuse-call        non-commutative    W NS SX SD RV RG
		refuse-call        non-deterministic  W NS SD RV RG
		forget-call        stateless          L W ST (RG)
		forget-call        commutative        L SL W NS ST (SD RV RG)
		forget-call        non-commutative    L SL W NS SX ST (SD RV RG)
		forget-call        non-deterministic  L SL W NS ST (SD RV RG)
		stale-read         stateless          - (RG)
		stale-read         commutative        - (SL W NS SD RV RG)
		stale-read         non-commutative    - (W NS SX SD RV RG)
		stale-read         non-deterministic  - (SL W NS SD RV RG)
		truncate           stateless          L W (RG)
		truncate           commutative        L SL W (NS SD RV RG)
		truncate           non-commutative    L SL (W WS NS SX SD RV RG)
		truncate           non-deterministic  L SL (W NS SD RV RG)
		poison             stateless          ST (RG)
		poison             commutative        NS SD RV ST (RG)
		poison             non-commutative    NS SD RV ST (RG)
		poison             non-deterministic  ST (NS SD RV RG)`),
	New: newIdempotentByKey,
}

func idempotentByKeyParams() []model.Param {
	params := atLeastOnceParams()
	for i := range params {
		if params[i].Name == "window" {
			params[i].Default = 1
		}
	}
	return append(params, model.Param{Name: "version", Default: 1, Min: 0, Max: 1,
		Says: "1: a write gives way to a newer one of its sender; 0: the last to arrive wins"})
}

func newIdempotentByKey(job *model.Job, task *model.Task) model.Process {
	if task.Role == model.Sink && job.Param("version") == 1 {
		return &versionedSink{task: task}
	}
	return newAtLeastOnce(job, task)
}

// versionedSink writes until the write is known to be done, then acknowledges. A write that finds
// itself in the table is done, and so is one that finds a later one of its sender's life: it was
// overtaken and would not be seen any more. One that finds a later life was sent by a zombie. It is
// not acknowledged, or the zombie would acknowledge an input in place of its successor.
type versionedSink struct {
	task *model.Task
	msg  model.Message // what is being written
}

// Start implements model.Process.
func (p *versionedSink) Start(model.Self, *model.Script) { p.msg = model.Message{} }

// Step implements model.Process.
func (p *versionedSink) Step(ev *model.Event, s *model.Script) {
	switch {
	case failRefused(s, ev):
	case ev.Kind == model.Delivered:
		p.msg = ev.Msg
		m := write(p.task, p.msg.Record)
		m.Flags |= model.Versioned
		m.Token = lifeNumber(p.msg.Attempt, p.msg.Seq)
		s.CallUntilDone(model.External, m)
	case ev.Ans.Outcome == model.Stale && attemptOf(ev.Ans.N) > p.msg.Attempt:
	default:
		to, ack := ackOf(p.task, &p.msg)
		s.Send(to, ack)
	}
}

// State implements model.Process.
func (p *versionedSink) State(c *model.Codec) { c.Message(&p.msg) }
