package scenarios

import "github.com/oncesim/oncesim/model"

// ParseCLF turns a line of an access log into a visit under its path. A line that is not in Common
// Log Format is dropped and counted.
var ParseCLF = model.Operator{
	Name: "parse-clf",
	Says: "emits a visit under the path of a Common Log Format line; drops malformed lines",
	Kind: model.Stateless,
	Step: func(in model.Record, state model.Value, out *model.Outputs) model.Value {
		fields, ok := parseCLF(in.Value.Text)
		if !ok {
			out.Drop("malformed")
			return state
		}
		out.Emit(fields.Path, model.Value{Num: 1})
		return state
	},
}

// Count adds up the numbers under a key and emits the running total.
var Count = model.Operator{
	Name: "count",
	Says: "emits the running total of its key",
	Kind: model.Commutative,
	Step: func(in model.Record, state model.Value, out *model.Outputs) model.Value {
		state.Num += in.Value.Num
		out.Emit(in.Key, state)
		return state
	},
}

// PageViews counts visits per path in an access log, on two partitions.
var PageViews = model.Topology{
	Name:    "page-views",
	Says:    "an access log, parsed, and visits counted per path",
	Inputs:  []model.InputSpec{{Name: "input", Partitions: 2}},
	Decoder: "clf",
	Sample:  "access.log",
	Stages: []model.Stage{
		{Name: "parse", Operator: &ParseCLF, From: []string{"input"}, Parallel: 2},
		{Name: "count", Operator: &Count, From: []string{"parse"}, Parallel: 2,
			Exchange: model.ByKey},
	},
}
