package simtest

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/oncesim/oncesim/search"
)

// flags are those of the program. They are declared where it is a test, and where nobody else has.
var flags = declared(flag.CommandLine)

func declared(to *flag.FlagSet) *flag.FlagSet {
	if testing.Testing() {
		new(settings).declare(to)
	}
	return to
}

// settings are what a person says when they run a test: flags, each with a twin in the environment.
type settings struct {
	seed     string
	seeds    string
	runs     int
	duration time.Duration
	replay   string
	mode     string
	shrink   int
	verify   bool
	update   bool
	verbose  bool

	origins map[string]string // of what is set, by flag: how it was written, "SIM_SEED=7"
}

// declare adds the flags to a set; one that is there stays as it is.
func (s *settings) declare(to *flag.FlagSet) {
	own := flag.NewFlagSet("", flag.ContinueOnError)
	own.StringVar(&s.seed, "sim.seed", "", "run this `seed` alone; with random, or with the hash "+
		"of a commit, as many seeds as usual from there on")
	own.StringVar(&s.seeds, "sim.seeds", "", "run the seeds `A-B`")
	own.IntVar(&s.runs, "sim.runs", 0, "run `n` seeds")
	own.DurationVar(&s.duration, "sim.for", 0, "run seeds for this `time`")
	own.StringVar(&s.replay, "sim.replay", "", "run this scenario `file`, and nothing else")
	own.StringVar(&s.mode, "sim.mode", "", "run under this `mode`")
	own.IntVar(&s.shrink, "sim.shrink", search.ShrinkRuns,
		"make a failure smaller in up to `n` runs; 0: leave it as it is")
	own.BoolVar(&s.verify, "sim.verify", false, "run every seed a second time, in another world")
	own.BoolVar(&s.update, "sim.update", false,
		"write what fails into the corpus, which is replayed from then on")
	own.BoolVar(&s.verbose, "sim.v", false, "log every run")
	own.VisitAll(func(f *flag.Flag) {
		if to.Lookup(f.Name) == nil {
			to.Var(f.Value, f.Name, f.Usage)
		}
	})
}

// twinPrefix begins the names in the environment.
const twinPrefix = "SIM_"

// twin is the environment variable of a flag: SIM_SEED of sim.seed.
func twin(name string) string { return strings.ToUpper(strings.ReplaceAll(name, ".", "_")) }

// isOfRange reports whether a flag says which seeds are run. These are one setting: of several on
// the command line none comes from the environment.
func isOfRange(name string) bool {
	return slices.Contains([]string{"sim.seed", "sim.seeds", "sim.runs", "sim.for"}, name)
}

// readSettings reads the flags that were given, and for the others the environment: a flag of one
// package would stop "go test ./..." in the others.
func readSettings(given *flag.FlagSet, environ []string) (settings, error) {
	s := settings{origins: map[string]string{}}
	own := flag.NewFlagSet("", flag.ContinueOnError)
	s.declare(own)
	isGiven, isRangeGiven := map[string]bool{}, false
	given.Visit(func(f *flag.Flag) {
		isGiven[f.Name] = true
		isRangeGiven = isRangeGiven || isOfRange(f.Name)
	})
	env := twins(environ)
	var wrong error
	own.VisitAll(func(f *flag.Flag) {
		text, ok := env[twin(f.Name)]
		delete(env, twin(f.Name))
		from := twin(f.Name) + "=" + text
		switch {
		case isGiven[f.Name]:
			text = given.Lookup(f.Name).Value.String()
			from = fmt.Sprintf("-%s=%s", f.Name, text)
		case !ok || isRangeGiven && isOfRange(f.Name):
			return
		}
		s.origins[f.Name] = from
		if err := own.Set(f.Name, text); err != nil && wrong == nil {
			wrong = fmt.Errorf("%s: %w", from, err)
		}
	})
	return s, cmp.Or(wrong, unknownTwin(own, env), s.check())
}

// twins are the variables of an environment that are ours, by name. An empty one says nothing.
func twins(environ []string) map[string]string {
	env := map[string]string{}
	for _, line := range environ {
		name, value, _ := strings.Cut(line, "=")
		if strings.HasPrefix(name, twinPrefix) && value != "" {
			env[name] = value
		}
	}
	return env
}

// unknownTwin is the complaint about a variable that is the twin of no flag: a slip of the pen
// would be a test that was run in another way than is thought.
func unknownTwin(own *flag.FlagSet, env map[string]string) error {
	if len(env) == 0 {
		return nil
	}
	var known, names []string
	own.VisitAll(func(f *flag.Flag) { known = append(known, twin(f.Name)) })
	for name := range env {
		names = append(names, name)
	}
	return unknown("variable of the environment", slices.Min(names), known)
}

// check refuses numbers that mean nothing.
func (s *settings) check() error {
	for _, c := range []struct {
		flag    string
		isWrong bool
		want    string
	}{
		{"sim.runs", s.runs < 1, "a number from 1"},
		{"sim.for", s.duration <= 0, "a time above 0, as in 10m"},
		{"sim.shrink", s.shrink < 0, "a number from 0"},
	} {
		if origin, isSet := s.origins[c.flag]; isSet && c.isWrong {
			return fmt.Errorf("%s, expected %s", origin, c.want)
		}
	}
	return nil
}

