package search_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/scenarios"
	"github.com/oncesim/oncesim/search"
)

// What an exhausted exploration comes to, its witnesses to the last step, does not depend on how
// many workers there are nor on who comes where first.
func TestOrders_AnyNumberOfWorkers(t *testing.T) {
	for i, c := range []struct {
		topology, mode string
		lines          []string
		o              search.Orders
		kinds          int
	}{
		{"pipeline", "at-least-once", []string{"a=1", "a=2"}, search.Orders{Crashes: 1}, 4},
		{"two-inputs", "snapshot-counting", []string{"a=1", "a=2"}, search.Orders{Lulls: 1}, 1},
	} {
		if i > 0 && underRace {
			break // the first has all that workers share
		}
		s := orderly(t, c.topology, c.mode, c.lines...)
		var first *search.OrdersFound
		for _, workers := range []int{1, 2, 3, 2, 3} {
			c.o.Library, c.o.Workers = scenarios.Builtin(), workers
			f := explored(t, c.o, s)
			require.True(t, f.Exhausted, f.Why)
			if first == nil {
				first = f
				require.Len(t, f.Witnesses, c.kinds)
			}
			require.Equal(t, linesOf(first), linesOf(f), "%d workers", workers)
			f.Witnesses = first.Witnesses
			require.Equal(t, first, f, "%d workers", workers)
		}
	}
}

// Runs at random are the same runs each time.
func TestOrders_WalksAreAFunctionOfTheSeed(t *testing.T) {
	s := orderly(t, "two-inputs", "snapshot-counting", "a=1", "a=2")
	o := search.Orders{Crashes: 1, Lulls: 1, Walks: 500, Workers: 1}
	first := explored(t, o, s)
	require.False(t, first.Exhausted)
	require.Equal(t, "500 runs at random", first.Why)
	require.NotEmpty(t, first.Witnesses)
	o.Workers = 3
	again := explored(t, o, s)
	require.Equal(t, linesOf(first), linesOf(again))
	again.Witnesses = first.Witnesses
	require.Equal(t, first, again)
	s.Seed = 2
	require.NotEqual(t, linesOf(first), linesOf(explored(t, o, s)))
}

// linesOf are the witnesses in words.
func linesOf(f *search.OrdersFound) map[model.AnomalyKind]string {
	lines := map[model.AnomalyKind]string{}
	for kind, tape := range f.Witnesses {
		lines[kind] = tape.String()
	}
	return lines
}
