package oracle_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/checker"
	"github.com/oncesim/oncesim/internal/oracle"
	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/sim"
)

// The operators of the tests.
var (
	double = model.Operator{Name: "double", Kind: model.Stateless,
		Step: func(in model.Record, state model.Value, out *model.Outputs) model.Value {
			out.Emit(in.Key, model.Value{Num: 2 * in.Value.Num})
			return state
		}}
	// repeat emits as many outputs as the number says.
	repeat = model.Operator{Name: "repeat", Kind: model.Stateless,
		Step: func(in model.Record, state model.Value, out *model.Outputs) model.Value {
			for i := range in.Value.Num {
				out.Emit(in.Key, model.Value{Num: 10*in.Value.Num + i})
			}
			return state
		}}
	// odd drops even numbers and moves the others to one key.
	odd = model.Operator{Name: "odd", Kind: model.Stateless,
		Step: func(in model.Record, state model.Value, out *model.Outputs) model.Value {
			if in.Value.Num%2 == 0 {
				out.Drop("even")
				return state
			}
			out.Emit("k", in.Value)
			return state
		}}
	count = model.Operator{Name: "count", Kind: model.Commutative,
		Step: func(in model.Record, state model.Value, out *model.Outputs) model.Value {
			state.Num += in.Value.Num
			out.Emit(in.Key, state)
			return state
		}}
	// digits writes one number behind the other: each order of inputs gives another state.
	digits = model.Operator{Name: "digits", Kind: model.NonCommutative,
		Step: func(in model.Record, state model.Value, out *model.Outputs) model.Value {
			state.Num = 10*state.Num + in.Value.Num
			out.Emit(in.Key, state)
			return state
		}}
	// record emits what beats all before: whether there is an output depends on the order.
	record = model.Operator{Name: "record", Kind: model.NonCommutative,
		Step: func(in model.Record, state model.Value, out *model.Outputs) model.Value {
			if in.Value.Num <= state.Num {
				out.Drop("no record")
				return state
			}
			out.Emit(in.Key, in.Value)
			return in.Value
		}}
	// tens adds up, and emits the sum when it passes a multiple of ten: whether there is an output,
	// and which, depends on all that came before.
	tens = model.Operator{Name: "tens", Kind: model.NonCommutative,
		Step: func(in model.Record, state model.Value, out *model.Outputs) model.Value {
			before := state.Num / 10
			if state.Num += in.Value.Num; state.Num/10 > before {
				out.Emit(in.Key, state)
			}
			return state
		}}
)

// Operators that are not deterministic.
var (
	// lottery adds a number that it draws.
	lottery = model.Operator{Name: "lottery", Kind: model.NonDeterministic,
		Step: func(in model.Record, state model.Value, out *model.Outputs) model.Value {
			state.Num += in.Value.Num + 10*out.Random(3)
			out.Emit(in.Key, state)
			return state
		}}
	// coin lets some inputs pass.
	coin = model.Operator{Name: "coin", Kind: model.NonDeterministic,
		Step: func(in model.Record, state model.Value, out *model.Outputs) model.Value {
			if out.Random(3) > 0 {
				out.Emit(in.Key, in.Value)
			}
			return state
		}}
	// draw remembers the last number that it drew, and nothing else.
	draw = model.Operator{Name: "draw", Kind: model.NonDeterministic,
		Step: func(in model.Record, _ model.Value, out *model.Outputs) model.Value {
			drawn := model.Value{Num: out.Random(1000)}
			out.Emit(in.Key, drawn)
			return drawn
		}}
)

// chain is a topology of operators one behind the other; the last one reads by key. Where fewer
// feed a stage it has fewer tasks.
func chain(parts, parallel int, ops ...*model.Operator) *model.Topology {
	t := &model.Topology{Name: "chain",
		Inputs: []model.InputSpec{{Name: "input", Partitions: parts}}}
	from := "input"
	for i, op := range ops {
		stage := model.Stage{Name: op.Name, Operator: op, From: []string{from},
			Parallel: parallel}
		if i == len(ops)-1 {
			stage.Exchange = model.ByKey
		} else {
			stage.Parallel = min(parallel, t.Senders(&stage))
		}
		t.Stages = append(t.Stages, stage)
		from = stage.Name
	}
	return t
}

// rekeyed is a topology in which records go to several tasks by key and meet again under another.
func rekeyed(a, b *model.Operator) *model.Topology {
	t := chain(1, 2, a, b)
	t.Stages[0].Exchange, t.Stages[0].Parallel = model.ByKey, 2
	return t
}

// fork is a topology in which two operators read the same input and both feed the sink.
func fork(a, b *model.Operator) *model.Topology {
	return &model.Topology{Name: "fork",
		Inputs: []model.InputSpec{{Name: "input", Partitions: 1}},
		Stages: []model.Stage{
			{Name: "left", Operator: a, From: []string{"input"}},
			{Name: "right", Operator: b, From: []string{"input"}}}}
}

// diamond is a fork whose branches meet again in a third operator.
func diamond(a, b, c *model.Operator) *model.Topology {
	t := fork(a, b)
	t.Stages = append(t.Stages,
		model.Stage{Name: "join", Operator: c, From: []string{"left", "right"}})
	return t
}

// The arrival intervals of input.
const (
	quick  = 1_000_000  // several records are on their way at once
	medium = 12_000_000 // one record at a time is on its way
	slow   = 30_000_000 // a process that dies is back before the next one comes
)

