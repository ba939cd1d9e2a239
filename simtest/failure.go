package simtest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/report"
	"github.com/oncesim/oncesim/scenarios"
	"github.com/oncesim/oncesim/search"
)

// failure is a run that does not show what is required.
type failure struct {
	u    *subject
	test string // with its subtest
	job  *model.Job
	run  *run
}

// scenario is what failed.
func (f *failure) scenario() *scenarios.Scenario {
	return f.u.with(f.job, f.run.seed, f.run.rules)
}

// again makes the run again, in a world of its own: what is told of it is then of this run, and
// must be what was seen.
func (f *failure) again() {
	r := f.run
	if r.differs == nil {
		_, r.differs = f.u.again(f.scenario(), r)
	}
}

// again runs a scenario again and reports how that differs from r, a run of it or of one that fails
// in the same way. There is no case of a run that panicked; its panic is then that of r.
func (u *subject) again(s *scenarios.Scenario, r *run) (*report.Case, error) {
	c, err := u.caseOf(s)
	var p *panicked
	switch isPanic := errors.As(err, &p); {
	case isPanic && r.panicked != nil && p.signature(s.Mode) == r.signature:
		r.panicked = p
		return nil, nil
	case isPanic:
		return nil, &differing{"it was run again, and that differs: " + p.Error() + "\n"}
	case err != nil:
		return nil, err
	case r.panicked != nil:
		return nil, &differing{"it was run again without " + r.panicked.Error() + "\n"}
	case r.hash != 0 && r.hash != c.Result.Subject.History.End.Hash:
		return nil, hashesDiffer(r.hash, c.Result.Subject.History.End.Hash, "")
	}
	if other := u.signature(s, &c.Result); other != r.signature {
		return nil, &differing{fmt.Sprintf("two runs differ: one shows %s, the other %s\n",
			r.signature, cmp.Or(other, "nothing"))}
	}
	return c, nil
}

// line is one line about the run.
func (f *failure) line() string {
	s := f.scenario()
	if p := f.run.panicked; p != nil {
		text, _, _ := strings.Cut(describe(s, p), "\n")
		return text
	}
	c, err := f.u.caseOf(s)
	if err != nil {
		return strings.TrimSuffix(describe(s, err), "\n")
	}
	return report.Title(c)
}

// describe says of which run an error is: of one that panicked, or differs from its repetition.
func describe(s *scenarios.Scenario, err error) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s under %s, seed %d: %s\n", s.Name, s.ModeText(), s.Seed,
		strings.TrimSuffix(err.Error(), "\n"))
	var d *differing
	if errors.As(err, &d) {
		b.WriteString(differsBecause)
	}
	if len(s.Faults) > 0 {
		b.WriteString("under\n")
	}
	for _, line := range s.Faults.Lines() {
		fmt.Fprintf(&b, "  %s\n", line)
	}
	return b.String()
}

const differsBecause = `A run is a function of its scenario. Something outside of it has a say here,
such as a variable that a step of an operator changes, the order of a map, a
clock or a random number.
`

// full is the report on a failure, and the run that is to be saved of it. The same failure gives
// the same text. A run that does not fail again in this way has neither; the failure has it then.
func (f *failure) full() (text string, saved *report.Case) {
	text, saved = f.small()
	text += "\n" + f.reproduce()
	if !f.u.set.update {
		text += fmt.Sprintf("to have it replayed from %s first, add -sim.update\n", f.u.folder())
	}
	return text, saved
}

// small is the report on the smallest run that fails in this way, and that run.
func (f *failure) small() (text string, c *report.Case) {
	s, by, note := f.shrink(f.scenario())
	whole := run{signature: f.run.signature, panicked: f.run.panicked}
	if s.Seed != f.run.seed {
		note += fmt.Sprintf("\nit is seed %d, made smaller\n", f.run.seed)
	}
	if c, f.run.differs = f.u.again(s, &whole); f.run.differs != nil {
		return "", nil
	}
	if c == nil {
		return f.u.panicText(s, whole.panicked) + note, f.u.panicCase(s, whole.panicked)
	}
	c.Shrunk = by
	return report.Text(c, report.Plain) + note, c
}

