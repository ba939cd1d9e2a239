package search_test

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/scenarios"
	"github.com/oncesim/oncesim/search"
)

// maySeeds is how many seeds a May entry has to show itself in, on a longer input, where the small
// world does not show it.
const maySeeds = 3_000

// TestGolden_MayIsReachable holds golden cells to what they leave open: each anomaly that may
// appear does, in the small world or on a longer input. An entry that nothing shows would only
// hide a regression.
func TestGolden_MayIsReachable(t *testing.T) {
	if !*full {
		t.Skip("part of -golden.full")
	}
	lib := scenarios.Builtin()
	for _, name := range goldenScenarios {
		small := builtin(t, lib, name)
		long := &scenarios.Scenario{Topology: small.Topology, Mode: lib.Modes[0], Seed: 1}
		long.Input.Records = 200
		if small.Topology.Sample == "" {
			long.Input.Kind = scenarios.InputGenerated
		}
		for _, mode := range lib.Modes {
			for _, class := range lib.Classes {
				if !class.Applies(mode) {
					continue
				}
				cell, _ := mode.Cell(class.Name, small.Topology.Kind())
				for _, kind := range unseen(t, lib, mode, class, cell.May, small, long) {
					t.Errorf("%s: %s under %s lists %s, which nothing shows", name, mode.Name,
						class.Name, kind)
				}
			}
		}
	}
}

// unseen returns the anomalies of a list that neither scenario shows.
func unseen(t *testing.T, lib *scenarios.Library, mode *model.Mode, class *scenarios.Class,
	list []model.AnomalyKind, small, long *scenarios.Scenario) []model.AnomalyKind {
	drop := func(tally *search.Tally, err error) {
		require.NoError(t, err)
		list = slices.DeleteFunc(slices.Clone(list), func(k model.AnomalyKind) bool {
			return tally.Anomalies[k] > 0
		})
	}
	ctx := context.Background()
	cell := &search.Cell{Library: lib, Scenario: search.Under(small, mode, class), Class: class}
	if len(list) > 0 {
		drop(cell.Seeds(ctx, 1, 2_000))
	}
	if len(list) > 0 {
		drop(cell.Place(ctx, true))
	}
	rare := *cell
	cell.Scenario = search.Under(long, mode, class)
	if len(list) > 0 {
		drop(cell.Seeds(ctx, 1, maySeeds))
	}
	cell.Scenario.Params = []model.ParamValue{{Name: "batch", Value: 1}}
	if len(list) > 0 {
		drop(cell.Seeds(ctx, 1, maySeeds))
	}
	cell.Scenario.Input.Every, cell.Scenario.Input.Records = 100_000, 40
	if len(list) > 0 {
		drop(cell.Seeds(ctx, 1, 10*maySeeds))
	}
	if len(list) > 0 { // those of rest: what is rare was found there
		drop(rare.Seeds(ctx, restFrom+1, restFrom+2*fullSeeds))
	}
	return list
}
