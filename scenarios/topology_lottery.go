package scenarios

import "github.com/oncesim/oncesim/model"

// bonus adds a number and a random bonus from 0 to 9 to the total under its key. It stands for
// whatever asks a clock, another system or a generator of random numbers: a life that takes a
// record again draws another bonus.
var bonus = model.Operator{
	Name: "bonus",
	Says: "emits the running total of its key, to which every number adds a random bonus",
	Kind: model.NonDeterministic,
	Step: func(in model.Record, state model.Value, out *model.Outputs) model.Value {
		state.Num += in.Value.Num + out.Random(10)
		out.Emit(in.Key, state)
		return state
	},
}

// Lottery is the smallest job that may come out otherwise each time a record is taken.
var Lottery = model.Topology{
	Name:   "lottery",
	Says:   "numbers added up per key with a random bonus each",
	Inputs: []model.InputSpec{{Name: "input", Partitions: 1}},
	Stages: []model.Stage{{Name: "bonus", Operator: &bonus, From: []string{"input"},
		Exchange: model.ByKey}},
}
