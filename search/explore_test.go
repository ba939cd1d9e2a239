package search_test

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/scenarios"
	"github.com/oncesim/oncesim/search"
)

// smallPipeline is the pipeline on its first records, under a mode.
func smallPipeline(mode *model.Mode, records int) *scenarios.Scenario {
	return &scenarios.Scenario{Name: "pipeline", Topology: &scenarios.Pipeline, Mode: mode,
		Seed: scenarios.SeedDefault, Input: scenarios.InputSpec{Records: records}}
}

// outcomes are the distinct runs of a search, and in what ways they failed.
type outcomes struct {
	mu     sync.Mutex
	hashes map[uint64]bool
	fails  map[string]bool
	kinds  map[model.AnomalyKind]bool
}

func newOutcomes() *outcomes {
	return &outcomes{hashes: map[uint64]bool{}, fails: map[string]bool{},
		kinds: map[model.AnomalyKind]bool{}}
}

func (o *outcomes) take(_ uint64, _ []model.Rule, res *scenarios.Result) {
	signature := search.Signature(res.Subject.Mode, res.Verdicts)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.hashes[res.Subject.History.End.Hash] = true
	o.fails[signature] = true
	for i := range res.Verdicts {
		for _, a := range res.Verdicts[i].Anomalies {
			o.kinds[a.Kind] = true
		}
	}
}

func (o *outcomes) inspect() search.Inspect { return o.take }

// everything runs every list of at most so many faults, each at every place that the run under
// those before it offers: also where it strikes before them, and where runs were the same.
func everything(t *testing.T, s *scenarios.Scenario, classes []*scenarios.Class, most int) (
	o *outcomes, runs int64) {
	r, err := scenarios.NewRunner(scenarios.Builtin(), s)
	require.NoError(t, err)
	o = newOutcomes()
	var visit func(rules []model.Rule)
	visit = func(rules []model.Rule) {
		res := r.Run(s.Seed, rules, scenarios.Options{})
		o.take(s.Seed, rules, &res)
		runs++
		if len(rules) == most {
			return
		}
		var next []model.Rule
		for _, class := range classes {
			next = slices.AppendSeq(next, class.Places(&res.Subject.History.Extent).Each)
		}
		for _, rule := range next {
			visit(append(slices.Clone(rules), rule))
		}
	}
	visit(nil)
	return o, runs
}

func classesNamed(t *testing.T, lib *scenarios.Library, names ...string) (list []*scenarios.Class) {
	for _, name := range names {
		i := slices.IndexFunc(lib.Classes, func(c *scenarios.Class) bool { return c.Name == name })
		require.NotEqual(t, -1, i, name)
		list = append(list, lib.Classes[i])
	}
	return list
}

// isExplored reports whether a mode is explored here: without -golden.full no variant is, and under
// the race detector one mode, which has all that workers share.
func isExplored(mode *model.Mode) bool {
	return *full || !mode.IsVariant && (!underRace || mode.Name == "at-least-once")
}

// What is passed over is not missed: exploring comes to the same runs, and to the same failures, as
// running every list of places there is, and makes fewer runs.
func TestExplore_MissesNothing(t *testing.T) {
	lib := scenarios.Builtin()
	for _, mode := range lib.Modes {
		if !isExplored(mode) {
			continue
		}
		missesNothing(t, lib, mode, 2, "crash")
		if mode.Name != "at-most-once" && !*full {
			continue
		}
		missesNothing(t, lib, mode, 3, "crash")
		for _, class := range lib.Classes {
			if class.Action != 0 && class.Vary == nil && class.Applies(mode) &&
				class.Action != model.Crash {
				missesNothing(t, lib, mode, 2, class.Name, "crash")
			}
		}
	}
}

