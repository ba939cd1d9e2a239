package search_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

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
func TestGolden_Fencing(t *testing.T) {
	lib := scenarios.Builtin()
	for _, tc := range []struct {
		fencing, aborts int64
		must, may       []model.AnomalyKind
	}{
		{0, 0, kinds(model.Loss, model.Hanging), nil},
		{0, 1, kinds(model.Hanging), kinds(model.Loss, model.Torn)},
		{1, 0, kinds(model.Loss, model.Hanging), nil},
		{1, 1, nil, kinds(model.Loss)},
		{2, 0, kinds(model.Loss, model.Hanging), nil},
		{2, 1, kinds(model.Hanging), kinds(model.Loss, model.Torn)},
		{3, 0, kinds(model.Loss, model.Hanging), nil},
		{3, 1, nil, nil},
	} {
		name := fmt.Sprintf("fencing=%d/abort-lingering=%d", tc.fencing, tc.aborts)
		t.Run(name, func(t *testing.T) {
			tally := fenced(t, lib, tc.fencing, tc.aborts)
			for _, kind := range model.Anomalies() {
				switch n := tally.Anomalies[kind]; {
				case slices.Contains(tc.must, kind):
					require.NotZero(t, n, "%s in no run", kind)
				case !kind.IsFinding() && !slices.Contains(tc.may, kind):
					require.Zero(t, n, "%s in %d runs", kind, n)
				case *full && slices.Contains(tc.may, kind):
					require.NotZero(t, n, "%s in no run", kind)
				}
			}
		})
	}
}

func kinds(list ...model.AnomalyKind) []model.AnomalyKind { return list }

// fenced is what two-phase commit shows under a zombie.
func fenced(t *testing.T, lib *scenarios.Library, fencing, aborts int64) *search.Tally {
	s := search.WithMode(builtin(t, lib, "pipeline-three"), modeNamed(t, lib, "two-phase-commit"))
	s.Params = []model.ParamValue{{Name: "fencing", Value: fencing},
		{Name: "abort-lingering", Value: aborts}}
	cell := &search.Cell{Library: lib, Scenario: s, Class: classNamed(t, lib, "zombie")}
	tally, err := cell.Seeds(context.Background(), 1, shortSeeds)
	require.NoError(t, err)
	placed, err := cell.Place(context.Background(), *full)
	require.NoError(t, err)
	tally.Merge(placed)
	return tally
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
