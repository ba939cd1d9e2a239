package report

import (
	"fmt"
	"slices"

	"github.com/oncesim/oncesim/faults"
	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/scenarios"
	"github.com/oncesim/oncesim/search"
)

// Matrix is a comparison as "compare --json" prints it.
type Matrix struct {
	Scenario  string       `json:"scenario"`
	Defect    string       `json:"defect,omitempty"`
	Without   []string     `json:"without,omitempty"` // the modes that cannot have the defect
	Seeds     string       `json:"seeds"`
	Records   int          `json:"records"`
	Malformed int          `json:"malformed"`
	Bound     string       `json:"bound"`
	Cells     []MatrixCell `json:"cells"`
	Costs     []ModeCost   `json:"costs"`
	Agrees    bool         `json:"agrees"`    // all that is claimed to hold does
	Unreached int          `json:"unreached"` // cells that must be violated and were not seen to be
	Partial   bool         `json:"partial"`   // it was interrupted: further cells are missing

	rows  []matrixRow
	pairs bool
	costs []search.Cost
	lib   *scenarios.Library
}

// MatrixCell is one mode and property under one class of faults.
type MatrixCell struct {
	Mode       string           `json:"mode"`
	Fault      string           `json:"fault"`
	Property   string           `json:"property"`
	Claim      string           `json:"claim"`
	Observed   string           `json:"observed"`
	Runs       int64            `json:"runs"`
	Violations int64            `json:"violations"`
	Anomalies  map[string]int64 `json:"anomalies"`
	Bound      string           `json:"bound"`
	Reason     string           `json:"reason,omitempty"`    // unknown: why, of the smallest run
	Witness    string           `json:"witness,omitempty"`   // the smallest violation: a scenario
	Reproduce  string           `json:"reproduce,omitempty"` // the line that runs it

	claim    search.Claim
	observed model.Result
	crash    bool // violated only together with a crash
}

// isBroken reports whether a cell contradicts a claim that its property holds.
func (c *MatrixCell) isBroken() bool {
	return c.claim == search.ClaimHolds && c.observed == model.Violated
}

// isUnsure reports whether a cell cannot say that a claim holds.
func (c *MatrixCell) isUnsure() bool {
	return c.claim == search.ClaimHolds && c.observed == model.Undecided
}

// isUnreached reports whether a violation that is claimed to be reachable was not seen.
func (c *MatrixCell) isUnreached() bool {
	return c.claim == search.ClaimViolated && c.observed != model.Violated
}

// matrixRow is one mode under one class, for the table.
type matrixRow struct {
	mode, class string
	cells       []MatrixCell
	anomalies   map[model.AnomalyKind]int64
	findings    map[model.AnomalyKind]bool // those of them that are no outcomes
	runs        int64
	bound       string
	witness     *witness // the smallest, of the most severe anomaly; or nil
	found       map[model.AnomalyKind]*witness
}

// witness is a run that shows an anomaly.
type witness struct {
	kind     model.AnomalyKind
	scenario *scenarios.Scenario
	records  int
	command  string // "" where no line can say it
}

// isSmaller reports whether a witness has fewer faults than another, or fewer records.
func (w *witness) isSmaller(other *witness) bool {
	if a, b := len(w.scenario.Faults), len(other.scenario.Faults); a != b {
		return a < b
	}
	return w.records < other.records
}

// NewMatrix is the document of a comparison. command writes the line that runs a scenario which
// differs from the compared one by its mode, seed, number of records and faults.
func NewMatrix(m *search.Matrix, command func(s *scenarios.Scenario) string) *Matrix {
	doc := &Matrix{Scenario: m.Scenario.Name, Seeds: fmt.Sprintf("%d-%d", m.First, m.Last),
		Records: m.Records, Malformed: m.Stats.Malformed, Bound: m.Bound(), Cells: []MatrixCell{},
		Costs: []ModeCost{}, Agrees: true, Partial: m.IsPartial, pairs: m.Pairs,
		costs: m.Costs, lib: m.Library}
	if d := m.Scenario.Defect; d != nil {
		doc.Defect = d.Name
		for _, mode := range m.Modes {
			if !d.Fits(mode.Name) {
				doc.Without = append(doc.Without, mode.Name)
			}
		}
	}
	for i := range m.Costs {
		doc.Costs = append(doc.Costs, newModeCost(&m.Costs[i], int64(m.Records)))
	}
	for i := range m.Rows {
		if r := &m.Rows[i]; r.Seeds.Runs+r.Placed.Runs > 0 {
			doc.rows = append(doc.rows, newMatrixRow(m, r, command))
		}
	}
	for i := range doc.rows {
		for _, c := range doc.rows[i].cells {
			doc.Cells = append(doc.Cells, c)
			doc.Agrees = doc.Agrees && !c.isBroken() && !c.isUnsure()
			if c.isUnreached() {
				doc.Unreached++
			}
		}
	}
	return doc
}

