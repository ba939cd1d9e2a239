package faults

import (
	"testing"

	"github.com/oncesim/oncesim/model"
	"github.com/stretchr/testify/require"
)

// Vectors. Saved seeds and golden hashes hang on them: if they move, so does every drawn plan.
func TestDraw_golden(t *testing.T) {
	var got []string
	for n := range uint64(17) {
		rule, ok := Draw(1, n, newExtent(), model.Action(n)+model.Crash, 80_000_000, 2_000_000_000)
		require.True(t, ok)
		got = append(got, FromRule(newJob(2), rule).String())
	}
	require.Equal(t, []string{
		"crash sink/0 during write 3",
		"pause sink/0 before ack of write 4 for 2s",
		"lose request of put 1 from op/0",
		"lose answer of write 1 from sink/0",
		"delay call fetch 2 of source/0 by 2s",
		"duplicate call put 2 of op/0 by 80ms",
		"lose ack 1 from op/0 to source/0",
		"delay data 1 from op/1 to sink/1 by 80ms",
		"duplicate data 1 from op/1 to sink/1 by 80ms",
		"reorder data 1 from op/1 to sink/1 within 80ms",
		"partition sink/0 | op/0 for 80ms at ack 1",
		"crash store for 2s at get 2 of op/0",
		"refuse call fetch 2 of source/0",
		"forget call offset-commit 2 of source/0",
		"stale call get 1 of op/0",
		"truncate input/0 before 2 at fetch 3 of source/0",
		"poison record input/0:2 at op/1",
	}, got)
}

const seeds = 8_000

// drawn counts what many seeds draw.
func drawn(n uint64, action model.Action, durations ...int64) map[model.Rule]int {
	counts, extent := map[model.Rule]int{}, newExtent()
	for seed := range uint64(seeds) {
		rule, _ := Draw(seed, n, extent, action, durations...)
		counts[rule]++
	}
	return counts
}

// The first fault is somewhere in the extent, and may be anywhere in it.
func TestDraw_firstCoversThePlaces(t *testing.T) {
	for action := model.Crash; action <= model.PoisonRecord; action++ {
		counts := drawn(0, action, 7)
		places := Places{Action: action, For: 7, Extent: newExtent()}
		for rule := range places.Each {
			require.NotZero(t, counts[rule], "%+v", rule)
			delete(counts, rule)
		}
		require.Empty(t, counts)
	}
}

// A later fault may be up to half the extent beyond it, where recovery is.
func TestDraw_laterGoesBeyond(t *testing.T) {
	longer := newExtent()
	longer.Effects = []int64{9, 0, 6, 3, 5, 0}
	longer.Calls[0] = calls(model.Position, 2, model.Fetch, 3, model.OffsetCommit, 2)
	longer.Calls[2] = calls(model.Get, 2, model.Put, 3)
	longer.Calls[4] = calls(model.Write, 5)
	counts := drawn(3, model.Crash)
	for rule := range (Places{Action: model.Crash, Extent: longer}).Each {
		require.NotZero(t, counts[rule], "%+v", rule)
		delete(counts, rule)
	}
	require.Empty(t, counts)
}

// Processes are equally likely however much they do, and so are the places in one of them.
func TestDraw_uniform(t *testing.T) {
	perProcess := map[model.ProcID]int{}
	for rule, n := range drawn(0, model.Crash) {
		perProcess[rule.Proc] += n
		if rule.Proc == 3 {
			require.InDelta(t, seeds/4/4, n, 100, "%+v", rule)
		}
	}
	require.Len(t, perProcess, 4)
	for proc, n := range perProcess {
		require.InDelta(t, seeds/4, n, 200, "process %d", proc)
	}
}

func TestDraw_durations(t *testing.T) {
	perDuration := map[int64]int{}
	for rule, n := range drawn(1, model.Pause, 10, 20, 30) {
		perDuration[rule.For] += n
	}
	require.Len(t, perDuration, 3)
	for ns, n := range perDuration {
		require.InDelta(t, seeds/3, n, 200, "%d ns", ns)
	}
	require.Panics(t, func() { drawn(0, model.Pause) })
	for rule := range drawn(0, model.DuplicateRequest) {
		require.EqualValues(t, DuplicateAfter, rule.For)
	}
}

// What is drawn depends on its arguments and on nothing that was drawn before.
func TestDraw_isKeyed(t *testing.T) {
	alone, _ := Draw(5, 2, newExtent(), model.Crash)
	for n := range uint64(10) {
		Draw(5, n, newExtent(), model.LoseAnswer)
	}
	again, _ := Draw(5, 2, newExtent(), model.Crash)
	require.Equal(t, alone, again)

	// Neither the ordinals nor the seeds nor the actions of a plan share a stream.
	same := map[string]int{}
	for seed := range uint64(1000) {
		one, _ := Draw(seed, 1, newExtent(), model.Crash)
		for name, other := range map[string]model.Rule{
			"n":      first(Draw(seed, 2, newExtent(), model.Crash)),
			"seed":   first(Draw(seed+1, 1, newExtent(), model.Crash)),
			"action": first(Draw(seed, 1, newExtent(), model.Pause, 1)),
		} {
			other.Action, other.For = one.Action, one.For
			if one == other {
				same[name]++
			}
		}
	}
	for name, n := range same {
		require.Less(t, n, 60, name)
	}
}

// A draw covers the places of its kinds. Kinds that a run does not have move nothing.
func TestDraw_kinds(t *testing.T) {
	counts := map[model.Rule]int{}
	places := Places{Action: model.ReorderMessages, For: 7, Extent: newBusyExtent(),
		Kinds: []model.Kind{model.Barrier, model.Acknowledge}}
	for seed := range uint64(200) {
		rule, ok := places.Draw(seed, 0)
		require.True(t, ok)
		counts[rule]++
	}
	for rule := range places.Each {
		require.NotZero(t, counts[rule], "%+v", rule)
		delete(counts, rule)
	}
	require.Empty(t, counts)

	places.Kinds = []model.Kind{model.Cancel}
	_, ok := places.Draw(1, 0)
	require.False(t, ok)

	places.Kinds = []model.Kind{model.Data, model.Ack}
	for seed := range uint64(200) {
		want, _ := Draw(seed, 1, newExtent(), model.ReorderMessages, 7)
		got, _ := places.Draw(seed, 1)
		require.Equal(t, want, got)
	}
}

func first(rule model.Rule, _ bool) model.Rule { return rule }

// A process that makes no calls is never drawn for a fault of calls.
func TestDraw_nothingToHit(t *testing.T) {
	_, ok := Draw(1, 0, &model.Extent{}, model.Crash)
	require.False(t, ok)

	idle := &model.Extent{Effects: []int64{3}, Calls: [][]int64{calls()},
		Messages: [][]int64{messages(1)}}
	_, ok = Draw(1, 0, idle, model.LoseRequest)
	require.False(t, ok)
	_, ok = Draw(1, 0, idle, model.LoseMessage)
	require.False(t, ok)
	rule, ok := Draw(1, 0, idle, model.Crash)
	require.True(t, ok)
	require.Equal(t, model.EveryEffect, rule.Scope)
}

func TestDraw_allocatesNothing(t *testing.T) {
	extent := newExtent()
	seed := uint64(0)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		seed++
		Draw(seed, 1, extent, model.Pause, 10, 20)
	}))
}
