package search

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/scenarios"
	"github.com/oncesim/oncesim/sim"
)

// Orders explores a scenario under every order in which messages, requests, answers, restarts and
// timers can come, and under every crash that its budget allows: sim.Ordered says what that means
// and what is bounded. Where it is exhausted, what it has not found does not exist within these
// bounds.
//
// States are entered once. A state is all that what may still happen, and what judges may say of it
// in the end, depend on; of steps that commute one order is taken (sim.Ordered's Key and Next).
// Both keep every verdict, not every run: counts are of different ends of runs.
type Orders struct {
	Library     *scenarios.Library
	Crashes     int      // how many there may be, at any numbered effect and any point of a call
	Victims     []string // whom the crashes may strike, by name; nil: every process
	Timers      int      // how many timers may fire although something else could happen
	Lulls       int      // how many more while nothing could happen but that input arrives
	StatesMax   int64    // no more states than that are entered; 0: no bound
	RunsMax     int64    // no more ends of runs than that are judged; 0: no bound
	Walks       int      // so many runs at random, one after the other; 0: all that there are
	Workers     int      // 0: one a core
	NoReduction bool     // take every step as dependent on every other
	Progress    func(states, runs int64)
	// Inspect is called at each end of a run that is judged, on the worker's goroutine.
	Inspect func(res *scenarios.Result)
}

// OrdersFound is what an exploration of orders came to. If it is exhausted, or of runs at random,
// it depends on nothing but the scenario and the bounds.
type OrdersFound struct {
	Exhausted   bool
	Why         string // if it is not: the bound, of which there was more
	Bound       string // what was explored, in words
	Runs        int64  // different ends of runs, each judged once
	States      int64  // different states
	Transitions int64  // steps taken
	Pruned      int64  // steps that led to a state that was known
	Counts      []Count
	Anomalies   map[model.AnomalyKind]int64 // ends that show it
	Signatures  map[string]int64            // ends by Signature
	Witnesses   map[model.AnomalyKind]*Tape
}

func newOrdersFound(lib *scenarios.Library) OrdersFound {
	return OrdersFound{Counts: make([]Count, len(lib.Properties)),
		Anomalies: map[model.AnomalyKind]int64{}, Signatures: map[string]int64{},
		Witnesses: map[model.AnomalyKind]*Tape{}}
}

// Explore explores a scenario. Its own faults must be none: they are anchored in virtual time, or
// at what happens in it. When the context ends it returns what it has.
func (o *Orders) Explore(ctx context.Context, s *scenarios.Scenario) (*OrdersFound, error) {
	if err := o.check(s); err != nil {
		return nil, err
	}
	input, _, err := o.Library.LoadInput(s)
	if err != nil {
		return nil, err
	}
	count := o.Workers
	switch {
	case o.Walks > 0:
		count = 1
	case count == 0:
		count = runtime.GOMAXPROCS(0)
	}
	known := &sim.Known{}
	for {
		p := &ordersPass{orders: o, scenario: s, table: newKeyTable(o.StatesMax),
			ends: newKeyTable(o.RunsMax)}
		p.wait.L = &p.lock
		if !o.NoReduction && o.Walks == 0 {
			p.known = known
		}
		for range count {
			w, err := newOrdersWorker(p, input)
			if err != nil {
				return nil, err
			}
			p.workers = append(p.workers, w)
		}
		if o.Walks > 0 {
			p.walk(ctx)
			return p.found(ctx, input)
		}
		p.run(ctx)
		if !p.isSurprised(known) || ctx.Err() != nil {
			return p.found(ctx, input)
		}
	}
}

// check refuses a scenario that cannot be explored.
func (o *Orders) check(s *scenarios.Scenario) error {
	job := s.Job()
	if n := len(job.Tasks); n > sim.ProcessesMax {
		return fmt.Errorf("the job has %d processes, and orders are explored of at most %d", n,
			sim.ProcessesMax)
	}
	for _, name := range o.Victims {
		if job.Find(name) == model.Nobody {
			return fmt.Errorf("the job has no process %q to crash", name)
		}
	}
	if len(s.Faults) > 0 {
		return errors.New("an exploration of orders has its own crashes, and no other faults")
	}
	return nil
}

// budget is what may happen that need not.
func (o *Orders) budget(job *model.Job) sim.Budget {
	b := sim.Budget{Crashes: o.Crashes, Timers: o.Timers, Lulls: o.Lulls}
	for _, name := range o.Victims {
		if p := job.Find(name); p != model.Nobody {
			b.Victims |= 1 << p
		}
	}
	return b
}

