package checker

import "github.com/oncesim/oncesim/model"

// agreement is atomic commit: participants decide alike, and none of them by itself. Bernstein et
// al. call these AC1 and AC3. What has no checkpoint is not looked at, such as rows that are
// written one by one.
func agreement() Property {
	return Property{
		Name: "agreement",
		Says: "of the transactions of one checkpoint none is committed if another is aborted, by " +
			"whoever it was: a participant, its successor, or time; and none is committed before " +
			"that is decided, which is when the checkpoint, or a later one, is completed, or the " +
			"batch is planned",
		Source: "Gray and Lamport, Consensus on Transaction Commit, TODS 2006 (TCConsistent); " +
			"Bernstein et al., Concurrency Control and Recovery in Database Systems, 1987, " +
			"chapter 7 (AC1, AC3)",
		Anomalies: []model.AnomalyKind{model.Conflict, model.PrematureCommit},
		Check:     checkAgreement,
	}
}

func checkAgreement(j *Judge) (model.Result, string) {
	list := j.transact().listed
	for i := range list {
		if g := &list[i]; g.committed.times > 0 && g.aborted.times > 0 {
			j.reportGroup(model.Conflict, g, int64(g.members), &g.committed, g.aborted.event)
		}
	}
	for i := range list {
		if g := &list[i]; g.early.times > 0 {
			j.reportGroup(model.PrematureCommit, g, 0, &g.early, j.decision(g))
		}
	}
	return j.conclude("")
}

// reportGroup reports that so many of the transactions of a checkpoint are committed, and cites the
// commit and what speaks against it.
func (j *Judge) reportGroup(kind model.AnomalyKind, g *group, expected int64, is *ending,
	against int64) {
	a := model.Anomaly{Kind: kind, Record: ofCheckpoint(g.checkpoint),
		Expected: model.Fact{Times: expected}, Observed: model.Fact{Times: int64(is.times)}}
	a.Cite(is.event)
	a.Cite(against)
	j.Report(a)
}

// decision is the event that decided of a checkpoint in the end, or 0.
func (j *Judge) decision(g *group) int64 {
	for _, i := range j.survey.decided {
		s := &j.h.Servings[i]
		if s.N > g.early.event && j.h.Calls[s.Call].Req.Seq >= g.checkpoint {
			return s.N
		}
	}
	return 0
}
