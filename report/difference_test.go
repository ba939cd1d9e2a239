package report

import (
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/scenarios"
)

// counted is an operator that keeps something outside its arguments: how often it was called.
func counted(calls *atomic.Int64) *model.Operator {
	return &model.Operator{Name: "counted", Kind: model.Stateless,
		Step: func(in model.Record, st model.Value, out *model.Outputs) model.Value {
			out.Emit(in.Key, model.Value{Num: calls.Add(1)})
			return st
		}}
}

// Of two runs that differ, the first event that differs is shown with its cause, on both sides:
// here the message that first carries what the operator should not have known.
func TestDifference_NamesTheOperator(t *testing.T) {
	lib := scenarios.Builtin()
	var calls atomic.Int64
	top := scenarios.Pipeline
	top.Stages = []model.Stage{{Name: "op", Operator: counted(&calls), From: []string{"input"}}}
	s := &scenarios.Scenario{Topology: &top, Mode: lib.Modes[0]}
	s.Input.Records = 3
	var traces [2][]model.Entry
	var job *model.Job
	for i := range traces {
		r, err := scenarios.NewRunner(lib, s)
		require.NoError(t, err)
		job = r.Job()
		traces[i] = r.Run(1, nil, scenarios.Options{Trace: true}).Trace
	}
	d := firstDifference(traces[0], traces[1])
	require.NotNil(t, d)
	require.Equal(t, []string{"Msg.Record.Value.Num"}, d.Fields)
	require.Equal(t, model.EntrySend, d.Sides[0].Kind)
	require.Equal(t, job.Find("op/0"), d.Sides[0].Proc)
	require.Equal(t, d.Sides[0].N, d.Sides[1].N)
	require.Equal(t, model.EntryDeliver, d.Causes[0].Kind)
	text := Difference(job, traces[0], traces[1])
	require.Regexp(t, `(?m)^one    event \d+ at .*: send op/0 attempt 1 to sink/0 data input/0:0 `+
		`op 1 "k\d" = 1 seq`, text)
	require.Regexp(t, `(?m)^other  event \d+ at .* = \d+ seq`, text)
	require.Contains(t, text, "because of event")
	require.Contains(t, text, "they differ in Msg.Record.Value.Num\n")
}

// Traces of which one is the beginning of the other differ where it ends; the same traces do not.
func TestDifference_Ends(t *testing.T) {
	trace := []model.Entry{{N: 1, Kind: model.EntryStart}, {N: 2, Cause: 1, Kind: model.EntrySend}}
	require.Nil(t, firstDifference(trace, trace))
	require.Nil(t, firstDifference(nil, nil))
	d := firstDifference(trace[:1], trace)
	require.Nil(t, d.Sides[0])
	require.Equal(t, &trace[1], d.Sides[1])
	require.Equal(t, &trace[0], d.Causes[1])
	other := append([]model.Entry(nil), trace...)
	other[1].Ans.Places, other[1].Msg.Parts = []int64{1}, []model.Record{}
	require.Equal(t, []string{"Ans.Places"}, firstDifference(trace, other).Fields)
	require.Equal(t, []string{"N", "Kind"}, firstDifference(
		trace, []model.Entry{{N: 5, Kind: model.EntryEnd}}).Fields)
}
