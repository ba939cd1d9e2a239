package simtest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/oncesim/oncesim/report"
	"github.com/oncesim/oncesim/scenarios"
	"github.com/oncesim/oncesim/search"
)

// caseOf runs a scenario twice, in two worlds: for its hash, and then with the full trace.
func (u *subject) caseOf(s *scenarios.Scenario) (*report.Case, error) {
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
		return nil, fmt.Errorf("%s under %s, seed %d: two runs differ, hashes %016x and %016x\n"+
			"%s%s", s.Name, s.ModeText(), s.Seed, hash, again, text, differsBecause)
	}
	return &report.Case{Library: u.lib, Scenario: s, Result: res, Stats: runner.Stats(),
		Required: u.holds}, nil
}

// corpusFiles are the scenario files that are replayed first.
func (u *subject) corpusFiles() ([]string, error) {
	entries, err := os.ReadDir(u.corpus)
	if errors.Is(err, fs.ErrNotExist) && u.corpus == corpusDefault {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var files []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".sim") {
			files = append(files, filepath.Join(u.corpus, e.Name()))
		}
	}
	return files, nil
}

// replay runs a scenario file again. It fails where something that is required does not hold, and
// where the file does not fit any more: that is never passed over.
func (u *subject) replay(t TB, file string) *report.Case {
	t.Helper()
	data, err := scenarios.ReadFile(file)
	if err != nil {
		t.Fatalf("%v", err)
	}
	s, err := scenarios.Parse(u.lib, filepath.ToSlash(file), data)
	if err != nil {
		t.Fatalf("stale: %v", err)
	}
	c, err := u.caseOf(s)
	if err != nil {
		t.Fatalf("%v", err)
	}
	c.Judged = true
	outcome, text := c.Outcome()
	if outcome == report.Otherwise && len(u.broken(&c.Result, u.required(s, &c.Result))) == 0 {
		text = "fixed, was " + s.Recorded.Signature // what is violated still, nobody claims to hold
	}
	line := fmt.Sprintf("%s: %s", filepath.ToSlash(file), text)
	switch outcome {
	case report.Stale, report.Differs:
		t.Errorf("%s", line)
		return c
	}
	u.require(t, c, line, commandOf(testOf(t.Name(), file),
		append([]string{"-sim.replay=" + filepath.ToSlash(file)}, u.set.words()...)))
	return c
}

// testOf is the test that replays a file: not its subtest, which has the name of the file.
func testOf(name, file string) string {
	return strings.TrimSuffix(name, "/"+filepath.Base(file))
}

// require fails the test of one run where something is not as it must be: the verdict section has
// the word where the scenario has one, else what is required. A line that is given comes first.
func (u *subject) require(t TB, c *report.Case, line, command string) {
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
		return
	}
	c.Command = command
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
}

// scratch is where this program saves what fails: in a new folder, once there is something.
var scratch = sync.OnceValues(func() (string, error) { return os.MkdirTemp("", "simtest-") })

// save writes a failure into the corpus if that is wanted, else where it is in nobody's way, and
// says where.
func (f *failure) save(t *testing.T, c *report.Case) {
	t.Helper()
	if c == nil {
		return
	}
	dir, err := f.directory(t)
	if err == nil {
		err = os.MkdirAll(dir, 0o777)
	}
	var path string
	if err == nil {
		path, err = writeCase(c, f.u.corpus, dir)
	}
	if err != nil {
		t.Errorf("the failure cannot be saved: %v", err)
		return
	}
	test := strings.TrimSuffix(f.test, fmt.Sprintf("/seed=%d", f.run.seed))
	t.Logf("saved: %s", commandOf(test, append([]string{"-sim.replay=" + filepath.ToSlash(path)},
		f.u.set.words()...)))
}

// directory is where a failure is saved.
func (f *failure) directory(t *testing.T) (string, error) {
	if f.u.set.update {
		return f.u.corpus, nil
	}
	var tb any = t
	if a, ok := tb.(interface{ ArtifactDir() string }); ok && hasFlag("test.artifacts") {
		return a.ArtifactDir(), nil
	}
	return scratch()
}

// writeCase saves a run in a directory. It has the name that it would have in the corpus.
func writeCase(c *report.Case, corpus, dir string) (path string, err error) {
	name, data, err := c.File(corpus)
	if err != nil {
		return "", err
	}
	if dir != corpus {
		if _, data, err = c.File(dir); err != nil {
			return "", err
		}
	}
	path = filepath.Join(dir, name)
	return path, os.WriteFile(path, data, 0o666)
}
