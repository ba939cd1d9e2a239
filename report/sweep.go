package report

import (
	"fmt"
	"strings"

	"github.com/oncesim/oncesim/search"
)

// Sweep is what a sweep came to, as "sweep --json" and "merge --json" print it. It has no times:
// the same runs give the same bytes.
type Sweep struct {
	Seeds    string `json:"seeds"`
	Shard    string `json:"shard,omitempty"`
	Complete bool   `json:"complete"` // every seed was run, those of other shards aside
	Faults   int    `json:"faults"`   // of a plan at the most
	Any      bool   `json:"any"`
	Manifest string `json:"manifest"`
	Version  string `json:"version"`
	Golden   int    `json:"golden"`
	search.SweepCounts
	Units    []sweepUnit    `json:"units"`
	Failures []sweepFailure `json:"failures"`

	isOpen bool
}

// sweepUnit is one scenario under one mode.
type sweepUnit struct {
	search.UnitHeader
	search.SweepCounts
	Hash    string           `json:"hash"`    // the xor of those of all runs
	Crashes map[string]int64 `json:"crashes"` // by the step of a checkpoint behind which they fell
	Missing uint64           `json:"missing"` // seeds that were not run
	Ranges  []string         `json:"missingSeeds"`

	crashes []int64
}

// sweepFailure is all runs of a unit that are not as claimed in one way, with the fastest of them.
type sweepFailure struct {
	Scenario  string   `json:"scenario"`
	Mode      string   `json:"mode"`
	Class     string   `json:"class,omitempty"`
	Signature string   `json:"signature"`
	Verdict   string   `json:"verdict"`
	Count     int64    `json:"count"`
	Runs      int64    `json:"runs"`
	Low       float64  `json:"low"` // of the share, with 95 % confidence
	High      float64  `json:"high"`
	Seed      uint64   `json:"seed"`
	Events    int64    `json:"events"`
	Hash      string   `json:"hash"`
	Faults    []string `json:"faults"`
	Reproduce string   `json:"reproduce"`
	File      string   `json:"file,omitempty"`

	unit string
}

// NewSweep is the document of results.
func NewSweep(r *search.Results) *Sweep {
	h := &r.Header
	doc := &Sweep{Seeds: h.Seeds, Shard: h.Shard, Complete: r.IsComplete(), Faults: h.Faults,
		Any: h.Any, Manifest: h.Manifest, Version: h.Version, Golden: h.Golden,
		SweepCounts: r.Total(), Units: []sweepUnit{}, Failures: []sweepFailure{},
		isOpen: r.IsOpen()}
	for i := range r.Units {
		u := &r.Units[i]
		unit := sweepUnit{UnitHeader: h.Units[i], SweepCounts: u.SweepCounts, Hash: hex(u.Hash),
			Crashes: map[string]int64{}, crashes: u.Crashes}
		for _, gap := range search.Gaps() {
			unit.Crashes[gap.String()] = u.Crashes[gap]
		}
		unit.Missing, unit.Ranges = r.Missing(i)
		unit.Ranges = list(unit.Ranges)
		doc.Units = append(doc.Units, unit)
		for _, g := range u.Groups() {
			doc.Failures = append(doc.Failures, newSweepFailure(&h.Units[i], u.Runs, g))
		}
	}
	return doc
}

func newSweepFailure(unit *search.UnitHeader, runs int64, g *search.FailureGroup) sweepFailure {
	f := sweepFailure{Scenario: unit.Scenario, Mode: unit.Mode, Class: unit.Class,
		Signature: g.Signature, Verdict: g.Verdict, Count: g.Count, Runs: runs,
		Seed: g.Fastest.Seed, Events: g.Fastest.Events, Hash: g.Fastest.Hash,
		Faults: list(g.Fastest.Faults), Reproduce: g.Fastest.Reproduce, File: g.Fastest.File,
		unit: unit.Name()}
	f.Low, f.High = search.Wilson(g.Count, runs)
	return f
}

// Claims says what a sweep found: whether a run failed, and whether it is unknown if one would: a
// verdict is, seeds are missing, or of a unit there is nothing that was claimed.
func (s *Sweep) Claims() (broken, unsure bool) {
	broken = s.Failed > 0
	unsure = s.Unknown > 0 || s.Runs == 0 || !s.Complete && !s.isOpen
	for i := range s.Units {
		u := &s.Units[i]
		unsure = unsure || u.Runs == u.Unclaimed
	}
	return broken, unsure
}

// Text is the document for people.
func (s *Sweep) Text(style Style) string {
	w := &writer{style: style}
	head := "sweep of seeds " + s.Seeds
	if first, _, isOpen := strings.Cut(s.Seeds, "-"); isOpen && s.isOpen {
		head = "sweep of seeds from " + first
	}
	if s.Shard != "" {
		head += ", shard " + s.Shard
	}
	if s.Any {
		head += ", every violation a failure"
	}
	w.line("%s", style.paint(bold, head))
	w.sweepWithout(s)
	w.blank()
	w.sweepTable(s)
	w.sweepProbes(s)
	w.sweepFailures(s)
	w.blank()
	w.sweepMissing(s)
	w.sweepSummary(s)
	return w.String()
}

