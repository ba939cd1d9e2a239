package semantics

import (
	"fmt"

	"github.com/oncesim/oncesim/model"
)

// coordinatorName is the coordinator's among the processes of a mode; its only one is number 0.
const coordinatorName = "coordinator"

// The tokens of the coordinator's timers below every checkpoint id; the timeout of a checkpoint has
// its id.
const (
	resendRestore = -1 // the tasks that are not ready are told again where to begin
	nextInterval  = 0  // it is time for the next checkpoint
)

// coordinator triggers checkpoints and decides what becomes of them: Flink's CheckpointCoordinator.
//
// A life begins with the completed checkpoint, which it has every task begin from. Then, one at a
// time:
//
//	1  an id that was never given out
//	2  Trigger to the sources, which send barriers; every task answers when its part is durable
//	3  once all have: the checkpoint becomes the completed one, in one write. That is the
//	   decision: what restores it from then on has it, whatever becomes of this life
//	4  Complete to every task, once. One that is lost is made up for by the next checkpoint, and
//	   after a crash by the restore
//
// A part that fails, or a timeout, aborts the checkpoint: the next one takes its place.
type coordinator struct {
	tasks      []model.ProcID
	sources    []model.ProcID
	interval   int64
	timeout    int64
	tolerable  int64
	retain     int64
	back       int64 // how many completed checkpoints to go back at a restore
	fallsBack  bool
	isLone     bool // tasks restart alone
	deletes    bool // what of a checkpoint whose completion is unknown
	cleansUp   bool // drop the parts of the completed checkpoint before the next is completed
	fence      model.Flags
	attempt    int32
	completed  int64
	restored   int64
	isOpen     bool // all tasks have begun
	pending    int64
	isIdle     bool     // every part so far has nothing left to do
	roll       rollCall // for Ready, then for Acknowledge
	failures   int64
	isFallback bool // the newest checkpoint cannot be restored: its predecessor is asked for
}

func newCoordinator(job *model.Job) *coordinator {
	c := &coordinator{interval: job.Param("interval"),
		timeout: job.Param("checkpoint-timeout"), tolerable: job.Param("tolerable"),
		retain: job.Param("retain"), back: job.Param("restore"),
		isLone:    job.Param("lone-restart") == 1,
		fallsBack: job.Param("fall-back") == 1, deletes: job.Param("unknown-completion") == 1,
		cleansUp: job.Param("early-clean-up") == 1, fence: checkpointFence(job)}
	for i := range job.Tasks {
		switch job.Tasks[i].Role {
		case model.Extra:
			continue
		case model.Source:
			c.sources = append(c.sources, job.Tasks[i].Proc)
		}
		c.tasks = append(c.tasks, job.Tasks[i].Proc)
	}
	return c
}

// Start implements model.Process.
func (c *coordinator) Start(self model.Self, s *model.Script) {
	c.attempt, c.completed, c.restored, c.isOpen = self.Attempt, 0, unknownCheckpoint, false
	c.pending, c.isIdle, c.failures, c.isFallback = 0, false, 0, false
	c.roll.await(len(c.tasks), c.tasks)
	s.CallUntilDone(model.StateStore, c.about(model.Newest, 0, 0))
}

// about is a request about a checkpoint.
func (c *coordinator) about(kind model.Kind, checkpoint, n int64) model.Message {
	return model.Message{Kind: kind, Flags: c.fence, Seq: checkpoint, N: n,
		Record: model.Record{ID: model.ID{Offset: -1}}}
}

// notify sends a notice to some tasks.
func (c *coordinator) notify(s *model.Script, kind model.Kind, checkpoint int64,
	to []model.ProcID) {
	for _, task := range to {
		s.Send(task, notice(kind, checkpoint))
	}
}

// notice is a message between the coordinator and a task. It is part of no channel.
func notice(kind model.Kind, checkpoint int64) model.Message {
	return model.Message{Kind: kind, Channel: noChannel, Seq: checkpoint,
		Record: model.Record{ID: model.ID{Offset: -1}}}
}

// Step implements model.Process.
func (c *coordinator) Step(ev *model.Event, s *model.Script) {
	switch {
	case ev.Kind == model.Delivered:
		if ev.Msg.Attempt == c.attempt || c.isLone { // a replaced task counts for nothing
			c.heard(s, ev)
		}
	case ev.Kind == model.TimerFired:
		c.due(s, ev.Token)
	case failRefused(s, ev):
	case ev.Msg.Kind == model.Newest:
		c.newest(s, &ev.Ans)
	case ev.Msg.Kind == model.NextCheckpoint:
		c.trigger(s, ev.Ans.Seq)
	case ev.Msg.Kind == model.Completion:
		c.decided(s, ev)
	case ev.Msg.Kind == model.Discard:
	default:
		panic(fmt.Sprintf("semantics: coordinator steps on %+v", *ev))
	}
}

// newest takes the completed checkpoint, or one that it followed, which may be what is asked for. 0
// stands for none.
func (c *coordinator) newest(s *model.Script, ans *model.Answer) {
	switch {
	case c.isFallback:
		// Parts of the newest one are gone. Its predecessor becomes the completed one again, and
		// the next life begins from it.
		m := c.about(model.Completion, ans.Seq, c.retain)
		m.Cursor = c.completed
		s.Call(model.StateStore, m)
		return
	case c.restored == unknownCheckpoint && c.back > 0:
		c.completed, c.restored = ans.Seq, ans.Seq
		s.CallUntilDone(model.StateStore, c.about(model.Newest, 0, c.back))
		return
	case c.restored == unknownCheckpoint:
		c.completed = ans.Seq
	}
	c.restored = ans.Seq
	c.notify(s, model.Restore, c.restored, c.tasks)
	s.After(c.timeout, resendRestore)
}

