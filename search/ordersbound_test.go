package search_test

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/scenarios"
	"github.com/oncesim/oncesim/search"
	"github.com/oncesim/oncesim/sim"
)

// A bound is kept exactly, by any number of workers and by runs at random. What there is no more of
// than it allows is exhausted, and of what there is one more it is said.
func TestOrders_BoundsAreExact(t *testing.T) {
	s := orderly(t, "pipeline", "dedup", "a=1", "a=2")
	whole := explored(t, search.Orders{Crashes: 1, Workers: 1}, s)
	require.Greater(t, whole.States, int64(200))
	require.Greater(t, whole.Runs, int64(10))
	for _, workers := range []int{1, 3} {
		o := search.Orders{Crashes: 1, Workers: workers}
		for _, most := range []int64{1, 3, 100, whole.States - 1, whole.States, whole.States + 1} {
			o.StatesMax = most
			f := explored(t, o, s)
			require.Equal(t, min(most, whole.States), f.States, "%d workers", workers)
			require.Equal(t, most >= whole.States, f.Exhausted)
			if !f.Exhausted {
				require.Equal(t, "the states allowed are spent", f.Why)
			}
		}
		o.StatesMax = 0
		for _, most := range []int64{1, 2, whole.Runs - 1, whole.Runs} {
			o.RunsMax = most
			f := explored(t, o, s)
			require.Equal(t, most, f.Runs, "%d workers", workers)
			require.Equal(t, most == whole.Runs, f.Exhausted)
			if !f.Exhausted {
				require.Equal(t, "the runs allowed are spent", f.Why)
			}
		}
	}
	f := explored(t, search.Orders{Crashes: 1, Walks: 1000, StatesMax: 50}, s)
	require.EqualValues(t, 50, f.States)
	require.Equal(t, "the states allowed are spent", f.Why)
	f = explored(t, search.Orders{Crashes: 1, Walks: 1000, RunsMax: 3}, s)
	require.EqualValues(t, 3, f.Runs)
	require.Equal(t, "the runs allowed are spent", f.Why)
}

// A job may have as many processes as fit in a set. One more is an error and no panic.
func TestOrders_TooManyProcesses(t *testing.T) {
	s := orderly(t, "pipeline", "snapshot", "a=1")
	o := search.Orders{Library: scenarios.Builtin(), StatesMax: 1}
	for _, c := range []struct{ operators, processes int }{{31, 64}, {32, 66}} {
		wide := scenarios.Pipeline
		wide.Stages = slices.Clone(wide.Stages)
		wide.Stages[0].Parallel = c.operators
		s.Topology = &wide
		require.Len(t, s.Job().Tasks, c.processes)
		_, err := o.Explore(context.Background(), s)
		if c.processes <= sim.ProcessesMax {
			require.NoError(t, err)
			continue
		}
		const message = "the job has 66 processes, and orders are explored of at most 64"
		require.EqualError(t, err, message)
		_, err = o.Replay(s, &search.Tape{})
		require.EqualError(t, err, message)
		_, err = o.Follow(s, "0")
		require.EqualError(t, err, message)
	}
}
