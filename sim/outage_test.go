package sim_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/semantics"
	"github.com/oncesim/oncesim/sim"
)

// act is what a puppet does at a time.
type act struct {
	at int64 // virtual ns
	do func(s *model.Script)
}

// puppet does what it is told when it is told, and takes no notice of anything.
type puppet struct{ acts []act }

func (p puppet) Start(_ model.Self, s *model.Script) {
	for i := range p.acts {
		s.After(p.acts[i].at, int64(i))
	}
}

func (p puppet) Step(ev *model.Event, s *model.Script) {
	if ev.Kind == model.TimerFired {
		p.acts[ev.Token].do(s)
	}
}

func (puppet) State(*model.Codec) {}

const ms = 1_000_000

// stage runs puppets as source, op and sink. Latencies are fixed: 1 ms from process to process and
// 0.4 ms each way to a service. Eight records arrive, one a millisecond.
func stage(acts map[model.ProcID][]act, rules ...model.Rule) (*sim.World, *model.History) {
	mode := &model.Mode{Name: "puppets", New: func(_ *model.Job, t *model.Task) model.Process {
		return puppet{acts: acts[t.Proc]}
	}}
	job := world(&semantics.None, sum, 1, 1).Job()
	w := sim.New(job, mode, model.NewInput([]model.Partition{
		{Records: make([]model.Record, 8), Every: ms}}), &sim.AppendLog,
		sim.Config{Channel: sim.Span{Min: ms, Max: ms},
			Request: sim.Span{Min: 400_000, Max: 400_000},
			Answer:  sim.Span{Min: 400_000, Max: 400_000}})
	return w, w.Run(1, rules, sim.Options{Trace: true})
}

// sends is a message a millisecond from the first to the last, numbered by it.
func sends(to model.ProcID, kind model.Kind, first, last int64) []act {
	var acts []act
	for n := first; n <= last; n++ {
		acts = append(acts, act{n * ms, func(s *model.Script) {
			s.Send(to, model.Message{Kind: kind, Record: model.Record{ID: model.ID{Offset: n}}})
		}})
	}
	return acts
}

// calls is a request that does not wait.
func callsAt(at int64, m model.Message) act {
	return act{at, func(s *model.Script) { s.Begin(m.Kind.Service(), m) }}
}

func putsAt(at, n int64) act {
	return callsAt(at, model.Message{Kind: model.Put,
		Record: model.Record{Op: 1, Key: "k", ID: model.ID{Offset: n}, Value: model.Value{Num: n}}})
}

func getsAt(at int64) act {
	return callsAt(at, model.Message{Kind: model.Get, Record: model.Record{Op: 1, Key: "k"}})
}

// delivered is the offsets of what a process gets from another.
func delivered(w *sim.World, from, to model.ProcID) []int64 {
	var list []int64
	for _, e := range w.Trace() {
		if e.Kind == model.EntryDeliver && e.Proc == to && e.To == from {
			list = append(list, e.Msg.Record.ID.Offset)
		}
	}
	return list
}

// values is what the gets of a run found: a number, or -1 for nothing, or -2 for no answer.
func values(h *model.History) []int64 {
	var list []int64
	for _, c := range h.Calls {
		switch {
		case c.Req.Kind != model.Get:
		case c.Outcome != model.Done:
			list = append(list, -2)
		case !c.Ans.Found:
			list = append(list, -1)
		default:
			list = append(list, c.Ans.Value.Num)
		}
	}
	return list
}

// outcomes is what callers know of requests of a kind.
func outcomes(h *model.History, kind model.Kind) []model.Outcome {
	var list []model.Outcome
	for _, c := range h.Calls {
		if c.Req.Kind == kind {
			list = append(list, c.Outcome)
		}
	}
	return list
}

// losses is the details of what was lost.
func losses(w *sim.World) []string {
	var list []string
	for _, e := range w.Trace() {
		if e.Kind == model.EntryLose {
			list = append(list, e.Detail)
		}
	}
	return list
}

func cut(from, until int64) model.Rule {
	return model.Rule{Action: model.CutLink, Proc: op, Peer: model.Nobody,
		Service: model.StateStore, Point: model.AtTime, At: from, For: until - from}
}

