package scenarios

import (
	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/sim"
)

// Ordered begins a run of the scenario that is driven by choices instead of virtual time. The
// runner's world is taken up by it until the next Run or Ordered.
func (r *Runner) Ordered(seed uint64, budget sim.Budget, known *sim.Known,
	opts Options) *sim.Ordered {
	return sim.NewOrdered(r.world, seed, budget, known, opts)
}

// Judge judges a history of the scenario, for example that of a run driven by choices.
func (r *Runner) Judge(h *model.History) Result {
	r.subject.History = h
	res := Result{Subject: r.subject, World: r.world}
	res.Verdicts = r.judge.Judge(r.subject, r.lib.Properties)
	return res
}
