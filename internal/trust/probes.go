package trust

import (
	_ "embed" // of declaredText
	"fmt"
	"slices"
	"strings"

	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/search"
)

// Probe is a branch of a protocol that blind runs must reach: what no run reaches, no run tests.
type Probe struct {
	Name string
	Says string
	Is   func(v *view) bool // whether a run reached it
}

// view is a run as probes look at it.
type view struct {
	*model.History
	crashes []int64 // by search.Gaps
}

// viewOf prepares to look at a run.
func viewOf(h *model.History) *view {
	v := &view{History: h, crashes: make([]int64, len(search.Gaps()))}
	search.CrashGaps(h, v.crashes)
	return v
}

// declaredText declares which modes have which branch: a line has a probe, a mode, in how many of
// 10,000 blind runs it must be reached at the least, which is about half of what was measured, and
// the first run that reaches it.
//
//go:embed probes.txt
var declaredText string

// Reach is how a mode reaches a branch.
type Reach struct {
	Least int64 // of 10,000 blind runs
	First int64 // the first of them, from 1
}

// Declared is what is declared: by probe and mode.
func Declared() (map[[2]string]Reach, error) {
	declared := map[[2]string]Reach{}
	for i, line := range strings.Split(strings.TrimRight(declaredText, "\n"), "\n") {
		var probe, mode string
		var r Reach
		_, err := fmt.Sscanf(line, "%s %s %d %d", &probe, &mode, &r.Least, &r.First)
		if err != nil || r.Least < 1 || r.First < 1 {
			return nil, fmt.Errorf("probes.txt:%d: %q, expected PROBE MODE LEAST FIRST", i+1, line)
		}
		if _, twice := declared[[2]string{probe, mode}]; twice {
			return nil, fmt.Errorf("probes.txt:%d: %s of %s for the second time", i+1, probe, mode)
		}
		declared[[2]string{probe, mode}] = r
	}
	return declared, nil
}

// anyCall reports whether some call of a run is as asked.
func anyCall(is func(h *model.History, c *model.Call) bool) func(v *view) bool {
	return func(v *view) bool {
		for i := range v.Calls {
			if is(v.History, &v.Calls[i]) {
				return true
			}
		}
		return false
	}
}

// answered reports whether a service answered a request of one of these kinds in a way, if only the
// second copy of it.
func answered(outcome model.Outcome, kinds ...model.Kind) func(v *view) bool {
	return func(v *view) bool {
		return slices.ContainsFunc(v.Servings, func(s model.Serving) bool {
			return s.Ans.Outcome == outcome && slices.Contains(kinds, v.Calls[s.Call].Req.Kind)
		})
	}
}

// anyLife reports whether some life of a run is as asked.
func anyLife(is func(l *model.Life) bool) func(v *view) bool {
	return func(v *view) bool {
		for i := range v.Lives {
			if is(&v.Lives[i]) {
				return true
			}
		}
		return false
	}
}

// Probes lists what blind runs must reach.
func Probes() []Probe {
	return slices.Concat(generalProbes(), replayProbes(), checkpointProbes(), transactionProbes(),
		batchProbes(), gapProbes())
}

// gapProbes are the gaps in the life of a checkpoint, or of a batch.
func gapProbes() (list []Probe) {
	for _, g := range search.Gaps() {
		list = append(list, Probe{Name: "crash-in-" + g.String(),
			Says: "a process is killed while a checkpoint is in the gap " + g.String(),
			Is:   func(v *view) bool { return v.crashes[g] > 0 }})
	}
	return list
}

