package search_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/scenarios"
	"github.com/oncesim/oncesim/search"
)

// cellOf is a cell on a built-in scenario.
func cellOf(t *testing.T, name string, mode, class int) *search.Cell {
	lib := scenarios.Builtin()
	return &search.Cell{Library: lib, Class: lib.Classes[class],
		Scenario: search.WithMode(builtin(t, lib, name), lib.Modes[mode])}
}

// What a cell comes to does not depend on the number of workers: not the counts, not the hash, not
// which witness is the smallest.
func TestCell_AnyNumberOfWorkers(t *testing.T) {
	var want *search.Tally
	for _, workers := range []int{1, 2, 5} {
		cell := cellOf(t, "page-views-four", 2, 1)
		cell.Workers = workers
		tally, err := cell.Seeds(context.Background(), 1, 300)
		require.NoError(t, err)
		placed, err := cell.Place(context.Background(), false)
		require.NoError(t, err)
		tally.Merge(placed)
		if want == nil {
			want = tally
			continue
		}
		require.Equal(t, want, tally, "%d workers", workers)
	}
}

// A witness is enough to see the anomaly again.
func TestCell_WitnessesReplay(t *testing.T) {
	seeds := uint64(200)
	if underRace {
		seeds = 20
	}
	for i, class := range scenarios.Classes() {
		cell := cellOf(t, "page-views-four", 2, i)
		if !class.Applies(cell.Scenario.Mode) {
			continue
		}
		tally, err := cell.Seeds(context.Background(), 1, seeds)
		require.NoError(t, err)
		runner, err := scenarios.NewRunner(cell.Library, cell.Scenario)
		require.NoError(t, err)
		for kind, w := range tally.Witnesses {
			res := runner.Run(w.Seed, w.Rules, scenarios.Options{})
			found := false
			for i := range res.Verdicts {
				found = found || res.Verdicts[i].Has(kind)
			}
			require.True(t, found, "%s: %s", cell.Class.Name, kind)
			require.Equal(t, w.Events, res.Subject.History.End.N)
		}
	}
}

// An ended context stops the work and loses nothing that is done.
func TestCell_Interrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cell := cellOf(t, "pipeline-three", 2, 1)
	cell.Workers = 1
	cell.Inspect = func() search.Inspect {
		runs := 0
		return func(uint64, []model.Rule, *scenarios.Result) {
			if runs++; runs == 20 {
				cancel()
			}
		}
	}
	tally, err := cell.Seeds(ctx, 1, 10_000)
	require.NoError(t, err)
	require.GreaterOrEqual(t, tally.Runs, int64(20))
	require.Less(t, tally.Runs, int64(100))
}

// A panic in a run reaches the caller with the seed and the rules that repeat it.
func TestCell_PanicNamesTheSeed(t *testing.T) {
	cell := cellOf(t, "pipeline-three", 2, 1)
	cell.Inspect = func() search.Inspect {
		return func(seed uint64, _ []model.Rule, _ *scenarios.Result) {
			if seed == 7 {
				panic("planted")
			}
		}
	}
	defer func() {
		require.Regexp(t, `(?s)^seed 7, rules \[.*planted`, recover())
	}()
	_, _ = cell.Seeds(context.Background(), 1, 40)
	t.Fatal("no panic")
}

// A mode promises what it claims under what it tolerates; where the golden cell says that a
// violation must be reachable, that is claimed. The rest is left open.
func TestClaimOf(t *testing.T) {
	lib := scenarios.Builtin()
	property := func(name string) int {
		for i := range lib.Properties {
			if lib.Properties[i].Name == name {
				return i
			}
		}
		t.Fatal(name)
		return 0
	}
	whole := model.ParamValue{Name: "global", Value: 1}
	mode := &model.Mode{Name: "m", Claims: []string{"order"},
		ClaimsWith: []model.ClaimsWith{{Param: whole, Claims: []string{"global-visibility"}}},
		Tolerates:  []string{"crash", "absent"},
		Cells: []model.Cell{{Class: "absent", Kind: model.Stateless,
			Must: []model.AnomalyKind{model.Loss}}, {Class: "pause", Kind: model.Stateless,
			Must: []model.AnomalyKind{model.Loss}, May: []model.AnomalyKind{model.Duplicate}}}}
	for _, tc := range []struct {
		class, property string
		want            search.Claim
	}{
		{"pause", "at-least-once", search.ClaimViolated},
		{"pause", "at-most-once", search.NoClaim},
		{"pause", "order", search.NoClaim},
		{"pause", "mechanism", search.NoClaim},
		{"crash", "order", search.ClaimHolds},
		{"crash", "at-least-once", search.NoClaim},
		{"zombie", "order", search.NoClaim},
		{"absent", "at-least-once", search.NoClaim},
		{"absent", "order", search.NoClaim},
	} {
		class := &scenarios.Class{Name: tc.class}
		if tc.class == "absent" {
			class.Needs = func(*model.Mode) bool { return false }
		}
		got := search.ClaimOf(mode, class, model.Stateless, nil,
			&lib.Properties[property(tc.property)])
		require.Equal(t, tc.want, got, "%s %s", tc.class, tc.property)
	}
	for want, params := range map[search.Claim][]model.ParamValue{search.NoClaim: nil,
		search.ClaimHolds: {whole}} {
		got := search.ClaimOf(mode, &scenarios.Class{Name: "crash"}, model.Stateless, params,
			&lib.Properties[property("global-visibility")])
		require.Equal(t, want, got, "%v", params)
	}
}

