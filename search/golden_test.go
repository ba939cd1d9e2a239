package search_test

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/faults"
	"github.com/oncesim/oncesim/internal/oracle"
	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/scenarios"
	"github.com/oncesim/oncesim/search"
)

var full = flag.Bool("golden.full", false,
	"exhaust every pair of faults, and 100,000 seeds a cell in which the whole plan struck")

const (
	goldenSeeds = 200     // within which every anomaly that must be reachable has a witness
	shortSeeds  = 500     // for what must never appear, without -golden.full
	fullSeeds   = 100_000 // with it
)

// goldenScenarios are the small worlds of the golden table, one for each kind of operator.
var goldenScenarios = []string{"pipeline-three", "page-views-four"}

// TestGolden holds every mode, under every class of faults, to its golden cell: what must be
// reachable has a witness among few seeds and among all placements of one fault; what is not in
// the cell appears under no placement of a fault and a crash, and under no seed. Each run is
// judged twice, by the checker and by the oracle, and they agree.
func TestGolden(t *testing.T) {
	lib := scenarios.Builtin()
	for _, name := range goldenScenarios {
		s := builtin(t, lib, name)
		for _, mode := range lib.Modes {
			for _, class := range lib.Classes {
				t.Run(fmt.Sprintf("%s/%s/%s", name, mode.Name, class.Name), func(t *testing.T) {
					goldenCell(t, lib, s, mode, class)
				})
			}
		}
	}
}

// builtin returns a built-in scenario of the library.
func builtin(t *testing.T, lib *scenarios.Library, name string) *scenarios.Scenario {
	t.Helper()
	for _, f := range lib.Files {
		if f.Name == name {
			s, err := scenarios.Parse(lib, name+".sim", []byte(f.Data))
			require.NoError(t, err)
			return s
		}
	}
	t.Fatalf("no built-in scenario %s", name)
	return nil
}

func goldenCell(t *testing.T, lib *scenarios.Library, s *scenarios.Scenario, mode *model.Mode,
	class *scenarios.Class) {
	ctx := context.Background()
	agree := newAgreement(t)
	cell := &search.Cell{Library: lib, Scenario: search.WithMode(s, mode), Class: class,
		Trace: true, Inspect: agree.inspect}
	golden, ok := mode.Cell(class.Name, s.Topology.Kind())
	if !ok {
		t.Errorf("%s has no golden cell for %s, %s", mode.Name, class.Name, s.Topology.Kind())
	}
	few, err := cell.Seeds(ctx, 1, goldenSeeds)
	require.NoError(t, err)
	single, err := cell.Place(ctx, false)
	require.NoError(t, err)
	for _, kind := range golden.Must {
		if few.Anomalies[kind] == 0 {
			t.Errorf("%s has no witness among %d seeds", kind, goldenSeeds)
		}
		if single.Anomalies[kind] == 0 {
			t.Errorf("%s has no witness among %d placements of one fault", kind, single.Runs)
		}
	}
	never := []*search.Tally{few, single, many(t, cell)}
	if *full || !underRace && (class.Name == "crash" || class.Name == "zombie") {
		pairs, err := cell.Place(ctx, true)
		require.NoError(t, err)
		never = append(never, pairs)
	}
	for _, tally := range never {
		allowed(t, agree, golden, tally)
	}
	agree.done(t, cell)
}

// many runs seeds until enough plans have struck in whole.
func many(t *testing.T, cell *search.Cell) *search.Tally {
	want := int64(shortSeeds)
	if *full {
		want = fullSeeds
	}
	if cell.Class.Action == 0 {
		want /= 100
	}
	total, err := cell.Seeds(context.Background(), goldenSeeds+1, goldenSeeds+uint64(want))
	require.NoError(t, err)
	for next := uint64(goldenSeeds + want); total.Reached < want; {
		more := uint64(max(want-total.Reached, 64))
		tally, err := cell.Seeds(context.Background(), next+1, next+more)
		require.NoError(t, err)
		total.Merge(tally)
		next += more
	}
	if *full {
		t.Logf("%d of %d seeds reached the whole plan (%.1f %%)", total.Reached, total.Runs,
			100*float64(total.Reached)/float64(total.Runs))
	}
	return total
}

// allowed reports every anomaly of a tally that the cell does not list, with its witness.
func allowed(t *testing.T, agree *agreement, golden model.Cell, tally *search.Tally) {
	for _, kind := range model.Anomalies() {
		w := tally.Witnesses[kind]
		if w == nil || kind.IsFinding() || slices.Contains(golden.Must, kind) ||
			slices.Contains(golden.May, kind) {
			continue
		}
		t.Errorf("%s appears in %d of %d runs: %s", kind, tally.Anomalies[kind], tally.Runs,
			agree.describe(w.Seed, w.Rules))
	}
	for i, w := range tally.Unknown {
		if w != nil {
			t.Errorf("property %d is unknown (%s): %s", i, w.Reason,
				agree.describe(w.Seed, w.Rules))
		}
	}
}

// agreement compares the two judges on every run of a cell.
type agreement struct {
	t        *testing.T
	mu       sync.Mutex
	job      *model.Job
	compared int64
	failures []string
}

func newAgreement(t *testing.T) *agreement { return &agreement{t: t} }

// inspect makes the comparison of one worker.
func (a *agreement) inspect() search.Inspect {
	var judge *oracle.Oracle
	return func(seed uint64, rules []model.Rule, res *scenarios.Result) {
		s := res.Subject
		if judge == nil {
			judge = oracle.New(s.Job, s.Mode, s.Input, s.Shape)
		}
		report := judge.Judge(res.Trace, s.History)
		why := oracle.Disagreement(report, res.Verdicts)
		a.mu.Lock()
		defer a.mu.Unlock()
		a.job = s.Job
		a.compared++
		if why != "" && len(a.failures) < 5 {
			a.failures = append(a.failures, fmt.Sprintf("seed %d, %s: %s", seed,
				describe(s.Job, rules), why))
		}
	}
}

func (a *agreement) describe(seed uint64, rules []model.Rule) string {
	return fmt.Sprintf("seed %d, %s", seed, describe(a.job, rules))
}

func (a *agreement) done(t *testing.T, cell *search.Cell) {
	for _, f := range a.failures {
		t.Errorf("the judges disagree under %s: %s", cell.Scenario.Mode.Name, f)
	}
	require.NotZero(t, a.compared)
}

// describe writes rules as fault lines.
func describe(job *model.Job, rules []model.Rule) string {
	if len(rules) == 0 {
		return "no fault"
	}
	var lines []string
	for _, r := range rules {
		lines = append(lines, faults.FromRule(job, r).String())
	}
	return strings.Join(lines, "; ")
}
