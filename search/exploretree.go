package search

import (
	"context"
	"fmt"
	"math"
	"sync/atomic"

	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/scenarios"
)

// explorer runs a scenario under every plan of at most so many faults, each of any of its classes.
//
// A plan is taken up in the order in which its faults strike: first the run under the first of them
// alone, then, in that run, every place of one more, and so on. That order leaves nothing out. Up
// to the event at which a fault strikes, a run is the run without it: so the fault that strikes
// first strikes as well when it is alone, and the next one has its place in the run that it makes.
// Hence a place at which a fault would have struck before those of the plan is passed over: it is
// the same plan, and its turn comes where the roles are exchanged.
//
//	in the run without faults:   a strikes at event 10, b at event 20
//	in the run with a:           b is placed; so is what only the recovery from a reaches
//	in the run with b:           a is not: it would strike at event 10, and "a, b" has been seen
//
// Which places those are is known from the run before, where each struck there.
//
// Plans of as many faults that come to the same run are continued once: see sameRun. Crashes that
// strike one process at one event are one crash, and only the first of these places is tried: see
// probe.
type explorer struct {
	cell    *Cell
	classes []*scenarios.Class
	isOnce  bool  // a plan has at most one fault of each class
	most    int   // faults of a plan
	budget  int64 // runs that may still be made
	// count is told of every run, with the plan that was continued and the class of what was added.
	count    func(w *worker, p *plan, class int, res *scenarios.Result)
	progress func(runs, known int64)

	seed   uint64
	runs   atomic.Int64
	known  atomic.Int64 // runs that are made, and those left of this level
	tally  *Tally
	inside *Tally
}

// unlimited is a budget that is never spent.
const unlimited = math.MaxInt64

// plan is a list of faults that all struck, in that order, and what their run offers for more.
type plan struct {
	parent *plan
	rules  []model.Rule
	uses   []int    // faults by class
	strike int64    // the event at which the last one struck
	places int64    // that its run offers for one more
	probed []probed // what is known of these, by place
	next   []placed // what came of one more, by place; kept where it will be continued
}

// probed is what is known of a fault at a place before it is tried.
type probed struct {
	isKnown bool
	strike  int64 // the event at which it would strike; 0: it would not
	isSame  bool  // as another one before it
}

// placed is what came of one more fault at a place.
type placed struct {
	rule   model.Rule
	class  int
	strike int64 // 0: it did not strike, or not last
	places int64 // that its run offers
	same   sameRun
}

// sameRun is equal for plans that came to the same run and go on alike. The hash covers every event
// and draw, and a process that has crashed leaves nothing else behind: after one effect and before
// the next, with nothing between them, is the same crash. Other faults may leave something: a
// partition is in force before anything shows it, and a process that pauses goes on from where it
// stood. So they are part of it.
type sameRun struct {
	hash    uint64
	lasting string
}

func newSameRun(hash uint64, rules []model.Rule) sameRun {
	same := sameRun{hash: hash}
	for _, r := range rules {
		if r.Action != model.Crash {
			same.lasting += fmt.Sprintf("%+v;", r)
		}
	}
	return same
}

// stretch is a part of the places that the run of a plan offers.
type stretch struct {
	of       *plan
	from, to int64
}

// stretchMax is the length of a stretch: for each, the run of its plan is made again.
const stretchMax = 64

// tree makes the runs under one seed, and reports whether it made them all.
func (e *explorer) tree(ctx context.Context, seed uint64) (isWhole bool, err error) {
	if e.budget < 1 {
		return false, nil
	}
	e.seed = seed
	root := &plan{uses: make([]int, len(e.classes))}
	isWhole, err = e.spread(ctx, 1, func(w *worker, _ int64) {
		res := e.run(w, root, noClass)
		root.places = e.offers(root.uses, &res.Subject.History.Extent)
	})
	level := []*plan{root}
	for n := 1; n <= e.most && isWhole && err == nil; n++ {
		isWhole, err = e.level(ctx, level, n == e.most)
		level = e.nextLevel(level)
	}
	return isWhole, err
}

