package faults

import (
	"fmt"
	"testing"

	"github.com/oncesim/oncesim/model"
	"github.com/stretchr/testify/require"
)

// One line of each shape, and the rule that the world matches.
func TestCompile_rules(t *testing.T) {
	for line, want := range map[string]model.Rule{
		"crash op/1 before effect 3": {Action: model.Crash, Proc: 3, Point: model.Before,
			Scope: model.EveryEffect, N: 3},
		"crash op/0 at record input/1:7": {Action: model.Crash, Proc: 2, Point: model.Before,
			Scope: model.RecordEffect, N: 1, Record: model.ID{Part: 1, Offset: 7}},
		"crash op/0 after effect 2 of start 3": {Action: model.Crash, Proc: 2, Point: model.After,
			Scope: model.StartEffect, N: 2, Life: 3},
		"crash op/0 after effect 2 of checkpoint 3": {Action: model.Crash, Proc: 2,
			Point: model.After, Scope: model.CheckpointEffect, N: 2, Checkpoint: 3},
		"crash source/1 at 1us": {Action: model.Crash, Proc: 1, Point: model.AtTime, At: 1000},
		"pause sink/1 before ack of write 2 for 5ns": {Action: model.Pause, Proc: 5,
			Point: model.BeforeAck, Scope: model.CallOfKind, Call: model.Write, N: 2, For: 5},
		"lose answer of get 1 from op/0": {Action: model.LoseAnswer, Proc: 2,
			Scope: model.CallOfKind, Call: model.Get, N: 1},
		"delay call put 1 of op/0 by 2s": {Action: model.DelayRequest, Proc: 2,
			Scope: model.CallOfKind, Call: model.Put, N: 1, For: 2_000_000_000},
		"duplicate call put 1 of op/0": {Action: model.DuplicateRequest, Proc: 2,
			Scope: model.CallOfKind, Call: model.Put, N: 1, For: DuplicateAfter},
		"lose data 5 from op/1 to sink/1": {Action: model.LoseMessage, Proc: 3, Peer: 5,
			Scope: model.MessageOnChannel, Call: model.Data, N: 5},
		"delay ack 1 from sink/1 to op/1 by 2s": {Action: model.DelayMessage, Proc: 5, Peer: 3,
			Scope: model.MessageOnChannel, Call: model.Ack, N: 1, For: 2_000_000_000},
		"duplicate data 1 from op/1 to sink/1": {Action: model.DuplicateMessage, Proc: 3, Peer: 5,
			Scope: model.MessageOnChannel, Call: model.Data, N: 1, For: DuplicateAfter},
		"reorder data 1 from source/0 to op/0": {Action: model.ReorderMessages, Proc: 0, Peer: 2,
			Scope: model.MessageOnChannel, Call: model.Data, N: 1, For: ReorderWithin},
		"reorder ack 1 from op/0 to source/0 within 3us": {Action: model.ReorderMessages, Proc: 2,
			Peer: 0, Scope: model.MessageOnChannel, Call: model.Ack, N: 1, For: 3000},
		"lose barrier 2 from op/1 to sink/1": {Action: model.LoseMessage, Proc: 3, Peer: 5,
			Scope: model.MessageOnChannel, Call: model.Barrier, N: 2},
		"partition op/1 | store for 3us at answer of put 2": {Action: model.CutLink, Proc: 3,
			Peer: model.Nobody, Service: model.StateStore, Point: model.BeforeAck,
			Scope: model.CallOfKind, Call: model.Put, N: 2, For: 3000},
		"partition sink/1 | op/1 for 3us at ack 2": {Action: model.CutLink, Proc: 5, Peer: 3,
			Scope: model.MessageOnChannel, Call: model.Ack, N: 2, For: 3000},
		"partition op/1 | op/0 for 3us at 2us": {Action: model.CutLink, Proc: 3, Peer: 2,
			Point: model.AtTime, At: 2000, For: 3000},
		"crash external for 3us at 0s": {Action: model.CrashService, Proc: model.Nobody,
			Service: model.External, Point: model.AtTime, For: 3000},
		"crash store for 3us at get 1 of op/1": {Action: model.CrashService, Proc: 3,
			Service: model.StateStore, Scope: model.CallOfKind, Call: model.Get, N: 1, For: 3000},
		"refuse call put 3 of op/0": {Action: model.RefuseRequest, Proc: 2,
			Scope: model.CallOfKind, Call: model.Put, N: 3},
		"forget call write 3 of sink/0": {Action: model.ForgetRequest, Proc: 4,
			Scope: model.CallOfKind, Call: model.Write, N: 3},
		"tear call upload 3 of op/0": {Action: model.TearRequest, Proc: 2,
			Scope: model.CallOfKind, Call: model.Upload, N: 3},
		"stale call get 3 of op/0": {Action: model.StaleRead, Proc: 2,
			Scope: model.CallOfKind, Call: model.Get, N: 3},
		"truncate input/1 before 3 at 2us": {Action: model.TruncateInput, Proc: model.Nobody,
			Record: model.ID{Part: 1, Offset: 3}, Point: model.AtTime, At: 2000},
		"truncate input/1 before 3 at fetch 2 of source/0": {Action: model.TruncateInput, Proc: 0,
			Record: model.ID{Part: 1, Offset: 3}, Scope: model.CallOfKind, Call: model.Fetch, N: 2},
		"poison record input/0:0 at op/1": {Action: model.PoisonRecord, Proc: 3,
			Scope: model.RecordEffect},
	} {
		plan, err := ParsePlan(line)
		require.NoError(t, err)
		rules, err := plan.Compile(newJob(2))
		require.NoError(t, err, line)
		require.Equal(t, []model.Rule{want}, rules, line)
		require.Equal(t, line, FromRule(newJob(2), want).String())
	}
}

