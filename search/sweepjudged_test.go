package search_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/checker"
	"github.com/oncesim/oncesim/faults"
	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/scenarios"
	"github.com/oncesim/oncesim/search"
)

// A run of which a claim is undecided has not held: it is kept and shown as unknown.
func TestSweep_UndecidedIsUnknown(t *testing.T) {
	w := newSweeper(t)
	s := *builtin(t, w.lib, "pipeline-three")
	s.Bounds.Events = 20
	w.units = search.Units(w.lib, &s, []*model.Mode{modeNamed(t, w.lib, "at-least-once")}, nil)
	r, _ := w.read(w.file(search.Sweeping{First: 1, Last: 30}, nil, 0))
	total := r.Total()
	require.EqualValues(t, 30, total.Unknown)
	require.Zero(t, total.Held)
	require.Zero(t, total.Failed)
	groups := r.Units[0].Groups()
	require.Len(t, groups, 1)
	require.Equal(t, "unknown", groups[0].Verdict)
}

// The failures of a block stand above its line: where that is, they are, whatever became of the
// rest of the file.
func TestSweep_FailuresBeforeTheirBlock(t *testing.T) {
	w := newSweeper(t)
	file := string(w.file(search.Sweeping{First: 1, Last: 200, Workers: 3}, nil, 0))
	done, failures := map[string]bool{}, 0
	seeds := regexp.MustCompile(`"seeds":"(\d+)-`)
	seed := regexp.MustCompile(`"seed":(\d+)`)
	for line := range strings.Lines(file) {
		isBoast := strings.Contains(line, `"mode":"boast"`)
		switch {
		case strings.HasPrefix(line, `{"kind":"pass"`) && isBoast:
			done[seeds.FindStringSubmatch(line)[1]] = true
		case strings.HasPrefix(line, `{"kind":"fail"`):
			failures++
			require.False(t, done[seed.FindStringSubmatch(line)[1]], line)
		}
	}
	require.Positive(t, failures)
}

// libraryOf is a library with a topology "counted" of one operator.
func libraryOf(step func(in model.Record, st model.Value, out *model.Outputs) model.Value) (
	*scenarios.Library, *scenarios.Scenario) {
	op := model.Operator{Name: "counted", Kind: model.Stateless, Step: step}
	topology := scenarios.Pipeline
	topology.Name = "counted"
	topology.Stages = []model.Stage{{Name: "op", Operator: &op, From: []string{"input"}}}
	lib := scenarios.Builtin()
	lib.Topologies = append(lib.Topologies, &topology)
	return lib, &scenarios.Scenario{Name: "counted", Seed: 1, Mode: lib.Modes[2],
		Topology: &topology}
}

// emit is an operator's step that passes on what it gets, and more.
func emit(more int64) func(in model.Record, st model.Value, out *model.Outputs) model.Value {
	return func(in model.Record, st model.Value, out *model.Outputs) model.Value {
		in.Value.Num += more
		out.Emit(in.Key, in.Value)
		return st
	}
}

// contentOf is the digest of what a unit is.
func contentOf(t *testing.T, lib *scenarios.Library, s *scenarios.Scenario) string {
	sweep, err := search.NewSweep(lib, search.Units(lib, s, []*model.Mode{s.Mode}, nil),
		search.Sweeping{First: 1, Last: 1})
	require.NoError(t, err)
	return sweep.Results().Header.Units[0].Content
}

// Results of a topology of the same name and other operators are of another job.
func TestSweep_ContentKnowsTheOperators(t *testing.T) {
	lib, s := libraryOf(emit(0))
	same, like := libraryOf(emit(0))
	require.Equal(t, contentOf(t, lib, s), contentOf(t, same, like))
	other, unlike := libraryOf(emit(1))
	require.NotEqual(t, contentOf(t, lib, s), contentOf(t, other, unlike))

	var parts []*search.Results
	for _, of := range []struct {
		lib *scenarios.Library
		s   *scenarios.Scenario
	}{{lib, s}, {other, unlike}} {
		w := &sweeper{t: t, lib: of.lib, units: search.Units(of.lib, of.s,
			of.lib.Modes[2:3], nil)}
		r, _ := w.read(w.file(search.Sweeping{First: 1, Last: 5}, nil, 0))
		parts = append(parts, r)
	}
	_, err := search.MergeResults(parts)
	require.ErrorContains(t, err, "content of counted under at-least-once")
}

