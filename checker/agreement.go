package checker

import "github.com/oncesim/oncesim/model"

// agreement is atomic commit: participants decide alike.
func agreement() Property {
	return Property{
		Name: "agreement",
		Says: "of the transactions of one checkpoint none is committed if another is aborted, by " +
			"whoever it was: a participant, its successor, or time",
		Source:    "Gray and Lamport, Consensus on Transaction Commit, TODS 2006 (TCConsistent)",
		Anomalies: []model.AnomalyKind{model.Conflict},
		Check:     checkAgreement,
	}
}

func checkAgreement(j *Judge) (model.Result, string) {
	list := j.transact().listed
	for i := range list {
		g := &list[i]
		yes, no := &g.committed, &g.aborted
		if yes.times == 0 || no.times == 0 {
			continue
		}
		a := model.Anomaly{Kind: model.Conflict, Record: ofCheckpoint(g.checkpoint),
			Expected: model.Fact{Times: int64(g.members)},
			Observed: model.Fact{Times: int64(yes.times)}} // so many of them are committed
		a.Cite(yes.event)
		a.Cite(no.event)
		j.Report(a)
	}
	return j.conclude("")
}
