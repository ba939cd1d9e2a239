package oracle

import "github.com/oncesim/oncesim/model"

// exactlyOnce looks for one legal execution with just these outputs, in this order, and these
// final states. If there is none it collects what is wrong whichever execution is meant.
func (r *run) exactlyOnce(v *verdict) {
	if !r.canFollow(v) || !r.canCompare(v) {
		return
	}
	states := r.finals()
	switch r.search(states) {
	case found:
		return
	case gaveUp:
		v.leave("too many ways to merge what is visible")
		return
	}
	r.duplicates(v)
	for id, all := range r.index {
		r.contents(v, id, all)
	}
	r.losses(v)
	v.optional = true
	r.revisions(v)
	r.reorders(v, false)
	r.compareStates(v, states)
	if len(v.findings)+len(v.atEnd) == 0 {
		v.addAtEnd(r.nameless(), model.Record{}, 0)
	}
	v.tolerated = append(v.tolerated, model.WrongValue, model.Reorder)
	if r.o.stateful {
		v.tolerated = append(v.tolerated, model.Divergence)
	}
	if r.o.legal.varies {
		v.tolerated = append(v.tolerated, model.Loss, model.Phantom)
	}
}

// losses looks for inputs that left no trace, or not the one that every execution leaves. It takes
// both to be sure of a loss: an input that emits nothing leaves none, and a wrong state may be why
// a step emitted nothing.
func (r *run) losses(v *verdict) {
	missing := make([]bool, len(r.handed))
	for id, isCertain := range r.o.legal.certain {
		if isCertain && len(r.index[id]) == 0 {
			missing[r.o.input.Index(model.ID{Part: id.part, Offset: id.offset})] = true
		}
	}
	for i, isMissing := range missing {
		if isLost := r.isLost(i); isLost || isMissing {
			v.optional = !(isLost && isMissing)
			v.addAtEnd(model.Loss, *r.o.input.ByIndex(i), 0)
		}
	}
	v.optional = false
}

// nameless is the kind of a violation where each output and each state is legal by itself: either
// the outputs are not of one execution, or the states are not of the same.
func (r *run) nameless() model.AnomalyKind {
	if r.search(nil) == found {
		return model.Divergence
	}
	return model.WrongValue
}

// canCompare leaves the verdict open where the legal executions are not known.
func (r *run) canCompare(v *verdict) bool {
	if r.o.legal.isOpen {
		v.leave("too many legal executions to list")
	}
	return !r.o.legal.isOpen
}

// contents compares what one identity shows first with what it may show in any execution.
func (r *run) contents(v *verdict, id ident, all []visible) {
	switch may := r.o.legal.contents[id]; {
	case len(may) == 0:
		v.optional = all[0].flaw != fabricated // a step emitted it, but on a wrong state
		v.add(model.Phantom, all[0].rec, all[0].n)
		v.optional = false
	case !contains(may, &all[0].rec):
		v.optional = r.o.isChained
		v.add(model.WrongValue, all[0].rec, all[0].n)
		v.optional = false
	}
}

func contains(list []model.Record, rec *model.Record) bool {
	for i := range list {
		if list[i] == *rec {
			return true
		}
	}
	return false
}
