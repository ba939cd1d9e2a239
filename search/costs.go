package search

import (
	"context"

	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/scenarios"
)

// Cost is what a mode pays on a scenario.
type Cost struct {
	Mode *model.Mode
	// Steady is what a run without faults costs: the median over the seeds, number by number.
	Steady Metrics
	// Crashed adds up the runs under crashes, a plan for each seed.
	Crashed Toll
}

// Toll is what crashes cost: sums over runs, since the median of numbers that are mostly 0 says
// little, and the most that one run came to.
type Toll struct {
	Crashes  int64 // that struck
	Sum      Metrics
	Most     Metrics
	IsTraced bool // of every run; see Metrics
}

// add counts one run.
func (t *Toll) add(m *Metrics, crashes int64) {
	t.Crashes += crashes
	t.IsTraced = t.IsTraced && m.IsTraced
	sum, most := t.Sum.numbers(), t.Most.numbers()
	for i, n := range m.numbers() {
		*sum[i] += *n
		*most[i] = max(*most[i], *n)
	}
}

// costSeedsMax is how many seeds Costs takes at most: more of them do not move a median.
const costSeedsMax = 100

// Costs measures modes on a scenario: for each seed from first to last, a hundred at most, a run
// without faults and one under a plan of crashes. It stops early, without an error, when the
// context ends: the modes that were not measured to the end are missing.
func Costs(ctx context.Context, lib *scenarios.Library, s *scenarios.Scenario,
	modes []*model.Mode, first, last uint64) ([]Cost, error) {
	input, _, err := lib.LoadInput(s)
	if err != nil {
		return nil, err
	}
	if last-first >= costSeedsMax {
		last = first + costSeedsMax - 1
	}
	var costs []Cost
	for _, mode := range modes {
		if ctx.Err() != nil {
			break
		}
		cell := Cell{Library: lib, Scenario: WithMode(s, mode), Input: input, Class: faultless}
		steady, err := cell.measure(ctx, first, last)
		if err != nil {
			return nil, err
		}
		cell.Class = crashes
		crashed, err := cell.measure(ctx, first, last)
		if err != nil {
			return nil, err
		}
		if ctx.Err() != nil {
			break
		}
		cost := Cost{Mode: mode, Steady: medians(metricsOf(steady)), Crashed: Toll{IsTraced: true}}
		for i := range crashed {
			cost.Crashed.add(&crashed[i].metrics, crashed[i].struck)
		}
		costs = append(costs, cost)
	}
	return costs, nil
}

// faultless is the class of runs in which nothing goes wrong.
var faultless = &scenarios.Class{Name: "no-fault"}

// measured is one run of Cell.measure.
type measured struct {
	metrics Metrics
	struck  int64 // faults
}

func metricsOf(runs []measured) []Metrics {
	list := make([]Metrics, len(runs))
	for i := range runs {
		list[i] = runs[i].metrics
	}
	return list
}

// measure is Seeds with the metrics of each run, in the order of the seeds. Those of runs that
// were not made are zero.
func (c Cell) measure(ctx context.Context, first, last uint64) ([]measured, error) {
	w, err := c.worker()
	if err != nil {
		return nil, err
	}
	res := w.runner.Run(c.Scenario.Seed, nil, scenarios.Options{})
	c.Trace = res.Subject.History.End.N <= TracedMax
	runs := make([]measured, last-first+1)
	c.Inspect = func() Inspect {
		return func(seed uint64, _ []model.Rule, res *scenarios.Result) {
			run := &runs[seed-first]
			run.metrics = Measure(res)
			for _, n := range res.Subject.History.Reached {
				if n != 0 {
					run.struck++
				}
			}
		}
	}
	_, err = c.Seeds(ctx, first, last)
	return runs, err
}
