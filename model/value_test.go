package model_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/model"
)

func TestValue_String(t *testing.T) {
	require.Equal(t, "0", model.Value{}.String())
	require.Equal(t, "-4", model.Value{Num: -4}.String())
	require.Equal(t, `"a b"`, model.Value{Text: "a b"}.String())
	require.Equal(t, `3 "x"`, model.Value{Num: 3, Text: "x"}.String())
}

func TestID_Compare(t *testing.T) {
	order := []model.ID{{Part: 0, Offset: 5}, {Part: 1, Offset: 0}, {Part: 1, Offset: 1}}
	for i, a := range order {
		for j, b := range order {
			switch got := a.Compare(b); {
			case i < j:
				require.Negative(t, got)
			case i > j:
				require.Positive(t, got)
			default:
				require.Zero(t, got)
			}
		}
	}
}

// Each descendant of an input has a path of its own, over as many hops as fit.
func TestPath_ChildrenAreDistinct(t *testing.T) {
	seen := map[model.Path]bool{}
	level := []model.Path{0}
	for range 3 {
		var next []model.Path
		for _, p := range level {
			for n := range 4 {
				next = append(next, p.Child(n))
			}
		}
		clear(seen)
		for _, p := range next {
			require.False(t, seen[p], "within one level")
			seen[p] = true
		}
		level = next
	}
	require.Panics(t, func() { model.Path(0).Child(1 << model.PathBits) })
	require.Panics(t, func() { model.Path(0).Child(-1) })
}

// An output has the identity of its trigger, its operator and its ordinal.
func TestOutputs_Identity(t *testing.T) {
	var out model.Outputs
	in := model.Record{ID: model.ID{Part: 1, Offset: 7}, Path: model.Path(0).Child(2), Op: 1}
	out.Begin(2, in)
	out.Emit("k", model.Value{Num: 1})
	out.Emit("k", model.Value{Num: 2})
	first, second := out.Records()[0], out.Records()[1]
	require.Equal(t, in.ID, first.ID)
	require.EqualValues(t, 2, first.Op)
	require.Equal(t, in.Path.Child(0), first.Path)
	require.False(t, first.Same(second))
	changed := first
	changed.Value.Num, changed.Key = 9, "other"
	require.True(t, first.Same(changed), "identity is not the value")
	out.Drop("malformed")
	require.Equal(t, "malformed", out.Dropped())
	out.Begin(2, in)
	require.Empty(t, out.Records())
	require.Empty(t, out.Dropped())
}

func TestInput_Index(t *testing.T) {
	in := model.NewInput([]model.Partition{
		{Records: make([]model.Record, 2), Every: 10},
		{Every: 10},
		{Records: make([]model.Record, 3), Every: 10}})
	require.Equal(t, 5, in.Total())
	for i := range in.Total() {
		rec := in.ByIndex(i)
		require.Equal(t, i, in.Index(rec.ID))
		require.True(t, in.Has(rec.ID))
		require.Same(t, rec, in.At(rec.ID))
	}
	for _, id := range []model.ID{{Part: 1}, {Part: 3}, {Part: -1}, {Offset: 2}, {Offset: -1}} {
		require.False(t, in.Has(id), "%+v", id)
	}
	require.EqualValues(t, 30, in.Parts[0].Arrival(2))
	require.Panics(t, func() { model.NewInput([]model.Partition{{}}) })
}

// Every name reads back as what it names, and no two are alike.
func TestNames_RoundTrip(t *testing.T) {
	for _, k := range model.Kinds() {
		got, ok := model.ParseKind(k.String())
		require.True(t, ok)
		require.Equal(t, k, got)
	}
	_, ok := model.ParseKind("none")
	require.False(t, ok)
	codes := map[string]bool{}
	for _, k := range model.Anomalies() {
		got, ok := model.ParseAnomaly(k.String())
		require.True(t, ok)
		require.Equal(t, k, got)
		require.False(t, codes[k.Code()], k.Code())
		codes[k.Code()] = true
	}
	require.Panics(t, func() { _ = model.Kind(200).String() })
	require.Panics(t, func() { _ = model.EntryKind(0).String() })
}

func TestAnomaly_Cite(t *testing.T) {
	var a model.Anomaly
	for _, n := range []int64{5, 0, 5, 7, 8, 9, 10} {
		a.Cite(n)
	}
	require.Equal(t, [model.EventsMax]int64{5, 7, 8, 9}, a.Events)
}

func TestFact_String(t *testing.T) {
	for want, f := range map[string]model.Fact{
		"never":         {},
		"once":          {Times: 1},
		"3 times":       {Times: 3},
		"value 5":       {Times: -1, HasValue: true, Value: model.Value{Num: 5}},
		"once, value 5": {Times: 1, HasValue: true, Value: model.Value{Num: 5}},
		"values 5 and \"x\"": {Times: -1, HasValue: true, HasOther: true,
			Value: model.Value{Num: 5}, Other: model.Value{Text: "x"}},
	} {
		require.Equal(t, want, f.String())
	}
}

