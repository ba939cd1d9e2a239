package scenarios_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/faults"
	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/scenarios"
)

// builtinScenario parses a built-in scenario file.
func builtinScenario(t *testing.T, lib *scenarios.Library, name string) *scenarios.Scenario {
	t.Helper()
	for _, f := range lib.Files {
		if f.Name == name {
			s, err := scenarios.Parse(lib, name+".sim", []byte(f.Data))
			require.NoError(t, err)
			s.Params, s.Faults, s.Sink = nil, nil, ""
			return s
		}
	}
	t.Fatalf("no built-in scenario %s", name)
	return nil
}

// Whatever a class places or draws, under any mode: it is a line that compiles to itself, it is of
// the class, and at least one placement of it strikes.
func TestClass_PlacesAndDraws(t *testing.T) {
	lib := scenarios.Builtin()
	for _, mode := range lib.Modes {
		for _, class := range lib.Classes {
			if class.Action == 0 || !class.Applies(mode) {
				continue
			}
			s := builtinScenario(t, lib, "page-views-four")
			s.Mode = mode
			if class.Vary != nil {
				class.Vary(s)
			}
			r, err := scenarios.NewRunner(lib, s)
			require.NoError(t, err)
			fresh, err := scenarios.NewRunner(lib, s)
			require.NoError(t, err)
			extent := &r.Run(1, nil, scenarios.Options{}).Subject.History.Extent
			rules := slices.Collect(class.Places(extent).Each)
			require.NotEmpty(t, rules, "%s %s", mode.Name, class.Name)
			struck := 0
			for i, rule := range rules {
				requireLine(t, r.Job(), rule)
				requireKind(t, class, rule)
				if i%(len(rules)/20+1) != 0 {
					continue
				}
				h := fresh.Run(1, []model.Rule{rule}, scenarios.Options{}).Subject.History
				if h.Reached[0] != 0 {
					struck++
				}
			}
			require.Positive(t, struck, "%s %s", mode.Name, class.Name)
			for seed := range uint64(50) {
				for _, rule := range class.Draw(seed, extent, nil) {
					requireLine(t, r.Job(), rule)
					requireKind(t, class, rule)
				}
			}
		}
	}
}

// requireKind checks that a rule strikes what its class does; a crash may come on top.
func requireKind(t *testing.T, class *scenarios.Class, rule model.Rule) {
	t.Helper()
	if rule.Action == class.Action && class.Kinds != nil {
		require.Contains(t, class.Kinds, rule.Call, class.Name)
	}
}

func requireLine(t *testing.T, job *model.Job, rule model.Rule) {
	t.Helper()
	line := faults.FromRule(job, rule).String()
	plan, err := faults.ParsePlan(line)
	require.NoError(t, err)
	again, err := plan.Compile(job)
	require.NoError(t, err)
	require.Equal(t, []model.Rule{rule}, again, line)
}

// A mode that remembers is left one input to remember; of any other the class says nothing.
func TestClass_ShortHorizon(t *testing.T) {
	lib := scenarios.Builtin()
	i := slices.IndexFunc(lib.Classes, func(c *scenarios.Class) bool {
		return c.Name == "short-horizon"
	})
	require.GreaterOrEqual(t, i, 0)
	remember := &model.Mode{Params: []model.Param{{Name: "horizon"}, {Name: "window"}}}
	s := &scenarios.Scenario{Mode: remember, Params: []model.ParamValue{
		{Name: "batch", Value: 3}, {Name: "window", Value: 4}}}
	require.True(t, lib.Classes[i].Applies(remember))
	lib.Classes[i].Vary(s)
	require.Equal(t, []model.ParamValue{{Name: "batch", Value: 3}, {Name: "window", Value: 16},
		{Name: "horizon", Value: 1}}, s.Params)

	require.False(t, lib.Classes[i].Applies(&model.Mode{Params: []model.Param{{Name: "window"}}}))
}

