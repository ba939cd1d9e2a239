package checker

import "github.com/oncesim/oncesim/model"

// mechanism collects findings: what should not happen but need not show. An idempotent sink takes
// the write of a zombie and is clean. No mode claims it.
func mechanism() Property {
	return Property{
		Name: "mechanism",
		Says: "no committed offset goes back, nor does the completed checkpoint, and no durable " +
			"write of a replaced attempt is accepted",
		Source: "Akidau et al., MillWheel, VLDB 2013 (sequencers); docs of Apache Kafka, " +
			"transactional.id (fencing)",
		Anomalies: []model.AnomalyKind{model.ZombieWrite, model.OffsetRegression,
			model.PointerRegression},
		Check: checkMechanism,
	}
}

func checkMechanism(j *Judge) (model.Result, string) {
	j.surveyAll()
	for i := range j.survey.findings {
		j.Report(j.survey.findings[i])
	}
	return j.conclude("")
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
	switch kind := call.Req.Kind; {
	case kind == model.OffsetCommit:
		a.Record.ID.Offset = call.Req.Seq
	case kind == model.Write || setsState(&call.Req):
		a.Observed.Value, a.Observed.HasValue = call.Req.Record.Value, true
	case kind == model.WriteBatch && len(call.Req.Parts) > 0:
		a.Record = call.Req.Parts[0]
	case kind == model.WriteBatch && call.Req.Token != 0:
		a.Record = ofCheckpoint(call.Req.Token)
	case kind == model.WriteBatch:
		return // it changes nothing
	case kind == model.InitTxn || kind == model.BeginTxn || kind == model.AbortTxn ||
		kind == model.PrepareTxn ||
		kind == model.CommitTxn && call.Req.Flags&model.Whole == 0:
		a.Record = model.Record{ID: model.ID{Part: int32(call.Req.Channel),
			Offset: call.Req.Token}}
	case kind >= model.NextCheckpoint:
		a.Record = ofCheckpoint(call.Req.Seq)
	}
	a.Cite(j.survey.reign.began[call.Proc])
	a.Cite(call.Invoked)
	a.Cite(s.N)
	j.survey.findings = append(j.survey.findings, a)
}

// pointer is which checkpoint is completed, and since when.
type pointer struct{ checkpoint, at int64 }

// point compares a completed checkpoint with the one before.
func (j *Judge) point(s *model.Serving, checkpoint int64) {
	p := &j.survey.pointer
	if checkpoint < p.checkpoint {
		a := model.Anomaly{Kind: model.PointerRegression, Record: ofCheckpoint(checkpoint),
			Expected: model.Fact{Times: -1, Value: model.Value{Num: p.checkpoint}, HasValue: true},
			Observed: model.Fact{Times: -1, Value: model.Value{Num: checkpoint}, HasValue: true}}
		a.Cite(p.at)
		a.Cite(s.N)
		j.survey.findings = append(j.survey.findings, a)
	}
	*p = pointer{checkpoint, s.N}
}
