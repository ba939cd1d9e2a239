package simcli

import (
	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/report"
	"github.com/oncesim/oncesim/search"
)

// sides is the JSON document of one scenario under several modes.
type sides struct {
	Runs []*report.Run `json:"runs"`
}

// compareFaults runs the scenario with its faults and its seed under each mode, side by side.
func (a *app) compareFaults(t *target, modes []*model.Mode, asJSON bool) error {
	var cases []*report.Case
	doc, struck := sides{}, false
	for _, mode := range modes {
		s := search.WithMode(t.s, mode)
		s.Faults, s.Expect, s.Recorded, s.Trace = t.s.Faults, nil, nil, ""
		c, err := a.execute(&target{arg: t.arg, isBare: t.isBare, base: t.base, s: s, data: t.data})
		if err != nil {
			return err
		}
		a.note(statusOfRun(c))
		struck = struck || len(report.NotReached(c)) < len(s.Faults) || len(s.Faults) == 0
		cases = append(cases, c)
		doc.Runs = append(doc.Runs, report.NewRun(c))
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
