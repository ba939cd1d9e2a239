package faults

import (
	"os"
	"strings"
	"testing"

	"github.com/oncesim/oncesim/model"
	"github.com/stretchr/testify/require"
)

// textCase is a line of a file in testdata and the indented line below it, or "".
type textCase struct{ line, want string }

// readCases reads a file of cases. Lines that begin with "#" are prose. An indented line without
// a case to belong to is a case itself, so that cases can begin with white space.
func readCases(t testing.TB, path string) []textCase {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	var cases []textCase
	open := false
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case line == "" || line[0] == '#':
			open = false
		case open && strings.HasPrefix(line, "    "):
			cases[len(cases)-1].want = line[4:]
			open = false
		default:
			cases = append(cases, textCase{line: line})
			open = true
		}
	}
	require.NotEmpty(t, cases)
	return cases
}

// newJob is a keyed stage of two tasks between two sources, or as many as there are partitions,
// and two sinks: source/0, source/1, op/0, op/1, sink/0, sink/1. Extra processes come behind them.
func newJob(partitions int, extra ...string) *model.Job {
	op := &model.Operator{Name: "last", Kind: model.NonCommutative,
		Step: func(in model.Record, _ model.Value, out *model.Outputs) model.Value {
			out.Emit(in.Key, in.Value)
			return in.Value
		}}
	return model.NewJob(&model.Topology{
		Name:   "toy",
		Inputs: []model.InputSpec{{Name: "input", Partitions: partitions}},
		Stages: []model.Stage{{Name: "op", Operator: op, From: []string{"input"}, Parallel: 2,
			Exchange: model.ByKey}},
	}, nil, extra...)
}

// calls spells the transmissions of one process: calls(model.Put, 3, model.Get, 1).
func calls(pairs ...any) []int64 {
	counts := make([]int64, len(model.Kinds())+1)
	for i := 0; i < len(pairs); i += 2 {
		counts[pairs[i].(model.Kind)] = int64(pairs[i+1].(int))
	}
	return counts
}

// messages spells the messages of one of n processes: messages(6, 4, model.Data, 2) are two to the
// process with the number 4.
func messages(n int, triples ...any) []int64 {
	counts := make([]int64, model.MessageIndex(model.ProcID(n), model.Data))
	for i := 0; i < len(triples); i += 3 {
		to, kind := model.ProcID(triples[i].(int)), triples[i+1].(model.Kind)
		counts[model.MessageIndex(to, kind)] = int64(triples[i+2].(int))
	}
	return counts
}

// newExtent is that of a small run of newJob(2): source/1 and sink/1 have nothing to do.
func newExtent() *model.Extent {
	return &model.Extent{
		Effects: []int64{6, 0, 4, 2, 3, 0},
		Calls: [][]int64{
			calls(model.Position, 1, model.Fetch, 2, model.OffsetCommit, 1),
			calls(),
			calls(model.Get, 1, model.Put, 2),
			calls(),
			calls(model.Write, 3),
			calls(),
		},
		Messages: [][]int64{
			messages(6, 2, model.Data, 3),
			messages(6),
			messages(6, 0, model.Ack, 2, 4, model.Data, 1),
			messages(6, 5, model.Data, 1),
			messages(6, 2, model.Ack, 2),
			messages(6),
		},
		Lives: []int32{1, 1, 1, 1, 1, 1},
		Seen:  [][]model.ID{nil, nil, {{Offset: 1}, {Part: 1}}, {{Offset: 2}}, nil, nil},
		Input: []int64{3, 1},
	}
}