// spread does a part of the work and adds up what its workers counted.
func (e *explorer) spread(ctx context.Context, n int64, do func(w *worker, i int64)) (bool, error) {
	before := e.runs.Load()
	workers, err := e.cell.spread(ctx, n, 1, do)
	for _, w := range workers {
		e.tally.Merge(w.tally)
		e.inside.Merge(w.inside)
	}
	if e.budget != unlimited {
		e.budget -= e.runs.Load() - before
	}
	return ctx.Err() == nil, err
}

// level places one more fault in the run of each plan, as far as the budget lasts. What is run
// before it is spent does not depend on the number of workers.
func (e *explorer) level(ctx context.Context, plans []*plan, isLast bool) (isWhole bool,
	err error) {
	isWhole, err = e.spread(ctx, int64(len(plans)), func(w *worker, i int64) {
		e.probe(w, plans[i])
	})
	if err != nil || !isWhole {
		return false, err
	}
	var rest []stretch
	e.known.Store(e.runs.Load())
	for _, p := range plans {
		if !isLast {
			p.next = make([]placed, p.places)
		}
		e.known.Add(p.left())
		for from := int64(0); from < p.places; from += stretchMax {
			rest = append(rest, stretch{p, from, min(from+stretchMax, p.places)})
		}
	}
	for len(rest) > 0 {
		var some []stretch
		if some, rest = afford(rest, e.budget); len(some) == 0 {
			return false, nil
		}
		isWhole, err = e.spread(ctx, int64(len(some)), func(w *worker, i int64) {
			e.expand(ctx, w, some[i], isLast)
			if e.progress != nil {
				e.progress(e.runs.Load(), e.known.Load())
			}
		})
		if err != nil || !isWhole {
			return false, err
		}
	}
	return true, nil
}

// afford takes stretches from the front of a list that are together no longer than a budget.
func afford(list []stretch, budget int64) (some, rest []stretch) {
	if budget == unlimited {
		return list, nil
	}
	for i := range list {
		s := &list[i]
		if n := s.to - s.from; n > budget {
			some = list[:i:i]
			if budget > 0 {
				some = append(some, stretch{s.of, s.from, s.from + budget})
			}
			s.from += budget
			return some, list[i:]
		}
		budget -= s.to - s.from
	}
	return list, nil
}

// offers is how many places there are for one more fault.
func (e *explorer) offers(uses []int, extent *model.Extent) (sum int64) {
	for c, class := range e.classes {
		if e.takes(uses, c) {
			sum += class.Places(extent).Len()
		}
	}
	return sum
}

// takes reports whether a plan may have one more fault of a class.
func (e *explorer) takes(uses []int, class int) bool { return !e.isOnce || uses[class] == 0 }

// expand places one more fault in the run of a plan, at each place of a stretch.
func (e *explorer) expand(ctx context.Context, w *worker, s stretch, isLast bool) {
	copyExtent(&w.extent, w.extentOf(e.seed, s.of.rules))
	s.of.past(w.past)
	first := int64(0)
	for c, class := range e.classes {
		if !e.takes(s.of.uses, c) {
			continue
		}
		places := class.Places(&w.extent)
		n := places.Len()
		for i := max(s.from, first); i < min(s.to, first+n) && ctx.Err() == nil; i++ {
			rule := places.At(i - first)
			if s.of.isRuledOut(i) {
				continue
			}
			if w.past[rule] {
				e.known.Add(-1)
				continue
			}
			res := e.run(w, s.of, c, rule)
			if !isLast {
				s.of.next[i] = e.newPlaced(w, s.of, c, res)
			}
		}
		first += n
	}
}

