package scenarios

import (
	"fmt"

	"github.com/oncesim/oncesim/checker"
	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/sim"
)

// Runner runs one scenario any number of times, under other seeds and faults, in one world that it
// reuses. It is not safe for concurrent use; runners share nothing but their immutable input.
type Runner struct {
	lib     *Library
	subject checker.Subject
	world   *sim.World
	judge   *checker.Judge
	stats   InputStats
}

// Options choose what a run records besides its history.
type Options = sim.Options

// Result is one run and its verdicts, one for each property of the library. It is valid until the
// runner's next Run.
type Result struct {
	Subject  checker.Subject
	Verdicts []model.Verdict
	Trace    []model.Entry // where asked for
	World    *sim.World    // for judges that look inside
}

// NewRunner lays out the job of a scenario and loads its input.
func NewRunner(lib *Library, s *Scenario) (*Runner, error) {
	input, stats, err := lib.LoadInput(s)
	if err != nil {
		return nil, err
	}
	r, err := NewRunnerOn(lib, s, input)
	if err != nil {
		return nil, err
	}
	r.stats = stats
	return r, nil
}

// NewRunnerOn is NewRunner on an input that is loaded already, for example one that many runners
// share.
func NewRunnerOn(lib *Library, s *Scenario, input *model.Input) (*Runner, error) {
	sink, err := lib.sinkOf(s)
	if err != nil {
		return nil, err
	}
	job, mode := s.Job(), s.Mode
	cfg := sim.Config{EventsMax: s.Bounds.Events, DrainTime: s.Bounds.Time}
	if d := s.Defect; d != nil {
		mode, cfg.Wrap = d.Mode(mode), d.Service
	}
	return &Runner{
		lib:     lib,
		subject: checker.Subject{Job: job, Mode: s.Mode, Input: input, Shape: sink.Shape},
		world:   sim.New(job, mode, input, sink, cfg),
		judge:   checker.NewJudge(),
	}, nil
}

// Job lays out the job of the scenario: what names in fault lines refer to.
func (s *Scenario) Job() *model.Job {
	params := withDefaults(s.Mode, s.Params)
	if s.Defect != nil {
		params = s.Defect.Params(params)
	}
	return model.NewJob(s.Topology, params, s.Mode.Extra...)
}

// Job is the layout that rules and extents refer to.
func (r *Runner) Job() *model.Job { return r.subject.Job }

// Input is what the job reads.
func (r *Runner) Input() *model.Input { return r.subject.Input }

// Stats says how the input was read.
func (r *Runner) Stats() InputStats { return r.stats }

// Run runs the scenario under a seed and compiled faults, and judges it.
func (r *Runner) Run(seed uint64, rules []model.Rule, opts Options) Result {
	r.subject.History = r.world.Run(seed, rules, opts)
	res := Result{Subject: r.subject, World: r.world}
	res.Verdicts = r.judge.Judge(r.subject, r.lib.Properties)
	if opts.Trace {
		res.Trace = r.world.Trace()
	}
	return res
}

// Extent is what a run under a seed and compiled faults offers to anchor faults at; it is valid
// until the next run. The run is not judged.
func (r *Runner) Extent(seed uint64, rules []model.Rule) *model.Extent {
	return &r.world.Run(seed, rules, Options{}).Extent
}

// Hash is the trace hash of a run under a seed and compiled faults. The run is not judged.
func (r *Runner) Hash(seed uint64, rules []model.Rule, opts Options) uint64 {
	return r.world.Run(seed, rules, opts).End.Hash
}

// Run runs a scenario once, with its own seed and faults.
func Run(lib *Library, s *Scenario, opts Options) (*Runner, Result, error) {
	r, err := NewRunner(lib, s)
	if err != nil {
		return nil, Result{}, err
	}
	rules, err := s.Faults.Compile(r.Job())
	if err != nil {
		return nil, Result{}, err
	}
	return r, r.Run(s.Seed, rules, opts), nil
}

// sinkOf returns the sink that a scenario names, or the default of its mode.
func (lib *Library) sinkOf(s *Scenario) (*model.SinkSpec, error) {
	name := s.Sink
	if name == "" {
		name = s.Mode.Sink
	}
	for _, sink := range lib.Sinks {
		switch {
		case sink.Name != name:
		case s.Mode.Transacts && !sink.Transactional:
			return nil, fmt.Errorf("mode %s writes transactions, and sink %s has none",
				s.Mode.Name, name)
		default:
			return sink, nil
		}
	}
	return nil, fmt.Errorf("the library has no sink %q (mode %s)", name, s.Mode.Name)
}

// withDefaults completes the parameters of a mode, in the order of their declaration.
func withDefaults(mode *model.Mode, set []model.ParamValue) []model.ParamValue {
	var all []model.ParamValue
	for _, p := range mode.Params {
		v := model.ParamValue{Name: p.Name, Value: p.Default}
		for _, given := range set {
			if given.Name == p.Name {
				v.Value = given.Value
			}
		}
		all = append(all, v)
	}
	return all
}
