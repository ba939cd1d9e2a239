package simtest

import (
	"fmt"

	"pgregory.net/rapid"

	"github.com/oncesim/oncesim/faults"
	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/scenarios"
	"github.com/oncesim/oncesim/search"
)

// places are where faults can be put in a run of a scenario in which nothing fails.
type places struct {
	job   *model.Job
	lists []faults.Places // none of them is empty
	max   int             // how many faults a plan has at the most
}

// places runs the scenario without faults. The error is that it panics, that of search.NewPlanner,
// or that there is no place.
func (u *subject) places() (p *places, err error) {
	if caught := catch(func() { p, err = u.findPlaces() }); caught != nil {
		return nil, fmt.Errorf("%s", describe(u.with(nil, u.base.Seed, nil), caught))
	}
	return p, err
}

func (u *subject) findPlaces() (*places, error) {
	classes, err := u.faultClasses()
	if err != nil {
		return nil, err
	}
	runner, err := u.world()
	if err != nil {
		return nil, err
	}
	if _, err := search.NewPlanner(runner, u.base, classes, u.faultsMax); err != nil {
		return nil, err
	}
	p := &places{job: runner.Job(), max: u.faultsMax}
	if p.max == 0 {
		p.max = search.PlannedFaults
	}
	res := runner.Run(u.base.Seed, nil, scenarios.Options{})
	for _, class := range classes {
		if class.Action == 0 || !class.Applies(u.base.Mode) {
			continue
		}
		if list := class.Places(&res.Subject.History.Extent); list.Len() > 0 {
			p.lists = append(p.lists, list)
		}
	}
	if len(p.lists) == 0 {
		return nil, fmt.Errorf("%s under %s has no place for a fault of these classes", u.base.Name,
			u.base.ModeText())
	}
	return p, nil
}

// at is the fault at a place of a class, both counted from 0.
func (p *places) at(class, place int64) model.Rule { return p.lists[class].At(place) }

// Draw draws a scenario for a property of rapid: the one that is given, under a seed and a list of
// faults of the classes that its mode tolerates. Every fault of it strikes. Rapid makes what fails
// smaller by itself. It is rapid that draws, and so a test of another kind will not do.
//
//	rapid.Check(t, func(rt *rapid.T) {
//		simtest.Run(rt, simtest.Draw(rt, scenario))
//	})
func Draw(rt *rapid.T, s Scenario, opts ...Option) Scenario {
	rt.Helper()
	u, err := newSubject("Draw", rt, s, opts)
	if err != nil {
		rt.Fatalf("%v", err)
	}
	p, err := u.places()
	if err != nil {
		rt.Fatalf("%v", err)
	}
	rules := map[string]model.Rule{}
	fault := rapid.Custom(func(rt *rapid.T) string {
		rt.Helper()
		class := rapid.IntRange(0, len(p.lists)-1).Draw(rt, "class")
		place := rapid.Int64Range(0, p.lists[class].Len()-1).Draw(rt, "place")
		rule := p.at(int64(class), place)
		line := faults.FromRule(p.job, rule).String()
		rules[line] = rule
		return line
	})
	lines := rapid.SliceOfNDistinct(fault, 0, p.max, rapid.ID[string]).Draw(rt, "faults")
	s.Seed = rapid.Uint64Range(1, 1<<32).Draw(rt, "seed")
	s.Faults = u.struck(lines, s.Seed, rules)
	if len(s.Faults) == 0 {
		s.Faults = []string{""}
	}
	return s
}

// struck are the faults of a plan that strike under a seed; all of them where the run panics.
// Without the others the run is the same: they were placed in another one, and a test fails if a
// fault of its own is not reached.
func (u *subject) struck(lines []string, seed uint64, rules map[string]model.Rule) []string {
	if u.set.seed != "" {
		seed = u.seeds.first // Run takes this one
	}
	var plan []model.Rule
	for _, line := range lines {
		plan = append(plan, rules[line])
	}
	var struck []string
	p := catch(func() {
		runner, err := u.world()
		if err != nil {
			return
		}
		res := runner.Run(seed, plan, scenarios.Options{})
		for i, line := range lines {
			if res.Subject.History.Reached[i] != 0 {
				struck = append(struck, line)
			}
		}
	})
	if p != nil {
		return lines
	}
	return struck
}