// Between two processes, what leaves either of them in the time is lost, whoever is named first.
// What had left before still arrives, and nothing else is touched.
func TestWorld_PartitionOfProcesses(t *testing.T) {
	acts := map[model.ProcID][]act{op: append(sends(sink, model.Data, 1, 9),
		sends(source, model.Ack, 1, 9)...), sink: sends(op, model.Ack, 1, 9)}
	rule := cut(4*ms, 7*ms)
	for _, sides := range [][2]model.ProcID{{op, sink}, {sink, op}} {
		rule.Proc, rule.Peer = sides[0], sides[1]
		w, h := stage(acts, rule)
		require.Equal(t, []int64{1, 2, 3, 7, 8, 9}, delivered(w, op, sink))
		require.Equal(t, []int64{1, 2, 3, 7, 8, 9}, delivered(w, sink, op))
		require.Equal(t, []int64{1, 2, 3, 4, 5, 6, 7, 8, 9}, delivered(w, op, source))
		require.Len(t, losses(w), 6)
		first := w.Trace()[h.Reached[0]-1]
		require.Equal(t, model.EntryLose, first.Kind)
		require.Equal(t, "partition", first.Detail)
		require.EqualValues(t, 4*ms, first.At)
		require.Equal(t, model.EntrySend, w.Trace()[first.Cause-1].Kind)
	}
}

// Anchored at a message, the partition begins with it.
func TestWorld_PartitionAtMessage(t *testing.T) {
	acts := map[model.ProcID][]act{op: sends(sink, model.Data, 1, 6),
		sink: sends(op, model.Ack, 1, 6)}
	w, h := stage(acts, model.Rule{Action: model.CutLink, Proc: op, Peer: sink, For: 2 * ms,
		Scope: model.MessageOnChannel, Call: model.Data, N: 3})
	require.Equal(t, []int64{1, 2, 5, 6}, delivered(w, op, sink))
	require.EqualValues(t, 3, w.Trace()[h.Reached[0]-1].Msg.Record.ID.Offset)
	require.Equal(t, model.Data, w.Trace()[h.Reached[0]-1].Msg.Kind)
}

// Between a process and a service, a request that leaves in the time is not applied, and one whose
// answer leaves in it is. The caller knows of neither. Others reach the service.
func TestWorld_PartitionFromService(t *testing.T) {
	acts := map[model.ProcID][]act{
		op:   {putsAt(1*ms, 1), putsAt(2*ms-200_000, 2), putsAt(3*ms, 3), putsAt(5*ms, 5)},
		sink: {getsAt(3 * ms), getsAt(4 * ms)},
	}
	w, h := stage(acts, cut(2*ms, 4*ms))
	require.Equal(t, []model.Outcome{model.Done, model.Unknown, model.Unknown, model.Done},
		outcomes(h, model.Put))
	require.Equal(t, []int64{2, 2}, values(h), "put 2 was applied and put 3 was not")
	require.Equal(t, []string{"partition", "partition"}, losses(w))
	require.Len(t, h.Servings, 5)
	require.Equal(t, model.EntryServe, w.Trace()[w.Trace()[h.Reached[0]-1].Cause-1].Kind)
}

// Anchored at a request it begins with the request, and anchored at its answer with the answer.
func TestWorld_PartitionAtRequestOrAnswer(t *testing.T) {
	for _, tc := range []struct {
		point  model.Point
		points []model.Outcome
		value  int64
	}{
		{0, []model.Outcome{model.Done, model.Unknown, model.Unknown, model.Done}, 1},
		{model.BeforeAck, []model.Outcome{model.Done, model.Unknown, model.Unknown, model.Done}, 2},
	} {
		rule := cut(0, 2*ms)
		rule.Point, rule.Scope, rule.Call, rule.N = tc.point, model.CallOfKind, model.Put, 2
		w, h := stage(map[model.ProcID][]act{
			op:   {putsAt(1*ms, 1), putsAt(2*ms, 2), putsAt(3*ms, 3), putsAt(5*ms, 5)},
			sink: {getsAt(4 * ms)},
		}, rule)
		require.Equal(t, tc.points, outcomes(h, model.Put))
		require.Equal(t, []int64{tc.value}, values(h))
		require.Equal(t, model.Put, w.Trace()[h.Reached[0]-1].Msg.Kind)
		require.EqualValues(t, 2, w.Trace()[h.Reached[0]-1].Msg.Record.ID.Offset)
	}
}

