package search_test

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/checker"
	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/scenarios"
	"github.com/oncesim/oncesim/search"
)

// keepsClaims holds a mode to what it claims of a commutative operator, over all ends.
func keepsClaims(t *testing.T, s *scenarios.Scenario, f *search.OrdersFound) {
	for i, p := range scenarios.Builtin().Properties {
		if slices.Contains(s.Mode.ClaimsFor(model.Commutative), p.Name) {
			require.Positive(t, f.Counts[i].Holds, p.Name)
			require.Zero(t, f.Counts[i].Violated+f.Counts[i].Undecided, p.Name)
		}
	}
}

// A checkpoint between two records and a crash behind it: where barriers are counted the state has
// a record that the position of its source has not, so that it is taken up twice. Runs at random
// show it soon. Where tasks wait for all barriers, neither do many of these show it, nor do the
// first states of all that there are, up to a bound that does not exhaust them.
func TestOrders_CountingRepeatsAfterACrash(t *testing.T) {
	if testing.Short() || underRace {
		t.Skip("it takes some seconds, on one goroutine")
	}
	t.Parallel()
	o := search.Orders{Library: scenarios.Builtin(), Crashes: 1, Lulls: 1, Walks: 200_000}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	o.Inspect = func(res *scenarios.Result) {
		if slices.ContainsFunc(res.Verdicts, func(v model.Verdict) bool {
			return v.Has(model.StateDuplicate)
		}) {
			stop()
		}
	}
	s := orderly(t, "two-inputs", "snapshot-counting", "a=1", "a=2")
	f, err := o.Explore(ctx, s)
	require.NoError(t, err)
	require.EqualValues(t, 1, f.Anomalies[model.StateDuplicate])
	repeatsInState(t, o, s, f)

	o.Inspect, o.Walks = nil, 20_000
	s = orderly(t, "two-inputs", "snapshot", "a=1", "a=2")
	keepsClaims(t, s, explored(t, o, s))
	o.Walks, o.StatesMax = 0, 100_000
	f = explored(t, o, s)
	require.False(t, f.Exhausted)
	keepsClaims(t, s, f)
}

// The same with one record and crashes of the sink, which is small enough to be exhausted.
func TestOrders_CountingRepeatsExhausted(t *testing.T) {
	if !*full {
		t.Skip("it takes half a minute")
	}
	o := search.Orders{Library: scenarios.Builtin(), Crashes: 1, Lulls: 1,
		Victims: []string{"sink/0"}}
	s := orderly(t, "two-inputs", "snapshot-counting", "a=1")
	f := explored(t, o, s)
	require.True(t, f.Exhausted, f.Why)
	require.EqualValues(t, 338, f.Anomalies[model.StateDuplicate])
	repeatsInState(t, o, s, f)

	s = orderly(t, "two-inputs", "snapshot", "a=1")
	f = explored(t, o, s)
	require.True(t, f.Exhausted, f.Why)
	keepsClaims(t, s, f)
}

// repeatsInState replays the witness of a record that is twice in the state.
func repeatsInState(t *testing.T, o search.Orders, s *scenarios.Scenario, f *search.OrdersFound) {
	res, err := o.Replay(s, f.Witnesses[model.StateDuplicate])
	require.NoError(t, err)
	i := slices.IndexFunc(o.Library.Properties, func(p checker.Property) bool {
		return p.Name == "exactly-once-state"
	})
	require.Equal(t, model.Violated, res.Verdicts[i].Result)
	require.True(t, res.Verdicts[i].Has(model.StateDuplicate))
}
