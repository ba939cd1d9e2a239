package sim_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/semantics"
	"github.com/oncesim/oncesim/sim"
)

var double = &model.Operator{Name: "double",
	Step: func(in model.Record, st model.Value, out *model.Outputs) model.Value {
		out.Emit(in.Key, model.Value{Num: 2 * in.Value.Num})
		return st
	}}

var sum = &model.Operator{Name: "sum", Kind: model.Commutative,
	Step: func(in model.Record, st model.Value, out *model.Outputs) model.Value {
		st.Num += in.Value.Num
		out.Emit(in.Key, st)
		return st
	}}

// world makes a world over one stage: partitions×records numbers, keys k0 and k1 in turn.
func world(mode *model.Mode, op *model.Operator, partitions, records int) *sim.World {
	t := &model.Topology{Name: "test",
		Inputs: []model.InputSpec{{Name: "input", Partitions: partitions}},
		Stages: []model.Stage{{Name: "op", Operator: op, From: []string{"input"},
			Parallel: partitions, Exchange: model.ByKey}}}
	if err := t.Validate(); err != nil {
		panic(err)
	}
	parts := make([]model.Partition, partitions)
	for p := range parts {
		parts[p].Every = 1_000_000
		for i := range records {
			parts[p].Records = append(parts[p].Records, model.Record{
				Key: fmt.Sprintf("k%d", i%2), Value: model.Value{Num: int64(i + 1)}})
		}
	}
	var params []model.ParamValue
	for _, p := range mode.Params {
		params = append(params, model.ParamValue{Name: p.Name, Value: p.Default})
	}
	return sim.New(model.NewJob(t, params, mode.Extra...), mode, model.NewInput(parts),
		sinkOf(mode), sim.Config{})
}

// sinkOf is the default sink of a mode.
func sinkOf(mode *model.Mode) *model.SinkSpec {
	for _, sink := range []*model.SinkSpec{&sim.TableByIdentity, &sim.TableByKey,
		&sim.BatchLog, &sim.TransactionalLog} {
		if sink.Name == mode.Sink {
			return sink
		}
	}
	return &sim.AppendLog
}

// lines renders a trace, an event a line, leaving out kinds that the tests do not look at.
func lines(w *sim.World) []string {
	var list []string
	for _, e := range w.Trace() {
		if e.Proc == model.Nobody {
			continue
		}
		who := w.Job().Tasks[e.Proc].Name
		line := fmt.Sprintf("%s#%d %s", who, e.Attempt, e.Kind)
		if e.Msg.Kind != model.NoKind {
			line += " " + e.Msg.Kind.String()
			if e.Msg.Record.ID.Offset >= 0 {
				line += fmt.Sprintf(" %d", e.Msg.Record.ID.Offset)
			}
		}
		if e.Outcome != model.Pending && e.Kind == model.EntryAnswer {
			line += " " + e.Outcome.String()
		}
		list = append(list, line)
	}
	return list
}

// contains asserts that the trace holds these lines in this order, others between them.
func contains(t *testing.T, trace []string, want ...string) {
	t.Helper()
	rest := trace
	for _, line := range want {
		i := 0
		for i < len(rest) && rest[i] != line {
			i++
		}
		if i == len(rest) {
			t.Fatalf("no %q after the lines before it in\n%s", line, strings.Join(trace, "\n"))
		}
		rest = rest[i+1:]
	}
}

// lacks asserts that no line of the trace is this one.
func lacks(t *testing.T, trace []string, line string) {
	t.Helper()
	for _, l := range trace {
		if l == line {
			t.Fatalf("%q in\n%s", line, strings.Join(trace, "\n"))
		}
	}
}

const (
	source, op, sink = model.ProcID(0), model.ProcID(1), model.ProcID(2)
)

// run runs the single-stage pipeline under one rule and returns world and history.
func run(mode *model.Mode, o *model.Operator, rules ...model.Rule) (*sim.World, *model.History) {
	w := world(mode, o, 1, 3)
	return w, w.Run(1, rules, sim.Options{Trace: true})
}

func write(n int64, action model.Action, point model.Point) model.Rule {
	return model.Rule{Action: action, Proc: sink, Point: point, Scope: model.CallOfKind,
		Call: model.Write, N: n, For: 40_000_000}
}

