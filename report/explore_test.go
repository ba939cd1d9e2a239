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

// explored explores one crash in the pipeline on three records.
func explored(t *testing.T, mode *model.Mode, opts search.Exploring) *report.Exploration {
	s := &scenarios.Scenario{Name: "pipeline", Topology: &scenarios.Pipeline, Mode: mode,
		Seed: scenarios.SeedDefault, Input: scenarios.InputSpec{Records: 3}}
	x, err := search.Explore(context.Background(), scenarios.Builtin(), s, opts)
	require.NoError(t, err)
	return report.NewExploration(x, func(s *scenarios.Scenario) string {
		return "run " + strings.Join(s.Faults.Lines(), "; ")
	})
}

func modeNamed(t *testing.T, name string) *model.Mode {
	for _, m := range scenarios.Builtin().Modes {
		if m.Name == name {
			return m
		}
	}
	t.Fatal(name)
	return nil
}

func textOf(list ...*report.Exploration) string {
	return (&report.Explorations{Scenario: "pipeline", Explorations: list}).Text(report.Plain)
}

// A broken claim is said, with the number of runs of which it is claimed, and its smallest run is
// the one that stands for the whole.
func TestExploration_BrokenClaim(t *testing.T) {
	mode := *modeNamed(t, "at-least-once")
	mode.Claims = append(slices.Clone(mode.Claims), "exactly-once")
	e := explored(t, &mode, search.Exploring{})
	broken, unsure := e.Claims()
	require.True(t, broken)
	require.False(t, unsure)
	text := textOf(e)
	require.Regexp(t, `(?m)^  exactly-once +violated= +holds in \d+, violated in \d+; `+
		`claimed of \d+ of these$`, text)
	require.Contains(t, text, "\nexhausted; 53 runs, 53 distinct\n")
	require.Contains(t, text, "\n      run crash sink/0 ")
	require.Contains(t, e.Witness, "faults:")
	require.Contains(t, e.Reproduce, "run crash ")
}

// What was not explored to the end decides nothing, and the text says why.
func TestExploration_NotExhausted(t *testing.T) {
	e := explored(t, modeNamed(t, "dedup"), search.Exploring{RunsMax: 10})
	broken, unsure := e.Claims()
	require.False(t, broken)
	require.True(t, unsure)
	require.Contains(t, textOf(e), "\nnot exhausted: the runs allowed are spent; 10 runs, ")
	whole := explored(t, modeNamed(t, "dedup"), search.Exploring{})
	text := textOf(e, whole)
	require.Regexp(t, `(?m)^dedup +10 +\d+  - not exhausted !$`, text)
	require.Regexp(t, `(?m)^dedup +\d+ +\d+  -$`, text)
}

// The document has the bound, the verdicts and what was violated, and is never null.
func TestExploration_JSON(t *testing.T) {
	e := explored(t, modeNamed(t, "at-least-once"), search.Exploring{Faults: 2})
	var doc map[string]any
	require.NoError(t, json.Unmarshal(report.JSON(e), &doc))
	require.Equal(t, map[string]any{"crashes": 2.0, "faults": 2.0, "records": 3.0,
		"orders": false, "seeds": "1-1", "classes": []any{"crash"}}, doc["bound"])
	require.Equal(t, true, doc["exhausted"])
	require.Len(t, doc["verdicts"], len(scenarios.Builtin().Properties))
	violations := doc["violations"].([]any)
	require.Equal(t, "duplicate", violations[0].(map[string]any)["kind"])
	clean := explored(t, modeNamed(t, "dedup"), search.Exploring{})
	require.Contains(t, string(report.JSON(clean)), `"violations": []`)
}

// A checkpoint that is the state of no cut violates exactly-once-state by itself: what shows it is
// shown, although it is a finding elsewhere.
func TestExploration_OrdersShowWhatIsViolated(t *testing.T) {
	o := &search.Orders{Library: scenarios.Builtin(), Timers: 1}
	s := &scenarios.Scenario{Name: "running-average", Topology: &scenarios.RunningAverage,
		Mode: modeNamed(t, "snapshot-counting"), Seed: scenarios.SeedDefault,
		Input: scenarios.InputSpec{Records: 2}}
	found, err := o.Explore(context.Background(), s)
	require.NoError(t, err)
	e := report.NewOrders(o, s, 2, found)
	text := textOf(e)
	require.Regexp(t, `(?m)^  exactly-once-state +violated +holds in 8, violated in 6$`, text)
	require.Contains(t, text, "smallest runs\n  inconsistent-cut, in 6\n      open\n")
	require.Contains(t, e.Witness, "deliver barrier from ")
}
