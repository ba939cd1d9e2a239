package semantics

import (
	"fmt"
	"slices"

	"github.com/oncesim/oncesim/model"
)

// Snapshot is exactly-once state: barriers cut the stream into what is in a checkpoint and what is
// not, and a restart goes back to one everywhere. What was shown since is shown again.
var Snapshot = model.Mode{
	Name: "snapshot",
	Says: "barriers cut a consistent snapshot; a restart goes back to it, and output repeats",
	Source: "Carbone et al., Lightweight Asynchronous Snapshots for Distributed Dataflows, 2015; " +
		"Apache Flink, CheckpointCoordinator and SingleCheckpointBarrierHandler",
	Restart:   model.RestartJob,
	State:     model.Snapshotted,
	Sink:      "append-log",
	Extra:     []string{coordinatorName},
	Params:    snapshotParams(),
	Claims:    []string{"at-least-once", "exactly-once-state", "effectively-once"},
	Tolerates: snapshotTolerates(),
	Cells: table(`
		no-fault           all               -
		crash              stateless         D (RG)
		crash              commutative       W D RV RG
		crash              non-commutative   W SX D RV RG
		crash              non-deterministic D RV (RG)
		lose-request       stateless         D RG
		lose-request       commutative       D RV RG (W)
		lose-request       non-commutative   SX D RV RG (W)
		lose-request       non-deterministic D RV RG
		lose-answer        stateless         D (RG)
		lose-answer        commutative       D (W RV RG)
		lose-answer        non-commutative   D (W SX RV RG)
		lose-answer        non-deterministic D RV (RG)
		delay-call         stateless         D RG
		delay-call         commutative       D RV RG (W)
		delay-call         non-commutative   SX D RV RG (W)
		delay-call         non-deterministic D RV RG
		duplicate-call     stateless         D
		duplicate-call     commutative       D RG (W RV)
		duplicate-call     non-commutative   D RG (W SX RV)
		duplicate-call     non-deterministic D (RV)
		pause              stateless         - (D RG)
		pause              commutative       - (W D RV RG)
		pause              non-commutative   - (W SX D RV RG)
		pause              non-deterministic - (D RV RG)
		zombie             stateless         D RG
		zombie             commutative       W D RV RG
		zombie             non-commutative   W SX D RV RG
		zombie             non-deterministic D RV RG
		lose-message       stateless         L (D RO)
		lose-message       commutative       L SL W IC (D RV RO RG)
		lose-message       non-commutative   L SL IC (W SX D RV RO RG)
		lose-message       non-deterministic L SL IC (W SX D RV RO)
		duplicate-message  stateless         D (RG)
		duplicate-message  commutative       W NS D SD RV RG IC (RO)
		duplicate-message  non-commutative   W NS D SD RV RG IC (SX)
		duplicate-message  non-deterministic W NS D SD RV IC (RG)
		reorder-message    stateless         RO (L D)
		reorder-message    commutative       SL W RO IC (L D RV RG)
		reorder-message    non-commutative   SL W SX RO IC (L D RV RG)
		reorder-message    non-deterministic SL RO IC (L W D RV)
		delay-message      stateless         RO (L D RG)
		delay-message      commutative       SL W RO IC (L D RV RG)
		delay-message      non-commutative   SL W SX RO IC (L D RV RG)
		delay-message      non-deterministic SL W RO IC (L D RV RG)
		partition          stateless         L D RG
		partition          commutative       L SL D RV RG IC (W)
		partition          non-commutative   L SL SX D RV RG IC (W)
		partition          non-deterministic L SL D RV RG IC (SX)
		service-crash      stateless         D RG
		service-crash      commutative       D RV RG (W)
		service-crash      non-commutative   SX D RV RG (W)
		service-crash      non-deterministic D RV RG
		refuse-call        stateless         D (RG)
		refuse-call        commutative       W D RV RG
		refuse-call        non-commutative   W SX D RV RG
		refuse-call        non-deterministic D RV (RG)
		forget-call        stateless         L D RG (RO ST)
		forget-call        commutative       L SL D RV RG IC (W RO ST)
		forget-call        non-commutative   L SL SX D RV RG IC (W RO ST)
		forget-call        non-deterministic L SL D RV RG IC (W SX RO ST)
		tear-call          stateless         - (D ST)
		tear-call          commutative       SL IC (W D RV RG ST)
		tear-call          non-commutative   SL IC (W SX D RV RG ST)
		tear-call          non-deterministic SL IC (D RV ST)
		stale-read         stateless         - (D RG)
		stale-read         commutative       - (W D RV RG)
		stale-read         non-commutative   - (W SX D RV RG)
		stale-read         non-deterministic - (D RV RG)
		truncate           stateless         L (D)
		truncate           commutative       L SL W IC (D RV RG)
		truncate           non-commutative   L SL IC (W SX D RV RG)
		truncate           non-deterministic L SL IC (W D RV)
		poison             stateless         ST (D)
		poison             commutative       D RG ST (RV)
		poison             non-commutative   D ST (RV RG)
		poison             non-deterministic ST (D RV)
		lose-barrier       stateless         - (D RG)
		lose-barrier       commutative       - (W D RV RG)
		lose-barrier       non-commutative   - (W SX D RV RG)
		lose-barrier       non-deterministic - (D RV RG)
		duplicate-barrier  stateless         - (D)
		duplicate-barrier  commutative       - (W D RV RG)
		duplicate-barrier  non-commutative   - (W SX D RV RG)
		duplicate-barrier  non-deterministic - (D RV)
		reorder-barrier    stateless         - (D RG)
		reorder-barrier    commutative       IC (W NS D SD RV RG)
		reorder-barrier    non-commutative   IC (W NS SX D SD RV RG)
		reorder-barrier    non-deterministic IC (NS D SD RV RG)
		delay-barrier      stateless         - (D RG)
		delay-barrier      commutative       - (W D RV RG)
		delay-barrier      non-commutative   - (W SX D RV RG)
		delay-barrier      non-deterministic - (D RV RG)
		lose-notice        stateless         - (D RG)
		lose-notice        commutative       - (W D RV RG)
		lose-notice        non-commutative   - (W SX D RV RG)
		lose-notice        non-deterministic - (D RV RG)
		delay-notice       stateless         - (D RG)
		delay-notice       commutative       - (W D RV RG)
		delay-notice       non-commutative   - (W SX D RV RG)
		delay-notice       non-deterministic - (D RV RG)
		duplicate-notice   stateless         - (D)
		duplicate-notice   commutative       - (W D RV RG)
		duplicate-notice   non-commutative   - (W SX D RV RG)
		duplicate-notice   non-deterministic - (D RV)
		restore-older      stateless         D (RG)
		restore-older      commutative       W D RV RG
		restore-older      non-commutative   W SX D RV RG
		restore-older      non-deterministic D RV (RG)
		aliased-snapshot   stateless         D (RG)
		aliased-snapshot   commutative       W D RV RG IC (NS SD)
		aliased-snapshot   non-commutative   W SX D RV RG IC (NS SD)
		aliased-snapshot   non-deterministic D RV IC (W NS SD RG)
		counted            stateless         D (RG)
		counted            commutative       W D RV RG (NS SD IC)
		counted            non-commutative   W NS SX D SD RV RG IC
		counted            non-deterministic D RV (RG)
		unaligned          stateless         D
		unaligned          commutative       W D RV RG
		unaligned          non-commutative   W D RG (SX RV)
		unaligned          non-deterministic D RV
		unaligned-dropped  stateless         D (L)
		unaligned-dropped  commutative       W D RV RG (L SL IC)
		unaligned-dropped  non-commutative   L SL W SX D RV RG IC
		unaligned-dropped  non-deterministic SL D RV IC (L)
		graceful-stop      stateless         D (RG)
		graceful-stop      commutative       W D RV RG
		graceful-stop      non-commutative   W SX D RV RG
		graceful-stop      non-deterministic D RV (RG)`),
	New: newSnapshot,
}

