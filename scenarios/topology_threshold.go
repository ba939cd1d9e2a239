package scenarios

import "github.com/oncesim/oncesim/model"

// alarmEvery is the distance of the thresholds of alarm.
const alarmEvery = 100

// alarm adds up the numbers under a key and emits the total whenever it passes a multiple of
// a hundred. Its state is a sum, which no order changes; but the order decides which records emit
// something and which do not. What comes out is part of the result, so it is not commutative.
var alarm = model.Operator{
	Name: "alarm",
	Says: "emits the running total of its key only when it passes a multiple of 100",
	Kind: model.NonCommutative,
	Step: func(in model.Record, state model.Value, out *model.Outputs) model.Value {
		before := state.Num / alarmEvery
		state.Num += in.Value.Num
		if state.Num/alarmEvery != before {
			out.Emit(in.Key, state)
		}
		return state
	},
}

// Threshold is a job most of whose records leave no output behind.
var Threshold = model.Topology{
	Name:   "threshold",
	Says:   "numbers added up per key; only passing a multiple of 100 is shown",
	Inputs: []model.InputSpec{{Name: "input", Partitions: 1}},
	Stages: []model.Stage{{Name: "alarm", Operator: &alarm, From: []string{"input"},
		Exchange: model.ByKey}},
}