// The world reports by rule what people read by line.
func TestCompile_ruleIsFault(t *testing.T) {
	plan, err := ParsePlan("crash op/1 at 2ms", "crash op/0 at 1ms", "crash op/1 at 2ms")
	require.NoError(t, err)
	rules, err := plan.Compile(newJob(2))
	require.NoError(t, err)
	require.Equal(t, []model.ProcID{3, 2, 3},
		[]model.ProcID{rules[0].Proc, rules[1].Proc, rules[2].Proc})

	rules, err = Plan(nil).Compile(newJob(2))
	require.NoError(t, err)
	require.Empty(t, rules)
}

// Where there is one partition, a bare record and a full one mean the same.
func TestCompile_bareRecord(t *testing.T) {
	plan, err := ParsePlan("crash op/0 at record 7", "crash op/0 at record input/0:7")
	require.NoError(t, err)
	rules, err := plan.Compile(newJob(1))
	require.NoError(t, err)
	require.Equal(t, model.ID{Part: 0, Offset: 7}, rules[0].Record)
	require.Equal(t, rules[0], rules[1])
	require.Equal(t, "crash op/0 at record input/0:7", FromRule(newJob(1), rules[0]).String())
}

func TestCompile_errors(t *testing.T) {
	const all = "source/0, source/1, op/0, op/1, sink/0, sink/1"
	for line, want := range map[string]string{
		"crash opp/1 at 1ms": `unknown process "opp/1", expected one of ` + all +
			`; did you mean "op/1"?`,
		"crash sink/2 before write 1": `unknown process "sink/2", expected one of ` + all +
			`; did you mean "sink/0"?`,
		"lose answer of get 1 from coordinator/0": `unknown process "coordinator/0", ` +
			`expected one of ` + all,
		"lose data 1 from op/0 to sink/7": `unknown process "sink/7", expected one of ` + all +
			`; did you mean "sink/0"?`,
		"crash op/0 at record inptu/1:7": `unknown partition "inptu/1", ` +
			`expected "input/0" or "input/1"; did you mean "input/1"?`,
		"crash op/0 at record input/2:7": `unknown partition "input/2", ` +
			`expected "input/0" or "input/1"; did you mean "input/0"?`,
		"poison record 1 at sink/0": `unknown process that applies an operator "sink/0", ` +
			`expected "op/0" or "op/1"`,
		"partition op/0 | sink/7 for 3us at 2us": `unknown process "sink/7", ` +
			`expected one of ` + all + `; did you mean "sink/0"?`,
		"partition op/7 | store for 3us at 2us": `unknown process "op/7", expected one of ` + all +
			`; did you mean "op/0"?`,
		"crash store for 3us at get 1 of opp/1": `unknown process "opp/1", expected one of ` + all +
			`; did you mean "op/1"?`,
		"truncate inptu/1 before 3 at 2us": `unknown partition "inptu/1", ` +
			`expected "input/0" or "input/1"; did you mean "input/1"?`,
		"truncate input/1 before 3 at fetch 2 of surce/0": `unknown process "surce/0", ` +
			`expected one of ` + all + `; did you mean "source/0"?`,
		"poison record 7 at op/0": `name the partition of record 7, "input/0:7" or "input/1:7"`,
		"crash op/0 after effect 2 of record 7": `name the partition of record 7, ` +
			`"input/0:7" or "input/1:7"`,
	} {
		plan, err := ParsePlan("crash op/0 at 1ms", line)
		require.NoError(t, err)
		rules, err := plan.Compile(newJob(2))
		require.Nil(t, rules)
		require.EqualError(t, err, fmt.Sprintf("fault 2, %s: %s", line, want))
	}
}

