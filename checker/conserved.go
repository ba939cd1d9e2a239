package checker

import "github.com/oncesim/oncesim/model"

// conserved is IV: what the topology says no step changes is unchanged in each checkpoint.
func conserved() Property {
	return Property{
		Name: "conserved",
		Says: "in each completed checkpoint the sum that the topology conserves, over all keyed " +
			"states and all records in flight between operators, is what it must be",
		Source: "Chandy and Lamport, Distributed Snapshots, TOCS 1985 (conservation of tokens); " +
			"jepsen.tests.bank",
		Anomalies: []model.AnomalyKind{model.Unbalanced},
		Check:     checkConserved,
	}
}

func checkConserved(j *Judge) (model.Result, string) {
	inv := j.s.Job.Topology.Conserves
	if inv == nil || j.s.Mode.State != model.Snapshotted || !j.plan.stateful {
		return model.Holds, ""
	}
	j.replay()
	for i := range j.checkpoints.completed {
		done := &j.checkpoints.completed[i]
		if sum := j.sumOf(inv, done); sum != inv.Total {
			a := model.Anomaly{Kind: model.Unbalanced, Record: ofCheckpoint(done.id),
				Expected: model.Fact{Times: -1, Value: model.Value{Num: inv.Total}, HasValue: true},
				Observed: model.Fact{Times: -1, Value: model.Value{Num: sum}, HasValue: true}}
			a.Cite(done.at)
			j.Report(a)
		}
	}
	return j.conclude("")
}

// sumOf is what a completed checkpoint holds of what is conserved. Records of the input are not yet
// part of it.
func (j *Judge) sumOf(inv *model.Invariant, done *completion) (sum int64) {
	for _, n := range j.checkpoints.parts[done.from:done.to] {
		u := &j.checkpoints.uploads[n]
		task := j.holder(&j.h.Calls[u.call].Req)
		if task == nil || task.Role != model.Operate {
			continue
		}
		if j.plan.stages[task.Op].stateful {
			for _, rec := range j.statesLeft(u) {
				sum += inv.State(task.Op, rec.Value)
			}
		}
		flight := j.flightOf(u)
		for i := range flight {
			if flight[i].Op > 0 {
				sum += inv.Record(flight[i])
			}
		}
	}
	return sum
}
