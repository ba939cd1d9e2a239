package simtest_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/scenarios"
	"github.com/oncesim/oncesim/simtest"
)

// longest is an operator of one's own: a pure step from a record and the state under its key.
var longest = model.Operator{
	Name: "longest", Says: "emits the largest number seen under a key", Kind: model.Commutative,
	Step: func(in model.Record, state model.Value, out *model.Outputs) model.Value {
		state.Num = max(state.Num, in.Value.Num)
		out.Emit(in.Key, state)
		return state
	},
}

// peaks is the job in which it runs.
var peaks = model.Topology{
	Name:   "peaks",
	Inputs: []model.InputSpec{{Name: "input"}},
	Stages: []model.Stage{{Name: "op", Operator: &longest, From: []string{"input"},
		Exchange: model.ByKey}},
}

// say is a test that prints what it is told; in a test of one's own it is t.
type say struct{}

func (say) Helper()                           {}
func (say) Name() string                      { return "TestPeaks" }
func (say) Logf(format string, args ...any)   { fmt.Printf(format+"\n", args...) }
func (say) Errorf(format string, args ...any) { fmt.Printf(format+"\n", args...) }
func (say) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

// A maximum takes a record twice without harm: under at-least-once its state is exact, although
// its output is not.
func ExampleRun() {
	var t say
	c := simtest.Run(t, simtest.Scenario{
		Topology: &peaks,
		Lines:    []string{"a=3", "b=1", "a=2"},
		Faults:   []string{"lose answer of write 1 from sink/0"},
	}, simtest.Holds("exactly-once-state"))
	for _, v := range c.Result.Verdicts {
		if v.Property == "exactly-once-state" || v.Property == "exactly-once" {
			fmt.Println(v.Property, v.Result)
		}
	}
	// Output:
	// exactly-once-state holds
	// exactly-once violated
}

// The seeds 1 to 50, each with faults that the mode says it tolerates.
func ExampleSweep() {
	var t *testing.T // of the test
	simtest.Sweep(t, simtest.Scenario{Topology: &peaks, Mode: "at-least-once", Records: 20},
		simtest.Holds("exactly-once-state"))
}

// A mode of one's own beside one that is built in: each must keep what it claims.
func ExampleCompare() {
	var t *testing.T // of the test
	lib := scenarios.Builtin()
	lib.Modes = append(lib.Modes, &model.Mode{Name: "mine" /* and what it is made of */})
	simtest.Compare(t, simtest.Scenario{Topology: &peaks, Library: lib}, "mine", "dedup")
}

// The fuzzer chooses the seed and the faults, and keeps what it finds.
func ExampleFuzz() {
	var f *testing.F // of the fuzz test
	simtest.Fuzz(f, simtest.Scenario{Topology: &peaks}, simtest.FaultsMax(5))
}

// property is a test in which rapid runs, and which must not fail; in a test of one's own it is t.
type property struct{ rapid.TB }

func (property) Helper()             {}
func (property) Name() string        { return "TestPeaks" }
func (property) Logf(string, ...any) {}
func (property) Failed() bool        { return false }

// A property of rapid: whatever is drawn, it runs and keeps what is claimed.
func ExampleDraw() {
	var t property
	rapid.Check(t, func(rt *rapid.T) {
		simtest.Run(rt, simtest.Draw(rt, simtest.Scenario{Topology: &peaks, Records: 5}))
	})
	fmt.Println("whatever strikes, what is claimed holds")
	// Output: whatever strikes, what is claimed holds
}
