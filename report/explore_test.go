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
	require.Contains(t, textOf(e), "\n\n= claimed of every run whose faults the mode tolerates   "+
		"no mark: nothing is claimed\n")
	text := textOf(e, whole)
	require.Regexp(t, `(?m)^dedup +10 +\d+  - not exhausted !$`, text)
	require.Regexp(t, `(?m)^dedup +\d+ +\d+  -$`, text)
}

// The table of several modes has a legend of what it shows and no other, and the only one.
func TestExploration_Legend(t *testing.T) {
	text := textOf(explored(t, modeNamed(t, "at-least-once"), search.Exploring{}),
		explored(t, modeNamed(t, "dedup"), search.Exploring{}))
	require.Regexp(t, `\n\nD duplicate  - nothing\n`+
		`= claimed of every run [a-z ]+   ! breaks a claim, or leaves it open\n\n`, text)
	require.Equal(t, 1, strings.Count(text, "= claimed"))
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
	e := ordered(t, o, s)
	text := textOf(e)
	require.Regexp(t, `(?m)^  exactly-once-state +violated +holds in 8, violated in 6$`, text)
	require.Regexp(t, `smallest runs\n  inconsistent-cut, in 6\n`+
		`      follow 0[0-9.:]+\n      open\n`, text)
	require.Contains(t, e.Witness, "deliver barrier from ")
	require.Regexp(t, `^follow 0`, e.Reproduce)
	require.NotContains(t, text, "findings")
}

// ordered explores orders, with a line that follows a path.
func ordered(t *testing.T, o *search.Orders, s *scenarios.Scenario) *report.Exploration {
	found, err := o.Explore(context.Background(), s)
	require.NoError(t, err)
	return report.NewOrders(o, s, 2, found, func(tape *search.Tape) string {
		return "follow " + tape.Path
	})
}

func smallPipeline(mode *model.Mode, records int) *scenarios.Scenario {
	return &scenarios.Scenario{Name: "pipeline", Topology: &scenarios.Pipeline, Mode: mode,
		Seed: scenarios.SeedDefault, Input: scenarios.InputSpec{Records: records}}
}

// What is a finding about the mechanism alone is shown as one, with its kind and the smallest run:
// the property is violated, and no anomaly among the others would say by what. A durable write of
// dedup is served although its author has died and a new life has begun, which has not fenced yet.
func TestExploration_ShowsFindingsAsSuch(t *testing.T) {
	o := &search.Orders{Library: scenarios.Builtin(), Crashes: 1}
	e := ordered(t, o, smallPipeline(modeNamed(t, "dedup"), 2))
	text := textOf(e)
	require.Regexp(t, `(?m)^  mechanism +violated +holds in 87, violated in 29$`, text)
	require.NotContains(t, text, "\nsmallest runs\n")
	require.Regexp(t, `\n\nfindings about the mechanism, of which nothing is claimed; `+
		`smallest runs\n  zombie-write, in 29\n      follow 0[0-9.:x]+\n$`, text)
	require.Empty(t, e.Witness)
	require.Len(t, e.Violations, 1)
	require.True(t, e.Violations[0].Finding)
	require.Regexp(t, `^crash op/0 `, e.Violations[0].Faults[0])
	require.Contains(t, strings.Join(e.Violations[0].Steps, "\n"), "; crash op/0 ")

	lib := scenarios.Builtin()
	zombie := slices.IndexFunc(lib.Classes, func(c *scenarios.Class) bool {
		return c.Name == "zombie"
	})
	text = textOf(explored(t, modeNamed(t, "at-least-once"),
		search.Exploring{Classes: lib.Classes[zombie : zombie+1]}))
	smallest, findings, ok := strings.Cut(text, "\nfindings about the mechanism, ")
	require.True(t, ok, text)
	require.Regexp(t, `\n  zombie-write, in \d+\n      run pause `, findings)
	require.NotContains(t, smallest, "zombie-write")
	require.Contains(t, smallest, "\nsmallest runs\n  duplicate, in ")
}

