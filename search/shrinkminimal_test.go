package search_test

import (
	"bytes"
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/faults"
	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/scenarios"
	"github.com/oncesim/oncesim/search"
	"github.com/oncesim/oncesim/sim"
)

// planted is what a run must have to be kept, whatever it does: faults at least as strong as some,
// lines, partitions, tasks, a setting.
type planted struct {
	faults     faults.Plan
	lines      []string
	partitions int
	tasks      int
	isSet      bool
}

// drawPlanted hides some of a scenario in it.
func drawPlanted(n uint64, s *scenarios.Scenario) *planted {
	draw := func(what, below int) int {
		return int(model.Below(model.Draw(n, model.DrawPlan, 1<<42, uint64(what), 0), int64(below)))
	}
	p := &planted{partitions: 1 + draw(0, 2), tasks: 1 + draw(1, 2), isSet: draw(2, 2) == 1}
	for i, f := range s.Faults {
		if draw(10+i, 4) == 0 {
			p.faults = append(p.faults, f)
		}
	}
	for i, line := range s.Input.Lines {
		if draw(100+i, 8) == 0 {
			p.lines = append(p.lines, line)
		}
	}
	return p
}

// keeps reports whether all that was planted is there.
func (p *planted) keeps(s *scenarios.Scenario, _ *scenarios.Result) bool {
	for _, want := range p.faults {
		if !slices.ContainsFunc(s.Faults, func(f faults.Fault) bool {
			f.Proc, f.Peer = want.Proc, want.Peer // tasks are another matter
			isLong := f.For >= want.For
			f.For = want.For
			return f == want && isLong
		}) {
			return false
		}
	}
	for _, want := range p.lines {
		if !slices.Contains(s.Input.Lines, want) {
			return false
		}
	}
	return s.Topology.Partitions() >= p.partitions && s.Topology.Stages[0].Parallel >= p.tasks &&
		(!p.isSet || len(s.Params) > 0)
}

// plantedWorld is a job with two partitions, two tasks a stage, twelve records, a setting and a
// plan of twelve faults, all of which strike.
func plantedWorld(t *testing.T, lib *scenarios.Library, n uint64) *scenarios.Scenario {
	t.Helper()
	top := model.Topology{Name: "two", Inputs: []model.InputSpec{{Name: "input", Partitions: 2}},
		Stages: []model.Stage{{Name: "op", Operator: &scenarios.Double, From: []string{"input"},
			Parallel: 2}}}
	s := &scenarios.Scenario{Name: "planted", Topology: &top, Inline: true, Seed: n,
		Mode:   modeOf(t, lib, "at-least-once"),
		Params: []model.ParamValue{{Name: "window", Value: 3}},
		Input:  scenarios.InputSpec{Kind: scenarios.InputInline, Every: 3_000_000}}
	for i := range 12 {
		s.Input.Lines = append(s.Input.Lines, "line "+string(rune('a'+i)))
	}
	r, err := scenarios.NewRunner(lib, s)
	require.NoError(t, err)
	for i := uint64(0); len(s.Faults) < 12; i++ {
		class := lib.Classes[model.Below(model.Draw(n, model.DrawPlan, 1<<43, i, 0),
			int64(len(lib.Classes)))]
		if class.Vary != nil || class.Action == 0 || !class.Applies(s.Mode) ||
			class.Action == model.PoisonRecord || class.Action == model.TruncateInput {
			continue
		}
		res := r.Run(s.Seed, nil, scenarios.Options{})
		rule, ok := class.Places(&res.Subject.History.Extent).Draw(n, i*2)
		if !ok {
			continue
		}
		plan := append(slices.Clone(s.Faults), faults.FromRule(r.Job(), rule))
		rules, err := plan.Compile(r.Job())
		require.NoError(t, err)
		res = r.Run(s.Seed, rules, scenarios.Options{})
		if !slices.Contains(res.Subject.History.Reached, 0) {
			s.Faults = plan
		}
	}
	return s
}

