package scenarios

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/oncesim/oncesim/model"
)

// average is the running average of the numbers under a key since its last reset. The first
// partition of the input brings numbers; a record of any other resets its key, whatever it holds.
// How the two are merged decides what comes out.
//
// The state and what a step emits are the same: Text is the sum and the count, "7/2", and Num the
// average in thousandths, rounded towards zero. After a reset they are "0/0" and 0.
var average = model.Operator{
	Name: "average",
	Says: "emits the average of the numbers of partition 0 under its key; other partitions reset",
	Kind: model.NonCommutative,
	Step: func(in model.Record, state model.Value, out *model.Outputs) model.Value {
		sum, count := fractionOf(state)
		if in.ID.Part == 0 {
			sum, count = sum+in.Value.Num, count+1
		} else {
			sum, count = 0, 0
		}
		text := make([]byte, 0, 32)
		text = append(strconv.AppendInt(text, sum, 10), '/')
		text = strconv.AppendInt(text, count, 10)
		state = model.Value{Num: 1000 * sum / max(count, 1), Text: string(text)}
		out.Emit(in.Key, state)
		return state
	},
}

// RunningAverage has two inputs that meet in one operator. It is the running example of Veresov,
// Spenger, Carbone and Haller, "Failure Transparency in Stateful Dataflow Systems", ECOOP 2024.
var RunningAverage = model.Topology{
	Name:   "running-average",
	Says:   "numbers and resets, two inputs merged into one incremental average",
	Inputs: []model.InputSpec{{Name: "numbers"}, {Name: "resets"}},
	Stages: []model.Stage{{Name: "average", Operator: &average,
		From: []string{"numbers", "resets"}, Exchange: model.ByKey}},
}

// fractionOf reads a value of average.
func fractionOf(v model.Value) (sum, count int64) {
	if v.Text == "" {
		return 0, 0
	}
	left, right, _ := strings.Cut(v.Text, "/")
	sum, err1 := strconv.ParseInt(left, 10, 64)
	count, err2 := strconv.ParseInt(right, 10, 64)
	if err1 != nil || err2 != nil {
		panic(fmt.Sprintf("scenarios: average %q", v.Text))
	}
	return sum, count
}
