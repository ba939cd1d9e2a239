package checker

import (
	"cmp"
	"slices"

	"github.com/oncesim/oncesim/model"
)

// explainBranches is explainOnce where state is in checkpoints: each restart goes back to one, so
// that what is visible and the state may come of different branches. What one life has shown under
// a key, and the state, are explained by themselves: by claims none of whose steps is repeated on
// its own branch, or by value. It returns a reason where it finds neither an explanation nor a
// proof that there is none.
func (j *Judge) explainBranches() (reason string) {
	for op := int32(1); op <= j.plan.ops; op++ {
		if j.plan.stages[op].stateful && j.plan.stages[op].alone {
			j.group(op)
			j.reportStray(op)
		}
	}
	for i := range j.seen.entries {
		if e := &j.seen.entries[i]; e.slot != noSlot && !j.isOnBranch(int32(i)) {
			reason = max(reason, j.explainEntry(int32(i)))
		}
	}
	for i := range j.states.cells {
		reason = max(reason, j.explainBranch(int32(i)))
	}
	return reason
}

// markRepeats marks the claims on whose branch a step is repeated: their own one, or one that made
// the state that they begin from, or that emitted their input. It reports whether there are any, or
// states that no claims explain.
func (j *Judge) markRepeats() (doubts bool) {
	list := j.claims.list
	for i := range list {
		c := &list[i]
		if c.slot == noSlot {
			continue
		}
		c.repeats = c.from > 0 && list[c.from-1].repeats || c.base == alien ||
			c.base > 0 && list[c.base-1].repeats || c.cell >= 0 && j.isOnOwnBranch(c)
		doubts = doubts || c.repeats
	}
	for i := range j.states.cells {
		doubts = doubts || j.isOpaque(&j.states.cells[i])
	}
	return doubts
}

// isOpaque reports whether no claims say what went into a state.
func (j *Judge) isOpaque(c *cell) bool {
	return c.final(j.home()).version == alien || c.loose && j.home() == backend
}

// isOnOwnBranch reports whether the step of a claim is among those that made its state.
func (j *Judge) isOnOwnBranch(c *claim) bool {
	list, version := j.claims.list, c.base
	for i := c.next; i > 0; i = list[i-1].next {
		for version > i {
			version = list[version-1].base
		}
		if version == i {
			return true
		}
	}
	return false
}

// isOnBranch reports whether an entry needs no other explanation than a claim, or none by a state.
func (j *Judge) isOnBranch(entry int32) bool {
	rec, part := &j.seen.list[entry].Out, j.seen.list[entry].Part
	if j.plan.of(rec.Op, rec.ID.Part).owner == 0 {
		return true
	}
	for i := j.seen.entries[entry].claim; i > 0; i = j.claims.list[i-1].next {
		isItsOwn := j.emits(i, rec) && j.plan.sinks[j.h.Applications[i-1].Proc] == part
		if isItsOwn && !j.claims.list[i-1].repeats {
			return true
		}
	}
	return false
}

// explainEntry looks for inputs, each taken once at most, that give what an entry shows and all
// else that the same life has shown under its key: a life goes back nowhere. One that is shown
// again is one too many, and explained for itself.
func (j *Judge) explainEntry(entry int32) (reason string) {
	rec := &j.seen.list[entry].Out
	l := j.plan.of(rec.Op, rec.ID.Part)
	if l.folds != 1 || !j.plan.stages[l.owner].alone {
		return reasonBeyond
	}
	item := j.nodes[j.stepSlot(rec, l.owner)].item
	if item == 0 {
		return "" // it is a stray
	}
	switch j.findBranch(l.owner, j.flow.lists[l.owner][item-1].cell, entry) {
	case model.Violated:
		j.reportEntry(model.NoSubsequence, entry, model.Fact{Times: -1})
	case model.Undecided:
		return reasonBudget
	}
	return ""
}

// explainBranch looks for an explanation of a state.
func (j *Judge) explainBranch(cell int32) (reason string) {
	c := &j.states.cells[cell]
	version := c.final(j.home()).version
	isDoubtful := j.isOpaque(c) || version > 0 && j.claims.list[version-1].repeats
	if !isDoubtful {
		return ""
	}
	if !j.plan.stages[c.op].alone {
		return reasonBeyond
	}
	switch j.findBranch(c.op, cell, -1) {
	case model.Violated:
		if !j.reportFoldedTwice(c.op, cell) {
			j.reportCell(model.NoSubsequence, cell, model.Fact{Times: -1})
		}
	case model.Undecided:
		return reasonBudget
	}
	return ""
}

// findBranch searches for some of the inputs under a key, first in first out on every channel, that
// give the state, or with an entry what it and others of its life show.
func (j *Judge) findBranch(op, cell, entry int32) model.Result {
	f, list := &j.finder, j.flow.lists[op]
	j.open(op, query{skip: true, state: entry < 0})
	for i := j.states.cells[cell].first; i > 0; i = list[i-1].next {
		j.add(i - 1)
	}
	goals := 0
	f.again, f.repeated = 0, 0
	if entry >= 0 {
		goals = j.aim(op, cell, entry)
	}
	f.open(len(list))
	return f.close(j.reaches(cell, goals))
}