// Bound says what is explored.
func (o *Orders) Bound() string {
	text := "every order of messages, requests and answers"
	if o.Walks > 0 {
		text = counted(o.Walks, "run") + " at random of " + text
	}
	if o.Crashes > 0 {
		crashes := "1 crash"
		if o.Crashes > 1 {
			crashes = fmt.Sprintf("%d crashes", o.Crashes)
		}
		text += fmt.Sprintf(", up to %s at any effect", crashes)
	}
	if o.Timers > 0 {
		text += fmt.Sprintf(", up to %s before their turn", counted(o.Timers, "timer"))
	}
	if o.Lulls > 0 {
		text += fmt.Sprintf(", up to %s while only input is awaited",
			counted(o.Lulls, "more timer"))
	}
	text += "; no latencies, and no other fault"
	if o.Crashes > 0 && len(o.Victims) > 0 {
		text += "; crashes of " + strings.Join(o.Victims, ", ") + " only"
	}
	return text
}

// ordersPass is one go over all states, with what was known before it.
type ordersPass struct {
	orders   *Orders
	scenario *scenarios.Scenario
	known    *sim.Known
	workers  []*ordersWorker
	table    *keyTable
	ends     *keyTable

	lock   sync.Mutex
	wait   sync.Cond
	tasks  [][]sim.Choice // steps from the beginning: the last one is to be looked at
	why    string         // why it is not exhausted
	idle   atomic.Int64   // workers that wait, less the tasks that wait for them
	isOver atomic.Bool
}

// run has the workers explore until nothing is left or a bound is met.
func (p *ordersPass) run(ctx context.Context) {
	stop := context.AfterFunc(ctx, func() { p.stop(context.Cause(ctx).Error()) })
	defer stop()
	p.idle.Add(-1)
	p.tasks = append(p.tasks, nil)
	var wait sync.WaitGroup
	for _, w := range p.workers {
		wait.Go(func() {
			defer w.keepPanic()
			for task, ok := p.take(); ok; task, ok = p.take() {
				w.explore(task)
			}
		})
	}
	wait.Wait()
	for _, w := range p.workers {
		if w.broken != "" {
			panic(w.broken)
		}
	}
}

// take waits for a task. It reports false when nothing is left.
func (p *ordersPass) take() (task []sim.Choice, ok bool) {
	p.lock.Lock()
	defer p.lock.Unlock()
	p.idle.Add(1)
	for len(p.tasks) == 0 && !p.isOver.Load() {
		if p.idle.Load() == int64(len(p.workers)) {
			p.isOver.Store(true)
			p.wait.Broadcast()
			break
		}
		p.wait.Wait()
	}
	if p.isOver.Load() {
		return nil, false
	}
	task = p.tasks[len(p.tasks)-1]
	p.tasks = p.tasks[:len(p.tasks)-1]
	return task, true
}

// give adds a task for a worker that waits.
func (p *ordersPass) give(task []sim.Choice) {
	p.lock.Lock()
	defer p.lock.Unlock()
	p.idle.Add(-1)
	p.tasks = append(p.tasks, task)
	p.wait.Signal()
}

// stop ends the pass before it is done, for a reason.
func (p *ordersPass) stop(why string) {
	p.lock.Lock()
	defer p.lock.Unlock()
	p.isOver.Store(true)
	if p.why == "" {
		p.why = why
	}
	p.wait.Broadcast()
}

// again ends the pass before it is done, since it has to be done again.
func (p *ordersPass) again() {
	p.lock.Lock()
	defer p.lock.Unlock()
	p.isOver.Store(true)
	p.wait.Broadcast()
}

// isSurprised reports whether the workers have seen more than was known when the pass began, and
// adds that to what is known.
func (p *ordersPass) isSurprised(known *sim.Known) (is bool) {
	for _, w := range p.workers {
		is = is || w.ordered.IsSurprised()
	}
	for _, w := range p.workers {
		known.Learn(w.ordered)
	}
	return is
}

// found puts together what the workers have found.
func (p *ordersPass) found(ctx context.Context, input *model.Input) (*OrdersFound, error) {
	all := newOrdersFound(p.orders.Library)
	f := &all
	f.Why, f.Bound, f.States = p.why, p.orders.Bound(), p.table.size.Load()
	f.Exhausted = f.Why == "" && ctx.Err() == nil
	for _, w := range p.workers {
		f.Runs += w.found.Runs
		f.Transitions += w.found.Transitions
		f.Pruned += w.found.Pruned
		for i, c := range w.found.Counts {
			f.Counts[i].merge(c)
		}
		for signature, n := range w.found.Signatures {
			f.Signatures[signature] += n
		}
		for kind, n := range w.found.Anomalies {
			f.Anomalies[kind] += n
		}
	}
	var err error
	f.Witnesses, err = p.witnesses(input, f.Exhausted)
	return f, err
}