func current() (settings, error) { return readSettings(flags, os.Environ()) }

// words are the flags that repeat what was set, apart from the range of seeds.
func (s *settings) words() []string {
	var words []string
	if s.mode != "" {
		words = append(words, "-sim.mode="+s.mode)
	}
	if s.shrink != search.ShrinkRuns {
		words = append(words, fmt.Sprintf("-sim.shrink=%d", s.shrink))
	}
	if s.verify {
		words = append(words, "-sim.verify")
	}
	return words
}

// seedRange is the seeds of a test, first and last.
type seedRange struct {
	first, last uint64
	until       time.Time // zero: all of them
	isCut       bool      // until is where the program has to end, and all of them were wanted
	isMore      bool      // of Compare: others were run before, and these are extra
	says        string    // what stands for the first, where it is not said in numbers
}

// len is the number of seeds; all there are count for one less.
func (r seedRange) len() uint64 {
	if n := r.last - r.first; n < math.MaxUint64 {
		return n + 1
	}
	return math.MaxUint64
}

// most is the range of n seeds from the first, or as many as there are.
func (r seedRange) most(n uint64) seedRange {
	if r.last = r.first + n - 1; r.last < r.first {
		r.last = math.MaxUint64
	}
	return r
}

// The part of the time up to a deadline that is kept free, so that what was found can be told: "go
// test" ends a program that is late, and with it all that it has not printed yet.
const (
	reservedPart = 10
	reservedMax  = time.Minute
)

// endBefore is when a program that has to end by a deadline stops to look for more.
func endBefore(deadline, now time.Time) time.Time {
	return deadline.Add(-min(deadline.Sub(now)/reservedPart, reservedMax))
}

// endBy is the range for a program that stops then.
func (r seedRange) endBy(end time.Time) seedRange {
	if r.until.IsZero() {
		r.until, r.isCut = end, true
	} else if end.Before(r.until) {
		r.until = end
	}
	return r
}

// left is the complaint about seeds that were not run, of which there was time for some; "": nobody
// wanted more than there was time for.
func (r seedRange) left(runs uint64) string {
	if !r.isCut {
		return ""
	}
	return fmt.Sprintf("%d seeds were run, and not those from %d to %d: \"go test\" would have "+
		"ended the program; give it a longer -timeout", runs, r.first+runs, r.last)
}

// shortPart is the part of the seeds that are run with -short.
const shortPart = 5

// from is the range that is run in place of r.
func (s *settings) from(r seedRange, isShort bool) (seedRange, error) {
	n := r.len()
	if isShort {
		n = max(n/shortPart, 1)
	}
	seed, seeds, runs := s.origins["sim.seed"], s.origins["sim.seeds"], s.origins["sim.runs"]
	switch {
	case seeds != "" && seed+runs != "":
		return r, fmt.Errorf("%s and %s, expected one of them", cmp.Or(seed, runs), seeds)
	case seeds != "":
		first, last, ok := search.ParseSeeds(s.seeds)
		if !ok {
			return r, fmt.Errorf("%s, expected A-B with A up to B, as in 1-200", seeds)
		}
		r = seedRange{first: first, last: last}
		n = r.len()
	case seed != "":
		first, isWord, err := parseSeed(s.seed)
		if err != nil {
			return r, fmt.Errorf("%s, %w", seed, err)
		}
		if r.first = first; isWord {
			r.says = seed
		} else {
			n = 1
		}
	}
	if s.duration > 0 {
		r.until = time.Now().Add(s.duration)
		if seeds == "" {
			n = math.MaxUint64
		}
	}
	if runs != "" {
		n = uint64(s.runs)
	}
	return r.most(n), nil
}

// hashDigits is how many digits of the hash of a commit count: a short form is as good.
const hashDigits = 12

var errSeed = errors.New("expected a number, random, or the hash of a commit; commit:HASH where " +
	"that has no letter")

// parseSeed reads a seed: a number, or a word that stands for one.
func parseSeed(text string) (seed uint64, isWord bool, err error) {
	if text == "random" {
		return rand.Uint64N(1 << 32), true, nil
	}
	hash, isCommit := strings.CutPrefix(text, "commit:")
	if n, err := strconv.ParseUint(text, 10, 64); err == nil && !isCommit {
		return n, false, nil
	}
	isHex := strings.Trim(hash, "0123456789abcdefABCDEF") == ""
	if n := len(hash); !isHex || n < 7 || n > 64 {
		return 0, false, errSeed
	}
	seed, err = strconv.ParseUint(hash[:min(len(hash), hashDigits)], 16, 64)
	return seed, true, err
}

// hasFlag reports whether a flag of the program is set to something.
func hasFlag(name string) bool {
	f := flag.Lookup(name)
	return f != nil && !slices.Contains([]string{"", "false"}, f.Value.String())
}
