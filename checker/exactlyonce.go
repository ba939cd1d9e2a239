package checker

import "github.com/oncesim/oncesim/model"

// exactlyOnce is XO: output end to end as if nothing had failed.
func exactlyOnce() Property {
	return Property{
		Name: "exactly-once",
		Says: "there is one failure-free execution such that what a reader sees is always a " +
			"prefix of its output in each partition, in the end all of it, and the final state " +
			"is its too",
		Source: "Veresov et al., Failure Transparency in Stateful Dataflow Systems, ECOOP 2024 " +
			"(observational explainability)",
		Anomalies: []model.AnomalyKind{model.Loss, model.StateLoss, model.Phantom,
			model.WrongValue, model.WrongState, model.Divergence, model.Duplicate,
			model.StateDuplicate, model.Revised, model.Reorder, model.Regression},
		Check: checkExactlyOnce,
	}
}

func checkExactlyOnce(j *Judge) (model.Result, string) {
	if j.plan.ambiguous {
		return model.Undecided, reasonAmbiguous
	}
	result, reason := j.explainAll()
	if result == model.Undecided {
		return j.refute(reason)
	}
	return result, reason
}

// refute looks, where no search has an answer, for what no execution can show: something out of
// order. What is repeated, or was revised, has been reported. A loss proves nothing: an input may
// be dropped, and in another order another one. A violation keeps the reason: there may be more.
func (j *Judge) refute(reason string) (model.Result, string) {
	checkOrder(j)
	result, _ := j.conclude(reason)
	return result, reason
}

// explainAll explains what is visible and the state, and the order in which all tasks merge.
func (j *Judge) explainAll() (model.Result, string) {
	result, reason := j.explainOutput()
	if result != model.Holds || !j.completed {
		return result, reason
	}
	if entry := j.shownTangled(); entry > 0 {
		j.reportEntry(j.backward(), entry-1, model.Fact{Times: -1})
		return j.conclude("")
	}
	if !j.plan.stateful {
		return result, reason // nothing depends on a witness
	}
	return j.joint(result, reason, asShown)
}

// explainOutput explains what is visible and the state, but for the order in which operators
// without state merge channels. If it does, so does the flow.
func (j *Judge) explainOutput() (model.Result, string) {
	j.look()
	j.reportFakes()
	j.reportRepeats()
	j.reportVanished()
	f := j.fold(j.home())
	if f.visible && f.state && j.completed {
		return j.conclude("")
	}
	j.consider(false)
	j.reportPure(model.WrongValue)
	if !j.completed {
		for op := int32(1); op <= j.plan.ops; op++ {
			if j.plan.stages[op].stateful && j.plan.stages[op].alone {
				j.group(op)
			}
		}
		j.reportSwaps()
		return j.conclude(j.unfinished())
	}
	j.reportLostPure()
	j.reportStalePure()
	if j.plan.beyond {
		j.coverAll()
	}
	q := query{outputs: exactly, ordered: true, state: true}
	reason := j.explainStages(q)
	j.reportSwaps()
	j.nameBeyond()
	j.nameLostBeyond()
	if reason == "" && j.Reported() == 0 && !j.plan.stateful {
		j.reportKnot(model.Regression)
	}
	if reason != "" || j.Reported() > 0 {
		return j.conclude(reason)
	}
	return j.together(q)
}

// explainStages explains the operators with state, key by key.
func (j *Judge) explainStages(q query) (reason string) {
	for op := int32(1); op <= j.plan.ops; op++ {
		switch {
		case !j.plan.stages[op].stateful:
		case !j.plan.stages[op].alone:
			reason = reasonBeyond
		default:
			j.group(op)
			j.reportStray(op)
			reason = max(reason, j.explainCells(op, q))
		}
	}
	return reason
}

// nameLostBeyond adds to a violation the inputs that no claims cover and whose way leads through
// operators that are beyond the search. What they cover has been marked.
func (j *Judge) nameLostBeyond() {
	if j.Reported() == 0 || !j.plan.beyond {
		return
	}
	for i := range j.s.Input.Total() {
		if rec := j.s.Input.ByIndex(i); !j.isReached(rec) {
			j.reportLoss(rec)
		}
	}
}

// explainCells searches for an explanation of each key of an operator. It returns a reason where
// the budget did not suffice.
func (j *Judge) explainCells(op int32, q query) (reason string) {
	for i := range j.states.cells {
		if j.states.cells[i].op != op || j.reportUnknownKey(model.WrongState, int32(i)) {
			continue
		}
		if j.judgeCell(op, int32(i)) == model.Violated {
			j.nameOutput(op, int32(i)) // no execution gives the state, be the output as it may
			continue
		}
		if j.isExplained(op, int32(i)) {
			continue
		}
		switch j.findCell(op, int32(i), q) {
		case model.Violated:
			j.nameOutput(op, int32(i))
		case model.Undecided:
			reason = reasonBudget
		}
	}
	return reason
}

// isExplained reports whether the claims explain the state under a key and all that is visible of
// its inputs.
func (j *Judge) isExplained(op, cell int32) bool {
	return j.states.cells[cell].witnessed && j.plan.stages[op].terminal &&
		j.s.Shape != model.Keys && j.isShownAsClaimed(op, cell)
}

// nameOutput reports what is wrong with the outputs and the state under a key that no one order
// explains: inputs of which nothing came; what no order gives; a value that is wrong whatever was
// lost; else where the search for the outputs got stuck; else a state that is wrong by itself; else
// a divergence.
func (j *Judge) nameOutput(op, cell int32) {
	before := j.Reported()
	j.reportUncovered(op, cell)
	j.nameValues(op, cell)
	if j.findCell(op, cell, query{outputs: subset}) == model.Violated {
		if f := j.finder.deepest; f.why == differs {
			j.reportEntry(model.WrongValue, f.entry, f.fact())
		}
	}
	if j.Reported() > before {
		return
	}
	outputs := j.findCell(op, cell, query{outputs: exactly, ordered: true})
	switch {
	case outputs == model.Violated:
		j.nameJoint(op)
	case j.judgeCell(op, cell) == model.Violated:
		j.nameState(op, cell)
	default:
		j.reportCell(model.Divergence, cell, model.Fact{Times: -1})
	}
}

