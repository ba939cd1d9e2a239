package sim_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/semantics"
	"github.com/oncesim/oncesim/sim"
)

// message strikes the n-th message of a kind from one process to another.
func message(action model.Action, kind model.Kind, n int64, from, to model.ProcID) model.Rule {
	return model.Rule{Action: action, Proc: from, Peer: to, Call: kind, N: n,
		Scope: model.MessageOnChannel, For: 20_000_000}
}

// order is the offsets of the records that a process handles.
func order(w *sim.World, p model.ProcID) []int64 {
	var list []int64
	for _, e := range w.Trace() {
		if e.Kind == model.EntryDeliver && e.Proc == p && e.Msg.Kind == model.Data {
			list = append(list, e.Msg.Record.ID.Offset)
		}
	}
	return list
}

// What faults of messages do to the order in which a task gets its records.
func TestWorld_MessageFaults(t *testing.T) {
	for _, tc := range []struct {
		name  string
		mode  *model.Mode
		rules []model.Rule
		want  []int64
	}{
		{"lost", &semantics.AtMostOnce,
			[]model.Rule{message(model.LoseMessage, model.Data, 2, source, op)}, []int64{0, 2, 3}},
		{"lost and sent again", &semantics.AtLeastOnce,
			[]model.Rule{message(model.LoseMessage, model.Data, 2, source, op)},
			[]int64{0, 2, 3, 1}},
		{"delayed, holding nothing up", &semantics.AtMostOnce,
			[]model.Rule{message(model.DelayMessage, model.Data, 2, source, op)},
			[]int64{0, 2, 3, 1}},
		{"doubled", &semantics.AtMostOnce,
			[]model.Rule{message(model.DuplicateMessage, model.Data, 2, source, op)},
			[]int64{0, 1, 2, 3, 1}},
		{"reordered", &semantics.AtMostOnce,
			[]model.Rule{message(model.ReorderMessages, model.Data, 2, source, op)},
			[]int64{0, 2, 1, 3}},
		{"reordered twice", &semantics.AtMostOnce,
			[]model.Rule{message(model.ReorderMessages, model.Data, 1, source, op),
				message(model.ReorderMessages, model.Data, 2, source, op)},
			[]int64{2, 1, 0, 3}},
		{"the next is lost", &semantics.AtMostOnce,
			[]model.Rule{message(model.ReorderMessages, model.Data, 1, source, op),
				message(model.LoseMessage, model.Data, 2, source, op)},
			[]int64{2, 0, 3}},
		{"the next is delayed", &semantics.AtMostOnce,
			[]model.Rule{message(model.ReorderMessages, model.Data, 1, source, op),
				message(model.DelayMessage, model.Data, 2, source, op)},
			[]int64{2, 0, 3, 1}},
		{"the last has no next", &semantics.AtMostOnce,
			[]model.Rule{message(model.ReorderMessages, model.Data, 4, source, op)},
			[]int64{0, 1, 2, 3}},
		{"a lost acknowledgement", &semantics.AtLeastOnce,
			[]model.Rule{message(model.LoseMessage, model.Ack, 1, op, source)},
			[]int64{0, 1, 2, 3, 0}},
		{"a doubled acknowledgement", &semantics.AtLeastOnce,
			[]model.Rule{message(model.DuplicateMessage, model.Ack, 1, op, source)},
			[]int64{0, 1, 2, 3}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := world(tc.mode, double, 1, 4)
			h := w.Run(1, tc.rules, sim.Options{Trace: true})
			require.Equal(t, tc.want, order(w, op))
			require.Equal(t, model.Quiescent, h.End.Reason)
			for i, n := range h.Reached {
				e := w.Trace()[n-1]
				require.Equal(t, model.EntrySend, e.Kind)
				require.Equal(t, tc.rules[i].Peer, e.To)
			}
		})
	}
}

// A message tells in the trace what became of it, and both ends are named.
func TestWorld_MessageFaults_Trace(t *testing.T) {
	for action, kind := range map[model.Action]model.EntryKind{
		model.LoseMessage: model.EntryLose, model.DelayMessage: model.EntryDelay,
		model.DuplicateMessage: model.EntryDouble, model.ReorderMessages: model.EntryDelay,
	} {
		w, h := run(&semantics.AtLeastOnce, double, message(action, model.Data, 1, op, sink))
		e := w.Trace()[h.Reached[0]]
		require.Equal(t, kind, e.Kind)
		require.Equal(t, h.Reached[0], e.Cause)
		require.Equal(t, []model.ProcID{op, sink}, []model.ProcID{e.Proc, e.To})
		require.EqualValues(t, model.Nobody, e.Service)
		require.Equal(t, model.Data, e.Msg.Kind)
	}
}

