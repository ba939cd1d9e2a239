package search_test

import (
	"context"
	"fmt"

	"github.com/oncesim/oncesim/scenarios"
	"github.com/oncesim/oncesim/search"
)

// One crash at every place of a run of three records: at-least-once repeats, and never loses.
func ExampleCell_Place() {
	lib := scenarios.Builtin()
	cell := &search.Cell{
		Library:  lib,
		Scenario: &scenarios.Scenario{Topology: &scenarios.Pipeline, Mode: lib.Modes[2], Seed: 1},
		Class:    lib.Classes[1],
	}
	cell.Scenario.Input.Records = 3
	cell.Scenario.Input.Kind = scenarios.InputGenerated
	tally, err := cell.Place(context.Background(), false)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(cell.Scenario.Mode.Name, "under", cell.Class.Name)
	for i := range lib.Properties {
		switch name := lib.Properties[i].Name; name {
		case "at-most-once", "at-least-once":
			fmt.Println(name, tally.Counts[i].Result())
		}
	}
	// Output:
	// at-least-once under crash
	// at-most-once violated
	// at-least-once holds
}

// The smallest matrix: one mode, one class of faults.
func ExampleCompare() {
	lib := scenarios.Builtin()
	s := &scenarios.Scenario{Topology: &scenarios.Pipeline, Mode: lib.Modes[1], Seed: 1}
	m, err := search.Compare(context.Background(), lib, s, search.Comparing{Modes: lib.Modes[1:2],
		Classes: lib.Classes[1:2], First: 1, Last: 20})
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range lib.Properties {
		if r := &m.Rows[0]; lib.Properties[i].Name == "at-most-once" {
			fmt.Println(r.Mode.Name, r.Class.Name, r.Claims[i], r.Observed(i))
		}
	}
	// Output:
	// at-most-once crash holds holds
}
