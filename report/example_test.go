package report_test

import (
	"fmt"
	"strings"

	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/report"
	"github.com/oncesim/oncesim/scenarios"
)

const lesson = `The sink dies between its write and the acknowledgement.
-- scenario.yaml --
format: 1
topology: pipeline
mode: at-least-once
input: [a=1]
faults:
  - crash sink/0 before ack of write 1
-- verdict --
holds    at-least-once
violated exactly-once: duplicate input/0:0 x2
`

// lessonCase runs the lesson as "simrun run lesson.sim" does.
func lessonCase() *report.Case {
	library := scenarios.Builtin()
	s, err := scenarios.Parse(library, "lesson.sim", []byte(lesson))
	if err != nil {
		panic(err)
	}
	runner, result, err := scenarios.Run(library, s, scenarios.Options{Trace: true})
	if err != nil {
		panic(err)
	}
	return &report.Case{Library: library, Scenario: s, Result: result, Stats: runner.Stats(),
		Command: report.Command("simrun run lesson.sim", false, s, s), Judged: true}
}

func ExampleTitle() {
	fmt.Println(report.Title(lessonCase()))
	// Output:
	// lesson under at-least-once, seed 1: exactly-once violated: duplicate input/0:0 x2
}

func ExampleDiagram() {
	fmt.Print(report.Diagram(lessonCase()))
	// Output:
	// event      time  input           source/0        op/0            sink/0          external
	//    13   3.433ms  o----read 0---->|               |               |               |
	//    15   3.886ms  |               o------0:0----->|               |               |
	//    16   3.886ms  |               |               apply 0:0       |               |
	//    18   4.473ms  |               |               o------0:0----->|               |
	//    20   4.875ms  |               |               |               o---write 0:0-->|#1
	//    21   4.875ms  |               |               |               X crash         |
	//    22   5.131ms  |               |               |               late answer     |
	//    24  11.132ms  |               |               |               ^ attempt 2     |
	//    26  33.886ms  |               |               resend 0:0      |               |
	//    27  34.087ms  |               |               o------0:0----->|               |
	//    29  34.388ms  |               |               |               o---write 0:0-->|#2
	//    32  35.180ms  |               |               |<---ack 0:0----o               |
	//    35  36.172ms  |               |<---ack 0:0----o               |               |
	//    37  36.377ms  |<--commit 1----o               |               |               |
	// o--> a message or request on its way to where it is handled   --x it does not arrive
	// X end of a life   ^ next attempt   = stands still   | lives   #2 the second such write
}

func ExampleNewRun() {
	run := report.NewRun(lessonCase())
	first, _, _ := strings.Cut(run.Why, ". ")
	fmt.Println(first)
	for _, a := range run.Affected {
		fmt.Printf("%s: delivered %d, written %d\n", a.Record, a.Delivered, a.Written)
	}
	// Output:
	// sink/0 wrote input/0:0 at event 20
	// input/0:0: delivered 1, written 2
}

func ExampleSignature() {
	fmt.Println(report.Signature(lessonCase()))
	// Output:
	// at-least-once_at-most-once=duplicate_exactly-once=duplicate
}

func ExampleUnmet() {
	c := lessonCase()
	fmt.Println(len(report.Unmet(c)))
	c.Scenario.Expect[0].Result = model.Undecided
	fmt.Println(report.Unmet(c)[0])
	// Output:
	// 0
	// line 10 expects "unknown at-least-once", the run has holds
}

func ExampleCommand() {
	c := lessonCase()
	without := *c.Scenario
	without.Faults = nil
	without.Seed = 7
	fmt.Println(report.Command("simrun run lesson.sim", false, c.Scenario, &without))
	// Output:
	// simrun run lesson.sim --seed 7 --fault ''
}
