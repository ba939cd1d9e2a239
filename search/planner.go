package search

import (
	"fmt"
	"slices"

	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/scenarios"
)

// drawFaults and drawClass are the ordinals of the draws of a mixed plan: how many faults it has,
// and of which class each is.
const (
	drawFaults = 1<<32 + 1 + iota
	drawClass
)

// PlannedFaults is how many faults a plan has at the most, unless it is said.
const PlannedFaults = 3

// Planner draws the faults under which a scenario runs, for one seed after the other: of one to
// some number of faults, each of any of its classes, together and in each other's recovery. A
// scenario that has faults of its own runs under just these, whatever the seed.
//
// A plan is a function of the scenario, the classes, the number and the seed.
type Planner struct {
	classes []*scenarios.Class
	most    int
	own     []model.Rule
	extent  model.Extent // of the run without faults, under the scenario's own seed
	after   model.Extent
}

// Envelope lists the classes of faults that a mode tolerates and that leave a scenario as it is:
// what a mode claims, it claims of every run under faults of these.
func Envelope(lib *scenarios.Library, mode *model.Mode) []*scenarios.Class {
	var classes []*scenarios.Class
	for _, class := range lib.Classes {
		isFault := class.Vary == nil && class.Action != 0 && class.Applies(mode)
		if isFault && slices.Contains(mode.Tolerates, class.Name) {
			classes = append(classes, class)
		}
	}
	return classes
}

// NewPlanner prepares to draw plans of one to most faults (0: PlannedFaults) for what r runs, which
// is s. The error is that of a fault of s that does not fit its job, of a class that changes the
// scenario, or that there is nothing to draw from.
func NewPlanner(r *scenarios.Runner, s *scenarios.Scenario, classes []*scenarios.Class, most int) (
	*Planner, error) {
	p := &Planner{most: most}
	if most == 0 {
		p.most = PlannedFaults
	}
	var err error
	if p.own, err = s.Faults.Compile(r.Job()); err != nil || len(s.Faults) > 0 {
		return p, err
	}
	for _, class := range classes {
		switch {
		case class.Vary != nil:
			return nil, fmt.Errorf("class %s changes the scenario, and is not drawn with others",
				class.Name)
		case class.Action != 0 && class.Applies(s.Mode):
			p.classes = append(p.classes, class)
		}
	}
	if len(p.classes) == 0 {
		return nil, fmt.Errorf("mode %s: there is no class of faults to draw from", s.Mode.Name)
	}
	copyExtent(&p.extent, r.Extent(s.Seed, nil))
	return p, nil
}

// Plan appends the faults for a seed to into. It may run r. Under every other seed each fault is
// placed in the run that those before it have made: it may strike what only a recovery asks for.
func (p *Planner) Plan(r *scenarios.Runner, seed uint64, into []model.Rule) []model.Rule {
	if len(p.own) > 0 {
		return append(into, p.own...)
	}
	extent, begin := &p.extent, len(into)
	n := 1 + model.Below(model.Draw(seed, model.DrawPlan, drawFaults, 0, 0), int64(p.most))
	for nth := range uint64(n) {
		if nth > 0 && seed%2 == 1 {
			copyExtent(&p.after, r.Extent(seed, into[begin:]))
			extent = &p.after
		}
		draw := model.Draw(seed, model.DrawPlan, drawClass, nth, 0)
		class := p.classes[model.Below(draw, int64(len(p.classes)))]
		if rule, ok := class.Places(extent).Draw(seed, nth); ok {
			into = append(into, rule)
		}
	}
	return into
}