func (c *coordinator) due(s *model.Script, token int64) {
	switch {
	case token == resendRestore && !c.isOpen:
		for _, task := range c.tasks {
			if c.roll.waiting[task] {
				s.Send(task, notice(model.Restore, c.restored))
			}
		}
		s.After(c.timeout, resendRestore)
	case token == resendRestore:
	case token == nextInterval:
		s.CallUntilDone(model.StateStore, c.about(model.NextCheckpoint, 0, 0))
	case token == c.pending:
		c.abort(s)
	}
}

// trigger begins a checkpoint.
func (c *coordinator) trigger(s *model.Script, id int64) {
	c.pending, c.isIdle = id, true
	c.roll.await(len(c.tasks), c.tasks)
	if c.cleansUp && c.completed > 0 {
		s.Begin(model.StateStore, c.about(model.Discard, c.completed, 0))
	}
	c.notify(s, model.Trigger, id, c.sources)
	s.After(c.timeout, id)
}

// heard handles what a task of this attempt says.
func (c *coordinator) heard(s *model.Script, ev *model.Event) {
	switch m := &ev.Msg; m.Kind {
	case model.Ready:
		if m.Seq == unknownCheckpoint {
			s.Send(ev.From, notice(model.Restore, c.completed))
			return
		}
		if !c.isOpen && m.Seq == c.restored && c.roll.hear(ev.From) {
			c.isOpen = true
			s.After(c.interval, nextInterval)
		}
	case model.Acknowledge:
		if m.Seq != c.pending || c.pending == 0 {
			return // it is late: the checkpoint was aborted
		}
		c.isIdle = c.isIdle && m.Flags&model.Idle != 0
		if c.roll.hear(ev.From) {
			done := c.about(model.Completion, c.pending, c.retain)
			done.Cursor = c.completed
			s.Call(model.StateStore, done)
		}
	case model.Decline:
		c.declined(s, m.Seq)
	default:
		panic(fmt.Sprintf("semantics: coordinator hears %s", m.Kind))
	}
}

// declined handles a vote of no: of a checkpoint under way, or of the one to begin from.
func (c *coordinator) declined(s *model.Script, checkpoint int64) {
	switch {
	case !c.isOpen && checkpoint == c.restored && c.fallsBack && !c.isFallback:
		c.isFallback = true
		s.CallUntilDone(model.StateStore, c.about(model.Newest, 0, c.back+1))
	case !c.isOpen && checkpoint == c.restored:
		s.FailOn(nowhere(checkpoint), fmt.Sprintf("checkpoint %d cannot be restored", checkpoint))
	case c.pending != 0 && checkpoint == c.pending:
		c.abort(s)
	}
}

// nowhere stands for a checkpoint that nobody can begin from: a life that fails on it will not fare
// better next time.
func nowhere(checkpoint int64) model.Record {
	return model.Record{ID: model.ID{Part: -1, Offset: checkpoint}}
}

// abort gives a checkpoint up. The records behind it belong to the next one.
func (c *coordinator) abort(s *model.Script) {
	id := c.pending
	c.pending = 0
	c.failures++
	c.notify(s, model.Cancel, id, c.tasks)
	s.Begin(model.StateStore, c.about(model.Discard, id, 0))
	if c.failures > c.tolerable {
		s.Fail(fmt.Sprintf("checkpoint %d failed, the %d. on end", id, c.failures))
		return
	}
	s.After(c.interval, nextInterval)
}

// decided handles the answer to the write that completes a checkpoint. Where it is not known what
// became of the write, its files stay: the next life finds out whether they are needed.
func (c *coordinator) decided(s *model.Script, ev *model.Event) {
	id := ev.Msg.Seq
	switch ev.Ans.Outcome {
	case model.Unknown:
		if c.deletes {
			s.CallUntilDone(model.StateStore, c.about(model.Discard, id, 0))
		}
		s.Fail(fmt.Sprintf("whether checkpoint %d is completed is unknown", id))
		return
	case model.Stale:
		s.Fail(fmt.Sprintf("checkpoint %d was completed by another coordinator", ev.Ans.Seq))
		return
	}
	if c.isFallback {
		s.Fail(fmt.Sprintf("going back to checkpoint %d", id))
		return
	}
	c.completed, c.pending, c.failures = id, 0, 0
	c.notify(s, model.Complete, id, c.tasks)
	if !c.isIdle { // otherwise nothing is left that another checkpoint would be about
		s.After(c.interval, nextInterval)
	}
}

// State implements model.Process.
func (c *coordinator) State(codec *model.Codec) {
	codec.Int32(&c.attempt)
	codec.Int64(&c.completed)
	codec.Int64(&c.restored)
	codec.Bool(&c.isOpen)
	codec.Int64(&c.pending)
	codec.Bool(&c.isIdle)
	c.roll.state(codec)
	codec.Int64(&c.failures)
	codec.Bool(&c.isFallback)
}
