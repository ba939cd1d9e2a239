package search

import (
	"errors"
	"fmt"
	"slices"

	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/scenarios"
)

// ErrNotCaught is what errors.Is finds in the error of a sweep in which a failure that must be seen
// was not: nothing that holds would mean anything.
var ErrNotCaught = errors.New("not caught")

// The failure that must be seen: a mode that repeats, under a class of faults that makes it.
const (
	canaryMode  = "at-least-once"
	canaryClass = "crash"
	canarySeeds = 500
	canaryInput = 24 // records at the most
)

// canary looks for a duplicate under at-least-once and crashes, on the topology and the first
// records of a scenario. It returns in words the first that it finds. Where the library does not
// have the mode, where it does not claim that a duplicate is reachable, or where nothing is visible
// at all, it does not apply.
func canary(lib *scenarios.Library, s *scenarios.Scenario) (string, error) {
	at := slices.IndexFunc(lib.Modes, func(m *model.Mode) bool { return m.Name == canaryMode })
	cl := slices.IndexFunc(lib.Classes, func(c *scenarios.Class) bool {
		return c.Name == canaryClass
	})
	if at < 0 || cl < 0 {
		return "does not apply: the library has no at-least-once under crash", nil
	}
	mode, class := lib.Modes[at], lib.Classes[cl]
	cell, _ := mode.Cell(class.Name, s.Topology.Kind())
	if !slices.Contains(cell.Must, model.Duplicate) {
		return "does not apply: at-least-once claims no duplicate of such operators", nil
	}
	small := *s
	small.Mode, small.Params, small.Sink, small.Faults = mode, nil, "", nil
	small.Defect = nil
	if small.Input.Records == 0 || small.Input.Records > canaryInput {
		small.Input.Records = canaryInput
	}
	runner, err := scenarios.NewRunner(lib, &small)
	if err != nil {
		return "", err
	}
	res := runner.Run(small.Seed, nil, scenarios.Options{})
	if len(res.Subject.History.Final) == 0 {
		return "does not apply: nothing is visible", nil
	}
	var extent model.Extent
	copyExtent(&extent, &res.Subject.History.Extent)
	var rules []model.Rule
	for seed := uint64(1); seed <= canarySeeds; seed++ {
		rules = class.Draw(seed, &extent, rules[:0])
		res := runner.Run(seed, rules, scenarios.Options{})
		if shows(&res, model.Duplicate) {
			return fmt.Sprintf("at-least-once under crash shows a duplicate under seed %d", seed),
				nil
		}
	}
	return "", fmt.Errorf("at-least-once under crash shows no duplicate in %d runs: %w",
		canarySeeds, ErrNotCaught)
}
