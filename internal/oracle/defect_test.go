package oracle_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/oncesim/oncesim/internal/oracle"
	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/semantics"
	"github.com/oncesim/oncesim/sim"
)

// tampered is a process whose effects are edited before they are carried out. An edit that returns
// false drops the effect.
type tampered struct {
	model.Process
	edit func(e *model.Effect) bool
}

func (p *tampered) Start(self model.Self, s *model.Script) {
	from := len(s.Effects)
	p.Process.Start(self, s)
	p.rewrite(s, from)
}

func (p *tampered) Step(ev *model.Event, s *model.Script) {
	from := len(s.Effects)
	p.Process.Step(ev, s)
	p.rewrite(s, from)
}

func (p *tampered) rewrite(s *model.Script, from int) {
	kept := s.Effects[:from]
	for _, e := range s.Effects[from:] {
		if p.edit(&e) {
			kept = append(kept, e)
		}
	}
	s.Effects = kept
}

// tamper is a mode whose tasks of one stage are edited.
func tamper(mode model.Mode, role model.Role, edit func(e *model.Effect) bool) *model.Mode {
	build := mode.New
	mode.New = func(job *model.Job, task *model.Task) model.Process {
		if p := build(job, task); task.Role != role {
			return p
		}
		return &tampered{build(job, task), edit}
	}
	return &mode
}

// on edits the effects whose message has a kind.
func on(kind model.Kind, edit func(m *model.Message)) func(e *model.Effect) bool {
	return func(e *model.Effect) bool {
		if e.Kind != model.EffectApplied && e.Msg.Kind == kind {
			edit(&e.Msg)
		}
		return true
	}
}

// without drops the effects whose message has a kind and is about the record at an offset.
func without(kind model.Kind, offset int64) func(e *model.Effect) bool {
	return func(e *model.Effect) bool {
		return e.Kind == model.EffectApplied || e.Msg.Kind != kind ||
			e.Msg.Record.ID.Offset != offset
	}
}

// What no step gives is found where it enters: at the source, the operator, the store or the sink.
func TestDefects(t *testing.T) {
	larger := func(m *model.Message) { m.Record.Value.Num++ }
	for _, s := range []struct {
		name string
		mode *model.Mode
		op   *model.Operator
		want string
	}{
		{"the sink writes another value", tamper(semantics.AtMostOnce, model.Sink,
			on(model.Write, larger)), &double,
			"at-most-once no-subsequence; at-least-once loss; replay-explained unexplained; " +
				"exactly-once loss wrong-value"},
		{"the operator sends another value", tamper(semantics.AtMostOnce, model.Operate,
			on(model.Data, larger)), &double,
			"at-most-once no-subsequence; at-least-once loss; replay-explained unexplained; " +
				"exactly-once loss wrong-value"},
		{"the source hands out another value", tamper(semantics.AtMostOnce, model.Source,
			on(model.Data, larger)), &double,
			"at-most-once no-subsequence; at-least-once loss; replay-explained unexplained; " +
				"exactly-once loss wrong-value"},
		{"the operator stores another value", tamper(semantics.AtMostOnce, model.Operate,
			on(model.Put, larger)), &count,
			"at-most-once no-subsequence; replay-explained unexplained; " +
				"exactly-once-state wrong-state; exactly-once wrong-state; " +
				"effectively-once wrong-state"},
		{"the operator sends what it has not emitted", tamper(semantics.AtMostOnce, model.Operate,
			on(model.Data, func(m *model.Message) { m.Record.Path++ })), &double,
			"at-most-once phantom; at-least-once loss; replay-explained phantom; " +
				"exactly-once loss phantom"},
		{"the source hands out what is no input", tamper(semantics.AtMostOnce, model.Source,
			on(model.Data, func(m *model.Message) { m.Record.ID.Offset += 9 })), &double,
			"at-most-once phantom; at-least-once loss; replay-explained phantom; " +
				"exactly-once loss phantom"},
		{"the sink drops a write and goes on", tamper(semantics.AtLeastOnce, model.Sink,
			without(model.Write, 1)), &count,
			"at-least-once loss; exactly-once loss"},
		{"the operator does not store one state", tamper(semantics.AtLeastOnce, model.Operate,
			without(model.Put, 1)), &count,
			"at-most-once no-subsequence; exactly-once-state state-loss; " +
				"exactly-once state-loss; effectively-once state-loss"},
	} {
		t.Run(s.name, func(t *testing.T) {
			b := newBench(t, s.mode, chain(1, 1, s.op), records(slow, "a1 a2"))
			report := b.run(1)
			if !assert.Equal(t, sorted(s.want), broken(report)) {
				t.Log("\n" + report.String() + b.trace())
			}
			assert.Empty(t, oracle.Disagreement(report, b.check()))
		})
	}
}

