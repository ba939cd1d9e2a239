package search

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"runtime/debug"
	"slices"

	"github.com/oncesim/oncesim/faults"
	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/scenarios"
)

// candidate is a scenario that may turn out to be a smaller one. Without a scenario it is none.
type candidate struct {
	s      *scenarios.Scenario
	origin []int // of each fault: its place in the original plan
	isSame bool  // it must be the very same run as the smallest so far
}

// standing is the smallest scenario so far, and its run.
type standing struct {
	candidate
	signature string
	events    int64
	every     int64 // its arrival interval, virtual ns
	hash      uint64
	facts     *shrinkFacts // what a trace of it says, once that is needed
}

// digest identifies the content of a scenario.
type digest [sha256.Size]byte

// elsewhere is a content that is another run than one of a hash. Where it had to be the same run it
// was refused for that; as a step of its own it may still keep what is to be kept.
type elsewhere struct {
	content digest
	hash    uint64
}

// shrinker is one call of Shrink.
type shrinker struct {
	ctx    context.Context
	lib    *scenarios.Library
	opts   Shrinking
	origin *scenarios.Scenario
	lines  []string // the original input
	before [3]int64 // what size said of the original
	keep   func(s *scenarios.Scenario, res *scenarios.Result) bool

	mayMiss bool // the original does not keep what it shows without a fault that is not reached
	mayEnd  bool // the original runs out of its events

	best    standing
	tried   map[digest]bool
	other   map[elsewhere]bool
	runs    int
	pieces  int  // into how many pieces an input is divided at most
	taken   int  // how often a candidate became the smallest
	singles int  // single steps that the latest round of them has tried
	isCut   bool // a candidate was left out, for want of runs or of a context

	runner *scenarios.Runner // the latest
	layout digest            // what it runs
}

// newShrinker runs the original.
func newShrinker(ctx context.Context, lib *scenarios.Library, s *scenarios.Scenario,
	opts Shrinking) (*shrinker, error) {
	if opts.RunsMax == 0 {
		opts.RunsMax = ShrinkRuns
	}
	k := &shrinker{ctx: ctx, lib: lib, opts: opts, origin: s, tried: map[digest]bool{},
		other: map[elsewhere]bool{}}
	runner, err := k.runnerOf(s)
	if err != nil {
		return nil, err
	}
	rules, err := s.Faults.Compile(runner.Job())
	if err != nil {
		return nil, err
	}
	k.lines = linesOf(runner.Input())
	res := k.run(runner, s, rules, false)
	k.mayEnd = res.Subject.History.End.Reason == model.EventBound
	if k.keep = k.keeper(s, &res); !k.keep(s, &res) {
		return nil, fmt.Errorf("%w: %s under %s, seed %d, shows nothing to keep", ErrNothing,
			s.Name, s.Mode.Name, s.Seed)
	}
	all := make([]int, len(s.Faults))
	for i := range all {
		all[i] = i
	}
	k.tried[contentOf(s)] = true
	missed := missedIn(&res)
	k.take(candidate{s: s, origin: all}, &res)
	k.before = k.size()
	k.dropMissed(missed)
	return k, nil
}

// keeper is what to keep of the original and its run.
func (k *shrinker) keeper(s *scenarios.Scenario, res *scenarios.Result) func(*scenarios.Scenario,
	*scenarios.Result) bool {
	if k.opts.Keep != nil {
		return k.opts.Keep
	}
	isBroken := breaksClaim(k.lib, s, res)
	signature := Signature(s.Mode, res.Verdicts)
	return func(s *scenarios.Scenario, res *scenarios.Result) bool {
		switch {
		case isBroken && !breaksClaim(k.lib, s, res), !Violates(res.Verdicts):
			return false
		case k.opts.Any:
			return true
		}
		return Signature(s.Mode, res.Verdicts) == signature
	}
}

// breaksClaim reports whether a run violates what its mode claims of it.
func breaksClaim(lib *scenarios.Library, s *scenarios.Scenario, res *scenarios.Result) bool {
	claims := s.Claims()
	return slices.ContainsFunc(res.Verdicts, func(v model.Verdict) bool {
		return v.Result == model.Violated && slices.Contains(claims, v.Property)
	}) && len(Unclaimed(lib, s, res.Subject.History.Reached)) == 0
}

// runnerOf is a runner for a scenario: the latest one, where it differs in its seed and its faults
// alone.
func (k *shrinker) runnerOf(s *scenarios.Scenario) (*scenarios.Runner, error) {
	layout := layoutOf(s)
	if k.runner != nil && k.layout == layout {
		return k.runner, nil
	}
	r, err := scenarios.NewRunner(k.lib, s)
	if err == nil {
		k.runner, k.layout = r, layout
	}
	return r, err
}

