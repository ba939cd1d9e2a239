package search_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/scenarios"
	"github.com/oncesim/oncesim/search"
)

// twoInputs merges two inputs in one count: the smallest job in which barriers must be aligned.
func twoInputs(lib *scenarios.Library) *model.Topology {
	count := slices.IndexFunc(lib.Operators, func(op *model.Operator) bool {
		return op.Name == "count"
	})
	return &model.Topology{Name: "two-inputs",
		Inputs: []model.InputSpec{{Name: "left"}, {Name: "right"}},
		Stages: []model.Stage{{Name: "count", Operator: lib.Operators[count],
			From: []string{"left", "right"}, Exchange: model.ByKey}}}
}

// orderly is a scenario of a few lines of input on a topology.
func orderly(t *testing.T, topology, mode string, lines ...string) *scenarios.Scenario {
	lib := scenarios.Builtin()
	s := &scenarios.Scenario{Name: "orders", Seed: 1}
	s.Input = scenarios.InputSpec{Kind: scenarios.InputInline, Lines: lines}
	for _, top := range append(lib.Topologies, twoInputs(lib)) {
		if top.Name == topology {
			s.Topology = top
		}
	}
	for _, m := range lib.Modes {
		if m.Name == mode {
			s.Mode = m
		}
	}
	require.NotNil(t, s.Topology, topology)
	require.NotNil(t, s.Mode, mode)
	return s
}

func explored(t *testing.T, o search.Orders, s *scenarios.Scenario) *search.OrdersFound {
	o.Library = scenarios.Builtin()
	found, err := o.Explore(context.Background(), s)
	require.NoError(t, err)
	return found
}

// smallWorlds are what is small enough to be explored without any reduction.
var smallWorlds = []struct {
	topology        string
	modes           string
	lines           []string
	crashes, timers int
}{
	{topology: "pipeline", lines: []string{"a=1", "a=2"}},
	{topology: "pipeline", lines: []string{"a=1"}, timers: 1},
	{topology: "pipeline", lines: []string{"a=1"}, crashes: 1},
	{topology: "two-inputs", lines: []string{"a=1", "a=2"}},
}

// Taking one order of steps that commute keeps every end of a run: the same verdicts are found, and
// where steps do not repeat as many ends, as when all orders are taken.
func TestOrders_ReductionKeepsVerdicts(t *testing.T) {
	worlds := smallWorlds
	if underRace {
		worlds = worlds[:1]
	}
	for _, world := range worlds {
		for _, mode := range scenarios.Builtin().Modes {
			name := fmt.Sprintf("%s/%s/%d crashes/%d timers", world.topology, mode.Name,
				world.crashes, world.timers)
			t.Run(name, func(t *testing.T) {
				s := orderly(t, world.topology, mode.Name, world.lines...)
				o := search.Orders{Crashes: world.crashes, Timers: world.timers, StatesMax: 1 << 19}
				if world.crashes > 0 && !*full && isLarge(mode) {
					o.Victims = []string{"sink/0"}
				}
				o.NoReduction = true
				all := explored(t, o, s)
				o.NoReduction = false
				some := explored(t, o, s)
				t.Logf("%d and %d states, %d and %d runs", all.States, some.States, all.Runs,
					some.Runs)
				require.True(t, all.Exhausted, all.Why)
				require.True(t, some.Exhausted, some.Why)
				require.Equal(t, sortedKeys(all.Signatures), sortedKeys(some.Signatures))
			})
		}
	}
}

// isLarge reports whether a mode has some 100,000 states where any process may crash: jobs that
// restart as a whole, with a sink that keeps what it has prepared. Without -golden.full it crashes
// alone.
func isLarge(mode *model.Mode) bool {
	return slices.Contains([]string{"two-phase-commit", "snapshot-wal", "snapshot-wal-split"},
		mode.Name)
}

