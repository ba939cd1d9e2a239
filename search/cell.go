package search

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/oncesim/oncesim/faults"
	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/scenarios"
)

// Inspect is called on every run, on the worker's goroutine, with the verdicts in hand. A judge
// that compares itself with the checker hangs in here.
type Inspect func(seed uint64, rules []model.Rule, res *scenarios.Result)

// Cell runs one scenario under one class of faults.
type Cell struct {
	Library  *scenarios.Library
	Scenario *scenarios.Scenario
	Input    *model.Input // loaded already; nil: the scenario's
	Class    *scenarios.Class
	Workers  int  // 0: one a core
	Trace    bool // keep full traces for Inspect
	Inspect  func() Inspect
}

// worker is one goroutine's world and count.
type worker struct {
	runner  *scenarios.Runner
	tally   *Tally
	rules   []model.Rule
	planner *Planner // of mixed plans, once it is needed
	inspect Inspect
	opts    scenarios.Options
	seed    uint64 // of the run at hand
	broken  string // a panic of it: what, and under which seed and rules
}

// keepPanic keeps a panic of a run for the caller's goroutine, with what it takes to repeat it.
func (w *worker) keepPanic() {
	if r := recover(); r != nil {
		w.broken = fmt.Sprintf("seed %d, rules %+v: %v\n%s", w.seed, w.rules, r, debug.Stack())
	}
}

func (w *worker) run(seed uint64, rules []model.Rule) *scenarios.Result {
	w.seed = seed
	res := w.runner.Run(seed, rules, w.opts)
	w.tally.add(seed, rules, &res)
	if w.inspect != nil {
		w.inspect(seed, rules, &res)
	}
	return &res
}

func (c *Cell) worker() (*worker, error) {
	w := &worker{tally: newTally(len(c.Library.Properties)),
		opts: scenarios.Options{Trace: c.Trace}}
	var err error
	if c.Input == nil {
		w.runner, err = scenarios.NewRunner(c.Library, c.Scenario)
	} else {
		w.runner, err = scenarios.NewRunnerOn(c.Library, c.Scenario, c.Input)
	}
	if c.Inspect != nil {
		w.inspect = c.Inspect()
	}
	return w, err
}

// each calls do for 0 ≤ i < n, spread over workers in blocks, and merges what they counted. It
// stops early, without an error, when the context ends; Tally.Runs tells.
func (c *Cell) each(ctx context.Context, n int64, do func(w *worker, i int64)) (*Tally, error) {
	count := c.Workers
	if count == 0 {
		count = runtime.GOMAXPROCS(0)
	}
	const block = 16
	count = int(max(1, min(int64(count), (n+block-1)/block)))
	workers := make([]*worker, count)
	for i := range workers {
		w, err := c.worker()
		if err != nil {
			return nil, err
		}
		workers[i] = w
	}
	var next atomic.Int64
	var wait sync.WaitGroup
	for _, w := range workers {
		wait.Go(func() {
			defer w.keepPanic()
			for ctx.Err() == nil {
				from := next.Add(block) - block
				for i := from; i < min(from+block, n); i++ {
					do(w, i)
				}
				if from >= n {
					return
				}
			}
		})
	}
	wait.Wait()
	for _, w := range workers {
		if w.broken != "" {
			panic(w.broken)
		}
	}
	total := newTally(len(c.Library.Properties))
	for _, w := range workers {
		total.Merge(w.tally)
	}
	return total, nil
}

// extent runs the scenario without faults and returns what there is to anchor faults at.
func (c *Cell) extent() (*model.Extent, error) {
	w, err := c.worker()
	if err != nil {
		return nil, err
	}
	defer func() {
		if w.broken != "" {
			panic(w.broken)
		}
	}()
	defer w.keepPanic()
	w.seed = c.Scenario.Seed
	return w.extentOf(c.Scenario.Seed, nil), nil
}

