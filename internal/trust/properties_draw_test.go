package trust

import (
	"flag"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/oncesim/oncesim/faults"
	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/scenarios"
)

const ms = 1_000_000

// ownOperators are what the library lacks: an output under another key, a step that says nothing,
// an output that is older than its input, a state that repetition does not change, and a choice
// that the state does not depend on. The last one counts its steps, since the judges differ on
// whether a step that no life has taken, and that leaves the state as it is, is missing from the
// state.
var ownOperators = []*model.Operator{
	{Name: "own-fork", Kind: model.Stateless,
		Step: func(in model.Record, state model.Value, out *model.Outputs) model.Value {
			out.Emit(in.Key, in.Value)
			out.Emit(in.Key+"+", in.Value)
			return state
		}},
	{Name: "own-odd", Kind: model.Stateless,
		Step: func(in model.Record, state model.Value, out *model.Outputs) model.Value {
			if in.Value.Num%2 == 1 {
				out.Emit(in.Key, in.Value)
			}
			return state
		}},
	{Name: "own-previous", Kind: model.NonCommutative,
		Step: func(in model.Record, state model.Value, out *model.Outputs) model.Value {
			out.Emit(in.Key, state)
			return model.Value{Num: in.Value.Num}
		}},
	{Name: "own-most", Kind: model.Commutative,
		Step: func(in model.Record, state model.Value, out *model.Outputs) model.Value {
			state.Num = max(state.Num, in.Value.Num)
			out.Emit(in.Key, state)
			return state
		}},
	{Name: "own-dice", Kind: model.NonDeterministic,
		Step: func(in model.Record, state model.Value, out *model.Outputs) model.Value {
			out.Emit(in.Key, model.Value{Num: in.Value.Num + 1000*out.Random(2)})
			state.Num++
			return state
		}},
}

// drawnLibrary is the built-in library with every operator that its topologies use, and our own.
func drawnLibrary() *scenarios.Library {
	lib := scenarios.Builtin()
	for _, top := range lib.Topologies {
		for i := range top.Stages {
			if op := top.Stages[i].Operator; !slices.Contains(lib.Operators, op) {
				lib.Operators = append(lib.Operators, op)
			}
		}
	}
	lib.Operators = append(lib.Operators, ownOperators...)
	return lib
}

// draft says how widely scenarios are drawn.
type draft struct {
	lib    *scenarios.Library
	modes  []*model.Mode
	kind   model.OperatorKind // the strongest of the job's operators, at the most
	also   *model.Mode        // tolerates the faults as well; nil: nobody else has to
	isFree bool               // any value of each parameter, also of those that the claims rest on
	isCalm bool               // nothing fails
	isWild bool               // any sink, any class of faults, and some faults at a time
}

// trial is a drawn scenario and what runs it.
type trial struct {
	lib    *scenarios.Library
	s      *scenarios.Scenario
	runner *scenarios.Runner
}

// draw draws a scenario. What it becomes when rapid makes it smaller is one record, one stage, the
// default of whatever is set, and no fault.
func (d draft) draw(rt *rapid.T) *trial {
	s := &scenarios.Scenario{Name: "drawn", Inline: true}
	s.Topology = d.topology(rt)
	s.Mode = drawOne(rt, d.modes, "mode", func(m *model.Mode) string { return m.Name })
	s.Params = d.params(rt, s.Mode)
	if d.isWild {
		s.Sink, s.Bounds.Time = d.sink(rt, s.Mode), 1000*ms // what is stuck need not be so for long
	}
	s.Input.Kind, s.Input.Lines = scenarios.InputInline, drawLines(rt)
	s.Input.Every = rapid.SampledFrom([]int64{2 * ms, ms / 5, 5 * ms, 20 * ms}).Draw(rt, "every")
	s.Seed = rapid.Uint64Range(1, 1<<32).Draw(rt, "seed")
	x := newTrial(rt, d.lib, s)
	if !d.isCalm {
		s.Faults = x.plan(rt, d.places(x), 4)
	}
	if d.isWild {
		s.Faults = append(s.Faults, x.ticked(rt)...)
	}
	return x
}

// drawOne draws one of a list by its name, which is what rapid shows of it.
func drawOne[T any](rt *rapid.T, list []T, label string, name func(T) string) T {
	var names []string
	for _, one := range list {
		names = append(names, name(one))
	}
	return list[slices.Index(names, rapid.SampledFrom(names).Draw(rt, label))]
}

// newTrial lays a scenario out.
func newTrial(rt rapid.TB, lib *scenarios.Library, s *scenarios.Scenario) *trial {
	x := &trial{lib: lib, s: s}
	require.NoError(rt, s.Topology.Validate())
	var err error
	x.runner, err = scenarios.NewRunner(lib, s)
	require.NoError(rt, err, "%s", x.file())
	return x
}

