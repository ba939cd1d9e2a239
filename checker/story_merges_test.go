package checker

import "github.com/oncesim/oncesim/model"

var (
	// same emits what it takes.
	same = &model.Operator{Name: "same", Kind: model.Stateless, Step: func(
		in model.Record, state model.Value, out *model.Outputs) model.Value {
		out.Emit(in.Key, in.Value)
		return state
	}}
	// cross emits under two keys.
	cross = &model.Operator{Name: "cross", Kind: model.Stateless, Step: func(
		in model.Record, state model.Value, out *model.Outputs) model.Value {
		out.Emit("a", in.Value)
		out.Emit("b", in.Value)
		return state
	}}
	// turn emits a 1 under another key unless it comes first.
	turn = &model.Operator{Name: "turn", Kind: model.NonCommutative, Step: func(
		in model.Record, state model.Value, out *model.Outputs) model.Value {
		key := "a"
		if in.Value.Num == 1 && state.Num != 0 {
			key = "b"
		}
		state.Num++
		out.Emit(key, in.Value)
		return state
	}}
)

// mergeTopologies have tasks without state that merge channels.
var mergeTopologies = map[string][]model.Stage{
	"merge-merge": {mergeStage("s1", double, 1, "in"), mergeStage("s2", both, 1, "s1", "c"),
		mergeStage("s3", same, 2, "s2"), mergeStage("s4", rekey, 1, "s1")},
	"sum-merge": {mergeStage("s1", sum, 1, "in"), mergeStage("s2", double, 1, "s1", "c"),
		mergeStage("s3", same, 2, "s2")},
	"same-merge": {mergeStage("s1", same, 1, "in"), mergeStage("s2", double, 1, "s1", "c"),
		mergeStage("s3", same, 2, "s2")},
	"turn-merge": {mergeStage("s1", turn, 2, "in"), mergeStage("s2", both, 2, "s1"),
		mergeStage("s3", rekey, 1, "s2")},
	"merge-cross": {mergeStage("s1", cross, 1, "in")},
}

func mergeStage(name string, op *model.Operator, parallel int, from ...string) model.Stage {
	return model.Stage{Name: name, Operator: op, Parallel: parallel, From: from,
		Exchange: model.ByKey}
}

// mergeTopology is one of them; the second input has one partition.
func mergeTopology(name string, partitions int) *model.Topology {
	stages := mergeTopologies[name]
	t := &model.Topology{Name: name, Stages: stages,
		Inputs: []model.InputSpec{{Name: "in", Partitions: partitions}}}
	for _, s := range stages {
		if len(s.From) > 1 {
			t.Inputs[0].Partitions--
			t.Inputs = append(t.Inputs, model.InputSpec{Name: "c"})
		}
	}
	return t
}
