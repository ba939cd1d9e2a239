package checker

import "github.com/oncesim/oncesim/model"

// exactlyOnceState is XS: state as if nothing had failed.
func exactlyOnceState() Property {
	return Property{
		Name: "exactly-once-state",
		Says: "the keyed state in the end is that of one failure-free execution: each input " +
			"folded in once, first in first out on every channel; where the mode keeps state in " +
			"memory, the state of the last life of each task counts; where it keeps it in " +
			"checkpoints, each completed one is that of an execution of the inputs before its cut",
		Source: "Carbone et al., Lightweight Asynchronous Snapshots for Distributed Dataflows, " +
			"2015; Carbone et al., State Management in Apache Flink, VLDB 2017",
		Anomalies: []model.AnomalyKind{model.StateLoss, model.WrongState, model.StateDuplicate,
			model.InconsistentCut},
		Check: checkExactlyOnceState,
	}
}

func checkExactlyOnceState(j *Judge) (model.Result, string) {
	result, reason := j.judgeState(j.home())
	if j.s.Mode.State != model.Snapshotted || !j.plan.stateful || j.plan.ambiguous {
		return result, reason
	}
	j.replay()
	reason = max(reason, j.judgeCuts())
	if result == model.Violated || j.Reported() > 0 {
		return model.Violated, reason // of a cut that is open nothing is listed
	}
	return j.conclude(reason)
}

// judgeState judges the final state by its value, and names what is wrong by its provenance.
func (j *Judge) judgeState(from source) (model.Result, string) {
	switch {
	case !j.plan.stateful:
		return model.Holds, ""
	case j.plan.ambiguous:
		return model.Undecided, reasonAmbiguous
	case !j.completed:
		return model.Undecided, j.unfinished()
	}
	if f := j.fold(from); f.state {
		return j.joint(model.Holds, "", 0)
	}
	reason := ""
	for op := int32(1); op <= j.plan.ops; op++ {
		switch {
		case !j.plan.stages[op].stateful:
		case !j.plan.stages[op].alone:
			reason = reasonBeyond
		default:
			reason = max(reason, j.judgeStates(op))
		}
	}
	j.nameBeyond()
	if reason != "" || j.Reported() > 0 {
		return j.conclude(reason)
	}
	result, reason := j.together(query{state: true})
	return j.joint(result, reason, 0)
}

// judgeStates judges the states of an operator, key by key. It returns a reason where the budget
// did not suffice.
func (j *Judge) judgeStates(op int32) (reason string) {
	j.group(op)
	for i := range j.states.cells {
		if j.states.cells[i].op != op || j.reportUnknownKey(model.WrongState, int32(i)) {
			continue
		}
		switch j.judgeCell(op, int32(i)) {
		case model.Violated:
			j.nameState(op, int32(i))
		case model.Undecided:
			reason = reasonBudget
		}
	}
	return reason
}

// judgeCell searches for an order of the inputs under a key that gives its state.
//
// The value decides, also where the provenance says that an input is missing or repeated: a maximum
// folded twice is no worse. A search that spends its budget decides nothing.
func (j *Judge) judgeCell(op, cell int32) model.Result {
	c := &j.states.cells[cell]
	if c.judged {
		return c.result
	}
	c.judged, c.witnessed = true, j.isWitnessed(op, cell)
	if c.witnessed {
		c.result = model.Holds
		return c.result
	}
	c.result = j.findCell(op, cell, query{state: true})
	c.expected = j.finder.deepest.fact()
	return c.result
}

// nameState reports what is wrong with the state under a key that no legal order gives: what the
// provenance says, unless it leads to a value that no step made.
func (j *Judge) nameState(op, cell int32) {
	c := &j.states.cells[cell]
	if !c.alien {
		lost := j.reportNotFolded(op, cell)
		if twice := j.reportFoldedTwice(op, cell); lost || twice {
			return
		}
	}
	j.reportCell(model.WrongState, cell, c.expected)
}
