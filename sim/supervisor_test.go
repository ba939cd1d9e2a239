package sim_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/semantics"
	"github.com/oncesim/oncesim/sim"
)

// coordinator is the process beside source, op and sink in the jobs of this file.
const coordinator = model.ProcID(3)

// performer does in each of its lives what it is told of that life.
type performer struct {
	tell func(self model.Self) []act
	acts []act
}

func (p *performer) Start(self model.Self, s *model.Script) {
	p.acts = p.tell(self)
	for i := range p.acts {
		s.After(p.acts[i].at, int64(i))
	}
}

func (p *performer) Step(ev *model.Event, s *model.Script) {
	if ev.Kind == model.TimerFired {
		p.acts[ev.Token].do(s)
	}
}

func (*performer) State(*model.Codec) {}

// perform runs source, op, sink and coordinator, of which all are restarted if one dies.
func perform(tell func(self model.Self) []act, rules ...model.Rule) (*sim.World, *model.History) {
	return performOn(&sim.AppendLog, tell, rules...)
}

func performOn(sink *model.SinkSpec, tell func(self model.Self) []act,
	rules ...model.Rule) (*sim.World, *model.History) {
	mode := &model.Mode{Name: "performers", Restart: model.RestartJob,
		New: func(*model.Job, *model.Task) model.Process { return &performer{tell: tell} }}
	job := model.NewJob(world(&semantics.None, sum, 1, 1).Job().Topology, nil, "coordinator")
	w := sim.New(job, mode, model.NewInput([]model.Partition{
		{Records: make([]model.Record, 1), Every: ms}}), sink, sim.Config{})
	return w, w.Run(1, rules, sim.Options{Trace: true})
}

// lasts keeps every life busy for 100 ms.
func lasts(model.Self) []act { return []act{{100 * ms, func(*model.Script) {}}} }

func crashAt(at int64, p model.ProcID) model.Rule {
	return model.Rule{Action: model.Crash, Proc: p, Point: model.AtTime, At: at}
}

func pauseAt(at, length int64, p model.ProcID) model.Rule {
	return model.Rule{Action: model.Pause, Proc: p, Point: model.AtTime, At: at, For: length}
}

// ways is how the lives of a run ended: for each attempt, in the order of the processes.
func ways(h *model.History) (list []string) {
	attempts := int32(0)
	for _, life := range h.Lives {
		attempts = max(attempts, life.Attempt)
	}
	for attempt := int32(1); attempt <= attempts; attempt++ {
		line := ""
		for p := range coordinator + 1 {
			for _, life := range h.Lives {
				if life.Proc == p && life.Attempt == attempt {
					line += fmt.Sprintf("%s, ", life.How)
				}
			}
		}
		list = append(list, line[:len(line)-2])
	}
	return list
}

// Whoever dies, all are born again once, under one attempt.
func TestRestartJob_AllUnderOneAttempt(t *testing.T) {
	const allAlive = "alive, alive, alive, alive"
	for name, tc := range map[string]struct {
		rules []model.Rule
		want  []string
	}{
		"task": {[]model.Rule{crashAt(20*ms, op)},
			[]string{"cancelled, crashed, cancelled, cancelled", allAlive}},
		"coordinator": {[]model.Rule{crashAt(20*ms, coordinator)},
			[]string{"cancelled, cancelled, cancelled, crashed", allAlive}},
		"two at once": {[]model.Rule{crashAt(20*ms, op), crashAt(20*ms, sink)},
			[]string{"cancelled, crashed, crashed, cancelled", allAlive}},
		"another while it is down": {[]model.Rule{crashAt(20*ms, source),
			crashAt(24*ms, coordinator)},
			[]string{"crashed, cancelled, cancelled, crashed", allAlive}},
		"all at once": {[]model.Rule{crashAt(20*ms, source), crashAt(20*ms, op),
			crashAt(20*ms, sink), crashAt(20*ms, coordinator)},
			[]string{"crashed, crashed, crashed, crashed", allAlive}},
		"one after the other": {[]model.Rule{crashAt(20*ms, source), crashAt(50*ms, op)},
			[]string{"crashed, cancelled, cancelled, cancelled",
				"cancelled, crashed, cancelled, cancelled", allAlive}},
		"a pause in time": {[]model.Rule{pauseAt(20*ms, 40*ms, op)}, []string{allAlive}},
		"a zombie": {[]model.Rule{pauseAt(20*ms, 70*ms, op)},
			[]string{"cancelled, cancelled, cancelled, cancelled", allAlive}},
		"two zombies": {[]model.Rule{pauseAt(20*ms, 70*ms, op), pauseAt(22*ms, 70*ms, sink)},
			[]string{"cancelled, cancelled, cancelled, cancelled", allAlive}},
		"a crash beside a pause": {[]model.Rule{pauseAt(20*ms, 70*ms, op),
			crashAt(25*ms, coordinator)},
			[]string{"cancelled, cancelled, cancelled, crashed", allAlive}},
		"a crash beside a short pause": {[]model.Rule{pauseAt(20*ms, 40*ms, op),
			crashAt(25*ms, coordinator)},
			[]string{"cancelled, cancelled, cancelled, crashed", allAlive}},
	} {
		_, h := perform(lasts, tc.rules...)
		require.Equal(t, tc.want, ways(h), name)
		require.Equal(t, model.Quiescent, h.End.Reason, name)
		for i, life := range h.Lives {
			require.EqualValues(t, i/4+1, life.Attempt, name)
			require.Equal(t, life.Attempt, life.Life, name)
		}
	}
}