// Without faults every mode delivers everything once, in order.
func TestWorld_NoFault_DeliversOnceInOrder(t *testing.T) {
	for _, mode := range semantics.All() {
		_, h := run(mode, double)
		require.Equal(t, model.Quiescent, h.End.Reason, mode.Name)
		require.Len(t, h.Observations, 3, mode.Name)
		for i, seen := range h.Observations {
			require.EqualValues(t, i, seen.Out.ID.Offset, mode.Name)
			require.EqualValues(t, 2*(i+1), seen.Out.Value.Num, mode.Name)
		}
		rows := 3
		if sinkOf(mode).Shape == model.Keys {
			rows = 2 // the last record of k0 took the place of the first
		}
		require.Len(t, h.Final, rows, mode.Name)
	}
}

// The four places inside a call differ in what the service has seen and in what the caller knows.
func TestWorld_CrashInsideCall(t *testing.T) {
	for _, tc := range []struct {
		point  model.Point
		served bool // the write of the crashed life takes place
		order  []string
	}{
		{model.Before, false, []string{"sink/0#1 crash"}},
		{model.During, true, []string{"sink/0#1 invoke write 0", "sink/0#1 crash",
			"sink/0#1 serve write 0"}},
		{model.BeforeAck, true, []string{"sink/0#1 serve write 0", "sink/0#1 crash"}},
		{model.After, true, []string{"sink/0#1 answer write 0 done", "sink/0#1 crash"}},
	} {
		t.Run(tc.point.String(), func(t *testing.T) {
			w, h := run(&semantics.AtLeastOnce, double, write(1, model.Crash, tc.point))
			trace := lines(w)
			contains(t, trace, tc.order...)
			writes := 0
			for _, seen := range h.Final {
				if seen.Out.ID.Offset == 0 {
					writes++
				}
			}
			want := 1
			if tc.served {
				want = 2
			}
			require.Equal(t, want, writes, "record 0, once by each life that reached the service")
			require.NotZero(t, h.Reached[0])
			if tc.point != model.After {
				lacks(t, trace, "sink/0#1 answer write 0 done")
			}
		})
	}
}

// A crash before the N-th effect of a record leaves exactly the effects before it.
func TestWorld_CrashAtEffectOfRecord(t *testing.T) {
	rule := model.Rule{Action: model.Crash, Proc: op, Scope: model.RecordEffect, N: 2,
		Record: model.ID{Offset: 1}}
	for _, point := range []model.Point{model.Before, model.After} {
		rule.Point = point
		w, _ := run(&semantics.AtMostOnce, sum, rule)
		trace := lines(w)
		contains(t, trace, "op/0#1 invoke get 1", "op/0#1 answer get 1 done")
		if point == model.Before {
			lacks(t, trace, "op/0#1 invoke put 1")
			continue
		}
		contains(t, trace, "op/0#1 answer put 1 done", "op/0#1 crash")
		lacks(t, trace, "op/0#1 send data 1")
	}
}

// What a process had sent still arrives; what was on its way to it does not.
func TestWorld_Crash_DropsInboxKeepsOutbox(t *testing.T) {
	rule := model.Rule{Action: model.Crash, Proc: op, Point: model.After,
		Scope: model.RecordEffect, N: 1, Record: model.ID{Offset: 0}}
	w, h := run(&semantics.AtMostOnce, double, rule)
	contains(t, lines(w), "op/0#1 send data 0", "op/0#1 crash", "sink/0#1 deliver data 0")
	require.Len(t, h.Final, 1, "records 1 and 2 were on their way to op/0")
	drops := 0
	for _, e := range w.Trace() {
		if e.Kind == model.EntryDrop {
			drops++
		}
	}
	require.Equal(t, 2, drops)
}

// A crash can strike the restarted life while it recovers.
func TestWorld_CrashDuringRecovery(t *testing.T) {
	again := model.Rule{Action: model.Crash, Proc: source, Point: model.BeforeAck,
		Scope: model.StartEffect, N: 1, Life: 2}
	first := model.Rule{Action: model.Crash, Proc: source, Point: model.Before,
		Scope: model.EveryEffect, N: 3}
	w, h := run(&semantics.AtLeastOnce, double, first, again)
	require.NotZero(t, h.Reached[1])
	contains(t, lines(w), "source/0#1 crash", "source/0#2 serve position", "source/0#2 crash",
		"source/0#3 answer position done")
	require.Equal(t, model.Quiescent, h.End.Reason)
}

