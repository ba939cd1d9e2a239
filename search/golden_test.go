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

	"github.com/oncesim/oncesim/checker"
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
	shortSeeds  = 200     // for what must never appear, without -golden.full
	fullSeeds   = 100_000 // with it
	fewerSeeds  = 10_000  // with it, for variants, and how many of the others both judges judge
)

// goldenScenarios are the small worlds of the golden table, one for each kind of operator.
var goldenScenarios = []string{"pipeline-three", "page-views-four", "running-average-four",
	"lottery-three"}

// barrierScenario is one more for inputs that are merged, in which records come between the
// barriers of a checkpoint; and barrierClasses are those that say something else there.
const barrierScenario = "running-average-eight"

var barrierClasses = []string{"no-fault", "crash", "counted", "unaligned"}

// isGolden reports whether a class is placed in a small world under a mode.
func isGolden(world string, mode *model.Mode, class *scenarios.Class) bool {
	if world == barrierScenario && (mode.Param("alignment") == nil ||
		mode.Restart != model.RestartJob || !slices.Contains(barrierClasses, class.Name)) {
		return false
	}
	return class.Applies(mode)
}

// TestGolden holds every mode, under every class of faults, to its golden cell: what must be
// reachable has a witness among few seeds and among all placements of one fault, in a small world
// of its kind of operator; what is not in the cell appears in none of them, under no placement of a
// fault and a crash, and under no seed. Runs are judged twice, by the checker and by the oracle,
// and they agree.
func TestGolden(t *testing.T) {
	lib := scenarios.Builtin()
	for _, name := range append(slices.Clone(goldenScenarios), barrierScenario) {
		s := builtin(t, lib, name)
		for _, mode := range lib.Modes {
			for _, class := range lib.Classes {
				if !isGolden(name, mode, class) || !*full && isRare(name, mode, class) {
					continue
				}
				t.Run(fmt.Sprintf("%s/%s/%s", name, mode.Name, class.Name), func(t *testing.T) {
					goldenCell(t, lib, s, mode, class)
				})
			}
		}
	}
}

// isRare reports whether a cell is left to -golden.full: most of those of variants; under the race
// detector, which makes everything ten times slower, most of the others too; and of modes that
// restart as a whole, whose runs are longer, most in all worlds but one.
func isRare(world string, mode *model.Mode, class *scenarios.Class) bool {
	isWhole := mode.Restart == model.RestartJob
	isElsewhere := isWhole && world != "page-views-four"
	if world == barrierScenario { // what is exact, what is not, and what readers see of that
		isSame := mode.Name == "snapshot-counting" && class.Name == "counted"
		return underRace || isSame || class.Name == "unaligned" ||
			!slices.Contains([]string{"snapshot", "snapshot-counting", "two-phase-commit"},
				mode.Name)
	}
	if isWhole && mode.Name != "two-phase-commit" && class.Action != model.Crash &&
		class.Name != "zombie" && class.Name != "lose-notice" {
		return true // two-phase commit has all that the others have
	}
	switch class.Name {
	case "crash", "zombie":
		return isElsewhere && (mode.IsVariant || underRace)
	case "partition":
		return isElsewhere
	case "forget-call", "poison": // many runs do not end by themselves
		return isWhole || mode.IsVariant || underRace
	}
	return mode.IsVariant || underRace || isElsewhere
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
	cell := &search.Cell{Library: lib, Scenario: search.Under(s, mode, class), Class: class,
		Trace: true, Inspect: agree.inspect}
	golden, ok := mode.Cell(class.Name, s.Topology.Kind())
	if !ok {
		t.Errorf("%s has no golden cell for %s, %s", mode.Name, class.Name, s.Topology.Kind())
	}
	few, single := sample(t, cell)
	reachable(t, cell, golden, few, single)
	never := []*search.Tally{few, single, many(t, cell, few)}
	if *full && !mode.IsVariant {
		never = append(never, rest(t, cell))
	}
	isBrief := s.Topology.Kind() == model.Stateless && mode.Restart == model.RestartTask &&
		!mode.IsVariant && (class.Name == "crash" || class.Name == "zombie")
	if *full || !underRace && isBrief {
		pairs, err := cell.Place(ctx, true)
		require.NoError(t, err)
		never = append(never, pairs)
	}
	for _, tally := range never {
		allowed(t, agree, cell, golden, tally)
	}
	agree.done(t, cell)
}

// sample runs a cell under few seeds, and under all placements of one fault.
func sample(t *testing.T, cell *search.Cell) (few, single *search.Tally) {
	few, err := cell.Seeds(context.Background(), 1, goldenSeeds)
	require.NoError(t, err)
	single, err = cell.Place(context.Background(), false)
	require.NoError(t, err)
	return few, single
}

