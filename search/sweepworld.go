package search

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/oncesim/oncesim/faults"
	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/scenarios"
)

// sweepWorld runs the seeds of one unit on one worker, in one world.
type sweepWorld struct {
	sweep   *Sweep
	unit    *sweepUnit
	runner  *scenarios.Runner
	second  *scenarios.Runner // for verification; nil: not needed yet
	planner *Planner          // nil: nothing goes wrong
	rules   []model.Rule
	again   []model.Rule
	seed    uint64 // of the run at hand
	tally   blockTally
}

func newSweepWorld(s *Sweep, u *sweepUnit) (*sweepWorld, error) {
	w := &sweepWorld{sweep: s, unit: u}
	var err error
	if w.runner, err = scenarios.NewRunnerOn(s.lib, u.Scenario, u.input); err != nil {
		return nil, err
	}
	if classes := u.drawn(); len(u.Scenario.Faults) > 0 || len(classes) > 0 {
		w.planner, err = NewPlanner(w.runner, u.Scenario, classes, u.faultsMax)
	}
	return w, err
}

func (w *sweepWorld) plan(r *scenarios.Runner, into []model.Rule) []model.Rule {
	if w.planner == nil {
		return into
	}
	return w.planner.Plan(r, w.seed, into)
}

// block runs the seeds of a block. isWhole is false if the context ended before the last of them.
func (w *sweepWorld) block(ctx context.Context, first, last uint64) (isWhole bool, err error) {
	w.tally.reset()
	for seed := first; ; seed++ {
		if ctx.Err() != nil {
			return false, nil
		}
		w.seed, w.rules = seed, w.rules[:0] // what was planned before is not of this seed
		w.rules = w.plan(w.runner, w.rules)
		res := w.runner.Run(seed, w.rules, scenarios.Options{})
		w.count(&res)
		if w.isVerified() {
			if err := w.verify(&res); err != nil {
				return false, err
			}
			w.tally.verified++
		}
		if seed == last {
			return true, nil
		}
	}
}

// outcome is what one run came to.
type outcome uint8

const (
	outcomeHeld outcome = iota
	outcomeFailed
	outcomeUnknown
	outcomeUnclaimed // the mode claims nothing of it
)

// outcomeOf judges a run: by what its mode claims of it, or by every property.
func (w *sweepWorld) outcomeOf(res *scenarios.Result) outcome {
	if !w.unit.any && (w.unit.unlike || w.isOutside(res.Subject.History.Reached)) {
		return outcomeUnclaimed
	}
	worst := outcomeHeld
	for i := range res.Verdicts {
		switch {
		case !w.unit.decides[i]:
		case res.Verdicts[i].Result == model.Violated:
			return outcomeFailed
		case res.Verdicts[i].Result == model.Undecided:
			worst = outcomeUnknown
		}
	}
	return worst
}

// isOutside reports whether a fault struck that the mode does not tolerate. It is Outside for
// rules: what says of which class a fault is, is its action, what it strikes, and for how long.
func (w *sweepWorld) isOutside(reached []int64) bool {
	for i, n := range reached {
		rule := &w.rules[i]
		fault := faults.Fault{Action: rule.Action, Call: rule.Call, For: rule.For}
		if n != 0 && !w.sweep.lib.IsTolerated(w.unit.Scenario.Mode, fault) {
			return true
		}
	}
	return false
}

// count adds a run to the block.
func (w *sweepWorld) count(res *scenarios.Result) {
	h, t := res.Subject.History, &w.tally
	t.Runs++
	t.Events += h.End.N
	t.hash ^= h.End.Hash
	struck := int64(0)
	for _, n := range h.Reached {
		if n != 0 {
			struck++
		}
	}
	t.Planned += int64(len(w.rules))
	t.Struck += struck
	if struck < int64(len(w.rules)) {
		t.Unreached++
	}
	t.gaps.count(h, t.crashes[:])
	switch outcome := w.outcomeOf(res); outcome {
	case outcomeHeld:
		t.Held++
	case outcomeUnclaimed:
		t.Unclaimed++
	case outcomeFailed:
		t.Failed++
		w.fail(res, model.Violated.String())
	case outcomeUnknown:
		t.Unknown++
		w.fail(res, unknownVerdict)
	default:
		panic(fmt.Sprintf("search: outcome %d", outcome))
	}
}

// unknownVerdict is the verdict of a run of which a claim is neither confirmed nor broken.
const unknownVerdict = "unknown"

// fail adds a run that is not as claimed, and keeps it if it is one of the first or the fastest of
// its signature in the block.
func (w *sweepWorld) fail(res *scenarios.Result, verdict string) {
	h := res.Subject.History
	g := w.tally.group(Signature(w.unit.Scenario.Mode, res.Verdicts))
	g.count++
	isFirst := len(g.first) < w.unit.failuresMax
	isFastest := g.fastest == nil || h.End.N < g.fastest.Events
	if !isFirst && !isFastest {
		return
	}
	f := &Failure{Kind: kindFail, Scenario: w.unit.Scenario.Name,
		Mode: w.unit.Scenario.Mode.Name, Class: w.unit.className(), Seed: w.seed,
		Signature: g.signature, Verdict: verdict, Events: h.End.N, Hash: hashText(h.End.Hash),
		Faults: []string{}}
	f.plan = w.faults()
	f.Faults = append(f.Faults, f.plan.Lines()...)
	if isFirst {
		g.first = append(g.first, f)
	}
	if isFastest {
		g.fastest = f
	}
}

