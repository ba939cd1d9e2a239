package simtest

import (
	"context"
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

// failure is a run that does not show what is required, as one of several.
type failure struct {
	u     *subject
	test  string
	job   *model.Job
	run   *run
	runs  int   // how many runs were made
	count int64 // how many of them fail in this way
}

// scenario is what failed.
func (f *failure) scenario() *scenarios.Scenario {
	return f.u.with(f.job, f.run.seed, f.run.rules)
}

// line is one line about the run.
func (f *failure) line() string {
	c, err := f.u.caseOf(f.scenario())
	if err != nil {
		return err.Error()
	}
	return report.Title(c)
}

// alike is the report on a failure of which another one was told in full.
func (f *failure) alike(first uint64) string {
	return fmt.Sprintf("%s; it fails as seed %d does", f.line(), first)
}

// broken is the report on a run of which nothing can be said: it panicked, or differs from its own
// repetition.
func (f *failure) broken() string {
	var b strings.Builder
	s := f.scenario()
	fmt.Fprintf(&b, "%s under %s, seed %d: ", s.Name, s.ModeText(), s.Seed)
	if f.run.panicked != "" {
		fmt.Fprintf(&b, "panic: %s\n", f.run.panicked)
	} else {
		b.WriteString(f.run.differs + differsBecause)
	}
	if len(s.Faults) > 0 {
		b.WriteString("under\n")
	}
	for _, line := range s.Faults.Lines() {
		fmt.Fprintf(&b, "  %s\n", line)
	}
	return b.String() + f.reproduce()
}

const differsBecause = `A run is a function of its scenario. Something outside of it has a say here,
such as a variable that a step of an operator changes, the order of a map, a
clock or a random number.
`

// full is the report on a failure, and the run that is to be saved of it. The same failure gives
// the same text.
func (f *failure) full() (text string, saved *report.Case) {
	var b strings.Builder
	text, saved = f.small()
	b.WriteString(text)
	if f.runs > 1 {
		b.WriteString("\n" + f.often())
	}
	b.WriteString("\n" + f.reproduce())
	if !f.u.set.update {
		fmt.Fprintf(&b, "to have it replayed from %s first, add -sim.update\n", f.u.corpus)
	}
	return b.String(), saved
}

// small is the report on the smallest run that fails in this way, and that run.
func (f *failure) small() (text string, c *report.Case) {
	s, by, note := f.shrink(f.scenario())
	c, err := f.u.caseOf(s)
	if err != nil {
		return err.Error() + "\n", nil
	}
	if c.Shrunk = by; s.Seed != f.run.seed {
		note += fmt.Sprintf("\nit is seed %d, made smaller\n", f.run.seed)
	}
	return report.Text(c, report.Plain) + note, c
}

// shrink makes a failing scenario smaller, if that is wanted, and says why where it cannot.
func (f *failure) shrink(s *scenarios.Scenario) (small *scenarios.Scenario, by *search.Shrunk,
	note string) {
	if f.u.set.shrink <= 0 {
		return s, nil, ""
	}
	shrunk, err := search.Shrink(context.Background(), f.u.lib, s, search.Shrinking{
		RunsMax: f.u.set.shrink,
		Keep: func(s *scenarios.Scenario, res *scenarios.Result) bool {
			return f.u.signature(s, res) == f.run.signature
		},
	})
	if err != nil {
		return s, nil, fmt.Sprintf("\nit was not made smaller: %v\n", err)
	}
	return shrunk.Scenario, shrunk, ""
}

// often says how often a failure is to be expected.
func (f *failure) often() string {
	low, high := search.Wilson(f.count, int64(f.runs))
	share := float64(f.count) / float64(f.runs)
	return fmt.Sprintf("how often: %d of %d seeds fail in this way, %s %% (95 %% interval: "+
		"%s to %s %%)\n", f.count, f.runs, percent(share), percent(low), percent(high))
}

// percent writes a share with as many digits as say something.
func percent(share float64) string {
	if share > 0 && share < 0.01 {
		return fmt.Sprintf("%.2f", 100*share)
	}
	return fmt.Sprintf("%.0f", 100*share)
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
	line := fmt.Sprintf("go test %s -run '%s' -count=1", packagePath(), strings.Join(parts, "/"))
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