// TestShrink_IsMinimalWhereItSaysSo plants what is to be kept and counts on no step that Shrink
// takes: every scenario with one thing less is made and run here. None of them keeps it.
func TestShrink_IsMinimalWhereItSaysSo(t *testing.T) {
	lib := scenarios.Builtin()
	minimal, tried := 0, 0
	for n := uint64(1); n <= 20; n++ {
		s := plantedWorld(t, lib, n)
		p := drawPlanted(n, s)
		r, err := search.Shrink(context.Background(), lib, s, search.Shrinking{Keep: p.keeps})
		require.NoError(t, err)
		require.True(t, p.keeps(r.Scenario, nil))
		require.Equal(t, r.Faults[0], r.Faults[1]+int64(len(r.Dropped)))
		for _, f := range r.Dropped {
			require.Contains(t, s.Faults, f)
		}
		if !r.IsMinimal {
			continue
		}
		minimal++
		tried += holdsNoLesser(t, lib, r, p.keeps)
	}
	t.Logf("%d of 20 are minimal, %d lesser scenarios", minimal, tried)
	require.GreaterOrEqual(t, minimal, 18)
}

// lesser makes every scenario that has one fault, record, partition, task or setting less, or a
// fault that is weaker: of an earlier ordinal, record, checkpoint or life, of a shorter time, at a
// weaker point, or of a weaker action.
func lesser(s *scenarios.Scenario) []*scenarios.Scenario {
	var list []*scenarios.Scenario
	add := func(change func(c *scenarios.Scenario)) {
		c := *s
		top := *s.Topology
		c.Topology, c.Inline = &top, true
		top.Inputs, top.Stages = slices.Clone(top.Inputs), slices.Clone(top.Stages)
		c.Faults, c.Input.Lines = slices.Clone(s.Faults), slices.Clone(s.Input.Lines)
		c.Params = slices.Clone(s.Params)
		change(&c)
		if c.Topology.Validate() == nil {
			list = append(list, &c)
		}
	}
	for i, f := range s.Faults {
		add(func(c *scenarios.Scenario) { c.Faults = slices.Delete(c.Faults, i, i+1) })
		for _, less := range lesserFaults(f) {
			add(func(c *scenarios.Scenario) { c.Faults[i] = less })
		}
	}
	for i := range s.Input.Lines {
		if !canDrop(s, i) {
			continue
		}
		add(func(c *scenarios.Scenario) { c.Input.Lines = slices.Delete(c.Input.Lines, i, i+1) })
	}
	canShape := s.Topology.Conserves == nil
	if canShape && s.Topology.Inputs[0].Partitions > 1 && canDrop(s, 0) {
		add(func(c *scenarios.Scenario) { c.Topology.Inputs[0].Partitions-- })
	}
	for i := range s.Topology.Stages {
		if canShape && s.Topology.Stages[i].Parallel > 1 {
			add(func(c *scenarios.Scenario) { c.Topology.Stages[i].Parallel-- })
		}
	}
	for i := range s.Params {
		add(func(c *scenarios.Scenario) { c.Params = slices.Delete(c.Params, i, i+1) })
	}
	if s.Input.Every != 0 {
		add(func(c *scenarios.Scenario) { c.Input.Every = 0 })
	}
	if s.Seed != scenarios.SeedDefault {
		add(func(c *scenarios.Scenario) { c.Seed = scenarios.SeedDefault })
	}
	return list
}

// canDrop reports whether a line can be left out, with all those behind it in their places, so that
// every fault names the record that it named: where there is more than one partition, or a fault
// names a record from there on, others would take its name.
func canDrop(s *scenarios.Scenario, line int) bool {
	return !slices.ContainsFunc(s.Faults, func(f faults.Fault) bool {
		return (f.Scope == model.RecordEffect || f.Action == model.TruncateInput) &&
			(s.Topology.Partitions() > 1 || f.Record.Offset >= int64(line))
	})
}

