package faults_test

import (
	"fmt"

	"github.com/oncesim/oncesim/faults"
	"github.com/oncesim/oncesim/model"
)

// exampleJob has the processes source/0, source/1, upper/0 and sink/0.
func exampleJob() *model.Job {
	upper := &model.Operator{Name: "upper",
		Step: func(in model.Record, state model.Value, out *model.Outputs) model.Value {
			out.Emit(in.Key, in.Value)
			return state
		}}
	return model.NewJob(&model.Topology{
		Name:   "example",
		Inputs: []model.InputSpec{{Name: "input", Partitions: 2}},
		Stages: []model.Stage{{Name: "upper", Operator: upper, From: []string{"input"}}},
	}, nil)
}

func ExampleParse() {
	f, err := faults.Parse("crash sink/0   before ack of write 2   # visible, not known")
	fmt.Println(f, err)

	_, err = faults.Parse("crash sink/0 before ack of wirte 2")
	fmt.Println(err.(*faults.SyntaxError).Column, err.(*faults.SyntaxError).Nearest)
	// Output:
	// crash sink/0 before ack of write 2 <nil>
	// 28 write
}

func ExampleParsePlan() {
	plan, _ := faults.ParsePlan(
		"# The source is replaced while it stands still, and goes on as a zombie.",
		"pause source/0 at record input/0:1 for 80ms",
		"lose answer of write 1 from sink/0",
	)
	for _, line := range plan.Lines() {
		fmt.Println(line)
	}
	// Output:
	// pause source/0 at record input/0:1 for 80ms
	// lose answer of write 1 from sink/0
}

func ExamplePlan_Compile() {
	job := exampleJob()
	plan, _ := faults.ParsePlan("crash upper/0 before put 2")
	rules, err := plan.Compile(job)
	fmt.Println(len(rules), rules[0].Proc == job.Find("upper/0"), err)

	plan, _ = faults.ParsePlan("crash sink/0 at record 7")
	_, err = plan.Compile(job)
	fmt.Println(err)

	plan, _ = faults.ParsePlan("crash uper/0 at record input/1:7")
	_, err = plan.Compile(job)
	stale := err.(*faults.CompileError)
	fmt.Printf("stale: could not match %s %s\n", stale.What, stale.Name)
	// Output:
	// 1 true <nil>
	// fault 1, crash sink/0 at record 7: name the partition of record 7, "input/0:7" or "input/1:7"
	// stale: could not match process uper/0
}

// Every way to crash one process of a run in which the sink had one effect, a write.
func ExamplePlaces() {
	job := exampleJob()
	var extent model.Extent
	extent.Reset(len(job.Tasks))
	sink := job.Find("sink/0")
	extent.Effects[sink], extent.Calls[sink][model.Write] = 1, 1

	for rule := range (faults.Places{Action: model.Crash, Extent: &extent}).Each {
		fmt.Println(faults.FromRule(job, rule))
	}
	// Output:
	// crash sink/0 before effect 1
	// crash sink/0 after effect 1
	// crash sink/0 during write 1
	// crash sink/0 before ack of write 1
	// crash sink/0 after write 1
}

// A plan of two faults, and the same plan without the first.
func ExampleDraw() {
	job := exampleJob()
	var extent model.Extent
	extent.Reset(len(job.Tasks))
	for i := range job.Tasks {
		extent.Effects[i] = 10
	}
	for n := range uint64(2) {
		rule, _ := faults.Draw(1, n, &extent, model.Crash)
		fmt.Println(n, faults.FromRule(job, rule))
	}
	rule, _ := faults.Draw(1, 1, &extent, model.Crash)
	fmt.Println(1, faults.FromRule(job, rule))
	// Output:
	// 0 crash sink/0 after effect 9
	// 1 crash source/1 after effect 11
	// 1 crash source/1 after effect 11
}

func ExampleFromRule() {
	rule := model.Rule{Action: model.Pause, Proc: 2, Point: model.After, Scope: model.RecordEffect,
		N: 2, Record: model.ID{Part: 1, Offset: 7}, For: 80_000_000}
	fmt.Println(faults.FromRule(exampleJob(), rule))
	// Output: pause upper/0 after effect 2 of record input/1:7 for 80ms
}

func ExampleAll() {
	for _, s := range faults.All() {
		fmt.Printf("%-9s  %s\n", s.Name, s.Example)
	}
	// Output:
	// crash      crash sink/0 before ack of write 2
	// pause      pause source/0 at record input/0:7 for 80ms
	// lose       lose answer of write 2 from sink/0
	// delay      delay call put 2 of op/1 by 300ms
	// duplicate  duplicate call write 2 of sink/0 by 20ms
	// reorder    reorder data 2 from op/0 to sink/0
	// partition  partition op/0 | store for 40ms at put 2
	// refuse     refuse call put 3 of count/0
	// forget     forget call write 2 of sink/0
	// tear       tear call upload 2 of count/0
	// stale      stale call get 2 of count/0
	// truncate   truncate input/0 before 3 at fetch 2 of source/0
	// poison     poison record 7 at op/0
}

func ExampleParseDuration() {
	ns, ok := faults.ParseDuration("1500ms")
	fmt.Println(ns, ok, faults.FormatDuration(ns))
	// Output: 1500000000 true 1.5s
}
