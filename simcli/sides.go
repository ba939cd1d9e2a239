package simcli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/oncesim/oncesim/faults"
	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/report"
	"github.com/oncesim/oncesim/scenarios"
	"github.com/oncesim/oncesim/search"
)

// sides is the JSON document of one scenario under several modes.
type sides struct {
	Runs         []*report.Run `json:"runs"`
	DoesNotApply []sideless    `json:"doesNotApply"`
}

// sideless is a mode under which the faults mean nothing, and why.
type sideless struct {
	Mode   string `json:"mode"`
	Reason string `json:"reason"`
}

// compareFaults runs the scenario with its faults and its seed under each mode, side by side. A
// mode that has no place for one of the faults is passed over and says so; one must be left.
func (a *app) compareFaults(t *target, modes []*model.Mode, asJSON bool) error {
	var cases []*report.Case
	var misfit error
	doc, struck := sides{Runs: []*report.Run{}, DoesNotApply: []sideless{}}, false
	for _, mode := range modes {
		s := ofMode(search.WithMode(t.s, mode))
		s.Faults, s.Expect, s.Recorded, s.Trace = t.s.Faults, nil, nil, ""
		excuse, err := excuseOf(s)
		if excuse != "" {
			misfit = err
			cases = append(cases, &report.Case{Library: a.lib, Scenario: s, Excuse: excuse})
			doc.DoesNotApply = append(doc.DoesNotApply, sideless{mode.Name, excuse})
			continue
		}
		c, err := a.execute(&target{arg: t.arg, isBare: t.isBare, base: t.base, s: s, data: t.data})
		if err != nil {
			return err
		}
		a.note(statusOfRun(c))
		struck = struck || len(report.NotReached(c)) < len(s.Faults) || len(s.Faults) == 0
		cases = append(cases, c)
		doc.Runs = append(doc.Runs, report.NewRun(c))
	}
	if len(doc.Runs) == 0 && misfit != nil {
		return fail(statusUsage, "%w (under none of %s)", misfit,
			strings.Join(names(modes, func(m *model.Mode) string { return m.Name }), ", "))
	}
	if !struck {
		a.note(statusUnknown) // nothing was put to the test
	}
	if asJSON {
		a.out.json(doc)
		return nil
	}
	a.out.print(report.Sides(cases, a.style()))
	return nil
}

// excuseOf says which process or channel of the faults a job lacks that others have, by their mode,
// with the complaint about it; "": none.
func excuseOf(s *scenarios.Scenario) (string, error) {
	_, err := s.Faults.Compile(s.Job())
	var misfit *faults.CompileError
	if !errors.As(err, &misfit) || !slices.Contains([]string{"process", "channel"}, misfit.What) {
		return "", nil
	}
	return fmt.Sprintf("no %s %s", misfit.What, misfit.Name), err
}
