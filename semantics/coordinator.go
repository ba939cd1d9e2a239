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
	stopTimeout   = -2 // the tasks have had long enough to do what is left before a stop
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
//
// A savepoint is a checkpoint that the job stops with. Its triggers tell sources to read no more
// behind it, and once it is complete every task says when it has committed what belongs to it. Then
// this life ends, and with it the job; the next attempt, which goes on from the savepoint, is the
// job started anew. A savepoint that is aborted is tried again, and the sources wait for that.
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
	stopAt     int64
	isKept     bool // a savepoint is completed like a checkpoint; else once the job has stopped
	fence      model.Flags
	attempt    int32
	completed  int64
	restored   int64
	isOpen     bool // all tasks have begun
	pending    int64
	ending     int64    // the savepoint that the job stops with, once it is complete
	isIdle     bool     // every part so far has nothing left to do
	roll       rollCall // for Ready, then for Acknowledge; before a stop, for Ready again
	failures   int64
	isFallback bool // the newest checkpoint cannot be restored: its predecessor is asked for
}

func newCoordinator(job *model.Job) *coordinator {
	c := &coordinator{interval: job.Param("interval"),
		timeout: job.Param("checkpoint-timeout"), tolerable: job.Param("tolerable"),
		retain: job.Param("retain"), back: job.Param("restore"),
		isLone:    job.Param("lone-restart") == 1,
		fallsBack: job.Param("fall-back") == 1, deletes: job.Param("unknown-completion") == 1,
		cleansUp: job.Param("early-clean-up") == 1, fence: checkpointFence(job),
		isKept: job.Param("savepoint-restores") == 1}
	if !c.isLone { // there, nobody would start the tasks again
		c.stopAt = job.Param("stop-at")
	}
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
	c.pending, c.ending, c.isIdle, c.failures, c.isFallback = 0, 0, false, 0, false
	c.roll.await(len(c.tasks), c.tasks)
	s.CallUntilDone(model.StateStore, c.about(model.Newest, 0, 0))
}

// about is a request about a checkpoint.
func (c *coordinator) about(kind model.Kind, checkpoint, n int64) model.Message {
	return model.Message{Kind: kind, Flags: c.fence, Seq: checkpoint, N: n,
		Record: model.Record{ID: model.ID{Offset: -1}}}
}

// notify sends a notice to some tasks. That of a savepoint says that nothing is to come behind it.
func (c *coordinator) notify(s *model.Script, kind model.Kind, checkpoint int64,
	to []model.ProcID) {
	m := notice(kind, checkpoint)
	if (kind == model.Trigger || kind == model.Complete) && c.isSavepoint(checkpoint) {
		m.Flags |= model.Idle
	}
	for _, task := range to {
		s.Send(task, m)
	}
}

// isSavepoint reports whether the job stops with a checkpoint, which is not the completed one yet.
// It stops once: from then on a checkpoint as new as that is the completed one.
func (c *coordinator) isSavepoint(checkpoint int64) bool {
	return c.stopAt > 0 && checkpoint >= c.stopAt && c.completed < c.stopAt
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
	case c.isFallback && (ans.Seq == c.restored || ans.Seq == 0):
		s.FailOn(nowhere(c.restored), fmt.Sprintf("checkpoint %d cannot be restored, and none "+
			"before it is kept", c.restored))
		return
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
	case token == stopTimeout:
		s.Fail(fmt.Sprintf("savepoint %d is there, and not every task has done its part", c.ending))
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
		c.ready(s, ev)
	case model.Acknowledge:
		if m.Seq != c.pending || c.pending == 0 {
			return // it is late: the checkpoint was aborted
		}
		c.isIdle = c.isIdle && m.Flags&model.Idle != 0
		switch {
		case !c.roll.hear(ev.From):
		case c.isSavepoint(c.pending) && !c.isKept:
			c.end(s, c.pending)
		default:
			c.complete(s, c.pending)
		}
	case model.Decline:
		c.declined(s, m.Seq)
	default:
		panic(fmt.Sprintf("semantics: coordinator hears %s", m.Kind))
	}
}

// ready hears of a task that it stands at a checkpoint: it has begun from it, or has done what
// belongs to the savepoint that the job stops with.
func (c *coordinator) ready(s *model.Script, ev *model.Event) {
	switch {
	case !c.isOpen && ev.Msg.Seq == c.restored && c.roll.hear(ev.From):
		c.isOpen = true
		s.After(c.interval, nextInterval)
	case !c.isOpen || c.ending == 0 || ev.Msg.Seq != c.ending || !c.roll.hear(ev.From):
	case c.completed == c.ending:
		c.stop(s)
	default:
		c.complete(s, c.ending)
	}
}

// complete asks that a checkpoint become the completed one.
func (c *coordinator) complete(s *model.Script, checkpoint int64) {
	done := c.about(model.Completion, checkpoint, c.retain)
	done.Cursor = c.completed
	s.Call(model.StateStore, done)
}

// end has every task do what belongs to the savepoint that the job stops with.
func (c *coordinator) end(s *model.Script, savepoint int64) {
	c.notify(s, model.Complete, savepoint, c.tasks)
	c.pending, c.ending = 0, savepoint
	c.roll.await(len(c.tasks), c.tasks)
	s.After(c.timeout, stopTimeout)
}

func (c *coordinator) stop(s *model.Script) {
	s.Fail(fmt.Sprintf("the job stops with savepoint %d", c.ending))
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
	switch {
	case c.ending == id: // it was kept out of the way of restarts until everything was done
		c.stop(s)
		return
	case c.isSavepoint(id):
		c.end(s, id)
		c.completed = id
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
	codec.Int64(&c.ending)
	codec.Bool(&c.isIdle)
	c.roll.state(codec)
	codec.Int64(&c.failures)
	codec.Bool(&c.isFallback)
}
