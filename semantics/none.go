package semantics

import (
	"fmt"

	"github.com/oncesim/oncesim/model"
)

// None is the job without any recovery effort: a restart begins at the end of what has arrived,
// with empty state. All it promises is that nothing is made up and nothing repeats.
var None = model.Mode{
	Name:   "none",
	Says:   "no recovery: restart at the end of the input with empty state",
	Source: "Flink documentation, Fault Tolerance: no effort to recover",
	State:  model.Volatile,
	Sink:   "append-log",
	Params: []model.Param{batchParam},
	Claims: []string{"at-most-once"},
	Tolerates: []string{"no-fault", "crash", "lose-request", "lose-answer", "pause", "lose-message",
		"reorder-message", "delay-message"},
	Cells: table(`
		no-fault        stateless    -
		crash           stateless    L
		lose-request    stateless    L
		lose-answer     stateless    L
		delay-call      stateless    L RO
		duplicate-call  stateless    D (L RG)
		pause           stateless    L
		zombie          stateless    L (D RO RG)
		lose-message       stateless    L
		duplicate-message  stateless    D (L RO RG)
		reorder-message    stateless    RO (L)
		delay-message      stateless    RO (L)

		no-fault        commutative  -
		crash           commutative  L SL W
		lose-request    commutative  L SL W
		lose-answer     commutative  L SL W
		delay-call      commutative  L SL W RO
		duplicate-call  commutative  D RG (L SL W)
		pause           commutative  L SL W
		zombie          commutative  L SL (W NS D SD RV RO RG)
		lose-message       commutative  L SL W
		duplicate-message  commutative  D SD RV W NS (L SL RO RG)
		reorder-message    commutative  W RO (L SL)
		delay-message      commutative  W RO (L SL)`),
	New: func(job *model.Job, task *model.Task) model.Process {
		switch task.Role {
		case model.Source:
			return &noneSource{task: task, cursor: newCursor(job, task)}
		case model.Operate:
			return newFlowOperator(task, model.Volatile)
		}
		return &flowSink{task: task}
	},
}

// batchParam bounds a fetch in every mode.
var batchParam = model.Param{Name: "batch", Default: 4, Min: 1, Max: 1000,
	Says: "how many records one fetch returns at most"}

func newCursor(job *model.Job, task *model.Task) cursor {
	return cursor{part: task.Part, batch: job.Param("batch")}
}

// noneSource hands out what it fetches and remembers nothing.
type noneSource struct {
	task   *model.Task
	cursor cursor
}

// Start implements model.Process.
func (p *noneSource) Start(_ model.Self, s *model.Script) { p.cursor.open(s, model.Latest) }

// Step implements model.Process.
func (p *noneSource) Step(ev *model.Event, s *model.Script) {
	switch {
	case ev.Kind == model.TimerFired:
		p.cursor.fetch(s)
	case ev.Kind == model.Answered && ev.Msg.Kind == model.Latest:
		p.cursor.next = ev.Ans.Seq
		p.cursor.fetch(s)
	case ev.Kind == model.Answered && ev.Msg.Kind == model.Fetch:
		for _, rec := range ev.Ans.Records {
			sendAlong(s, p.task, rec, model.Message{})
		}
		p.cursor.took(s, &ev.Ans)
		if ev.Ans.N > 0 {
			p.cursor.fetch(s)
		}
	default:
		panic(fmt.Sprintf("semantics: source steps on %+v", *ev))
	}
}

// State implements model.Process.
func (p *noneSource) State(c *model.Codec) { p.cursor.state(c) }
