package trust

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/scenarios"
)

// reachesProbes holds what was reached against what is declared. Nothing else may be reached
// either: that a mode has a branch is to be declared.
func reachesProbes(t *testing.T, calm []*Calm) {
	t.Helper()
	declared, err := Declared()
	if !*update {
		require.NoError(t, err)
	}
	var measured strings.Builder
	if *full {
		fmt.Println("\nof 10,000 blind runs, how many reach each branch (at the least)")
	}
	for i, p := range Probes() {
		for _, c := range calm {
			rate := c.Probes[i] * 10_000 / c.Runs
			if c.Probes[i] > 0 {
				fmt.Fprintf(&measured, "%s %s %d %d\n", p.Name, c.Mode, max(rate/2, 1), c.First[i])
			}
			r, has := declared[[2]string{p.Name, c.Mode}]
			switch {
			case *update:
			case !has:
				assert.Zero(t, c.Probes[i], "%s reaches %s, which is not declared", c.Mode, p.Name)
			case *full:
				fmt.Printf("  %-22s %-22s %6d (%d)\n", p.Name, c.Mode, rate, r.Least)
				assert.Positive(t, c.Probes[i], "%s never reaches %s", c.Mode, p.Name)
				assert.GreaterOrEqual(t, max(rate, 1), r.Least, "%s reaches %s", c.Mode, p.Name)
				assert.Equal(t, r.First, c.First[i], "%s reaches %s first in this run; %s", c.Mode,
					p.Name, again)
			case r.Least*c.Runs >= 30*10_000: // of so many that are expected, half must come
				assert.GreaterOrEqual(t, 2*rate, r.Least, "%s reaches %s", c.Mode, p.Name)
			}
		}
	}
	if *full && *update {
		require.NoError(t, os.WriteFile(probes, []byte(measured.String()), 0o644))
	}
}

// Every branch that a mode is declared to have is reached, in the run that is declared to reach it:
// of the rare ones few runs tell.
func TestProbes_AreReached(t *testing.T) {
	if *update {
		t.Skip("they are written anew")
	}
	declared, err := Declared()
	require.NoError(t, err)
	lib := scenarios.Builtin()
	modes := right(lib)
	found := 0
	for _, mode := range modes {
		worlds, err := Worlds(lib, mode, "")
		require.NoError(t, err)
		for _, p := range Probes() {
			r, has := declared[[2]string{p.Name, mode.Name}]
			if !has {
				continue
			}
			found++
			w, seed, err := turn(worlds, r.First)
			require.NoError(t, err)
			run := w.Run(seed, scenarios.Options{})
			line, err := command(lib, run)
			require.NoError(t, err)
			assert.True(t, p.Is(viewOf(run.Result.Subject.History)),
				"%s reaches %s (%s) in its blind run %d no more:\n    %s\n%s", mode.Name, p.Name,
				p.Says, r.First, line, again)
		}
	}
	assert.Len(t, declared, found, "lines of probes.txt about no probe, or no mode with claims")
	for _, p := range Probes() {
		has := false
		for _, mode := range modes {
			has = has || declared[[2]string{p.Name, mode.Name}].First > 0
		}
		assert.True(t, has, "no mode is to reach %s", p.Name)
	}
}
