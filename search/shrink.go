package search

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/oncesim/oncesim/faults"
	"github.com/oncesim/oncesim/scenarios"
)

// ShrinkRuns is how many runs Shrink may make, unless it is said.
const ShrinkRuns = 2000

// ErrNothing is what errors.Is finds in the error of Shrink for a run that shows nothing to keep.
var ErrNothing = errors.New("nothing to shrink")

// Shrinking says how to make a scenario smaller, and what must be kept. A run that breaks a claim
// of its mode is shrunk to runs that break one, unless Keep says what to keep.
type Shrinking struct {
	Any     bool // any violated property will do; else the same Signature throughout
	RunsMax int  // re-executions; 0: ShrinkRuns
	// Keep is what to keep, in place of the signature; nil: the signature. The result is valid
	// during the call.
	Keep func(s *scenarios.Scenario, res *scenarios.Result) bool
	// Progress, where given, is called after each run with the number of runs made and RunsMax.
	Progress func(runs, max int)
}

// Shrunk is a scenario made smaller.
type Shrunk struct {
	Scenario  *scenarios.Scenario // the smallest found; it replays by itself
	Signature string
	Runs      int // re-executions spent
	// IsMinimal: every single deletion and weakening was tried, and each loses what was kept.
	IsMinimal bool
	Singles   int            // how many of those there were to run, where IsMinimal
	Dropped   []faults.Fault // of the original plan, not needed

	Faults, Records, Events [2]int64 // before and after
}

// Shrink makes a scenario smaller and keeps what it shows. It goes through the following, over and
// over until nothing gets smaller:
//
//   - fewer faults, those that were not reached first
//   - earlier anchors, and weaker faults: a shorter time, one lost call rather than a partition, a
//     crash rather than a pause that outlasts the process, a point outside of a call rather than
//     within
//   - fewer records, partitions and tasks; the input becomes lines in the file
//   - seed 1, fewer keys, and defaults for whatever is set
//   - anchors that keep their meaning: a record or a checkpoint rather than the ordinal of a call,
//     that rather than the ordinal of an effect, and anything rather than a time
//
// In the end every single step of these is tried on what is left. If each loses what was kept the
// result is minimal; that says nothing of two steps at once.
//
// What names something that its job does not have, does not reach each of its faults, or runs out
// of its budget of events, is no candidate; for s itself the last two are forgiven, and then for
// all. Neither time nor the number of cores matters: one scenario gives one result. When the
// context or the number of runs ends, the smallest so far is returned, not minimal. The error is
// that of a scenario that cannot be run, or ErrNothing.
func Shrink(ctx context.Context, lib *scenarios.Library, s *scenarios.Scenario, opts Shrinking) (
	*Shrunk, error) {
	k, err := newShrinker(ctx, lib, s, opts)
	if err != nil {
		return nil, err
	}
	isMinimal := k.shrink()
	after := k.size()
	r := &Shrunk{Scenario: k.result(isMinimal), Signature: k.best.signature, Runs: k.runs,
		IsMinimal: isMinimal, Singles: k.singles}
	for i, pair := range []*[2]int64{&r.Faults, &r.Records, &r.Events} {
		*pair = [2]int64{k.before[i], after[i]}
	}
	for i, f := range s.Faults {
		if !slices.Contains(k.best.origin, i) {
			r.Dropped = append(r.Dropped, f)
		}
	}
	return r, nil
}

// shrink goes through all passes until they change nothing, and no single step does. It reports
// whether all of these could be tried.
func (k *shrinker) shrink() (isMinimal bool) {
	passes := []func(){k.dropFaults, k.weakenFaults, k.trySeed, k.shortenInput, k.dropRecords,
		k.reshape, k.useDefaults, k.mergeKeys, k.restateFaults}
	for k.pieces = piecesFirst; ; {
		before := k.taken
		for _, pass := range passes {
			pass()
		}
		switch {
		case k.taken > before:
			k.pieces = piecesFirst
		case !k.isCut && k.pieces < len(k.input()):
			k.pieces *= 8
		case !k.step():
			return !k.isCut
		}
	}
}

// step tries every single step, up to the first that can be taken.
func (k *shrinker) step() (isTaken bool) {
	k.singles = 0
	for c := range k.steps {
		if k.try(c) || k.isCut {
			return !k.isCut
		}
		if k.isTried(c) {
			k.singles++
		}
	}
	return false
}

// exhaust takes one step after the other, until none can be taken.
func (k *shrinker) exhaust(steps func(yield func(candidate) bool) bool) {
	for isTaken := true; isTaken; {
		isTaken = false
		steps(func(c candidate) bool {
			isTaken = k.try(c)
			return !isTaken && !k.isCut
		})
	}
}

// steps yields every single deletion and weakening of the smallest so far.
func (k *shrinker) steps(yield func(candidate) bool) {
	for _, each := range []func(func(candidate) bool) bool{k.faultSteps, k.recordSteps,
		k.shapeSteps, k.settingSteps, k.keySteps, k.restateSteps} {
		if !each(yield) {
			return
		}
	}
}

// result is the smallest so far as a scenario of its own. What a person wrote of the original, and
// what was recorded of it, is not about this run.
func (k *shrinker) result(isMinimal bool) *scenarios.Scenario {
	s := *k.best.s
	s.Expect, s.Trace, s.Recorded = nil, "", nil
	after := k.size()
	s.Prose = fmt.Sprintf("%s, shrunk: %s and %s are left of %d and %d.", k.origin.Name,
		counted(after[0], "fault"), counted(after[1], "record"), k.before[0], k.before[1])
	if !isMinimal {
		s.Prose += " Not every single step was tried: it may not be minimal."
	}
	return &s
}

// counted counts things in words: "1 record", "3 records".
func counted[N int | int64](n N, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