func generalProbes() []Probe {
	return []Probe{
		{Name: "crashed", Says: "a process is killed",
			Is: anyLife(func(l *model.Life) bool { return l.How == model.Crashed })},
		{Name: "crashed-again", Says: "a process is killed that had been killed before",
			Is: anyLife(func(l *model.Life) bool { return l.How == model.Crashed && l.Life > 1 })},
		{Name: "gave-up", Says: "a process ends itself",
			Is: anyLife(func(l *model.Life) bool { return l.How == model.GaveUp })},
		{Name: "zombie", Says: "a process goes on that was replaced",
			Is: anyLife(func(l *model.Life) bool { return l.Replaced != 0 })},
		{Name: "unknown-outcome", Says: "a caller never learns whether its request was served",
			Is: anyCall(func(_ *model.History, c *model.Call) bool {
				return c.Outcome == model.Unknown
			})},
		{Name: "served-unheard", Says: "a request is served whose caller counts it as unknown",
			Is: anyCall(func(_ *model.History, c *model.Call) bool {
				return c.Outcome == model.Unknown && c.Served != 0
			})},
		{Name: "repeated-call", Says: "a request is sent again because its outcome is unknown",
			Is: anyCall(func(_ *model.History, c *model.Call) bool { return c.Req.Try > 0 })},
		{Name: "doubled-call", Says: "a service serves one transmission twice",
			Is: func(v *view) bool {
				return slices.ContainsFunc(v.Servings, func(s model.Serving) bool {
					return s.Copy
				})
			}},
		{Name: "late-call", Says: "a request is served after the end of the life that sent it",
			Is: anyCall(func(h *model.History, c *model.Call) bool {
				return c.Served != 0 && slices.ContainsFunc(h.Lives, func(l model.Life) bool {
					return l.Proc == c.Proc && l.Attempt == c.Attempt && l.Ended != 0 &&
						l.Ended < c.Served
				})
			})},
		{Name: "refused", Says: "a service refuses a request",
			Is: anyCall(func(_ *model.History, c *model.Call) bool {
				return c.Ans.Outcome == model.Refused
			})},
		{Name: "fenced", Says: "a service refuses an attempt after a later one has asked",
			Is: anyCall(isFenced)},
	}
}

// isFenced reports whether a request was refused for its attempt: a later one had asked before.
func isFenced(h *model.History, c *model.Call) bool {
	if c.Ans.Outcome != model.Refused || c.Req.Flags&model.Fenced == 0 {
		return false
	}
	return slices.ContainsFunc(h.Calls, func(other model.Call) bool {
		return other.Service == c.Service && other.Attempt > c.Attempt && other.Served != 0 &&
			other.Served < c.Served && other.Req.Flags&model.Fenced != 0
	})
}

func replayProbes() []Probe {
	return []Probe{
		{Name: "replayed", Says: "a source begins where an earlier life had been before",
			Is: anyCall(isReplay)},
		{Name: "applied-again", Says: "an operator is applied to a record again",
			Is: isAppliedAgain},
		{Name: "duplicate-write", Says: "a sink knows a write that it has",
			Is: answered(model.DoneBefore, model.Write, model.WriteBatch)},
		{Name: "stale-write", Says: "a sink has a newer version than the one that is written",
			Is: answered(model.Stale, model.Write)},
		{Name: "duplicate-update", Says: "a catalog knows an input that it has taken up",
			Is: answered(model.DoneBefore, model.Update, model.Mark)},
		{Name: "outbox-again", Says: "a life begins with outputs that an earlier one has stored",
			Is: anyCall(func(_ *model.History, c *model.Call) bool {
				return c.Req.Kind == model.LoadOutbox && c.Ans.N > 0 && c.Attempt > 1
			})},
	}
}

// isReplay reports whether a fetch brings what an earlier life of its source has had.
func isReplay(h *model.History, c *model.Call) bool {
	if c.Req.Kind != model.Fetch || c.Served == 0 {
		return false
	}
	return slices.ContainsFunc(h.Calls, func(other model.Call) bool {
		return other.Req.Kind == model.Fetch && other.Proc == c.Proc &&
			other.Attempt < c.Attempt && other.Served != 0 && other.Ans.N > 0 &&
			c.Ans.Seq < other.Ans.Seq+other.Ans.N && c.Ans.N > 0
	})
}

func isAppliedAgain(v *view) bool {
	for i := range v.Applications {
		a := &v.Applications[i]
		for k := range v.Applications[:i] {
			b := &v.Applications[k]
			if a.Op == b.Op && a.In.ID == b.In.ID && a.In.Path == b.In.Path && a.In.Op == b.In.Op {
				return true
			}
		}
	}
	return false
}

func checkpointProbes() []Probe {
	return []Probe{
		{Name: "completed", Says: "a checkpoint is completed",
			Is: answered(model.Done, model.Completion)},
		{Name: "restored", Says: "a task begins with its part of a checkpoint",
			Is: anyCall(func(_ *model.History, c *model.Call) bool {
				return c.Req.Kind == model.Download && c.Served != 0 && c.Ans.Found && c.Attempt > 1
			})},
		{Name: "subsumed", Says: "a checkpoint is never completed, and the next one is",
			Is: anyCall(isSubsumed)},
		{Name: "upload-again", Says: "a part of a checkpoint is there already",
			Is: answered(model.DoneBefore, model.Upload)},
		{Name: "completed-before", Says: "the pointer is moved to where it is already",
			Is: answered(model.DoneBefore, model.Completion)},
		{Name: "unknown-completion", Says: "a coordinator does not learn if its pointer moved",
			Is: anyCall(func(_ *model.History, c *model.Call) bool {
				return c.Req.Kind == model.Completion && c.Outcome == model.Unknown
			})},
		{Name: "channel-state", Says: "a part holds records that were in flight",
			Is: anyCall(func(_ *model.History, c *model.Call) bool {
				return c.Req.Kind == model.Upload && int64(len(c.Req.Parts)) > c.Req.N
			})},
	}
}