// snapshotTolerates is the envelope of the modes with checkpoints. Channels are taken to be
// reliable, as the paper takes them: what is lost between two tasks is missed by nobody. Barriers
// and notices may be lost, since there is always a next checkpoint.
func snapshotTolerates() []string {
	return []string{"no-fault", "crash", "lose-request", "lose-answer", "delay-call",
		"duplicate-call", "pause", "zombie", "service-crash", "refuse-call", "lose-barrier",
		"duplicate-barrier", "lose-notice", "delay-notice", "duplicate-notice", "unaligned",
		"graceful-stop"}
}

// otherSnapshots are the classes of a crash in which snapshots are taken, or left, in another way.
func otherSnapshots() []string {
	return []string{"aliased-snapshot", "counted", "unaligned", "unaligned-dropped",
		"graceful-stop"}
}

// snapshotHarmless says of classes why their faults take nothing from what a mode with checkpoints
// and a clean sink rests on.
func snapshotHarmless(classes ...string) []model.Harmless {
	all := []model.Harmless{
		{Class: "pause", Says: "who goes on before it is replaced was only slow"},
		{Class: "stale-read", Says: "who goes back behind the newest checkpoint completes none, " +
			"since the pointer is compared, and begins again from it"},
		{Class: "lose-barrier", Says: "a checkpoint that lacks a barrier is given up, and the " +
			"next holds what it would have held; a lone sink has prepared nothing"},
		{Class: "duplicate-barrier", Says: "a checkpoint that was begun on a channel has begun"},
		{Class: "reorder-barrier", Says: "what keeps no state has none of another cut"},
		{Class: "delay-barrier", Says: "a barrier that the next one has overtaken is of a " +
			"checkpoint that was given up"},
		{Class: "lose-notice", Says: "the next completed checkpoint, or a restore, does what was " +
			"not heard of"},
		{Class: "delay-notice", Says: "a notice names its checkpoint, and one that is over is " +
			"passed over"},
		{Class: "duplicate-notice", Says: "a notice names its checkpoint, and is done the second " +
			"time"},
	}
	return slices.DeleteFunc(all, func(h model.Harmless) bool {
		return !slices.Contains(classes, h.Class)
	})
}