// Lost, delayed and doubled requests: what the service applies and what the caller is told.
func TestWorld_CallFaults(t *testing.T) {
	for _, tc := range []struct {
		action  model.Action
		mode    *model.Mode
		visible int
		order   []string
	}{
		{model.LoseRequest, &semantics.AtMostOnce, 2,
			[]string{"sink/0#1 lose write 0", "sink/0#1 answer write 0 unknown"}},
		{model.LoseRequest, &semantics.AtLeastOnce, 3,
			[]string{"sink/0#1 lose write 0", "sink/0#1 answer write 0 unknown",
				"sink/0#1 invoke write 0", "sink/0#1 answer write 0 done"}},
		{model.LoseAnswer, &semantics.AtMostOnce, 3,
			[]string{"sink/0#1 serve write 0", "sink/0#1 lose write 0",
				"sink/0#1 answer write 0 unknown"}},
		{model.LoseAnswer, &semantics.AtLeastOnce, 4,
			[]string{"sink/0#1 serve write 0", "sink/0#1 lose write 0",
				"sink/0#1 answer write 0 unknown", "sink/0#1 serve write 0"}},
		{model.DelayRequest, &semantics.AtLeastOnce, 4,
			[]string{"sink/0#1 delay write 0", "sink/0#1 answer write 0 unknown",
				"sink/0#1 answer write 0 done", "sink/0#1 serve write 0", "sink/0#1 late write 0"}},
		{model.DuplicateRequest, &semantics.AtMostOnce, 4,
			[]string{"sink/0#1 double write 0", "sink/0#1 serve write 0",
				"sink/0#1 serve write 0"}},
	} {
		t.Run(tc.action.String()+" "+tc.mode.Name, func(t *testing.T) {
			w, h := run(tc.mode, double, write(1, tc.action, 0))
			contains(t, lines(w), tc.order...)
			require.Len(t, h.Final, tc.visible)
		})
	}
}

// A short pause is waited out; a long one makes a zombie that goes on until it learns.
func TestWorld_Pause(t *testing.T) {
	rule := write(1, model.Pause, model.BeforeAck)
	rule.For = 10_000_000
	w, h := run(&semantics.AtLeastOnce, double, rule)
	require.Len(t, h.Lives, 3)
	contains(t, lines(w), "sink/0#1 pause", "sink/0#1 resume", "sink/0#1 answer write 0 done")

	rule.For = 80_000_000
	w, h = run(&semantics.AtLeastOnce, double, rule)
	contains(t, lines(w), "sink/0#1 pause", "sink/0#2 start", "sink/0#1 resume",
		"sink/0#1 answer write 0 done", "sink/0#1 send ack 0", "sink/0#1 invoke write 1",
		"sink/0#1 cancel")
	var zombies int
	for _, life := range h.Lives {
		if life.Replaced != 0 {
			zombies++
			require.Equal(t, model.Cancelled, life.How)
		}
	}
	require.Equal(t, 1, zombies)
}

// A pause before a transmission holds it back without losing or doubling it.
func TestWorld_PauseBeforeTransmission(t *testing.T) {
	for _, point := range []model.Point{model.Before, model.During, model.After} {
		rule := write(2, model.Pause, point)
		rule.For = 10_000_000
		w, h := run(&semantics.AtMostOnce, double, rule)
		require.NotZero(t, h.Reached[0], point)
		require.Len(t, h.Final, 3, point)
		require.Equal(t, model.Quiescent, h.End.Reason)
		order := []string{"sink/0#1 pause", "sink/0#1 resume", "sink/0#1 answer write 1 done"}
		if point == model.After {
			order = []string{"sink/0#1 answer write 1 done", "sink/0#1 pause", "sink/0#1 resume",
				"sink/0#1 invoke write 2"}
		}
		contains(t, lines(w), order...)
	}
}

// A rule at a time finds the process up or reports that it was not reached.
func TestWorld_RuleAtTime(t *testing.T) {
	at := func(ns int64) model.Rule {
		return model.Rule{Action: model.Crash, Proc: op, Point: model.AtTime, At: ns}
	}
	_, h := run(&semantics.AtLeastOnce, double, at(3_000_000), at(3_000_001))
	require.NotZero(t, h.Reached[0])
	require.Zero(t, h.Reached[1], "the process is down")
}

// The successor of a zombie can die at its first effect; it has replaced the zombie all the same.
func TestWorld_SuccessorDiesAtOnce(t *testing.T) {
	pause := model.Rule{Action: model.Pause, Proc: source, Point: model.Before,
		Scope: model.EveryEffect, N: 3, For: 80_000_000}
	crash := model.Rule{Action: model.Crash, Proc: source, Point: model.Before,
		Scope: model.StartEffect, N: 1, Life: 2}
	for _, mode := range []*model.Mode{&semantics.AtLeastOnce, restartAll()} {
		_, h := run(mode, double, pause, crash)
		require.NotZero(t, h.Reached[1])
		for _, life := range h.Lives {
			if life.Proc == source && life.Life == 1 {
				require.NotZero(t, life.Replaced)
			}
		}
		require.Equal(t, model.Quiescent, h.End.Reason)
	}
}

