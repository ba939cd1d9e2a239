package checker

import "github.com/oncesim/oncesim/model"

// progress is LV: after the last fault the job drains its input.
func progress() Property {
	return Property{
		Name: "progress",
		Says: "the run comes to its end by itself, a current source has seen the end of each " +
			"partition, and where offsets are committed they reach it",
		Source:    "Alpern and Schneider, Defining Liveness, 1985",
		Anomalies: []model.AnomalyKind{model.Stuck},
		Check:     checkProgress,
	}
}

func checkProgress(j *Judge) (model.Result, string) {
	if j.h.End.Reason == model.EventBound {
		return model.Undecided, reasonEvents
	}
	j.surveyAll()
	for part := range j.survey.drains {
		length := int64(len(j.s.Input.Parts[part].Records))
		d := &j.survey.drains[part]
		behind := j.s.Mode.Commits && d.committed != length
		if !d.ended || behind {
			j.reportStuck(int32(part), d, length)
		}
	}
	if !j.completed && j.Reported() == 0 {
		j.reportStuck(0, &j.survey.drains[0], int64(len(j.s.Input.Parts[0].Records)))
	}
	return j.conclude("")
}

func (j *Judge) reportStuck(part int32, d *drain, length int64) {
	a := model.Anomaly{Kind: model.Stuck,
		Record:   model.Record{ID: model.ID{Part: part, Offset: d.committed}},
		Expected: model.Fact{Times: -1, Value: model.Value{Num: length}, HasValue: true},
		Observed: model.Fact{Times: -1, Value: model.Value{Num: d.committed}, HasValue: true}}
	a.Cite(d.at)
	a.Cite(j.h.End.N)
	j.Report(a)
}
