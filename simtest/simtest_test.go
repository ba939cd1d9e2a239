package simtest_test

import (
	"flag"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/oncesim/oncesim/defects"
	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/scenarios"
	"github.com/oncesim/oncesim/semantics"
	"github.com/oncesim/oncesim/simtest"
)

var update = flag.Bool("update", false, "rewrite the golden files of this package")

var (
	_ simtest.TB = (*testing.T)(nil)
	_ simtest.TB = (*testing.B)(nil)
	_ simtest.TB = (*testing.F)(nil)
	_ simtest.TB = (*rapid.T)(nil)
)

type step func(in model.Record, state model.Value, out *model.Outputs) model.Value

// tally is a job of one operator, which is given, on six records under two keys.
func tally(take step) simtest.Scenario {
	return simtest.Scenario{
		Topology: &model.Topology{Name: "tally", Inputs: []model.InputSpec{{Name: "input"}},
			Stages: []model.Stage{{Name: "op", From: []string{"input"}, Exchange: model.ByKey,
				Operator: &model.Operator{Name: "tally", Kind: model.NonCommutative, Step: take}}}},
		Lines: []string{"a=10", "b=5", "a=20", "b=7", "a=40", "b=9"},
		Set:   []string{"window=1", "commit-every=4"},
	}
}

// remember adds up under a key what has not been applied before.
func remember(isApplied func(offset, last int64) bool) step {
	return func(in model.Record, state model.Value, out *model.Outputs) model.Value {
		last, err := strconv.ParseInt(state.Text, 10, 64)
		if err != nil || !isApplied(in.ID.Offset, last) {
			state.Num += in.Value.Num
			state.Text = strconv.FormatInt(in.ID.Offset, 10)
		}
		out.Emit(in.Key, model.Value{Num: state.Num})
		return state
	}
}

var (
	rememberLast    = remember(func(offset, last int64) bool { return offset == last })
	rememberHighest = remember(func(offset, last int64) bool { return offset <= last })
)

// withMode is a library with at-least-once under another name and with other claims, under lost
// answers.
func withMode(name string, claims ...string) *scenarios.Library {
	lib, mode := scenarios.Builtin(), semantics.AtLeastOnce
	mode.Name, mode.Claims, mode.Cells = name, claims, nil
	mode.Tolerates = []string{"no-fault", "lose-answer"}
	lib.Modes = append(lib.Modes, &mode)
	return lib
}

// overclaiming is a library with a mode that promises more than it keeps.
func overclaiming() *scenarios.Library { return withMode("overclaiming", "exactly-once") }

// mistyped is a library with a defect whose mode nothing is called.
func mistyped() *scenarios.Library {
	lib := scenarios.Builtin()
	lib.Defects = append(lib.Defects, &defects.Defect{Name: "mine", Says: "what is broken",
		Modes: []string{"at-laest-once"}, Property: "at-least-once"})
	return lib
}

// notes is a test that notes what it is told, and stops where it is fatal.
type notes struct {
	lines   []string
	isFatal bool
}

func (n *notes) Helper()      {}
func (n *notes) Name() string { return "TestNotes" }

func (n *notes) Logf(format string, args ...any) {}

func (n *notes) Errorf(format string, args ...any) {
	n.lines = append(n.lines, fmt.Sprintf(format, args...))
}

func (n *notes) Fatalf(format string, args ...any) {
	n.Errorf(format, args...)
	n.isFatal = true
	panic(n)
}

func (n *notes) text() string { return strings.Join(n.lines, "\n") }

// noted calls a function of this package with a test of its own.
func noted(do func(t simtest.TB)) (n *notes) {
	n = &notes{}
	defer func() {
		if v := recover(); v != nil && v != n {
			panic(v)
		}
	}()
	do(n)
	return n
}

func TestRun_ReturnsTheRun(t *testing.T) {
	c := simtest.Run(t, simtest.Scenario{Name: "pipeline", Mode: "dedup", Records: 4,
		Faults: []string{"crash op/0 after effect 1 of record 0"}})
	require.Equal(t, "dedup", c.Scenario.Mode.Name)
	require.NotEmpty(t, c.Result.Trace)
	require.NotContains(t, c.Result.Subject.History.Reached, int64(0))
	for _, v := range c.Result.Verdicts {
		require.Equal(t, model.Holds, v.Result, v.Property)
	}
}

