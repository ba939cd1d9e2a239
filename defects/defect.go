package defects

import (
	"fmt"
	"slices"

	"github.com/oncesim/oncesim/model"
)

// Defect is one planted bug.
type Defect struct {
	Name   string // in lists and flags: "commit-on-read"
	Says   string // one sentence, without its full stop: what goes wrong
	Origin string // a public report of it: "apache/flink#5030 (FLINK-8086)"
	// IsKindOnly: the report gives the symptom or the fix, and some of the steps are made up here.
	// What the defect shows is the kind of bug, and not that very one.
	IsKindOnly bool
	Kind       *Kind    // or nil: no kind of this package
	Modes      []string // those that it can be planted in
	Property   string   // what must catch it, under each of Modes: a claim of each; or nothing
	Shown      Case     // a small run in which it is caught, or nothing
	Why        string   // of Equivalents: why nothing can catch it

	// Set are parameters that the job has in place of those of the scenario.
	Set []model.ParamValue
	// Process puts something in front of the process of a task, or returns it as it is; nil: the
	// same. Like Mode.New it is called once for each process object.
	Process func(job *model.Job, task *model.Task, p model.Process) model.Process
	// Service puts something in front of a service, or returns it as it is; nil: the same.
	Service func(id model.ServiceID, s model.Service) model.Service
}

// Case is a run in which a defect is caught; without the defect, the run violates nothing that the
// mode claims.
type Case struct {
	Mode     string // "": the first of Modes
	Topology string // or a scenario of the library
	Records  int
	Seed     uint64 // 0: 1
	Set      []model.ParamValue
	Plan     []string // lines of the fault language; nil: no fault is needed
}

// Kind is a root cause.
type Kind struct {
	Name string
	Says string // one line
	// Without says, for a kind of which there is no defect, why the modes cannot express it.
	Without string
}

// Fits reports whether d can be planted in a mode of that name.
func (d *Defect) Fits(mode string) bool { return slices.Contains(d.Modes, mode) }

// Mode is a mode with the defect in its processes.
func (d *Defect) Mode(mode *model.Mode) *model.Mode {
	if d.Process == nil {
		return mode
	}
	m := *mode
	m.New = func(job *model.Job, task *model.Task) model.Process {
		return d.Process(job, task, mode.New(job, task))
	}
	return &m
}

// Params are the parameters of a job with those of the defect in their place.
func (d *Defect) Params(params []model.ParamValue) []model.ParamValue {
	if len(d.Set) == 0 {
		return params
	}
	all := slices.Clone(params)
	for _, v := range d.Set {
		at := slices.IndexFunc(all, func(p model.ParamValue) bool { return p.Name == v.Name })
		if at < 0 {
			panic(fmt.Sprintf("defects: %s sets %s, which the mode does not have", d.Name, v.Name))
		}
		all[at] = v
	}
	return all
}