// Two inputs that meet, and a checkpoint while records are under way: where tasks wait for all
// barriers every completed checkpoint is a cut, and where they count them some is not. Both are
// exhausted, so that the first is no matter of luck.
func TestOrders_AlignmentMakesCuts(t *testing.T) {
	if testing.Short() || underRace {
		t.Skip("it takes some seconds")
	}
	o := search.Orders{Timers: 1}
	aligned := explored(t, o, orderly(t, "running-average", "snapshot", "a=1", "a=2", "a=3", "a=4"))
	require.True(t, aligned.Exhausted, aligned.Why)
	require.Empty(t, aligned.Anomalies)
	require.Equal(t, []int64{581740, 36}, []int64{aligned.States, aligned.Runs})

	counted := explored(t, o,
		orderly(t, "running-average", "snapshot-counting", "a=1", "a=2", "a=3", "a=4"))
	require.True(t, counted.Exhausted, counted.Why)
	require.Equal(t, map[model.AnomalyKind]int64{model.InconsistentCut: 33}, counted.Anomalies)
	require.Equal(t, []int64{965688, 96}, []int64{counted.States, counted.Runs})
}

// What small worlds come to, in states and ends.
func TestOrders_SmallWorlds(t *testing.T) {
	if underRace {
		t.Skip("many states, and no other code than that of TestOrders_AnyNumberOfWorkers")
	}
	for _, c := range []struct {
		mode         string
		states, runs int64
		kinds        map[model.AnomalyKind]int64
	}{
		{"snapshot", 28942, 6, map[model.AnomalyKind]int64{}},
		{"snapshot-counting", 40978, 12, map[model.AnomalyKind]int64{model.InconsistentCut: 6}},
	} {
		f := explored(t, search.Orders{Lulls: 1}, orderly(t, "two-inputs", c.mode, "a=1", "a=2"))
		require.True(t, f.Exhausted, f.Why)
		require.Equal(t, []int64{c.states, c.runs}, []int64{f.States, f.Runs}, c.mode)
		require.Equal(t, c.kinds, f.Anomalies, c.mode)
	}
}

// A witness is the steps of a run, and taking them again shows the anomaly again.
func TestOrders_WitnessesReplay(t *testing.T) {
	s := orderly(t, "pipeline", "at-least-once", "a=1", "a=2")
	o := search.Orders{Library: scenarios.Builtin(), Crashes: 1}
	f := explored(t, o, s)
	require.NotEmpty(t, f.Witnesses)
	for kind, tape := range f.Witnesses {
		res, err := o.Replay(s, tape)
		require.NoError(t, err)
		require.True(t, slices.ContainsFunc(res.Verdicts, func(v model.Verdict) bool {
			return v.Has(kind)
		}), kind)
		require.NotEmpty(t, res.Trace)
		require.Contains(t, tape.String(), "crash ")
	}
}

// Time and latencies show nothing under a crash that an exhausted exploration calls impossible.
func TestOrders_TimeShowsNothingMore(t *testing.T) {
	lib := scenarios.Builtin()
	for _, mode := range []string{"none", "at-most-once", "at-least-once", "dedup", "micro-batch",
		"idempotent", "snapshot"} {
		s := orderly(t, "pipeline", mode, "a=1")
		f := explored(t, search.Orders{Crashes: 1}, s)
		require.True(t, f.Exhausted, mode)
		cell := search.Cell{Library: lib, Scenario: s}
		for _, class := range lib.Classes {
			if class.Name == "crash" {
				cell.Class = class
			}
		}
		placed, err := cell.Place(context.Background(), false)
		require.NoError(t, err)
		require.NotZero(t, placed.Runs)
		for kind := range placed.Anomalies {
			require.Contains(t, f.Anomalies, kind, mode)
		}
	}
}

// With a crash anywhere, waiting for all barriers keeps what the mode claims.
func TestOrders_AlignmentOutlivesACrash(t *testing.T) {
	if !*full {
		t.Skip("it takes half a minute")
	}
	s := orderly(t, "two-inputs", "snapshot", "a=1", "a=2")
	f := explored(t, search.Orders{Crashes: 1}, s)
	require.True(t, f.Exhausted, f.Why)
	require.Equal(t, []int64{3475206, 3258}, []int64{f.States, f.Runs})
	keepsClaims(t, s, f)
}

func sortedKeys(m map[string]int64) []string { return slices.Sorted(maps.Keys(m)) }
