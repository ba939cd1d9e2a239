package checker

import (
	"slices"

	"github.com/oncesim/oncesim/model"
)

// atMostOnce is AMO: gaps, but nothing twice.
//
// Where state is in checkpoints a restart goes back to one, and what comes then is another branch.
// There what one life has shown under a key, and the state, are each what some inputs give that
// are taken once at most; two of them may come of two branches.
func atMostOnce() Property {
	return Property{
		Name: "at-most-once",
		Says: "no identity is visible twice and nothing is fabricated: each value, and the " +
			"state, is what some of the inputs give, each applied at most once; gaps are allowed",
		Source: "Hwang et al., High-Availability Algorithms for Distributed Stream Processing, " +
			"ICDE 2005 (gap recovery)",
		Anomalies: []model.AnomalyKind{model.Phantom, model.NoSubsequence, model.Duplicate,
			model.StateDuplicate, model.Regression},
		Check: checkAtMostOnce,
	}
}

func checkAtMostOnce(j *Judge) (model.Result, string) {
	if j.plan.ambiguous {
		return model.Undecided, reasonAmbiguous
	}
	j.look()
	j.reportFakes()
	j.reportRepeats()
	j.trace(j.home())
	unmatched := j.match()
	explain, doubts := j.explainOnce, false
	if s := j.s.Mode.State; s == model.Snapshotted || s == model.Scattered {
		explain, doubts = j.explainBranches, j.markRepeats()
	} else {
		doubts = j.doubt()
	}
	if unmatched == 0 && !doubts {
		return j.conclude("")
	}
	j.fold(j.home())
	j.consider(false)
	j.reportPure(model.NoSubsequence)
	reason := explain()
	j.nameBeyond()
	return j.conclude(reason)
}

// doubt looks for an explanation in the claims: those that something visible or the final state
// rests on. The others may have happened, but left nothing, as if their inputs had been skipped.
// It marks the states where a step is needed twice, or where what is visible rests on a step that
// the store lost, and reports whether there are any.
func (j *Judge) doubt() (doubts bool) {
	if !j.plan.stateful {
		return false
	}
	j.need()
	for i := range j.states.cells {
		c := &j.states.cells[i]
		c.doubt = c.alien
		doubts = doubts || c.alien
	}
	for i := range j.claims.list {
		c := &j.claims.list[i]
		if !c.needed || c.cell < 0 {
			continue
		}
		if j.home() == backend && !c.folded || j.isNeededTwice(c) {
			j.states.cells[c.cell].doubt, doubts = true, true
		}
	}
	return doubts
}

// need marks the claims that something rests on. A claim rests on the one that made its state and
// on the one that emitted its input; both came before it.
func (j *Judge) need() {
	list := j.claims.list
	for i := range list {
		list[i].needed = list[i].folded
	}
	for i := range j.seen.entries {
		if e := &j.seen.entries[i]; e.claim > 0 {
			list[j.source(&j.seen.list[i].Out, e.claim)-1].needed = true
		}
	}
	for i := range slices.Backward(list) {
		if !list[i].needed {
			continue
		}
		if base := list[i].base; base > 0 {
			list[base-1].needed = true
		}
		if from := j.parent(int32(i)); from > 0 {
			list[j.source(&j.h.Applications[i].In, from)-1].needed = true
		}
	}
}

// source is the claim that a record is taken to come from: the latest, or one whose step is in the
// final state.
func (j *Judge) source(rec *model.Record, latest int32) int32 {
	for i := latest; i > 0; i = j.claims.list[i-1].next {
		if j.claims.list[i-1].folded && j.emits(i, rec) {
			return i
		}
	}
	return latest
}

// isNeededTwice reports whether an earlier claim of the same step is needed too.
func (j *Judge) isNeededTwice(c *claim) bool {
	for i := c.next; i > 0; i = j.claims.list[i-1].next {
		if j.claims.list[i-1].needed {
			return true
		}
	}
	return false
}

// explainOnce searches, key by key, for an execution that applies each input at most once. It
// returns a reason where it finds neither one nor a proof that there is none.
func (j *Judge) explainOnce() (reason string) {
	for op := int32(1); op <= j.plan.ops; op++ {
		if !j.plan.stages[op].stateful {
			continue
		}
		alone := j.plan.stages[op].alone
		if alone {
			j.group(op)
			j.reportStray(op)
		} else if j.claims.unmatched > 0 {
			reason = reasonBeyond
		}
		for i := range j.states.cells {
			switch c := &j.states.cells[i]; {
			case c.op != op || alone && j.isOnce(op, c) || !alone && !c.doubt:
			case !alone:
				reason = reasonBeyond
			case j.reportUnknownKey(model.NoSubsequence, int32(i)):
			default:
				reason = max(reason, j.explainCellOnce(op, int32(i)))
			}
		}
	}
	return reason
}

// isOnce reports whether the claims under one key are an explanation.
func (j *Judge) isOnce(op int32, c *cell) bool {
	list := j.flow.lists[op]
	for i := c.first; i > 0; i = list[i-1].next {
		for e := list[i-1].shown; e > 0; e = j.seen.entries[e-1].later {
			if j.seen.entries[e-1].claim == 0 {
				return false
			}
		}
	}
	return !c.doubt
}

func (j *Judge) explainCellOnce(op, cell int32) (reason string) {
	q := query{outputs: subset, skip: true, state: true}
	first := j.states.cells[cell].first
	if first > 0 && j.home() == memories {
		q.resets = j.restarts(j.flow.lists[op][first-1].task)
	}
	switch j.findCell(op, cell, q) {
	case model.Holds:
		if !j.isAhead(op) {
			return reasonBeyond // what came of the steps further on was not looked at
		}
		return ""
	case model.Undecided:
		return reasonBudget
	}
	q.state = false
	if j.findCell(op, cell, q) == model.Violated {
		if f := j.finder.deepest; f.why == differs || f.why == extra {
			j.reportEntry(model.NoSubsequence, f.entry, f.fact())
			j.reportFoldedTwice(op, cell)
			return ""
		}
	}
	if !j.reportFoldedTwice(op, cell) {
		j.reportCell(model.NoSubsequence, cell, model.Fact{Times: -1})
	}
	return ""
}

// restarts is how often a task was restarted.
func (j *Judge) restarts(task int32) int {
	lives := 0
	for l := j.claims.lives[task]; l > 0; l = j.claims.previous[l-1] {
		lives++
	}
	return max(lives-1, 0)
}
