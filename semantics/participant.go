package semantics

import (
	"slices"

	"github.com/oncesim/oncesim/model"
)

// body is what differs between the tasks that take part in checkpoints.
type body interface {
	// load begins from a part of a checkpoint; without one, from the start.
	load(s *model.Script, checkpoint int64, state, flight []model.Record)
	// take handles a message: a record, or a barrier.
	take(s *model.Script, m *model.Message)
	// now returns the state as it is, valid until the next event, and whether nothing is left to be
	// done behind it.
	now() (state []model.Record, isIdle bool)
	// completed and cancelled take notice of what became of a checkpoint.
	completed(s *model.Script, checkpoint int64)
	cancelled(checkpoint int64)
}

// participant is what all tasks that take part in checkpoints have in common: where they begin, and
// how their part becomes durable.
//
// A life waits to be told which checkpoint to begin from, and holds what arrives before that. It
// handles held messages one by one, and none while it is busy with one: a call is out whose answer
// it needs first, or a step takes its time.
//
//	checkpoint   the one that it has begun from
//	late         the checkpoint whose barriers overtake, though others wait; 0: none
//	queue[head:] messages to be handled
//	passed       what the barrier in hand has overtaken, in order
type participant struct {
	task        *model.Task
	coordinator model.ProcID
	fence       model.Flags
	isAliased   bool
	checks      bool  // a part that is torn is as good as gone
	isLone      bool  // it restarts alone: others are of other attempts
	overtakes   bool  // barriers overtake what waits
	looksAhead  bool  // it takes note of what arrives while a write is out
	work        int64 // how long a step takes

	attempt    int32
	isOpen     bool
	isBusy     bool
	checkpoint int64
	late       int64
	queue      []model.Message
	head       int
	msg        model.Message // in hand; like passed not kept from one event to the next
	passed     []model.Message
	parts      []model.Record
}

// aliasDelay is how long a snapshot that is a view of live state is one. The timer after which it
// is uploaded has the checkpoint as its token.
const aliasDelay = 1_000_000

// workToken marks the timer at the end of a step that takes its time.
const workToken = 0

func newParticipant(job *model.Job, task *model.Task) participant {
	how := job.Param("alignment")
	overtakes := how == unaligned || how == dropping
	return participant{overtakes: overtakes,
		looksAhead: overtakes || job.Param("unaligned-after") > 0,
		work:       job.Param("work"),
		task:       task, coordinator: job.Find(coordinatorName + "/0"),
		fence:     checkpointFence(job),
		isAliased: task.Role == model.Operate && job.Param("aliased") == 1,
		checks:    job.Param("checksums") == 1,
		isLone:    job.Param("lone-restart") == 1}
}

// reset begins a life. One that restarts alone asks where to begin.
func (p *participant) reset(self model.Self, s *model.Script) {
	p.attempt, p.isOpen, p.isBusy, p.checkpoint = self.Attempt, false, false, 0
	p.late = 0
	p.queue, p.head = p.queue[:0], 0
	if p.isLone && self.Life > 1 {
		s.Send(p.coordinator, notice(model.Ready, unknownCheckpoint))
	}
}

// unknownCheckpoint is what a task is ready with that does not know where to begin.
const unknownCheckpoint = -1

// isStranger reports whether a message is of a life of another attempt. It counts for nothing: the
// channels of that life ended with it.
func (p *participant) isStranger(m *model.Message) bool {
	return m.Attempt != p.attempt && !p.isLone
}

