package checker

import "github.com/oncesim/oncesim/model"

// globalVisibility is AV, by checkpoint: what is written under one is visible everywhere at once.
func globalVisibility() Property {
	return Property{
		Name: "global-visibility",
		Says: "of all transactions and batches of one checkpoint, in all partitions of the sink, " +
			"a reader always sees all writes or none",
		Source: "Peter Bailis et al., Scalable Atomic Visibility with RAMP Transactions, " +
			"SIGMOD 2014 (fractured reads)",
		Anomalies: []model.AnomalyKind{model.Torn, model.FracturedRead},
		Check:     checkGlobalVisibility,
	}
}

func checkGlobalVisibility(j *Judge) (model.Result, string) {
	list := j.transact().listed
	for i := range list {
		g := &list[i]
		if g.committed.times > 0 && g.isTorn() {
			n := int32(i)
			j.reportTorn(model.FracturedRead, &g.sight, g.committed.event,
				func(t *transaction) bool { return t.group == n })
		}
	}
	return j.conclude("")
}