// lesserFaults are the faults that are weaker than one, each in one way.
func lesserFaults(f faults.Fault) (list []faults.Fault) {
	add := func(change func(f *faults.Fault)) {
		g := f
		change(&g)
		list = append(list, g)
	}
	for _, shorter := range []int64{1_000_000, f.For / 4} {
		if shorter < f.For && shorter > 0 {
			add(func(f *faults.Fault) { f.For = shorter })
		}
	}
	if f.N > 1 {
		add(func(f *faults.Fault) { f.N-- })
	}
	if f.Scope == model.RecordEffect && f.Record.Offset > 0 {
		add(func(f *faults.Fault) { f.Record.Offset-- })
	}
	if f.Scope == model.CheckpointEffect && f.Checkpoint > 1 {
		add(func(f *faults.Fault) { f.Checkpoint-- })
	}
	if f.Scope == model.StartEffect && f.Life > 1 {
		add(func(f *faults.Fault) { f.Life-- })
	}
	points := []model.Point{model.After, model.Before, model.During, model.BeforeAck}
	at := slices.Index(points, f.Point)
	if f.Action == model.Crash || f.Action == model.Pause {
		for _, p := range points[:max(at, 0)] {
			add(func(f *faults.Fault) { f.Point = p })
		}
	}
	for _, a := range weakerActions(f) {
		add(func(f *faults.Fault) { f.Action, f.For = a, 0 })
	}
	return list
}

// weakerActions are those that do less than the action of a fault, at the same anchor.
func weakerActions(f faults.Fault) []model.Action {
	switch {
	case f.Action == model.Pause && f.For > sim.SuspectAfter:
		return []model.Action{model.Crash}
	case f.Action == model.DelayRequest:
		return []model.Action{model.LoseRequest}
	case f.Action == model.DelayMessage:
		return []model.Action{model.LoseMessage}
	}
	return nil
}

// failure is a scenario that fails in more than one way, and needs little of what it has.
func failure(t *testing.T, lib *scenarios.Library) *scenarios.Scenario {
	t.Helper()
	s := *builtin(t, lib, "page-views-four")
	s.Mode = modeOf(t, lib, "at-least-once")
	s.Seed = 7
	var err error
	s.Faults, err = faults.ParsePlan("delay data 1 from source/0 to parse/0 by 3ms",
		"crash sink/0 before ack of write 1", "crash sink/1 before ack of write 40",
		"lose request of put 1 from count/1")
	require.NoError(t, err)
	return &s
}

func TestShrink_IsAFunctionOfItsInput(t *testing.T) {
	lib := scenarios.Builtin()
	s := failure(t, lib)
	before := scenarios.Format(lib, s)
	var first []byte
	for range 2 {
		r, err := search.Shrink(context.Background(), lib, s, search.Shrinking{})
		require.NoError(t, err)
		data := scenarios.Format(lib, r.Scenario)
		require.Equal(t, string(before), string(scenarios.Format(lib, s)), "the original changed")
		require.True(t, first == nil || bytes.Equal(first, data))
		first = data
	}
}

func TestShrink_EndsWithItsRuns(t *testing.T) {
	lib := scenarios.Builtin()
	s := failure(t, lib)
	whole, err := search.Shrink(context.Background(), lib, s, search.Shrinking{})
	require.NoError(t, err)
	require.True(t, whole.IsMinimal)
	for _, most := range []int{1, 2, 5, whole.Runs - 1} {
		calls := 0
		r, err := search.Shrink(context.Background(), lib, s, search.Shrinking{RunsMax: most,
			Progress: func(runs, max int) {
				calls++
				require.Equal(t, []int{calls, most}, []int{runs, max})
			}})
		require.NoError(t, err)
		require.Equal(t, most, r.Runs)
		require.Equal(t, most, calls)
		require.False(t, r.IsMinimal)
		replays(t, lib, s, r, most > 1)
	}
	exact, err := search.Shrink(context.Background(), lib, s,
		search.Shrinking{RunsMax: whole.Runs})
	require.NoError(t, err)
	require.Equal(t, whole, exact)
}

