package oracle_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/semantics"
	"github.com/oncesim/oncesim/sim"
)

// modes lists those with checkpoints, or the others.
func modes(withCheckpoints bool) []*model.Mode {
	var list []*model.Mode
	for _, mode := range semantics.All() {
		isOne := mode.State == model.Snapshotted || mode.Restart == model.RestartJob
		if isOne == withCheckpoints {
			list = append(list, mode)
		}
	}
	return list
}

// accounts is a topology that conserves money: a payment takes from one account, and its other
// half travels to the next one, "b" behind "a".
func accounts() *model.Topology {
	debit := model.Operator{Name: "debit", Kind: model.Commutative,
		Step: func(in model.Record, state model.Value, out *model.Outputs) model.Value {
			state.Num -= in.Value.Num
			out.Emit(string(in.Key[0]+1), in.Value)
			return state
		}}
	t := chain(2, 2, &debit, &count)
	t.Stages[0].Exchange = model.ByKey
	t.Conserves = &model.Invariant{Says: "money",
		State:  func(_ int32, v model.Value) int64 { return v.Num },
		Record: func(r model.Record) int64 { return r.Value.Num }}
	return t
}

// bank is a job that conserves money, on inputs that keep some of it on its way.
var bank = []place{
	{"two sinks", chain(1, 2, &double), quick, "a1 b2 c3 d4"},
	{"two sinks, slow", chain(2, 2, &count), slow, "a1 b2|c5 d7"},
	{"accounts", accounts(), quick, "a1 b2 c3|a5 b7 c1"},
	{"accounts, slow", accounts(), slow, "a1 b2|c5 b7"},
}

// storm draws what happens to one run: parameters, a sink, and faults.
type storm struct {
	seed uint64
	drew uint64
}

func (s *storm) below(n int) int {
	s.drew++
	return int(model.Below(model.Draw(s.seed, model.DrawPlan, s.drew, 0, 0), int64(n)))
}

// params sets some parameters of a mode to small values, or to little time.
func (s *storm) params(mode *model.Mode) []model.ParamValue {
	var set []model.ParamValue
	for _, p := range mode.Params {
		switch {
		case s.below(6) > 0:
		case p.IsTime:
			length := max(p.Min, int64(5+s.below(40))*ms)
			set = append(set, model.ParamValue{Name: p.Name, Value: min(p.Max, length)})
		default:
			value := p.Min + int64(s.below(int(min(p.Max-p.Min, 3))+1))
			set = append(set, model.ParamValue{Name: p.Name, Value: value})
		}
	}
	return set
}

// fault draws a fault in a run of some extent, or none.
func (s *storm) fault(x *model.Extent) []model.Rule {
	if s.below(20) == 0 {
		return []model.Rule{poison(model.ProcID(s.below(len(x.Effects))), int64(s.below(3)))}
	}
	all := append([]model.Rule{{Action: model.RefuseRequest}, {Action: model.ForgetRequest},
		{Action: model.StaleRead}, {Action: model.TearRequest}, {Action: model.Crash},
		{Action: model.Crash}}, strikes...)
	list := everywhere(all[s.below(len(all))], x)
	if len(list) == 0 {
		return nil
	}
	return list[s.below(len(list)):][:1]
}

// Both judges say the same of modes with checkpoints, whatever their parameters, before every
// external system that they can write to, under up to two faults.
func TestAgreementOnCheckpoints(t *testing.T) {
	c := newComparison()
	seeds := uint64(12)
	switch {
	case *deep:
		seeds = 200
	case underRace:
		seeds = 3
	}
	all := slices.Concat(bank, places, choicePlaces)
	for i, mode := range modes(true) {
		for seed := uint64(1); seed <= seeds; seed++ {
			s := &storm{seed: seed<<8 | uint64(i)}
			at := all[s.below(len(all))]
			sink := sinkOf(mode)
			if s.below(3) == 0 {
				sink = s.other(mode)
			}
			b := newBenchAt(t, mode, sink, at.top, records(at.every, at.in), s.params(mode)...)
			c.run(at.name, b, seed)
			x := extent(b.last)
			for n := range 8 {
				rules := s.fault(x)
				if n%2 == 1 {
					rules = append(rules, s.fault(x)...)
				}
				c.run(at.name, b, seed<<4|uint64(n), rules...)
			}
		}
	}
	c.report(t)
	if underRace {
		return
	}
	for _, kind := range []model.AnomalyKind{model.DirtyRead, model.EarlyRead, model.TornRead,
		model.Hanging, model.Unbalanced, model.InconsistentCut, model.ZombieWrite} {
		assert.NotZero(t, c.seen[kind], "no run shows %s", kind)
	}
}

// Both say the same where half of a part is there and the job goes back to it, whether or not it
// finds out.
func TestAgreementOnTornParts(t *testing.T) {
	if underRace {
		return
	}
	c := newComparison()
	for i, at := range slices.Concat(bank, places, choicePlaces) {
		for _, checks := range []int64{0, 1} {
			mode := modes(true)[i%len(modes(true))]
			set := []model.ParamValue{param("checksums", checks), param("fall-back", 1),
				param("alignment", int64(i)%4)}
			set = slices.DeleteFunc(set, func(v model.ParamValue) bool {
				return mode.Param(v.Name) == nil
			})
			b := newBench(t, mode, at.top, records(at.every, at.in), set...)
			c.run(at.name, b, 1)
			x := extent(b.last)
			for n, tear := range everywhere(model.Rule{Action: model.TearRequest}, x) {
				c.run(at.name, b, 1, tear)
				crashes := everywhere(model.Rule{Action: model.Crash}, x)
				c.run(at.name, b, 1, tear, crashes[n*7%len(crashes)])
				c.run(at.name, b, 2, tear, crashes[n*31%len(crashes)])
			}
		}
	}
	c.report(t)
	assert.NotZero(t, c.seen[model.StateLoss])
	assert.NotZero(t, c.seen[model.StateDuplicate])
}

// sinkOf is the sink that belongs to a mode.
func sinkOf(mode *model.Mode) *model.SinkSpec {
	for _, sink := range systems {
		if sink.Name == mode.Sink {
			return sink
		}
	}
	panic(mode.Sink)
}

// other draws a sink that a mode can write to: one that begins transactions needs a log that knows
// them.
func (s *storm) other(mode *model.Mode) *model.SinkSpec {
	if mode.Sink == sim.TransactionalLog.Name {
		return &sim.TransactionalLogUncommitted
	}
	return systems[s.below(len(systems))]
}
