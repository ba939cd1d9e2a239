package search

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"

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

	inside *Tally // see Exploration
	extent model.Extent
	past   map[model.Rule]bool
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
	w.seen(seed, rules, &res)
	return &res
}

// seen counts a run.
func (w *worker) seen(seed uint64, rules []model.Rule, res *scenarios.Result) {
	w.tally.add(seed, rules, res)
	if w.inspect != nil {
		w.inspect(seed, rules, res)
	}
}

func (c *Cell) worker() (*worker, error) {
	w := &worker{tally: newTally(len(c.Library.Properties)),
		inside: newTally(len(c.Library.Properties)), past: map[model.Rule]bool{},
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
	workers, err := c.spread(ctx, n, 16, do)
	if err != nil {
		return nil, err
	}
	total := newTally(len(c.Library.Properties))
	for _, w := range workers {
		total.Merge(w.tally)
	}
	return total, nil
}

// spread calls do for 0 ≤ i < n, spread over workers in blocks of a size, and returns the workers
// with what they counted. It stops early when the context ends.
func (c *Cell) spread(ctx context.Context, n, block int64, do func(w *worker, i int64)) (
	[]*worker, error) {
	count := c.Workers
	if count == 0 {
		count = runtime.GOMAXPROCS(0)
	}
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
	return workers, nil
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
	return w.extentOf(c.Scenario.Seed, nil), nil
}

// seedsMax is how many seeds a cell can have: runs are counted in an int64, and taken by the block.
const seedsMax = 1 << 62

// countSeeds is how many seeds there are from first to last.
func countSeeds(first, last uint64) (int64, error) {
	if err := checkSeeds(first, last); err != nil {
		return 0, err
	}
	if last-first >= seedsMax {
		return 0, fmt.Errorf("seeds %d-%d are too many: at the most %d can be counted", first, last,
			int64(seedsMax))
	}
	return int64(last-first) + 1, nil
}

// checkSeeds refuses a range that ends before it begins.
func checkSeeds(first, last uint64) error {
	if last < first {
		return fmt.Errorf("seeds %d-%d: the last is before the first", first, last)
	}
	return nil
}

// Seeds runs the scenario under a plan of the class for each seed from first to last.
func (c *Cell) Seeds(ctx context.Context, first, last uint64) (*Tally, error) {
	n, err := countSeeds(first, last)
	if err != nil {
		return nil, err
	}
	extent, err := c.extent()
	if err != nil {
		return nil, err
	}
	return c.each(ctx, n, func(w *worker, i int64) {
		seed := first + uint64(i)
		w.rules = c.Class.Draw(seed, extent, w.rules[:0])
		w.run(seed, w.rules)
	})
}

// Place runs the scenario under its own seed, once for every placement of one fault of the class
// and, if pairs is set, once for every plan of such a fault and a crash, whichever strikes first.
// A crash that has several names, after one effect and before the next, is one.
func (c *Cell) Place(ctx context.Context, pairs bool) (*Tally, error) {
	if c.Class.Action == 0 {
		return c.each(ctx, 1, func(w *worker, _ int64) { w.run(c.Scenario.Seed, nil) })
	}
	e := &explorer{cell: c, classes: []*scenarios.Class{c.Class}, most: 1, budget: unlimited}
	if pairs {
		e.most = 2
	}
	if pairs && c.Class.Action != model.Crash {
		e.classes, e.isOnce = append(e.classes, crashes), true
	}
	e.count = func(w *worker, p *plan, class int, res *scenarios.Result) {
		if class == 0 || p.uses[0] > 0 { // a crash alone is not of the class
			w.seen(e.seed, w.rules, res)
		}
	}
	e.tally, e.inside = newTally(len(c.Library.Properties)), newTally(len(c.Library.Properties))
	_, err := e.tree(ctx, c.Scenario.Seed)
	return e.tally, err
}

// extentOf is what a run under rules offers to anchor faults at; the run is not counted.
func (w *worker) extentOf(seed uint64, rules []model.Rule) *model.Extent {
	w.seed, w.rules = seed, append(w.rules[:0], rules...)
	return w.runner.Extent(seed, w.rules)
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

// reduce drops faults from witnesses that show their anomaly without them. One run is the witness
// of many anomalies; what each of its faults shows alone is run once.
func (c *Cell) reduce(t *Tally) error {
	w, err := c.worker()
	if err != nil {
		return err
	}
	type single struct {
		seed uint64
		rule model.Rule
	}
	shown := map[single]*Tally{}
	for _, kind := range model.Anomalies() {
		found := t.Witnesses[kind]
		if found == nil || len(found.Rules) < 2 {
			continue
		}
		for i, rule := range found.Rules {
			alone := shown[single{found.Seed, rule}]
			if alone == nil {
				alone = newTally(len(c.Library.Properties))
				rules := found.Rules[i : i+1]
				res := w.runner.Run(found.Seed, rules, scenarios.Options{})
				alone.add(found.Seed, rules, &res)
				shown[single{found.Seed, rule}] = alone
			}
			if smaller := alone.Witnesses[kind]; smaller != nil {
				t.Witnesses[kind] = smaller
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
