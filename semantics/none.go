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
	Params: []model.Param{batchParam, deadLetterParam},
	Claims: []string{"at-most-once"},
	Tolerates: []string{"no-fault", "crash", "lose-request", "lose-answer", "pause", "lose-message",
		"reorder-message", "delay-message", "partition", "service-crash", "refuse-call",
		"forget-call", "truncate", "poison"},
	Cells: table(`
		no-fault           stateless          - (L)
		no-fault           commutative        - (L SL)
		no-fault           non-commutative    - (L W)
		no-fault           non-deterministic  - (L SL)
		crash              stateless          L
		crash              commutative        L SL W
		crash              non-commutative    L SL (W WS)
		crash              non-deterministic  L SL W
		lose-request       stateless          L
		lose-request       commutative        L SL W
		lose-request       non-commutative    L (SL W WS)
		lose-request       non-deterministic  L SL (W)
		lose-answer        stateless          L
		lose-answer        commutative        L SL W
		lose-answer        non-commutative    L (SL W WS)
		lose-answer        non-deterministic  L SL (W)
		delay-call         stateless          L RO
		delay-call         commutative        L SL W RO
		delay-call         non-commutative    L W RO (SL WS SX)
		delay-call         non-deterministic  L SL RO (W)
		duplicate-call     stateless          D (L RG)
		duplicate-call     commutative        D RG (L SL W)
		duplicate-call     non-commutative    D RG (L SL W WS)
		duplicate-call     non-deterministic  D (L SL W RG)
		pause              stateless          L
		pause              commutative        L SL W
		pause              non-commutative    L (SL W WS)
		pause              non-deterministic  L SL (W)
		zombie             stateless          L (D RO RG)
		zombie             commutative        L SL (W NS D SD RV RO RG)
		zombie             non-commutative    L SL (W WS NS D SD RV RO RG)
		zombie             non-deterministic  L SL (W NS D SD RV RO RG)
		lose-message       stateless          L
		lose-message       commutative        L SL W
		lose-message       non-commutative    L SL (W WS)
		lose-message       non-deterministic  L SL (W)
		duplicate-message  stateless          D (L RO RG)
		duplicate-message  commutative        W NS D SD RV RG (L SL)
		duplicate-message  non-commutative    W D SD RV RG (L SL WS NS SX)
		duplicate-message  non-deterministic  W NS D SD RV (L SL RO RG)
		reorder-message    stateless          RO (L)
		reorder-message    commutative        W RO (L SL)
		reorder-message    non-commutative    W RO (L SL WS)
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
		service-crash      commutative        L SL (W)
		service-crash      non-commutative    L SL (W WS)
		service-crash      non-deterministic  L SL (W)
		refuse-call        stateless          L
		refuse-call        commutative        L SL W
		refuse-call        non-commutative    L SL (W WS)
		refuse-call        non-deterministic  L SL (W)
		forget-call        stateless          L
		forget-call        commutative        L (SL W)
		forget-call        non-commutative    L (SL W WS)
		forget-call        non-deterministic  L (SL W)
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
		poison             non-deterministic  L SL W`),
	New: func(job *model.Job, task *model.Task) model.Process {
		switch task.Role {
		case model.Source:
			return &noneSource{task: task, cursor: newCursor(job, task)}
		case model.Operate:
			return newFlowOperator(job, task, model.Volatile)
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
	case failRefused(s, ev):
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
