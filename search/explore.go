package search

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/scenarios"
)

// Exploring says what to explore. The zero value is one crash, everywhere.
type Exploring struct {
	Classes []*scenarios.Class // of the faults; nil: crash
	Faults  int                // of a plan, at the most; 0: one
	// First and Last are the seeds under each of which everything is placed. HasSeeds says that
	// they are set, since 0 is a seed; else it is the scenario's own.
	First, Last uint64
	HasSeeds    bool
	// RunsMax bounds the runs that are judged; 0: as many as there are. Finding out what places a
	// run offers takes others besides: one for each plan that is continued, and one for every 64
	// of its places.
	RunsMax  int64
	Workers  int                     // 0: one a core
	Progress func(runs, known int64) // how many are made and known of; called by many
	Inspect  func() Inspect
}

// Exploration is what came of every placement of faults up to a bound.
type Exploration struct {
	Library  *scenarios.Library
	Scenario *scenarios.Scenario // as it was run, without faults of its own
	Exploring
	Records int
	Stats   scenarios.InputStats

	Runs   int64 // made, each under another plan
	States int64 // distinct ones among them, by hash
	// All counts each distinct run once. So does Inside, of those whose faults the mode tolerates:
	// these are the runs of which it claims what it claims.
	All, Inside *Tally
	Unlike      []string // settings under which the mode claims nothing of any run
	IsExhausted bool
	Left        string // why it is not: "--max-runs" or "interrupted"
}

// The reasons for which an exploration is not exhausted.
const (
	leftBudget      = "the runs allowed are spent"
	leftStates      = "the states allowed are spent"
	leftInterrupted = "interrupted"
)

// Explore runs a scenario under every plan of at most so many faults, each of any of some classes,
// at every effect, call and message and in each other's recovery. Faults of the scenario are left
// out. It stops early, without an error, when the context ends or the runs allowed are spent, and
// the exploration says so.
func Explore(ctx context.Context, lib *scenarios.Library, s *scenarios.Scenario, opts Exploring) (
	*Exploration, error) {
	x, input, err := newExploration(lib, s, opts)
	if err != nil {
		return nil, err
	}
	n := len(lib.Properties)
	e := &explorer{classes: x.Classes, most: x.Faults, budget: cmp.Or(x.RunsMax, unlimited),
		cell:  &Cell{Library: lib, Scenario: x.Scenario, Input: input, Workers: x.Workers},
		tally: newTally(n), inside: newTally(n)}
	met := &meetings{explorer: e, isInside: map[uint64]bool{}}
	for _, class := range x.Classes {
		met.isTolerated = append(met.isTolerated,
			slices.Contains(s.Mode.Tolerates, class.Name))
	}
	e.cell.Inspect, e.count, e.progress = x.Inspect, met.count, x.Progress
	x.IsExhausted = true
	for seed := x.First; x.IsExhausted; seed++ {
		if x.IsExhausted, err = e.tree(ctx, seed); err != nil {
			return nil, err
		}
		if seed == x.Last {
			break
		}
	}
	switch {
	case x.IsExhausted:
	case ctx.Err() != nil:
		x.Left = leftInterrupted
	default:
		x.Left = leftBudget
	}
	x.Runs, x.States, x.All, x.Inside = e.runs.Load(), int64(len(met.isInside)), e.tally, e.inside
	return x, nil
}

func newExploration(lib *scenarios.Library, s *scenarios.Scenario, opts Exploring) (
	x *Exploration, input *model.Input, err error) {
	x = &Exploration{Library: lib, Exploring: opts}
	if x.Classes == nil {
		x.Classes = []*scenarios.Class{crashes}
	}
	x.Scenario = Under(s, s.Mode, x.Classes[0])
	for _, class := range x.Classes {
		switch {
		case class.Vary != nil && len(x.Classes) > 1:
			return nil, nil, fmt.Errorf("class %s changes the scenario, and stands alone: explore "+
				"it by itself", class.Name)
		case !class.Applies(s.Mode):
			return nil, nil, fmt.Errorf("class %s says nothing of mode %s", class.Name, s.Mode.Name)
		}
	}
	x.Classes = slices.DeleteFunc(slices.Clone(x.Classes), func(c *scenarios.Class) bool {
		return c.Action == 0
	})
	x.Faults = cmp.Or(x.Faults, 1)
	if err := x.setSeeds(); err != nil {
		return nil, nil, err
	}
	input, x.Stats, err = lib.LoadInput(x.Scenario)
	if err != nil {
		return nil, nil, err
	}
	x.Records, x.Unlike = input.Total(), s.Unlike()
	return x, input, nil
}

// setSeeds checks the seeds, or makes them the scenario's.
func (x *Exploration) setSeeds() error {
	switch {
	case x.HasSeeds:
		return checkSeeds(x.First, x.Last)
	case x.First != 0 || x.Last != 0:
		return fmt.Errorf("seeds %d-%d are given, and HasSeeds is not", x.First, x.Last)
	}
	x.First, x.Last, x.HasSeeds = x.Scenario.Seed, x.Scenario.Seed, true
	return nil
}

// Claims reports whether the mode claims property i of the runs in Inside.
func (x *Exploration) Claims(i int) bool {
	return len(x.Unlike) == 0 &&
		slices.Contains(x.Scenario.Claims(), x.Library.Properties[i].Name)
}

// IsBroken reports whether property i is claimed of a run that violates it.
func (x *Exploration) IsBroken(i int) bool { return x.Claims(i) && x.Inside.Counts[i].Violated > 0 }

// IsUnsure reports whether property i is claimed of a run that leaves it open.
func (x *Exploration) IsUnsure(i int) bool {
	return x.Claims(i) && x.Inside.Counts[i].Undecided > 0
}

// meetings counts each distinct run once, whoever meets it first.
type meetings struct {
	explorer    *explorer
	isTolerated []bool // by class

	mu       sync.Mutex
	isInside map[uint64]bool // by hash of what was met: whether all faults were tolerated
}

// count counts a run. It may be one that was met before, under another plan: then it is only
// another witness of what it shows.
func (m *meetings) count(w *worker, p *plan, class int, res *scenarios.Result) {
	isInside := true
	for c, n := range p.uses {
		isInside = isInside && (m.isTolerated[c] || n == 0 && c != class)
	}
	isNew, isNewInside := m.meet(res.Subject.History.End.Hash, isInside)
	seed := m.explorer.seed
	if isNew {
		w.seen(seed, w.rules, res)
	} else {
		w.tally.witness(seed, w.rules, res)
	}
	switch {
	case isNewInside:
		w.inside.add(seed, w.rules, res)
	case isInside:
		w.inside.witness(seed, w.rules, res)
	}
}

// meet reports whether a run was not met before, and whether not under tolerated faults.
func (m *meetings) meet(hash uint64, isInside bool) (isNew, isNewInside bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	wasInside, wasMet := m.isInside[hash]
	m.isInside[hash] = wasInside || isInside
	return !wasMet, isInside && !wasInside
}