// What takes a coordinator, a parameter or a sink says nothing of a mode without it. Every other
// class applies to every mode.
func TestClass_Applies(t *testing.T) {
	plain := &model.Mode{Sink: "append-log"}
	full := &model.Mode{Sink: "transactional-log", Extra: []string{"coordinator"},
		State: model.Snapshotted, Restart: model.RestartJob,
		Params: []model.Param{{Name: "restore"}, {Name: "txn-timeout"}, {Name: "pool"},
			{Name: "epochs"}, {Name: "aliased"}, {Name: "alignment"}, {Name: "work"},
			{Name: "stop-at"}, {Name: "abort-lingering"}, {Name: "global"},
			{Name: "horizon"}}}
	var special []string
	for _, c := range scenarios.Classes() {
		require.True(t, c.Applies(full), c.Name)
		if !c.Applies(plain) {
			special = append(special, c.Name)
		}
	}
	require.Equal(t, []string{"tear-call", "short-horizon", "lose-barrier", "duplicate-barrier",
		"reorder-barrier", "delay-barrier", "lose-notice", "delay-notice", "duplicate-notice",
		"restore-older", "txn-timeout", "uncommitted-reader", "late-end", "late-end-epochs",
		"aliased-snapshot", "counted", "unaligned", "unaligned-dropped", "probing",
		"global-commit", "graceful-stop"}, special)

	applying := func(mode *model.Mode) (names []string) {
		for _, c := range scenarios.Classes() {
			if slices.Contains(special, c.Name) && c.Applies(mode) {
				names = append(names, c.Name)
			}
		}
		return names
	}
	require.Equal(t, special[2:9], applying(&model.Mode{Extra: []string{"driver"}}))
	require.Equal(t, special[6:9], applying(&model.Mode{Extra: []string{"coordinator"}}))
	require.Equal(t, []string{"tear-call"}, applying(&model.Mode{State: model.Scattered}))
	require.Empty(t, applying(&model.Mode{Params: []model.Param{{Name: "stop-at"}}}),
		"tasks that restart alone do not stop")
	require.Equal(t, []string{"uncommitted-reader"},
		applying(&model.Mode{Sink: "transactional-log", Params: []model.Param{{Name: "pool"}}}))
}

// What a class varies, it varies where the mode has it.
func TestClass_Vary(t *testing.T) {
	for name, want := range map[string]scenarios.Scenario{
		"restore-older":    {Params: []model.ParamValue{{Name: "restore", Value: 1}}},
		"aliased-snapshot": {Params: []model.ParamValue{{Name: "aliased", Value: 1}}},
		"counted":          {Params: []model.ParamValue{{Name: "alignment", Value: 1}}},
		"unaligned": {Params: []model.ParamValue{{Name: "alignment", Value: 2},
			{Name: "work", Value: 20_000_000}}},
		"unaligned-dropped": {Params: []model.ParamValue{{Name: "alignment", Value: 3},
			{Name: "work", Value: 20_000_000}}},
		"graceful-stop":      {Params: []model.ParamValue{{Name: "stop-at", Value: 2}}},
		"uncommitted-reader": {Sink: "transactional-log-uncommitted"},
	} {
		classes := scenarios.Classes()
		i := slices.IndexFunc(classes, func(c *scenarios.Class) bool { return c.Name == name })
		require.GreaterOrEqual(t, i, 0, name)
		mode := &model.Mode{Sink: "transactional-log", Params: []model.Param{{Name: "restore"},
			{Name: "aliased"}, {Name: "alignment"}, {Name: "work"}, {Name: "stop-at"}}}
		s := &scenarios.Scenario{Mode: mode}
		classes[i].Vary(s)
		require.Equal(t, want.Params, s.Params, name)
		require.Equal(t, want.Sink, s.Sink, name)
		other := &scenarios.Scenario{Mode: &model.Mode{Sink: "append-log"}}
		classes[i].Vary(other)
		require.Empty(t, other.Params, name)
		require.Empty(t, other.Sink, name)
	}
}

