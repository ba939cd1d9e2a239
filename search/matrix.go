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
	Placed *Tally  // its small form under one fault of the class at every place
	Claims []Claim // by property of the library
}

// Observed is the verdict on property i over both kinds of run.
func (r *Row) Observed(i int) model.Result {
	c := r.Seeds.Counts[i]
	p := r.Placed.Counts[i]
	c.Holds += p.Holds
	c.Violated += p.Violated
	c.Undecided += p.Undecided
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
	Library     *scenarios.Library
	Scenario    *scenarios.Scenario
	Small       *scenarios.Scenario // its small form
	First, Last uint64              // seeds
	Rows        []Row
	Costs       []Cost // where they were measured
	Records     int
	Stats       scenarios.InputStats
	IsPartial   bool // the context ended before all runs were made
}

// Bound says how far the matrix looked.
func (m *Matrix) Bound() string {
	return fmt.Sprintf("seeds %d-%d on %d records; one fault at every place on %d records",
		m.First, m.Last, m.Records, min(m.Records, PlacedRecords))
}

// Compare fills a matrix: every mode under every class. progress, where given, is called with the
// number of rows done and in all.
func Compare(ctx context.Context, lib *scenarios.Library, s *scenarios.Scenario,
	modes []*model.Mode, classes []*scenarios.Class, first, last uint64,
	progress func(done, all int)) (*Matrix, error) {
	input, stats, err := lib.LoadInput(s)
	if err != nil {
		return nil, err
	}
	m := &Matrix{Library: lib, Scenario: s, First: first, Last: last, Records: input.Total(),
		Stats: stats, Small: smallForm(s)}
	small, _, err := lib.LoadInput(m.Small)
	if err != nil {
		return nil, err
	}
	for _, mode := range modes {
		for _, class := range classes {
			row, err := m.row(ctx, mode, class, input, small)
			if err != nil {
				return nil, err
			}
			m.Rows = append(m.Rows, row)
			if progress != nil {
				progress(len(m.Rows), len(modes)*len(classes))
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
	if row.Placed, err = cell.Place(ctx, false); err != nil {
		return row, err
	}
	isClaimed := len(WithMode(m.Scenario, mode).Unlike()) == 0
	for i := range m.Library.Properties {
		claim := NoClaim
		if isClaimed {
			claim = ClaimOf(mode, class, row.Kind, &m.Library.Properties[i])
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

// WithMode is the scenario under another mode; parameters that the mode does not have are left
// out, and the sink is the mode's own.
func WithMode(s *scenarios.Scenario, mode *model.Mode) *scenarios.Scenario {
	c := *s
	c.Faults = nil
	if mode == s.Mode {
		return &c
	}
	c.Mode, c.Sink, c.Params = mode, "", nil
	for _, p := range s.Params {
		if mode.Param(p.Name) != nil {
			c.Params = append(c.Params, p)
		}
	}
	return &c
}
