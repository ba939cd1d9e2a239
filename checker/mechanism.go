package checker

import "github.com/oncesim/oncesim/model"

// mechanism collects findings: what should not happen but need not show. An idempotent sink takes
// the write of a zombie and is clean. No mode claims it.
func mechanism() Property {
	return Property{
		Name: "mechanism",
		Says: "no committed offset goes back, and no durable write of a replaced attempt is " +
			"accepted",
		Source: "Akidau et al., MillWheel, VLDB 2013 (sequencers); docs of Apache Kafka, " +
			"transactional.id (fencing)",
		Anomalies: []model.AnomalyKind{model.ZombieWrite, model.OffsetRegression},
		Check:     checkMechanism,
	}
}

func checkMechanism(j *Judge) (model.Result, string) {
	j.surveyAll()
	for i := range j.survey.findings {
		j.Report(j.survey.findings[i])
	}
	return j.conclude("")
}

// isDurable reports whether a request of kind k changes something durable.
func isDurable(k model.Kind) bool {
	switch k {
	case model.Put, model.Update, model.Mark, model.Write, model.OffsetCommit:
		return true
	}
	return false
}

// commit compares an offset commit with the one before.
func (j *Judge) commit(s *model.Serving, call *model.Call) {
	part := call.Req.Record.ID.Part
	if part < 0 || int(part) >= len(j.survey.drains) {
		return
	}
	d := &j.survey.drains[part]
	if call.Req.Seq < d.committed {
		a := model.Anomaly{Kind: model.OffsetRegression,
			Record:   model.Record{ID: model.ID{Part: part, Offset: call.Req.Seq}},
			Expected: model.Fact{Times: -1, Value: model.Value{Num: d.committed}, HasValue: true},
			Observed: model.Fact{Times: -1, Value: model.Value{Num: call.Req.Seq}, HasValue: true}}
		a.Cite(d.at)
		a.Cite(s.N)
		j.survey.findings = append(j.survey.findings, a)
	}
	if call.Req.Seq >= d.committed {
		d.committed, d.at = call.Req.Seq, s.N
	}
}

// findZombie finds a durable write of a replaced attempt.
func (j *Judge) findZombie(s *model.Serving, call *model.Call) {
	a := model.Anomaly{Kind: model.ZombieWrite, Record: call.Req.Record,
		Expected: model.Fact{Times: 0},
		Observed: model.Fact{Times: 1}}
	if call.Req.Kind == model.OffsetCommit {
		a.Record.ID.Offset = call.Req.Seq
	} else if call.Req.Kind == model.Write || setsState(&call.Req) {
		a.Observed.Value, a.Observed.HasValue = call.Req.Record.Value, true
	}
	a.Cite(j.survey.reign.began[call.Proc])
	a.Cite(call.Invoked)
	a.Cite(s.N)
	j.survey.findings = append(j.survey.findings, a)
}
