package search

import (
	"context"
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

// Envelope runs the scenario for each seed from first to last under a plan of one to most faults,
// each of any class that the mode tolerates and that leaves the scenario as it is: together, and in
// each other's recovery. What the mode claims, it claims of every such run. Class is not looked at.
func (c *Cell) Envelope(ctx context.Context, first, last uint64, most int) (*Tally, error) {
	var classes []*scenarios.Class
	for _, class := range c.Library.Classes {
		isFault := class.Vary == nil && class.Action != 0 && class.Applies(c.Scenario.Mode)
		if isFault && slices.Contains(c.Scenario.Mode.Tolerates, class.Name) {
			classes = append(classes, class)
		}
	}
	if len(classes) == 0 {
		return nil, fmt.Errorf("mode %s tolerates no class of faults", c.Scenario.Mode.Name)
	}
	extent, err := c.extent()
	if err != nil {
		return nil, err
	}
	return c.each(ctx, int64(last-first)+1, func(w *worker, i int64) {
		seed := first + uint64(i)
		w.mix(seed, classes, extent, most)
		w.run(seed, w.rules)
	})
}

// mix draws a plan of one to most faults. Under every other seed each is placed in the run that
// those before it have made: it may strike what only a recovery asks for.
func (w *worker) mix(seed uint64, classes []*scenarios.Class, extent *model.Extent, most int) {
	w.rules = w.rules[:0]
	var after model.Extent
	n := 1 + model.Below(model.Draw(seed, model.DrawPlan, drawFaults, 0, 0), int64(most))
	for nth := range uint64(n) {
		if nth > 0 && seed%2 == 1 {
			copyExtent(&after, w.extentOf(seed, w.rules))
			extent = &after
		}
		draw := model.Draw(seed, model.DrawPlan, drawClass, nth, 0)
		class := classes[model.Below(draw, int64(len(classes)))]
		if rule, ok := class.Places(extent).Draw(seed, nth); ok {
			w.rules = append(w.rules, rule)
		}
	}
}