// A service that is down loses what arrives, keeps what it has, and what it had answered arrives.
func TestWorld_CrashService(t *testing.T) {
	acts := map[model.ProcID][]act{
		op: {putsAt(1*ms, 1), putsAt(2*ms, 2), putsAt(3*ms, 3), putsAt(6*ms, 6)},
		sink: {getsAt(4 * ms), getsAt(5*ms - 300_000),
			callsAt(3*ms, model.Message{Kind: model.Write}), getsAt(8 * ms)},
	}
	rules := []model.Rule{
		{Action: model.CrashService, Proc: model.Nobody, Service: model.StateStore,
			Point: model.AtTime, At: 2*ms + 500_000, For: 2*ms + 500_000},
		{Action: model.CrashService, Proc: op, Service: model.StateStore, Scope: model.CallOfKind,
			Call: model.Put, N: 3, For: 1_600_000},
	}
	for _, rule := range rules {
		w, h := stage(acts, rule)
		require.Equal(t, []model.Outcome{model.Done, model.Done, model.Unknown, model.Done},
			outcomes(h, model.Put), "put 2 was answered before")
		require.Equal(t, []int64{-2, 2, 6}, values(h))
		require.Equal(t, []string{"outage", "outage"}, losses(w))
		require.Equal(t, []model.Outcome{model.Done}, outcomes(h, model.Write))
		first := w.Trace()[h.Reached[0]-1]
		require.Equal(t, "outage", first.Detail)
		require.EqualValues(t, 3, first.Msg.Record.ID.Offset)
		require.EqualValues(t, 3*ms+400_000, first.At, "as it arrives")
	}
}

// call strikes one request of op.
func call(action model.Action, kind model.Kind, n int64) model.Rule {
	return model.Rule{Action: action, Proc: op, Scope: model.CallOfKind, Call: kind, N: n}
}

// What is refused is answered and not done; what is forgotten is answered as done, and is not.
func TestWorld_RefusedAndForgotten(t *testing.T) {
	acts := map[model.ProcID][]act{op: {putsAt(1*ms, 1), putsAt(2*ms, 2), getsAt(3 * ms),
		putsAt(4*ms, 4), getsAt(5 * ms)}}
	for action, outcome := range map[model.Action]model.Outcome{
		model.RefuseRequest: model.Refused, model.ForgetRequest: model.Done} {
		w, h := stage(acts, call(action, model.Put, 2))
		require.Equal(t, []model.Outcome{model.Done, outcome, model.Done}, outcomes(h, model.Put))
		require.Equal(t, []int64{1, 4}, values(h))
		require.Len(t, h.Servings, 5)
		e := w.Trace()[h.Reached[0]-1]
		require.Equal(t, model.EntryServe, e.Kind)
		require.Equal(t, outcome, e.Outcome)
		for i, s := range h.Servings {
			isHit := s.N == h.Reached[0]
			require.Equal(t, isHit && action == model.ForgetRequest, s.Forgotten, i)
			if isHit {
				require.Equal(t, outcome, s.Ans.Outcome)
				require.Equal(t, s.N, h.Calls[s.Call].Served)
			}
		}
		if action == model.ForgetRequest {
			require.Equal(t, "forgotten", e.Detail)
		}
	}
}

// What the external system forgets, readers never see; its place goes to the next.
func TestWorld_ForgottenWrite(t *testing.T) {
	write := func(at, n int64) act {
		return callsAt(at, model.Message{Kind: model.Write,
			Record: model.Record{ID: model.ID{Offset: n}}})
	}
	_, h := stage(map[model.ProcID][]act{op: {write(1*ms, 1), write(2*ms, 2), write(3*ms, 3)}},
		call(model.ForgetRequest, model.Write, 2))
	require.Len(t, h.Final, 2)
	require.EqualValues(t, 1, h.Final[0].Out.ID.Offset)
	require.EqualValues(t, 3, h.Final[1].Out.ID.Offset)
	require.EqualValues(t, 1, h.Calls[1].Ans.Seq, "the caller was told a place")
	require.EqualValues(t, 1, h.Calls[2].Ans.Seq)
}