// isSubsumed reports whether a checkpoint is given an id and never completed, and a later one of
// the same attempt is.
func isSubsumed(h *model.History, c *model.Call) bool {
	if c.Req.Kind != model.NextCheckpoint || c.Served == 0 {
		return false
	}
	isCompleted := false
	for i := range h.Calls {
		o := &h.Calls[i]
		if o.Req.Kind != model.Completion || o.Served == 0 || o.Attempt != c.Attempt {
			continue
		}
		if o.Req.Seq == c.Ans.Seq {
			return false
		}
		isCompleted = isCompleted || o.Req.Seq > c.Ans.Seq
	}
	return isCompleted
}

func transactionProbes() []Probe {
	return []Probe{
		{Name: "committed", Says: "a transaction is committed",
			Is: answered(model.Done, model.CommitTxn)},
		{Name: "recovered-committed", Says: "a later attempt commits what an earlier one prepared",
			Is: isCommittedLater(model.Done)},
		{Name: "recovered-known", Says: "a later attempt commits what is committed already",
			Is: isCommittedLater(model.DoneBefore)},
		{Name: "recovered-aborted", Says: "a restore aborts what its checkpoint does not know",
			Is: answered(model.Done, model.AbortTxn)},
		{Name: "write-known", Says: "a transaction has the record already",
			Is: anyCall(func(_ *model.History, c *model.Call) bool {
				return c.Req.Kind == model.Write && c.Req.Token != 0 &&
					c.Ans.Outcome == model.DoneBefore
			})},
		{Name: "begin-known", Says: "a transaction is begun again under its epoch",
			Is: answered(model.DoneBefore, model.BeginTxn)},
		{Name: "prepare-known", Says: "a transaction is prepared that is prepared already",
			Is: answered(model.DoneBefore, model.PrepareTxn)},
		{Name: "committed-with-next", Says: "a completion commits what an earlier one has left",
			Is: anyCall(isCommitWithNext)},
	}
}

func isCommittedLater(outcome model.Outcome) func(v *view) bool {
	return anyCall(func(h *model.History, c *model.Call) bool {
		if c.Req.Kind != model.CommitTxn || c.Served == 0 || c.Ans.Outcome != outcome {
			return false
		}
		return slices.ContainsFunc(h.Calls, func(p model.Call) bool {
			return p.Req.Kind == model.PrepareTxn && p.Req.Token == c.Req.Token &&
				p.Req.Channel == c.Req.Channel && p.Attempt < c.Attempt && p.Served != 0
		})
	})
}

// isCommitWithNext reports whether a commit is of a transaction that the same attempt has prepared,
// and comes after a later checkpoint of that attempt was completed.
func isCommitWithNext(h *model.History, c *model.Call) bool {
	if c.Req.Kind != model.CommitTxn || c.Served == 0 || c.Ans.Outcome != model.Done {
		return false
	}
	checkpoint := int64(0)
	for i := range h.Calls {
		p := &h.Calls[i]
		if p.Req.Kind == model.PrepareTxn && p.Req.Token == c.Req.Token &&
			p.Req.Channel == c.Req.Channel && p.Attempt == c.Attempt {
			checkpoint = p.Req.Seq
		}
	}
	return checkpoint != 0 && slices.ContainsFunc(h.Calls, func(o model.Call) bool {
		return o.Req.Kind == model.Completion && o.Attempt == c.Attempt &&
			o.Req.Seq > checkpoint && o.Served != 0 && o.Served < c.Invoked
	})
}

func batchProbes() []Probe {
	return []Probe{
		{Name: "batch-again", Says: "a driver begins, and the newest batch is not finished",
			Is: anyCall(func(h *model.History, c *model.Call) bool {
				return c.Req.Kind == model.NewestBatch && c.Served != 0 && c.Ans.Seq > 0 &&
					!c.Ans.Found
			})},
		{Name: "batch-known", Says: "a sink has the batch already",
			Is: anyCall(func(_ *model.History, c *model.Call) bool {
				return c.Req.Kind == model.WriteBatch && c.Req.Token != 0 &&
					c.Ans.Outcome == model.DoneBefore
			})},
		{Name: "plan-known", Says: "a batch is planned that is planned already",
			Is: answered(model.DoneBefore, model.PlanBatch)},
	}
}
