package bench

import (
	"context"
	"errors"

	"github.com/oncesim/oncesim/faults"
	"github.com/oncesim/oncesim/scenarios"
	"github.com/oncesim/oncesim/search"
)

// sweptSeeds is how many seeds a sweep has that is measured.
const sweptSeeds = 200

// sweeps measures what a sweep costs beside the event loop and the judge: processes and services at
// work, plans, resets and bookkeeping. Each run has 1000 records and the job's crash.
func sweeps() []contest {
	return []contest{
		{name: "pipeline in a sweep on one core", unit: "ns/run",
			to: "as many events of the bare loop of pings, and the judging", setUp: sweptOrLoop,
			goal: atMost("1.30", 1.3)},
	}
}

func sweptOrLoop() (side, side, error) {
	j, err := newJob("pipeline")
	if err != nil {
		return nil, nil, err
	}
	r, err := j.runner()
	if err != nil {
		return nil, nil, err
	}
	s := *j.scenario
	s.Faults = faults.Plan{faults.FromRule(r.Job(), j.rules[0])}
	s.Name, s.Seed = s.Topology.Name, 1
	events := r.Run(s.Seed, j.rules, scenarios.Options{}).Subject.History.End.N
	judged, err := j.judged()
	if err != nil {
		return nil, nil, err
	}
	swept := func() int {
		sweep, err := search.NewSweep(j.lib, []search.Unit{{Scenario: &s}},
			search.Sweeping{First: 1, Last: sweptSeeds, Workers: 1})
		if err = errors.Join(err, sweep.Run(context.Background())); err != nil {
			panic(err)
		}
		return sweptSeeds
	}
	// Two entries of a trace are one flight of a ping: it leaves and arrives.
	turns := loopOf(256, sweptSeeds*int(events)/2, true)
	return swept, func() int {
		turns()
		for range sweptSeeds / seeds {
			judged()
		}
		return sweptSeeds
	}, nil
}