// A stale answer is that before the last change, whatever was asked in between.
// The last get is stale by a put that wrote what was there.
func TestWorld_StaleGet(t *testing.T) {
	for n, want := range map[int64][]int64{
		1: {-1, 1, 2, 2}, 2: {1, -1, 2, 2}, 3: {1, 1, 1, 2}, 4: {1, 1, 2, 2},
	} {
		w, h := stage(map[model.ProcID][]act{op: {putsAt(1*ms, 1), getsAt(2 * ms), getsAt(3 * ms),
			putsAt(4*ms, 2), getsAt(5 * ms), putsAt(6*ms, 2), getsAt(7 * ms)}},
			call(model.StaleRead, model.Get, n))
		require.Equal(t, want, values(h), "get %d is stale", n)
		require.Equal(t, "stale", w.Trace()[h.Reached[0]-1].Detail)
		require.Equal(t, model.EntryServe, w.Trace()[h.Reached[0]-1].Kind)
	}
}

// The input log changes when an offset is committed, and when a record arrives.
func TestWorld_StaleInput(t *testing.T) {
	input := func(at int64, kind model.Kind, seq int64) act {
		return callsAt(at, model.Message{Kind: kind, Seq: seq, N: 100})
	}
	acts := map[model.ProcID][]act{op: {input(1*ms, model.OffsetCommit, 1),
		input(2*ms, model.OffsetCommit, 2), input(3*ms, model.Position, 0),
		input(4*ms, model.Latest, 0), input(5*ms, model.Fetch, 2), input(6*ms, model.Fetch, 6)}}
	_, h := stage(acts, call(model.StaleRead, model.Position, 1),
		call(model.StaleRead, model.Latest, 1), call(model.StaleRead, model.Fetch, 1),
		call(model.StaleRead, model.Fetch, 2))
	require.EqualValues(t, 1, h.Calls[2].Ans.Seq, "2 was committed")
	require.EqualValues(t, 3, h.Calls[3].Ans.Seq, "4 had arrived")
	require.EqualValues(t, 2, h.Calls[4].Ans.N, "2 to 4 had arrived")
	require.EqualValues(t, 2, h.Calls[4].Ans.Records[0].ID.Offset)
	require.Zero(t, h.Calls[5].Ans.N)
	require.Positive(t, h.Calls[5].Ans.Wait)
	require.False(t, h.Calls[5].Ans.End)
	_, h = stage(acts)
	require.EqualValues(t, 2, h.Calls[2].Ans.Seq)
	require.EqualValues(t, 4, h.Calls[3].Ans.Seq)
	require.EqualValues(t, 3, h.Calls[4].Ans.N)
}

// What a service handed out stays what it was when another answer is stale or forgotten.
func TestWorld_StaleKeepsEarlierAnswers(t *testing.T) {
	update := func(at, n int64) act {
		return callsAt(at, model.Message{Kind: model.Update, Token: int64(op), Seq: n, N: 2,
			Record: model.Record{Op: 1, ID: model.ID{Offset: n}},
			Parts:  []model.Record{{Op: 1, ID: model.ID{Offset: n}}}, Cursor: n - 1})
	}
	load := func(at int64, kind model.Kind) act {
		return callsAt(at, model.Message{Kind: kind, Token: int64(op)})
	}
	acts := map[model.ProcID][]act{op: {update(1*ms, 0), load(2*ms, model.LoadOutbox),
		load(3*ms, model.LoadIDs), update(4*ms, 1), load(5*ms, model.LoadOutbox),
		load(6*ms, model.LoadIDs), update(7*ms, 2), update(8*ms, 3),
		load(9*ms, model.LoadOutbox), load(10*ms, model.LoadIDs)}}
	clean := func(rules ...model.Rule) (text []string) {
		_, h := stage(acts, rules...)
		for _, c := range h.Calls {
			text = append(text, fmt.Sprint(c.Req.Kind, c.Ans.Seq, c.Ans.Records))
		}
		return text
	}
	want := clean()
	stale := clean(call(model.StaleRead, model.LoadOutbox, 2),
		call(model.StaleRead, model.LoadIDs, 2))
	require.Equal(t, want[1], stale[4], "as before the second update")
	require.Equal(t, want[2], stale[5])
	require.NotEqual(t, want[4], stale[4])
	require.NotEqual(t, want[5], stale[5])
	stale[4], stale[5] = want[4], want[5]
	require.Equal(t, want, stale, "and nothing else")
	forgotten := clean(call(model.ForgetRequest, model.Update, 4))
	require.Equal(t, want[:8], forgotten[:8])
	require.NotEqual(t, want[8], forgotten[8])
}