// panicText is the report on a run that panicked: there is nothing to tell of it but what it was.
func (u *subject) panicText(s *scenarios.Scenario, p *panicked) string {
	return describe(s, p) + "\n" + string(scenarios.Format(u.lib, s))
}

// panicCase is what is saved of such a run.
func (u *subject) panicCase(s *scenarios.Scenario, p *panicked) *report.Case {
	c := &report.Case{Library: u.lib, Scenario: s, Stats: u.stats}
	c.Result.Subject.History = &model.History{}
	c.Result.Verdicts = []model.Verdict{p.verdict()}
	return c
}

// shrink makes a failing scenario smaller, if that is wanted, and says why where it cannot.
func (f *failure) shrink(s *scenarios.Scenario) (small *scenarios.Scenario, by *search.Shrunk,
	note string) {
	if f.u.set.shrink <= 0 {
		return s, nil, ""
	}
	ctx, cancel := f.u.context()
	defer cancel()
	var err error
	if p := catch(func() { by, err = f.shrinkGuarded(ctx, s) }); p != nil {
		err = p
	}
	if err != nil {
		text, _, _ := strings.Cut(err.Error(), "\n") // what follows differs from run to run
		return s, nil, fmt.Sprintf("\nit was not made smaller: %s\n", text)
	}
	return by.Scenario, by, ""
}

// shrinkGuarded makes a scenario smaller with operators that cannot end a run, and gives the
// smallest its own again.
func (f *failure) shrinkGuarded(ctx context.Context, s *scenarios.Scenario) (*search.Shrunk,
	error) {
	g := &guard{}
	lib := g.library(f.u.lib)
	guarded := *s
	if i := slices.Index(f.u.lib.Topologies, s.Topology); i >= 0 {
		guarded.Topology = lib.Topologies[i]
	} else {
		guarded.Topology = withOperators(s.Topology, lib.Operators)
	}
	by, err := search.Shrink(ctx, lib, &guarded, search.Shrinking{
		RunsMax:  f.u.set.shrink,
		Progress: g.next,
		Keep: func(s *scenarios.Scenario, res *scenarios.Result) bool {
			if g.last != nil || f.run.panicked != nil {
				return g.last != nil && g.last.signature(s.Mode) == f.run.signature
			}
			return f.u.signature(s, res) == f.run.signature
		},
	})
	if err != nil {
		return nil, err
	}
	small := *by.Scenario
	if small.Topology == guarded.Topology {
		small.Topology = s.Topology
	} else {
		small.Topology = withOperators(small.Topology, f.u.lib.Operators)
	}
	by.Scenario = &small
	return by, nil
}

// reproduce is the line that makes the run again.
func (f *failure) reproduce() string {
	words := []string{fmt.Sprintf("-sim.seed=%d", f.run.seed)}
	return "reproduce: " + commandOf(f.test, slices.Concat(words, f.u.set.words())) + "\n"
}

// commandOf is the line that runs one test of this package.
func commandOf(test string, words []string) string {
	var parts []string
	for _, part := range strings.Split(test, "/") {
		parts = append(parts, "^"+regexp.QuoteMeta(part)+"$")
	}
	line := fmt.Sprintf("go test %s -run %s -count=1", report.Quote(packagePath()),
		report.Quote(strings.Join(parts, "/")))
	for _, word := range words {
		line += " " + report.Quote(word)
	}
	return line
}

// packagePath is the import path of the package under test.
func packagePath() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Path == "" || info.Path == "command-line-arguments.test" {
		return "."
	}
	return strings.TrimSuffix(info.Path, ".test")
}
