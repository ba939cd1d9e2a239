package simtest

import (
	"fmt"
	"slices"
	"testing"
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
	panicked  *panicked    // what ended it, or nil
	differs   error        // how it differs from the same run in another world, or nil
}

func (r *run) isFailed() bool { return r.signature != "" || r.differs != nil }

// sweeper runs one seed after the other in a world.
type sweeper struct {
	u       *subject
	job     *model.Job
	runner  *scenarios.Runner
	planner *search.Planner
	rules   []model.Rule
	checked int     // runs in which something was required
	reached []int64 // of the scenario's own faults: in how many runs
}

// newSweeper lays the job out.
func (u *subject) newSweeper() (*sweeper, error) {
	runner, err := u.world()
	if err != nil {
		return nil, err
	}
	most := max(u.faultsMax, search.PlannedFaults, len(u.base.Faults))
	return &sweeper{u: u, job: runner.Job(), runner: runner, rules: make([]model.Rule, 0, most),
		reached: make([]int64, len(u.base.Faults))}, nil
}

// prepare makes the first run, in which nothing fails, and makes it twice: code that remembers
// something outside the engine may remember all of it from then on.
func (w *sweeper) prepare() (first run, err error) {
	u := w.u
	first = run{seed: u.base.Seed}
	w.guard(&first, func() {
		res := w.runner.Run(first.seed, nil, scenarios.Options{Trace: true})
		first.differs = u.difference(first.seed, nil, &res)
	})
	if first.isFailed() {
		return first, nil
	}
	var classes []*scenarios.Class
	if len(u.base.Faults) == 0 {
		if classes, err = u.faultClasses(); err != nil {
			return first, err
		}
	}
	w.planner, err = search.NewPlanner(w.runner, u.base, classes, u.faultsMax)
	return first, err
}

// guard makes a run in which a panic is a failure. The world that it leaves is not used again.
func (w *sweeper) guard(r *run, do func()) {
	if r.panicked = catch(do); r.panicked == nil {
		return
	}
	r.signature = r.panicked.signature(w.u.base.Mode)
	runner, err := w.u.world()
	if err != nil {
		panic(err) // there was one such world already
	}
	w.runner = runner
}

// run runs a seed. The first is run twice, and so are all if that is asked for.
func (w *sweeper) run(seed uint64) run {
	r := run{seed: seed}
	clear(w.rules[:cap(w.rules)])
	w.rules = w.rules[:0]
	w.guard(&r, func() {
		w.rules = w.planner.Plan(w.runner, seed, w.rules)
		isTwice := w.u.set.verify || seed == w.u.seeds.first
		res := w.runner.Run(seed, w.rules, scenarios.Options{Trace: isTwice})
		r.hash = res.Subject.History.End.Hash
		w.judge(&r, &res)
		if isTwice {
			r.differs = w.u.difference(seed, w.rules, &res)
		}
	})
	if r.panicked != nil {
		w.rules = drawn(w.rules)
	}
	if r.isFailed() {
		r.rules = slices.Clone(w.rules)
	}
	return r
}

// drawn is a plan as far as it was drawn when a run was ended by a panic: a planner runs what it
// has, to see where the next fault can strike, and its faults are then in the list that it was
// given, behind the end.
func drawn(rules []model.Rule) []model.Rule {
	if len(rules) > 0 {
		return rules
	}
	all := rules[:cap(rules)]
	n := slices.IndexFunc(all, func(rule model.Rule) bool { return rule.Action == 0 })
	if n < 0 {
		return all
	}
	return all[:n]
}

func (w *sweeper) judge(r *run, res *scenarios.Result) {
	for i, n := range res.Subject.History.Reached {
		if i < len(w.reached) && n != 0 {
			w.reached[i]++
		}
	}
	s := w.u.with(w.job, r.seed, w.rules)
	required := w.u.required(s, res)
	if len(required) > 0 {
		w.checked++
	}
	if broken := w.u.broken(res, required); len(broken) > 0 {
		r.signature = search.Signature(s.Mode, broken)
	}
}

// differing is the error that two runs of one scenario differ.
type differing struct{ text string }

func (d *differing) Error() string { return d.text }