// step handles what all participants handle alike; it reports whether that was all there is to it.
func (p *participant) step(ev *model.Event, s *model.Script, b body) bool {
	switch {
	case ev.Kind == model.Delivered && p.isStranger(&ev.Msg):
	case ev.Kind == model.Delivered && ev.Msg.Kind == model.Restore:
		p.restore(s, b, ev.Msg.Seq)
	case ev.Kind == model.Delivered && ev.Msg.Kind == model.Complete:
		p.completed(s, b, &ev.Msg)
	case ev.Kind == model.Delivered && ev.Msg.Kind == model.Cancel:
		if p.isOpen {
			b.cancelled(ev.Msg.Seq)
			p.handle(s, b)
		}
	case ev.Kind == model.Delivered:
		p.queue = append(p.queue, ev.Msg)
		p.handle(s, b)
	case ev.Kind == model.TimerFired && ev.Token > 0:
		p.upload(s, b, ev.Token)
	case ev.Kind == model.TimerFired && ev.Token == workToken:
		p.isBusy = false
		p.handle(s, b)
	case ev.Kind == model.TimerFired && ev.Token < pollToken:
		p.putBack([]model.Message{overdue(ev.Token)})
		p.handle(s, b)
	case ev.Kind == model.Answered && ev.Msg.Kind == model.Download:
		p.downloaded(s, b, ev)
	case ev.Kind == model.Answered && ev.Msg.Kind == model.Upload:
		p.uploaded(s, ev)
	default:
		return false
	}
	return true
}

// completed takes notice of a completed checkpoint. Before the job stops it says when that is done.
func (p *participant) completed(s *model.Script, b body, m *model.Message) {
	if !p.isOpen {
		return
	}
	b.completed(s, m.Seq)
	if m.Flags&model.Idle != 0 {
		s.Send(p.coordinator, notice(model.Ready, m.Seq))
	}
}

// restore begins from a checkpoint, or says again that it has.
func (p *participant) restore(s *model.Script, b body, checkpoint int64) {
	switch {
	case p.isOpen:
		s.Send(p.coordinator, notice(model.Ready, p.checkpoint))
	case checkpoint == 0:
		p.open(s, b, 0, nil, nil)
	default:
		s.CallUntilDone(model.StateStore, p.about(model.Download, checkpoint))
	}
}

// about is a request about the task's part of a checkpoint.
func (p *participant) about(kind model.Kind, checkpoint int64) model.Message {
	return model.Message{Kind: kind, Flags: p.fence, Seq: checkpoint, Token: int64(p.task.Proc),
		Record: model.Record{ID: model.ID{Part: p.task.Part, Offset: -1}}}
}

func (p *participant) downloaded(s *model.Script, b body, ev *model.Event) {
	switch {
	case failRefused(s, ev):
	case !ev.Ans.Found || ev.Ans.End && p.checks:
		s.Send(p.coordinator, notice(model.Decline, ev.Msg.Seq))
	case !p.isOpen:
		list := ev.Ans.Records
		p.open(s, b, ev.Msg.Seq, list[:ev.Ans.N], list[ev.Ans.N:])
	}
}

func (p *participant) open(s *model.Script, b body, checkpoint int64,
	state, flight []model.Record) {
	p.isOpen, p.checkpoint = true, checkpoint
	b.load(s, checkpoint, state, flight)
	s.Send(p.coordinator, notice(model.Ready, checkpoint))
	p.handle(s, b)
}

// handle handles what is in the queue.
func (p *participant) handle(s *model.Script, b body) {
	for p.isOpen && !p.isBusy && p.head < len(p.queue) {
		p.overtake()
		p.head++
		p.msg = p.queue[p.head-1] // what is put back moves the queue
		b.take(s, &p.msg)
	}
	if p.head == len(p.queue) {
		p.queue, p.head = p.queue[:0], 0
	}
}

// overtake has the first barrier in the queue pass what waits before it, if it may (Flink, FLIP-76:
// the barrier goes to the head of the buffers, and what it overtakes is in flight).
//
// What is in hand is not passed: it is finished first, as Flink finishes a record.
func (p *participant) overtake() {
	p.passed = p.passed[:0]
	rest := p.queue[p.head:]
	at := slices.IndexFunc(rest, func(m model.Message) bool { return m.Kind == model.Barrier })
	if at <= 0 || !p.mayOvertake(&rest[at]) {
		return
	}
	barrier := rest[at]
	p.passed = append(p.passed, rest[:at]...)
	copy(rest[1:at+1], rest[:at])
	rest[0] = barrier
}

// mayOvertake reports whether a barrier is to be taken unaligned: one of a savepoint never is.
func (p *participant) mayOvertake(barrier *model.Message) bool {
	return p.overtakes && barrier.Flags&model.Idle == 0 ||
		p.late != 0 && barrier.Seq == p.late
}

