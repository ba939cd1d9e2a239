package oracle

import (
	"slices"

	"github.com/oncesim/oncesim/model"
)

// exactlyOnce looks for one legal execution with just these outputs, in this order, and these
// final states. If there is none it collects what is wrong whichever execution is meant.
func (r *run) exactlyOnce(v *verdict) {
	if !r.canRead(v) {
		return
	}
	if !r.canCompare(v) {
		r.refute(v)
		return
	}
	states := r.final
	switch r.search(states, r.fit()) {
	case found:
		if !r.isRevised() {
			return
		}
	case gaveUp:
		v.leave("too many ways to merge what is visible")
		r.refute(v)
		return
	}
	for id, all := range r.index {
		r.contents(v, id, all)
	}
	r.strays(v)
	r.losses(v)
	v.optional = r.isKeyed() && r.o.isChained
	if r.isKeyed() {
		r.goesBack(v)
	} else {
		r.duplicates(v)
	}
	v.optional = v.optional || r.o.shape == model.Log // there it is a duplicate as well
	r.revisions(v)
	v.optional = true
	if r.isKeyed() {
		r.stale(v)
		v.tolerated = append(v.tolerated, model.Regression, model.Loss)
	} else {
		r.reorders(v, false, model.Reorder)
	}
	r.tolerateDoubled(v)
	if r.o.stateful && r.searchStates(states) == nothing {
		r.nameStates(v, states)
	}
	if len(v.findings)+len(v.atEnd) == 0 {
		v.addAtEnd(r.nameless(), model.Record{}, 0)
	}
	v.tolerated = append(v.tolerated, model.WrongValue, model.Reorder)
	if r.o.stateful {
		v.tolerated = append(v.tolerated, model.Divergence)
	}
	if r.legal.varies {
		v.tolerated = append(v.tolerated, model.Loss, model.Phantom)
	}
}

// refute looks, where no execution can be compared, for what none of them shows: what is repeated,
// was revised or is out of order. Another judge may see the violation otherwise.
func (r *run) refute(v *verdict) {
	reason := v.reason
	v.reason = ""
	if !r.isKeyed() {
		r.duplicates(v)
	}
	r.revisions(v)
	r.order(v)
	if len(v.findings)+len(v.atEnd) == 0 {
		v.leave(reason)
	}
	v.isLenient, v.tolerated = true, model.Anomalies()
}

// losses looks for inputs that left no trace, or not the one that every execution leaves. It takes
// both to be sure of a loss: an input that emits nothing leaves none, and a wrong state may be why
// a step emitted nothing. In a table by key an output that is missing may have been superseded,
// unless there is no row that it could be in.
func (r *run) losses(v *verdict) {
	missing := make([]bool, r.o.input.Total())
	for id, isCertain := range r.legal.certain {
		if isCertain && len(r.index[id]) == 0 && !r.mayBeSuperseded(id) {
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

func (r *run) mayBeSuperseded(id ident) bool {
	return r.isKeyed() && slices.ContainsFunc(r.legal.contents[id], func(rec model.Record) bool {
		return r.hasRow(&rec)
	})
}

// isRevised reports whether a row of a table by identity has changed: one that ends as it should is
// not exactly once if it showed something else in between.
func (r *run) isRevised() bool {
	if r.o.shape != model.Rows {
		return false
	}
	for i := range r.tables {
		if len(r.tables[i].feed) > len(r.tables[i].rows) {
			return true
		}
	}
	return false
}

// nameless is the kind of a violation where each output and each state is legal by itself: either
// the outputs are not of one execution, or the states are not of the same.
func (r *run) nameless() model.AnomalyKind {
	if r.search(nil, r.fit()) == found {
		return model.Divergence
	}
	return model.WrongValue
}

// canCompare leaves the verdict open where the legal executions are not known.
func (r *run) canCompare(v *verdict) bool {
	if r.legal.isOpen {
		v.leave("too many legal executions to list")
	}
	return !r.legal.isOpen
}

// contents compares what one identity shows first with what it may show in any execution. In a
// table by key another judge may leave it at the revision that follows.
func (r *run) contents(v *verdict, id ident, all []visible) {
	switch may := r.legal.contents[id]; {
	case len(may) == 0:
		// A step emitted it, but on a wrong state or by another choice.
		v.optional = all[0].flaw != fabricated || r.o.isRandom
		v.add(model.Phantom, all[0].rec, all[0].n)
		v.optional = false
	case !contains(may, &all[0].rec):
		// Of a run that was cut off another judge may not know the steps to come.
		isCut := r.end != model.Quiescent
		v.optional = r.o.isChained || r.o.isRandom || r.isKeyed() || isCut
		v.add(model.WrongValue, all[0].rec, all[0].n)
		v.optional = false
	}
}

// strays looks for what no execution shows in the partition that it is in, though it may elsewhere.
func (r *run) strays(v *verdict) {
	v.optional = r.o.isChained || r.o.isRandom || r.isKeyed()
	for part, list := range r.shown {
		for i := range list {
			may := r.legal.places[identOf(&list[i].rec)]
			if len(may) > 0 && !slices.Contains(may, int32(part)) {
				v.add(model.Phantom, list[i].rec, list[i].n)
			}
		}
	}
	v.optional = false
}

func contains(list []model.Record, rec *model.Record) bool {
	for i := range list {
		if list[i] == *rec {
			return true
		}
	}
	return false
}