// A claim that orders leave open is neither confirmed nor broken.
func TestExploration_OrdersLeaveOpen(t *testing.T) {
	o := &search.Orders{Library: scenarios.Builtin()}
	counts := make([]search.Count, len(o.Library.Properties))
	for i := range counts {
		counts[i].Holds = 2
	}
	for _, c := range []struct {
		property string
		isUnsure bool
	}{{"", false}, {"exactly-once", false}, {"at-least-once", true}} {
		found := &search.OrdersFound{Exhausted: true, Counts: slices.Clone(counts)}
		for i := range counts {
			if o.Library.Properties[i].Name == c.property {
				found.Counts[i].Undecided = 1
			}
		}
		s := smallPipeline(modeNamed(t, "at-least-once"), 2)
		broken, unsure := report.NewOrders(o, s, 2, found, nil).Claims()
		require.False(t, broken)
		require.Equal(t, c.isUnsure, unsure, c.property)
	}
}

// The bound of orders is in the document, and a title says of runs at random that they are.
func TestExploration_BoundOfOrders(t *testing.T) {
	o := &search.Orders{Library: scenarios.Builtin(), Lulls: 2, Walks: 1, Timers: 3}
	e := ordered(t, o, smallPipeline(modeNamed(t, "at-least-once"), 2))
	var doc map[string]any
	require.NoError(t, json.Unmarshal(report.JSON(e), &doc))
	require.Equal(t, map[string]any{"crashes": 0.0, "faults": 0.0, "classes": []any{},
		"records": 2.0, "orders": true, "timers": 3.0, "lulls": 2.0, "walks": 1.0}, doc["bound"])
	text := textOf(e)
	require.Contains(t, text, "pipeline under at-least-once: 2 records, 1 run at random\n")
	require.Regexp(t, `\nnot exhausted: 1 run at random; 1 end of a run, \d+ states\n`, text)
}

// What was asked for and is no part of an exploration is said, with the reason.
func TestExploration_LeftOut(t *testing.T) {
	e := explored(t, modeNamed(t, "at-least-once"), search.Exploring{})
	require.NotContains(t, string(report.JSON(e)), "leftOut")
	e.LeaveOut("one", "says nothing")
	e.LeaveOut("two", "stands alone")
	e.LeaveOut("three", "says nothing")
	require.Contains(t, textOf(e), " distinct\nleft out: one, three (says nothing)\n"+
		"left out: two (stands alone)\n")
	require.Contains(t, string(report.JSON(e)), `"class": "two",`)
}

// Commits that are seen half-way are a finding, listed apart and in no table, until a mode claims
// that they are not seen so: then they are what breaks the claim, in every report.
func TestReports_FindingsAreWhatNothingIsClaimedOf(t *testing.T) {
	lib := scenarios.Builtin()
	silent := modeNamed(t, "two-phase-commit")
	claiming := *silent
	claiming.Name = "claiming"
	claiming.Claims = append(slices.Clone(claiming.Claims), "global-visibility")
	s := &scenarios.Scenario{Name: "views", Topology: &scenarios.PageViews, Mode: silent, Seed: 1,
		Input: scenarios.InputSpec{Records: 40}}

	var list []*report.Exploration
	for _, mode := range []*model.Mode{silent, &claiming} {
		x, err := search.Explore(context.Background(), lib, search.WithMode(s, mode),
			search.Exploring{Classes: lib.Classes[:1]})
		require.NoError(t, err)
		require.Positive(t, x.All.Anomalies[model.FracturedRead])
		none := func(*scenarios.Scenario) string { return "" }
		list = append(list, report.NewExploration(x, none))
	}
	require.Empty(t, list[0].Witness)
	require.NotEmpty(t, list[1].Witness)
	text := textOf(list...)
	require.Regexp(t, `(?m)^two-phase-commit +1 +1  -$`, text)
	require.Regexp(t, `(?m)^claiming +1 +1  FR !$`, text)
	require.Regexp(t, `(?m)^FR fractured-read  - nothing$`, text)
	require.Regexp(t, `(?s)\nfindings .*  fractured-read, in 1\n.*views under claiming.*`+
		`\nsmallest runs\n  fractured-read, in 1\n`, text)

	m, err := search.Compare(context.Background(), lib, s, search.Comparing{
		Modes: []*model.Mode{silent, &claiming}, Classes: lib.Classes[:1], First: 1, Last: 1})
	require.NoError(t, err)
	doc := report.NewMatrix(m, func(*scenarios.Scenario) string { return "a line" })
	text = doc.Text(report.Plain, false)
	require.Regexp(t, `(?m)^no-fault +- +FR !$`, text)
	require.Regexp(t, `(?m)^FR fractured-read  - nothing$`, text)
	require.Contains(t, text, "\nsmallest runs\n  fractured-read\n      a line\n")
}