// Where a class does not apply to a mode nothing is run and nothing is claimed.
func TestCompare_ClassThatDoesNotApply(t *testing.T) {
	lib := scenarios.Builtin()
	class := &scenarios.Class{Name: "absent", Action: model.Crash,
		Needs: func(*model.Mode) bool { return false }}
	m, err := search.Compare(context.Background(), lib, builtin(t, lib, "pipeline-three"),
		search.Comparing{Modes: lib.Modes[:2], Classes: []*scenarios.Class{class, lib.Classes[1]},
			First: 1, Last: 5})
	require.NoError(t, err)
	require.Len(t, m.Rows, 4)
	for i := range m.Rows {
		row := &m.Rows[i]
		if row.Class != class {
			require.EqualValues(t, 5, row.Seeds.Runs)
			require.Positive(t, row.Placed.Runs)
			continue
		}
		require.Zero(t, row.Seeds.Runs+row.Placed.Runs)
		for p := range lib.Properties {
			require.Equal(t, "n/a", row.Claims[p].String())
			require.Equal(t, model.Undecided, row.Observed(p))
			require.False(t, row.TakesACrash(p))
		}
	}
}

// A mode's golden cells agree with what it claims and tolerates: under a tolerated class nothing
// appears that violates a claimed property.
func TestModes_CellsAgreeWithClaims(t *testing.T) {
	lib := scenarios.Builtin()
	for _, mode := range lib.Modes {
		for _, class := range lib.Classes {
			for kind := model.Stateless; kind <= model.NonDeterministic; kind++ {
				cell, ok := mode.Cell(class.Name, kind)
				require.Equal(t, class.Applies(mode), ok, "%s: a cell for %s, %s", mode.Name,
					class.Name, kind)
				if !slices.Contains(mode.Tolerates, class.Name) {
					continue
				}
				for i := range lib.Properties {
					p := &lib.Properties[i]
					if !slices.Contains(mode.ClaimsFor(kind), p.Name) {
						continue
					}
					for _, a := range search.AnomaliesUnder(mode, p) {
						require.NotContains(t, slices.Concat(cell.Must, cell.May), a,
							"%s claims %s under %s, %s", mode.Name, p.Name, class.Name, kind)
					}
				}
			}
		}
	}
}

// A cell runs as many seeds as it was asked for, or says that it cannot.
func TestCell_TooManySeeds(t *testing.T) {
	ctx := context.Background()
	cell := cellOf(t, "pipeline-three", 2, 1)
	for _, last := range []uint64{math.MaxUint64, math.MaxInt64 + 1} {
		_, err := cell.Seeds(ctx, 0, last)
		require.ErrorContains(t, err, fmt.Sprintf("seeds 0-%d are too many", last))
		_, err = cell.Envelope(ctx, 0, last, 3)
		require.ErrorContains(t, err, fmt.Sprintf("seeds 0-%d are too many", last))
		lib := cell.Library
		_, err = search.Compare(ctx, lib, cell.Scenario, search.Comparing{Modes: lib.Modes[2:3],
			Classes: lib.Classes[1:2], Last: last})
		require.ErrorContains(t, err, "too many")
	}
	_, err := cell.Seeds(ctx, 9, 8)
	require.ErrorContains(t, err, "seeds 9-8")
	tally, err := cell.Seeds(ctx, math.MaxUint64-2, math.MaxUint64)
	require.NoError(t, err)
	require.EqualValues(t, 3, tally.Runs)
}

// A matrix whose runs were not all made says so.
func TestCompare_PartialWithoutAllSeeds(t *testing.T) {
	cell := cellOf(t, "pipeline-three", 2, 1)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	lib := cell.Library
	for _, isWhole := range []bool{true, false} {
		if !isWhole {
			cancel()
		}
		m, err := search.Compare(ctx, lib, cell.Scenario, search.Comparing{
			Modes: lib.Modes[2:3], Classes: lib.Classes[1:2], First: 1, Last: 20})
		require.NoError(t, err)
		require.Equal(t, !isWhole, m.IsPartial)
		require.Equal(t, isWhole, m.Rows[0].Seeds.Runs == 20)
	}
}