// Seeds runs the scenario under a plan of the class for each seed from first to last.
func (c *Cell) Seeds(ctx context.Context, first, last uint64) (*Tally, error) {
	extent, err := c.extent()
	if err != nil {
		return nil, err
	}
	return c.each(ctx, int64(last-first)+1, func(w *worker, i int64) {
		seed := first + uint64(i)
		w.rules = c.Class.Draw(seed, extent, w.rules[:0])
		w.run(seed, w.rules)
	})
}

// Place runs the scenario under its own seed, once for every placement of one fault of the class
// and, if pairs is set, once for every such placement together with every placement of one crash:
// of the crash in the run that results from the fault, and of the fault in what is longer in the
// run that results from the crash.
func (c *Cell) Place(ctx context.Context, pairs bool) (*Tally, error) {
	extent, err := c.extent()
	if err != nil {
		return nil, err
	}
	seed := c.Scenario.Seed
	if c.Class.Action == 0 {
		return c.each(ctx, 1, func(w *worker, _ int64) { w.run(seed, nil) })
	}
	alone, before := c.Class.Places(extent), crashes.Places(extent)
	n := alone.Len()
	if pairs && c.Class.Action != model.Crash {
		n += before.Len()
	}
	return c.each(ctx, n, func(w *worker, i int64) {
		var after model.Extent
		if i >= alone.Len() {
			first := before.At(i - alone.Len())
			w.rules = append(w.rules[:0], first)
			copyExtent(&after, w.extentOf(seed, w.rules))
			seconds := c.Class.Places(&after)
			seconds.From = extent
			w.pairs(ctx, seed, first, seconds)
			return
		}
		first := alone.At(i)
		w.rules = append(w.rules[:0], first)
		res := w.run(seed, w.rules)
		if pairs {
			copyExtent(&after, &res.Subject.History.Extent)
			w.pairs(ctx, seed, first, crashes.Places(&after))
		}
	})
}

// pairs runs the scenario once for each place of a second fault.
func (w *worker) pairs(ctx context.Context, seed uint64, first model.Rule, seconds faults.Places) {
	for second := range seconds.Each {
		if ctx.Err() != nil {
			return
		}
		w.rules = append(w.rules[:0], first, second)
		w.run(seed, w.rules)
	}
}

// extentOf is what a run under rules offers to anchor faults at; the run is not counted.
func (w *worker) extentOf(seed uint64, rules []model.Rule) *model.Extent {
	res := w.runner.Run(seed, rules, scenarios.Options{})
	return &res.Subject.History.Extent
}

// crashes is the class of the second fault of a pair.
var crashes = &scenarios.Class{Name: "crash", Action: model.Crash}

// copyExtent keeps an extent beyond the next run of its world.
func copyExtent(into, from *model.Extent) {
	into.Reset(len(from.Effects))
	copy(into.Effects, from.Effects)
	copy(into.Lives, from.Lives)
	for i := range from.Calls {
		copy(into.Calls[i], from.Calls[i])
		copy(into.Messages[i], from.Messages[i])
		into.Seen[i] = append(into.Seen[i][:0], from.Seen[i]...)
	}
	into.Input = append(into.Input[:0], from.Input...)
}

// reduce drops faults from witnesses that show their anomaly without them.
func (c *Cell) reduce(t *Tally) error {
	w, err := c.worker()
	if err != nil {
		return err
	}
	for _, kind := range model.Anomalies() {
		found := t.Witnesses[kind]
		if found == nil || len(found.Rules) < 2 {
			continue
		}
		for i := range found.Rules {
			res := w.runner.Run(found.Seed, found.Rules[i:i+1], scenarios.Options{})
			if shows(&res, kind) {
				found.Rules = found.Rules[i : i+1]
				found.Events = res.Subject.History.End.N
				break
			}
		}
	}
	return nil
}

func shows(res *scenarios.Result, kind model.AnomalyKind) bool {
	for i := range res.Verdicts {
		if res.Verdicts[i].Has(kind) {
			return true
		}
	}
	return false
}
