package scenarios

import "github.com/oncesim/oncesim/model"

// Double is the stateless operator of the pipeline: each number comes out doubled.
var Double = model.Operator{
	Name: "double",
	Says: "emits twice the number",
	Kind: model.Stateless,
	Step: func(in model.Record, state model.Value, out *model.Outputs) model.Value {
		out.Emit(in.Key, model.Value{Num: 2 * in.Value.Num})
		return state
	},
}

// Pipeline is the smallest job: one input, one stateless operator.
var Pipeline = model.Topology{
	Name:   "pipeline",
	Says:   "one input, one stateless operator that doubles numbers",
	Inputs: []model.InputSpec{{Name: "input", Partitions: 1}},
	Stages: []model.Stage{{Name: "op", Operator: &Double, From: []string{"input"}}},
}
