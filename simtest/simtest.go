package simtest

import (
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

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
// First come the scenario files of the test's corpus (testdata/sim/TestName), then the seeds 1 to
// 50, or a fifth of them with -short: each draws a plan from what the mode tolerates. A scenario
// that has faults of its own runs under just these. Every file is a subtest, and so is every seed,
// seed=7; of more than a thousand seeds only those that fail in a new way.
//
// The first failure of each kind is made as small as it gets, reported in full and saved, at once:
// for as long as the operating system keeps temporary files, or with -sim.update in the corpus. A
// panic of an operator or a mode is a failure like any other. The seeds end in time for what was
// found to be told before the -timeout of "go test"; where some are left, the test fails.
func Sweep(t *testing.T, s Scenario, opts ...Option) {
	t.Helper()
	u, err := newSubject("Sweep", t, s, opts)
	if err == nil {
		err = u.checkRequired()
	}
	if err != nil {
		t.Fatalf("%v", err)
	}
	u.nth = nthSweep(t)
	files := []string{u.set.replay}
	if u.set.replay == "" {
		if files, err = u.corpusFiles(); err != nil {
			t.Fatalf("%v", err)
		}
	}
	for _, file := range files {
		t.Run(u.subtest(filepath.Base(file)), func(t *testing.T) {
			t.Helper()
			u.replay(t, file)
		})
	}
	if u.set.replay == "" {
		u.sweep(t)
	}
}

// sweeps counts the calls of Sweep by the tests that are running.
var sweeps = struct {
	sync.Mutex
	calls map[string]int
}{calls: map[string]int{}}

// nthSweep is the how manieth Sweep of its test a call is: two of them may be about different code.
func nthSweep(t *testing.T) int {
	name := t.Name()
	sweeps.Lock()
	defer sweeps.Unlock()
	sweeps.calls[name]++
	if sweeps.calls[name] == 1 {
		t.Cleanup(func() {
			sweeps.Lock()
			defer sweeps.Unlock()
			delete(sweeps.calls, name)
		})
	}
	return sweeps.calls[name]
}

// subtest is the name of a subtest. Those of one test have different names, so that a pattern for
// -run means one of them.
func (u *subject) subtest(name string) string {
	if u.nth > 1 {
		return fmt.Sprintf("sweep%d-%s", u.nth, name)
	}
	return name
}

// Run runs a scenario once, under its own seed and faults, and requires what the mode claims of
// such a run; of a scenario file that has a verdict section, what is in it. It returns the run with
// its history, verdicts and full trace, whatever became of it; after Fatalf, where that returns,
// nil. With -sim.update a run that fails is saved in the corpus; "-sim.replay" runs it again.
func Run(t TB, s Scenario, opts ...Option) *report.Case {
	t.Helper()
	u, err := newSubject("Run", t, s, opts)
	if err == nil {
		err = u.checkRequired()
	}
	if err != nil {
		t.Fatalf("%v", err)
		return nil
	}
	if u.set.replay != "" {
		return u.replay(t, u.set.replay)
	}
	one := *u.base
	if u.set.seed != "" {
		one.Seed = u.seeds.first
	}
	command := commandOf(t.Name(), slices.Concat(u.seedWords(), u.set.words()))
	c, err := u.caseOf(&one)
	if err != nil {
		t.Fatalf("%sreproduce: %s\n", describe(&one, err), command)
		return nil
	}
	c.Judged = isAsWritten(&s) && u.set.seed == "" && u.set.mode == ""
	c.Command = command
	isKept := u.require(t, c, "")
	_, isDrawn := t.(*rapid.T) // it fails many times until it is as small as it gets
	if !isKept && u.set.update && !isDrawn {
		u.save(t, c, t.Name())
	}
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
	return s.Name != "" && s.Mode == "" && s.Sink == "" && s.Defect == "" && s.Lines == nil &&
		s.Input == "" && s.Records == 0 && s.Faults == nil && s.Set == nil && s.Seed == 0
}