// One that dies as it starts takes all with it, and all are born a third time.
func TestRestartJob_DeathAtStart(t *testing.T) {
	for p := range coordinator + 1 {
		tell := func(self model.Self) []act {
			return []act{{ms, func(s *model.Script) {
				s.Send((self.Proc+1)%4, model.Message{Kind: model.Barrier})
			}}, {100 * ms, func(*model.Script) {}}}
		}
		_, h := perform(tell, crashAt(20*ms, op), model.Rule{Action: model.Crash, Proc: p,
			Point: model.Before, Scope: model.StartEffect, N: 1, Life: 2})
		require.NotZero(t, h.Reached[1])
		require.Len(t, h.Lives, 12)
		require.Equal(t, "alive, alive, alive, alive", ways(h)[2])
	}
}

// A life that stood still while all were restarted is a zombie, however short it stood still: what
// it had not done yet it does under its old attempt, until it learns that it was replaced.
func TestRestartJob_Zombie(t *testing.T) {
	tell := func(self model.Self) []act {
		return []act{{30 * ms, func(s *model.Script) {
			if self.Proc == op {
				s.Send(coordinator, model.Message{Kind: model.Acknowledge, Seq: 1})
				s.Begin(model.StateStore, model.Message{Kind: model.Put,
					Record: model.Record{Op: 1, Key: "k", Value: model.Value{Num: 5}}})
			}
		}}, {150 * ms, func(*model.Script) {}}}
	}
	for name, rules := range map[string][]model.Rule{
		"suspected": {pauseAt(20*ms, 70*ms, op)},
		"restarted": {pauseAt(20*ms, 40*ms, op), crashAt(22*ms, source)},
	} {
		w, h := perform(tell, rules...)
		contains(t, lines(w), "op/0#1 pause", "op/0#2 start", "op/0#1 resume",
			"op/0#1 send acknowledge 0", "op/0#1 serve put 0", "op/0#1 cancel")
		require.Len(t, h.Lives, 8, name)
		zombie, successor := h.Lives[op], h.Lives[4+op]
		require.Equal(t, successor.Began, zombie.Replaced, name)
		require.Equal(t, "it had been replaced", zombie.Reason, name)
		at := func(n int64) int64 { return w.Trace()[n-1].At }
		require.Greater(t, at(zombie.Ended), at(successor.Began), name)
		var heard []int32
		for _, e := range w.Trace() {
			if e.Kind == model.EntryDeliver && e.Proc == coordinator {
				heard = append(heard, e.Msg.Attempt)
				require.EqualValues(t, 2, e.Attempt, "the life that is current hears it")
			}
		}
		require.ElementsMatch(t, []int32{1, 2}, heard, name)
		for _, life := range []int{int(source), int(sink), int(coordinator)} {
			require.Zero(t, h.Lives[life].Replaced, "it was ended before it was replaced")
		}
	}
}

// failsOn has op fail on a record 10 ms into each of its lives.
func failsOn(self model.Self) []act {
	return []act{{10 * ms, func(s *model.Script) {
		if self.Proc == op {
			s.FailOn(model.Record{ID: model.ID{Offset: 4}}, "poison")
		}
	}}, {20 * ms, func(*model.Script) {}}}
}

// failed counts the lives of op that gave up.
func failed(h *model.History) (n int) {
	for _, life := range h.Lives {
		if life.Proc == op && life.How == model.GaveUp {
			n++
		}
	}
	return n
}