// Outputs show one order of two inputs and the store holds what the other order gives: each is
// legal, but of no one execution.
func TestDefectsThatDiverge(t *testing.T) {
	mode := tamper(semantics.AtMostOnce, model.Operate, on(model.Put, func(m *model.Message) {
		if v := &m.Record.Value.Num; *v > 9 {
			*v = *v/10 + *v%10*10
		}
	}))
	b := newBench(t, mode, chain(2, 1, &digits), records(slow, "a1|a2"))
	assert.Equal(t, sorted("at-most-once no-subsequence; replay-explained unexplained; "+
		"exactly-once divergence"), broken(b.run(1)))
}

// One branch of a fork is lost although the other branch brings the same input to the sink.
func TestDefectsInOneBranch(t *testing.T) {
	mode := tamper(semantics.AtMostOnce, model.Operate, func(e *model.Effect) bool {
		return e.Msg.Kind != model.Data || e.Msg.Record.Op != 2
	})
	b := newBench(t, mode, fork(&double, &double), records(slow, "a1"))
	assert.Equal(t, sorted("at-least-once loss; exactly-once loss"), broken(b.run(1)))
}

// liar is an external system that answers "done" and keeps nothing of one record.
type liar struct {
	model.Service
}

func (l liar) Serve(now int64, req *model.Message, ans *model.Answer) {
	if req.Kind == model.Write && req.Record.ID.Offset == 1 {
		return
	}
	l.Service.Serve(now, req, ans)
}

// What is visible is not known from what was served if the external system does not keep it.
func TestVerdictsBeforeALiar(t *testing.T) {
	lying := sim.AppendLog
	lying.New = func(partitions int) model.Service { return liar{sim.AppendLog.New(partitions)} }
	b := newBench(t, &semantics.AtLeastOnce, chain(1, 1, &count), records(slow, "a1 a2"))
	b.enter(&lying, sim.Config{})
	report := b.run(1)
	assert.Equal(t, sorted("at-most-once unknown; at-least-once unknown; replay-explained "+
		"unknown; exactly-once-state unknown; exactly-once unknown; effectively-once unknown; "+
		"order unknown; no-revision unknown"), broken(report))
	assert.Contains(t, report.Reason("order"), "something else than it accepted")
}

// Where the legal executions or identities are not known, what needs them is undecided.
func TestVerdictsWithoutReference(t *testing.T) {
	again := count
	again.Name = "again"
	const many = "a1 a2 a3 a4 a5 a6 a7|a1 a2 a3 a4 a5 a6 a7"
	const needsIdentity = "at-most-once unknown; at-least-once unknown; " +
		"replay-explained unknown; exactly-once-state unknown; exactly-once unknown; " +
		"effectively-once unknown; order unknown; no-revision unknown"
	const needsOrders = "exactly-once-state unknown; exactly-once unknown; " +
		"effectively-once unknown"
	for _, s := range []struct {
		name string
		top  *model.Topology
		in   string
		want string
	}{
		{"two ways to one operator", diamond(&double, &double, &count), "a1", needsIdentity},
		{"too many orders of a key", chain(2, 1, &count), many, needsOrders},
		{"too many ways to merge in between", chain(2, 1, &count, &again), many, needsOrders},
		{"many orders without state are one", chain(2, 1, &double), many, ""},
	} {
		t.Run(s.name, func(t *testing.T) {
			b := newBench(t, &semantics.AtLeastOnce, s.top, records(quick, s.in))
			assert.Equal(t, sorted(s.want), broken(b.run(1)))
		})
	}
}
