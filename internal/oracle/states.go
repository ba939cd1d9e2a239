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
	if !r.o.stateful {
		return
	}
	if !r.canRead(v) || !r.canCompare(v) {
		return
	}
	var nearest *execution
	var fewest int
	for i := range r.legal.executions {
		x := &r.legal.executions[i]
		n := len(r.misfits(x, states))
		if n == 0 && !x.isGuess && !r.hasStrangers(x, states) {
			return
		}
		if nearest == nil || n < fewest {
			nearest, fewest = x, n
		}
	}
	wasOptional := v.optional
	r.untaken(v, nearest)
	misfits := r.misfits(nearest, states)
	for _, g := range misfits {
		v.optional = wasOptional || nearest.isGuess || r.isBelow(g, misfits)
		r.explain(v, g, states[g.slot])
	}
	v.optional = wasOptional
	if r.hasStrangers(nearest, states) {
		v.addAtEnd(model.WrongState, model.Record{}, 0)
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
	for below, above := range o.above {
		for stage, isAbove := range above {
			if isAbove && o.isStateful(int32(below)+1) && o.isStateful(int32(stage)+1) {
				return true
			}
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