// run runs a scenario. A panic is a bug; it says what was running.
func (k *shrinker) run(r *scenarios.Runner, s *scenarios.Scenario, rules []model.Rule, trace bool,
) scenarios.Result {
	defer func() {
		if err := recover(); err != nil {
			panic(fmt.Sprintf("%v\nin a candidate of shrinking:\n%s\n%s", err,
				scenarios.Format(k.lib, s), debug.Stack()))
		}
	}()
	k.runs++
	res := r.Run(s.Seed, rules, scenarios.Options{Trace: trace})
	if k.opts.Progress != nil {
		k.opts.Progress(k.runs, k.opts.RunsMax)
	}
	return res
}

// execute runs a scenario if it fits its job, and if there is a run left.
func (k *shrinker) execute(s *scenarios.Scenario, trace bool) (res scenarios.Result, ok bool) {
	if k.isCut {
		return res, false
	}
	runner, err := k.runnerOf(s)
	if err != nil {
		return res, false
	}
	rules, err := s.Faults.Compile(runner.Job())
	if err != nil {
		return res, false
	}
	if k.runs >= k.opts.RunsMax || k.ctx.Err() != nil {
		k.isCut = true
		return res, false
	}
	return k.run(runner, s, rules, trace), true
}

// try runs a candidate that was not tried before, and takes it if it keeps what is to be kept.
// One that does, but misses some of its faults, is tried again without those.
func (k *shrinker) try(c candidate) (isTaken bool) {
	if c.s == nil || k.isTried(c) {
		return false
	}
	res, ok := k.execute(c.s, false)
	if !ok {
		return false
	}
	content, end := contentOf(c.s), res.Subject.History.End
	if c.isSame && end.Hash != k.best.hash {
		k.other[elsewhere{content, k.best.hash}] = true
		return false
	}
	k.tried[content] = true
	if end.Reason == model.EventBound && !k.mayEnd || !k.keep(c.s, &res) {
		return false
	}
	if missed := missedIn(&res); len(missed) > 0 && !k.mayMiss {
		return k.try(c.without(missed))
	}
	k.take(c, &res)
	return true
}

// isTried reports whether a candidate was run, and has lost what is to be kept.
func (k *shrinker) isTried(c candidate) bool {
	if c.s == nil {
		return false
	}
	content := contentOf(c.s)
	return k.tried[content] || c.isSame && k.other[elsewhere{content, k.best.hash}]
}

// take makes a candidate the smallest so far.
func (k *shrinker) take(c candidate, res *scenarios.Result) {
	h := res.Subject.History
	k.best = standing{candidate: candidate{s: c.s, origin: c.origin}, events: h.End.N,
		hash: h.End.Hash, signature: Signature(c.s.Mode, res.Verdicts),
		every: res.Subject.Input.Parts[0].Every}
	k.taken++
}

// missedIn lists the faults of a run that were not reached.
func missedIn(res *scenarios.Result) (list []int) {
	for i, n := range res.Subject.History.Reached {
		if n == 0 {
			list = append(list, i)
		}
	}
	return list
}

// without is a candidate without some of its faults.
func (c candidate) without(list []int) candidate {
	s := *c.s
	s.Faults = nil
	var origin []int
	for i, f := range c.s.Faults {
		if !slices.Contains(list, i) {
			s.Faults = append(s.Faults, f)
			origin = append(origin, c.origin[i])
		}
	}
	return candidate{s: &s, origin: origin, isSame: c.isSame}
}

// with is the smallest so far with a change, which must not reach into what is shared.
func (k *shrinker) with(change func(s *scenarios.Scenario)) candidate {
	s := *k.best.s
	s.Faults = slices.Clone(s.Faults)
	change(&s)
	return candidate{s: &s, origin: k.best.origin}
}

// size counts the faults, records and events of the smallest so far.
func (k *shrinker) size() [3]int64 {
	return [3]int64{int64(len(k.best.s.Faults)), int64(len(k.input())), k.best.events}
}

// contentOf identifies all of a scenario that decides a run.
func contentOf(s *scenarios.Scenario) (d digest) {
	type fields faults.Fault // without String
	h := sha256.New()
	layout := layoutOf(s)
	h.Write(layout[:])
	fmt.Fprintf(h, "%d", s.Seed)
	for _, f := range s.Faults {
		fmt.Fprintf(h, " %v", fields(f))
	}
	return digest(h.Sum(nil))
}

// layoutOf identifies all of a scenario but its seed and its faults.
func layoutOf(s *scenarios.Scenario) (d digest) {
	h := sha256.New()
	in := &s.Input
	fmt.Fprintf(h, "%s %v %s %v %d %d %d %q %q", s.Mode.Name, s.Params, s.Sink, s.Bounds, in.Kind,
		in.Records, in.Every, in.Path, in.Dir)
	for _, input := range s.Topology.Inputs {
		fmt.Fprintf(h, " %s %d", input.Name, input.Partitions)
	}
	for i := range s.Topology.Stages {
		fmt.Fprintf(h, " %s %d", s.Topology.Stages[i].Name, s.Topology.Stages[i].Parallel)
	}
	for _, line := range in.Lines {
		fmt.Fprintf(h, " %d ", len(line))
		_, _ = io.WriteString(h, line)
	}
	return digest(h.Sum(nil))
}