// Each fault belongs to the class of its action, whatever else it says.
func TestLibrary_IsTolerated(t *testing.T) {
	lib := scenarios.Builtin()
	for line, class := range map[string]string{
		"crash op/0 at 1ms":                                     "crash",
		"crash store for 1ms at 1ms":                            "service-crash",
		"pause op/0 at 1ms for 20ms":                            "pause",
		"pause op/0 at 1ms for 80ms":                            "zombie",
		"partition op/0 | store for 1ms at put 1":               "partition",
		"refuse call put 1 of op/0":                             "refuse-call",
		"forget call put 1 of op/0":                             "forget-call",
		"stale call get 1 of op/0":                              "stale-read",
		"truncate input/0 before 1 at 1ms":                      "truncate",
		"poison record 1 at op/0":                               "poison",
		"lose ack 1 from sink/0 to op/0":                        "lose-message",
		"lose barrier 1 from op/0 to sink/0":                    "lose-barrier",
		"reorder barrier 1 from op/0 to sink/0":                 "reorder-barrier",
		"delay trigger 1 from coordinator/0 to source/0 by 1ms": "delay-notice",
		"duplicate ready 1 from op/0 to coordinator/0":          "duplicate-notice",
		"delay call commit-txn 1 of sink/0 by 1ms":              "delay-call",
		"partition op/0 | sink/0 for 1ms at barrier 1":          "partition",
	} {
		f, err := faults.Parse(line)
		require.NoError(t, err)
		require.True(t, lib.IsTolerated(&model.Mode{Tolerates: []string{class}}, f), line)
		require.False(t, lib.IsTolerated(&model.Mode{Tolerates: []string{"no-fault"}}, f), line)
	}
}

// snapshotRun runs a small world under a mode with checkpoints and a fault, which is reached.
func snapshotRun(t *testing.T, line string) scenarios.Result {
	t.Helper()
	lib := scenarios.Builtin()
	s := builtinScenario(t, lib, "pipeline-three")
	at := slices.IndexFunc(lib.Modes, func(m *model.Mode) bool { return m.Name == "snapshot" })
	require.GreaterOrEqual(t, at, 0)
	s.Mode = lib.Modes[at]
	plan, err := faults.ParsePlan(line)
	require.NoError(t, err)
	s.Faults = plan
	_, res, err := scenarios.Run(lib, s, scenarios.Options{Trace: true})
	require.NoError(t, err)
	require.NotZero(t, res.Subject.History.Reached[0], line)
	return res
}

// The lines about checkpoints strike in a run of a mode that has some.
func TestFaults_OfCheckpointsStrike(t *testing.T) {
	for _, line := range []string{
		"crash op/0 after effect 1 of checkpoint 2",
		"pause coordinator/0 before completion 1 for 80ms",
		"lose barrier 2 from op/0 to sink/0",
		"duplicate barrier 1 from source/0 to op/0",
		"reorder barrier 1 from source/0 to op/0",
		"lose acknowledge 1 from sink/0 to coordinator/0",
		"delay complete 1 from coordinator/0 to sink/0 by 60ms",
		"duplicate trigger 1 from coordinator/0 to source/0",
		"partition coordinator/0 | sink/0 for 40ms at complete 1",
	} {
		snapshotRun(t, line)
	}
}

// A coordinator that dies after its request for completion has decided, and told nobody.
func TestFaults_BetweenDecisionAndNotice(t *testing.T) {
	const line = "crash coordinator/0 after completion 2"
	res := snapshotRun(t, line)
	crash := res.Subject.History.Reached[0]
	decided, told := false, false
	for i := range res.Trace {
		e := &res.Trace[i]
		if e.N >= crash || e.Msg.Checkpoint() != 2 {
			continue
		}
		decided = decided || e.Kind == model.EntryServe && e.Msg.Kind == model.Completion
		told = told || e.Kind == model.EntrySend && e.Msg.Kind == model.Complete
	}
	require.True(t, decided)
	require.False(t, told)
}

// What a mode tolerates are classes of faults that can befall it.
func TestClass_ToleratedOnesApply(t *testing.T) {
	lib := scenarios.Builtin()
	for _, mode := range lib.Modes {
		var applying []string
		for _, c := range lib.Classes {
			if c.Applies(mode) {
				applying = append(applying, c.Name)
			}
		}
		require.Subset(t, applying, mode.Tolerates, mode.Name)
	}
}