// hashesDiffer is a differing of two runs, with more about it.
func hashesDiffer(one, two uint64, more string) error {
	return &differing{fmt.Sprintf("two runs differ, hashes %016x and %016x\n%s", one, two, more)}
}

// difference runs the same in a world of its own and says how it differs; nil: not at all.
func (u *subject) difference(seed uint64, rules []model.Rule, res *scenarios.Result) error {
	other, err := u.world()
	if err != nil {
		panic(err) // there is one such world already
	}
	again := other.Run(seed, rules, scenarios.Options{Trace: true})
	one, two := res.Subject.History.End.Hash, again.Subject.History.End.Hash
	if one == two {
		return nil
	}
	return hashesDiffer(one, two, report.Difference(other.Job(), res.Trace, again.Trace))
}

const (
	// toldMax is how many kinds of failure are reported in full.
	toldMax = 3
	// subtestsMax is how many seeds have a subtest each. Of those behind them only one has that
	// fails in a new way: a million lines say no more.
	subtestsMax = 1000
)

// kind is one way to fail.
type kind struct {
	signature string
	count     int64
	like      string // what was told of it: a seed or a file; "": nothing yet
}

// telling is a sweep whose failures are told while it goes on.
type telling struct {
	u      *subject
	w      *sweeper
	t      *testing.T
	runs   int64
	full   int // kinds that were reported in full
	kinds  []*kind
	hashes []seedHash
	isOver bool // a run differs from its repetition: nothing that follows means anything
}

// sweep runs the seeds, or those for which there is time, and tells what fails.
func (u *subject) sweep(t *testing.T) {
	t.Helper()
	w, err := u.newSweeper()
	if err != nil {
		t.Fatalf("%v", err)
	}
	u.hurry(t)
	first, err := w.prepare()
	if err != nil {
		t.Fatalf("%v", err)
	}
	s := &telling{u: u, w: w, t: t}
	if first.isFailed() {
		s.fail(t, &failure{u: u, test: u.test, job: w.job, run: &first}, &kind{})
		return
	}
	if u.seeds.says != "" {
		t.Logf("%s is the seed %d", u.seeds.says, u.seeds.first)
	}
	isLate := s.seeds()
	if !s.isOver {
		s.repeatFirst()
		s.often()
	}
	s.complain(isLate)
}

// hurry ends a sweep before "go test" ends the program.
func (u *subject) hurry(t interface{ Deadline() (time.Time, bool) }) {
	if deadline, ok := t.Deadline(); ok {
		end := endBefore(deadline, time.Now())
		u.seeds = u.seeds.endBy(end)
		u.deadline = end.Add(deadline.Sub(end) / 2)
	}
}

// seeds runs one seed after the other, and reports whether there was no time for all of them.
func (s *telling) seeds() (isLate bool) {
	s.t.Helper()
	seeds := s.u.seeds
	for seed := seeds.first; ; seed++ {
		r := s.w.run(seed)
		s.tell(&r)
		if seed == seeds.last || s.isOver {
			return false
		}
		if !seeds.until.IsZero() && !time.Now().Before(seeds.until) {
			return true
		}
	}
}

// tell has a subtest for a seed, and says there what is wrong with it.
func (s *telling) tell(r *run) {
	s.t.Helper()
	s.runs++
	if s.runs <= repeatedMax && r.panicked == nil {
		s.hashes = append(s.hashes, seedHash{seed: r.seed, hash: r.hash})
	}
	k := s.kindOf(r)
	isNew := r.differs != nil || r.signature != "" && k.like == ""
	if s.runs > subtestsMax && !isNew {
		return
	}
	name := s.u.subtest(fmt.Sprintf("seed=%d", r.seed))
	s.t.Run(name, func(t *testing.T) {
		t.Helper()
		f := &failure{u: s.u, test: s.u.test + "/" + name, job: s.w.job, run: r}
		if r.isFailed() {
			s.fail(t, f, k)
		} else if s.u.set.verbose {
			t.Logf("%s", f.line())
		}
	})
}

