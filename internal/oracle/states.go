package oracle

import (
	"slices"

	"github.com/oncesim/oncesim/model"
)

// record is the identity under which a step is reported.
func (s step) record(at slot) model.Record {
	return model.Record{ID: model.ID{Part: s.part, Offset: s.offset}, Path: s.path, Op: at.op,
		Key: at.key}
}

// isStateful reports whether an operator keeps state.
func (o *Oracle) isStateful(op int32) bool {
	return o.job.Topology.Stages[op-1].Operator.Kind != model.Stateless
}

// leaves reports whether the final state of a group is that of an outcome.
func (r *run) leaves(g *group, o *outcome, states map[slot]*version) bool {
	if !r.o.isStateful(g.slot.op) {
		return true
	}
	return valueOf(states[g.slot]) == o.state // no state is an empty one
}

// hasStrangers reports whether there is a state that an execution does not have.
func (r *run) hasStrangers(x *execution, states map[slot]*version) bool {
	n := 0
	for i := range x.groups {
		if _, ok := states[x.groups[i].slot]; ok && r.o.isStateful(x.groups[i].slot.op) {
			n++
		}
	}
	return n < len(states)
}

// exactlyOnceState compares the final states, and those of every completed checkpoint, with those
// of the legal executions. A cut that is wrong is wrong even if the end of the run is too much to
// judge.
//
// Where one state is fed from another, a judge without lineage may be sure of a cut and not of the
// end, or the other way round.
func (r *run) exactlyOnceState(v *verdict) {
	r.compareStates(v, r.final)
	isEnd := len(v.findings)+len(v.atEnd) > 0
	before := len(v.findings)
	r.consistentCuts(v)
	if len(v.findings) == before {
		return
	}
	if v.reason != "" {
		v.reason = ""
		v.tolerated = append(v.tolerated, model.StateLoss, model.StateDuplicate, model.WrongState)
	}
	v.isLenient = r.o.isChained && isEnd
}

// effectivelyOnce compares the final states with the legal executions, and the rows of a table by
// key with them.
func (r *run) effectivelyOnce(v *verdict) {
	r.compareStates(v, r.final)
	if r.isKeyed() {
		r.compareRows(v, r.final)
	}
}

func (r *run) compareStates(v *verdict, states map[slot]*version) {
	if !r.o.stateful || !r.canRead(v) || !r.canCompare(v) {
		return
	}
	switch r.searchStates(states) {
	case nothing:
		r.nameStates(v, states)
	case gaveUp:
		v.leave("too many ways to merge what a task reads")
	}
}

// searchStates looks for a legal execution that has the states.
func (r *run) searchStates(states map[slot]*version) answer {
	left := triesMax
	for i := range r.legal.executions {
		x := &r.legal.executions[i]
		if !x.isGuess && r.gives(x, r.possible, states, &left) {
			return found
		}
	}
	if left < 0 {
		return gaveUp
	}
	return nothing
}

// nameStates says what is wrong with states that no legal execution has: by the one that comes
// nearest, key by key, or else that the keys have no order in common.
func (r *run) nameStates(v *verdict, states map[slot]*version) {
	var nearest *execution
	var fewest int
	for i := range r.legal.executions {
		x := &r.legal.executions[i]
		if n := len(r.misfits(x, states)); nearest == nil || n < fewest {
			nearest, fewest = x, n
		}
	}
	r.tolerateDoubled(v)
	wasOptional, before := v.optional, len(v.atEnd)
	r.untaken(v, nearest)
	misfits := r.misfits(nearest, states)
	for _, g := range misfits {
		v.optional = wasOptional || nearest.isGuess || r.isBelow(g, misfits)
		r.explain(v, g, states[g.slot])
	}
	v.optional = wasOptional
	if r.hasStrangers(nearest, states) || len(v.atEnd) == before {
		v.addAtEnd(model.WrongState, model.Record{}, 0)
	}
}

// tolerateDoubled lets another judge name what a state behind another one holds twice, though its
// value is right: values behind a chain of states he may not know.
func (r *run) tolerateDoubled(v *verdict) {
	for at, state := range r.final {
		if state != nil && state.again != nil && r.o.isFed(at.op) {
			v.tolerated = append(v.tolerated, model.StateDuplicate)
			return
		}
	}
}

// untaken names the inputs of an execution of which nobody knows what their steps would have
// decided: they are in no state.
func (r *run) untaken(v *verdict, x *execution) {
	for i := range x.groups {
		g := &x.groups[i]
		operator := r.o.job.Topology.Stages[g.slot.op-1].Operator
		for j := range g.inputs {
			if r.possible.isGuess(operator, &g.inputs[j], g.slot.op) {
				v.addAtEnd(model.StateLoss, stepOf(&g.inputs[j]).record(g.slot), 0)
			}
		}
	}
}

// misfits lists the groups of an execution whose final state is that of no outcome.
func (r *run) misfits(x *execution, states map[slot]*version) []*group {
	var list []*group
	for i := range x.groups {
		g := &x.groups[i]
		ok := false
		for j := range g.outcomes {
			ok = ok || r.leaves(g, &g.outcomes[j], states)
		}
		if !ok {
			list = append(list, g)
		}
	}
	return list
}

// isBelow reports whether a group reads, perhaps indirectly, from a stage with a misfit: what is
// wrong there can be why this is wrong too.
func (r *run) isBelow(g *group, misfits []*group) bool {
	return slices.ContainsFunc(misfits, func(m *group) bool {
		return r.o.above[g.slot.op-1][m.slot.op-1]
	})
}

// ancestors says of each stage from which others it reads, perhaps indirectly.
func ancestors(t *model.Topology) [][]bool {
	above := make([][]bool, len(t.Stages))
	for i := range t.Stages {
		above[i] = make([]bool, len(t.Stages))
		for j := range i { // a stage reads from earlier ones
			if slices.Contains(t.Stages[i].From, t.Stages[j].Name) {
				above[i][j] = true
				for k := range j {
					above[i][k] = above[i][k] || above[j][k]
				}
			}
		}
	}
	return above
}

// hasChain reports whether an operator keeps state and so does one above it. Values behind a chain
// of states are more than a judge without lineage can be asked to explain.
func (o *Oracle) hasChain() bool {
	for below := range o.above {
		if op := int32(below) + 1; o.isStateful(op) && o.isFed(op) {
			return true
		}
	}
	return false
}

// isFed reports whether an operator above another one keeps state.
func (o *Oracle) isFed(op int32) bool {
	for stage, isAbove := range o.above[op-1] {
		if isAbove && o.isStateful(int32(stage)+1) {
			return true
		}
	}
	return false
}

// explain says by the chain of a state why it is wrong.
func (r *run) explain(v *verdict, g *group, state *version) {
	chain := state.chain()
	isExplained := false
	for i := range g.inputs {
		in, n := stepOf(&g.inputs[i]), 0
		for _, s := range chain {
			if s == in {
				n++
			}
		}
		switch {
		case n == 0:
			v.addAtEnd(model.StateLoss, in.record(g.slot), 0)
		case n > 1:
			v.addAtEnd(model.StateDuplicate, in.record(g.slot), 0)
		default:
			continue
		}
		isExplained = true
	}
	if !isExplained {
		v.addAtEnd(model.WrongState, model.Record{Op: g.slot.op, Key: g.slot.key}, 0)
	}
}