// Lives that fail on one record, one after the other, are restarted later and later, and in the end
// not at all. That others die in between, or a zombie ends as they do, is neither here nor there.
func TestRestartJob_Poison(t *testing.T) {
	const livesMax = 9
	w, h := perform(failsOn)
	require.Equal(t, model.RestartLoop, h.End.Reason)
	require.Equal(t, livesMax, failed(h))
	require.Len(t, h.Lives, 4*livesMax)
	at := func(n int64) int64 { return w.Trace()[n-1].At }
	for i := range int64(livesMax - 1) {
		wait := at(h.Lives[4*(i+1)+int64(op)].Began) - at(h.Lives[4*i+int64(op)].Ended)
		require.GreaterOrEqual(t, wait, int64(5*ms)<<i)
		require.LessOrEqual(t, wait, int64(10*ms)<<i)
	}

	_, h = perform(failsOn, crashAt(100*ms, coordinator), crashAt(400*ms, source))
	require.NotZero(t, h.Reached[1])
	require.Equal(t, model.RestartLoop, h.End.Reason)
	require.Equal(t, livesMax, failed(h))

	_, h = perform(failsOn, pauseAt(5*ms, 90*ms, op))
	require.NotZero(t, h.Lives[op].Replaced)
	require.Equal(t, model.GaveUp, h.Lives[op].How, "the zombie")
	require.Equal(t, model.RestartLoop, h.End.Reason)
	require.Equal(t, 1+livesMax, failed(h))
}

// A rule that counts effects about a checkpoint counts messages and requests about it, and none
// about another.
func TestWorld_CheckpointEffect(t *testing.T) {
	tell := func(self model.Self) []act {
		if self.Proc != coordinator || self.Life > 1 {
			return nil
		}
		return []act{{ms, func(s *model.Script) {
			s.Send(source, model.Message{Kind: model.Trigger, Seq: 1})
			s.Send(source, model.Message{Kind: model.Trigger, Seq: 2})
			s.Call(model.StateStore, model.Message{Kind: model.Completion, Seq: 1, N: 1})
			s.Call(model.StateStore, model.Message{Kind: model.NextCheckpoint, Seq: 2})
			s.Call(model.StateStore, model.Message{Kind: model.Completion, Seq: 2, Cursor: 1, N: 1})
			s.Send(source, model.Message{Kind: model.Complete, Seq: 2})
		}}}
	}
	for _, tc := range []struct {
		checkpoint, n int64
		next          string // what the crash comes before
	}{{1, 1, "send trigger 1"}, {2, 1, "send trigger 2"}, {1, 2, "invoke completion 1"},
		{2, 2, "invoke completion 2"}, {2, 3, "send complete 2"}, {1, 3, ""}, {2, 4, ""}} {
		w, h := perform(tell, model.Rule{Action: model.Crash, Proc: coordinator,
			Point: model.Before, Scope: model.CheckpointEffect, N: tc.n, Checkpoint: tc.checkpoint})
		require.Equal(t, tc.next != "", h.Reached[0] != 0, tc)
		did := []string{}
		for _, e := range w.Trace() {
			if e.Proc == coordinator && e.Msg.Kind != model.NextCheckpoint &&
				(e.Kind == model.EntrySend || e.Kind == model.EntryInvoke) {
				did = append(did, fmt.Sprintf("%s %s %d", e.Kind, e.Msg.Kind, e.Msg.Seq))
			}
		}
		all := []string{"send trigger 1", "send trigger 2", "invoke completion 1",
			"invoke completion 2", "send complete 2"}
		for i, next := range all {
			if next == tc.next {
				all = all[:i]
				break
			}
		}
		require.Equal(t, all, did, tc)
	}
}

// answersTo is what the service said to each request of a kind, in the order of the requests.
func answersTo(h *model.History, kind model.Kind) (list []model.Answer) {
	for _, c := range h.Calls {
		if c.Req.Kind == kind {
			list = append(list, c.Ans)
		}
	}
	return list
}

// asks has the coordinator ask one thing a millisecond.
func asks(list ...model.Message) func(model.Self) []act {
	return func(self model.Self) (acts []act) {
		for i, m := range list {
			if self.Proc == coordinator && self.Life == 1 {
				acts = append(acts, callsAt(int64(i+1)*ms, m))
			}
		}
		return acts
	}
}

func coordinatorCall(action model.Action, kind model.Kind, n int64) model.Rule {
	r := call(action, kind, n)
	r.Proc = coordinator
	return r
}