// The input is part of what a unit is, also what of it a run without faults does not get to.
func TestSweep_ContentKnowsTheInput(t *testing.T) {
	lib := scenarios.Builtin()
	s := *builtin(t, lib, "pipeline-three")
	s.Bounds.Events = 8
	s.Input = scenarios.InputSpec{Kind: scenarios.InputInline, Lines: []string{"a=1", "b=2", "c"}}
	seen := map[string][]string{}
	for _, last := range [][]string{{"c"}, {"d"}, {"c=1"}, {"c=2"}, {"d=1"}, {}, {"c", "c"}} {
		s.Input.Lines = append([]string{"a=1", "b=2"}, last...)
		for _, every := range []int64{0, 70_000_000} {
			s.Input.Every = every
			seen[contentOf(t, lib, &s)] = s.Input.Lines
		}
	}
	require.Len(t, seen, 14)
	named := s
	named.Name, named.Prose = "other", "The same, told in other words."
	require.Equal(t, contentOf(t, lib, &s), contentOf(t, lib, &named))
}

// Every scenario has a canary of its own.
func TestSweep_CanaryOfEachScenario(t *testing.T) {
	lib, silent := libraryOf(func(_ model.Record, st model.Value, _ *model.Outputs) model.Value {
		return st
	})
	var units []search.Unit
	for _, s := range []*scenarios.Scenario{builtin(t, lib, "pipeline-three"), silent} {
		units = append(units, search.Units(lib, s, lib.Modes[2:3], nil)...)
	}
	s, err := search.NewSweep(lib, units, search.Sweeping{First: 1, Last: 1})
	require.NoError(t, err)
	require.Contains(t, s.Results().Header.Units[0].Canary, "shows a duplicate")
	require.Contains(t, s.Results().Header.Units[1].Canary, "nothing is visible")
}

// differing sweeps with every run made again, and returns what differs.
func differing(t *testing.T, lib *scenarios.Library, s *scenarios.Scenario, last uint64) string {
	sweep, err := search.NewSweep(lib, search.Units(lib, s, lib.Modes[2:3], nil),
		search.Sweeping{First: 1, Last: last, Workers: 1, Verify: 1_000_000})
	require.NoError(t, err)
	err = sweep.Run(context.Background())
	var d *search.Differing
	if errors.As(err, &d) {
		return d.Text
	}
	require.NoError(t, err)
	require.EqualValues(t, last, sweep.Verified())
	return ""
}

// A plan that comes out another way the second time is a difference, also where the run does not.
// The operator forgets a record in one call of all, which is now and then one of such a plan.
func TestSweep_VerifiesPlans(t *testing.T) {
	var calls, odd atomic.Int64
	lib, s := libraryOf(func(in model.Record, st model.Value, out *model.Outputs) model.Value {
		if calls.Add(1) != odd.Load() {
			out.Emit(in.Key, in.Value)
		}
		return st
	})
	odd.Store(-1)
	require.Empty(t, differing(t, lib, s, 20))
	all, found := calls.Load(), false
	for at := all - 1; at > 0 && !found; at -= 9 {
		calls.Store(0)
		odd.Store(at)
		found = strings.Contains(differing(t, lib, s, 20), "two plans differ")
	}
	require.True(t, found)
}

