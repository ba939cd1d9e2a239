package checker

import (
	"slices"

	"github.com/oncesim/oncesim/model"
)

// progress is LV: after the last fault the job drains its input.
func progress() Property {
	return Property{
		Name: "progress",
		Says: "the run comes to its end by itself, a source that is still there has seen the end " +
			"of each partition, where offsets are committed they reach it, and no transaction " +
			"is left undecided",
		Source:    "Alpern and Schneider, Defining Liveness, 1985",
		Anomalies: []model.AnomalyKind{model.Stuck, model.Hanging},
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
		if behind || !j.isDrained(d) {
			j.reportStuck(int32(part), d, length)
		}
	}
	if !j.completed && j.Reported() == 0 {
		j.reportStuck(0, &j.survey.drains[0], int64(len(j.s.Input.Parts[0].Records)))
	}
	j.reportHanging()
	return j.conclude("")
}

// isDrained reports whether a life that lives in the end was told that a partition ends. What an
// earlier one was told is no news to its successor.
func (j *Judge) isDrained(d *drain) bool {
	if d.told == 0 {
		return false
	}
	call := &j.h.Calls[d.told-1]
	for i := range slices.Backward(j.h.Lives) {
		if life := &j.h.Lives[i]; life.Proc == call.Proc {
			return life.Attempt == call.Attempt && life.Ended == 0
		}
	}
	return true // nobody tells of lives
}

// reportHanging reports transactions that hold something and are undecided in the end: readers of
// committed data wait for them. At one that holds nothing nobody waits (Apache Kafka,
// ProducerStateManager: the last stable offset is that of the first record of one).
func (j *Judge) reportHanging() {
	list := j.transact().list
	for i := range list {
		txn := &list[i]
		if txn.fate > prepared || txn.size == 0 {
			continue
		}
		a := model.Anomaly{Kind: model.Hanging,
			Record:   model.Record{ID: model.ID{Part: txn.part, Offset: txn.id}},
			Expected: model.Fact{Times: -1}, Observed: model.Fact{Times: -1}}
		a.Cite(txn.begun)
		a.Cite(j.h.End.N)
		j.Report(a)
	}
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