// A fault at a late time gets its time to be recovered from: the bound counts from it.
func TestWorld_LateFaultIsNoLackOfProgress(t *testing.T) {
	for _, action := range []model.Action{model.Crash, model.Pause} {
		rule := model.Rule{Action: action, Proc: op, Point: model.AtTime, At: 99_000_000_000,
			For: 80_000_000}
		_, h := run(&semantics.AtLeastOnce, double, rule)
		require.NotZero(t, h.Reached[0])
		require.Equal(t, model.Quiescent, h.End.Reason)
	}
}

// counted asserts that rules count as many transmissions as the history has.
func counted(t *testing.T, h *model.History) {
	t.Helper()
	seen := map[string]int64{}
	for _, c := range h.Calls {
		seen[fmt.Sprint(c.Proc, c.Req.Kind)]++
	}
	for p, calls := range h.Extent.Calls {
		for k, n := range calls {
			require.GreaterOrEqual(t, n, seen[fmt.Sprint(p, model.Kind(k))])
		}
	}
}

// A repetition that a pause holds back is counted like any other.
func TestWorld_PauseBeforeRepetition(t *testing.T) {
	pause := write(1, model.Pause, model.After)
	pause.For = 10_000_000
	w, h := run(&semantics.AtLeastOnce, double, write(1, model.LoseRequest, 0), pause,
		write(2, model.LoseRequest, 0))
	counted(t, h)
	contains(t, lines(w), "sink/0#1 answer write 0 unknown", "sink/0#1 pause", "sink/0#1 resume",
		"sink/0#1 invoke write 0", "sink/0#1 lose write 0", "sink/0#1 invoke write 0",
		"sink/0#1 answer write 0 done")
	require.NotZero(t, h.Reached[2])
}

// A crash before the ack of a transmission that is never served is not reached, even if a
// repetition is served; nor is one whose caller has given up by then.
func TestWorld_BeforeAckOfALostTransmission(t *testing.T) {
	crash := write(1, model.Crash, model.BeforeAck)
	_, h := run(&semantics.AtLeastOnce, double, write(1, model.LoseRequest, 0), crash)
	require.NotZero(t, h.Reached[0])
	require.Zero(t, h.Reached[1])
	_, h = run(&semantics.AtMostOnce, double, write(1, model.DelayRequest, 0), crash)
	require.Zero(t, h.Reached[1])
	effect := model.Rule{Action: model.Crash, Proc: sink, Point: model.BeforeAck,
		Scope: model.EveryEffect, N: 1}
	_, h = run(&semantics.AtLeastOnce, double, write(1, model.LoseRequest, 0), effect)
	require.NotZero(t, h.Reached[1], "the effect goes on with the repetition")
}

// A restart of the whole job takes its time also when an earlier suspicion is still pending.
func TestWorld_RestartJobTakesItsTime(t *testing.T) {
	for n := range int64(30) {
		w := world(restartAll(), double, 2, 6)
		h := w.Run(uint64(n), []model.Rule{
			{Action: model.Crash, Proc: 0, Point: model.AtTime, At: 3_000_000},
			{Action: model.Crash, Proc: 1, Point: model.AtTime, At: 3_000_000 + n*400_000},
			{Action: model.Crash, Proc: 2, Point: model.AtTime, At: 3_000_000 + n*700_000},
		}, sim.Options{Trace: true})
		require.Equal(t, model.Quiescent, h.End.Reason)
		at := func(n int64) int64 { return w.Trace()[n-1].At }
		for i, dead := range h.Lives {
			if dead.How != model.Crashed {
				continue
			}
			for _, next := range h.Lives[i+1:] {
				if next.Attempt > dead.Attempt {
					oldest := at(dead.Ended)
					for _, other := range h.Lives {
						if other.How == model.Crashed && other.Attempt == dead.Attempt {
							oldest = min(oldest, at(other.Ended))
						}
					}
					require.GreaterOrEqual(t, at(next.Began)-oldest, int64(5_000_000))
					break
				}
			}
		}
	}
}

// A message that a task sends as it starts reaches every task of the job.
func TestWorld_AllAreBornBeforeTheFirstActs(t *testing.T) {
	mode := semantics.None
	mode.New = func(job *model.Job, task *model.Task) model.Process {
		if task.Role == model.Source {
			return greeter{to: job.Find("sink/0")}
		}
		return semantics.None.New(job, task)
	}
	w := world(&mode, double, 1, 1)
	w.Run(1, nil, sim.Options{Trace: true})
	contains(t, lines(w), "source/0#1 send data 0", "sink/0#1 deliver data 0")
}

