package simtest

import (
	"flag"
	"fmt"
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

// twin is the environment variable of a flag: SIM_SEED of sim.seed.
func twin(name string) string { return strings.ToUpper(strings.ReplaceAll(name, ".", "_")) }

// readSettings reads the flags that were given, and for the others the environment: a flag of one
// package would stop "go test ./..." in the others. A range on the command line leaves none of the
// environment.
func readSettings(given *flag.FlagSet, env func(string) (string, bool)) (settings, error) {
	var s settings
	own := flag.NewFlagSet("", flag.ContinueOnError)
	s.declare(own)
	isGiven := map[string]bool{}
	given.Visit(func(f *flag.Flag) { isGiven[f.Name] = true })
	if isGiven["sim.seed"] || isGiven["sim.seeds"] {
		isGiven["sim.seed"], isGiven["sim.seeds"] = true, true
	}
	var wrong error
	own.VisitAll(func(f *flag.Flag) {
		from, value := "-"+f.Name, ""
		if other := given.Lookup(f.Name); isGiven[f.Name] {
			value = other.Value.String()
		} else if text, ok := env(twin(f.Name)); ok && text != "" {
			from, value = twin(f.Name), text
		} else {
			return
		}
		if err := own.Set(f.Name, value); err != nil && wrong == nil {
			wrong = fmt.Errorf("%s=%s: %w", from, value, err)
		}
	})
	return s, wrong
}

func current() (settings, error) { return readSettings(flags, os.LookupEnv) }

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
	says        string    // what stands for the first, where it is not said in numbers
}

func (r seedRange) len() uint64 { return r.last - r.first + 1 }

// shortPart is the part of the seeds that are run with -short.
const shortPart = 5

// from is the range that is run in place of r.
func (s *settings) from(r seedRange, isShort bool) (seedRange, error) {
	if isShort {
		r.last = r.first + max(r.len()/shortPart, 1) - 1
	}
	n := r.len()
	switch {
	case s.seed != "" && s.seeds != "":
		return r, fmt.Errorf("-sim.seed=%s and -sim.seeds=%s, expected one of them", s.seed,
			s.seeds)
	case s.seeds != "":
		first, last, ok := search.ParseSeeds(s.seeds)
		if !ok {
			return r, fmt.Errorf("-sim.seeds=%s, expected A-B with A up to B, as in 1-200", s.seeds)
		}
		r.first, n = first, last-first+1
	case s.seed != "":
		first, isWord, err := parseSeed(s.seed)
		if err != nil {
			return r, err
		}
		if r.first = first; isWord {
			r.says = s.seed
		} else {
			n = 1
		}
	}
	if s.duration > 0 {
		r.until = time.Now().Add(s.duration)
		if s.seed == "" && s.seeds == "" || r.says != "" {
			n = 1 << 62
		}
	}
	if s.runs < 0 {
		return r, fmt.Errorf("-sim.runs=%d, expected a number from 1", s.runs)
	}
	if s.runs > 0 {
		n = uint64(s.runs)
	}
	r.last = r.first + n - 1
	return r, nil
}

// hashDigits is how many digits of the hash of a commit count: a short form is as good.
const hashDigits = 12

// parseSeed reads a seed: a number, or a word that stands for one.
func parseSeed(text string) (seed uint64, isWord bool, err error) {
	if text == "random" {
		return rand.Uint64N(1 << 32), true, nil
	}
	if n, err := strconv.ParseUint(text, 10, 64); err == nil {
		return n, false, nil
	}
	isHex := strings.Trim(text, "0123456789abcdefABCDEF") == ""
	if n := len(text); !isHex || n < 7 || n > 64 {
		return 0, false, fmt.Errorf("-sim.seed=%s, expected a number, random or the hash of a "+
			"commit", text)
	}
	seed, err = strconv.ParseUint(text[:min(len(text), hashDigits)], 16, 64)
	return seed, true, err
}

// hasFlag reports whether a flag of the program is set to something.
func hasFlag(name string) bool {
	f := flag.Lookup(name)
	return f != nil && !slices.Contains([]string{"", "false"}, f.Value.String())
}