// A trace that is judged in two ways is a difference.
func TestSweep_VerifiesVerdicts(t *testing.T) {
	for _, isMoody := range []bool{false, true} {
		lib, s := libraryOf(emit(0))
		var calls atomic.Int64
		lib.Properties = append(lib.Properties, checker.Property{Name: "moody",
			Check: func(*checker.Judge) (model.Result, string) {
				if calls.Add(1)%2 == 0 && isMoody {
					return model.Undecided, "it depends"
				}
				return model.Holds, ""
			}})
		text := differing(t, lib, s, 20)
		require.Equal(t, isMoody, text != "")
		if isMoody {
			require.Regexp(t, `^counted under at-least-once, seed 1: the same trace was judged in `+
				`two ways, \S+ and \S+moody=`, text+"moody=")
			require.Contains(t, text, "moody=")
		}
	}
}

// Of failures that are equally fast the one of the smallest seed is shown, within a block and from
// block to block, in whatever order they come.
func TestSweep_FastestOfTheSmallestSeed(t *testing.T) {
	w := newSweeper(t)
	s := builtin(t, w.lib, "pipeline-three")
	w.units = search.Units(w.lib, s, []*model.Mode{modeNamed(t, w.lib, "at-least-once")},
		[]*scenarios.Class{classNamed(t, w.lib, "crash")})
	opts := search.Sweeping{IsOpen: true, Workers: 1, Any: true, FailuresMax: 1}
	found := false
	for opts.First = 1; opts.First < 10 && !found; opts.First++ {
		var parts []*search.Results
		for k := range uint64(2) {
			opts.Shard, opts.Shards = k+1, 2
			part, _ := w.read(w.file(opts, nil, 2)) // the header and one block
			parts = append(parts, part)
		}
		block := parts[0].Header.Block
		fastest, isTied := fastestRuns(t, w, opts.First, block)
		checkFastest(t, parts[0], fastest)
		found = found || isTied
		fastest, _ = fastestRuns(t, w, opts.First, 2*block)
		for range 2 {
			slices.Reverse(parts)
			all, err := search.MergeResults(parts)
			require.NoError(t, err)
			checkFastest(t, all, fastest)
		}
	}
	require.True(t, found)
}

// checkFastest compares the fastest failures of results with what they are.
func checkFastest(t *testing.T, r *search.Results, fastest map[string]uint64) {
	t.Helper()
	require.Len(t, r.Units[0].Groups(), len(fastest))
	for _, g := range r.Units[0].Groups() {
		require.Equal(t, fastest[g.Signature], g.Fastest.Seed)
	}
}

// fastestRuns runs some seeds and says which violates something in each way in the fewest events.
// isTied reports whether one of these is neither the first of its way nor the only one as fast.
func fastestRuns(t *testing.T, w *sweeper, from, many uint64) (fastest map[string]uint64,
	isTied bool) {
	runner, err := scenarios.NewRunner(w.lib, w.units[0].Scenario)
	require.NoError(t, err)
	planner, err := search.NewPlanner(runner, w.units[0].Scenario, w.units[0].Classes, 0)
	require.NoError(t, err)
	fastest, tied := map[string]uint64{}, map[string]bool{}
	first, least := map[string]uint64{}, map[string]int64{}
	var rules []model.Rule
	for seed := from; seed < from+many; seed++ {
		rules = planner.Plan(runner, seed, rules[:0])
		res := runner.Run(seed, rules, scenarios.Options{})
		if !search.Violates(res.Verdicts) {
			continue
		}
		way := search.Signature(w.units[0].Scenario.Mode, res.Verdicts)
		switch n := res.Subject.History.End.N; {
		case first[way] == 0:
			first[way], fastest[way], least[way] = seed, seed, n
		case n < least[way]:
			fastest[way], least[way], tied[way] = seed, n, false
		case n == least[way]:
			tied[way] = first[way] != fastest[way]
		}
	}
	for way := range tied {
		isTied = isTied || tied[way]
	}
	return fastest, isTied
}

