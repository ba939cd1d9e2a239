package sim_test

import (
	"fmt"

	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/semantics"
	"github.com/oncesim/oncesim/sim"
)

// The sink dies between its first write and the answer. At-least-once writes again: the first
// record is visible twice.
func ExampleWorld_Run() {
	w := world(&semantics.AtLeastOnce, double, 1, 2)
	h := w.Run(1, []model.Rule{{Action: model.Crash, Proc: w.Job().Find("sink/0"),
		Point: model.BeforeAck, Scope: model.CallOfKind, Call: model.Write, N: 1}}, sim.Options{})
	for _, seen := range h.Final {
		fmt.Println(w.Job().Topology.RecordName(seen.Out.ID), seen.Out.Value)
	}
	// Output:
	// input/0:0 2
	// input/0:0 2
	// input/0:1 4
}