// A fetch of what is gone begins at what is left. Committed offsets stay where they were.
func TestWorld_TruncateInput(t *testing.T) {
	fetch := func(at, from int64) act {
		return callsAt(at, model.Message{Kind: model.Fetch, Seq: from, N: 2})
	}
	acts := map[model.ProcID][]act{op: {fetch(5*ms, 3), fetch(6*ms, 0), fetch(7*ms, 4),
		callsAt(8*ms, model.Message{Kind: model.OffsetCommit, Seq: 1}),
		callsAt(9*ms, model.Message{Kind: model.Position})}}
	begins := func(h *model.History) (list []int64) {
		for _, c := range h.Calls[:3] {
			list = append(list, c.Ans.Seq, c.Ans.N)
		}
		return list
	}
	rule := model.Rule{Action: model.TruncateInput, Proc: model.Nobody, Point: model.AtTime,
		At: 4 * ms, Record: model.ID{Offset: 3}}
	_, clean := stage(acts)
	require.Equal(t, []int64{3, 2, 0, 2, 4, 2}, begins(clean))
	for _, at := range []model.Rule{rule, {Action: model.TruncateInput, Proc: op,
		Scope: model.CallOfKind, Call: model.Fetch, N: 2, Record: model.ID{Offset: 3}}} {
		w, h := stage(acts, at)
		require.Equal(t, []int64{3, 2, 3, 2, 4, 2}, begins(h))
		require.EqualValues(t, 3, h.Calls[1].Ans.Records[0].ID.Offset)
		require.EqualValues(t, 1, h.Calls[4].Ans.Seq)
		first := w.Trace()[h.Reached[0]-1]
		require.Equal(t, model.EntryServe, first.Kind)
		require.Zero(t, first.Msg.Seq)
	}
	rule.Record.Offset = 99
	_, h := stage(acts, rule)
	require.Equal(t, []int64{8, 0, 8, 0, 8, 0}, begins(h), "all of it")
	require.True(t, h.Calls[0].Ans.End)
	rule.At = 6*ms + 500_000
	_, h = stage(acts, rule)
	require.Equal(t, []int64{3, 2, 0, 2, 8, 0}, begins(h))
}

// A poisoned record is marked whenever it or what became of it is delivered there, and nowhere
// else.
func TestWorld_PoisonRecord(t *testing.T) {
	child := act{5 * ms, func(s *model.Script) {
		s.Send(op, model.Message{Kind: model.Data,
			Record: model.Record{ID: model.ID{Offset: 2}, Path: 7}})
	}}
	acts := map[model.ProcID][]act{
		source: append(append(sends(op, model.Data, 1, 3), child), sends(op, model.Ack, 1, 3)...),
		op:     sends(sink, model.Data, 1, 3),
	}
	w, h := stage(acts, model.Rule{Action: model.PoisonRecord, Proc: op, Scope: model.RecordEffect,
		Record: model.ID{Offset: 2}})
	var marked []int64
	for _, e := range w.Trace() {
		if e.Msg.Flags != 0 {
			require.Equal(t, model.Poisoned, e.Msg.Flags)
			require.Equal(t, model.EntryDeliver, e.Kind)
			require.Equal(t, op, e.Proc)
			require.Equal(t, model.Data, e.Msg.Kind)
			require.EqualValues(t, 2, e.Msg.Record.ID.Offset)
			marked = append(marked, e.N)
		}
	}
	require.Len(t, marked, 2)
	require.Equal(t, marked[0], h.Reached[0])
}

// breakages are new faults of every kind in a run of a mode.
func breakages() []model.Rule {
	at := cut(3*ms, 43*ms)
	link := at
	link.Peer = sink
	return []model.Rule{at, link,
		{Action: model.CrashService, Proc: model.Nobody, Service: model.External,
			Point: model.AtTime, At: 2 * ms, For: 30 * ms},
		{Action: model.CutLink, Proc: op, Peer: model.Nobody, Service: model.StateStore,
			For: 40 * ms, Point: model.BeforeAck, Scope: model.CallOfKind, Call: model.Put, N: 2},
		call(model.RefuseRequest, model.Put, 2), call(model.ForgetRequest, model.Put, 2),
		call(model.StaleRead, model.Get, 2),
		{Action: model.TruncateInput, Proc: source, Scope: model.CallOfKind, Call: model.Fetch,
			N: 2, Record: model.ID{Offset: 2}},
		{Action: model.PoisonRecord, Proc: op, Scope: model.RecordEffect,
			Record: model.ID{Offset: 1}},
	}
}

