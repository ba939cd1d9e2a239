package search

import (
	"context"
	"fmt"
)

// Envelope runs the scenario for each seed from first to last under a plan of one to most faults,
// each of any class that the mode tolerates and that leaves the scenario as it is: together, and in
// each other's recovery. What the mode claims, it claims of every such run. Class is not looked at.
func (c *Cell) Envelope(ctx context.Context, first, last uint64, most int) (*Tally, error) {
	n, err := countSeeds(first, last)
	if err != nil {
		return nil, err
	}
	s := *c.Scenario
	s.Faults = nil
	classes := Envelope(c.Library, s.Mode)
	if len(classes) == 0 {
		return nil, fmt.Errorf("mode %s tolerates no class of faults", s.Mode.Name)
	}
	return c.each(ctx, n, func(w *worker, i int64) {
		if w.planner == nil {
			var err error
			if w.planner, err = NewPlanner(w.runner, &s, classes, most); err != nil {
				panic(err) // the classes are those of the mode, and there is no fault to compile
			}
		}
		seed := first + uint64(i)
		w.rules = w.planner.Plan(w.runner, seed, w.rules[:0])
		w.run(seed, w.rules)
	})
}