// A replay builds its own message from the parts.
func TestCompile_errorFields(t *testing.T) {
	plan, err := ParsePlan("crash op/0 at 1ms", "crash op/0 at record input/2:7")
	require.NoError(t, err)
	_, err = plan.Compile(newJob(2))
	require.Equal(t, &CompileError{Index: 1, Fault: plan[1], What: "partition", Name: "input/2",
		Known: []string{"input/0", "input/1"}, Nearest: "input/0"}, err)
}

// A plan written in Go may hold anything. It is refused here, before a rule could panic.
func TestCompile_notALine(t *testing.T) {
	_, err := Plan{{Action: model.Crash, Proc: "op/0"}}.Compile(newJob(2))
	require.EqualError(t, err, "fault 1: no line means {Action:crash Proc:op/0 Peer: Service: "+
		"Point: Scope:0 N:0 Record:0 Life:0 Checkpoint:0 Call:none At:0 For:0}")
	var e *CompileError
	require.ErrorAs(t, err, &e)
	require.Equal(t, "fault", e.What)
}

// requireSameRule checks that a rule prints as a line that compiles to it.
func requireSameRule(t testing.TB, job *model.Job, rule model.Rule) {
	t.Helper()
	f := FromRule(job, rule)
	requireRoundTrip(t, f)
	rules, err := Plan{f}.Compile(job)
	require.NoError(t, err)
	require.Equal(t, []model.Rule{rule}, rules)
}

func TestFromRule_roundTrip(t *testing.T) {
	job := newJob(2, "coordinator")
	for _, f := range everyShape() {
		if f.Proc != "" {
			f.Proc = "op/0"
		}
		if f.Peer != "" {
			f.Peer = "sink/0"
		}
		switch {
		case f.Call == model.Ack:
			f.Peer = "source/0"
		case f.Call.IsNotice():
			f.Peer = "coordinator/0"
		}
		if f.Record != (RecordName{}) || f.Scope == model.RecordEffect {
			f.Record = RecordName{"input", 1, f.Record.Offset}
		}
		rules, err := Plan{f}.Compile(job)
		require.NoError(t, err, f.String())
		requireSameRule(t, job, rules[0])
	}
}