// reachable holds what a cell showed to what must be reachable in its world, or else in another one
// of the same kind of operator.
func reachable(t *testing.T, cell *search.Cell, golden model.Cell, few, single *search.Tally) {
	isReached := func(few, single *search.Tally, kind model.AnomalyKind) bool {
		return few.Anomalies[kind] > 0 && single.Anomalies[kind] > 0
	}
	var missing []model.AnomalyKind
	for _, kind := range golden.Must {
		if !isReached(few, single, kind) {
			missing = append(missing, kind)
		}
	}
	if len(missing) == 0 {
		return
	}
	for _, name := range append(slices.Clone(goldenScenarios), barrierScenario) {
		other := builtin(t, cell.Library, name)
		if other.Topology.Kind() != golden.Kind || other.Name == cell.Scenario.Name ||
			!isGolden(name, cell.Scenario.Mode, cell.Class) {
			continue
		}
		few, single := sample(t, &search.Cell{Library: cell.Library, Class: cell.Class,
			Scenario: search.Under(other, cell.Scenario.Mode, cell.Class)})
		missing = slices.DeleteFunc(missing, func(kind model.AnomalyKind) bool {
			return isReached(few, single, kind)
		})
	}
	for _, kind := range missing {
		t.Errorf("%s has no witness among %d seeds (%d), or none among %d placements of one fault "+
			"(%d)", kind, few.Runs, few.Anomalies[kind], single.Runs, single.Anomalies[kind])
	}
}

// many runs the seeds that are missing behind the first few, judged twice.
func many(t *testing.T, cell *search.Cell, few *search.Tally) *search.Tally {
	want := int64(shortSeeds)
	if *full {
		want = fewerSeeds
	}
	if want -= few.Reached; want <= 0 {
		return few
	}
	return reached(t, cell, goldenSeeds, want)
}

// rest runs what is missing to the full number of seeds, judged by the checker alone.
func rest(t *testing.T, cell *search.Cell) *search.Tally {
	plain := *cell
	plain.Trace, plain.Inspect = false, nil
	return reached(t, &plain, restFrom, fullSeeds-fewerSeeds)
}

// restFrom is what the seeds of rest lie above.
const restFrom = 1 << 32

// reached runs seeds above one until enough plans have struck in whole.
func reached(t *testing.T, cell *search.Cell, above uint64, want int64) *search.Tally {
	if cell.Class.Action == 0 {
		want /= 100
	}
	total, err := cell.Seeds(context.Background(), above+1, above+uint64(want))
	require.NoError(t, err)
	for next := above + uint64(want); total.Reached < want; {
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

// isOutcome reports whether golden cells speak of an anomaly: it is no finding, or what it violates
// is claimed of this scenario, as it is set.
func isOutcome(cell *search.Cell, kind model.AnomalyKind) bool {
	s := cell.Scenario
	return !kind.IsFinding() || slices.Contains(s.Mode.Tolerates, cell.Class.Name) &&
		slices.ContainsFunc(cell.Library.Properties, func(p checker.Property) bool {
			return slices.Contains(s.Claims(), p.Name) && slices.Contains(p.Anomalies, kind)
		})
}

// allowed reports every anomaly of a tally that the cell does not list, with its witness.
func allowed(t *testing.T, agree *agreement, cell *search.Cell, golden model.Cell,
	tally *search.Tally) {
	for _, kind := range model.Anomalies() {
		w := tally.Witnesses[kind]
		if w == nil || !isOutcome(cell, kind) || slices.Contains(golden.Must, kind) ||
			slices.Contains(golden.May, kind) {
			continue
		}
		t.Errorf("%s appears in %d of %d runs: %s", kind, tally.Anomalies[kind], tally.Runs,
			agree.describe(w.Seed, w.Rules))
	}
	// A run that gets stuck leaves open what only its end would show.
	mayStick := slices.Contains(slices.Concat(golden.Must, golden.May), model.Stuck)
	for i, w := range tally.Unknown {
		if w != nil && !mayStick {
			t.Errorf("property %d is unknown (%s): %s", i, w.Reason,
				agree.describe(w.Seed, w.Rules))
		}
	}
}

// agreement compares the two judges on every run of a cell; without -golden.full on one in eight,
// chosen by its hash.
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
		s, why := res.Subject, ""
		isCompared := *full || s.History.End.Hash%8 == 0
		if isCompared {
			if judge == nil {
				judge = oracle.New(s.Job, s.Mode, s.Input, s.Shape)
			}
			why = oracle.Disagreement(judge.Judge(res.Trace, s.History), res.Verdicts)
		}
		a.mu.Lock()
		defer a.mu.Unlock()
		a.job = s.Job
		if isCompared {
			a.compared++
		}
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
