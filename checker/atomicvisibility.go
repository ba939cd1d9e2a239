package checker

import "github.com/oncesim/oncesim/model"

// atomicVisibility is AV, by transaction: readers see all of it or nothing.
func atomicVisibility() Property {
	return Property{
		Name: "atomic-visibility",
		Says: "of each transaction, and each batch, a reader always sees all writes or none, and " +
			"none of one that is undecided or aborted",
		Source: "Adya, Liskov and O'Neil, Generalized Isolation Level Definitions, ICDE 2000 " +
			"(G1a, G1b); docs of Apache Kafka, isolation.level",
		Anomalies: []model.AnomalyKind{model.Torn, model.DirtyRead, model.EarlyRead,
			model.TornRead},
		Check: checkAtomicVisibility,
	}
}

func checkAtomicVisibility(j *Judge) (model.Result, string) {
	t := j.transact()
	for i := range t.writes {
		e := &t.writes[i]
		txn := &t.list[e.of]
		if e.seen == 0 {
			continue
		}
		if txn.isUndecidedAt(e) {
			j.reportRead(model.EarlyRead, txn, e)
		}
		if txn.fate == aborted {
			j.reportRead(model.DirtyRead, txn, e)
		}
	}
	for i := range t.list {
		txn := &t.list[i]
		if txn.fate == committed && txn.isTorn() {
			j.reportTorn(model.TornRead, &txn.sight, txn.decided,
				func(t *transaction) bool { return t == txn })
		}
	}
	return j.conclude("")
}

// isUndecidedAt reports whether a transaction was undecided when a write was seen. What nobody
// decides is so until its deadline.
func (t *transaction) isUndecidedAt(e *effect) bool {
	if t.decided > 0 {
		return e.seen < t.decided
	}
	return e.at <= t.deadline
}

// reportRead reports that a reader saw what it should not, or not yet.
func (j *Judge) reportRead(kind model.AnomalyKind, txn *transaction, e *effect) {
	w := &j.survey.writes[e.made]
	rec := j.wrote(w)
	a := model.Anomaly{Kind: kind, Record: *rec, Expected: model.Fact{Times: 0},
		Observed: model.Fact{Times: 1, Value: rec.Value, HasValue: true}}
	a.Cite(j.h.Servings[w.serving].N)
	a.Cite(e.seen)
	a.Cite(txn.decided)
	j.Report(a)
}
