package simtest

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/oncesim/oncesim/report"
	"github.com/oncesim/oncesim/scenarios"
	"github.com/oncesim/oncesim/search"
)

// caseOf runs a scenario twice, in two worlds: for its hash, and then with the full trace. A run
// that panics is the error *panicked, and one that differs from the other *differing.
func (u *subject) caseOf(s *scenarios.Scenario) (c *report.Case, err error) {
	if p := catch(func() { c, err = u.runTwice(s) }); p != nil {
		return nil, p
	}
	return c, err
}

func (u *subject) runTwice(s *scenarios.Scenario) (*report.Case, error) {
	_, one, err := scenarios.Run(u.lib, s, scenarios.Options{})
	if err != nil {
		return nil, err
	}
	n, hash := one.Subject.History.End.N, one.Subject.History.End.Hash
	runner, res, err := scenarios.Run(u.lib, s, scenarios.Options{Trace: n <= search.TracedMax})
	if err != nil {
		return nil, err
	}
	if again := res.Subject.History.End.Hash; again != hash {
		text := ""
		if n <= search.TracedMax {
			_, other, err := scenarios.Run(u.lib, s, scenarios.Options{Trace: true})
			if err != nil {
				return nil, err
			}
			text = report.Difference(runner.Job(), res.Trace, other.Trace)
		}
		return nil, hashesDiffer(hash, again, text)
	}
	return &report.Case{Library: u.lib, Scenario: s, Result: res, Stats: runner.Stats(),
		Required: u.holds}, nil
}

// replay runs a scenario file again. It fails where something that is required does not hold, and
// where the file does not fit any more: that is never passed over.
func (u *subject) replay(t TB, file string) *report.Case {
	t.Helper()
	data, err := scenarios.ReadFile(file)
	if err != nil {
		t.Fatalf("%v", err)
		return nil
	}
	s, err := scenarios.Parse(u.lib, filepath.ToSlash(file), data)
	if err != nil {
		t.Fatalf("stale: %v", err)
		return nil
	}
	if s.Recorded == nil && len(s.Expect) == 0 && u.set.replay == "" {
		t.Fatalf("%s: expected a verdict section, or the section recorded of a saved run: nothing "+
			"says what it is to show", filepath.ToSlash(file))
		return nil
	}
	test := u.test
	if u.nth > 1 {
		test += "/" + u.subtest(filepath.Base(file))
	}
	command := commandOf(test, append([]string{"-sim.replay=" + filepath.ToSlash(file)},
		u.set.words()...))
	c, err := u.caseOf(s)
	if err != nil {
		var p *panicked
		if errors.As(err, &p) {
			u.shown[p.signature(s.Mode)] = filepath.ToSlash(file)
		}
		t.Fatalf("%s: %sreproduce: %s\n", filepath.ToSlash(file), describe(s, err), command)
		return nil
	}
	c.Judged, c.Command = true, command
	outcome, text := c.Outcome()
	u.judgeAgain(t, c, file, outcome, text)
	return c
}

// judgeAgain fails the test of a saved run for what became of it.
func (u *subject) judgeAgain(t TB, c *report.Case, file string, outcome report.Outcome,
	text string) {
	t.Helper()
	s := c.Scenario
	signature := u.signature(s, &c.Result)
	if outcome == report.Otherwise && signature == "" {
		text = "fixed, was " + s.Recorded.Signature // what is violated still, nobody claims to hold
	}
	line := fmt.Sprintf("%s: %s", filepath.ToSlash(file), text)
	if outcome == report.Stale || outcome == report.Differs {
		t.Errorf("%s", line)
		return
	}
	if !u.require(t, c, line) && signature != "" {
		u.shown[signature] = filepath.ToSlash(file)
	}
}

// require fails the test of one run where something is not as it must be, and reports whether all
// is: the verdict section has the word where the scenario has one, else what is required. A line
// that is given comes first.
func (u *subject) require(t TB, c *report.Case, line string) (isKept bool) {
	t.Helper()
	s := c.Scenario
	required := u.required(s, &c.Result)
	var lines []string
	if line != "" {
		lines = append(lines, line)
	}
	isBad := len(u.broken(&c.Result, required)) > 0
	if c.Judged && len(s.Expect) > 0 {
		isBad = len(report.Unmet(c)) > 0
	} else if len(required) == 0 {
		t.Errorf("%s; nothing is required of this run: name properties with Holds", report.Title(c))
		return false
	}
	lost := report.NotReached(c)
	switch {
	case isBad:
		t.Errorf("%s", strings.Join(append(lines, report.Text(c, report.Plain)), "\n\n"))
	case len(lost) > 0:
		t.Errorf("%s: not reached, so that it tests nothing:\n  %s", report.Title(c),
			strings.Join(lost, "\n  "))
	case u.set.verbose:
		t.Logf("%s", strings.Join(append(lines, report.Text(c, report.Plain)), "\n\n"))
	}
	return !isBad && len(lost) == 0
}