func TestShrink_InterruptedGivesTheSmallestSoFar(t *testing.T) {
	lib := scenarios.Builtin()
	s := failure(t, lib)
	ctx, cancel := context.WithCancel(context.Background())
	r, err := search.Shrink(ctx, lib, s, search.Shrinking{Progress: func(runs, _ int) {
		if runs == 6 {
			cancel()
		}
	}})
	require.NoError(t, err)
	require.Equal(t, 6, r.Runs)
	require.False(t, r.IsMinimal)
	require.Less(t, r.Faults[1], r.Faults[0])
	replays(t, lib, s, r, true)
}

func TestShrink_HasNothingToDoWhereNothingIsViolated(t *testing.T) {
	lib := scenarios.Builtin()
	s := *builtin(t, lib, "page-views-four")
	s.Mode, s.Faults = modeOf(t, lib, "two-phase-commit"), nil
	s.Params = []model.ParamValue{{Name: "global", Value: 1}}
	for _, any := range []bool{false, true} {
		_, err := search.Shrink(context.Background(), lib, &s, search.Shrinking{Any: any})
		require.ErrorIs(t, err, search.ErrNothing)
	}
	s.Faults = faults.Plan{{Action: model.Crash, Proc: "nobody/0", Point: model.Before,
		Scope: model.EveryEffect, N: 1}}
	_, err := search.Shrink(context.Background(), lib, &s, search.Shrinking{})
	require.ErrorContains(t, err, "nobody/0")
}

// TestShrink_OfABrokenClaimBreaksAClaim has a mode claim too much, and break it by a pause. A crash
// would be weaker and violate something as well, but where the mode does not tolerate crashes it
// claims nothing of such a run.
func TestShrink_OfABrokenClaimBreaksAClaim(t *testing.T) {
	lib := scenarios.Builtin()
	s := *builtin(t, lib, "pipeline-three")
	var err error
	s.Faults, err = faults.ParsePlan("pause sink/0 after write 1 for 80ms")
	require.NoError(t, err)
	for _, c := range []struct {
		tolerates []string
		want      string
	}{
		{[]string{"zombie"}, "pause sink/0 after write 1 for 80ms"},
		{[]string{"zombie", "crash"}, "crash sink/0 after write 1"},
		{nil, "pause sink/0 after write 1 for 50ms"}, // no zombie; nothing was claimed before
	} {
		mode := *modeOf(t, lib, "at-least-once")
		mode.Claims, mode.Tolerates = []string{"exactly-once"}, c.tolerates
		s.Mode = &mode
		r, err := search.Shrink(context.Background(), lib, &s, search.Shrinking{Any: true})
		require.NoError(t, err)
		require.Equal(t, []string{c.want}, r.Scenario.Faults.Lines())
	}
}

// TestShrink_AnyViolationWillDo shrinks a run that fails in two ways to one that fails in one.
func TestShrink_AnyViolationWillDo(t *testing.T) {
	lib := scenarios.Builtin()
	s := manyWorld(t, lib)
	s.Faults = faults.Plan{strike(model.LoseMessage, 50, 0),
		strike(model.DuplicateMessage, 90, 0)}
	same, err := search.Shrink(context.Background(), lib, s, search.Shrinking{})
	require.NoError(t, err)
	any, err := search.Shrink(context.Background(), lib, s, search.Shrinking{Any: true})
	require.NoError(t, err)
	require.Equal(t, [2]int64{2, 2}, same.Faults)
	require.Equal(t, [2]int64{2, 1}, any.Faults)
	require.Equal(t, [2]int64{manyFaults, 1}, any.Records)
	require.NotEqual(t, same.Signature, any.Signature)
}

