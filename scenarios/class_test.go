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
		s := builtinScenario(t, lib, "page-views-four")
		s.Mode = mode
		r, err := scenarios.NewRunner(lib, s)
		require.NoError(t, err)
		fresh, err := scenarios.NewRunner(lib, s)
		require.NoError(t, err)
		extent := &r.Run(1, nil, scenarios.Options{}).Subject.History.Extent
		for _, class := range lib.Classes {
			if class.Action == 0 {
				continue
			}
			rules := slices.Collect(class.Places(extent).Each)
			require.NotEmpty(t, rules, "%s %s", mode.Name, class.Name)
			struck := 0
			for i, rule := range rules {
				requireLine(t, r.Job(), rule)
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
				}
			}
		}
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

// A mode that remembers is left one input to remember; any other stays as it is.
func TestClass_ShortHorizon(t *testing.T) {
	lib := scenarios.Builtin()
	i := slices.IndexFunc(lib.Classes, func(c *scenarios.Class) bool {
		return c.Name == "short-horizon"
	})
	require.GreaterOrEqual(t, i, 0)
	remember := &model.Mode{Params: []model.Param{{Name: "horizon"}, {Name: "window"}}}
	s := &scenarios.Scenario{Mode: remember, Params: []model.ParamValue{
		{Name: "batch", Value: 3}, {Name: "window", Value: 4}}}
	lib.Classes[i].Vary(s)
	require.Equal(t, []model.ParamValue{{Name: "batch", Value: 3}, {Name: "window", Value: 16},
		{Name: "horizon", Value: 1}}, s.Params)

	other := &scenarios.Scenario{Mode: &model.Mode{Params: []model.Param{{Name: "window"}}}}
	lib.Classes[i].Vary(other)
	require.Empty(t, other.Params)
}

// Each fault belongs to the class of its action, whatever else it says.
func TestLibrary_IsTolerated(t *testing.T) {
	lib := scenarios.Builtin()
	for line, class := range map[string]string{
		"crash op/0 at 1ms":                       "crash",
		"crash store for 1ms at 1ms":              "service-crash",
		"pause op/0 at 1ms for 20ms":              "pause",
		"pause op/0 at 1ms for 80ms":              "zombie",
		"partition op/0 | store for 1ms at put 1": "partition",
		"refuse call put 1 of op/0":               "refuse-call",
		"forget call put 1 of op/0":               "forget-call",
		"stale call get 1 of op/0":                "stale-read",
		"truncate input/0 before 1 at 1ms":        "truncate",
		"poison record 1 at op/0":                 "poison",
	} {
		f, err := faults.Parse(line)
		require.NoError(t, err)
		require.True(t, lib.IsTolerated(&model.Mode{Tolerates: []string{class}}, f), line)
		require.False(t, lib.IsTolerated(&model.Mode{Tolerates: []string{"no-fault"}}, f), line)
	}
}