// Claims says how the observations of m relate to what the modes claim: whether a claim is
// broken, and whether one is neither confirmed nor broken.
func (m *Matrix) Claims() (broken, unsure bool) {
	for i := range m.Cells {
		broken = broken || m.Cells[i].isBroken()
		unsure = unsure || m.Cells[i].isUnsure()
	}
	return broken, unsure
}

func newMatrixRow(m *search.Matrix, r *search.Row,
	command func(s *scenarios.Scenario) string) matrixRow {
	row := matrixRow{mode: r.Mode.Name, class: r.Class.Name, runs: r.Seeds.Runs + r.Placed.Runs,
		bound: boundOf(r), anomalies: map[model.AnomalyKind]int64{},
		findings: map[model.AnomalyKind]bool{}}
	under := search.Under(m.Scenario, r.Mode, r.Class)
	found := map[model.AnomalyKind]*witness{}
	row.found = found
	for _, kind := range model.Anomalies() {
		n := r.Seeds.Anomalies[kind] + r.Placed.Anomalies[kind]
		if n == 0 {
			continue
		}
		row.anomalies[kind], row.findings[kind] = n, isFinding(m.Library, under, kind)
		found[kind] = newWitness(m, r, kind, command)
		if w := row.witness; w == nil || !row.findings[kind] && found[kind].isSmaller(w) {
			row.witness = found[kind]
		}
	}
	for i := range m.Library.Properties {
		row.cells = append(row.cells, newMatrixCell(m, r, i, &row, found))
	}
	return row
}

// boundOf says how many runs of each kind a row has.
func boundOf(r *search.Row) string {
	seeds := Several(r.Seeds.Runs, "seed")
	if r.Class.Action == 0 {
		return seeds
	}
	return seeds + ", " + Several(r.Placed.Runs, "place")
}

// placedText says what a placed run is.
func placedText(pairs bool) string {
	if pairs {
		return "the fault at every place, alone and with a crash"
	}
	return "the fault at every place"
}

func newMatrixCell(m *search.Matrix, r *search.Row, i int, row *matrixRow,
	found map[model.AnomalyKind]*witness) MatrixCell {
	p := &m.Library.Properties[i]
	c := MatrixCell{Mode: row.mode, Fault: row.class, Property: p.Name, Claim: r.Claims[i].String(),
		Observed: r.Observed(i).String(), Runs: row.runs, Anomalies: map[string]int64{},
		Violations: r.Seeds.Counts[i].Violated + r.Placed.Counts[i].Violated, Bound: m.Bound(),
		claim: r.Claims[i], observed: r.Observed(i), crash: r.TakesACrash(i)}
	switch c.observed {
	case model.Violated:
		for _, kind := range model.Anomalies() {
			w := found[kind]
			if w == nil || !slices.Contains(p.Anomalies, kind) {
				continue
			}
			c.Anomalies[kind.String()] = row.anomalies[kind]
			if c.Witness == "" {
				c.Witness = string(scenarios.Format(m.Library, w.scenario))
				c.Reproduce = w.command
			}
		}
	case model.Undecided:
		for _, w := range []*search.Witness{r.Seeds.Unknown[i], r.Placed.Unknown[i]} {
			if w != nil {
				c.Reason = w.Reason
			}
		}
	}
	return c
}

// newWitness makes the smallest run that shows an anomaly a scenario.
func newWitness(m *search.Matrix, r *search.Row, kind model.AnomalyKind,
	command func(s *scenarios.Scenario) string) *witness {
	found, isSmall := r.Smallest(kind)
	from := m.Scenario
	if isSmall {
		from = m.Small
	}
	s := runOf(search.Under(from, r.Mode, r.Class), found)
	w := &witness{kind: kind, scenario: s, records: m.Records, command: command(s)}
	if isSmall {
		w.records = min(m.Records, search.PlacedRecords)
	}
	return w
}

// runOf is the run of a scenario without faults that a witness is, as a scenario of its own.
func runOf(from *scenarios.Scenario, w *search.Witness) *scenarios.Scenario {
	s := *from
	s.Seed, s.Faults, s.Expect, s.Recorded, s.Trace = w.Seed, nil, nil, nil, ""
	job := s.Job()
	for _, rule := range w.Rules {
		s.Faults = append(s.Faults, faults.FromRule(job, rule))
	}
	return &s
}
