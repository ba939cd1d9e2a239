package simtest

// Option says how to test a scenario: under which faults, and what must hold.
type Option func(*options)

type options struct {
	holds        []string
	classes      []string
	seeds        seedRange
	faultsMax    int // 0: the planner's default
	allowUnknown bool
	corpus       string
}

// seedsDefault is how many seeds a test runs unless it says.
const seedsDefault = 50

// corpusDefault is where the scenarios are that were found once.
const corpusDefault = "testdata/sim"

func newOptions(opts []Option) options {
	o := options{seeds: seedRange{first: 1, last: seedsDefault}, corpus: corpusDefault}
	for _, opt := range opts {
		opt(&o)
	}
	return o
}

// Holds requires properties besides those that the mode claims: of the library, by their names.
// They are required whatever the faults are.
func Holds(properties ...string) Option {
	return func(o *options) { o.holds = append(o.holds, properties...) }
}

// Classes draws faults from these classes, by their names, in place of those that the mode
// tolerates. Of a run in which anything else struck, a mode claims nothing: use Holds.
func Classes(names ...string) Option {
	return func(o *options) { o.classes = append(o.classes, names...) }
}

// Seeds has a test run the seeds from first to last, not 1 to 50.
func Seeds(first, last uint64) Option {
	return func(o *options) { o.seeds = seedRange{first: first, last: last} }
}

// FaultsMax is how many faults a plan has at the most: search.PlannedFaults unless it is said.
func FaultsMax(n int) Option {
	return func(o *options) { o.faultsMax = n }
}

// AllowUnknown takes a property about which nothing is known for one that holds. Without it such a
// run fails: a budget that was spent is no pass.
func AllowUnknown() Option {
	return func(o *options) { o.allowUnknown = true }
}

// Corpus is the folder of the scenario files that Sweep replays first, in place of testdata/sim:
// for a package whose tests have different operators of one name.
func Corpus(dir string) Option {
	return func(o *options) { o.corpus = dir }
}