// aim makes entries goals of a search: one, and what the same life has shown under its key. It
// returns how many these are.
func (j *Judge) aim(op, cell, entry int32) (goals int) {
	f, list := &j.finder, j.flow.lists[op]
	if j.counted(j.seen.entries[entry].slot) != entry+1 {
		f.again, f.repeated = entry+1, j.nodes[j.stepSlot(&j.seen.list[entry].Out, op)].item
		return 1
	}
	life := j.lifeBehind(op, entry)
	for i := j.states.cells[cell].first; i > 0; i = list[i-1].next {
		for e := list[i-1].shown; e > 0; e = j.seen.entries[e-1].later {
			if e == entry+1 || life != noLife && j.lifeBehind(op, e-1) == life {
				j.seen.entries[e-1].round = f.round
				goals++
			}
		}
	}
	return goals
}

// lifeBehind is the life that took the step of an operator behind an entry, or noLife: the one that
// claims to have emitted it, or what it was made of, last before it was written.
func (j *Judge) lifeBehind(op, entry int32) int32 {
	o := &j.seen.list[entry]
	rec, until := &o.Out, j.askedAt(o)
	for {
		claim := j.emitterBefore(rec, until)
		if claim == 0 {
			return noLife
		}
		app := &j.h.Applications[claim-1]
		if rec.Op == op {
			return j.life(app.Proc, app.Attempt)
		}
		rec, until = &app.In, app.N
	}
}

// askedAt is the event at which somebody asked for what made an entry visible.
func (j *Judge) askedAt(o *model.Observation) int64 {
	n := j.writeOf(o)
	i, isKnown := slices.BinarySearchFunc(j.h.Servings, n,
		func(s model.Serving, n int64) int { return cmp.Compare(s.N, n) })
	if !isKnown {
		return o.N
	}
	return j.h.Calls[j.h.Servings[i].Call].Invoked
}

// emitterBefore is the latest valid claim before an event that emits a record as it is, plus one,
// or 0.
func (j *Judge) emitterBefore(rec *model.Record, n int64) int32 {
	i := j.emitter(rec)
	for i > 0 && j.h.Applications[i-1].N >= n {
		i = j.claims.list[i-1].next
		for i > 0 && !j.emits(i, rec) {
			i = j.claims.list[i-1].next
		}
	}
	return i
}

// reaches reports whether some of what is left in the lanes leads to the goals that are left, and
// to the state if that is asked for.
func (j *Judge) reaches(cell int32, goals int) bool {
	f := &j.finder
	c := &j.states.cells[cell]
	if goals == 0 && (!f.state || c.current == c.final(j.home()).value) {
		return true
	}
	if j.isOver(0) {
		return false
	}
	for lane, first := range f.lanes {
		if first == 0 {
			continue
		}
		it := &j.flow.lists[f.op][first-1]
		f.lanes[lane] = it.lane
		own := j.goalsOf(first)
		if own == 0 && j.reaches(cell, goals) || j.reachesBy(first, cell, goals-own) {
			return true
		}
		f.lanes[lane] = first
	}
	return false
}

// goalsOf is how many goals are of the step on an item, given plus one.
func (j *Judge) goalsOf(item int32) (goals int) {
	if j.finder.repeated == item {
		return 1
	}
	for e := j.flow.lists[j.finder.op][item-1].shown; e > 0; e = j.seen.entries[e-1].later {
		if j.seen.entries[e-1].round == j.finder.round {
			goals++
		}
	}
	return goals
}

// reachesBy reports whether taking an item, in a life that claims to have, shows its own goals and
// leads to the others.
func (j *Judge) reachesBy(item, cell int32, others int) bool {
	f := &j.finder
	it, before := &j.flow.lists[f.op][item-1], j.states.cells[cell].current
	return j.eachNonce(it, func(nonce uint64) bool {
		if !f.pay() {
			return false
		}
		f.made, f.parts = f.made[:0], f.parts[:0]
		after := j.produce(1, it.task, it.rec, before, nonce)
		if !j.showsGoals(item) {
			return false
		}
		f.change(cell, &j.states.cells[cell], after)
		if j.reaches(cell, others) {
			return true
		}
		f.change(cell, &j.states.cells[cell], before)
		return false
	})
}

// showsGoals reports whether what was made includes the goals of an item, as they are.
func (j *Judge) showsGoals(item int32) bool {
	if j.finder.repeated == item {
		return j.isMade(&j.seen.list[j.finder.again-1])
	}
	for e := j.flow.lists[j.finder.op][item-1].shown; e > 0; e = j.seen.entries[e-1].later {
		if j.seen.entries[e-1].round == j.finder.round && !j.isMade(&j.seen.list[e-1]) {
			return false
		}
	}
	return true
}

// isMade reports whether an entry is among what was made.
func (j *Judge) isMade(o *model.Observation) bool {
	f := &j.finder
	for i := range f.made {
		if f.made[i] == o.Out && f.parts[i] == o.Part {
			return true
		}
	}
	return false
}

// eachNonce hands out the nonces with which the step on an item may be taken, until one will do.
func (j *Judge) eachNonce(it *item, use func(nonce uint64) bool) bool {
	op := j.finder.op
	if !j.isRandom(op) {
		return use(0)
	}
	first := j.nodes[j.slot(it.rec.ID, op, it.rec.Path)].claim
	for n := first; n > 0; n = j.claims.list[n-1].next {
		c := &j.claims.list[n-1]
		if !c.aside && !j.isTried(first, n) && use(c.nonce) {
			return true
		}
	}
	return false
}