// probe finds out where each crash and pause would strike in the run of a plan, in one run. Crashes
// of one process at one event are one crash by several names: after an effect, after the call that
// it is, and before the next effect if nothing lies between. A timer may be set there, which is no
// event; the dead do not hear it, but the clock may go on for it, and the run end so much later.
func (e *explorer) probe(w *worker, p *plan) {
	copyExtent(&w.extent, w.extentOf(e.seed, p.rules))
	p.probed = make([]probed, p.places)
	var places []int64
	first := int64(0)
	for c, class := range e.classes {
		if !e.takes(p.uses, c) {
			continue
		}
		of := class.Places(&w.extent)
		n := of.Len()
		for i := range n {
			if isProbed(class.Action) {
				w.rules, places = append(w.rules, of.At(i)), append(places, first+i)
			}
		}
		first += n
	}
	res := w.runner.Run(e.seed, w.rules, scenarios.Options{Probes: len(places)})
	type crash struct {
		proc   model.ProcID
		strike int64
	}
	seen := map[crash]bool{}
	for i, place := range places {
		rule := &w.rules[len(p.rules)+i]
		n := probed{isKnown: true, strike: res.Subject.History.Reached[len(p.rules)+i]}
		if at := (crash{rule.Proc, n.strike}); rule.Action == model.Crash {
			n.isSame, seen[at] = seen[at], true
		}
		p.probed[place] = n
	}
}

// isRuledOut reports whether what is known of a place says that its turn is elsewhere or never.
func (p *plan) isRuledOut(place int64) bool {
	n := &p.probed[place]
	return n.isSame || n.isKnown && (n.strike == 0 || n.strike < p.strike)
}

// left is how many places are not ruled out.
func (p *plan) left() (sum int64) {
	for i := range p.places {
		if !p.isRuledOut(i) {
			sum++
		}
	}
	return sum
}

// isProbed reports whether faults of an action can be probed.
func isProbed(a model.Action) bool { return a == model.Crash || a == model.Pause }

// past collects the faults that strike before the last one of p in the run without it: with it they
// do just so. Those that can be probed need no such list.
func (p *plan) past(into map[model.Rule]bool) {
	clear(into)
	for ; p.parent != nil; p = p.parent {
		for i := range p.parent.next {
			n := &p.parent.next[i]
			if !isProbed(n.rule.Action) && n.strike != 0 && n.strike < p.strike {
				into[n.rule] = true
			}
		}
	}
}

// noClass is that of a run without one more fault.
const noClass = -1

// run makes the run under a plan and more.
func (e *explorer) run(w *worker, p *plan, class int, more ...model.Rule) *scenarios.Result {
	e.runs.Add(1)
	w.seed = e.seed
	w.rules = append(append(w.rules[:0], p.rules...), more...)
	res := w.runner.Run(e.seed, w.rules, w.opts)
	e.count(w, p, class, &res)
	return &res
}

// newPlaced keeps what it takes to continue from a run.
func (e *explorer) newPlaced(w *worker, p *plan, class int, res *scenarios.Result) placed {
	h := res.Subject.History
	last := len(w.rules) - 1
	n := placed{rule: w.rules[last], class: class, strike: h.Reached[last]}
	if n.strike < p.strike {
		n.strike = 0 // among the roles exchanged
	}
	if n.strike != 0 {
		n.places = e.offers(usesOf(p, class), &h.Extent)
		n.same = newSameRun(h.End.Hash, w.rules)
	}
	return n
}

// usesOf is what a plan uses with one more fault.
func usesOf(p *plan, class int) []int {
	uses := append([]int(nil), p.uses...)
	uses[class]++
	return uses
}

// nextLevel lists the plans with one more fault that are to be continued: of those that came to the
// same run, the first.
func (e *explorer) nextLevel(plans []*plan) []*plan {
	var level []*plan
	seen := map[sameRun]bool{}
	for _, p := range plans {
		for i := range p.next {
			n := &p.next[i]
			if n.strike == 0 || seen[n.same] {
				continue
			}
			seen[n.same] = true
			rules := append(append([]model.Rule(nil), p.rules...), n.rule)
			level = append(level, &plan{parent: p, rules: rules, uses: usesOf(p, n.class),
				strike: n.strike, places: n.places})
		}
	}
	return level
}