// sweepWithout says of each scenario that has a defect which of its modes run without it.
func (w *writer) sweepWithout(s *Sweep) {
	for from := 0; from < len(s.Units); {
		to := from
		for to < len(s.Units) && s.Units[to].Scenario == s.Units[from].Scenario {
			to++
		}
		w.without(plantedIn(s.Units[from:to], func(u sweepUnit) (mode, defect string) {
			return u.Mode, u.Defect
		}))
		from = to
	}
}

// sweepNameMax is how wide the names of units are: more would make the table wider than a page.
const sweepNameMax = columnsMax - 55

// sweepTable has a line for each unit.
func (w *writer) sweepTable(s *Sweep) {
	width := len("unit")
	for i := range s.Units {
		width = max(width, min(len(s.Units[i].Name()), sweepNameMax))
	}
	w.line("%-*s  %8s %8s %7s %7s %9s %9s", width, "unit", "runs", "held", "failed", "unknown",
		"unclaimed", "unreached")
	for i := range s.Units {
		u := &s.Units[i]
		name := u.Name()
		if len(name) > width {
			w.line("%s", name)
			name = ""
		}
		failed := fmt.Sprintf("%7d", u.Failed)
		if u.Failed > 0 {
			failed = w.style.paint(red, failed)
		}
		w.line("%-*s  %8d %8d %s %7d %9d %9d", width, name, u.Runs, u.Held, failed, u.Unknown,
			u.Unclaimed, u.Unreached)
	}
	w.line("unclaimed: the mode claims nothing of such a run")
	w.line("unreached: runs in which not every fault of the plan struck")
}

// sweepProbes says what the runs have tried: where crashes fell, and that failures are caught.
func (w *writer) sweepProbes(s *Sweep) {
	head := "crashes by the step of a checkpoint in which they fell"
	for i := range s.Units {
		u := &s.Units[i]
		var parts []string
		isAny := false
		for _, gap := range search.Gaps() {
			isAny = isAny || u.crashes[gap] > 0
			parts = append(parts, fmt.Sprintf("%s %d", gap, u.crashes[gap]))
		}
		if !isAny {
			continue
		}
		if head != "" {
			w.blank()
			w.line("%s", head)
			head = ""
		}
		w.line("  %s", u.Name())
		w.line("      %s", strings.Join(parts, ", "))
	}
	w.blank()
	last := ""
	for i := range s.Units {
		if u := &s.Units[i]; u.Scenario != last {
			last = u.Scenario
			w.line("canary of %s: %s", u.Scenario, u.Canary)
		}
	}
}

func (w *writer) sweepFailures(s *Sweep) {
	head := ""
	for i := range s.Failures {
		f := &s.Failures[i]
		now := "failures"
		if f.Verdict != "violated" {
			now = "unknown"
		}
		if now != head {
			head = now
			w.blank()
			w.line("%s", head)
		}
		w.line("  %s", w.style.paint(bold, f.Signature))
		w.line("      %s: %d of %d runs", f.unit, f.Count, f.Runs)
		w.line("      %s (95 %% interval %s to %s); fastest: seed %d, %s, %d events",
			percent(float64(f.Count)/float64(f.Runs)), percent(f.Low), percent(f.High), f.Seed,
			Several(len(f.Faults), "fault"), f.Events)
		if f.Reproduce != "" {
			w.line("      %s", f.Reproduce)
		}
		if f.File != "" {
			w.line("      made smaller: %s", f.File)
		}
	}
}

// percent writes a share with three digits.
func percent(share float64) string { return fmt.Sprintf("%.3g %%", 100*share) }

// sweepMissing says which seeds were not run.
func (w *writer) sweepMissing(s *Sweep) {
	for i := range s.Units {
		u := &s.Units[i]
		if u.Missing == 0 {
			continue
		}
		w.line("not run: %s of %s: %s", Several(int(u.Missing), "seed"), u.Name(),
			strings.Join(u.Ranges, ", "))
	}
}

func (w *writer) sweepSummary(s *Sweep) {
	for i := range s.Units {
		if u := &s.Units[i]; u.Runs > 0 && u.Runs == u.Unclaimed {
			w.line("%s claims nothing of any of its runs: --any judges them all the same", u.Name())
		}
	}
	switch broken, unsure := s.Claims(); {
	case s.Runs == 0:
		w.line("nothing was run")
	case broken:
		w.line("%s", w.style.paint(red, fmt.Sprintf("%d of %d runs failed", s.Failed, s.Runs)))
	case s.Unknown > 0:
		w.line("unknown: %d of %d runs are undecided", s.Unknown, s.Runs)
	case unsure:
		w.line("nothing failed in %s, and that is not all", Several(int(s.Runs), "run"))
	default:
		w.line("nothing failed in %s", Several(int(s.Runs), "run"))
	}
}
