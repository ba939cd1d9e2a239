package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// suite is a package whose tests are run, and which of them.
type suite struct {
	pkg   string
	run   string // a pattern of tests
	args  []string
	depth int // how far subtests are units by themselves; at 1 they are not
}

// suites are those tests which look at a checker.
var suites = []suite{
	{"./checker", ".", []string{"-test.short"}, 1},
	{"./scenarios", "Golden|Hashes|Builtin|Lesson", []string{"-test.short"}, 1},
	{"./internal/oracle", "Agreement|Defect", nil, 1},
	{"./search", "TestGolden$", []string{"-test.short"}, 3},
}

// unit is what is run against a mutant: a test, or subtests of it.
type unit struct {
	suite   suite
	binary  string
	run     string // the pattern that names it
	takes   time.Duration
	reaches map[int]bool // the mutants that can make a difference to it
}

// command runs a unit. Its output is what the command prints.
func (m *mutator) command(ctx context.Context, u unit, env string, args ...string) *exec.Cmd {
	args = append(append(args, "-test.run", u.run), u.suite.args...)
	cmd := exec.CommandContext(ctx, u.binary, args...)
	cmd.Dir = filepath.Join(m.root, strings.TrimPrefix(u.suite.pkg, "./"))
	cmd.Env = append(os.Environ(), env, "GOMAXPROCS=1", "GOMEMLIMIT=2GiB")
	return cmd
}

// survey finds the units of all suites, runs each with all mutants asleep, and notes how long that
// takes and which mutants it reaches. The quickest come first.
func (m *mutator) survey() error {
	for i, s := range suites {
		whole := unit{suite: s, binary: m.binaries[i], run: s.run}
		names, err := m.names(whole)
		if err != nil {
			return err
		}
		for _, name := range names {
			u := whole
			u.run = exactly(name)
			if err := m.note(&u); err != nil {
				return err
			}
			if m.longest == 0 || u.takes <= m.longest {
				m.units = append(m.units, u)
			}
		}
		fmt.Fprintf(os.Stderr, "mutate: %s has %d units\n", s.pkg, len(names))
	}
	slices.SortStableFunc(m.units, func(a, b unit) int { return cmp.Compare(a.takes, b.takes) })
	return nil
}

// names lists the units of a suite: its tests, or what they run as subtests.
func (m *mutator) names(whole unit) ([]string, error) {
	args := []string{"-test.list", whole.run} // benchmarks too, which do nothing as tests
	if whole.suite.depth > 1 {
		args = []string{"-test.v"}
	}
	out, err := m.command(context.Background(), whole, "MUTANT=", args...).CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("tests of %s fail although no mutant is awake:\n%s",
			whole.suite.pkg, out)
	}
	return unitNames(string(out), whole.suite.depth), nil
}

// unitNames takes the names of units from a list of tests, or from what verbose tests print. A test
// whose subtests are units is none.
func unitNames(out string, depth int) (names []string) {
	for line := range strings.Lines(out) {
		name := strings.TrimSpace(line)
		if depth > 1 {
			var isRun bool
			if name, isRun = strings.CutPrefix(name, "=== RUN"); !isRun {
				continue
			}
			name = strings.TrimSpace(name)
		}
		elems := strings.Split(name, "/")
		if len(elems) < depth || len(strings.Fields(name)) != 1 {
			continue
		}
		name = strings.Join(elems[:depth], "/")
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// exactly is the pattern that only one test matches.
func exactly(name string) string {
	return "^" + strings.ReplaceAll(name, "/", "$/^") + "$"
}

// note runs a unit with all mutants asleep.
func (m *mutator) note(u *unit) error {
	notes := filepath.Join(m.dir, "notes")
	if err := os.RemoveAll(notes); err != nil {
		return err
	}
	start := time.Now()
	cmd := m.command(context.Background(), *u, "MUTANT_NOTES="+notes)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s fails although no mutant is awake:\n%s", u.suite.pkg, u.run, out)
	}
	u.takes = time.Since(start)
	u.reaches = map[int]bool{}
	data, err := os.ReadFile(notes)
	if err != nil && !os.IsNotExist(err) { // a binary without mutants writes none
		return err
	}
	for _, field := range strings.Fields(string(data)) {
		id, err := strconv.Atoi(field)
		if err != nil {
			return err
		}
		u.reaches[id] = true
	}
	return nil
}

// noticed runs the units that reach a mutant until one fails with it awake. One that does not end in
// time fails.
func (m *mutator) noticed(one mutant) (isNoticed, isEndless bool) {
	for _, u := range m.units {
		if !u.reaches[one.id] {
			continue
		}
		ctx, cancel := context.WithTimeout(context.Background(), m.limit+10*u.takes)
		err := m.command(ctx, u, fmt.Sprintf("MUTANT=%d", one.id), "-test.failfast").Run()
		isEndless = ctx.Err() != nil
		cancel()
		if err != nil {
			return true, isEndless
		}
	}
	return false, false
}
