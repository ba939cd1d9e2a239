package report_test

import (
	"flag"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/faults"
	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/report"
	"github.com/oncesim/oncesim/scenarios"
	"github.com/oncesim/oncesim/search"
)

var full = flag.Bool("report.full", false, "check the report of every placement, not of some")

// Whatever fault strikes wherever: the diagram is at most 100 columns wide and 25 lines long, a
// violation has a story of one to four sentences, and each event that the story cites is in the
// diagram.
func TestEveryPlacement(t *testing.T) {
	lib := scenarios.Builtin()
	for _, topology := range lib.Topologies {
		for _, mode := range lib.Modes {
			t.Run(topology.Name+"/"+mode.Name, func(t *testing.T) {
				s := &scenarios.Scenario{Name: topology.Name, Topology: topology, Mode: mode}
				s.Seed, s.Input.Records = 1, 4
				eachPlacement(t, lib, s, checkReport)
			})
		}
	}
}

// The same for plans of one or two faults drawn from seeds, on more records.
func TestEveryPlan(t *testing.T) {
	lib := scenarios.Builtin()
	last := uint64(1)
	if *full {
		last = 200
	}
	for _, topology := range lib.Topologies {
		for _, mode := range lib.Modes {
			t.Run(topology.Name+"/"+mode.Name, func(t *testing.T) {
				s := &scenarios.Scenario{Name: topology.Name, Topology: topology, Mode: mode}
				s.Seed, s.Input.Records = 1, 16
				p := newPlacer(t, lib, s)
				for _, class := range lib.Classes {
					at := p
					if class.Vary != nil && class.Applies(mode) {
						at = newPlacer(t, lib, search.Under(s, mode, class))
					}
					for seed := uint64(1); seed <= last; seed++ {
						checkReport(t, at.run(class.Draw(seed, &at.extent, nil)))
					}
				}
			})
		}
	}
}

// placer runs a scenario under compiled faults.
type placer struct {
	lib    *scenarios.Library
	s      *scenarios.Scenario
	runner *scenarios.Runner
	extent model.Extent
}

func newPlacer(t *testing.T, lib *scenarios.Library, s *scenarios.Scenario) *placer {
	plain, res, err := scenarios.Run(lib, s, scenarios.Options{})
	require.NoError(t, err)
	require.NotNil(t, plain)
	runner, err := scenarios.NewRunner(lib, s)
	require.NoError(t, err)
	return &placer{lib: lib, s: s, runner: runner, extent: res.Subject.History.Extent}
}

func (p *placer) run(rules []model.Rule) *report.Case {
	s := *p.s
	for _, rule := range rules {
		s.Faults = append(s.Faults, faults.FromRule(p.runner.Job(), rule))
	}
	return &report.Case{Library: p.lib, Scenario: &s, Stats: p.runner.Stats(),
		Result: p.runner.Run(s.Seed, rules, scenarios.Options{Trace: true})}
}

// eachPlacement calls check with the run of a scenario under one fault of each class at every
// place, or at some of them.
func eachPlacement(t *testing.T, lib *scenarios.Library, s *scenarios.Scenario,
	check func(t *testing.T, c *report.Case)) {
	stride := 31
	if *full {
		stride = 1
	}
	if underRace {
		stride = 53
	}
	p := newPlacer(t, lib, s)
	n := 0
	for _, class := range lib.Classes {
		if class.Action == 0 {
			continue
		}
		for rule := range class.Places(&p.extent).Each {
			if n++; n%stride == 0 {
				check(t, p.run([]model.Rule{rule}))
			}
		}
	}
}

var cited = regexp.MustCompile(`[Ee]vent (\d+)`)