// records makes input: partitions are separated by "|", records by spaces, each a key and a digit.
func records(every int64, text string) *model.Input {
	var parts []model.Partition
	for _, part := range strings.Split(text, "|") {
		p := model.Partition{Every: every}
		for _, word := range strings.Fields(part) {
			p.Records = append(p.Records, model.Record{Key: word[:1],
				Value: model.Value{Num: int64(word[1] - '0')}})
		}
		parts = append(parts, p)
	}
	return model.NewInput(parts)
}

// bench runs one job under one mode, and judges the runs from the inside and from the outside.
type bench struct {
	job    *model.Job
	mode   *model.Mode
	input  *model.Input
	sink   *model.SinkSpec
	world  *sim.World
	oracle *oracle.Oracle
	judge  *checker.Judge
	props  []checker.Property
	last   *model.History
}

// sinks are the external systems.
var sinks = []*model.SinkSpec{&sim.AppendLog, &sim.IdentityLog, &sim.TableByIdentity,
	&sim.TableByKey}

// systems are those, and what only modes with checkpoints or batches write to.
var systems = append([]*model.SinkSpec{&sim.BatchLog, &sim.TransactionalLog,
	&sim.TransactionalLogUncommitted}, sinks...)

// newBench makes a bench in front of the sink that belongs to the mode.
func newBench(t testing.TB, mode *model.Mode, topology *model.Topology, input *model.Input,
	set ...model.ParamValue) *bench {
	t.Helper()
	return newBenchAt(t, mode, sinkOf(mode), topology, input, set...)
}

func newBenchAt(t testing.TB, mode *model.Mode, sink *model.SinkSpec, topology *model.Topology,
	input *model.Input, set ...model.ParamValue) *bench {
	t.Helper()
	require.NoError(t, topology.Validate())
	params := set
	for _, p := range mode.Params {
		params = append(params, model.ParamValue{Name: p.Name, Value: p.Default})
	}
	b := &bench{job: model.NewJob(topology, params, mode.Extra...), mode: mode, input: input,
		sink: sink, judge: checker.NewJudge(), props: checker.All()}
	b.oracle = oracle.New(b.job, mode, input, sink.Shape)
	b.enter(sink, sim.Config{})
	return b
}

// enter puts the job into another world.
func (b *bench) enter(sink *model.SinkSpec, cfg sim.Config) {
	b.world = sim.New(b.job, b.mode, b.input, sink, cfg)
}

// run runs the job and judges the run from the inside.
func (b *bench) run(seed uint64, rules ...model.Rule) *oracle.Report {
	b.last = b.world.Run(seed, rules, sim.Options{Trace: true})
	return b.oracle.Judge(b.world.Trace(), b.last)
}

// check judges the last run from the outside.
func (b *bench) check() []model.Verdict {
	return b.judge.Judge(checker.Subject{Job: b.job, Mode: b.mode, Input: b.input,
		Shape: b.sink.Shape, History: b.last}, b.props)
}

// trace renders the last run, to be read beside a failure.
func (b *bench) trace() string {
	var s strings.Builder
	for _, e := range b.world.Trace() {
		who, kind := "reader", ""
		if e.Proc >= 0 {
			who = b.job.Tasks[e.Proc].Name
		}
		if e.Msg.Kind != model.NoKind {
			kind = e.Msg.Kind.String()
		}
		rec := &e.Msg.Record
		fmt.Fprintf(&s, "%4d %8.3f %-9s #%d %-7s %-13s %d:%d %s=%v seq %d (%d) %s", e.N,
			float64(e.At)/1e6, who, e.Attempt, e.Kind, kind, rec.ID.Part, rec.ID.Offset, rec.Key,
			rec.Value, e.Msg.Seq, e.Cause, e.Detail)
		if e.Msg.Kind.IsCall() && e.Kind != model.EntryObserve {
			fmt.Fprintf(&s, " token %d n %d cursor %d %s", e.Msg.Token, e.Msg.N, e.Msg.Cursor,
				e.Outcome)
		}
		for _, p := range e.Msg.Parts {
			fmt.Fprintf(&s, " %d:%d.%d %s=%v", p.ID.Part, p.ID.Offset, p.Path, p.Key, p.Value)
		}
		s.WriteString("\n")
	}
	return s.String()
}

// atCall is a fault at the n-th transmission of a kind of request by a process.
func atCall(a model.Action, p model.ProcID, point model.Point, kind model.Kind, n,
	length int64) model.Rule {
	return model.Rule{Action: a, Proc: p, Point: point, Scope: model.CallOfKind, Call: kind, N: n,
		For: length}
}

// atEffect is a fault at the n-th effect of a process.
func atEffect(a model.Action, p model.ProcID, point model.Point, n, length int64) model.Rule {
	return model.Rule{Action: a, Proc: p, Point: point, Scope: model.EveryEffect, N: n,
		For: length}
}

// poison makes applying an operator to a record of partition 0 fail every time.
func poison(p model.ProcID, offset int64) model.Rule {
	return model.Rule{Action: model.PoisonRecord, Proc: p, Scope: model.RecordEffect,
		Record: model.ID{Offset: offset}}
}

// crash is a crash at the n-th transmission of a kind of request.
func crash(p model.ProcID, point model.Point, kind model.Kind, n int64) model.Rule {
	return atCall(model.Crash, p, point, kind, n, 0)
}
