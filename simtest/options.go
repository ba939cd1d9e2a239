package simtest

import (
	"fmt"
	"slices"
)

// Option says how to test a scenario: under which faults, and what must hold.
type Option func(*options)

type options struct {
	holds        []string
	classes      []string
	seeds        seedRange
	faultsMax    int // 0: the planner's default
	allowUnknown bool
	corpus       string   // "": the folder of the test
	given        []string // the options, by name
}

// seedsDefault is how many seeds a test runs unless it says.
const seedsDefault = 50

func newOptions(opts []Option) options {
	o := options{seeds: seedRange{first: 1, last: seedsDefault}}
	for _, opt := range opts {
		opt(&o)
	}
	return o
}

// takes are the options that a function of this package has a use for.
var takes = map[string][]string{
	"Sweep": {"Holds", "Classes", "Seeds", "FaultsMax", "AllowUnknown", "Corpus"},
	"Run":   {"Holds", "AllowUnknown", "Corpus"},
	"Fuzz":  {"Holds", "Classes", "FaultsMax", "AllowUnknown", "Corpus"},
	"Draw":  {"Classes", "FaultsMax"},
}

// check refuses what a function would pass over, and numbers that mean nothing.
func (o *options) check(function string) error {
	for _, name := range o.given {
		if !slices.Contains(takes[function], name) {
			return fmt.Errorf("%s has no use for %s", function, name)
		}
	}
	if o.seeds.first > o.seeds.last {
		return fmt.Errorf("Seeds(%d, %d), expected the first of them first", o.seeds.first,
			o.seeds.last)
	}
	if slices.Contains(o.given, "FaultsMax") && o.faultsMax < 1 {
		return fmt.Errorf("FaultsMax(%d), expected a number from 1", o.faultsMax)
	}
	return nil
}

// Holds requires properties besides those that the mode claims: of the library, by their names.
// They are required whatever the faults are. A property compares a run with one of the same code
// in which nothing fails: what the code does wrong even then, no property sees.
func Holds(properties ...string) Option {
	return func(o *options) {
		o.holds = append(o.holds, properties...)
		o.given = append(o.given, "Holds")
	}
}

// Classes draws faults from these classes, by their names, in place of those that the mode
// tolerates. Of a run in which anything else struck, a mode claims nothing: use Holds.
func Classes(names ...string) Option {
	return func(o *options) {
		o.classes = append(o.classes, names...)
		o.given = append(o.given, "Classes")
	}
}

// Seeds has a test run the seeds from first to last, not 1 to 50.
func Seeds(first, last uint64) Option {
	return func(o *options) {
		o.seeds = seedRange{first: first, last: last}
		o.given = append(o.given, "Seeds")
	}
}

// FaultsMax is how many faults a plan has at the most, from 1: search.PlannedFaults unless it is
// said.
func FaultsMax(n int) Option {
	return func(o *options) {
		o.faultsMax = n
		o.given = append(o.given, "FaultsMax")
	}
}

// AllowUnknown takes a property about which nothing is known for one that holds. Without it such a
// run fails: a budget that was spent is no pass.
func AllowUnknown() Option {
	return func(o *options) {
		o.allowUnknown = true
		o.given = append(o.given, "AllowUnknown")
	}
}

// Corpus is the folder of the scenario files that are replayed first, in place of the test's own in
// testdata/sim. Tests may share one: each judges every file in it by what it requires itself.
func Corpus(dir string) Option {
	return func(o *options) {
		o.corpus = dir
		o.given = append(o.given, "Corpus")
	}
}
