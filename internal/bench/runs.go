package bench

import (
	"sync"

	"github.com/oncesim/oncesim/checker"
	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/scenarios"
)

// records is how many input records a measured run has, and seeds how many runs a round takes.
const (
	records = 1000
	seeds   = 20
)

// job is a scenario under at-least-once with one crash, which the measured runs repeat under many
// seeds.
type job struct {
	lib      *scenarios.Library
	scenario *scenarios.Scenario
	input    *model.Input
	rules    []model.Rule
}

// newJob returns the job of a topology. The last of its operators crashes in the middle.
func newJob(topology string) (*job, error) {
	j := &job{lib: scenarios.Builtin(), scenario: &scenarios.Scenario{
		Input: scenarios.InputSpec{Kind: scenarios.InputGenerated, Records: records}}}
	for _, t := range j.lib.Topologies {
		if t.Name == topology {
			j.scenario.Topology = t
		}
	}
	for _, m := range j.lib.Modes {
		if m.Name == "at-least-once" {
			j.scenario.Mode = m
		}
	}
	var err error
	if j.input, _, err = j.lib.LoadInput(j.scenario); err != nil {
		return nil, err
	}
	r, err := j.runner()
	if err != nil {
		return nil, err
	}
	for _, task := range r.Job().Tasks {
		if task.Role == model.Operate {
			j.rules = []model.Rule{{Action: model.Crash, Proc: task.Proc, Point: model.After,
				Scope: model.EveryEffect, N: records / 4}}
		}
	}
	return j, nil
}

func (j *job) runner() (*scenarios.Runner, error) {
	return scenarios.NewRunnerOn(j.lib, j.scenario, j.input)
}

// reused is one world that runs under each seed.
func (j *job) reused() (side, error) {
	r, err := j.runner()
	return func() int {
		for seed := range uint64(seeds) {
			r.Run(seed, j.rules, scenarios.Options{})
		}
		return seeds
	}, err
}

// fresh is a world for each seed.
func (j *job) fresh() side {
	return func() int {
		for seed := range uint64(seeds) {
			r, err := j.runner()
			if err != nil {
				panic(err)
			}
			r.Run(seed, j.rules, scenarios.Options{})
		}
		return seeds
	}
}

// judged is the judging of one history, again and again.
func (j *job) judged() (side, error) {
	r, err := j.runner()
	if err != nil {
		return nil, err
	}
	subject := r.Run(1, j.rules, scenarios.Options{}).Subject
	judge := checker.NewJudge()
	return func() int {
		for range seeds {
			judge.Judge(subject, j.lib.Properties)
		}
		return seeds
	}, nil
}

// abreast is so many workers, each with a world of its own.
func (j *job) abreast(workers int) (side, error) {
	var sides []side
	for range workers {
		s, err := j.reused()
		if err != nil {
			return nil, err
		}
		sides = append(sides, s)
	}
	return func() int {
		var wait sync.WaitGroup
		for _, s := range sides {
			wait.Go(func() { s() })
		}
		wait.Wait()
		return seeds * workers
	}, nil
}

// runs measures whole runs: 1000 records under at-least-once, one crash, judged by every property.
func runs() []contest {
	return []contest{
		{name: "pipeline in a reused world", unit: "ns/run", to: "a new world for each run",
			goal: atMost("0.80", 0.8), setUp: reusedOrFresh("pipeline")},
		{name: "page-views in a reused world", unit: "ns/run", to: "a new world for each run",
			goal: atMost("0.80", 0.8), setUp: reusedOrFresh("page-views")},
		{name: "judging pipeline by all properties", unit: "ns/run",
			to: "the whole run, judging included", goal: atMost("0.15", 0.15),
			setUp: judgedOrRun("pipeline")},
		{name: "judging page-views by all properties", unit: "ns/run",
			to: "the whole run, judging included", goal: atMost("0.15", 0.15),
			setUp: judgedOrRun("page-views")},
		{name: "keyed runs on one core", unit: "runs/s", isSpeed: true,
			to: "1,000 runs/s (orientation)", fixed: 1e6, goal: atLeast("1.00", 1),
			setUp: func() (side, side, error) {
				j, err := newJob("page-views")
				if err != nil {
					return nil, nil, err
				}
				s, err := j.reused()
				return s, nil, err
			}},
		{name: "pipeline on two cores", unit: "runs/s", isSpeed: true, isParallel: true,
			to: "one core", goal: atLeast("1.80", 1.8), setUp: func() (side, side, error) {
				j, err := newJob("pipeline")
				if err != nil {
					return nil, nil, err
				}
				two, err := j.abreast(2)
				if err != nil {
					return nil, nil, err
				}
				one, err := j.abreast(1)
				return two, one, err
			}},
	}
}

func reusedOrFresh(topology string) func() (side, side, error) {
	return func() (side, side, error) {
		j, err := newJob(topology)
		if err != nil {
			return nil, nil, err
		}
		s, err := j.reused()
		return s, j.fresh(), err
	}
}

func judgedOrRun(topology string) func() (side, side, error) {
	return func() (side, side, error) {
		j, err := newJob(topology)
		if err != nil {
			return nil, nil, err
		}
		judged, err := j.judged()
		if err != nil {
			return nil, nil, err
		}
		s, err := j.reused()
		return judged, s, err
	}
}