func TestRun_TellsWhatIsWrong(t *testing.T) {
	lost := []string{"lose answer of write 1 from sink/0"}
	for name, c := range map[string]struct {
		scenario simtest.Scenario
		opts     []simtest.Option
		want     string // "": nothing is
	}{
		"required": {simtest.Scenario{Name: "pipeline", Faults: lost},
			[]simtest.Option{simtest.Holds("exactly-once")},
			"exactly-once violated: duplicate input/0:0 x2"},
		"claimed": {simtest.Scenario{Name: "pipeline", Faults: lost, Mode: "overclaiming",
			Library: overclaiming()}, nil, "claim broken"},
		"no claim": {simtest.Scenario{Name: "pipeline", Faults: lost}, nil, ""},
		"mode": {simtest.Scenario{Name: "pipeline", Mode: "exact"}, nil,
			`unknown mode "exact"`},
		"defect": {simtest.Scenario{Name: "pipeline", Defect: "mine", Library: mistyped()}, nil,
			`defect mine: unknown mode "at-laest-once", expected `},
		"name":         {simtest.Scenario{Name: "pipelin"}, nil, `did you mean "pipeline"?`},
		"no name":      {simtest.Scenario{}, nil, "no scenario"},
		"missing file": {simtest.Scenario{Name: "gone.sim"}, nil, "gone.sim cannot be read"},
		"fault": {simtest.Scenario{Name: "pipeline", Faults: []string{"crash op/0"}}, nil,
			`fault "crash op/0": `},
		"process": {simtest.Scenario{Name: "pipeline",
			Faults: []string{"crash op/9 at 1ms"}}, nil, "op/9"},
		"set": {simtest.Scenario{Name: "pipeline", Set: []string{"windov=1"}}, nil, "window"},
		"value": {simtest.Scenario{Name: "pipeline", Set: []string{"window=0"}}, nil,
			"from 1 to"},
		"records": {simtest.Scenario{Name: "pipeline", Records: -1}, nil, "records -1"},
		"empty":   {simtest.Scenario{Name: "pipeline", Lines: []string{}}, nil, "no records"},
		"sink": {simtest.Scenario{Name: "pipeline", Sink: "appendlog"}, nil,
			`no sink "appendlog"`},
		"property": {simtest.Scenario{Name: "pipeline"},
			[]simtest.Option{simtest.Holds("exactly-one")}, `did you mean "exactly-once"?`},
		"nothing claimed": {simtest.Scenario{Name: "pipeline", Mode: "silent",
			Library: withMode("silent")}, nil, "nothing is required: silent claims nothing"},
		"set otherwise": {simtest.Scenario{Name: "pipeline", Mode: "two-phase-commit",
			Sink: "transactional-log-uncommitted"}, nil, "nothing is required: two-phase-commit"},
		"not tolerated": {simtest.Scenario{Name: "pipeline",
			Faults: []string{"poison record 0 at op/0"}}, nil, "nothing is required of this run"},
		"not reached": {simtest.Scenario{Name: "pipeline",
			Faults: []string{"crash op/0 after effect 900"}}, nil, "not reached"},
		"verdict section": {simtest.Scenario{Name: "testdata/duplicate.sim"}, nil, ""},
		"verdict section of another run": {simtest.Scenario{Name: "testdata/duplicate.sim",
			Faults: []string{""}}, nil, ""},
		"verdict section not met": {simtest.Scenario{Name: "testdata/unmet.sim"}, nil,
			"not as the verdict section expects"},
		"unknown": {simtest.Scenario{Name: "testdata/budget.sim"}, nil, "at-least-once unknown"},
		"unknown allowed": {simtest.Scenario{Name: "testdata/budget.sim"},
			[]simtest.Option{simtest.AllowUnknown()}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			n := noted(func(t simtest.TB) { simtest.Run(t, c.scenario, c.opts...) })
			if c.want == "" {
				require.Empty(t, n.lines)
				return
			}
			require.Len(t, n.lines, 1)
			require.Contains(t, n.text(), c.want)
		})
	}
}

// A test passes where everything that is claimed holds, with every kind of library.
func TestSweep_PassesWhatIsRight(t *testing.T) {
	for _, mode := range []string{"at-least-once", "dedup", "two-phase-commit"} {
		t.Run(mode, func(t *testing.T) {
			simtest.Sweep(t, simtest.Scenario{Name: "page-views", Mode: mode, Records: 8},
				simtest.Seeds(1, 10), simtest.FaultsMax(2))
		})
	}
}

func TestSweep_FixedOperator(t *testing.T) {
	simtest.Sweep(t, tally(rememberHighest), simtest.Holds("exactly-once-state"),
		simtest.Classes("crash"))
}

// An operator that leaves out what it knows, and its answer with it, keeps its state and loses
// answers. The package documentation says what must be required for that to be seen.
func TestHolds_ExactlyOnceSeesALostAnswer(t *testing.T) {
	right, silent := tally(rememberHighest), tally(leaveOut)
	for _, s := range []*simtest.Scenario{&right, &silent} {
		s.Sink = "identity-log"
	}
	simtest.Sweep(t, silent, simtest.Holds("exactly-once-state", "at-least-once"),
		simtest.Classes("crash"))
	simtest.Sweep(t, right, simtest.Holds("exactly-once"), simtest.Classes("crash"))
	text, ok := start(t, t.TempDir(), "silent")
	require.False(t, ok)
	require.Contains(t, text, "exactly-once violated: loss ")
}

// leaveOut is rememberHighest without an answer to what it knows.
func leaveOut(in model.Record, state model.Value, out *model.Outputs) model.Value {
	last, err := strconv.ParseInt(state.Text, 10, 64)
	if err == nil && in.ID.Offset <= last {
		return state
	}
	return rememberHighest(in, state, out)
}

func TestCompare_PassesWhatIsRight(t *testing.T) {
	if testing.Short() {
		t.Skip("some thousand runs")
	}
	simtest.Compare(t, simtest.Scenario{Name: "pipeline", Records: 6}, "at-least-once", "dedup")
}

func TestCompare_RefusesWhatClaimsNothing(t *testing.T) {
	n := noted(func(t simtest.TB) {
		simtest.Compare(t, simtest.Scenario{Name: "pipeline", Records: 2,
			Library: withMode("silent")}, "silent")
	})
	require.Contains(t, n.text(), "nothing is claimed in any cell")
	n = noted(func(t simtest.TB) {
		simtest.Compare(t, simtest.Scenario{Name: "pipeline", Records: 2}, "nonne")
	})
	require.Contains(t, n.text(), `did you mean "none"?`)
}