// Of the two ways to write a default, a rule takes the short one.
func TestFromRule_default(t *testing.T) {
	for line, want := range map[string]string{
		"duplicate call put 1 of op/0 by 1ms":            "duplicate call put 1 of op/0",
		"duplicate ack 1 from op/0 to source/0 by 1ms":   "duplicate ack 1 from op/0 to source/0",
		"reorder data 1 from op/0 to sink/0 within 20ms": "reorder data 1 from op/0 to sink/0",
	} {
		plan, err := ParsePlan(line)
		require.NoError(t, err)
		rules, err := plan.Compile(newJob(1))
		require.NoError(t, err)
		require.Equal(t, want, FromRule(newJob(1), rules[0]).String())
	}
}

func TestFromRule_illegal(t *testing.T) {
	require.Panics(t, func() { FromRule(newJob(1), model.Rule{Action: model.Crash}) })
}

// A channel that the job does not have is no anchor: data goes downstream, acknowledgements back.
func TestCompile_unknownChannel(t *testing.T) {
	job := model.NewJob(&model.Topology{Name: "t", Inputs: []model.InputSpec{{Name: "input"}},
		Stages: []model.Stage{{Name: "op", From: []string{"input"},
			Operator: &model.Operator{Name: "op"}}}}, nil, "acker")
	for line, isKnown := range map[string]bool{
		"lose data 1 from source/0 to op/0":           true,
		"lose ack 1 from op/0 to source/0":            true,
		"lose data 1 from op/0 to source/0":           false,
		"lose ack 1 from source/0 to op/0":            false,
		"delay data 1 from source/0 to sink/0 by 1ms": false,
		"partition op/0 | sink/0 for 1ms at data 1":   true,
		"partition sink/0 | op/0 for 1ms at ack 1":    true,
		"partition sink/0 | op/0 for 1ms at data 1":   false,
		// What the mode adds exchanges acknowledgements with every task.
		"lose ack 1 from op/0 to acker/0":             true,
		"delay ack 1 from acker/0 to source/0 by 1ms": true,
		"partition acker/0 | sink/0 for 1ms at ack 1": true,
		"lose data 1 from op/0 to acker/0":            false,
		"lose ack 1 from op/0 to sink/0":              false,
	} {
		plan, err := ParsePlan(line)
		require.NoError(t, err)
		_, err = plan.Compile(job)
		if isKnown {
			require.NoError(t, err, line)
			continue
		}
		require.ErrorContains(t, err, "unknown channel", line)
		require.ErrorContains(t, err, "op/0", line)
	}
}

// Barriers go where data go; notices go between a task and what the mode adds, both ways.
func TestCompile_channelsOfCheckpoints(t *testing.T) {
	job := newJob(1, "coordinator")
	for line, want := range map[string]model.Rule{
		"lose barrier 1 from source/0 to op/1": {Action: model.LoseMessage, Proc: 0, Peer: 2,
			Call: model.Barrier},
		"lose trigger 1 from coordinator/0 to source/0": {Action: model.LoseMessage, Proc: 5,
			Peer: 0, Call: model.Trigger},
		"lose ready 1 from sink/1 to coordinator/0": {Action: model.LoseMessage, Proc: 4, Peer: 5,
			Call: model.Ready},
		"lose barrier 1 from op/0 to source/0":             {},
		"lose barrier 1 from coordinator/0 to source/0":    {},
		"lose trigger 1 from source/0 to op/0":             {},
		"partition op/0 | sink/0 for 1ms at acknowledge 1": {},
	} {
		plan, err := ParsePlan(line)
		require.NoError(t, err)
		rules, err := plan.Compile(job)
		if want.Action == 0 {
			require.ErrorContains(t, err, "unknown channel", line)
			continue
		}
		require.NoError(t, err, line)
		want.Scope, want.N = model.MessageOnChannel, 1
		require.Equal(t, []model.Rule{want}, rules, line)
	}
	plan, err := ParsePlan("lose trigger 1 from source/0 to op/0")
	require.NoError(t, err)
	_, err = plan.Compile(newJob(1))
	require.EqualError(t, err, `fault 1, lose trigger 1 from source/0 to op/0: `+
		`unknown channel "source/0 to op/0": the job has none of that kind`)
}