func checkReport(t *testing.T, c *report.Case) {
	diagram := report.Diagram(c)
	lines := strings.Split(strings.TrimSuffix(diagram, "\n"), "\n")
	require.LessOrEqual(t, len(lines), 25, diagram)
	shown := map[string]bool{}
	for _, line := range lines {
		require.LessOrEqual(t, len([]rune(line)), 100, line)
		require.False(t, strings.HasPrefix(line, "-- "), "a trace section cannot hold it: %s", line)
		if words := strings.Fields(line); len(words) > 0 {
			shown[words[0]] = true
		}
	}
	doc := report.NewRun(c)
	for _, match := range cited.FindAllStringSubmatch(doc.Why, -1) {
		require.True(t, shown[match[1]], "event %s is not in the diagram of %v:\n%s\n%s", match[1],
			doc.Faults, doc.Why, diagram)
	}
	if !strings.Contains(report.Title(c), " violated") {
		require.Empty(t, doc.Why)
		return
	}
	sentences := strings.Count(doc.Why, ". ") + 1
	require.True(t, doc.Why != "" && sentences <= 4, "%v: %q", doc.Faults, doc.Why)
	require.Contains(t, report.Text(c, report.Plain), diagram)
}

// The diagram of a large run with many processes keeps its size.
func TestDiagramOfManyProcesses(t *testing.T) {
	lib := scenarios.Builtin()
	wide := scenarios.PageViews
	wide.Name = "wide"
	wide.Inputs = []model.InputSpec{{Name: "input", Partitions: 8}}
	wide.Stages = append([]model.Stage(nil), wide.Stages...)
	wide.Stages[0].Parallel, wide.Stages[1].Parallel = 8, 8
	s := &scenarios.Scenario{Name: "wide", Topology: &wide, Seed: 3}
	s.Mode, s.Input.Records = lib.Modes[len(lib.Modes)-1], 200
	plan, err := faults.ParsePlan("crash count/3 after put 2", "crash sink/3 before ack of write 4",
		"pause parse/1 after effect 9 for 80ms")
	require.NoError(t, err)
	s.Faults = plan
	checkReport(t, caseOf(t, lib, s))
}

// Records that fared as they should are not in the ledger, and those that did not are.
func TestLedger(t *testing.T) {
	doc := report.NewRun(open(t, "at-least-once-sink-crash"))
	assert.Equal(t, []report.RunAffected{{Record: "input/0:1", Delivered: 1, Applied: 1, Written: 2,
		Visible: 2, AppliedBy: map[string]int64{"op": 1}}}, doc.Affected)
	assert.Empty(t, report.NewRun(open(t, "no-fault")).Affected)
	assert.Empty(t, report.NewRun(open(t, "malformed")).Affected, "dropped on purpose is not lost")
	lost := report.NewRun(open(t, "at-most-once-lost-write"))
	assert.Equal(t, []report.RunAffected{{Record: "input/0:1", Delivered: 1, Applied: 1,
		AppliedBy: map[string]int64{"op": 1}}}, lost.Affected)
}

// How often a record was processed is said of each operator, beside what became of it: here the
// second one takes again what the first one had sent, and the row is written once.
func TestLedger_CountsEachOperator(t *testing.T) {
	lib := scenarios.Builtin()
	s := &scenarios.Scenario{Name: "views", Topology: &scenarios.PageViews, Seed: 1,
		Mode: modeNamed(t, "two-phase-commit"), Input: scenarios.InputSpec{Records: 4}}
	plan, err := faults.ParsePlan("crash count/0 after effect 1 of record input/0:0")
	require.NoError(t, err)
	s.Faults = plan
	c := caseOf(t, lib, s)
	doc := report.NewRun(c)
	require.NotEmpty(t, doc.Affected)
	text := report.Text(c, report.Plain)
	for _, a := range doc.Affected {
		require.Len(t, a.AppliedBy, 2)
		require.Equal(t, a.Applied, a.AppliedBy["count"])
		require.EqualValues(t, 1, a.Visible)
		require.Regexp(t, fmt.Sprintf(`(?m)^  %s +%d +%d/%d +\d+ +1$`, a.Record, a.Delivered,
			a.AppliedBy["parse"], a.AppliedBy["count"]), text)
	}
	require.Contains(t, text, ", applied by parse/count, written at the sink, ")
}