// Requests about checkpoints can be refused, forgotten and answered as things were before.
func TestWorld_CheckpointFaults(t *testing.T) {
	list := []model.Message{uploads(1, 0, 0, 7), fenced(1, completes(1, 0)), completes(2, 1),
		{Kind: model.Newest}, downloads(1, 0), planOf(1, 1, 5), {Kind: model.NewestBatch}}
	seqs := func(rules ...model.Rule) (outcomes []model.Outcome, newest int64, part, plan bool) {
		_, h := perform(asks(list...), rules...)
		for _, n := range h.Reached {
			require.NotZero(t, n)
		}
		for _, ans := range answersTo(h, model.Completion) {
			outcomes = append(outcomes, ans.Outcome)
		}
		return outcomes, answersTo(h, model.Newest)[0].Seq,
			answersTo(h, model.Download)[0].Found, answersTo(h, model.NewestBatch)[0].Seq == 1
	}
	const done = model.Done
	for name, tc := range map[string]struct {
		rule       []model.Rule
		outcomes   []model.Outcome
		newest     int64
		part, plan bool
	}{
		"none": {nil, []model.Outcome{done, done}, 2, true, true},
		"refused": {[]model.Rule{coordinatorCall(model.RefuseRequest, model.Completion, 2)},
			[]model.Outcome{done, model.Refused}, 1, true, true},
		"forgotten": {[]model.Rule{coordinatorCall(model.ForgetRequest, model.Completion, 1)},
			[]model.Outcome{done, model.Stale}, 0, true, true},
		"forgotten part": {[]model.Rule{coordinatorCall(model.ForgetRequest, model.Upload, 1)},
			[]model.Outcome{done, done}, 2, false, true},
		"forgotten plan": {[]model.Rule{coordinatorCall(model.ForgetRequest, model.PlanBatch, 1)},
			[]model.Outcome{done, done}, 2, true, false},
		"stale": {[]model.Rule{coordinatorCall(model.StaleRead, model.Newest, 1)},
			[]model.Outcome{done, done}, 1, true, true},
		"stale plan": {[]model.Rule{coordinatorCall(model.StaleRead, model.NewestBatch, 1)},
			[]model.Outcome{done, done}, 2, true, false},
	} {
		outcomes, newest, part, plan := seqs(tc.rule...)
		require.Equal(t, tc.outcomes, outcomes, name)
		require.Equal(t, tc.newest, newest, name)
		require.Equal(t, tc.part, part, name)
		require.Equal(t, tc.plan, plan, name)
	}
}

// What is torn is acknowledged, and half of it is there: whoever asks for it is told so. It stays
// what it is where the past of the store is looked at.
func TestWorld_TornUpload(t *testing.T) {
	list := []model.Message{uploads(1, 0, 2, 7, 8, 9), uploads(1, 0, 2, 7, 8, 9),
		uploads(2, 0, 2, 7, 8, 9), downloads(1, 0), downloads(2, 0), completes(1, 0),
		completes(2, 1), downloads(1, 0), downloads(1, 1)}
	tear := coordinatorCall(model.TearRequest, model.Upload, 1)
	stale := coordinatorCall(model.StaleRead, model.Download, 3)
	for _, rules := range [][]model.Rule{{tear}, {tear, stale}} {
		w, h := perform(asks(list...), rules...)
		uploads, answers := answersTo(h, model.Upload), answersTo(h, model.Download)
		require.Equal(t, model.Done, uploads[0].Outcome)
		require.Equal(t, model.DoneBefore, uploads[1].Outcome, "it is there")
		first := model.Answer{Outcome: model.Done, Seq: 1, Found: true, N: 1, End: true,
			Records: records(7)}
		require.Equal(t, first, answers[0])
		require.Equal(t, model.Answer{Outcome: model.Done, Seq: 2, Found: true, N: 2,
			Records: records(7, 8, 9)}, answers[1])
		require.Equal(t, first, answers[2])
		require.False(t, answers[3].Found)
		for _, s := range h.Servings {
			require.Equal(t, s.N == h.Reached[0], s.Torn)
		}
		require.Equal(t, "torn", w.Trace()[h.Reached[0]-1].Detail)
	}
	_, h := perform(asks(list...), coordinatorCall(model.TearRequest, model.Upload, 2))
	require.NotZero(t, h.Reached[0])
	require.False(t, answersTo(h, model.Download)[0].End, "what was there already stays whole")
}

