package oracle

import "github.com/oncesim/oncesim/model"

// atMostOnce looks for what is there too often, or should not be there at all. A showing beyond
// the first is one too many, whatever it says.
func (r *run) atMostOnce(v *verdict) {
	if !r.canRead(v) {
		return
	}
	r.duplicates(v)
	r.fabrications(v, model.NoSubsequence)
	isOpen := false
	for _, f := range r.folds() {
		isOpen = r.explainFold(v, f) || isOpen
		if f.isDoubled() {
			v.tolerated = append(v.tolerated, model.StateDuplicate)
		}
	}
	if isOpen && len(v.findings)+len(v.atEnd) == 0 {
		v.leave("too many selections of inputs to try")
	}
	v.tolerated = append(v.tolerated, model.NoSubsequence)
}

// explainFold asks whether a fold took each input at most once, or looks as if it had: whether some
// selection gives what is visible and the state that it left. If there is none, either the state
// holds an input twice, or what is visible is not explained: by no selection, or by none that
// leaves this state.
func (r *run) explainFold(v *verdict, f *fold) (isOpen bool) {
	if f.isFinal && f.final != nil && f.final.flaw != sound {
		v.add(anomalyOf(f.final.flaw, model.NoSubsequence),
			model.Record{Op: f.at.op, Key: f.at.key}, 0)
		return false
	}
	switch r.selects(f, f.isFinal) {
	case found:
		return false
	case gaveUp:
		return true
	}
	// What overwrites another, a choice or a row, may hide that it was taken twice.
	v.optional = r.o.isRandom || r.isKeyed()
	if f.isDoubled() {
		v.addAtEnd(model.StateDuplicate, stepOf(&f.final.again.in).record(f.at), 0)
	}
	// A judge without lineage may not know what to try, or which of what came and went to explain.
	v.optional = r.o.isChained || r.o.isRandom || r.isKeyed()
	switch {
	case r.selects(f, false) == nothing:
		v.add(model.NoSubsequence, f.culprit(), 0)
	case !f.isDoubled():
		v.addAtEnd(model.NoSubsequence, f.culprit(), 0)
	}
	v.optional = false
	return false
}

// isDoubled reports whether a final state holds an input twice. It may look right all the same, as
// a maximum does.
func (f *fold) isDoubled() bool { return f.isFinal && f.final != nil && f.final.again != nil }

// culprit is the record under which a fold without explanation is reported.
func (f *fold) culprit() model.Record {
	if len(f.shown) > 0 {
		return f.shown[0].rec
	}
	return model.Record{Op: f.at.op, Key: f.at.key}
}