func missesNothing(t *testing.T, lib *scenarios.Library, mode *model.Mode, most int,
	names ...string) {
	s, classes := smallPipeline(mode, 1), classesNamed(t, lib, names...)
	want, all := everything(t, s, classes, most)
	got := newOutcomes()
	x, err := search.Explore(context.Background(), lib, s,
		search.Exploring{Classes: classes, Faults: most, Inspect: got.inspect})
	require.NoError(t, err)
	name := fmt.Sprintf("%s, %d of %v", mode.Name, most, names)
	require.True(t, x.IsExhausted, name)
	require.Equal(t, want.fails, got.fails, name)
	require.True(t, maps.Equal(want.hashes, got.hashes), "%s: %d runs, not %d", name,
		len(got.hashes), len(want.hashes))
	require.EqualValues(t, len(want.hashes), x.States, name)
	require.LessOrEqual(t, x.Runs, all, name)
}

// One run with all places as probes says of each crash and pause where it strikes when it is tried,
// and nothing else comes of it.
func TestExplore_ProbesSayWhereItStrikes(t *testing.T) {
	lib := scenarios.Builtin()
	for _, mode := range lib.Modes {
		s := smallPipeline(mode, 2)
		r, err := scenarios.NewRunner(lib, s)
		require.NoError(t, err)
		res := r.Run(s.Seed, nil, scenarios.Options{})
		plain := res.Subject.History.End
		var places []model.Rule
		for _, class := range classesNamed(t, lib, "crash", "zombie") {
			places = slices.AppendSeq(places,
				class.Places(&res.Subject.History.Extent).Each)
		}
		res = r.Run(s.Seed, places, scenarios.Options{Probes: len(places)})
		require.Equal(t, plain, res.Subject.History.End)
		probed := slices.Clone(res.Subject.History.Reached)
		for i := range places {
			res := r.Run(s.Seed, places[i:i+1], scenarios.Options{})
			require.Equal(t, res.Subject.History.Reached[0], probed[i], "%s: %s", mode.Name,
				describe(r.Job(), places[i:i+1]))
		}
	}
}

// goldenRuns is how many runs, and how many distinct ones, two crashes on three records come to.
// Where a change of a mode moves them, they are to be looked at and written anew.
var goldenRuns = map[string][2]int64{
	"none":                  {403, 361},
	"at-most-once":          {1055, 1004},
	"at-least-once":         {1785, 1733},
	"acker":                 {2398, 2340},
	"idempotent":            {1785, 1733},
	"idempotent-by-key":     {1893, 1839},
	"dedup-id-first":        {3720, 3637},
	"dedup-id-last":         {3672, 3592},
	"dedup-weak":            {2612, 2546},
	"dedup":                 {2635, 2569},
	"independent-snapshots": {3833, 3770},
	"snapshot-lone-restart": {14392, 14315},
	"snapshot-counting":     {5796, 5719},
	"snapshot":              {5796, 5719},
	"snapshot-first-wins":   {5796, 5719},
	"snapshot-upsert":       {5796, 5719},
	"snapshot-wal-split":    {8939, 8835},
	"snapshot-wal":          {7997, 7899},
	"micro-batch-plain":     {4238, 4161},
	"micro-batch":           {4238, 4161},
	"two-phase-commit":      {12165, 12046},
}

// Two crashes anywhere in the pipeline on three records, exhausted for every mode. A mode that
// claims something keeps it.
func TestExplore_TwoCrashes(t *testing.T) {
	lib := scenarios.Builtin()
	for _, mode := range lib.Modes {
		if !isExplored(mode) {
			continue
		}
		x, err := search.Explore(context.Background(), lib, smallPipeline(mode, 3),
			search.Exploring{Faults: 2})
		require.NoError(t, err)
		require.True(t, x.IsExhausted)
		require.Equal(t, goldenRuns[mode.Name], [2]int64{x.Runs, x.States}, mode.Name)
		for i := range lib.Properties {
			name := fmt.Sprintf("%s: %s", mode.Name, lib.Properties[i].Name)
			require.False(t, x.IsBroken(i), name)
			require.False(t, x.IsUnsure(i), name)
		}
	}
}

