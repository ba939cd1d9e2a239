package checker

import "github.com/oncesim/oncesim/model"

// noRevision is NRV: what was shown stays.
func noRevision() Property {
	return Property{
		Name: "no-revision",
		Says: "no identity is ever shown with two values, and nothing that was shown vanishes",
		Source: "Akidau et al., The Dataflow Model, VLDB 2015 (accumulation against retraction); " +
			"jepsen.tests.kafka, inconsistent-offsets",
		Anomalies: []model.AnomalyKind{model.Revised},
		Check: func(j *Judge) (model.Result, string) {
			if j.plan.ambiguous {
				return model.Undecided, reasonAmbiguous
			}
			j.look()
			j.reportTwoValues()
			j.reportVanished()
			return j.conclude("")
		},
	}
}

// reportTwoValues reports each identity that is visible with two values.
func (j *Judge) reportTwoValues() {
	if j.seen.repeats == 0 {
		return
	}
	for i := range j.seen.entries {
		e := &j.seen.entries[i]
		if e.slot == noSlot || j.nodes[e.slot].first == int32(i+1) {
			continue
		}
		first := j.nodes[e.slot].first - 1
		if old, now := &j.seen.list[first].Out, &j.seen.list[i].Out; !isSame(old, now) {
			j.reportRevised(old, now, int32(i), j.seen.list[first].N)
		}
	}
}

func isSame(a, b *model.Record) bool {
	return a.Same(*b) && a.Key == b.Key && a.Value == b.Value
}

func (j *Judge) reportRevised(old, now *model.Record, entry int32, at int64) {
	a := model.Anomaly{Kind: model.Revised, Record: *old,
		Expected: model.Fact{Times: -1, Value: old.Value, HasValue: true},
		Observed: model.Fact{Times: -1, Value: old.Value, HasValue: true}}
	a.Cite(at)
	if now != nil {
		a.Observed.Other, a.Observed.HasOther = now.Value, true
		j.citeEntry(&a, entry)
	} else {
		a.Observed = model.Fact{}
	}
	j.Report(a)
}

// reportVanished reports what readers saw during the run and what is no longer there, or is
// another record, for a reader that starts over. A row of a table by key may move on to another
// identity.
func (j *Judge) reportVanished() {
	if j.s.Shape == model.Keys {
		j.reportReplaced()
		return
	}
	if j.seen.stays {
		return
	}
	j.seen.stays = true
	for i := range j.seen.parts {
		j.seen.parts[i].cursor = j.seen.parts[i].first
	}
	for i := range j.h.Observations {
		o := &j.h.Observations[i]
		at := j.seen.place(o.Part, o.Seq)
		switch {
		case at < 0:
			j.seen.stays = false
			j.reportRevised(&o.Out, nil, 0, o.N)
		case !isSame(&o.Out, &j.seen.list[at].Out):
			j.seen.stays = false
			j.reportRevised(&o.Out, &j.seen.list[at].Out, at, o.N)
		}
	}
}

// reportReplaced reports, of a table by key, identities that were shown with two values and rows
// that are gone.
func (j *Judge) reportReplaced() {
	j.reportTwoValues()
	for _, p := range j.seen.past {
		old := &j.h.Observations[p.seen]
		i := j.nodes[j.shownSlot(&old.Out)].first - 1
		j.reportRevised(&old.Out, &j.seen.list[i].Out, i, old.N)
	}
	for i := range j.seen.rows.list {
		if r := &j.seen.rows.list[i]; j.completed && r.final == 0 {
			last := &j.seen.list[r.last-1]
			j.reportRevised(&last.Out, nil, 0, last.N)
		}
	}
}
