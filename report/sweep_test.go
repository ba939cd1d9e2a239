package report_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/report"
	"github.com/oncesim/oncesim/scenarios"
	"github.com/oncesim/oncesim/search"
)

// swept sweeps one topology under some modes and one class of faults.
func swept(t *testing.T, topology, class string, any bool, modes ...string) *report.Sweep {
	lib := scenarios.Builtin()
	top := lib.Topologies[slices.IndexFunc(lib.Topologies, func(t *model.Topology) bool {
		return t.Name == topology
	})]
	s := &scenarios.Scenario{Name: topology, Topology: top, Mode: lib.Modes[0], Seed: 1}
	s.Input.Records = 6
	picked := slices.DeleteFunc(slices.Clone(lib.Modes), func(m *model.Mode) bool {
		return !slices.Contains(modes, m.Name)
	})
	classes := slices.DeleteFunc(slices.Clone(lib.Classes), func(c *scenarios.Class) bool {
		return c.Name != class
	})
	sweep, err := search.NewSweep(lib, search.Units(lib, s, picked, classes),
		search.Sweeping{First: 1, Last: 60, Any: any,
			Command: func(unit int, s *scenarios.Scenario) string { return "run " + s.Mode.Name }})
	require.NoError(t, err)
	require.NoError(t, sweep.Run(context.Background()))
	return report.NewSweep(sweep.Results())
}

// The text has every unit and, of what failed, how often and the line that shows it; nothing is
// wider than a page but such lines and signatures.
func TestSweep_Text(t *testing.T) {
	doc := swept(t, "page-views", "crash", true, "at-least-once", "two-phase-commit", "snapshot")
	text := doc.Text(report.Plain)
	require.Equal(t, text, doc.Text(report.Plain))
	for _, want := range []string{"page-views under at-least-once ", "\nfailures\n",
		"\n      run at-least-once\n", "page-views under two-phase-commit", " of 60 runs\n",
		"\n  page-views under snapshot\n      restore ", "runs failed\n"} {
		require.Contains(t, text, want)
	}
	require.NotContains(t, text, "at-least-once\n      restore", "it has no checkpoints")
	for line := range strings.Lines(text) {
		if !strings.Contains(line, "=") {
			require.LessOrEqual(t, len(line), 101, line)
		}
	}
	require.Contains(t, doc.Text(report.Colour), "\x1b[31m")
	broken, unsure := doc.Claims()
	require.True(t, broken)
	require.False(t, unsure)
}

// Where a mode claims nothing of any run, nothing is known.
func TestSweep_Unclaimed(t *testing.T) {
	doc := swept(t, "pipeline", "txn-timeout", false, "two-phase-commit")
	broken, unsure := doc.Claims()
	require.False(t, broken)
	require.True(t, unsure)
	require.Contains(t, doc.Text(report.Plain),
		"pipeline under two-phase-commit, txn-timeout claims nothing of any of its runs")
}

// The document is that of "sweep --json": lists are never null, and there is no time in it.
func TestSweep_JSON(t *testing.T) {
	doc := swept(t, "pipeline", "crash", false, "at-least-once")
	data := string(report.JSON(doc))
	require.NotContains(t, data, "null")
	var fields map[string]any
	require.NoError(t, json.Unmarshal([]byte(data), &fields))
	for _, name := range []string{"seeds", "complete", "faults", "any", "manifest", "version",
		"golden", "runs", "held", "failed", "unknown", "unclaimed", "unreached", "planned",
		"struck", "events", "units", "failures"} {
		require.Contains(t, fields, name)
	}
	require.Empty(t, fields["failures"])
	require.Contains(t, fields["units"].([]any)[0], "canary")
	require.Contains(t, fields["units"].([]any)[0], "crashes")
}