// write sends a write, which is repeated until it is done; nothing is handled before that. Where
// barriers overtake, the task does not wait as it does for other calls: what arrives meanwhile is
// in its queue, where a barrier can pass it.
func (p *participant) write(s *model.Script, m model.Message) {
	if !p.looksAhead {
		s.CallUntilDone(model.External, m)
		return
	}
	p.isBusy = true
	s.Begin(model.External, m)
}

// written handles the answer to a write.
func (p *participant) written(s *model.Script, b body, ev *model.Event) {
	switch {
	case !p.looksAhead:
	case ev.Ans.Outcome == model.Unknown:
		again := ev.Msg
		again.Try++
		s.Begin(model.External, again)
	default:
		p.isBusy = false
		p.handle(s, b)
	}
}

// worked has a step take its time: the next message waits for that.
func (p *participant) worked(s *model.Script) {
	if p.work > 0 {
		p.isBusy = true
		s.After(p.work, workToken)
	}
}

// deliver has records handled before what is in the queue: those that were in flight. They are in
// front of everything that comes on any channel, and of none.
func (p *participant) deliver(flight []model.Record) {
	list := make([]model.Message, 0, len(flight))
	for _, rec := range flight {
		list = append(list, model.Message{Kind: model.Data, Channel: noChannel,
			Attempt: p.attempt, Record: rec})
	}
	p.putBack(list)
}

// putBack has messages handled again before those in the queue.
func (p *participant) putBack(list []model.Message) {
	rest := len(p.queue) - p.head
	p.queue = append(p.queue, list...)
	copy(p.queue[p.head+len(list):], p.queue[p.head:p.head+rest])
	copy(p.queue[p.head:], list)
}

// barriers sends a barrier along every output channel.
func (p *participant) barriers(s *model.Script, checkpoint int64, flags model.Flags) {
	for _, out := range p.task.Out {
		s.Send(out.Peer, model.Message{Kind: model.Barrier, Flags: flags, Channel: out.There,
			Seq: checkpoint, Record: model.Record{ID: model.ID{Offset: -1}}})
	}
}

// snapshot makes the task's part of a checkpoint of its state as it is now. It is uploaded while
// processing goes on.
func (p *participant) snapshot(s *model.Script, b body, checkpoint int64) {
	if p.isAliased {
		s.After(aliasDelay, checkpoint)
		return
	}
	p.upload(s, b, checkpoint)
}

// upload sends the state as it is now.
func (p *participant) upload(s *model.Script, b body, checkpoint int64) {
	state, isIdle := b.now()
	p.send(s, checkpoint, state, nil, isIdle)
}

// send sends a part, with the records that were in flight.
func (p *participant) send(s *model.Script, checkpoint int64, state, flight []model.Record,
	isIdle bool) {
	m := p.about(model.Upload, checkpoint)
	m.N = int64(len(state))
	p.parts = append(append(p.parts[:0], state...), flight...)
	m.Parts = p.parts
	if isIdle && len(flight) == 0 {
		m.Flags |= model.Idle
	}
	s.Begin(model.StateStore, m)
}

// uploaded votes: yes where the part is known to be durable, else no. A task that was replaced has
// no vote.
func (p *participant) uploaded(s *model.Script, ev *model.Event) {
	vote := notice(model.Acknowledge, ev.Msg.Seq)
	switch ev.Ans.Outcome {
	case model.Done, model.DoneBefore:
		vote.Flags = ev.Msg.Flags & model.Idle
	default:
		vote.Kind = model.Decline
	}
	s.Send(p.coordinator, vote)
}

func (p *participant) state(c *model.Codec) {
	c.Int32(&p.attempt)
	c.Bool(&p.isOpen)
	c.Bool(&p.isBusy)
	c.Int64(&p.checkpoint)
	c.Int64(&p.late)
	queue := p.queue[p.head:]
	model.Slice(c, &queue, c.Message)
	if c.IsDecoding() {
		p.queue, p.head = append(p.queue[:0], queue...), 0
	}
}

// cutter is a body that barriers come to: ahead says that what comes from now on is behind the
// checkpoint.
type cutter interface {
	body
	ahead(s *model.Script, checkpoint int64)
}

