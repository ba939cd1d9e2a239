package search

import (
	"math"
	"slices"

	"github.com/oncesim/oncesim/model"
)

// Gap is where in the life of a checkpoint an event falls: between which two steps of its protocol.
// A crash means something else in each of them.
type Gap uint8

// The gaps, in the order of the protocol. A batch of a micro-batch job is a checkpoint here: it is
// planned where that is given an id, and finished where that is completed.
const (
	GapRestore Gap = iota // nothing was triggered yet by this attempt: it is being restored
	GapTrigger            // there is an id; no task has taken its snapshot
	GapCut                // some tasks have
	GapUpload             // all have; some part is not durable
	GapVote               // all parts are durable; nobody has asked for the completion
	GapDecide             // it is asked for
	GapAnswer             // it is completed, and nobody knows
	GapNotify             // the coordinator knows; something that is to be visible is not
	GapBetween            // everything is done; the next is not due
	gapEnd
)

var gapNames = [gapEnd]string{"restore", "trigger", "cut", "upload", "vote", "decide", "answer",
	"notify", "between"}

// String names the gap.
func (g Gap) String() string { return gapNames[g] }

// Gaps lists all gaps in order.
func Gaps() (list []Gap) {
	for g := GapRestore; g < gapEnd; g++ {
		list = append(list, g)
	}
	return list
}

// CrashGaps adds to counts, which has a place for each gap, the crashes of a run by where they
// fell. In a run without checkpoints there is nothing to count.
func CrashGaps(h *model.History, counts []int64) {
	var c gapCounter
	c.count(h, counts)
}

// gapCounter is CrashGaps for many runs: it keeps its memory.
type gapCounter struct {
	list   []checkpointSteps
	nobody checkpointSteps // of an attempt that is over, or never planned: nobody looks
}

func (c *gapCounter) count(h *model.History, counts []int64) {
	if !slices.ContainsFunc(h.Lives, isCrashed) {
		return
	}
	c.follow(h)
	if len(c.list) == 0 {
		return
	}
	for i := range h.Lives {
		if life := &h.Lives[i]; isCrashed(*life) {
			counts[gapAt(c.list, life)]++
		}
	}
}

func isCrashed(life model.Life) bool { return life.How == model.Crashed }

// never is the event number of a step that was not taken.
const never = math.MaxInt64

// checkpointSteps is when the steps of one checkpoint were taken.
type checkpointSteps struct {
	id, attempt                int64
	given                      int64
	firstCut, lastCut          int64
	lastUpload                 int64
	asked, completed, answered int64
	shown                      int64 // the last commit or batch of it
	parts                      int
	prepared                   bool // something is to be committed for it
}

// of is the entry of a checkpoint in the attempt of a call.
func (c *gapCounter) of(call *model.Call, id int64) *checkpointSteps {
	for i := len(c.list) - 1; i >= 0; i-- {
		switch s := &c.list[i]; {
		case s.id != id:
		case s.attempt == int64(call.Attempt):
			return s
		case s.attempt < int64(call.Attempt) && call.Req.Kind == model.Upload:
			c.list = append(c.list, newSteps(id, int64(call.Attempt), call.Invoked-1))
			return &c.list[len(c.list)-1]
		}
	}
	return &c.nobody
}

// follow follows the checkpoints of a run, in the order in which their ids were given. A batch that
// is run again begins anew with the first part of it.
func (c *gapCounter) follow(h *model.History) {
	c.list, c.nobody = c.list[:0], checkpointSteps{}
	for i := range h.Calls {
		switch call := &h.Calls[i]; call.Req.Kind {
		case model.NextCheckpoint, model.PlanBatch:
			if call.Served != 0 {
				id := max(call.Ans.Seq, call.Req.Seq)
				c.list = append(c.list, newSteps(id, int64(call.Attempt), call.Served))
			}
		case model.Upload:
			c.of(call, call.Req.Seq).part(call)
		case model.Completion, model.FinishBatch:
			s := c.of(call, call.Req.Seq)
			s.asked, s.completed = min(s.asked, call.Invoked), min(s.completed, when(call.Served))
			s.answered = min(s.answered, when(call.Answered))
		case model.PrepareTxn:
			s := c.of(call, call.Req.Seq)
			s.prepared = s.prepared || call.Served != 0
		case model.CommitTxn:
			c.of(call, call.Req.Seq).show(call)
		case model.WriteBatch:
			c.of(call, call.Req.Token).show(call)
		}
	}
	most := 0
	for i := range c.list {
		most = max(most, c.list[i].parts)
	}
	for i := range c.list {
		if c.list[i].parts < most { // some task never came to take its snapshot
			c.list[i].lastCut = never
		}
	}
}

func newSteps(id, attempt, given int64) checkpointSteps {
	return checkpointSteps{id: id, attempt: attempt, given: given, firstCut: never,
		lastCut: never, lastUpload: never, asked: never, completed: never, answered: never,
		shown: never}
}

// show takes a request that makes something of the checkpoint visible: the last answer counts.
func (s *checkpointSteps) show(call *model.Call) {
	if at := when(call.Answered); s.shown == never || at != never {
		s.shown = at
	}
}

// part takes the upload of a part. Those of one checkpoint are invoked in the order of the list.
func (s *checkpointSteps) part(call *model.Call) {
	if call.Req.Try > 0 {
		s.lastUpload = min(s.lastUpload, when(call.Served))
		return
	}
	s.parts++
	s.firstCut = min(s.firstCut, call.Invoked)
	s.lastCut = call.Invoked
	if s.parts == 1 || s.lastUpload != never {
		s.lastUpload = when(call.Served)
	}
}

// when is an event number, or never.
func when(n int64) int64 {
	if n == 0 {
		return never
	}
	return n
}

// gapAt says where the end of a life falls.
func gapAt(steps []checkpointSteps, life *model.Life) Gap {
	n := life.Ended
	var s *checkpointSteps
	for i := range steps {
		if steps[i].given < n {
			s = &steps[i]
		}
	}
	switch {
	case s == nil || s.attempt < int64(life.Attempt):
		return GapRestore
	case n <= s.firstCut:
		return GapTrigger
	case n <= s.lastCut:
		return GapCut
	case n <= s.lastUpload:
		return GapUpload
	case n <= s.asked:
		return GapVote
	case n <= s.completed:
		return GapDecide
	case n <= s.answered:
		return GapAnswer
	case n <= s.shown && (s.shown != never || s.prepared):
		return GapNotify
	}
	return GapBetween
}
