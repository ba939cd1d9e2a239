package search_test

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/oncesim/oncesim/faults"
	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/scenarios"
	"github.com/oncesim/oncesim/search"
)

// manyFaults is how many faults there are among which up to three matter.
const manyFaults = 200

// choice is one fault as rapid draws it: of which message, and for how long.
type choice struct{ N, Ms int64 }

// choices draws a plan of some two hundred faults, as lists so that all of it can be left out. A
// list alone would have five elements on average, and one with a least length could not shrink.
func choices(rt *rapid.T) []choice {
	one := rapid.Custom(func(rt *rapid.T) choice {
		return choice{rapid.Int64Range(1, manyFaults).Draw(rt, "n"),
			rapid.Int64Range(1, 50).Draw(rt, "ms")}
	})
	var plan []choice
	for _, some := range rapid.SliceOfN(rapid.SliceOf(one), 40, 40).Draw(rt, "plan") {
		plan = append(plan, some...)
	}
	return plan[:min(len(plan), manyFaults)]
}

// drawnPlan is a plan that rapid has drawn, which of its faults matter, and what became of it.
type drawnPlan struct {
	plan     []choice
	culprits []int64 // values of N
	calls    int     // of the property, from its first failure on
	left     int     // faults in the smallest plan that rapid found
}

// shrinkByRapid draws plans until one is long enough, picks culprits in it, and lets rapid shrink
// that. fails judges a plan.
func shrinkByRapid(t *testing.T, seed, culprits int, fails func(d *drawnPlan, plan []choice) bool,
) *drawnPlan {
	d := &drawnPlan{}
	set(t, "rapid.seed", fmt.Sprint(seed))
	rapid.Check(&quiet{TB: t}, func(rt *rapid.T) {
		plan := choices(rt)
		if d.plan == nil && len(plan) < manyFaults {
			return
		}
		if d.plan == nil {
			d.plan, d.culprits = plan, pick(plan, seed, culprits)
		}
		d.calls++
		if fails(d, plan) {
			d.left = len(plan)
			rt.Fatalf("it fails")
		}
	})
	require.NotEmpty(t, d.plan)
	return d
}

// pick chooses different messages of a plan.
func pick(plan []choice, seed, n int) []int64 {
	var list []int64
	for i := uint64(0); len(list) < n; i++ {
		at := model.Below(model.Draw(uint64(seed), model.DrawPlan, 1<<41, i, 0), int64(len(plan)))
		if c := plan[at].N; !slices.Contains(list, c) {
			list = append(list, c)
		}
	}
	return list
}

// set sets a flag for a test.
func set(t *testing.T, name, value string) {
	t.Helper()
	f := flag.Lookup(name)
	before := f.Value.String()
	require.NoError(t, f.Value.Set(value))
	t.Cleanup(func() { _ = f.Value.Set(before) })
}

// quiet is a test that may fail: what it says and that it failed is its own business.
type quiet struct {
	testing.TB
	isFailed bool
}

func (q *quiet) Logf(string, ...any)   {}
func (q *quiet) Log(...any)            {}
func (q *quiet) Errorf(string, ...any) { q.isFailed = true }
func (q *quiet) Error(...any)          { q.isFailed = true }
func (q *quiet) Fatalf(string, ...any) { q.isFailed = true }
func (q *quiet) Fatal(...any)          { q.isFailed = true }
func (q *quiet) Fail()                 { q.isFailed = true }
func (q *quiet) FailNow()              { q.isFailed = true }
func (q *quiet) Failed() bool          { return q.isFailed }

// manyWorld is a job with a record for each message that a fault can strike. Nothing is sent again.
func manyWorld(t *testing.T, lib *scenarios.Library) *scenarios.Scenario {
	s := *builtin(t, lib, "pipeline-three")
	s.Mode = modeOf(t, lib, "none")
	s.Seed = scenarios.SeedDefault
	s.Input = scenarios.InputSpec{Kind: scenarios.InputGenerated, Records: manyFaults}
	return &s
}

func modeOf(t *testing.T, lib *scenarios.Library, name string) *model.Mode {
	t.Helper()
	for _, m := range lib.Modes {
		if m.Name == name {
			return m
		}
	}
	t.Fatalf("no mode %s", name)
	return nil
}

// strike is a fault of the n-th message.
func strike(action model.Action, n, ns int64) faults.Fault {
	return faults.Fault{Action: action, Proc: "source/0", Peer: "op/0",
		Scope: model.MessageOnChannel, Call: model.Data, N: n, For: ns}
}

// shrinkFaults shrinks a scenario up to where it leaves its faults alone and turns to its input.
func shrinkFaults(t *testing.T, lib *scenarios.Library, s *scenarios.Scenario,
	keep func(s *scenarios.Scenario, res *scenarios.Result) bool) *search.Shrunk {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	r, err := search.Shrink(ctx, lib, s, search.Shrinking{
		Keep: func(s *scenarios.Scenario, res *scenarios.Result) bool {
			if s.Input.Kind == scenarios.InputInline {
				cancel()
				return false
			}
			return keep(s, res)
		}})
	require.NoError(t, err)
	return r
}

