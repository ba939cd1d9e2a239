package search_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/checker"
	"github.com/oncesim/oncesim/defects"
	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/scenarios"
	"github.com/oncesim/oncesim/search"
)

// A defect is caught where it says, by what it says, and only for being there: the same run without
// it breaks no claim of its mode.
func TestDefects_AreCaughtWhereTheySay(t *testing.T) {
	lib := scenarios.Builtin()
	for _, d := range lib.Defects {
		t.Run(d.Name, func(t *testing.T) {
			s, err := lib.Showing(d)
			require.NoError(t, err)
			require.Contains(t, broken(t, lib, s), d.Property)
			without := *s
			without.Defect = nil
			// Where a fault is anchored at what only the defect does, it strikes nothing.
			_, res, err := scenarios.Run(lib, &without, scenarios.Options{})
			require.NoError(t, err)
			require.Empty(t, brokenIn(&without, &res), "without it")
		})
	}
}

// broken is which claims of its mode a run of a scenario breaks. The mode claims something of it:
// every fault is reached, and tolerated.
func broken(t *testing.T, lib *scenarios.Library, s *scenarios.Scenario) (names []string) {
	t.Helper()
	_, res, err := scenarios.Run(lib, s, scenarios.Options{})
	require.NoError(t, err)
	reached := res.Subject.History.Reached
	require.NotContains(t, reached, int64(0), "a fault is not reached")
	require.Empty(t, search.Unclaimed(lib, s, reached))
	for i := range res.Verdicts {
		v := &res.Verdicts[i]
		require.NotEqual(t, model.Undecided, v.Result, "%s: %s", v.Property, v.Reason)
	}
	return brokenIn(s, &res)
}

// brokenIn is which claims of its mode a run of a scenario violates.
func brokenIn(s *scenarios.Scenario, res *scenarios.Result) (names []string) {
	claims := s.Claims()
	for i := range res.Verdicts {
		v := &res.Verdicts[i]
		if v.Result == model.Violated && slices.Contains(claims, v.Property) {
			names = append(names, v.Property)
		}
	}
	return names
}

// What a defect remembers is part of its state: a run whose processes are replaced before every
// event by new ones, restored from what they encode, is the same run.
func TestDefects_EncodeTheirState(t *testing.T) {
	lib := scenarios.Builtin()
	for _, d := range lib.Defects {
		t.Run(d.Name, func(t *testing.T) {
			s, err := lib.Showing(d)
			require.NoError(t, err)
			_, plain, err := scenarios.Run(lib, s, scenarios.Options{})
			require.NoError(t, err)
			_, other, err := scenarios.Run(lib, s, scenarios.Options{Transplant: true})
			require.NoError(t, err)
			require.Equal(t, plain.Subject.History.End, other.Subject.History.End)
		})
	}
}

// The list says of each defect what a reader needs, and of each kind that has none why.
func TestDefects_AreDescribed(t *testing.T) {
	lib := scenarios.Builtin()
	of := map[*defects.Kind]int{}
	seen := map[string]bool{}
	for _, d := range lib.Defects {
		require.Regexp(t, `^[a-z0-9]+(-[a-z0-9]+)*$`, d.Name)
		require.False(t, seen[d.Name], "two are called %s", d.Name)
		seen[d.Name] = true
		require.Regexp(t, `^[a-z].*[^.]$`, d.Says, d.Name)
		require.NotEmpty(t, d.Origin, d.Name)
		require.NotEmpty(t, d.Modes, d.Name)
		require.Contains(t, defects.Kinds(), d.Kind, d.Name)
		require.False(t, d.Process == nil && d.Service == nil && len(d.Set) == 0, d.Name)
		require.True(t, slices.ContainsFunc(lib.Properties, func(p checker.Property) bool {
			return p.Name == d.Property
		}), "%s is caught by %q, which is no property", d.Name, d.Property)
		for _, name := range d.Modes {
			mode, err := lib.FindMode(name)
			require.NoError(t, err, d.Name)
			for _, v := range slices.Concat(d.Set, d.Shown.Set) {
				require.NotNil(t, mode.Param(v.Name), "%s: %s has no %s", d.Name, name, v.Name)
			}
		}
		of[d.Kind]++
	}
	for _, k := range defects.Kinds() {
		require.NotEqual(t, of[k] == 0, k.Without == "", "%s: %d defects, %q", k.Name, of[k],
			k.Without)
	}
}