// A plan drawn at random, of no more crashes than were placed, under the same seed, shows nothing
// that no placement shows. Nor does it under further seeds, where those were explored.
func TestExplore_RandomPlansShowNothingElse(t *testing.T) {
	lib := scenarios.Builtin()
	plans := uint64(300)
	if *full {
		plans = 20_000
	}
	for _, mode := range lib.Modes {
		if !isExplored(mode) {
			continue
		}
		s := smallPipeline(mode, 2)
		r, err := scenarios.NewRunner(lib, s)
		require.NoError(t, err)
		planner, err := search.NewPlanner(r, s, classesNamed(t, lib, "crash"), 2)
		require.NoError(t, err)
		for seed := s.Seed; seed < s.Seed+2; seed++ {
			placed := newOutcomes()
			_, err := search.Explore(context.Background(), lib, s, search.Exploring{
				Faults: 2, First: seed, Last: seed, HasSeeds: true, Inspect: placed.inspect})
			require.NoError(t, err)
			drawn := newOutcomes()
			var rules []model.Rule
			for plan := range plans {
				rules = planner.Plan(r, plan, rules[:0])
				res := r.Run(seed, rules, scenarios.Options{})
				drawn.take(seed, rules, &res)
				require.True(t, placed.hashes[res.Subject.History.End.Hash], "%s, seed %d: %s",
					mode.Name, seed, describe(r.Job(), rules))
			}
			for kind := range drawn.kinds {
				require.True(t, placed.kinds[kind], "%s: %s", mode.Name, kind)
			}
		}
	}
}

// The result depends neither on the number of workers nor on when it was interrupted by a budget.
func TestExplore_AnyNumberOfWorkers(t *testing.T) {
	lib := scenarios.Builtin()
	s := smallPipeline(lib.Modes[2], 2)
	for _, runsMax := range []int64{0, 1, 20, 500} {
		var want *search.Exploration
		for _, workers := range []int{1, 2, 5} {
			x, err := search.Explore(context.Background(), lib, s, search.Exploring{Faults: 2,
				RunsMax: runsMax, Workers: workers, First: 1, Last: 2, HasSeeds: true})
			require.NoError(t, err)
			require.Equal(t, runsMax == 0, x.IsExhausted)
			if runsMax > 0 {
				require.Equal(t, runsMax, x.Runs)
				require.NotEmpty(t, x.Left)
			}
			if x.Workers = 0; want == nil {
				want = x
				continue
			}
			require.Equal(t, want, x, "%d workers, at most %d runs", workers, runsMax)
		}
	}
}

// Interrupted, it keeps what is done and says that this is not all.
func TestExplore_Interrupted(t *testing.T) {
	lib := scenarios.Builtin()
	ctx, cancel := context.WithCancel(context.Background())
	x, err := search.Explore(ctx, lib, smallPipeline(lib.Modes[2], 4), search.Exploring{Faults: 3,
		Progress: func(runs, known int64) {
			if runs > 100 {
				cancel()
			}
		}})
	require.NoError(t, err)
	require.False(t, x.IsExhausted)
	require.Equal(t, "interrupted", x.Left)
	require.Greater(t, x.Runs, int64(100))
	require.Less(t, x.Runs, int64(10_000))
	require.Positive(t, x.All.Counts[0].Holds)
}

// What a mode claims, it claims of the runs whose faults it tolerates. The others are counted, and
// break nothing.
func TestExplore_OutsideTheEnvelope(t *testing.T) {
	lib := scenarios.Builtin()
	mode := lib.Modes[2]
	require.NotContains(t, mode.Tolerates, "truncate")
	x, err := search.Explore(context.Background(), lib, smallPipeline(mode, 3), search.Exploring{
		Classes: classesNamed(t, lib, "crash", "truncate"), Faults: 2})
	require.NoError(t, err)
	var broken []string
	for i := range lib.Properties {
		all, inside := x.All.Counts[i], x.Inside.Counts[i]
		require.Less(t, inside.Holds+inside.Violated+inside.Undecided, x.States)
		require.Equal(t, x.States, all.Holds+all.Violated+all.Undecided)
		if x.Claims(i) && all.Violated > 0 {
			broken = append(broken, lib.Properties[i].Name)
		}
		require.False(t, x.IsBroken(i), lib.Properties[i].Name)
	}
	require.Contains(t, broken, "at-least-once", "a truncated record is lost")

	claims := *mode // of something that it does not keep
	claims.Claims = append(slices.Clone(mode.Claims), "exactly-once")
	x, err = search.Explore(context.Background(), lib, smallPipeline(&claims, 3),
		search.Exploring{})
	require.NoError(t, err)
	for i := range lib.Properties {
		require.Equal(t, lib.Properties[i].Name == "exactly-once", x.IsBroken(i))
	}
}

