package oracle

import (
	"slices"

	"github.com/oncesim/oncesim/model"
)

// replayExplained looks for outputs and states that no step taken gives.
func (r *run) replayExplained(v *verdict) {
	if !r.canRead(v) {
		return
	}
	r.fabrications(v, model.Unexplained)
	for _, p := range r.puts {
		if p.v.flaw != sound {
			v.add(anomalyOf(p.v.flaw, model.Unexplained), r.entry(p.n).Msg.Record, p.n)
		}
	}
	for i := range r.kept {
		if k := &r.kept[i]; k.v.flaw != sound {
			v.add(anomalyOf(k.v.flaw, model.Unexplained), k.rec, k.n)
		}
	}
	if len(v.findings) == 0 {
		return
	}
	if slices.ContainsFunc(r.apps, func(a *application) bool { return a.isAstray }) {
		// What comes of a step that has no right to its input is a phantom to another judge, who
		// does not count the step.
		v.isLenient, v.tolerated = true, []model.AnomalyKind{model.Phantom, model.Unexplained}
	}
	for _, l := range r.lives {
		if l.isReplaced {
			v.leave("steps of a replaced life interleave with those of its successor")
		}
	}
}

// duplicates looks for identities that are visible more than once.
func (r *run) duplicates(v *verdict) {
	if r.isKeyed() {
		r.comebacks(v)
		return
	}
	times := map[ident]int{}
	for _, part := range r.shown {
		for i := range part {
			id := identOf(&part[i].rec)
			if times[id]++; times[id] == 2 {
				v.add(model.Duplicate, part[i].rec, part[i].n)
			}
		}
	}
}

// fabrications looks for visible entries with a flaw in their lineage; kind is that of a value that
// its steps do not give.
func (r *run) fabrications(v *verdict, kind model.AnomalyKind) {
	for _, part := range r.shown {
		for i := range part {
			if part[i].flaw != sound {
				v.add(anomalyOf(part[i].flaw, kind), part[i].rec, part[i].n)
			}
		}
	}
}

func anomalyOf(f flaw, kind model.AnomalyKind) model.AnomalyKind {
	if f == fabricated {
		return model.Phantom
	}
	return kind
}