// faults is the plan of the run at hand.
func (w *sweepWorld) faults() (plan faults.Plan) {
	for _, rule := range w.rules {
		plan = append(plan, faults.FromRule(w.runner.Job(), rule))
	}
	return plan
}

// isVerified reports whether the run at hand is one of those that are made again. Which ones are is
// a matter of the seed alone.
func (w *sweepWorld) isVerified() bool {
	draw := model.Draw(w.seed, model.DrawPlan, drawVerify, 0, 0)
	return model.Below(draw, million) < w.sweep.opts.Verify
}

// drawVerify is the ordinal of the draw of whether a run is made again, beside those of its plan.
const drawVerify = 1<<32 + 64

// verify plans, makes and judges the run at hand again, in another world.
func (w *sweepWorld) verify(first *scenarios.Result) error {
	if w.second == nil {
		var err error
		w.second, err = scenarios.NewRunnerOn(w.sweep.lib, w.unit.Scenario, w.unit.input)
		if err != nil {
			return err
		}
	}
	w.again = w.plan(w.second, w.again[:0])
	if !slices.Equal(w.rules, w.again) {
		return &Differing{Text: fmt.Sprintf("%s, seed %d: two plans differ, %+v and %+v",
			w.unit.name(), w.seed, w.rules, w.again)}
	}
	end, was := first.Subject.History.End, Signature(w.unit.Scenario.Mode, first.Verdicts)
	res := w.second.Run(w.seed, w.rules, scenarios.Options{})
	again := res.Subject.History.End
	if now := Signature(w.unit.Scenario.Mode, res.Verdicts); again == end && now != was {
		return &Differing{Text: fmt.Sprintf("%s, seed %d: the same trace was judged in two ways, "+
			"%s and %s", w.unit.name(), w.seed, was, now)}
	}
	if again == end {
		return nil
	}
	d := &Differing{Job: w.runner.Job(), Text: fmt.Sprintf("%s, seed %d: two runs differ, "+
		"hashes %016x and %016x", w.unit.name(), w.seed, end.Hash, again.Hash)}
	if max(end.N, again.N) <= TracedMax {
		for i, r := range []*scenarios.Runner{w.runner, w.second} {
			res := r.Run(w.seed, w.rules, scenarios.Options{Trace: true})
			d.Traces[i] = slices.Clone(res.Trace)
		}
	}
	return d
}

// blockTally counts the runs of a block. It is reused from block to block.
type blockTally struct {
	SweepCounts
	hash     uint64
	verified int64
	crashes  [gapEnd]int64
	groups   []*blockGroup
	gaps     gapCounter
}

// blockGroup are the runs of a block that are not as claimed in one way.
type blockGroup struct {
	signature string
	count     int64
	first     []*Failure // in the order of seeds
	fastest   *Failure   // the first of those with the fewest events
}

func (t *blockTally) reset() {
	t.SweepCounts, t.hash, t.verified = SweepCounts{}, 0, 0
	t.crashes, t.groups = [gapEnd]int64{}, nil
}

func (t *blockTally) group(signature string) *blockGroup {
	for _, g := range t.groups {
		if g.signature == signature {
			return g
		}
	}
	g := &blockGroup{signature: signature}
	t.groups = append(t.groups, g)
	return g
}

// failures lists what was kept, in the order of signatures and seeds.
func (t *blockTally) failures() []*Failure {
	var list []*Failure
	for _, g := range t.groups {
		list = append(list, g.first...)
		if !slices.Contains(g.first, g.fastest) {
			list = append(list, g.fastest)
		}
	}
	slices.SortFunc(list, func(a, b *Failure) int {
		return cmp.Or(cmp.Compare(a.Signature, b.Signature), cmp.Compare(a.Seed, b.Seed))
	})
	return list
}

// passLine is the line of the block at hand.
func (w *sweepWorld) passLine(first, last uint64) *passLine {
	t := &w.tally
	p := &passLine{Kind: kindPass, Scenario: w.unit.Scenario.Name, Mode: w.unit.Scenario.Mode.Name,
		Class: w.unit.className(), Seeds: seedsText(first, last), SweepCounts: t.SweepCounts,
		Xor: hashText(t.hash)}
	for _, g := range Gaps() {
		if n := t.crashes[g]; n > 0 {
			if p.Crashes == nil {
				p.Crashes = map[string]int64{}
			}
			p.Crashes[g.String()] = n
		}
	}
	for _, g := range t.groups {
		if p.Signatures == nil {
			p.Signatures = map[string]int64{}
		}
		p.Signatures[g.signature] = g.count
	}
	return p
}
