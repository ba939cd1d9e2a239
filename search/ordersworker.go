package search

import (
	"fmt"
	"runtime/debug"

	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/scenarios"
	"github.com/oncesim/oncesim/sim"
)

// depthMax bounds a run: one that takes more steps goes round in circles.
const depthMax = 1 << 16

// ordersWorker explores what it is given, depth first, in a world of its own.
type ordersWorker struct {
	pass    *ordersPass
	runner  *scenarios.Runner
	ordered *sim.Ordered
	stack   []ordersLevel
	depth   int // stack[:depth] is in use
	found   OrdersFound
	ends    map[model.AnomalyKind]*ordersEnd // the least that show each kind
	seen    int64                            // steps since others were last thought of
	broken  string                           // a panic of it, and the way there
}

// ordersLevel is a state on the way, with its steps.
type ordersLevel struct {
	steps []sim.Choice
	next  int // steps[next-1] is being looked at
}

func newOrdersWorker(p *ordersPass, input *model.Input) (*ordersWorker, error) {
	runner, err := scenarios.NewRunnerOn(p.orders.Library, p.scenario, input)
	if err != nil {
		return nil, err
	}
	w := &ordersWorker{pass: p, runner: runner, ends: map[model.AnomalyKind]*ordersEnd{}}
	w.ordered = runner.Ordered(p.scenario.Seed, p.orders.budget(runner.Job()), p.known,
		scenarios.Options{Unhashed: true})
	w.found = newOrdersFound(p.orders.Library)
	return w, nil
}

// keepPanic keeps a panic for the caller's goroutine, with the way to where it was.
func (w *ordersWorker) keepPanic() {
	if r := recover(); r != nil {
		w.broken = fmt.Sprintf("%v\n%s\n%s", r, w.tape(), debug.Stack())
		w.pass.stop("a panic")
	}
}

// explore goes where a task leads, and on from there. All levels but the last have one step taken.
func (w *ordersWorker) explore(task []sim.Choice) {
	if len(task) == 0 {
		w.enter()
	}
	for i := range task {
		step, ok := w.ordered.Find(task[i])
		if !ok {
			panic(fmt.Sprintf("search: step %d of a task cannot be taken: %+v", i, task[i]))
		}
		level := w.push()
		level.steps = append(level.steps, step)
		if i < len(task)-1 {
			level.next = 1
			w.ordered.Take(&step)
		}
	}
	base := max(len(task)-1, 0)
	for w.depth > base && !w.pass.isOver.Load() {
		w.step()
	}
	for w.depth > 0 {
		w.pop()
	}
}

// step takes the next step of the last level, or goes back to the one before.
func (w *ordersWorker) step() {
	level := &w.stack[w.depth-1]
	if level.next == len(level.steps) {
		w.pop()
		return
	}
	c := level.steps[level.next]
	level.next++
	isTaken := w.ordered.Take(&c)
	if isTaken {
		w.found.Transitions++
		if c.Crash == 0 {
			level.steps = w.ordered.Crashes(&c, level.steps)
		}
	}
	if !isTaken || !w.enter() {
		w.ordered.Undo()
	}
	if w.seen++; w.seen%64 == 0 {
		w.meet()
	}
}

// enter enters a state, and reports whether there is more to do behind it.
func (w *ordersWorker) enter() bool {
	if !w.isNew() {
		return false
	}
	if w.depth == depthMax {
		w.pass.stop(fmt.Sprintf("a run took more than %d steps", depthMax))
		return false
	}
	level := w.push()
	level.steps = w.ordered.Next(level.steps)
	if len(level.steps) > 0 {
		return true
	}
	w.depth--
	w.end()
	return false
}

// isNew reports whether nobody has been at the state where the worker is. One more than there may
// be ends the pass.
func (w *ordersWorker) isNew() bool {
	isNew, isFull := w.pass.table.add(w.ordered.Key())
	switch {
	case isFull:
		w.pass.stop(leftStates)
	case !isNew:
		w.found.Pruned++
	}
	return isNew
}

// end judges the run where it is over, if nobody has been at that end.
func (w *ordersWorker) end() {
	end := w.ordered.Ending()
	switch isNew, isFull := w.pass.ends.add(end); {
	case isFull:
		w.pass.stop(leftBudget)
	case isNew:
		w.judge(end)
	}
}

// judge judges a run that is over, at an end that nobody has been at.
func (w *ordersWorker) judge(key [2]uint64) {
	end := &ordersEnd{events: w.ordered.PastLen(), key: key}
	res := w.runner.Judge(w.ordered.Finish())
	f := &w.found
	f.Runs++
	f.Signatures[Signature(w.pass.scenario.Mode, res.Verdicts)]++
	for i := range res.Verdicts {
		f.Counts[i].add(res.Verdicts[i].Result)
	}
	for kind := range kindsIn(res.Verdicts) {
		f.Anomalies[kind]++
		if old := w.ends[kind]; old == nil || end.compare(old) < 0 {
			if end.tape == nil {
				end.tape = w.tape()
			}
			w.ends[kind] = end
		}
	}
	if w.pass.orders.Inspect != nil {
		w.pass.orders.Inspect(&res)
	}
	w.ordered.Undo()
}

// tape is the way to where the worker is.
func (w *ordersWorker) tape() *Tape {
	t := &Tape{Job: w.runner.Job()}
	for i := range w.stack[:w.depth] {
		if level := &w.stack[i]; level.next > 0 {
			t.Steps = append(t.Steps, level.steps[level.next-1])
		}
	}
	return t
}

// pop leaves the last level.
func (w *ordersWorker) pop() {
	if w.depth--; w.depth > 0 {
		w.ordered.Undo()
	}
}

// meet gives work to whoever has none, and tells how far it is.
func (w *ordersWorker) meet() {
	p := w.pass
	if p.idle.Load() > 0 {
		w.share()
	}
	if w.ordered.IsSurprised() {
		p.again()
	}
	if o := p.orders; o.Progress != nil && w == p.workers[0] {
		o.Progress(p.table.size.Load(), p.ends.size.Load())
	}
}

// share hands out the step that is furthest from the end of all that are left.
func (w *ordersWorker) share() {
	for i := range w.stack[:w.depth] {
		level := &w.stack[i]
		last := len(level.steps) - 1
		if level.next > last {
			continue
		}
		var task []sim.Choice
		for k := range w.stack[:i] {
			task = append(task, w.stack[k].steps[w.stack[k].next-1])
		}
		w.pass.give(append(task, level.steps[last]))
		level.steps = level.steps[:last]
		return
	}
}

// push begins a level.
func (w *ordersWorker) push() *ordersLevel {
	if w.depth == len(w.stack) {
		w.stack = append(w.stack, ordersLevel{})
	}
	level := &w.stack[w.depth]
	w.depth++
	level.steps, level.next = level.steps[:0], 0
	return level
}