// topology draws one to three inputs and one to three stages. A stage reads from an input or a
// stage before it, and perhaps from more; what no other stage reads goes to the sink. One topology
// in eight may bring a record to a stage by two ways, on which judges have little to say. An input
// that nobody has read goes to the last stage.
func (d draft) topology(rt *rapid.T) *model.Topology {
	top := &model.Topology{Name: "drawn"}
	roots := map[string]uint64{} // the inputs that what is behind a name comes from
	var names []string
	for i := range rapid.IntRange(1, 3).Draw(rt, "inputs") {
		in := model.InputSpec{Name: fmt.Sprintf("in%d", i),
			Partitions: rapid.SampledFrom([]int{1, 1, 2}).Draw(rt, "partitions")}
		top.Inputs, names = append(top.Inputs, in), append(names, in.Name)
		roots[in.Name] = 1 << i
	}
	isTwice := rapid.IntRange(0, 7).Draw(rt, "two ways") == 7
	stages, read := rapid.IntRange(1, 3).Draw(rt, "stages"), uint64(0)
	for i := range stages {
		st := d.stage(rt, i)
		first := names[len(names)-1-rapid.IntRange(0, len(names)-1).Draw(rt, "reads")]
		for _, name := range names {
			isMore := i == stages-1 && roots[name]&read == 0 ||
				rapid.IntRange(0, 2).Draw(rt, "reads "+name) == 2
			isNew := roots[name]&(roots[st.Name]|roots[first]) == 0
			if name == first || isMore && (isNew || isTwice) {
				st.From = append(st.From, name)
				roots[st.Name] |= roots[name]
			}
		}
		read |= roots[st.Name]
		top.Stages, names = append(top.Stages, st), append(names, st.Name)
		isKeyed := st.Operator.Kind != model.Stateless && st.Parallel > 1
		if isKeyed || st.Parallel > top.Senders(&st) {
			top.Stages[i].Exchange = model.ByKey
		}
	}
	return top
}

// stage draws a stage that reads from nothing yet.
func (d draft) stage(rt *rapid.T, i int) model.Stage {
	operators := slices.DeleteFunc(slices.Clone(d.lib.Operators), func(op *model.Operator) bool {
		return op.Kind > d.kind
	})
	return model.Stage{Name: fmt.Sprintf("s%d", i),
		Operator: drawOne(rt, operators, "operator",
			func(op *model.Operator) string { return op.Name }),
		Parallel: rapid.IntRange(1, 2).Draw(rt, "parallel"),
		Exchange: model.Exchange(rapid.IntRange(0, 1).Draw(rt, "exchange"))}
}

// params draws parameters; those that the claims of the mode rest on have their default, or a value
// that is as good, unless the draft is free. The default is drawn most often, and is not set.
func (d draft) params(rt *rapid.T, mode *model.Mode) []model.ParamValue {
	var list []model.ParamValue
	for i := range mode.Params {
		p := &mode.Params[i]
		values := append([]int64{p.Default, p.Default}, p.Also...)
		switch {
		case p.IsPremise && !d.isFree:
		case p.IsTime && p.Default == 0:
			values = append(values, 5*ms)
		case p.IsTime:
			values = append(values, p.Default/2, 2*p.Default)
		default:
			for v := p.Min; v <= min(p.Max, p.Min+3); v++ {
				values = append(values, v)
			}
		}
		if v := rapid.SampledFrom(values).Draw(rt, p.Name); v != p.Default {
			list = append(list, model.ParamValue{Name: p.Name, Value: v})
		}
	}
	return list
}

// sink draws a sink that a mode can write to.
func (d draft) sink(rt *rapid.T, mode *model.Mode) string {
	names := []string{"", "", ""}
	for _, sink := range d.lib.Sinks {
		if sink.Transactional || !mode.Transacts {
			names = append(names, sink.Name)
		}
	}
	return rapid.SampledFrom(names).Draw(rt, "sink")
}

// drawLines draws the input: numbers under up to three keys, and now and then a line that the
// operators for text can read.
func drawLines(rt *rapid.T) []string {
	keys := rapid.IntRange(1, 3).Draw(rt, "keys")
	texts := []string{"alice bob 30", "bob carol 120", "to be or not", `v - - ` +
		`[17/May/2015:10:05:03 +0000] "GET /index.html HTTP/1.1" 200 203023`}
	line := rapid.Custom(func(rt *rapid.T) string {
		if rapid.IntRange(0, 4).Draw(rt, "is text") == 4 {
			return rapid.SampledFrom(texts).Draw(rt, "text")
		}
		key := rapid.IntRange(0, keys-1).Draw(rt, "key")
		return fmt.Sprintf("%c=%d", 'a'+key, rapid.IntRange(0, 60).Draw(rt, "number"))
	})
	return rapid.SliceOfN(line, 1, 8).Draw(rt, "lines")
}