// So can requests about transactions. What is stale has not seen more time pass than the service
// had at its last change, and does not run ahead of it afterwards.
func TestWorld_TransactionFaults(t *testing.T) {
	timed := begins(7)
	timed.Cursor = 7 * ms // from about 1.3 ms on
	list := []model.Message{timed, writes(7, 1, 0, 10), begins(8), plainly(12),
		{Kind: model.ListTxns}, ends(model.PrepareTxn, 7, 1, 1), ends(model.CommitTxn, 7, 1, 1),
		plainly(13), {Kind: model.ListTxns}, {Kind: model.ListTxns}}
	ids := func(ans model.Answer) (ids []int64) {
		for _, rec := range ans.Records {
			ids = append(ids, rec.ID.Offset)
		}
		return ids
	}
	run := func(rules ...model.Rule) (lists [][]int64, seen []int64, h *model.History) {
		_, h = performOn(&sim.TransactionalLog, asks(list...), rules...)
		for _, n := range h.Reached {
			require.NotZero(t, n)
		}
		for _, ans := range answersTo(h, model.ListTxns) {
			lists = append(lists, ids(ans))
		}
		for _, o := range h.Final {
			seen = append(seen, o.Out.Value.Num)
		}
		return lists, seen, h
	}
	lists, seen, _ := run()
	require.Equal(t, [][]int64{{7, 8}, {8}, {8}}, lists)
	require.Equal(t, []int64{10, 12, 13}, seen)

	lists, seen, _ = run(coordinatorCall(model.ForgetRequest, model.CommitTxn, 1))
	require.Equal(t, [][]int64{{7, 8}, {8}, {8}}, lists, "aborted when its time was over")
	require.Equal(t, []int64{12, 13}, seen)

	lists, seen, _ = run(coordinatorCall(model.RefuseRequest, model.BeginTxn, 1))
	require.Equal(t, [][]int64{{8}, {8}, {8}}, lists)
	require.Equal(t, []int64{12, 13}, seen)

	lists, seen, _ = run(coordinatorCall(model.StaleRead, model.ListTxns, 1))
	require.Equal(t, [][]int64{{7, 8}, {8}, {8}}, lists, "the last change was another one")
	require.Equal(t, []int64{10, 12, 13}, seen)

	list = list[:7] // the commit is the last change
	wait := model.Message{Kind: model.NewestBatch}
	list = append(list, wait, wait, wait, model.Message{Kind: model.ListTxns},
		model.Message{Kind: model.ListTxns}, plainly(13), model.Message{Kind: model.ListTxns})
	lists, _, h := run(coordinatorCall(model.StaleRead, model.ListTxns, 2),
		coordinatorCall(model.StaleRead, model.ListTxns, 4))
	require.Equal(t, [][]int64{{7, 8}, {7, 8}, {8}, {8}}, lists)
	require.EqualValues(t, 1, answersTo(h, model.ListTxns)[1].Records[0].Op, "it was prepared")
}

// The reader polls the committed entries, each once and at its offset in the log.
func TestWorld_ReadsTransactionalLog(t *testing.T) {
	list := []model.Message{plainly(9), begins(7), writes(7, 1, 0, 10), begins(8),
		writes(8, 1, 0, 11), plainly(12), ends(model.AbortTxn, 7, 1, 1), plainly(13),
		ends(model.CommitTxn, 8, 1, 1), plainly(14), plainly(15), plainly(16)}
	places := func(list []model.Observation) (all []string) {
		for _, o := range list {
			all = append(all, fmt.Sprintf("%d:%d", o.Seq, o.Out.Value.Num))
		}
		return all
	}
	_, h := performOn(&sim.TransactionalLog, asks(list...))
	want := []string{"0:9", "2:11", "3:12", "4:13", "5:14", "6:15", "7:16"}
	require.Equal(t, want, places(h.Observations))
	require.Equal(t, want, places(h.Final))
	require.EqualValues(t, 2*ms, h.Observations[0].At)
	require.EqualValues(t, 10*ms, h.Observations[1].At, "with the commit")
	require.EqualValues(t, 10*ms, h.Observations[3].At)
	_, h = performOn(&sim.TransactionalLogUncommitted, asks(list...))
	want = []string{"0:9", "1:10", "2:11", "3:12", "4:13", "5:14", "6:15", "7:16"}
	require.Equal(t, want, places(h.Observations))
	require.Equal(t, want, places(h.Final))
	require.EqualValues(t, 4*ms, h.Observations[1].At)
}
