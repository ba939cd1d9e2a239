package search

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/sim"
)

// ordersEnd is an end of a run that shows something, and a way there. Which end is the least does
// not depend on how many workers look for it; the way does.
type ordersEnd struct {
	events int       // of its past
	key    [2]uint64 // sim.Ordered's Ending
	tape   *Tape
}

// compare orders ends: the one in which less happened first, and then by key.
func (e *ordersEnd) compare(other *ordersEnd) int {
	return cmp.Or(cmp.Compare(e.events, other.events), slices.Compare(e.key[:], other.key[:]))
}

// leastEnds is for each kind of anomaly the least end that a worker has found.
func (p *ordersPass) leastEnds() map[model.AnomalyKind]*ordersEnd {
	least := map[model.AnomalyKind]*ordersEnd{}
	for _, w := range p.workers {
		for kind, end := range w.ends {
			if old := least[kind]; old == nil || end.compare(old) < 0 {
				least[kind] = end
			}
		}
	}
	return least
}

// witnesses are the ways to the least ends. Where all was explored they are found again, so that
// they are the same whoever was there first: the least ends are, and so is retrace.
func (p *ordersPass) witnesses(input *model.Input, isExhausted bool) (
	map[model.AnomalyKind]*Tape, error) {
	tapes, again := map[model.AnomalyKind]*Tape{}, map[[2]uint64]*Tape{}
	for kind, end := range p.leastEnds() {
		if again[end.key] == nil {
			tape, err := p.witness(input, end, isExhausted)
			if err != nil {
				return nil, err
			}
			again[end.key] = tape
		}
		tapes[kind] = again[end.key]
	}
	return tapes, nil
}

// witness is a way to an end, with its path: the one that it was found by, or one found again.
func (p *ordersPass) witness(input *model.Input, end *ordersEnd, isAgain bool) (tape *Tape,
	err error) {
	tape = end.tape
	if isAgain {
		if tape, err = p.retrace(input, end); err != nil {
			return nil, err
		}
	}
	return tape, p.orders.number(p.scenario, input, tape)
}

// retrace finds a way to an end that depends on nothing but the end: the first one, depth first, in
// the order of sim.Ordered's Next. It goes only where all that happens is part of the end's past.
func (p *ordersPass) retrace(input *model.Input, end *ordersEnd) (*Tape, error) {
	goal, _, err := p.orders.drive(p.scenario, input, p.known)
	if err != nil {
		return nil, err
	}
	for i := range end.tape.Steps {
		step, ok := goal.Find(end.tape.Steps[i])
		if !ok || !goal.Take(&step) {
			panic(fmt.Sprintf("search: step %d of a witness cannot be taken again: %s", i+1,
				end.tape))
		}
	}
	run, job, err := p.orders.drive(p.scenario, input, p.known)
	if err != nil {
		return nil, err
	}
	r := &retracer{run: run, goal: goal, end: end.key, seen: map[[2]uint64]bool{}}
	if !r.goOn() {
		panic(fmt.Sprintf("search: no way to the end of %s", end.tape))
	}
	return &Tape{Job: job, Steps: r.steps}, nil
}

// retracer looks for a way to an end.
type retracer struct {
	run, goal *sim.Ordered
	end       [2]uint64
	seen      map[[2]uint64]bool // states from which there is none, or that are being looked at
	steps     []sim.Choice       // the way to where it is
}

// goOn goes on from a state, and reports whether that came to the end.
func (r *retracer) goOn() bool {
	key := r.run.Key()
	if r.seen[key] {
		return false
	}
	r.seen[key] = true
	next := r.run.Next(nil)
	if len(next) == 0 {
		return r.run.Ending() == r.end
	}
	for i := 0; i < len(next); i++ {
		c := next[i]
		isTaken := r.run.Take(&c)
		if isTaken && c.Crash == 0 {
			next = r.run.Crashes(&c, next)
		}
		r.steps = append(r.steps, c)
		if isTaken && r.run.IsTowards(r.goal) && r.goOn() {
			return true
		}
		r.steps = r.steps[:len(r.steps)-1]
		r.run.Undo()
	}
	return false
}
