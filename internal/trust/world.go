package trust

import (
	"fmt"
	"slices"

	"github.com/oncesim/oncesim/faults"
	"github.com/oncesim/oncesim/internal/oracle"
	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/scenarios"
	"github.com/oncesim/oncesim/search"
)

// inputs are the worlds of blind runs: topologies, and how many records they read. Between them
// they have every kind of operator, several partitions and tasks, two inputs, a fan-out, emission
// that depends on state, and money.
var inputs = []struct {
	topology string
	records  int
}{
	{"pipeline", 4}, {"page-views", 8}, {"running-average", 8}, {"transfers", 5}, {"fan-out", 4},
	{"threshold", 6}, {"lottery", 4}, {"accounts", 6},
}

// Run is one blind run. It is valid until the world's next one.
type Run struct {
	Scenario *scenarios.Scenario // of the world: without the seed and the plan of the run
	Seed     uint64
	Rules    []model.Rule
	Result   scenarios.Result
	Broken   []string // the properties that the mode claims of the run and that it violates
	Unknown  []string // those that it claims and that are not known
}

// Whole is the scenario of the run, with its seed and plan.
func (r *Run) Whole() *scenarios.Scenario {
	s := *r.Scenario
	s.Seed = r.Seed
	job := s.Job()
	for _, rule := range r.Rules {
		s.Faults = append(s.Faults, faults.FromRule(job, rule))
	}
	return &s
}

// World runs one scenario blindly.
type World struct {
	lib      *scenarios.Library
	scenario *scenarios.Scenario
	runner   *scenarios.Runner // nil until its first turn
	planner  *search.Planner
	oracle   *oracle.Oracle
	claims   []string
	run      Run
}

// Worlds makes the worlds of a mode, with a defect planted in it, or nil: each topology as it is,
// with checkpoints in quick succession, and under each class of the mode's envelope that changes
// the scenario.
func Worlds(lib *scenarios.Library, mode *model.Mode, defect string) ([]*World, error) {
	var list []*World
	for _, in := range inputs {
		set := scenarios.Settings{Name: in.topology, Library: lib, Mode: mode.Name,
			Records: in.records, Defect: defect}
		_, s, err := set.Resolve()
		if err != nil {
			return nil, err
		}
		list = append(list, worldsOf(lib, s)...)
	}
	return list, nil
}

func worldsOf(lib *scenarios.Library, s *scenarios.Scenario) (list []*World) {
	varied := []*scenarios.Scenario{s}
	if p := s.Mode.Param("interval"); p != nil {
		hasty := *s
		hasty.Params = []model.ParamValue{{Name: p.Name, Value: 1_000_000}}
		varied = append(varied, &hasty)
	}
	for _, class := range lib.Classes {
		if class.Vary != nil && class.Applies(s.Mode) &&
			slices.Contains(s.Mode.Tolerates, class.Name) {
			varied = append(varied, search.Under(s, s.Mode, class))
		}
	}
	for _, s := range varied {
		list = append(list, &World{lib: lib, scenario: s,
			claims: s.Claims()})
	}
	return list
}

// open prepares the world to run.
func (w *World) open() (err error) {
	if w.runner != nil {
		return nil
	}
	s := w.scenario
	if w.runner, err = scenarios.NewRunner(w.lib, s); err == nil {
		w.planner, err = search.NewPlanner(w.runner, s, search.Envelope(w.lib, s.Mode), 0)
	}
	if err != nil {
		return fmt.Errorf("%s under %s: %w", s.Name, s.ModeText(), err)
	}
	return nil
}

// turn is the world and the seed of blind run number n, from 1. No two runs have one seed, and each
// world has odd ones and even ones: a planner places further faults otherwise under these.
func turn(worlds []*World, n int64) (*World, uint64, error) {
	round, i := (n-1)/int64(len(worlds)), (n-1)%int64(len(worlds))
	return worlds[i], uint64(n + round), worlds[i].open()
}

// Run runs the world under a seed. Every fault is of the mode's envelope, so that what it claims it
// claims of this run.
func (w *World) Run(seed uint64, opts scenarios.Options) *Run {
	r := &w.run
	r.Scenario, r.Seed = w.scenario, seed
	r.Rules = w.planner.Plan(w.runner, seed, r.Rules[:0])
	r.Result = w.runner.Run(seed, r.Rules, opts)
	r.Broken, r.Unknown = r.Broken[:0], r.Unknown[:0]
	for i := range r.Result.Verdicts {
		switch v := &r.Result.Verdicts[i]; {
		case !slices.Contains(w.claims, v.Property):
		case v.Result == model.Violated:
			r.Broken = append(r.Broken, v.Property)
		case v.Result == model.Undecided:
			r.Unknown = append(r.Unknown, v.Property)
		}
	}
	return r
}

// Inside judges the run that the world has made last from the inside; it was made with a trace.
func (w *World) Inside() *oracle.Report {
	if w.oracle == nil {
		s := w.run.Result.Subject
		w.oracle = oracle.New(s.Job, s.Mode, s.Input, s.Shape)
	}
	return w.oracle.Judge(w.run.Result.Trace, w.run.Result.Subject.History)
}