// gated is a participant that barriers come to: an operator or a sink.
//
//	external   the flag of requests to the external system
type gated struct {
	part     participant
	gate     gate
	external model.Flags
}

func newGated(job *model.Job, task *model.Task) gated {
	return gated{part: newParticipant(job, task), gate: newGate(job), external: externalFence(job)}
}

// output is the request that makes a record visible.
func (g *gated) output(rec model.Record) model.Message {
	m := write(g.part.task, rec)
	m.Flags = g.external
	return m
}

func (g *gated) reset(self model.Self, s *model.Script) {
	g.part.reset(self, s)
	g.gate.reset(g.part.task, 0)
}

// admits takes a barrier, and reports whether what comes is a record that goes on to the task.
func (g *gated) admits(s *model.Script, b cutter, m *model.Message) bool {
	if m.Kind == model.Barrier {
		g.gate.barrier(s, &g.part, b, m)
		return false
	}
	return g.gate.pass(m)
}

func (g *gated) cancelled(checkpoint int64) { g.gate.cancel(&g.part, checkpoint) }

func (g *gated) state(c *model.Codec) {
	g.part.state(c)
	g.gate.state(c)
}

// gate brings the barriers of several channels together.
//
//	how       how barriers are taken, and way how those of the pending one are
//	after     how long they may wait for each other until they are taken unaligned; 0: for ever
//	pending   the checkpoint whose barriers are coming in; 0: none
//	flags     those of its barriers
//	finished  the newest one that all of them have come of, or that was given up
//	came[i]   the barrier of the pending one has come on channel i
//	missing   on how many it has not
//	held      aligned: what came on channels behind their barrier, in order
//	cut       unaligned: the state at the first barrier
//	flight    unaligned: what the barriers have overtaken, and what was handled since of channels
//	          whose barrier has not come
type gate struct {
	how      int64
	after    int64
	way      int64
	pending  int64
	flags    model.Flags
	finished int64
	came     []bool
	missing  int64
	held     []model.Message
	cut      []model.Record
	isIdle   bool
	flight   []model.Record
}

func newGate(job *model.Job) gate {
	return gate{how: job.Param("alignment"), after: job.Param("unaligned-after")}
}

func (g *gate) reset(task *model.Task, checkpoint int64) {
	g.way, g.pending, g.flags, g.finished, g.missing = g.how, 0, 0, checkpoint, 0
	g.came = g.came[:0]
	for range task.In {
		g.came = append(g.came, false)
	}
	g.held, g.cut, g.flight = g.held[:0], g.cut[:0], g.flight[:0]
}

// overtakes reports whether the barriers of the pending checkpoint overtake records.
func (g *gate) overtakes() bool { return g.way == unaligned || g.way == dropping }

// pass reports whether a record goes on to the task. Behind a barrier it waits for the others.
func (g *gate) pass(m *model.Message) bool {
	if g.pending == 0 || m.Channel == noChannel {
		return true
	}
	switch {
	case g.way == aligned && g.came[m.Channel]:
		g.held = append(g.held, *m)
		return false
	case g.overtakes() && !g.came[m.Channel]:
		g.flight = append(g.flight, m.Record)
	}
	return true
}

// barrier takes a barrier. On the last one of a checkpoint, or unaligned on the first, the task is
// asked for its part, after ahead, which it is told of in between.
//
// A barrier of a newer checkpoint means that the pending one was given up (Flink,
// SingleCheckpointBarrierHandler: it is subsumed); an older one is late.
func (g *gate) barrier(s *model.Script, p *participant, b cutter, m *model.Message) {
	isFirst := m.Seq > g.pending
	switch {
	case m.Channel == noChannel:
		g.waited(s, p, b, m.Seq)
		return
	case g.way == aligned && g.pending != 0 && g.came[m.Channel] && m.Seq != g.pending:
		g.held = append(g.held, *m) // it waits behind its own channel
		return
	case m.Seq <= g.finished || m.Seq < g.pending || m.Seq == g.pending && g.came[m.Channel]:
		return
	case isFirst:
		g.begin(s, p, b, m)
	}
	if g.overtakes() {
		g.keep(p.passed, m.Channel, isFirst)
	}
	g.came[m.Channel] = true
	g.missing--
	if g.missing > 0 {
		return
	}
	switch g.way {
	case aligned, counted:
		b.ahead(s, g.pending)
		p.barriers(s, g.pending, g.flags)
		p.snapshot(s, b, g.pending)
	case dropping: // what is in flight is forgotten, and the task is not done before it is handled
		p.send(s, g.pending, g.cut, nil, g.isIdle && len(g.flight) == 0)
	default:
		p.send(s, g.pending, g.cut, g.flight, g.isIdle)
	}
	g.end(p)
}

