package simtest

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/oncesim/oncesim/report"
	"github.com/oncesim/oncesim/scenarios"
)

// Scenario says what runs: a topology of one's own, or anything that has a name.
//
//	simtest.Scenario{Topology: &orders, Mode: "snapshot", Lines: []string{"a=1", "b=2"}}
//	simtest.Scenario{Name: "page-views", Records: 100}
//	simtest.Scenario{Name: "testdata/late.sim"}
//
// Its fields are those of scenarios.Settings, which the flags of "simrun run" fill as well. Modes
// and sinks of one's own are in Library; a topology brings its operators.
type Scenario = scenarios.Settings

// TB is what is needed of a test, a benchmark, a fuzz test or a property of rapid.
type TB interface {
	Helper()
	Name() string
	Logf(format string, args ...any)
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Sweep runs a scenario under many plans of faults and requires of each run what the mode claims.
// First come the scenario files of the corpus (testdata/sim), then the seeds 1 to 50, or a fifth of
// them with -short: each draws a plan from what the mode tolerates. A scenario that has faults of
// its own runs under just these. Every file and every seed is a subtest, seed=7.
//
// The first failure of each kind is made as small as it gets and reported in full. It is saved for
// as long as the operating system keeps temporary files, or with -sim.update in the corpus.
func Sweep(t *testing.T, s Scenario, opts ...Option) {
	t.Helper()
	u, err := newSubject(s, opts)
	if err == nil {
		err = u.checkRequired()
	}
	if err != nil {
		t.Fatalf("%v", err)
	}
	if u.set.replay != "" {
		t.Run(filepath.Base(u.set.replay), func(t *testing.T) {
			t.Helper()
			u.replay(t, u.set.replay)
		})
		return
	}
	files, err := u.corpusFiles()
	if err != nil {
		t.Fatalf("%v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Helper()
			u.replay(t, file)
		})
	}
	w, err := u.newSweeper()
	if err != nil {
		t.Fatalf("%v", err)
	}
	if u.seeds.says != "" {
		t.Logf("-sim.seed=%s is the seed %d", u.seeds.says, u.seeds.first)
	}
	u.report(t, w.sweep())
}

// toldMax is how many kinds of failure are reported in full.
const toldMax = 3

// report has a subtest for each seed, and says what is wrong with all of them together.
func (u *subject) report(t *testing.T, w *swept) {
	t.Helper()
	told := map[string]uint64{} // the signatures that were reported in full, and for which seed
	for i := range w.runs {
		r := &w.runs[i]
		t.Run(fmt.Sprintf("seed=%d", r.seed), func(t *testing.T) {
			t.Helper()
			f := &failure{u: u, test: t.Name(), job: w.job, run: r, runs: len(w.runs),
				count: w.count(r.signature)}
			first, isTold := told[r.signature]
			switch {
			case r.differs != "" || r.panicked != "":
				t.Errorf("%s", f.broken())
				if r.stack != "" {
					t.Logf("%s", r.stack)
				}
			case isTold:
				t.Errorf("%s", f.alike(first))
			case r.signature != "" && len(told) == toldMax:
				t.Errorf("%s\n%s", f.line(), f.reproduce())
			case r.signature != "":
				told[r.signature] = r.seed
				text, saved := f.full()
				t.Errorf("%s", text)
				f.save(t, saved)
			case u.set.verbose:
				t.Logf("%s", f.line())
			}
		})
	}
	for i, n := range w.reached {
		if n == 0 {
			t.Errorf("%q is not reached under any seed, so that it tests nothing",
				u.base.Faults[i])
		}
	}
	if w.checked == 0 {
		t.Errorf("nothing was required of any of %d runs: under these faults %s claims nothing; "+
			"name properties with Holds", len(w.runs), u.base.Mode.Name)
	}
	if text := u.unlikeBefore(t.Name(), w.runs); text != "" {
		t.Errorf("%s", text)
	}
}

// Run runs a scenario once, under its own seed and faults, and requires what the mode claims of
// such a run; of a scenario file that has a verdict section, what is in it. It returns the run with
// its history, verdicts and full trace, whatever became of it.
func Run(t TB, s Scenario, opts ...Option) *report.Case {
	t.Helper()
	u, err := newSubject(s, opts)
	if err == nil {
		err = u.checkRequired()
	}
	if err != nil {
		t.Fatalf("%v", err)
	}
	if u.set.replay != "" {
		return u.replay(t, u.set.replay)
	}
	one := *u.base
	if u.set.seed != "" {
		one.Seed = u.seeds.first
	}
	c, err := u.caseOf(&one)
	if err != nil {
		t.Fatalf("%v", err)
	}
	c.Judged = isAsWritten(&s) && u.set.seed == "" && u.set.mode == ""
	u.require(t, c, "", commandOf(t.Name(), slices.Concat(u.seedWords(), u.set.words())))
	return c
}

// seedWords repeat a seed that was set for one run.
func (u *subject) seedWords() []string {
	if u.set.seed == "" {
		return nil
	}
	return []string{fmt.Sprintf("-sim.seed=%d", u.seeds.first)}
}

// isAsWritten reports whether a scenario is one of a file, with nothing changed: then its verdict
// section is about the run.
func isAsWritten(s *Scenario) bool {
	return s.Name != "" && s.Mode == "" && s.Sink == "" && s.Lines == nil && s.Input == "" &&
		s.Records == 0 && s.Faults == nil && s.Set == nil && s.Seed == 0
}
