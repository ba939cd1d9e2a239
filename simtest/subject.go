package simtest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oncesim/oncesim/faults"
	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/scenarios"
	"github.com/oncesim/oncesim/search"
)

// subject is a scenario under test.
type subject struct {
	options
	test  string // its name
	nth   int    // Sweep: the how manieth of its test, from 1
	lib   *scenarios.Library
	base  *scenarios.Scenario
	set   settings
	seeds seedRange
	input *model.Input
	stats scenarios.InputStats
	shown map[string]string // signatures that files of the corpus have, and which file

	deadline time.Time // when a failure must be told; zero: whenever
}

// newSubject finds what a function of this package is to test, and how: the flags win over what the
// test says.
func newSubject(function string, t TB, s Scenario, opts []Option) (*subject, error) {
	u := &subject{options: newOptions(opts), test: t.Name(), nth: 1, shown: map[string]string{}}
	if err := u.check(function); err != nil {
		return nil, err
	}
	if function == "Compare" {
		u.options.seeds = seedRange{first: 1, last: comparedSeeds}
	}
	var err error
	if u.set, err = current(); err != nil {
		return nil, err
	}
	if u.seeds, err = u.set.from(u.options.seeds, testing.Short()); err != nil {
		return nil, err
	}
	if u.lib, u.base, err = s.Resolve(); err != nil {
		return nil, err
	}
	if u.set.mode != "" { // what is set is for the mode of the test
		mode, err := u.lib.FindMode(u.set.mode)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", u.set.origins["sim.mode"], err)
		}
		u.base = u.base.UnderMode(mode)
	}
	if err := u.checkNames(); err != nil {
		return nil, err
	}
	if err := u.checkFaults(function); err != nil {
		return nil, err
	}
	u.input, u.stats, err = u.lib.LoadInput(u.base)
	return u, err
}

// checkNames refuses names that no property and no class has.
func (u *subject) checkNames() error {
	var properties, classes []string
	for i := range u.lib.Properties {
		properties = append(properties, u.lib.Properties[i].Name)
	}
	for _, class := range u.lib.Classes {
		classes = append(classes, class.Name)
	}
	for _, name := range u.holds {
		if !slices.Contains(properties, name) {
			return unknown("property", name, properties)
		}
	}
	for _, name := range u.classes {
		if !slices.Contains(classes, name) {
			return unknown("class of faults", name, classes)
		}
	}
	return nil
}

// checkFaults refuses faults of the scenario beside others that are drawn.
func (u *subject) checkFaults(function string) error {
	if len(u.base.Faults) == 0 {
		return nil
	}
	switch {
	case function == "Fuzz" || function == "Draw":
		return fmt.Errorf("%s draws the faults, and %s has some of its own: %s; Faults: "+
			"[]string{\"\"} leaves them out", function, u.base.Name, u.base.Faults[0])
	case len(u.classes) > 0 || u.faultsMax > 0:
		return fmt.Errorf("%s runs under the faults of its own, such as %s: Classes and FaultsMax "+
			"have no use", u.base.Name, u.base.Faults[0])
	}
	return nil
}

// checkRequired refuses a test in which nothing can fail.
func (u *subject) checkRequired() error {
	mode, kind := u.base.Mode, u.base.Topology.Kind()
	if len(u.holds) > 0 || len(u.base.Expect) > 0 {
		return nil
	}
	if lines := u.base.Unlike(); len(lines) > 0 {
		return fmt.Errorf("nothing is required: %s claims nothing with %s; name properties with "+
			"Holds", mode.Name, strings.Join(lines, ", "))
	}
	if len(mode.ClaimsFor(kind)) == 0 {
		return fmt.Errorf("nothing is required: %s claims nothing of a job that is %s; name "+
			"properties with Holds", mode.Name, kind)
	}
	return nil
}

// unknown is the complaint about a name that is none of those.
func unknown(what, name string, names []string) error {
	text := fmt.Sprintf("unknown %s %q, expected one of %s", what, name, strings.Join(names, ", "))
	if near := model.Nearest(name, names); near != "" {
		text += fmt.Sprintf("; did you mean %q?", near)
	}
	return errors.New(text)
}

// world is a new world for the scenario. A mode makes its processes in it, and may panic.
func (u *subject) world() (r *scenarios.Runner, err error) {
	if p := catch(func() { r, err = scenarios.NewRunnerOn(u.lib, u.base, u.input) }); p != nil {
		return nil, errors.New(describe(u.base, p))
	}
	return r, err
}

// faultClasses are the classes that faults are drawn from.
func (u *subject) faultClasses() ([]*scenarios.Class, error) {
	if len(u.classes) == 0 {
		classes := search.Envelope(u.lib, u.base.Mode)
		if len(classes) == 0 {
			return nil, fmt.Errorf("%s tolerates no class of faults; name some with Classes",
				u.base.Mode.Name)
		}
		return classes, nil
	}
	var classes []*scenarios.Class
	for _, class := range u.lib.Classes {
		if slices.Contains(u.classes, class.Name) {
			classes = append(classes, class)
		}
	}
	return classes, nil
}

// with is the scenario under a seed and faults.
func (u *subject) with(job *model.Job, seed uint64, rules []model.Rule) *scenarios.Scenario {
	s := *u.base
	s.Seed, s.Faults = seed, nil
	s.Expect, s.Recorded, s.Trace = nil, nil, ""
	for _, rule := range rules {
		s.Faults = append(s.Faults, faults.FromRule(job, rule))
	}
	return &s
}

// required are the properties that must hold in a run of s: those that the test names, and what the
// mode claims of it.
func (u *subject) required(s *scenarios.Scenario, res *scenarios.Result) []string {
	if len(search.Unclaimed(u.lib, s, res.Subject.History.Reached)) > 0 {
		return u.holds
	}
	return slices.Concat(u.holds, s.Claims())
}

// broken are the verdicts on what is required that are not as they must be.
func (u *subject) broken(res *scenarios.Result, required []string) []model.Verdict {
	var list []model.Verdict
	for _, v := range res.Verdicts {
		isBad := v.Result == model.Violated || v.Result == model.Undecided && !u.allowUnknown
		if isBad && slices.Contains(required, v.Property) {
			list = append(list, v)
		}
	}
	return list
}

// signature says how a run fails; "": it does not.
func (u *subject) signature(s *scenarios.Scenario, res *scenarios.Result) string {
	broken := u.broken(res, u.required(s, res))
	if len(broken) == 0 {
		return ""
	}
	return search.Signature(s.Mode, broken)
}