// places are where faults can be put in the run in which nothing fails.
func (d draft) places(x *trial) []faults.Places {
	extent := x.runner.Extent(x.s.Seed, nil)
	var lists []faults.Places
	for _, class := range d.lib.Classes {
		isFault := class.Vary == nil && class.Action != 0 && class.Applies(x.s.Mode)
		isMeant := slices.Contains(x.s.Mode.Tolerates, class.Name) &&
			(d.also == nil || slices.Contains(d.also.Tolerates, class.Name))
		if !isFault || !d.isWild && !isMeant {
			continue
		}
		if places := class.Places(extent); places.Len() > 0 {
			lists = append(lists, places)
		}
	}
	return lists
}

// plan draws up to so many faults, each by itself, so that rapid can leave any out. Half of them
// may lie beyond the run without faults: in the recovery from others.
func (x *trial) plan(rt *rapid.T, lists []faults.Places, most int) faults.Plan {
	if len(lists) == 0 {
		return nil
	}
	fault := rapid.Custom(func(rt *rapid.T) faults.Fault {
		places := lists[rapid.IntRange(0, len(lists)-1).Draw(rt, "class")]
		rule := places.At(rapid.Int64Range(0, places.Len()-1).Draw(rt, "place"))
		if rapid.Bool().Draw(rt, "is beyond") {
			rule, _ = places.Draw(rapid.Uint64Range(1, 1<<16).Draw(rt, "beyond"), 1)
		}
		return faults.FromRule(x.runner.Job(), rule)
	})
	return rapid.SliceOfN(fault, 0, most).Draw(rt, "plan")
}

// ticked draws faults that strike at a time.
func (x *trial) ticked(rt *rapid.T) faults.Plan {
	tasks := x.runner.Job().Tasks
	line := rapid.Custom(func(rt *rapid.T) string {
		task := drawOne(rt, tasks, "task", func(t model.Task) string { return t.Name }).Name
		at := rapid.IntRange(0, 120).Draw(rt, "at")
		return fmt.Sprintf(rapid.SampledFrom([]string{"crash %s at %dms",
			"pause %s at %dms for 80ms", "partition %s | store for 40ms at %dms",
			"partition %s | external for 40ms at %dms"}).Draw(rt, "fault"), task, at)
	})
	plan, err := faults.ParsePlan(rapid.SliceOfN(line, 0, 2).Draw(rt, "ticked")...)
	require.NoError(rt, err)
	return plan
}

// run makes the run of the scenario in the trial's world.
func (x *trial) run(rt rapid.TB, opts scenarios.Options) scenarios.Result {
	rules, err := x.s.Faults.Compile(x.runner.Job())
	require.NoError(rt, err, "%s", x.file())
	return x.runner.Run(x.s.Seed, rules, opts)
}

// with is a trial of the same scenario with something changed in it.
func (x *trial) with(rt rapid.TB, change func(s *scenarios.Scenario)) *trial {
	s := *x.s
	s.Faults, s.Params = slices.Clone(s.Faults), slices.Clone(s.Params)
	s.Input.Lines = slices.Clone(s.Input.Lines)
	change(&s)
	return newTrial(rt, x.lib, &s)
}

// file is the scenario as a file, and how to run that.
func (x *trial) file() string {
	text := scenarios.Format(x.lib, x.s)
	how := "save it as drawn.sim, then: simrun run drawn.sim"
	if _, err := scenarios.Parse(scenarios.Builtin(), "drawn.sim", text); err != nil {
		how = "simrun cannot run it, for an operator is not in its library: " + err.Error()
	}
	return fmt.Sprintf("%s# %s\n", text, how)
}

// check checks a property on so many draws, from one seed; with -trust.full on so many more, from
// another one. Flags of rapid on the command line win, and no file is written.
func check(t *testing.T, checks, more int, property func(rt *rapid.T)) {
	if underRace {
		t.Skip("one goroutine: it runs without the race detector")
	}
	t.Helper()
	given := map[string]bool{}
	flag.Visit(func(f *flag.Flag) { given[f.Name] = true })
	set := func(name, value string) {
		f := flag.Lookup(name)
		before := f.Value.String()
		if !given[name] {
			require.NoError(t, f.Value.Set(value))
			t.Cleanup(func() { _ = f.Value.Set(before) })
		}
	}
	set("rapid.nofailfile", "true")
	if *full {
		set("rapid.checks", fmt.Sprint(more))
		set("rapid.seed", "2")
	} else {
		set("rapid.checks", fmt.Sprint(checks))
		set("rapid.seed", "1")
	}
	rapid.Check(t, property)
}
