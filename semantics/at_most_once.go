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