// Classes that change the scenario stand alone, and those that say nothing of a mode are refused.
func TestExplore_Classes(t *testing.T) {
	lib := scenarios.Builtin()
	s := smallPipeline(lib.Modes[2], 2)
	_, err := search.Explore(context.Background(), lib, s, search.Exploring{
		Classes: classesNamed(t, lib, "crash", "short-horizon")})
	require.EqualError(t, err, "class short-horizon changes the scenario, and stands alone: "+
		"explore it by itself")
	_, err = search.Explore(context.Background(), lib, s, search.Exploring{
		Classes: classesNamed(t, lib, "lose-barrier")})
	require.EqualError(t, err, "class lose-barrier says nothing of mode at-least-once")
	x, err := search.Explore(context.Background(), lib, s, search.Exploring{
		Classes: classesNamed(t, lib, "no-fault"), Faults: 2})
	require.NoError(t, err)
	require.EqualValues(t, 1, x.Runs)
	require.True(t, x.IsExhausted)
}

// Seeds are those that are given, 0 among them; none given: the scenario's.
func TestExplore_Seeds(t *testing.T) {
	lib := scenarios.Builtin()
	s := smallPipeline(lib.Modes[2], 1)
	s.Seed = 7
	for _, c := range []struct {
		opts  search.Exploring
		seeds []uint64
		err   string
	}{
		{search.Exploring{}, []uint64{7}, ""},
		{search.Exploring{HasSeeds: true}, []uint64{0}, ""},
		{search.Exploring{First: 2, Last: 4, HasSeeds: true}, []uint64{2, 3, 4}, ""},
		{search.Exploring{First: math.MaxUint64, Last: math.MaxUint64, HasSeeds: true},
			[]uint64{math.MaxUint64}, ""},
		{search.Exploring{First: 5, Last: 4, HasSeeds: true}, nil,
			"seeds 5-4: the last is before the first"},
		{search.Exploring{First: 5, Last: 9}, nil, "seeds 5-9 are given, and HasSeeds is not"},
	} {
		seen := map[uint64]bool{}
		c.opts.Workers, c.opts.Classes = 1, classesNamed(t, lib, "no-fault")
		c.opts.Inspect = func() search.Inspect {
			return func(seed uint64, _ []model.Rule, _ *scenarios.Result) { seen[seed] = true }
		}
		x, err := search.Explore(context.Background(), lib, s, c.opts)
		if c.err != "" {
			require.EqualError(t, err, c.err)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, c.seeds, slices.Sorted(maps.Keys(seen)))
		require.Equal(t, c.seeds[0], x.First)
		require.Equal(t, c.seeds[len(c.seeds)-1], x.Last)
	}
}

// A run that is met under faults that the mode does not tolerate, and then under others that it
// does, is one of those of which it claims something.
func TestExplore_InsideWhoeverMeetsItFirst(t *testing.T) {
	lib := scenarios.Builtin()
	tolerated := classesNamed(t, lib, "lose-message")
	other := *tolerated[0]
	other.Name = "other"
	mode := lib.Modes[2]
	require.Contains(t, mode.Tolerates, "lose-message")
	explore := func(classes ...*scenarios.Class) *search.Exploration {
		x, err := search.Explore(context.Background(), lib, smallPipeline(mode, 2),
			search.Exploring{Classes: classes, Workers: 1})
		require.NoError(t, err)
		return x
	}
	want := explore(tolerated[0])
	require.Greater(t, want.Inside.Runs, int64(1))
	require.Equal(t, want.Inside, explore(&other, tolerated[0]).Inside)
	require.EqualValues(t, 1, explore(&other).Inside.Runs)
}
