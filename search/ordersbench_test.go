package search_test

import (
	"context"
	"testing"

	"github.com/oncesim/oncesim/scenarios"
	"github.com/oncesim/oncesim/search"
)

// BenchmarkOrders explores a job with checkpoints, without faults and with a crash.
func BenchmarkOrders(b *testing.B) {
	for _, c := range []struct {
		name                     string
		crashes, timers, workers int
	}{{"orders", 0, 1, 1}, {"orders-2", 0, 1, 2}, {"crash", 1, 0, 1}, {"crash-2", 1, 0, 2}} {
		b.Run(c.name, func(b *testing.B) {
			lib := scenarios.Builtin()
			s := &scenarios.Scenario{Topology: twoInputs(lib), Seed: 1}
			for _, m := range lib.Modes {
				if m.Name == "snapshot" {
					s.Mode = m
				}
			}
			s.Input = scenarios.InputSpec{Kind: scenarios.InputInline,
				Lines: []string{"a=1", "a=2", "a=3"}}
			o := search.Orders{Library: lib, Crashes: c.crashes, Timers: c.timers,
				Workers: c.workers, StatesMax: 300_000}
			states := int64(0)
			for range b.N {
				f, err := o.Explore(context.Background(), s)
				if err != nil {
					b.Fatal(err)
				}
				states += f.States
			}
			b.ReportMetric(float64(states)/b.Elapsed().Seconds(), "states/s")
		})
	}
}