// TestShrink_FaultsKeepTheirMeaning shrinks runs in which record e is doubled, which is all that is
// to be kept. Whatever was the fault, it strikes the only record that is left; faults of a time are
// anchored in the event that they struck.
func TestShrink_FaultsKeepTheirMeaning(t *testing.T) {
	lib := scenarios.Builtin()
	for _, c := range []struct{ line, want string }{
		{"crash sink/0 before ack of write 5", "crash sink/0 after write 1"},
		{"crash sink/0 after effect 9", "crash sink/0 after write 1"},
		{"crash sink/0 before effect 10", "crash sink/0 after write 1"},
		{"crash sink/0 after effect 1 of record 4", "crash sink/0 after write 1"},
		{"crash external for 60ms at 12.5ms", "crash external for 20ms at write 1 of sink/0"},
		{"partition op/0 | sink/0 for 70ms at 13.3ms", "lose ack 1 from sink/0 to op/0"},
		{"duplicate data 5 from source/0 to op/0 by 12ms",
			"duplicate data 1 from source/0 to op/0"},
		{"lose answer of write 5 from sink/0", "lose answer of write 1 from sink/0"},
	} {
		s := *builtin(t, lib, "pipeline-three")
		s.Mode = modeOf(t, lib, "at-least-once")
		s.Input = scenarios.InputSpec{Kind: scenarios.InputInline,
			Lines: []string{"a", "b", "c", "d", "e", "f"}}
		var err error
		s.Faults, err = faults.ParsePlan(c.line)
		require.NoError(t, err)
		r, err := search.Shrink(context.Background(), lib, &s, search.Shrinking{Keep: doubles("e")})
		require.NoError(t, err, c.line)
		require.Equal(t, []string{c.want}, r.Scenario.Faults.Lines(), c.line)
		require.Equal(t, []string{"e"}, r.Scenario.Input.Lines, c.line)
		require.True(t, r.IsMinimal)
	}
}

// doubles reports whether the record of a line is a duplicate.
func doubles(line string) func(*scenarios.Scenario, *scenarios.Result) bool {
	return func(_ *scenarios.Scenario, res *scenarios.Result) bool {
		return slices.ContainsFunc(res.Verdicts, func(v model.Verdict) bool {
			return slices.ContainsFunc(v.Anomalies, func(a model.Anomaly) bool {
				in := res.Subject.Input
				return a.Kind == model.Duplicate && in.Has(a.Record.ID) &&
					in.At(a.Record.ID).Value.Text == line
			})
		})
	}
}

// TestShrink_NamesRecordsAnew keeps a fault of the record of one line, in at least two partitions
// or in one: it names this record wherever it comes to lie.
func TestShrink_NamesRecordsAnew(t *testing.T) {
	lib := scenarios.Builtin()
	s := plantedWorld(t, lib, 1)
	poison, err := faults.Parse("poison record input/1:3 at op/1")
	require.NoError(t, err)
	s.Faults = append(s.Faults, poison)
	for _, partitions := range []int{2, 1} {
		seen := 0
		r, err := search.Shrink(context.Background(), lib, s, search.Shrinking{
			Keep: func(s *scenarios.Scenario, _ *scenarios.Result) bool {
				n := s.Topology.Partitions()
				return n >= partitions && slices.ContainsFunc(s.Faults, func(f faults.Fault) bool {
					if f.Action != model.PoisonRecord {
						return false
					}
					seen++
					return s.Input.Lines[int(f.Record.Offset)*n+f.Record.Part] == "line h"
				})
			}})
		require.NoError(t, err)
		require.Greater(t, seen, 5)
		require.Equal(t, []string{"line h"}, r.Scenario.Input.Lines)
		require.Equal(t, []string{"poison record input/0:0 at op/0"}, r.Scenario.Faults.Lines())
		require.Equal(t, partitions, r.Scenario.Topology.Partitions())
	}
}