// A unit whose own faults strike in no run has put nothing to the test; of drawn plans that is not
// said.
func TestResults_IsUntested(t *testing.T) {
	w := newSweeper(t)
	s := *builtin(t, w.lib, "pipeline-three")
	mode := []*model.Mode{modeNamed(t, w.lib, "at-least-once")}
	for _, tc := range []struct {
		lines []string
		want  bool
	}{
		{[]string{"crash op/0 after effect 100000"}, true},
		{[]string{"crash op/0 after effect 100000", "crash sink/0 before ack of write 1"}, true},
		{[]string{"crash sink/0 before ack of write 1"}, false},
		{nil, false},
	} {
		var err error
		s.Faults, err = faults.ParsePlan(tc.lines...)
		require.NoError(t, err)
		w.units = search.Units(w.lib, &s, mode, nil)
		r, _ := w.read(w.file(search.Sweeping{First: 1, Last: 10}, nil, 0))
		require.Equal(t, tc.want, r.IsUntested(0), tc.lines)
	}
	w.units = search.Units(w.lib, &s, mode, []*scenarios.Class{classNamed(t, w.lib, "no-fault")})
	r, _ := w.read(w.file(search.Sweeping{First: 1, Last: 1}, nil, 0))
	require.False(t, r.IsUntested(0))
}

// panicText is what the panic of a run begins with.
var panicText = regexp.MustCompile(`seed (\d+), faults (\[.*\]): planted\n`)

// A panic names the faults of its own seed: all of them in its run, and none of another seed while
// they are drawn.
func TestSweep_PanicNamesTheFaults(t *testing.T) {
	var calls, last atomic.Int64
	lib, s := libraryOf(func(in model.Record, st model.Value, out *model.Outputs) model.Value {
		if n := calls.Add(1); n == last.Load() {
			panic("planted")
		}
		out.Emit(in.Key, in.Value)
		return st
	})
	units := search.Units(lib, s, lib.Modes[2:3], nil)
	runner, err := scenarios.NewRunner(lib, units[0].Scenario)
	require.NoError(t, err)
	planner, err := search.NewPlanner(runner, units[0].Scenario, units[0].Classes, 0)
	require.NoError(t, err)
	inPlan, inRun := 0, 0
	for at := int64(3_000); at < 3_400; at += 4 {
		calls.Store(0)
		last.Store(-1)
		sweep, err := search.NewSweep(lib, units, search.Sweeping{First: 1, Last: 500, Workers: 1})
		require.NoError(t, err)
		last.Store(calls.Load() + at)
		text := func() (text string) {
			defer func() { text = fmt.Sprint(recover()) }()
			_ = sweep.Run(context.Background())
			return ""
		}()
		last.Store(-1)
		found := panicText.FindStringSubmatch(text)
		require.Len(t, found, 3, text)
		seed, err := strconv.ParseUint(found[1], 10, 64)
		require.NoError(t, err)
		var plan faults.Plan
		for _, rule := range planner.Plan(runner, seed, nil) {
			plan = append(plan, faults.FromRule(runner.Job(), rule))
		}
		if found[2] == "[]" {
			inPlan++
			continue
		}
		inRun++
		require.Equal(t, fmt.Sprintf("%q", plan.Lines()), found[2])
	}
	require.Positive(t, inPlan)
	require.Positive(t, inRun)
}

// However long the names are, a signature fits the name of a file, and what differs differs.
func TestSignature_IsShort(t *testing.T) {
	seen := map[string]bool{}
	for _, end := range []string{"", "x", "y"} {
		name := strings.Repeat("long-", 60) + end
		text := search.Signature(&model.Mode{Name: name}, nil)
		require.Equal(t, text, search.Signature(&model.Mode{Name: name}, nil))
		require.LessOrEqual(t, len(text), 160)
		require.True(t, strings.HasPrefix(name, text[:150]))
		seen[text] = true
	}
	require.Len(t, seen, 3)
	require.Equal(t, "short_clean", search.Signature(&model.Mode{Name: "short"}, nil))
}