// kindOf counts a run that fails among those that fail in this way.
func (s *telling) kindOf(r *run) *kind {
	if r.signature == "" {
		return nil
	}
	i := slices.IndexFunc(s.kinds, func(k *kind) bool { return k.signature == r.signature })
	if i < 0 {
		i = len(s.kinds)
		s.kinds = append(s.kinds, &kind{signature: r.signature})
	}
	s.kinds[i].count++
	return s.kinds[i]
}

// fail reports a failure: in full if it is the first in this way.
func (s *telling) fail(t *testing.T, f *failure, k *kind) {
	t.Helper()
	f.again()
	switch file := s.u.shown[f.run.signature]; {
	case f.run.differs != nil: // see below
	case k.like == "" && file != "":
		k.like = file
		t.Errorf("%s; it fails as %s does", f.line(), k.like)
	case k.like != "":
		t.Errorf("%s; it fails as %s does", f.line(), k.like)
	case s.full == toldMax:
		k.like = fmt.Sprintf("seed %d", f.run.seed)
		t.Errorf("%s\n%s", f.line(), f.reproduce())
	default:
		k.like = fmt.Sprintf("seed %d", f.run.seed)
		s.full++
		if text, saved := f.full(); f.run.differs == nil {
			t.Errorf("%s", text)
			f.save(t, saved)
		}
	}
	if f.run.differs != nil {
		s.isOver = true
		t.Errorf("%s%s", describe(f.scenario(), f.run.differs), f.reproduce())
	}
	if p := f.run.panicked; p != nil && s.u.set.verbose {
		t.Logf("%s", p.stack)
	}
}

// repeatFirst runs the first seed once more in the world that has run all the others.
func (s *telling) repeatFirst() {
	s.t.Helper()
	if s.runs < 2 || len(s.hashes) == 0 || s.hashes[0].seed != s.u.seeds.first {
		return
	}
	r := s.w.run(s.u.seeds.first)
	if one := s.hashes[0].hash; r.differs == nil && r.panicked == nil && one != r.hash {
		r.differs = hashesDiffer(one, r.hash,
			fmt.Sprintf("the other was made after %d runs of other seeds\n", s.runs-1))
	}
	if r.differs != nil {
		f := &failure{u: s.u, test: s.u.test, job: s.w.job, run: &r}
		f.run.rules = slices.Clone(s.w.rules)
		s.t.Errorf("%sreproduce: %s\n", describe(f.scenario(), r.differs),
			commandOf(s.u.test, []string{fmt.Sprintf("-sim.seeds=%d-%d", s.u.seeds.first,
				s.u.seeds.first+uint64(s.runs)-1)}))
	}
}

// often says of each kind of failure how often it is to be expected.
func (s *telling) often() {
	s.t.Helper()
	for _, k := range s.kinds {
		if s.runs < 2 || k.like == "" {
			continue
		}
		low, high := search.Wilson(k.count, s.runs)
		s.t.Logf("how often: %d of %d seeds fail as %s does, %s %% (95 %% interval: %s to %s %%)",
			k.count, s.runs, k.like, percent(float64(k.count)/float64(s.runs)), percent(low),
			percent(high))
	}
}

// percent writes a share with as many digits as say something.
func percent(share float64) string {
	if share > 0 && share < 0.01 {
		return fmt.Sprintf("%.2f", 100*share)
	}
	return fmt.Sprintf("%.0f", 100*share)
}

// complain says what is wrong with all of the runs together.
func (s *telling) complain(isLate bool) {
	s.t.Helper()
	u, w := s.u, s.w
	if text := u.seeds.left(uint64(s.runs)); isLate && text != "" {
		s.t.Errorf("%s", text)
	} else if isLate {
		s.t.Logf("%d seeds were run in the time", s.runs)
	}
	for i, n := range w.reached {
		if n == 0 {
			s.t.Errorf("%q is not reached under any seed, so that it tests nothing",
				u.base.Faults[i])
		}
	}
	if w.checked == 0 && len(s.kinds) == 0 && !s.isOver {
		s.t.Errorf("nothing was required of any of %d runs: under these faults %s claims nothing; "+
			"name properties with Holds", s.runs, u.base.Mode.Name)
	}
	if text := u.unlikeBefore(s.hashes); text != "" && !s.isOver {
		s.t.Errorf("%s", text)
	}
}