// TestShrink_ReanchoringHidesNoWeakening keeps whatever is not anchored at an effect, but what it
// begins with. Another anchor that would be another run is refused for that alone: as a weaker
// fault it is tried again.
func TestShrink_ReanchoringHidesNoWeakening(t *testing.T) {
	lib := scenarios.Builtin()
	s := *builtin(t, lib, "pipeline-three")
	s.Mode = modeOf(t, lib, "at-least-once")
	var err error
	s.Faults, err = faults.ParsePlan("crash sink/0 before ack of effect 1")
	require.NoError(t, err)
	keep := func(s *scenarios.Scenario, _ *scenarios.Result) bool {
		return len(s.Faults) == 1 && s.Faults[0].Action == model.Crash &&
			(s.Faults[0].Scope != model.EveryEffect || s.Faults[0].Point == model.BeforeAck)
	}
	r, err := search.Shrink(context.Background(), lib, &s, search.Shrinking{Keep: keep})
	require.NoError(t, err)
	require.True(t, r.IsMinimal)
	require.Positive(t, holdsNoLesser(t, lib, r, keep))
	require.Equal(t, []string{"crash sink/0 after write 1"}, r.Scenario.Faults.Lines())
}

// holdsNoLesser runs everything that is one thing less than what is said to be minimal: nothing of
// that is kept.
func holdsNoLesser(t *testing.T, lib *scenarios.Library, r *search.Shrunk,
	keep func(*scenarios.Scenario, *scenarios.Result) bool) (tried int) {
	t.Helper()
	if !r.IsMinimal {
		return 0
	}
	for _, less := range lesser(r.Scenario) {
		tried++
		_, res, err := scenarios.Run(lib, less, scenarios.Options{})
		if err != nil || slices.Contains(res.Subject.History.Reached, 0) ||
			res.Subject.History.End.Reason == model.EventBound {
			continue
		}
		require.False(t, keep(less, &res), "%s", scenarios.Format(lib, less))
	}
	return tried
}

// TestShrink_TriesEverySingleStep keeps four lines and three faults as they are. There are at least
// as many single steps as things that can be left out, and all of them are tried in the end.
func TestShrink_TriesEverySingleStep(t *testing.T) {
	lib := scenarios.Builtin()
	s := plantedWorld(t, lib, 3)
	p := &planted{faults: s.Faults[:3], lines: s.Input.Lines[:4], partitions: 2, tasks: 2}
	r, err := search.Shrink(context.Background(), lib, s, search.Shrinking{Keep: p.keeps})
	require.NoError(t, err)
	require.True(t, r.IsMinimal)
	require.GreaterOrEqual(t, int64(r.Singles), r.Faults[1]+r.Records[1])
	require.GreaterOrEqual(t, r.Faults[1]+r.Records[1], int64(7))
}

// TestShrink_NeverEndsInABudget keeps any run at all. A candidate that runs out of its events is
// none, where the original does not: it is not even asked about.
func TestShrink_NeverEndsInABudget(t *testing.T) {
	lib := scenarios.Builtin()
	s := manyWorld(t, lib)
	s.Input.Records = 6
	s.Faults = faults.Plan{strike(model.LoseMessage, 2, 0), strike(model.LoseMessage, 4, 0)}
	_, res, err := scenarios.Run(lib, s, scenarios.Options{})
	require.NoError(t, err)
	s.Bounds.Events = res.Subject.History.End.N
	_, bound, err := scenarios.Run(lib, s, scenarios.Options{})
	require.NoError(t, err)
	require.NotEqual(t, model.EventBound, bound.Subject.History.End.Reason)
	without := *s
	without.Faults = nil
	_, ended, err := scenarios.Run(lib, &without, scenarios.Options{})
	require.NoError(t, err)
	require.Equal(t, model.EventBound, ended.Subject.History.End.Reason)
	_, err = search.Shrink(context.Background(), lib, s, search.Shrinking{
		Keep: func(_ *scenarios.Scenario, res *scenarios.Result) bool {
			require.NotEqual(t, model.EventBound, res.Subject.History.End.Reason)
			return true
		}})
	require.NoError(t, err)
}