// A rule that no fault compiles to is a broken invariant.
func TestRule_Validate(t *testing.T) {
	good := []model.Rule{
		{Action: model.Crash, Point: model.After, Scope: model.EveryEffect, N: 1},
		{Action: model.Pause, Point: model.AtTime, For: 1},
		{Action: model.Crash, Point: model.BeforeAck, Scope: model.CallOfKind, N: 2,
			Call: model.Write},
		{Action: model.LoseAnswer, Scope: model.CallOfKind, N: 1, Call: model.Put},
	}
	for _, r := range good {
		require.NotPanics(t, r.Validate, "%+v", r)
	}
	bad := []model.Rule{
		{},
		{Action: model.Crash, Scope: model.EveryEffect, N: 1},
		{Action: model.Crash, Point: model.After, Scope: model.EveryEffect},
		{Action: model.LoseAnswer, Scope: model.EveryEffect, N: 1},
		{Action: model.LoseAnswer, Scope: model.CallOfKind, N: 1, Call: model.Data},
		{Action: model.Crash, Point: model.AtTime, At: -1},
		{Action: model.Pause, Point: model.AtTime},
		{Action: model.Crash, Point: model.After, N: 1},
		{Action: model.Crash, Point: model.After, Scope: model.StartEffect, N: 1},
		{Action: model.Crash, Point: model.After, Scope: model.EveryEffect, N: 1,
			Proc: model.Nobody},
		{Action: 99, Scope: model.CallOfKind, N: 1, Call: model.Put},
	}
	for _, r := range bad {
		require.Panics(t, r.Validate, "%+v", r)
	}
}

// Scripts keep the order in which effects were asked for.
func ExampleScript() {
	var s model.Script
	s.CallUntilDone(model.InputLog, model.Message{Kind: model.OffsetCommit, Seq: 1})
	s.Send(1, model.Message{Kind: model.Data})
	for _, e := range s.Effects {
		fmt.Println(e.Kind == model.EffectCall, e.Msg.Kind)
	}
	// Output:
	// true offset-commit
	// false data
}

func TestScript_AfterWantsADelay(t *testing.T) {
	var s model.Script
	require.Panics(t, func() { s.After(0, 1) })
}

func TestExtent_Reset(t *testing.T) {
	var e model.Extent
	e.Reset(3)
	e.Effects[2], e.Calls[1][model.Write], e.Lives[0] = 4, 5, 6
	e.Messages[0][model.MessageIndex(2, model.Ack)] = 7
	e.Reset(2)
	require.Equal(t, []int64{0, 0}, e.Effects)
	require.Zero(t, e.Calls[1][model.Write])
	require.Equal(t, []int32{0, 0}, e.Lives)
	e.Reset(4)
	require.Len(t, e.Calls, 4)
	require.Zero(t, e.Effects[2])
	require.Len(t, e.Messages, 4)
	for i, sent := range e.Messages {
		require.Len(t, sent, model.MessageIndex(4, model.Data), i)
		for _, n := range sent {
			require.Zero(t, n)
		}
	}
	require.Zero(t, testing.AllocsPerRun(5, func() { e.Reset(4) }))
}

func TestMessageIndex(t *testing.T) {
	var kinds []model.Kind
	for _, kind := range model.Kinds() {
		if kind.IsMessage() {
			kinds = append(kinds, kind)
		}
	}
	i := 0
	for to := range model.ProcID(3) {
		for _, kind := range kinds {
			require.Equal(t, i, model.MessageIndex(to, kind), "%d %s", to, kind)
			gotTo, gotKind := model.MessageAt(i)
			require.Equal(t, to, gotTo)
			require.Equal(t, kind, gotKind)
			i++
		}
	}
}

// A kind travels between processes or is a request, and only some requests change something.
func TestKind_Sorts(t *testing.T) {
	for _, kind := range model.Kinds() {
		require.NotEqual(t, kind.IsMessage(), kind.IsCall(), kind)
		if kind.IsDurable() {
			require.True(t, kind.IsCall(), kind)
		}
		if kind.IsNotice() {
			require.True(t, kind.IsMessage(), kind)
		}
	}
	for _, kind := range []model.Kind{model.Data, model.Ack, model.Barrier} {
		require.True(t, kind.IsMessage(), kind)
		require.False(t, kind.IsNotice(), kind)
	}
	for _, kind := range []model.Kind{model.Fetch, model.Get, model.Read, model.Newest,
		model.Download, model.ListTxns, model.NewestBatch, model.LoadIDs} {
		require.False(t, kind.IsDurable(), kind)
	}
	require.False(t, model.NoKind.IsMessage())
}

// Requests and messages about a checkpoint say which; a record is about none.
func TestMessage_Checkpoint(t *testing.T) {
	for _, kind := range []model.Kind{model.Barrier, model.Complete, model.Upload,
		model.Completion, model.CommitTxn} {
		m := model.Message{Kind: kind, Seq: 7}
		require.EqualValues(t, 7, m.Checkpoint(), kind)
	}
	for _, kind := range []model.Kind{model.Data, model.Write, model.Fetch, model.BeginTxn} {
		m := model.Message{Kind: kind, Seq: 7}
		require.Zero(t, m.Checkpoint(), kind)
	}
}