func newSnapshot(job *model.Job, task *model.Task) model.Process {
	return newCheckpointed(job, task, func() model.Process {
		return &plainSink{newGated(job, task)}
	})
}

// newCheckpointed builds a process of a mode with checkpoints, whose sinks are its own.
func newCheckpointed(job *model.Job, task *model.Task, sink func() model.Process) model.Process {
	switch task.Role {
	case model.Source:
		return newSnapshotSource(job, task)
	case model.Operate:
		return &snapshotOperator{gated: newGated(job, task),
			keyed: newKeyed(job, task, model.Snapshotted)}
	case model.Sink:
		return sink()
	}
	return newCoordinator(job)
}

// snapshotSource hands out what it reads, and marks in the stream where a checkpoint cuts it.
//
//	triggered   the newest checkpoint that it has sent barriers of
//	isStopped   it was a savepoint: nothing is read any more
type snapshotSource struct {
	part      participant
	cursor    cursor
	triggered int64
	isStopped bool
	position  []model.Record
}

func newSnapshotSource(job *model.Job, task *model.Task) *snapshotSource {
	return &snapshotSource{part: newParticipant(job, task), cursor: newCursor(job, task)}
}

// Start implements model.Process.
func (p *snapshotSource) Start(self model.Self, s *model.Script) {
	p.part.reset(self, s)
	p.triggered, p.isStopped = 0, false
	p.cursor.next, p.cursor.isEnd = 0, false
}

// Step implements model.Process.
func (p *snapshotSource) Step(ev *model.Event, s *model.Script) {
	switch {
	case p.part.step(ev, s, p):
	case failRefused(s, ev):
	case ev.Kind == model.TimerFired && ev.Token == pollToken:
		if !p.isStopped {
			p.cursor.fetch(s)
		}
	case ev.Kind == model.Answered && ev.Msg.Kind == model.Fetch:
		p.cursor.took(s, &ev.Ans)
		for _, rec := range ev.Ans.Records {
			sendAlong(s, p.part.task, rec, model.Message{})
		}
		if ev.Ans.N > 0 {
			p.cursor.fetch(s)
		}
	default:
		panic(fmt.Sprintf("semantics: source steps on %+v", *ev))
	}
}

