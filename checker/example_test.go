package checker_test

import (
	"fmt"

	"github.com/oncesim/oncesim/checker"
	"github.com/oncesim/oncesim/model"
)

// A history in which the only output is visible twice. It has no claims, as if it had been
// recorded of a real pipeline; without state none are needed.
func ExampleJudge() {
	double := &model.Operator{Name: "double", Step: func(
		in model.Record, state model.Value, out *model.Outputs) model.Value {
		out.Emit(in.Key, model.Value{Num: 2 * in.Value.Num})
		return state
	}}
	topology := &model.Topology{Name: "doubling", Inputs: []model.InputSpec{{Name: "in"}},
		Stages: []model.Stage{{Name: "double", Operator: double, From: []string{"in"}}}}
	input := model.NewInput([]model.Partition{{Every: 1, Records: []model.Record{
		{Key: "a", Value: model.Value{Num: 4}},
	}}})
	out := model.Record{Op: 1, Key: "a", Value: model.Value{Num: 8}}
	history := &model.History{
		Final: []model.Observation{{N: 7, Seq: 0, Out: out}, {N: 8, Seq: 1, Out: out}},
		End:   model.End{Reason: model.Quiescent, N: 9},
	}

	subject := checker.Subject{Job: model.NewJob(topology, nil), Mode: &model.Mode{},
		Input: input, History: history}
	for _, v := range checker.NewJudge().Judge(subject, checker.All()) {
		if v.Property != "exactly-once" && v.Property != "order" {
			continue
		}
		fmt.Println(v.Property, v.Result)
		for _, a := range v.Anomalies {
			fmt.Printf("  %s of %s: expected %s, observed %s, events %v\n", a.Kind,
				topology.RecordName(a.Record.ID), a.Expected, a.Observed, a.Events[:2])
		}
	}
	// Output:
	// exactly-once violated
	//   duplicate of in/0:0: expected once, observed 2 times, value 8, events [7 8]
	// order holds
}

// An outsider's property: the sink shows no negative number. It uses the judge's own account of
// what is visible.
func ExampleProperty() {
	positive := checker.Property{
		Name:      "positive",
		Says:      "no visible number is negative",
		Anomalies: []model.AnomalyKind{model.WrongValue},
		Check: func(j *checker.Judge) (model.Result, string) {
			for _, o := range j.Subject().History.Final {
				if o.Out.Value.Num < 0 {
					a := model.Anomaly{Kind: model.WrongValue, Record: o.Out,
						Expected: model.Fact{Times: -1},
						Observed: model.Fact{Times: int64(j.Visible(o.Out))}}
					a.Cite(o.N)
					j.Report(a)
				}
			}
			if j.Reported() > 0 {
				return model.Violated, ""
			}
			return model.Holds, ""
		},
	}
	topology := &model.Topology{Inputs: []model.InputSpec{{Name: "in"}}, Stages: []model.Stage{
		{Name: "any", Operator: &model.Operator{}, From: []string{"in"}}}}
	subject := checker.Subject{Job: model.NewJob(topology, nil), Mode: &model.Mode{},
		Input: model.NewInput([]model.Partition{{Every: 1, Records: make([]model.Record, 1)}}),
		History: &model.History{End: model.End{Reason: model.Quiescent}, Final: []model.Observation{
			{N: 3, Out: model.Record{Op: 1, Value: model.Value{Num: -5}}}}}}
	v := checker.NewJudge().Judge(subject, []checker.Property{positive})[0]
	fmt.Println(v.Property, v.Result, v.Anomalies[0].Observed)
	// Output: positive violated once
}