// TestShrink_NeedsFarFewerRunsThanRapid plants one to three culprits in plans of two hundred
// faults: a run fails if all of them are in its plan. Shrinking makes few runs, leaves nothing but
// the culprits, and with -golden.full it is compared with how often rapid calls a property that
// fails in the same way, on the same plan.
func TestShrink_NeedsFarFewerRunsThanRapid(t *testing.T) {
	lib := scenarios.Builtin()
	set(t, "rapid.nofailfile", "true")
	seeds := 1
	if *full {
		seeds = 7
	}
	fails := func(d *drawnPlan, plan []choice) bool { return hasAll(plan, d.culprits) }
	var runs, calls []int64
	for seed := 1; seed <= seeds; seed++ {
		for culprits := 1; culprits <= 3; culprits++ {
			d := shrinkByRapid(t, seed, culprits, fails)
			s := manyWorld(t, lib)
			for _, c := range d.plan {
				s.Faults = append(s.Faults, strike(model.DelayMessage, c.N, c.Ms*1_000_000))
			}
			r := shrinkFaults(t, lib, s, func(s *scenarios.Scenario, _ *scenarios.Result) bool {
				return hasAll(choicesOf(s.Faults), d.culprits)
			})
			require.Len(t, r.Scenario.Faults, culprits)
			require.LessOrEqual(t, culprits, d.left)
			for _, f := range r.Scenario.Faults {
				require.Equal(t, strike(model.DelayMessage, f.N, 1_000_000), f)
			}
			runs, calls = append(runs, int64(r.Runs)), append(calls, int64(d.calls))
			t.Logf("%d culprits of %d faults, seed %d: %d runs; rapid: %d calls, %d faults left",
				culprits, len(d.plan), seed, r.Runs, d.calls, d.left)
		}
	}
	t.Logf("runs %s; rapid %s", spread(runs), spread(calls))
	require.LessOrEqual(t, median(runs), int64(200))
	require.GreaterOrEqual(t, median(calls), 10*median(runs))
}

// choicesOf is the delays of a plan as choices.
func choicesOf(plan faults.Plan) []choice {
	var list []choice
	for _, f := range plan {
		if f.Action == model.DelayMessage {
			list = append(list, choice{N: f.N})
		}
	}
	return list
}

func hasAll(plan []choice, culprits []int64) bool {
	return !slices.ContainsFunc(culprits, func(n int64) bool {
		return !slices.ContainsFunc(plan, func(c choice) bool { return c.N == n })
	})
}

// TestShrink_FindsWhatARealRunFailsBy shrinks plans of two hundred faults of a real job: of three
// messages one is lost, one doubled and one overtaken, and the others are a little late, which
// does no harm. With -golden.full rapid does the same.
func TestShrink_FindsWhatARealRunFailsBy(t *testing.T) {
	lib := scenarios.Builtin()
	set(t, "rapid.nofailfile", "true")
	seeds := 5
	if !*full {
		set(t, "rapid.shrinktime", "0s")
	}
	var runs, calls []int64
	for seed := 1; seed <= seeds; seed++ {
		runner, err := scenarios.NewRunner(lib, manyWorld(t, lib))
		require.NoError(t, err)
		wanted := ""
		signatureOf := func(d *drawnPlan, plan []choice) string {
			rules, err := realPlan(d, plan).Compile(runner.Job())
			require.NoError(t, err)
			res := runner.Run(scenarios.SeedDefault, rules, scenarios.Options{})
			return search.Signature(res.Subject.Mode, res.Verdicts)
		}
		d := shrinkByRapid(t, seed, 3, func(d *drawnPlan, plan []choice) bool {
			if wanted == "" {
				wanted = signatureOf(d, plan)
			}
			return signatureOf(d, plan) == wanted
		})
		s := manyWorld(t, lib)
		s.Faults = realPlan(d, d.plan)
		r := shrinkFaults(t, lib, s, func(s *scenarios.Scenario, res *scenarios.Result) bool {
			return search.Signature(s.Mode, res.Verdicts) == wanted
		})
		runs, calls = append(runs, int64(r.Runs)), append(calls, int64(d.calls))
		t.Logf("seed %d, %s: %d runs, %d faults left; rapid: %d calls, %d left; %s", seed, wanted,
			r.Runs, r.Faults[1], d.calls, d.left, r.Scenario.Faults.Lines())
	}
	t.Logf("runs %s; rapid %s", spread(runs), spread(calls))
	require.LessOrEqual(t, median(runs), int64(200))
	if *full {
		require.GreaterOrEqual(t, median(calls), 10*median(runs))
	}
}

// realPlan is a plan of which the culprits do harm.
func realPlan(d *drawnPlan, plan []choice) faults.Plan {
	var list faults.Plan
	for _, c := range plan {
		switch slices.Index(d.culprits, c.N) {
		case 0:
			list = append(list, strike(model.LoseMessage, c.N, 0))
		case 1:
			list = append(list, strike(model.DuplicateMessage, c.N, c.Ms*10_000))
		case 2:
			list = append(list, strike(model.ReorderMessages, c.N, c.Ms*1_000_000))
		default:
			list = append(list, strike(model.DelayMessage, c.N, c.Ms*1_000))
		}
	}
	return list
}
