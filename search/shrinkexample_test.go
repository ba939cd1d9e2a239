package search_test

import (
	"context"
	"fmt"

	"github.com/oncesim/oncesim/faults"
	"github.com/oncesim/oncesim/scenarios"
	"github.com/oncesim/oncesim/search"
)

// Of three faults and twelve records, one fault and one record are enough.
func ExampleShrink() {
	lib := scenarios.Builtin()
	s := &scenarios.Scenario{Topology: &scenarios.Pipeline, Mode: lib.Modes[2], Seed: 1}
	s.Faults, _ = faults.ParsePlan(
		"delay ack 2 from sink/0 to op/0 by 3ms",
		"lose request of offset-commit 1 from source/0",
		"crash sink/0 before ack of write 4")
	small, err := search.Shrink(context.Background(), lib, s, search.Shrinking{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(small.Signature)
	fmt.Println("records", small.Records, "minimal", small.IsMinimal)
	for _, line := range small.Scenario.Faults.Lines() {
		fmt.Println(line)
	}
	// Output:
	// at-least-once_at-most-once=duplicate_exactly-once=duplicate
	// records [12 1] minimal true
	// crash sink/0 after write 1
}
