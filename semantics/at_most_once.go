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
	Params:  []model.Param{batchParam},
	Claims:  []string{"at-most-once"},
	// A late or doubled commit moves the offset back, a doubled write is two entries, and a late
	// put overwrites a newer one: what can be overtaken is outside the envelope. A doubled message
	// is two of them to tasks that do not look. A late or overtaken one only changes the order.
	Tolerates: []string{"no-fault", "crash", "lose-request", "lose-answer", "pause", "lose-message",
		"reorder-message", "delay-message"},
	Cells: table(`
		no-fault        stateless    -
		crash           stateless    L
		lose-request    stateless    L
		lose-answer     stateless    - (L)
		delay-call      stateless    RO (L D RG)
		duplicate-call  stateless    D (L RG)
		pause           stateless    - (L)
		zombie          stateless    D RO RG (L)
		lose-message       stateless    L
		duplicate-message  stateless    D (L RO RG)
		reorder-message    stateless    RO (L)
		delay-message      stateless    RO (L)

		no-fault        commutative  -
		crash           commutative  L SL W
		lose-request    commutative  L (SL W)
		lose-answer     commutative  - (L SL W)
		delay-call      commutative  SL NS W RO (L D SD RV RG)
		duplicate-call  commutative  D (L SL W NS SD RV RG)
		pause           commutative  - (L SL W)
		zombie          commutative  D SD RV W NS RO RG (L SL)
		lose-message       commutative  L SL W
		duplicate-message  commutative  D SD RV W NS (L SL RO RG)
		reorder-message    commutative  W RO (L SL)
		delay-message      commutative  W RO (L SL)`),
	New: func(job *model.Job, task *model.Task) model.Process {
		switch task.Role {
		case model.Source:
			return &atMostOnceSource{task: task, cursor: newCursor(job, task)}
		case model.Operate:
			return newFlowOperator(task, model.WrittenThrough)
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
// known to be done: going on after an unconfirmed one would repeat the batch after a crash.
func (p *atMostOnceSource) took(ev *model.Event, s *model.Script) {
	p.cursor.took(s, &ev.Ans)
	if ev.Ans.N == 0 {
		return
	}
	p.cursor.commit(s, p.cursor.next)
	for _, rec := range ev.Ans.Records {
		sendAlong(s, p.task, rec, model.Message{})
	}
	p.cursor.fetch(s)
}

// State implements model.Process.
func (p *atMostOnceSource) State(c *model.Codec) { p.cursor.state(c) }
