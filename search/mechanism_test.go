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

// mechanismSeeds is how many seeds a cell has to show something in, once what it rests on is gone,
// where no single fault does.
const mechanismSeeds = 2_000

// mechanismFew is how many seeds of crashes are tried before all their places are.
const mechanismFew = 16

// TestGolden_CleanCellsRestOnSomething holds modes to what they say that their clean cells rest on:
// for each cell something is named, and without it this very cell is not clean. A mechanism that
// could be taken away without a difference would be superstition. A class that is called harmless
// shows nothing by its fault alone, whichever mechanism is taken away.
func TestGolden_CleanCellsRestOnSomething(t *testing.T) {
	if underRace {
		t.Skip("many runs, and nothing that TestGolden does not do as well")
	}
	lib, all, cells := scenarios.Builtin(), removals{}, removals{}
	for _, name := range goldenScenarios {
		s := builtin(t, lib, name)
		kind := s.Topology.Kind()
		for _, mode := range lib.Modes {
			for _, class := range lib.Classes {
				cell, ok := mode.Cell(class.Name, kind)
				if !ok || len(cell.Must)+len(cell.May) > 0 || class.Name == "no-fault" {
					continue
				}
				for i := range mode.RestsOn {
					cells.add(mode.Name, mode.RestsOn[i].Name, class.Name, false)
				}
				t.Run(fmt.Sprintf("%s/%s/%s", name, mode.Name, class.Name), func(t *testing.T) {
					restsOnSomething(t, lib, s, mode, class, all)
				})
			}
		}
	}
	for key, n := range all { // where it is harmless in some worlds, it is not in another
		if n.seen == 0 && n.tried == cells[key].tried {
			t.Errorf("%s lists %s under %s, which shows nothing", key.mode, key.class,
				key.mechanism)
		}
	}
}

// removal is a mechanism of a mode, taken away under a class of faults that it lists.
type removal struct{ mode, mechanism, class string }

// removals counts clean cells: those in which the removal was tried, and was seen.
type removals map[removal]struct{ tried, seen int }

func (r removals) add(mode, mechanism, class string, isSeen bool) {
	key := removal{mode, mechanism, class}
	n := r[key]
	n.tried++
	if isSeen {
		n.seen++
	}
	r[key] = n
}

func restsOnSomething(t *testing.T, lib *scenarios.Library, s *scenarios.Scenario,
	mode *model.Mode, class *scenarios.Class, all removals) {
	isHarmless := slices.ContainsFunc(mode.Harmless, func(h model.Harmless) bool {
		return h.Class == class.Name
	})
	isNamed, hurts := false, ""
	for i := range mode.RestsOn {
		m := &mode.RestsOn[i]
		weaker := without(t, lib, s, mode, class, m)
		if slices.Contains(m.Classes, class.Name) {
			isSeen := isDirty(t, lib, weaker, class)
			all.add(mode.Name, m.Name, class.Name, isSeen)
			isNamed = isNamed || isSeen
			if !isSeen && !isHarmless {
				t.Errorf("the fault of %s shows nothing in %s without %s", class.Name, mode.Name,
					m.Name)
			}
		} else if isHarmless && isDirtyAlone(t, lib, weaker, class) {
			hurts = m.Name
		}
	}
	switch {
	case hurts != "":
		t.Errorf("the fault of %s is not harmless in %s: %s is what keeps it so", class.Name,
			mode.Name, hurts)
	case !isNamed && !isHarmless && strikes(t, lib, s, mode, class):
		t.Errorf("%s is clean under %s and does not say what that rests on", mode.Name, class.Name)
	}
}

// strikes reports whether the fault of a class has a place in a scenario. Where it has none, as an
// upload in a job that keeps nothing, plans of the class are empty.
func strikes(t *testing.T, lib *scenarios.Library, s *scenarios.Scenario, mode *model.Mode,
	class *scenarios.Class) bool {
	cell := &search.Cell{Library: lib, Scenario: search.Under(s, mode, class), Class: class}
	tally, err := cell.Place(context.Background(), false)
	require.NoError(t, err)
	return tally.Runs > 0
}

// without is the scenario under a mode that lacks one of its mechanisms.
func without(t *testing.T, lib *scenarios.Library, s *scenarios.Scenario, mode *model.Mode,
	class *scenarios.Class, m *model.Mechanism) *scenarios.Scenario {
	c := search.Under(s, mode, class)
	for _, variant := range lib.Modes {
		if variant.Name == m.Variant {
			c = search.Under(s, variant, class)
			c.Sink = mode.Sink
		}
	}
	require.True(t, m.Variant == "" || c.Mode.Name == m.Variant, m.Variant)
	c.Params = append(slices.Clone(c.Params), m.Without...)
	if m.Sink != "" {
		c.Sink = m.Sink
	}
	return c
}

// isDirty reports whether a scenario shows anything that takes the fault of a class: alone, at some
// place, or together with a crash where crashes alone show nothing.
func isDirty(t *testing.T, lib *scenarios.Library, s *scenarios.Scenario,
	class *scenarios.Class) bool {
	ctx := context.Background()
	cell := &search.Cell{Library: lib, Scenario: s, Class: class}
	if class.Action == model.Crash { // most show it at once
		tally, err := cell.Seeds(ctx, 1, mechanismFew)
		require.NoError(t, err)
		if shown(tally) {
			return true
		}
	}
	if isDirtyAlone(t, lib, s, class) {
		return true
	}
	tally, err := cell.Seeds(ctx, 1, mechanismSeeds)
	require.NoError(t, err)
	if !shown(tally) && class.Action != model.Crash { // drawn plans seldom strike in a recovery
		tally, err = cell.Place(ctx, true)
		require.NoError(t, err)
	}
	if !shown(tally) || class.Action == model.Crash {
		return shown(tally)
	}
	cell.Class = &scenarios.Class{Name: "crash", Action: model.Crash}
	tally, err = cell.Place(ctx, true)
	require.NoError(t, err)
	return !shown(tally)
}

// isDirtyAlone reports whether the fault of a class shows anything by itself, wherever it strikes.
func isDirtyAlone(t *testing.T, lib *scenarios.Library, s *scenarios.Scenario,
	class *scenarios.Class) bool {
	cell := &search.Cell{Library: lib, Scenario: s, Class: class}
	tally, err := cell.Place(context.Background(), false)
	require.NoError(t, err)
	return shown(tally)
}

func shown(tally *search.Tally) bool { return len(outcomesOf(tally)) > 0 }