// keep notes as in flight what a barrier has overtaken on its channel; the first of a checkpoint
// also what this life began with and has not handled. What came on other channels is kept by their
// own barriers, or when it is handled before these.
func (g *gate) keep(passed []model.Message, channel int16, isFirst bool) {
	for i := range passed {
		if at := passed[i].Channel; at == channel || isFirst && at == noChannel {
			g.flight = append(g.flight, passed[i].Record)
		}
	}
}

// begin begins with the first barrier of a checkpoint; what is held for an older one goes on. A
// savepoint is never unaligned (as in Flink): what is in flight behind a snapshot would still be
// taken, and written, before the job stops.
func (g *gate) begin(s *model.Script, p *participant, b cutter, m *model.Message) {
	if g.pending != 0 {
		g.end(p)
	}
	g.pending, g.flags, g.missing = m.Seq, m.Flags, int64(len(g.came))
	for i := range g.came {
		g.came[i] = false
	}
	isLast := m.Flags&model.Idle != 0
	g.way = g.how
	if isLast && g.way != counted {
		g.way = aligned
	}
	switch {
	case g.overtakes():
		g.overtake(s, p, b)
	case g.way == aligned && g.after > 0 && g.missing > 1 && !isLast:
		s.After(g.after, overdueToken(m.Seq))
	}
}

// overtake has barriers go on ahead of what is in flight, and takes the state as it is.
func (g *gate) overtake(s *model.Script, p *participant, b cutter) {
	b.ahead(s, g.pending)
	p.barriers(s, g.pending, g.flags)
	state, isIdle := b.now()
	g.cut, g.isIdle = append(g.cut[:0], state...), isIdle
}

// waited goes on unaligned with a checkpoint some of whose barriers have waited long enough for the
// others (Flink, execution.checkpointing.aligned-checkpoint-timeout). What they held up is behind
// the checkpoint, and goes on.
func (g *gate) waited(s *model.Script, p *participant, b cutter, checkpoint int64) {
	if g.pending != checkpoint || g.way != aligned {
		return
	}
	g.way, p.late = unaligned, checkpoint
	g.overtake(s, p, b)
	p.putBack(g.held)
	g.held = g.held[:0]
}

// overdueToken is the token of the timer after which the barriers of a checkpoint wait no longer.
func overdueToken(checkpoint int64) int64 { return pollToken - checkpoint }

// overdue is what the task takes then: a barrier of no channel.
func overdue(token int64) model.Message {
	return model.Message{Kind: model.Barrier, Channel: noChannel, Seq: pollToken - token}
}

// cancel gives the pending checkpoint up, if it is the one that was aborted.
func (g *gate) cancel(p *participant, checkpoint int64) {
	if g.pending == checkpoint {
		g.end(p)
	}
}

// end lets go of what is held.
func (g *gate) end(p *participant) {
	g.finished, g.pending, p.late = max(g.finished, g.pending), 0, 0
	p.putBack(g.held)
	g.held, g.flight = g.held[:0], g.flight[:0]
}

func (g *gate) state(c *model.Codec) {
	c.Int64(&g.way)
	c.Int64(&g.pending)
	flags := int32(g.flags)
	c.Int32(&flags)
	g.flags = model.Flags(flags)
	c.Int64(&g.finished)
	model.Slice(c, &g.came, c.Bool)
	c.Int64(&g.missing)
	model.Slice(c, &g.held, c.Message)
	model.Slice(c, &g.cut, c.Record)
	c.Bool(&g.isIdle)
	model.Slice(c, &g.flight, c.Record)
}
