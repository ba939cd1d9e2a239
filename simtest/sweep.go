package simtest

import (
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/report"
	"github.com/oncesim/oncesim/scenarios"
	"github.com/oncesim/oncesim/search"
)

// run is what became of one seed.
type run struct {
	seed      uint64
	hash      uint64
	signature string       // of what it breaks; "": nothing
	rules     []model.Rule // where it fails
	differs   string       // from the same run in another world: how
	panicked  string       // the value, where an operator or a mode panicked
	stack     string
}

func (r *run) isFailed() bool { return r.signature != "" || r.differs != "" || r.panicked != "" }

// swept is what became of a range of seeds.
type swept struct {
	job     *model.Job
	runs    []run
	checked int     // runs in which something was required
	reached []int64 // of the scenario's own faults: in how many runs
}

// count is in how many runs a failure was seen.
func (w *swept) count(signature string) (n int64) {
	for i := range w.runs {
		if w.runs[i].signature == signature {
			n++
		}
	}
	return n
}

// sweeper runs one seed after the other in a world.
type sweeper struct {
	u       *subject
	runner  *scenarios.Runner
	planner *search.Planner
	rules   []model.Rule
	swept   swept
}

// newSweeper lays the job out. Its first run, in which nothing fails, is made twice: code that
// remembers something outside the engine may remember all of it from then on.
func (u *subject) newSweeper() (*sweeper, error) {
	w := &sweeper{u: u}
	var err error
	if w.runner, err = u.world(); err != nil {
		return nil, err
	}
	w.swept.job = w.runner.Job()
	w.swept.reached = make([]int64, len(u.base.Faults))
	res := w.runner.Run(u.base.Seed, nil, scenarios.Options{Trace: true})
	if text := u.difference(u.base.Seed, nil, &res); text != "" {
		return nil, fmt.Errorf("%s under %s, seed %d: %s%s", u.base.Name, u.base.ModeText(),
			u.base.Seed, text, differsBecause)
	}
	var classes []*scenarios.Class
	if len(u.base.Faults) == 0 {
		if classes, err = u.faultClasses(); err != nil {
			return nil, err
		}
	}
	w.planner, err = search.NewPlanner(w.runner, u.base, classes, u.faultsMax)
	return w, err
}

// sweep runs all seeds of the range, or those for which there is time. A run that differs from its
// repetition is the last: nothing that follows would mean anything.
func (w *sweeper) sweep() *swept {
	seeds := w.u.seeds
	for seed := seeds.first; ; seed++ {
		r := w.run(seed)
		w.swept.runs = append(w.swept.runs, r)
		isLate := !seeds.until.IsZero() && !time.Now().Before(seeds.until)
		if seed == seeds.last || isLate || r.differs != "" || r.panicked != "" {
			return &w.swept
		}
	}
}

// run runs a seed. The first is run twice, and so are all if that is asked for.
func (w *sweeper) run(seed uint64) (r run) {
	r.seed = seed
	defer func() {
		if v := recover(); v != nil {
			r.panicked, r.stack = fmt.Sprint(v), string(debug.Stack())
			r.rules = slices.Clone(w.rules)
		}
	}()
	w.rules = w.rules[:0]
	w.rules = w.planner.Plan(w.runner, seed, w.rules)
	isTwice := w.u.set.verify || seed == w.u.seeds.first
	res := w.runner.Run(seed, w.rules, scenarios.Options{Trace: isTwice})
	r.hash = res.Subject.History.End.Hash
	w.judge(&r, &res)
	if isTwice {
		r.differs = w.u.difference(seed, w.rules, &res)
	}
	if r.isFailed() {
		r.rules = slices.Clone(w.rules)
	}
	return r
}

func (w *sweeper) judge(r *run, res *scenarios.Result) {
	for i, n := range res.Subject.History.Reached {
		if i < len(w.swept.reached) && n != 0 {
			w.swept.reached[i]++
		}
	}
	s := w.u.with(w.swept.job, r.seed, w.rules)
	required := w.u.required(s, res)
	if len(required) > 0 {
		w.swept.checked++
	}
	if broken := w.u.broken(res, required); len(broken) > 0 {
		r.signature = search.Signature(s.Mode, broken)
	}
}

// difference runs the same in a world of its own and says how it differs; "": not at all.
func (u *subject) difference(seed uint64, rules []model.Rule, res *scenarios.Result) string {
	other, err := u.world()
	if err != nil {
		panic(err) // there is one such world already
	}
	again := other.Run(seed, rules, scenarios.Options{Trace: true})
	one, two := res.Subject.History.End.Hash, again.Subject.History.End.Hash
	if one == two {
		return ""
	}
	return fmt.Sprintf("two runs differ, hashes %016x and %016x\n%s", one, two,
		report.Difference(other.Job(), res.Trace, again.Trace))
}