// A message that nothing overtakes waits for as long as the rule says and no longer.
func TestWorld_ReorderIsBounded(t *testing.T) {
	rule := message(model.ReorderMessages, model.Data, 3, op, sink)
	w, h := run(&semantics.AtMostOnce, double, rule)
	sent, got := int64(0), int64(0)
	for _, e := range w.Trace() {
		if e.Kind == model.EntrySend && e.N == h.Reached[0] {
			sent = e.At
		}
		if e.Kind == model.EntryDeliver && e.Cause == h.Reached[0] {
			got = e.At
		}
	}
	require.Greater(t, got, sent+rule.For)
	require.Less(t, got, sent+rule.For+5_000_000)
}

// Ordinals count all messages of a kind on a channel: those of every life, and what is sent again.
func TestWorld_MessagesAreCounted(t *testing.T) {
	crash := model.Rule{Action: model.Crash, Proc: op, Point: model.After, Scope: model.EveryEffect,
		N: 3}
	for _, mode := range semantics.All() {
		w, h := run(mode, sum, crash, message(model.LoseMessage, model.Data, 2, source, op))
		sent := map[[3]int64]int64{}
		for _, e := range w.Trace() {
			if e.Kind == model.EntrySend {
				sent[[3]int64{int64(e.Proc), int64(e.To), int64(e.Msg.Kind)}]++
			}
		}
		for from, counts := range h.Extent.Messages {
			for i, n := range counts {
				to, kind := model.MessageAt(i)
				require.Equal(t, sent[[3]int64{int64(from), int64(to), int64(kind)}], n)
			}
		}
	}
}

// strikes draws up to three rules from a seed: one of messages, and others of any kind.
func strikes(seed uint64) []model.Rule {
	draw := func(what uint64, bound int64) int64 {
		return model.Below(model.Draw(seed, model.DrawPlan, what, 7, 7), bound)
	}
	job := world(&semantics.None, sum, 2, 1).Job()
	from := model.ProcID(draw(1, 6))
	kind, peers := model.Data, job.Tasks[from].Out
	var to model.ProcID
	if len(peers) > 0 && draw(2, 2) == 0 {
		to = peers[draw(3, int64(len(peers)))].Peer
	} else if ins := job.Tasks[from].In; len(ins) > 0 {
		kind, to = model.Ack, ins[draw(3, int64(len(ins)))].Peer
	}
	action := model.LoseMessage + model.Action(draw(4, 4))
	rule := message(action, kind, 1+draw(5, 12), from, to)
	rule.For = 1_000_000 + draw(6, 90_000_000)
	return append(plan(seed, 6), rule)
}

// Faults of messages leave a run what it is: the same again, whether or not it is traced, and
// whether or not its processes are replaced; and it ends.
func TestDeterminism_MessageFaults(t *testing.T) {
	reached := 0
	for _, mode := range semantics.All() {
		w, other := world(mode, sum, 2, 12), world(mode, sum, 2, 12)
		for seed := range uint64(60) {
			rules := strikes(seed)
			h := w.Run(seed, rules, sim.Options{})
			require.Equal(t, model.Quiescent, h.End.Reason)
			if h.Reached[len(rules)-1] != 0 {
				reached++
			}
			end := h.End
			require.Equal(t, end, w.Run(seed, rules, sim.Options{}).End)
			require.Equal(t, end, other.Run(seed, rules, sim.Options{Trace: true}).End)
			require.Equal(t, end, other.Run(seed, rules, sim.Options{Transplant: true}).End)
		}
	}
	require.Greater(t, reached, 40)
}

// Each fault of a message moves the hash.
func TestWorld_MessageFaults_Hash(t *testing.T) {
	_, clean := run(&semantics.AtLeastOnce, double)
	seen := map[uint64]bool{clean.End.Hash: true}
	for action := model.LoseMessage; action <= model.ReorderMessages; action++ {
		_, h := run(&semantics.AtLeastOnce, double, message(action, model.Data, 1, op, sink))
		require.False(t, seen[h.End.Hash], action.String())
		seen[h.End.Hash] = true
	}
}

// They allocate nothing in a world that has run before.
func TestWorld_MessageFaults_AllocateNothing(t *testing.T) {
	for action := model.LoseMessage; action <= model.ReorderMessages; action++ {
		w := world(&semantics.AtLeastOnce, sum, 2, 200)
		rules := []model.Rule{message(action, model.Data, 20, 0, 2)}
		run := func() { w.Run(1, rules, sim.Options{}) }
		run()
		require.LessOrEqual(t, testing.AllocsPerRun(20, run), 1.0, action.String())
	}
}
