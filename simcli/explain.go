package simcli

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oncesim/oncesim/faults"
	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/report"
	"github.com/oncesim/oncesim/scenarios"
	"github.com/oncesim/oncesim/search"
)

const explainHelp = `Explains a mode, property, anomaly, fault or class of faults, a term of the
field ("list topics"), or the format of scenario files. A scenario file or a
built-in scenario is run, and what happens in it is told.`

func (a *app) explainCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "explain NAME|FILE",
		Short: "say what a name means, or tell the story of a scenario file",
		Long:  explainHelp,
		Example: a.examples("explain duplicate", "explain two-phase-commit", "explain crash",
			"explain alignment", "explain scenario-file", "explain lesson.sim"),
		Args:              one("a name or a file"),
		ValidArgsFunction: a.completeTopic,
		RunE: func(cmd *cobra.Command, args []string) error {
			runs := func(kind model.AnomalyKind) []string {
				return a.smallestRuns(cmd.Context(), kind)
			}
			text := report.Explain(a.lib, args[0], a.program, runs)
			if text != "" {
				a.out.print(text)
				return nil
			}
			return a.explainRun(args[0])
		},
	}
}

func (a *app) completeTopic(*cobra.Command, []string, string) ([]string,
	cobra.ShellCompDirective) {
	return append(report.Topics(a.lib), a.scenarioNames()...), cobra.ShellCompDirectiveDefault
}

// explainRun tells the story of a scenario.
func (a *app) explainRun(arg string) error {
	t, err := a.find(arg)
	if err != nil {
		if strings.HasPrefix(err.Error(), "unknown scenario") {
			return unknown("name", arg, append(report.Topics(a.lib), a.scenarioNames()...))
		}
		return err
	}
	t.s = t.base
	c, err := a.execute(t)
	if err != nil {
		return err
	}
	a.out.print(report.Lesson(c, a.style()))
	if c.Judged && len(report.Unmet(c)) > 0 {
		a.note(statusUnmet)
	}
	return nil
}

// smallestRuns are lines that show an anomaly: for each mode that can, the smallest run on the
// first topology of the library that shows it, on a few records under one fault at every place.
func (a *app) smallestRuns(ctx context.Context, kind model.AnomalyKind) []string {
	var lines []string
	for _, mode := range a.lib.Modes {
		for _, topology := range a.lib.Topologies {
			if line := a.smallestUnder(ctx, topology, mode, kind); line != "" {
				lines = append(lines, line)
				break
			}
		}
	}
	return lines
}

// smallestUnder is the line of the smallest witness of an anomaly on one topology under one mode,
// in the first class of faults that shows it; "": none does.
func (a *app) smallestUnder(ctx context.Context, topology *model.Topology, mode *model.Mode,
	kind model.AnomalyKind) string {
	t, err := a.bare(topology)
	if err != nil {
		return ""
	}
	for _, class := range a.lib.Classes {
		if !mayShow(mode, class, topology.Kind(), kind) {
			continue
		}
		s := search.Under(t.base, mode, class)
		s.Input.Records = search.PlacedRecords
		cell := search.Cell{Library: a.lib, Scenario: s, Class: class}
		tally, err := cell.Place(ctx, false)
		if err != nil {
			return ""
		}
		w := tally.Witnesses[kind]
		if w == nil {
			continue
		}
		s.Seed, s.Faults = w.Seed, planOf(s, w.Rules)
		return t.command(a.program, s)
	}
	return ""
}

// mayShow reports whether it is worth to look for an anomaly under a class: the golden table, where
// the mode has one, does not say that it never comes.
func mayShow(mode *model.Mode, class *scenarios.Class, operators model.OperatorKind,
	kind model.AnomalyKind) bool {
	cell, isKnown := mode.Cell(class.Name, operators)
	return class.Applies(mode) && (!isKnown || kind.IsFinding() ||
		slices.Contains(cell.Must, kind) || slices.Contains(cell.May, kind))
}

// planOf writes compiled rules as the faults of a scenario.
func planOf(s *scenarios.Scenario, rules []model.Rule) (plan faults.Plan) {
	job := s.Job()
	for _, rule := range rules {
		plan = append(plan, faults.FromRule(job, rule))
	}
	return plan
}