func (p *snapshotSource) load(s *model.Script, checkpoint int64, state, _ []model.Record) {
	p.triggered = checkpoint
	if len(state) > 0 {
		p.cursor.next = state[0].ID.Offset
	}
	p.cursor.fetch(s)
}

// take takes a Trigger: everything handed out so far is before the checkpoint.
func (p *snapshotSource) take(s *model.Script, m *model.Message) {
	if m.Seq <= p.triggered {
		return // it comes twice, or late
	}
	p.triggered, p.isStopped = m.Seq, p.isStopped || m.Flags&model.Idle != 0
	p.part.barriers(s, m.Seq, m.Flags)
	p.part.snapshot(s, p, m.Seq)
}

// now is the position: everything before it is handed out.
func (p *snapshotSource) now() (state []model.Record, isIdle bool) {
	p.position = append(p.position[:0],
		model.Record{ID: model.ID{Part: p.cursor.part, Offset: p.cursor.next}})
	return p.position, p.cursor.isEnd
}

func (p *snapshotSource) completed(*model.Script, int64) {}

func (p *snapshotSource) cancelled(int64) {}

// State implements model.Process.
func (p *snapshotSource) State(c *model.Codec) {
	p.part.state(c)
	p.cursor.state(c)
	c.Int64(&p.triggered)
	c.Bool(&p.isStopped)
}

// snapshotOperator keeps its keyed state in memory, and in checkpoints.
type snapshotOperator struct {
	gated
	keyed keyed
	list  []model.Record
}

// Start implements model.Process.
func (p *snapshotOperator) Start(self model.Self, s *model.Script) {
	p.gated.reset(self, s)
	p.keyed.reset(self)
}

// Step implements model.Process.
func (p *snapshotOperator) Step(ev *model.Event, s *model.Script) {
	if !p.part.step(ev, s, p) {
		panic(fmt.Sprintf("semantics: operator steps on %+v", *ev))
	}
}

func (p *snapshotOperator) load(_ *model.Script, checkpoint int64, state, flight []model.Record) {
	p.gate.reset(p.part.task, checkpoint)
	p.keyed.restore(state)
	p.part.deliver(flight)
}

func (p *snapshotOperator) take(s *model.Script, m *model.Message) {
	if !p.admits(s, p, m) {
		return
	}
	list, _ := p.keyed.apply(s, m)
	for _, out := range list {
		sendAlong(s, p.part.task, out, model.Message{})
	}
	p.part.worked(s)
}

// now is the keyed state, in the order of keys.
func (p *snapshotOperator) now() (state []model.Record, isIdle bool) {
	p.list = p.keyed.list(p.list[:0])
	return p.list, true
}

func (p *snapshotOperator) ahead(*model.Script, int64) {}

func (p *snapshotOperator) completed(*model.Script, int64) {}

// State implements model.Process.
func (p *snapshotOperator) State(c *model.Codec) {
	p.gated.state(c)
	p.keyed.state(c)
}

// plainSink writes what comes as it comes, until the write is done.
type plainSink struct{ gated }

// Start implements model.Process.
func (p *plainSink) Start(self model.Self, s *model.Script) { p.reset(self, s) }

// Step implements model.Process.
func (p *plainSink) Step(ev *model.Event, s *model.Script) {
	switch {
	case p.part.step(ev, s, p):
	case failRefused(s, ev):
	case ev.Kind == model.Answered && ev.Msg.Kind == model.Write:
		p.part.written(s, p, ev)
	default:
		panic(fmt.Sprintf("semantics: sink steps on %+v", *ev))
	}
}

func (p *plainSink) load(_ *model.Script, checkpoint int64, _, flight []model.Record) {
	p.gate.reset(p.part.task, checkpoint)
	p.part.deliver(flight)
}

func (p *plainSink) take(s *model.Script, m *model.Message) {
	if p.admits(s, p, m) {
		p.part.write(s, p.output(m.Record))
	}
}

func (p *plainSink) now() (state []model.Record, isIdle bool) { return nil, true }

func (p *plainSink) ahead(*model.Script, int64) {}

func (p *plainSink) completed(*model.Script, int64) {}

// State implements model.Process.
func (p *plainSink) State(c *model.Codec) { p.state(c) }
