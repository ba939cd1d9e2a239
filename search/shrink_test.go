package search_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/faults"
	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/scenarios"
	"github.com/oncesim/oncesim/search"
)

// How many failing runs are shrunk, without and with -golden.full.
const (
	shrunkShort = 20
	shrunkFull  = 200
)

// failing draws a run: a world, a mode, a class of faults and a seed. A world is one of the golden
// table, or a topology of the library with up to thirty records; every third plan has up to six
// faults of any class. ok is false where nothing of that kind applies, or nothing is violated.
func failing(t *testing.T, lib *scenarios.Library, n uint64) (s *scenarios.Scenario, ok bool) {
	draw := func(what, below int) int {
		return int(model.Below(model.Draw(n, model.DrawPlan, 1<<40, uint64(what), 0), int64(below)))
	}
	if at := draw(0, len(goldenScenarios)+len(lib.Topologies)); at < len(goldenScenarios) {
		s = builtin(t, lib, goldenScenarios[at])
	} else {
		top := lib.Topologies[at-len(goldenScenarios)]
		s = &scenarios.Scenario{Name: top.Name, Topology: top, Seed: 1,
			Input: scenarios.InputSpec{Records: 5 + draw(1, 26)}}
	}
	mode := lib.Modes[draw(2, len(lib.Modes))]
	class := lib.Classes[draw(3, len(lib.Classes))]
	if !class.Applies(mode) {
		return nil, false
	}
	s = search.Under(s, mode, class)
	s.Seed = uint64(draw(4, 1_000_000))
	r, err := scenarios.NewRunner(lib, s)
	require.NoError(t, err)
	res := r.Run(s.Seed, nil, scenarios.Options{})
	var rules []model.Rule
	if n%3 > 0 {
		rules = class.Draw(s.Seed, &res.Subject.History.Extent, nil)
	} else {
		all := slices.DeleteFunc(slices.Clone(lib.Classes), func(c *scenarios.Class) bool {
			return c.Vary != nil
		})
		p, err := search.NewPlanner(r, s, all, 6)
		require.NoError(t, err)
		rules = p.Plan(r, s.Seed, nil)
	}
	for _, rule := range rules {
		s.Faults = append(s.Faults, faults.FromRule(r.Job(), rule))
	}
	res = r.Run(s.Seed, rules, scenarios.Options{})
	return s, slices.ContainsFunc(res.Verdicts, func(v model.Verdict) bool {
		return v.Result == model.Violated && v.Property != "mechanism"
	})
}

// TestShrink_MakesFailuresSmall shrinks failing runs that are drawn blindly from all worlds, modes
// and classes. What is left has the same signature, replays from its file, and is small.
func TestShrink_MakesFailuresSmall(t *testing.T) {
	lib := scenarios.Builtin()
	want := shrunkShort
	if *full {
		want = shrunkFull
	}
	var plans, records, runs []int64
	minimal := 0
	for n := uint64(0); len(plans) < want; n++ {
		s, ok := failing(t, lib, n)
		if !ok {
			continue
		}
		r, err := search.Shrink(context.Background(), lib, s, search.Shrinking{})
		require.NoError(t, err, n)
		replays(t, lib, s, r, true)
		if r.IsMinimal {
			noLesser(t, lib, r)
		}
		plans, records, runs = append(plans, r.Faults[1]), append(records, r.Records[1]),
			append(runs, int64(r.Runs))
		if r.IsMinimal {
			minimal++
		}
		if testing.Verbose() {
			t.Logf("%d: %s %s: faults %v records %v events %v runs %d minimal %v\n%s", n, s.Name,
				r.Signature, r.Faults, r.Records, r.Events, r.Runs, r.IsMinimal,
				r.Scenario.Faults.Lines())
		}
	}
	t.Logf("faults %s; records %s; runs %s; minimal %d of %d", spread(plans), spread(records),
		spread(runs), minimal, want)
	require.LessOrEqual(t, median(plans), int64(2))
	require.LessOrEqual(t, median(records), int64(4))
	require.LessOrEqual(t, slices.Max(runs), int64(search.ShrinkRuns))
}

func median(list []int64) int64 {
	list = slices.Sorted(slices.Values(list))
	return list[len(list)/2]
}

// spread is the least, the median, the ninth tenth and the most of a list.
func spread(list []int64) string {
	list = slices.Sorted(slices.Values(list))
	return fmt.Sprintf("%d, median %d, 90 %% %d, most %d", list[0], median(list),
		list[len(list)*9/10], list[len(list)-1])
}

// replays holds a shrunk scenario to its word: what its file says runs as it did and, where isWhole
// is set, reaches all of its faults.
func replays(t *testing.T, lib *scenarios.Library, s *scenarios.Scenario, r *search.Shrunk,
	isWhole bool) {
	t.Helper()
	data := scenarios.Format(lib, r.Scenario)
	again, err := scenarios.Parse(lib, "shrunk.sim", data)
	require.NoError(t, err, string(data))
	_, res, err := scenarios.Run(lib, again, scenarios.Options{})
	require.NoError(t, err, string(data))
	_, was, err := scenarios.Run(lib, s, scenarios.Options{})
	require.NoError(t, err)
	require.Equal(t, search.Signature(s.Mode, was.Verdicts), r.Signature)
	require.Equal(t, r.Signature, search.Signature(again.Mode, res.Verdicts), string(data))
	require.Equal(t, r.Events[1], res.Subject.History.End.N)
	require.Equal(t, r.Records[1], int64(res.Subject.Input.Total()))
	if isWhole {
		require.NotContains(t, res.Subject.History.Reached, int64(0), string(data))
	}
}

// noLesser runs everything that is one thing less than a shrunk scenario: nothing of that fails in
// the same way.
func noLesser(t *testing.T, lib *scenarios.Library, r *search.Shrunk) {
	t.Helper()
	holdsNoLesser(t, lib, r, func(s *scenarios.Scenario, res *scenarios.Result) bool {
		return search.Signature(s.Mode, res.Verdicts) == r.Signature
	})
}
