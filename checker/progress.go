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

// drain is how far a partition was read.
type drain struct {
	ended     bool  // a current life was told that it ends
	committed int64 // the furthest offset commit served: moving back is no lack of progress
	at        int64
}

func checkProgress(j *Judge) (model.Result, string) {
	if j.h.End.Reason == model.EventBound {
		return model.Undecided, reasonEvents
	}
	j.drain()
	for part := range j.drains {
		length := int64(len(j.s.Input.Parts[part].Records))
		d := &j.drains[part]
		behind := j.s.Mode.Commits && d.committed != length
		if !d.ended || behind {
			j.reportStuck(int32(part), d, length)
		}
	}
	if !j.completed && j.Reported() == 0 {
		j.reportStuck(0, &j.drains[0], int64(len(j.s.Input.Parts[0].Records)))
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

// drain reads off the servings how far each partition got.
func (j *Judge) drain() {
	j.drains = j.drains[:0]
	for range j.s.Input.Parts {
		j.drains = append(j.drains, drain{})
	}
	j.rule()
	for i := range j.h.Servings {
		s := &j.h.Servings[i]
		call := &j.h.Calls[s.Call]
		part := call.Req.Record.ID.Part
		if part < 0 || int(part) >= len(j.drains) {
			continue
		}
		d := &j.drains[part]
		switch {
		case call.Req.Kind == model.OffsetCommit && isApplied(&s.Ans):
			if call.Req.Seq >= d.committed {
				d.committed, d.at = call.Req.Seq, s.N
			}
		case call.Req.Kind == model.Fetch && s.Ans.End && call.Outcome == model.Done &&
			j.reigns(call.Proc, call.Attempt, s.N):
			d.ended = true
		}
	}
}
