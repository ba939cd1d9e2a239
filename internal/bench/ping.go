package bench

import (
	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/sim"
)

// The world of the event loop: four processes of each of four kinds throw balls to each other for
// ever. Every event is a message that arrives, a trivial step, and a message that leaves.
const (
	perKind   = 4
	pingProcs = 4 * perKind
)

// pings builds the world with so many balls and a budget of so many of their flights.
func pings(balls, flights int) *sim.World {
	double := &model.Operator{Name: "same", Step: func(_ model.Record, state model.Value,
		_ *model.Outputs) model.Value {
		return state
	}}
	topology := &model.Topology{Name: "pings",
		Inputs: []model.InputSpec{{Name: "input", Partitions: perKind}},
		Stages: []model.Stage{{Name: "same", Operator: double, From: []string{"input"},
			Parallel: perKind}}}
	mode := &model.Mode{Name: "pings", New: func(_ *model.Job, task *model.Task) model.Process {
		p := ping{balls: balls / pingProcs}
		switch task.Role {
		case model.Source:
			return &up{p}
		case model.Operate:
			return &down{p}
		case model.Sink:
			return &around{p}
		}
		return &keep{p}
	}}
	parts := make([]model.Partition, perKind)
	for i := range parts {
		parts[i].Every = 1
	}
	job := model.NewJob(topology, nil, "a", "b", "c", "d")
	// Each flight has two entries in the trace: its start and its end.
	sink := sim.AppendLog
	return sim.New(job, mode, model.NewInput(parts), &sink,
		sim.Config{EventsMax: int64(2 * flights), DrainTime: 1 << 60})
}

// unreached are rules for every process that count and never strike: what a fault costs before it
// comes.
func unreached() []model.Rule {
	var rules []model.Rule
	for i := range model.ProcID(pingProcs) {
		rules = append(rules, model.Rule{Action: model.Crash, Proc: i, Point: model.After,
			Scope: model.EveryEffect, N: 1 << 60})
	}
	return rules
}

// ping is what the four kinds share.
type ping struct {
	self  model.ProcID
	balls int
	steps int64
}

// Start implements model.Process.
func (p *ping) Start(self model.Self, s *model.Script) {
	p.self, p.steps = self.Proc, 0
	for i := range p.balls {
		m := model.Message{Kind: model.Data, Seq: int64(self.Proc)<<32 | int64(i)}
		m.Record.ID.Offset = int64(i)
		s.Send(model.ProcID(i%pingProcs), m)
	}
}

// State implements model.Process.
func (p *ping) State(c *model.Codec) {
	self := int64(p.self)
	c.Int64(&self)
	c.Int64(&p.steps)
	p.self = model.ProcID(self)
}

// throw sends a ball on as it came, to a process that its number and some word decide.
func (p *ping) throw(s *model.Script, ball *model.Message, word int64) {
	to := model.Below(model.Mix(uint64(word)^0x9e3779b97f4a7c15, uint64(ball.Seq)^
		0xbf58476d1ce4e5b9), pingProcs)
	s.Send(model.ProcID(to), *ball)
}

type (
	up     struct{ ping }
	down   struct{ ping }
	around struct{ ping }
	keep   struct{ ping }
)

// Step implements model.Process.
func (p *up) Step(ev *model.Event, s *model.Script) {
	p.steps += 3
	p.throw(s, &ev.Msg, p.steps)
}

// Step implements model.Process.
func (p *down) Step(ev *model.Event, s *model.Script) {
	p.steps--
	p.throw(s, &ev.Msg, p.steps)
}

// Step implements model.Process.
func (p *around) Step(ev *model.Event, s *model.Script) {
	p.steps = p.steps*5 + 1
	p.throw(s, &ev.Msg, p.steps)
}

// Step implements model.Process.
func (p *keep) Step(ev *model.Event, s *model.Script) {
	p.steps ^= ev.Msg.Seq
	p.throw(s, &ev.Msg, p.steps+int64(ev.From))
}
