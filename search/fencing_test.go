package search_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/checker"
	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/scenarios"
	"github.com/oncesim/oncesim/search"
)

// TestGolden_Fencing is two-phase commit under a zombie and perhaps a crash, with each choice of
// who refuses an attempt that was replaced, and with and without the abort of transactions that a
// restored checkpoint does not know. Only with all of it is it clean.
//
// A fence at the external log alone lets a zombie move the pointer to a checkpoint whose
// transactions have been aborted: loss. A fence at the checkpoints alone lets it begin a
// transaction that nobody will end: readers wait for ever, and what they never see is lost. A
// zombie never completes a checkpoint by itself, since the tasks that would have to vote end with
// their attempt: so no output repeats, as it would if a whole job were one process.
//
// Nor is a record ever missing from the state, or in it twice: what a zombie spoils is output.
func TestGolden_Fencing(t *testing.T) {
	lib := scenarios.Builtin()
	lost := kinds(model.Loss, model.Hanging)
	torn := kinds(model.Torn, model.Loss, model.Hanging) // of two sinks, one commits
	for _, tc := range []struct {
		world           string
		fencing, aborts int64
		seed            uint64 // shows what is rare; 0: nothing is
		must            []model.AnomalyKind
	}{
		{"pipeline-three", 0, 0, 0, lost},
		{"pipeline-three", 0, 1, 5224, torn},
		{"pipeline-three", 1, 0, 0, lost},
		{"pipeline-three", 1, 1, 933, kinds(model.Loss)},
		{"pipeline-three", 2, 0, 0, lost},
		{"pipeline-three", 2, 1, 5224, torn},
		{"pipeline-three", 3, 0, 0, lost},
		{"pipeline-three", 3, 1, 0, nil},
		{"page-views-four", 0, 0, 0, torn},
		{"page-views-four", 0, 1, 4440, torn},
		{"page-views-four", 1, 0, 0, torn},
		{"page-views-four", 1, 1, 4685, kinds(model.Loss)},
		{"page-views-four", 2, 0, 0, torn},
		{"page-views-four", 2, 1, 4440, torn},
		{"page-views-four", 3, 0, 0, torn},
		{"page-views-four", 3, 1, 0, nil},
	} {
		name := fmt.Sprintf("%s/fencing=%d/abort-lingering=%d", tc.world, tc.fencing, tc.aborts)
		t.Run(name, func(t *testing.T) {
			cell := fenced(t, lib, tc.world, tc.fencing, tc.aborts)
			tally, err := cell.Seeds(context.Background(), 1, shortSeeds)
			require.NoError(t, err)
			// Pairs in the small world alone: with four records they take as long as a column.
			placed, err := cell.Place(context.Background(), *full && tc.world == "pipeline-three")
			require.NoError(t, err)
			tally.Merge(placed)
			if tc.seed != 0 {
				rare, err := cell.Seeds(context.Background(), tc.seed, tc.seed)
				require.NoError(t, err)
				tally.Merge(rare)
			}
			require.Equal(t, tc.must, outcomesOf(tally))
		})
	}
}

func kinds(list ...model.AnomalyKind) []model.AnomalyKind { return list }

// fenced is two-phase commit under a zombie.
func fenced(t *testing.T, lib *scenarios.Library, world string,
	fencing, aborts int64) *search.Cell {
	s := search.WithMode(builtin(t, lib, world), modeNamed(t, lib, "two-phase-commit"))
	s.Params = []model.ParamValue{{Name: "fencing", Value: fencing},
		{Name: "abort-lingering", Value: aborts}}
	return &search.Cell{Library: lib, Scenario: s, Class: classNamed(t, lib, "zombie")}
}

// outcomesOf are the anomalies of a tally that are no findings, most severe first.
func outcomesOf(tally *search.Tally) (list []model.AnomalyKind) {
	for _, kind := range model.Anomalies() {
		if tally.Anomalies[kind] > 0 && !kind.IsFinding() {
			list = append(list, kind)
		}
	}
	return list
}

// TestGolden_HalfWay is what readers see of one checkpoint at two sinks. Where each sink commits by
// itself no mode claims anything of it, which keeps it out of those golden cells; here it must be
// reachable without any fault, unless one request commits for all.
func TestGolden_HalfWay(t *testing.T) {
	lib := scenarios.Builtin()
	for _, tc := range []struct {
		mode   string
		params []model.ParamValue
		isSeen bool
	}{
		{"two-phase-commit", nil, true},
		{"two-phase-commit", []model.ParamValue{{Name: "global", Value: 1}}, false},
		{"snapshot-wal", nil, true},
		{"micro-batch", nil, true},
	} {
		for _, class := range []string{"no-fault", "crash"} {
			t.Run(fmt.Sprintf("%s/%v/%s", tc.mode, tc.params, class), func(t *testing.T) {
				s := search.WithMode(builtin(t, lib, "page-views-four"),
					modeNamed(t, lib, tc.mode))
				s.Params = tc.params
				cell := &search.Cell{Library: lib, Scenario: s, Class: classNamed(t, lib, class)}
				few, single := sample(t, cell)
				if !tc.isSeen {
					require.Zero(t, few.Anomalies[model.FracturedRead])
					require.Zero(t, single.Anomalies[model.FracturedRead])
					return
				}
				require.NotZero(t, few.Anomalies[model.FracturedRead])
				if class != "no-fault" { // which is one run
					require.NotZero(t, single.Anomalies[model.FracturedRead])
				}
			})
		}
	}
}

// TestGolden_Findings holds what is called a finding to that: no mode claims what it violates, as
// it is set by default. With other parameters one may: golden cells speak of it then.
func TestGolden_Findings(t *testing.T) {
	lib := scenarios.Builtin()
	for i := range lib.Properties {
		p := &lib.Properties[i]
		isClaimed := slices.ContainsFunc(lib.Modes, func(m *model.Mode) bool {
			return slices.Contains(slices.Concat(m.Claims, m.ClaimsDeterministic,
				m.ClaimsStateless), p.Name)
		})
		for _, kind := range p.Anomalies {
			require.False(t, isClaimed && kind.IsFinding(), "%s violates %s", kind, p.Name)
		}
	}
	for _, kind := range model.Anomalies() {
		isListed := slices.ContainsFunc(lib.Properties, func(p checker.Property) bool {
			return p.Name != search.Findings && slices.Contains(p.Anomalies, kind)
		})
		require.True(t, isListed || kind.IsFinding(), "%s is an outcome, and violates nothing",
			kind)
	}
}

func modeNamed(t *testing.T, lib *scenarios.Library, name string) *model.Mode {
	t.Helper()
	for _, mode := range lib.Modes {
		if mode.Name == name {
			return mode
		}
	}
	t.Fatalf("no mode %s", name)
	return nil
}

func classNamed(t *testing.T, lib *scenarios.Library, name string) *scenarios.Class {
	t.Helper()
	for _, class := range lib.Classes {
		if class.Name == name {
			return class
		}
	}
	t.Fatalf("no class %s", name)
	return nil
}
