package search

import (
	"context"
	"fmt"
	"slices"

	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/scenarios"
)

// PlacedRecords is how many records the small form of a scenario has, in which the matrix places
// one fault of each class everywhere.
const PlacedRecords = 4

// Row is one mode under one class of faults. Where the class does not apply to the mode there are
// no runs, and nothing is claimed.
type Row struct {
	Mode   *model.Mode
	Class  *scenarios.Class
	Kind   model.OperatorKind
	Seeds  *Tally  // the scenario under plans drawn from seeds
	Placed *Tally  // its small form under one fault of the class at every place, or pairs
	Claims []Claim // by property of the library
}

// Observed is the verdict on property i over both kinds of run.
func (r *Row) Observed(i int) model.Result {
	c := r.Seeds.Counts[i]
	c.merge(r.Placed.Counts[i])
	return c.Result()
}

// TakesACrash reports whether property i was violated only in runs that had a crash besides the
// fault of the class.
func (r *Row) TakesACrash(i int) bool {
	return r.Class.Action != model.Crash && r.Observed(i) == model.Violated &&
		r.Seeds.Alone[i]+r.Placed.Alone[i] == 0
}

// Smallest is the smallest witness of an anomaly and whether it is of the small form.
func (r *Row) Smallest(kind model.AnomalyKind) (w *Witness, isSmall bool) {
	if w := r.Placed.Witnesses[kind]; w != nil {
		return w, true
	}
	return r.Seeds.Witnesses[kind], false
}

// Matrix compares modes under fault classes on one scenario.
type Matrix struct {
	Library  *scenarios.Library
	Scenario *scenarios.Scenario
	Small    *scenarios.Scenario // its small form
	Comparing
	Rows      []Row
	Costs     []Cost // where they were measured
	Records   int
	Stats     scenarios.InputStats
	IsPartial bool // the context ended before all runs were made
}

// Bound says how far the matrix looked.
func (m *Matrix) Bound() string {
	placed := "one fault"
	if m.Pairs {
		placed = "one fault, alone and with a crash,"
	}
	return fmt.Sprintf("seeds %d-%d on %d records; %s at every place on %d records",
		m.First, m.Last, m.Records, placed, min(m.Records, PlacedRecords))
}

// Comparing says what to compare: every mode under every class.
type Comparing struct {
	Modes       []*model.Mode
	Classes     []*scenarios.Class
	First, Last uint64 // seeds
	// Pairs places each fault also together with a crash, everywhere: what is never seen then is
	// exhausted at two faults.
	Pairs    bool
	Progress func(done, all int) // rows; or nil
}

// Compare fills a matrix. It stops early, without an error, when the context ends, and the matrix
// says so.
func Compare(ctx context.Context, lib *scenarios.Library, s *scenarios.Scenario,
	opts Comparing) (*Matrix, error) {
	seeds, err := countSeeds(opts.First, opts.Last)
	if err != nil {
		return nil, err
	}
	input, stats, err := lib.LoadInput(s)
	if err != nil {
		return nil, err
	}
	m := &Matrix{Library: lib, Scenario: s, Comparing: opts, Records: input.Total(), Stats: stats,
		Small: smallForm(s)}
	small, _, err := lib.LoadInput(m.Small)
	if err != nil {
		return nil, err
	}
	for _, mode := range opts.Modes {
		for _, class := range opts.Classes {
			row, err := m.row(ctx, mode, class, input, small)
			if err != nil {
				return nil, err
			}
			m.Rows = append(m.Rows, row)
			if class.Applies(mode) && row.Seeds.Runs < seeds && ctx.Err() == nil {
				panic(fmt.Sprintf("search: %d of %d seeds of %s under %s were run", row.Seeds.Runs,
					seeds, mode.Name, class.Name))
			}
			if opts.Progress != nil {
				opts.Progress(len(m.Rows), len(opts.Modes)*len(opts.Classes))
			}
		}
	}
	m.IsPartial = ctx.Err() != nil
	return m, nil
}

// smallForm is the scenario on its first few records.
func smallForm(s *scenarios.Scenario) *scenarios.Scenario {
	small := *s
	if small.Input.Records == 0 || small.Input.Records > PlacedRecords {
		small.Input.Records = PlacedRecords
	}
	small.Faults = nil
	return &small
}

func (m *Matrix) row(ctx context.Context, mode *model.Mode, class *scenarios.Class,
	input, small *model.Input) (Row, error) {
	row := Row{Mode: mode, Class: class, Kind: m.Scenario.Topology.Kind()}
	if !class.Applies(mode) {
		n := len(m.Library.Properties)
		row.Seeds, row.Placed, row.Claims = newTally(n), newTally(n), make([]Claim, n)
		return row, nil
	}
	cell := Cell{Library: m.Library, Scenario: Under(m.Scenario, mode, class), Input: input,
		Class: class}
	var err error
	if row.Seeds, err = cell.Seeds(ctx, m.First, m.Last); err != nil {
		return row, err
	}
	if err = cell.reduce(row.Seeds); err != nil {
		return row, err
	}
	cell.Scenario, cell.Input = Under(m.Small, mode, class), small
	if row.Placed, err = cell.Place(ctx, m.Pairs); err != nil {
		return row, err
	}
	isClaimed := len(WithMode(m.Scenario, mode).Unlike()) == 0
	for i := range m.Library.Properties {
		claim := NoClaim
		if isClaimed {
			claim = ClaimOf(mode, class, row.Kind, cell.Scenario.Params, &m.Library.Properties[i])
		}
		row.Claims = append(row.Claims, claim)
	}
	return row, nil
}

// Under is the scenario under another mode, as a class of faults varies it.
func Under(s *scenarios.Scenario, mode *model.Mode, class *scenarios.Class) *scenarios.Scenario {
	c := WithMode(s, mode)
	if class.Vary != nil {
		c.Params = slices.Clone(c.Params)
		class.Vary(c)
	}
	return c
}

// WithMode is the scenario under another mode, without its faults.
func WithMode(s *scenarios.Scenario, mode *model.Mode) *scenarios.Scenario {
	c := s.UnderMode(mode)
	c.Faults = nil
	return c
}
