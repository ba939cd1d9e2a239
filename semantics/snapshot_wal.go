package semantics

import (
	"fmt"

	"github.com/oncesim/oncesim/model"
)

// SnapshotWAL keeps what it is to write in its checkpoints, and writes it when they are complete:
// as one batch under the number of its checkpoint, which the external system takes once.
var SnapshotWAL = model.Mode{
	Name: "snapshot-wal",
	Says: "output waits in the checkpoint, and is written as one batch once that is complete",
	Source: "Apache Flink, GenericWriteAheadSink and CheckpointCommitter: send what is pending " +
		"up to the completed checkpoint, in order",
	Restart: model.RestartJob,
	State:   model.Snapshotted,
	Sink:    "batch-log",
	Extra:   []string{coordinatorName},
	Params:  snapshotParams(),
	Claims: []string{"at-most-once", "at-least-once", "exactly-once-state", "exactly-once",
		"effectively-once", "order", "no-revision", "atomic-visibility"},
	Tolerates: snapshotTolerates(),
	Cells: table(`
		no-fault           all               -
		crash              all               -
		lose-request       all               -
		lose-answer        all               -
		delay-call         all               -
		duplicate-call     all               -
		pause              all               -
		zombie             all               -
		lose-message       stateless         L
		lose-message       commutative       L SL W
		lose-message       non-commutative   L SL
		lose-message       non-deterministic L SL (W)
		duplicate-message  stateless         D (RG)
		duplicate-message  commutative       W NS D SD RV RG
		duplicate-message  non-commutative   W NS D SD RV RG (SX)
		duplicate-message  non-deterministic W NS D SD RV (RG)
		reorder-message    stateless         L RO
		reorder-message    commutative,non-commutative L SL W RO
		reorder-message    non-deterministic L SL RO (W)
		delay-message      stateless         L
		delay-message      commutative,non-deterministic L SL W
		delay-message      non-commutative   L SL
		partition          stateless         L
		partition          commutative,non-commutative,non-deterministic L SL
		service-crash      all               -
		refuse-call        all               -
		forget-call        stateless         L D (RG ST)
		forget-call        commutative       L SL D (W RV RG ST)
		forget-call        non-commutative   L SL W D RG (SX RV ST)
		forget-call        non-deterministic L SL D RV (RG ST)
		tear-call          stateless         - (ST)
		tear-call          commutative,non-commutative,non-deterministic SL (ST)
		stale-read         all               -
		truncate           stateless         L
		truncate           commutative       L SL W
		truncate           non-commutative   L SL
		truncate           non-deterministic L SL (W)
		poison             all               ST
		short-horizon      all               -
		lose-barrier       all               -
		duplicate-barrier  all               -
		reorder-barrier    stateless         - (D)
		reorder-barrier    commutative,non-commutative,non-deterministic - (NS D SD RV)
		delay-barrier      all               -
		lose-notice        all               -
		delay-notice       all               -
		duplicate-notice   all               -
		restore-older      stateless,commutative,non-commutative D
		restore-older      non-deterministic D RV
		aliased-snapshot   stateless         -
		aliased-snapshot   commutative,non-commutative,non-deterministic - (W NS SD)
		counted            stateless,non-deterministic -
		counted            commutative       - (W NS D SD RV)
		counted            non-commutative   - (W NS D SD RV RG)
		unaligned          all               -
		unaligned-dropped  stateless,non-deterministic -
		unaligned-dropped  commutative       - (L SL W)
		unaligned-dropped  non-commutative   - (L SL)
		graceful-stop      all               -`),
	RestsOn: []model.Mechanism{
		{Name: "waiting", Variant: "snapshot",
			Says: "output is written when the checkpoint that holds it is complete",
			Classes: []string{"crash", "lose-request", "lose-answer", "delay-call",
				"duplicate-call", "zombie", "service-crash", "refuse-call"}},
		{Name: "one batch", Variant: "snapshot-wal-split",
			Says:    "the rows of a checkpoint are written in one step, under its number",
			Classes: []string{"crash", "lose-answer", "delay-call", "duplicate-call", "zombie"}},
	},
	New: func(job *model.Job, task *model.Task) model.Process {
		return newCheckpointed(job, task, func() model.Process {
			return newWALSink(job, task, true)
		})
	},
}

// walSink writes ahead: what comes is kept until a checkpoint that holds it is complete.
//
//	rows      what came since the last barrier
//	pending   what came before it, checkpoint by checkpoint, and is not written: for each a
//	          header, with the checkpoint as its offset and the number of rows as its path, then
//	          the rows
type walSink struct {
	gated
	isWhole bool // a checkpoint's rows are written in one step
	rows    []model.Record
	pending []model.Record
}

func newWALSink(job *model.Job, task *model.Task, isWhole bool) *walSink {
	return &walSink{gated: newGated(job, task), isWhole: isWhole}
}

// Start implements model.Process.
func (p *walSink) Start(self model.Self, s *model.Script) {
	p.gated.reset(self, s)
	p.rows, p.pending = p.rows[:0], p.pending[:0]
}

// Step implements model.Process.
func (p *walSink) Step(ev *model.Event, s *model.Script) {
	switch {
	case p.part.step(ev, s, p):
	case failRefused(s, ev):
	case ev.Kind == model.Answered && ev.Msg.Kind.Service() == model.External:
	default:
		panic(fmt.Sprintf("semantics: sink steps on %+v", *ev))
	}
}

// load writes what the checkpoint holds: it is complete, and whether it was written is not known.
func (p *walSink) load(s *model.Script, checkpoint int64, state, flight []model.Record) {
	p.gate.reset(p.part.task, checkpoint)
	p.pending = append(p.pending[:0], state...)
	p.completed(s, checkpoint)
	p.part.deliver(flight)
}

func (p *walSink) take(s *model.Script, m *model.Message) {
	if p.admits(s, p, m) {
		p.rows = append(p.rows, m.Record)
	}
}

// ahead closes what came before a barrier.
func (p *walSink) ahead(_ *model.Script, checkpoint int64) {
	if len(p.rows) == 0 {
		return
	}
	p.pending = append(p.pending, model.Record{ID: model.ID{Part: p.part.task.Part,
		Offset: checkpoint}, Path: model.Path(len(p.rows))})
	p.pending = append(p.pending, p.rows...)
	p.rows = p.rows[:0]
}

func (p *walSink) now() (state []model.Record, isIdle bool) {
	return p.pending, len(p.pending) == 0
}

// completed writes what belongs to a completed checkpoint, or to an older one that was given up, in
// order.
func (p *walSink) completed(s *model.Script, checkpoint int64) {
	done := 0
	for done < len(p.pending) && p.pending[done].ID.Offset <= checkpoint {
		header, from := &p.pending[done], done+1
		done = min(from+int(header.Path), len(p.pending)) // a part that is torn ends early
		if p.isWhole {
			s.CallUntilDone(model.External, model.Message{Kind: model.WriteBatch,
				Seq: int64(p.part.task.Part), Token: header.ID.Offset,
				Parts:  p.pending[from:done],
				Record: model.Record{ID: model.ID{Part: p.part.task.Part, Offset: -1}}})
			continue
		}
		for _, row := range p.pending[from:done] {
			s.CallUntilDone(model.External, write(p.part.task, row))
		}
	}
	p.pending = append(p.pending[:0], p.pending[done:]...)
}

// State implements model.Process.
func (p *walSink) State(c *model.Codec) {
	p.gated.state(c)
	model.Slice(c, &p.rows, c.Record)
	model.Slice(c, &p.pending, c.Record)
}