// greeter sends one record to a task as it starts.
type greeter struct{ to model.ProcID }

func (g greeter) Start(_ model.Self, s *model.Script) {
	s.Send(g.to, model.Message{Kind: model.Data})
}
func (greeter) Step(*model.Event, *model.Script) {}
func (greeter) State(*model.Codec)               {}

// restartAll is at-least-once whose supervisor restarts the whole job.
func restartAll() *model.Mode {
	mode := semantics.AtLeastOnce
	mode.Restart = model.RestartJob
	return &mode
}

// With the whole job as restart scope every task gets the next attempt, and the run still drains.
func TestWorld_RestartJob(t *testing.T) {
	w, h := run(restartAll(), double, write(2, model.Crash, model.BeforeAck))
	contains(t, lines(w), "sink/0#1 crash", "source/0#1 cancel", "op/0#1 cancel",
		"source/0#2 start", "op/0#2 start", "sink/0#2 start")
	require.Equal(t, model.Quiescent, h.End.Reason)
	pause := write(1, model.Pause, model.Before)
	pause.For = 80_000_000
	_, h = run(restartAll(), double, pause)
	require.Equal(t, model.Quiescent, h.End.Reason)
	require.NotZero(t, h.Lives[0].Replaced+h.Lives[1].Replaced+h.Lives[2].Replaced)
}

// stubborn never finishes: it asks for a timer at every step.
type stubborn struct{}

func (stubborn) Start(_ model.Self, s *model.Script)   { s.After(1_000_000, 0) }
func (stubborn) Step(_ *model.Event, s *model.Script)  { s.After(1_000_000, 0) }
func (stubborn) State(*model.Codec)                    {}
func stubbornly(*model.Job, *model.Task) model.Process { return stubborn{} }
func quitting(*model.Job, *model.Task) model.Process   { return quitter{} }

// quitter gives up whenever it is started.
type quitter struct{}

func (quitter) Start(_ model.Self, s *model.Script)  { s.Fail("no") }
func (quitter) Step(_ *model.Event, _ *model.Script) {}
func (quitter) State(*model.Codec)                   {}

// A job that never drains ends at the bound of virtual time, or of events: never by hanging.
func TestWorld_Bounds(t *testing.T) {
	h := world(&model.Mode{Name: "stubborn", New: stubbornly}, double, 1, 1).
		Run(1, nil, sim.Options{})
	require.Equal(t, model.TimeBound, h.End.Reason)
	h = world(&model.Mode{Name: "quitting", New: quitting}, double, 1, 1).
		Run(1, nil, sim.Options{})
	require.Equal(t, model.RestartLoop, h.End.Reason)
	require.Equal(t, model.GaveUp, h.Lives[0].How)

	w := world(&semantics.AtLeastOnce, double, 1, 100)
	small := sim.New(w.Job(), &semantics.AtLeastOnce, model.NewInput([]model.Partition{
		{Records: make([]model.Record, 100), Every: 1_000_000}}), &sim.AppendLog,
		sim.Config{EventsMax: 50})
	require.Equal(t, model.EventBound, small.Run(1, nil, sim.Options{}).End.Reason)
}

// A source that nothing holds back can fill the queue: then the budget is spent. And a long wait
// costs nothing, however long it is.
func TestWorld_QueueAndLongWaits(t *testing.T) {
	flood := semantics.AtMostOnce
	w := world(&flood, double, 1, 1)
	records := make([]model.Record, 400_000)
	w = sim.New(model.NewJob(w.Job().Topology, []model.ParamValue{{Name: "batch", Value: 1000},
		{Name: "dead-letter"}}),
		&flood, model.NewInput([]model.Partition{{Records: records, Every: 10}}), &sim.AppendLog,
		sim.Config{EventsMax: 1 << 40})
	require.Equal(t, model.EventBound, w.Run(1, nil, sim.Options{}).End.Reason)

	rare := sim.New(w.Job(), &flood, model.NewInput([]model.Partition{
		{Records: make([]model.Record, 50), Every: 1_000_000_000_000}}), &sim.AppendLog,
		sim.Config{})
	h := rare.Run(1, nil, sim.Options{})
	require.Equal(t, model.Quiescent, h.End.Reason)
	require.Len(t, h.Final, 50)
	require.Less(t, h.End.N, int64(2_000))
}