// Each leaves the run as it was until it strikes, moves the hash, and is itself deterministic.
func TestDeterminism_Breakages(t *testing.T) {
	clean, _ := run(&semantics.AtLeastOnce, sum)
	trace := append([]model.Entry(nil), clean.Trace()...)
	hash := clean.Run(1, nil, sim.Options{}).End.Hash
	seen := map[uint64]bool{hash: true}
	for _, rule := range breakages() {
		rules := []model.Rule{rule}
		w, h := run(&semantics.AtLeastOnce, sum, rules...)
		name := rule.Action.String()
		require.NotZero(t, h.Reached[0], name)
		if rule.Action != model.PoisonRecord {
			require.Equal(t, trace[:h.Reached[0]-1], w.Trace()[:h.Reached[0]-1], name)
		}
		end := h.End
		require.False(t, seen[end.Hash], name)
		seen[end.Hash] = true
		require.Equal(t, end, w.Run(1, rules, sim.Options{}).End)
		require.Equal(t, end, w.Run(1, rules, sim.Options{Transplant: true}).End)
		require.Equal(t, hash, w.Run(1, nil, sim.Options{}).End.Hash, name)
	}
}

// Those that need no copy of a service allocate nothing in a world that has run before.
func TestWorld_Breakages_AllocateNothing(t *testing.T) {
	for _, rule := range breakages() {
		if rule.Action == model.ForgetRequest || rule.Action == model.StaleRead {
			continue
		}
		w := world(&semantics.AtLeastOnce, sum, 1, 40)
		run := func() { w.Run(1, []model.Rule{rule}, sim.Options{}) }
		run()
		require.LessOrEqual(t, testing.AllocsPerRun(5, run), 1.0, rule.Action.String())
	}
}

// The extent lists what each task applied, once and in order, and how long the input is.
func TestWorld_ExtentOfRecords(t *testing.T) {
	w := world(&semantics.AtLeastOnce, sum, 2, 5)
	h := w.Run(1, []model.Rule{message(model.LoseMessage, model.Ack, 1, 2, 0)}, sim.Options{})
	require.Equal(t, []int64{5, 5}, h.Extent.Input)
	seen := map[model.ProcID][]model.ID{}
	has := map[string]bool{}
	for _, a := range h.Applications {
		if key := fmt.Sprint(a.Proc, a.In.ID); !has[key] {
			has[key] = true
			seen[a.Proc] = append(seen[a.Proc], a.In.ID)
		}
	}
	require.Less(t, len(has), len(h.Applications), "something was applied twice")
	for p, ids := range h.Extent.Seen {
		require.Equal(t, len(seen[model.ProcID(p)]), len(ids))
		for i := range ids {
			require.Equal(t, seen[model.ProcID(p)][i], ids[i])
		}
	}
}

// A stale answer to one who would fence others off leaves the past as it was: what the predecessor
// still writes is in it.
func TestWorld_StaleLoadFencesNobody(t *testing.T) {
	update := func(at, n int64) act {
		return callsAt(at, model.Message{Kind: model.Update, Flags: model.Fenced,
			Token: int64(op), Seq: n, N: 9, Record: model.Record{Op: 1, ID: model.ID{Offset: n}}})
	}
	load := func(at int64) act {
		return callsAt(at, model.Message{Kind: model.LoadIDs, Flags: model.Fenced,
			Token: int64(op)})
	}
	acts := map[model.ProcID][]act{op: {update(1*ms, 0), update(2*ms, 1), load(3 * ms),
		update(4*ms, 2), update(5*ms, 3), update(6*ms, 4), load(7 * ms)}}
	_, h := stage(acts, call(model.StaleRead, model.LoadIDs, 1),
		call(model.StaleRead, model.LoadIDs, 2))
	require.EqualValues(t, 0, h.Calls[2].Ans.Seq)
	require.EqualValues(t, 3, h.Calls[6].Ans.Seq)
}
