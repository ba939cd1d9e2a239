package simtest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/oncesim/oncesim/faults"
	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/scenarios"
	"github.com/oncesim/oncesim/search"
)

// subject is a scenario under test.
type subject struct {
	options
	lib   *scenarios.Library
	base  *scenarios.Scenario
	set   settings
	seeds seedRange
	input *model.Input
	stats scenarios.InputStats
}

// newSubject finds what is to be tested, and how: the flags win over what the test says.
func newSubject(s Scenario, opts []Option) (*subject, error) {
	u := &subject{options: newOptions(opts)}
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
			return nil, err
		}
		u.base = u.base.UnderMode(mode)
	}
	u.input, u.stats, err = u.lib.LoadInput(u.base)
	return u, err
}

// checkRequired refuses names that no property has, and a test in which nothing can fail.
func (u *subject) checkRequired() error {
	var names []string
	for i := range u.lib.Properties {
		names = append(names, u.lib.Properties[i].Name)
	}
	for _, name := range u.holds {
		if !slices.Contains(names, name) {
			return unknown("property", name, names)
		}
	}
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

// world is a new world for the scenario.
func (u *subject) world() (*scenarios.Runner, error) {
	return scenarios.NewRunnerOn(u.lib, u.base, u.input)
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
	var names []string
	var classes []*scenarios.Class
	for _, class := range u.lib.Classes {
		names = append(names, class.Name)
		if slices.Contains(u.classes, class.Name) {
			classes = append(classes, class)
		}
	}
	for _, name := range u.classes {
		if !slices.Contains(names, name) {
			return nil, unknown("class of faults", name, names)
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
	return slices.Concat(u.holds, s.Mode.ClaimsFor(s.Topology.Kind()))
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
