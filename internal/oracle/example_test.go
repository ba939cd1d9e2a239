package oracle_test

import (
	"fmt"

	"github.com/oncesim/oncesim/internal/oracle"
	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/semantics"
	"github.com/oncesim/oncesim/sim"
)

// The sink dies between a write and its acknowledgement: at least once writes the record again.
func ExampleJudge() {
	mode := &semantics.AtLeastOnce
	var params []model.ParamValue
	for _, p := range mode.Params {
		params = append(params, model.ParamValue{Name: p.Name, Value: p.Default})
	}
	job := model.NewJob(chain(1, 1, &double), params)
	input := records(quick, "a1")
	world := sim.New(job, mode, input, &sim.AppendLog, sim.Config{})
	rules := []model.Rule{crash(job.Find("sink/0"), model.After, model.Write, 1)}
	history := world.Run(1, rules, sim.Options{Trace: true})

	report := oracle.Judge(job, mode, input, model.Log, world.Trace(), history)
	fmt.Print(report)
	// Output:
	// at-most-once       violated: duplicate 0:0
	// at-least-once      holds
	// replay-explained   holds
	// exactly-once-state holds
	// exactly-once       violated: duplicate 0:0
	// effectively-once   holds
	// order              holds
	// no-revision        holds
	// progress           holds
	// mechanism          holds
	// atomic-visibility  holds
	// global-visibility  holds
	// agreement          holds
	// conserved          holds
}