// reportUncovered reports the inputs under a key of which something is missing by all claims.
func (j *Judge) reportUncovered(op, cell int32) {
	list := j.flow.lists[op]
	for i := j.states.cells[cell].first; i > 0; i = list[i-1].next {
		if it := &list[i-1]; !j.isShown(op, it) {
			j.reportLoss(j.s.Input.At(it.rec.ID))
		}
	}
}

// isShown reports whether all that comes of some claim of a step is visible, or was taken up by
// steps of which nothing more was to come. A step without claims is judged by whether anything that
// came of it is, and so is what operators with state took up. Values do not matter here.
func (j *Judge) isShown(op int32, it *item) bool {
	step := j.slot(it.rec.ID, op, it.rec.Path)
	claim, passed := j.nodes[step].claim, j.nodes[step].passed
	for ; claim > 0; claim = j.claims.list[claim-1].next {
		c := &j.claims.list[claim-1]
		if c.aside {
			continue
		}
		isTakenUp := j.plan.beyond && c.covered
		if c.outs == 0 || isTakenUp || j.comes(op, c, claim) && (passed || j.isAhead(op)) {
			return true
		}
	}
	return j.nodes[step].claim == 0 && passed
}

// comes reports whether all that operators without state make of a claim's outputs is visible.
func (j *Judge) comes(op int32, c *claim, claim int32) bool {
	state := model.Value{}
	if c.base > 0 {
		state = j.claims.list[c.base-1].value
	}
	app := &j.h.Applications[claim-1]
	j.finder.made, j.finder.parts = j.finder.made[:0], j.finder.parts[:0]
	j.produce(1, int32(app.Proc), &app.In, state, c.nonce)
	for i := range j.finder.made {
		m := &j.finder.made[i]
		if j.nodes[j.slot(m.ID, m.Op, m.Path)].times == 0 &&
			!j.isSuperseded(j.finder.parts[i], m) {
			return false
		}
	}
	return true
}

// isAhead reports whether no operator with state comes after op.
func (j *Judge) isAhead(op int32) bool {
	for _, next := range j.plan.stages[op].next {
		if j.plan.stages[next].stateful || !j.isAhead(next) {
			return false
		}
	}
	return true
}

// reportPure reports what is visible, by operators without state on their whole way, and is not
// what they emit. Their outputs do not depend on any order. The right value under another key or
// in another partition is a phantom there.
func (j *Judge) reportPure(kind model.AnomalyKind) {
	for _, m := range j.flow.wrong {
		if m.expected == j.seen.list[m.entry].Out.Value {
			j.reportEntry(model.Phantom, m.entry, model.Fact{})
			continue
		}
		j.reportEntry(kind, m.entry, model.Fact{Times: -1, Value: m.expected, HasValue: true})
	}
	for i := range j.seen.entries {
		e, rec := &j.seen.entries[i], &j.seen.list[i].Out
		if e.slot != noSlot && !j.nodes[e.slot].expected &&
			j.plan.of(rec.Op, rec.ID.Part).owner == 0 {
			j.reportEntry(model.Phantom, int32(i), model.Fact{})
		}
	}
}

// reportLostPure reports inputs of which something is missing that no order could have left out.
func (j *Judge) reportLostPure() {
	for _, id := range j.flow.lost {
		j.reportLoss(j.s.Input.At(id))
	}
}

// reportSwaps reports what was shown after something that came later on the same channel.
func (j *Judge) reportSwaps() {
	if j.s.Shape == model.Keys {
		j.reportRowSwaps()
		return
	}
	for i := range j.flow.chans {
		j.flow.chans[i].entry = 0
	}
	for i := range j.seen.entries {
		e := &j.seen.entries[i]
		if e.chann == 0 {
			continue
		}
		ch := &j.flow.chans[e.chann-1]
		if ch.entry > 0 && j.isLate(e, int32(i), ch.entry-1) {
			j.reportEntry(model.Reorder, int32(i), model.Fact{Times: -1})
			continue
		}
		ch.entry = int32(i + 1)
	}
}

// isLate reports whether entry i goes before another one of its channel.
func (j *Judge) isLate(e *entry, i, other int32) bool {
	o := &j.seen.entries[other]
	return e.rank < o.rank ||
		e.rank == o.rank && j.seen.list[i].Out.Path < j.seen.list[other].Out.Path
}

// reportStray reports what is visible of steps of an operator on records that never reach it, and
// what is in another partition than its task writes to.
func (j *Judge) reportStray(op int32) {
	if j.finder.strays&(1<<op) == 0 {
		return
	}
	for i := range j.seen.entries {
		e, rec := &j.seen.entries[i], &j.seen.list[i].Out
		if e.slot != noSlot && j.isOwn(op, rec) &&
			j.isStray(op, int32(i), j.nodes[j.stepSlot(rec, op)].item) {
			j.reportEntry(model.Phantom, int32(i), model.Fact{})
		}
	}
}

// isStray reports whether an entry is of no item of the operator, or in another partition than the
// task of the item writes to.
func (j *Judge) isStray(op, entry, item int32) bool {
	o := &j.seen.list[entry]
	return item == 0 ||
		o.Out.Op == op && o.Part != j.plan.sinks[j.flow.lists[op][item-1].task]
}
