package scenarios_test

import (
	"flag"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/report"
	"github.com/oncesim/oncesim/scenarios"
)

var allScenarios = flag.Bool("determinism.full", false,
	"run 20,000 drawn scenarios twice, not one for each mode, topology and class")

// manyScenarios is how many scenarios are drawn with -determinism.full.
const manyScenarios = 20_000

// TestDeterminism_DrawnScenarios runs drawn scenarios, of every mode on every topology under every
// class of faults, twice each: in a world that has run others before and in a new one. Both come to
// the same.
func TestDeterminism_DrawnScenarios(t *testing.T) {
	lib := scenarios.Builtin()
	cells := 0
	for _, mode := range lib.Modes {
		for _, class := range lib.Classes {
			if class.Applies(mode) {
				cells += len(lib.Topologies)
			}
		}
	}
	each := 1
	if *allScenarios {
		each = (manyScenarios + cells - 1) / cells
	}
	runs := 0
	for m, mode := range lib.Modes {
		for p, top := range lib.Topologies {
			for c, class := range lib.Classes {
				if !class.Applies(mode) {
					continue
				}
				s := &scenarios.Scenario{Name: top.Name, Topology: top, Mode: mode}
				s.Input.Records = 2 + (m+p+c)%4
				if class.Vary != nil {
					class.Vary(s)
				}
				runs += each
				drawnTwice(t, lib, s, class, uint64(runs), each)
			}
		}
	}
	t.Logf("%d scenarios", runs)
}

// drawnTwice runs n plans of a class, the first of them under a given seed.
func drawnTwice(t *testing.T, lib *scenarios.Library, s *scenarios.Scenario,
	class *scenarios.Class, first uint64, n int) {
	t.Helper()
	used, err := scenarios.NewRunner(lib, s)
	require.NoError(t, err)
	extent := used.Run(first, nil, scenarios.Options{}).Subject.History.Extent
	var plans [][]model.Rule
	for i := range uint64(n) {
		plans = append(plans, class.Draw(first+i, &extent, nil))
	}
	for i, rules := range plans {
		seed := first + uint64(i)
		fresh, err := scenarios.NewRunnerOn(lib, s, used.Input())
		require.NoError(t, err)
		one := used.Run(seed, rules, scenarios.Options{}).Subject.History.End
		other := fresh.Run(seed, rules, scenarios.Options{}).Subject.History.End
		if one != other {
			a := used.Run(seed, rules, scenarios.Options{Trace: true}).Trace
			b := fresh.Run(seed, rules, scenarios.Options{Trace: true}).Trace
			t.Fatalf("%s under %s, %s, seed %d, rules %+v: %+v and %+v\n%s", s.Name, s.Mode.Name,
				class.Name, seed, rules, one, other, report.Difference(used.Job(), a, b))
		}
	}
}
