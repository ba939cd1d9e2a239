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
		"effectively-once", "order", "no-revision", "atomic-visibility", "agreement"},
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
		lose-message       commutative       L SL W IC
		lose-message       non-commutative   L SL IC
		lose-message       non-deterministic L SL IC (W)
		duplicate-message  stateless         D (RG)
		duplicate-message  commutative       W NS D SD RV RG IC
		duplicate-message  non-commutative   W NS D SD RV RG IC (SX)
		duplicate-message  non-deterministic W NS D SD RV IC (RG)
		reorder-message    stateless         L RO
		reorder-message    commutative,non-commutative L SL W RO IC
		reorder-message    non-deterministic L SL RO IC (W)
		delay-message      stateless         L
		delay-message      commutative       L SL W IC
		delay-message      non-commutative   L SL IC
		delay-message      non-deterministic L SL W IC
		partition          stateless         L
		partition          commutative,non-commutative,non-deterministic L SL IC
		service-crash      all               -
		refuse-call        all               -
		forget-call        stateless         L D (RG ST)
		forget-call        commutative       L SL D IC (W RV RG ST)
		forget-call        non-commutative   L SL W D RG IC (SX RV ST)
		forget-call        non-deterministic L SL D RV IC (RG ST)
		tear-call          stateless         - (ST)
		tear-call          commutative,non-commutative,non-deterministic SL IC (ST)
		stale-read         all               -
		truncate           stateless         L
		truncate           commutative       L SL W IC
		truncate           non-commutative   L SL IC
		truncate           non-deterministic L SL IC (W)
		poison             all               ST
		lose-barrier       all               -
		duplicate-barrier  all               -
		reorder-barrier    stateless         - (D)
		reorder-barrier    commutative,non-commutative,non-deterministic IC (NS D SD RV)
		delay-barrier      all               -
		lose-notice        all               -
		delay-notice       all               -
		duplicate-notice   all               -
		restore-older      stateless,commutative,non-commutative D
		restore-older      non-deterministic D RV
		aliased-snapshot   stateless         -
		aliased-snapshot   commutative       IC (W NS SD)
		aliased-snapshot   non-commutative   - (W NS SD IC)
		aliased-snapshot   non-deterministic IC (W NS SD)
		counted            stateless         -
		counted            commutative       - (W NS D SD RV IC)
		counted            non-commutative   W NS D SD RV IC (SX RG)
		counted            non-deterministic -
		unaligned          all               -
		unaligned-dropped  stateless         L
		unaligned-dropped  commutative       - (L SL W IC)
		unaligned-dropped  non-commutative,non-deterministic L SL IC
		graceful-stop      all               -`),
	RestsOn: []model.Mechanism{
		{Name: "waiting", Variant: "snapshot",
			Says: "output is written when the checkpoint that holds it is complete",
			Classes: append([]string{"crash", "lose-request", "lose-answer", "delay-call",
				"duplicate-call", "zombie", "service-crash", "refuse-call"}, otherSnapshots()...)},
		{Name: "one batch", Variant: "snapshot-wal-split",
			Says:    "the rows of a checkpoint are written in one step, under its number",
			Classes: []string{"crash", "lose-answer", "delay-call", "duplicate-call", "zombie"}},
	},
	Harmless: snapshotHarmless("pause", "stale-read", "lose-barrier", "duplicate-barrier",
		"delay-barrier", "lose-notice", "delay-notice", "duplicate-notice"),
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
//
// What is written in one step is known by its number. What is written row by row is marked
// afterwards in the task's row of the state store, which a new life asks for (Flink,
// CheckpointCommitter): what is marked is not written again.
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
	case ev.Kind == model.Answered && ev.Msg.Kind == model.Mark:
	case ev.Kind == model.Answered && ev.Msg.Kind == model.LoadIDs:
		p.resume(s, ev.Ans.Seq)
	default:
		panic(fmt.Sprintf("semantics: sink steps on %+v", *ev))
	}
}

// load writes what the checkpoint holds: it is complete, and whether it was written is not known,
// or is to be asked first.
func (p *walSink) load(s *model.Script, checkpoint int64, state, flight []model.Record) {
	p.gate.reset(p.part.task, checkpoint)
	p.pending = append(p.pending[:0], state...)
	switch {
	case p.isWhole || len(p.pending) == 0:
		p.completed(s, checkpoint)
	default:
		p.part.isBusy = true
		s.CallUntilDone(model.StateStore, p.about(model.LoadIDs, 0))
	}
	p.part.deliver(flight)
}

// resume writes what the restored checkpoint holds and is not marked.
func (p *walSink) resume(s *model.Script, marked int64) {
	p.forget(p.upTo(marked))
	p.part.isBusy = false
	p.completed(s, p.part.checkpoint)
	p.part.handle(s, p)
}

// about is a request about the mark, the highest checkpoint whose rows are all written.
func (p *walSink) about(kind model.Kind, checkpoint int64) model.Message {
	m := p.part.about(kind, checkpoint)
	m.Flags |= model.InOrder
	return m
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
	last := p.upTo(checkpoint)
	for at := 0; at < last; {
		header, from := &p.pending[at], at+1
		at = p.next(at)
		if p.isWhole {
			s.CallUntilDone(model.External, model.Message{Kind: model.WriteBatch,
				Flags: p.external, Seq: int64(p.part.task.Part), Token: header.ID.Offset,
				Parts:  p.pending[from:at],
				Record: model.Record{ID: model.ID{Part: p.part.task.Part, Offset: -1}}})
			continue
		}
		for _, row := range p.pending[from:at] {
			s.CallUntilDone(model.External, p.output(row))
		}
		s.CallUntilDone(model.StateStore, p.about(model.Mark, header.ID.Offset))
	}
	p.forget(last)
}

// next is where the header behind the one at a place is. A part that is torn ends early.
func (p *walSink) next(at int) int {
	return min(at+1+int(p.pending[at].Path), len(p.pending))
}

// upTo is where what is pending of a checkpoint, or an older one, ends.
func (p *walSink) upTo(checkpoint int64) int {
	end := 0
	for end < len(p.pending) && p.pending[end].ID.Offset <= checkpoint {
		end = p.next(end)
	}
	return end
}

// forget takes what comes before a place off the list.
func (p *walSink) forget(to int) { p.pending = append(p.pending[:0], p.pending[to:]...) }

// State implements model.Process.
func (p *walSink) State(c *model.Codec) {
	p.gated.state(c)
	model.Slice(c, &p.rows, c.Record)
	model.Slice(c, &p.pending, c.Record)
}
