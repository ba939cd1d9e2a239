package oracle

import "github.com/oncesim/oncesim/model"

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
	if len(v.findings) == 0 {
		return
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
	for _, part := range r.shown {
		for i := range part {
			all := r.index[identOf(&part[i].rec)]
			if len(all) > 1 && all[1].n == part[i].n {
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
