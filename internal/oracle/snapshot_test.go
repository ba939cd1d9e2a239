package oracle_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/oncesim/oncesim/internal/oracle"
	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/semantics"
	"github.com/oncesim/oncesim/sim"
)

// Tasks of a chain of one operator under a mode with checkpoints.
const coordinatorTask = 3

// lost is a message that never arrives.
func lost(from, to model.ProcID, kind model.Kind, n int64) model.Rule {
	return model.Rule{Action: model.LoseMessage, Proc: from, Scope: model.MessageOnChannel,
		Peer: to, Call: kind, N: n}
}

// late is a message that others may overtake.
func late(from, to model.ProcID, kind model.Kind, n, length int64) model.Rule {
	return model.Rule{Action: model.DelayMessage, Proc: from, Scope: model.MessageOnChannel,
		Peer: to, Call: kind, N: n, For: length}
}

// param is a parameter as it is set.
func param(name string, value int64) model.ParamValue {
	return model.ParamValue{Name: name, Value: value}
}

// paced sets parameters of a mode that takes a checkpoint every 20 ms: the first of a story without
// records, the second with the first record that comes slow.
func paced(set ...model.ParamValue) []model.ParamValue {
	return append(set, param("interval", 20*ms))
}

// rewound: a restart goes back to a checkpoint.
var rewound = []tale{
	{sink: &sim.AppendLog, story: story{name: "what was written since comes again",
		mode: &semantics.Snapshot, top: chain(1, 1, &count), every: slow, in: "a1 a2",
		rules: []model.Rule{crash(sinkTask, model.After, model.Write, 1)},
		want:  "at-most-once duplicate; exactly-once duplicate"}},
	{sink: &sim.AppendLog, story: story{name: "what is in the checkpoint does not",
		mode: &semantics.Snapshot, top: chain(1, 1, &count), every: slow, in: "a1 a2",
		rules: []model.Rule{crash(coordinatorTask, model.After, model.Completion, 2)}}},
	{sink: &sim.TableByIdentity, story: story{name: "the same row comes again",
		mode: &semantics.SnapshotUpsert, top: chain(1, 1, &count), every: slow, in: "a1 a2",
		rules: []model.Rule{crash(sinkTask, model.After, model.Write, 1)}}},
	{sink: &sim.AppendLog, story: story{name: "a maximum goes back and returns",
		mode: &semantics.Snapshot, top: chain(1, 1, &record), every: slow, in: "a3 a1 a2",
		rules: []model.Rule{crash(opTask, model.After, model.Upload, 3)}}},
	{sink: &sim.AppendLog, set: []model.ParamValue{param("early-clean-up", 1)},
		story: story{name: "what was dropped is nobody's state, though it was completed",
			mode: tamper(semantics.Snapshot, model.Extra, on(model.Discard,
				func(m *model.Message) { m.Seq++ })),
			top: chain(1, 1, &count), every: slow, in: "a1",
			rules: []model.Rule{{Action: model.DelayRequest, Proc: coordinatorTask,
				Scope: model.CallOfKind, Call: model.Discard, N: 1, For: 20 * ms}},
			want: "exactly-once-state state-loss; exactly-once state-loss; " +
				"effectively-once state-loss"}},
	{sink: &sim.AppendLog, set: []model.ParamValue{param("checksums", 0)},
		story: story{name: "half of a part is begun from",
			mode: &semantics.Snapshot, top: chain(1, 1, &count), every: slow, in: "a1 b2 b3",
			rules: []model.Rule{atCall(model.TearRequest, opTask, 0, model.Upload, 3, 0),
				crash(coordinatorTask, model.After, model.Completion, 3)},
			want: "exactly-once-state state-loss inconsistent-cut; " +
				"exactly-once state-loss wrong-value; effectively-once state-loss"}},
	{sink: &sim.AppendLog, set: []model.ParamValue{param("fall-back", 1)},
		story: story{name: "half of a part is found out",
			mode: &semantics.Snapshot, top: chain(1, 1, &count), every: slow, in: "a1 b2 b3",
			rules: []model.Rule{atCall(model.TearRequest, opTask, 0, model.Upload, 3, 0),
				crash(coordinatorTask, model.After, model.Completion, 3)},
			want: "exactly-once-state inconsistent-cut; at-most-once duplicate; " +
				"exactly-once duplicate; mechanism pointer-regression"}},
	{sink: &sim.AppendLog, set: []model.ParamValue{param("alignment", 2)},
		story: story{name: "what overtakes a barrier is not in flight, and is kept as if it were",
			mode: &semantics.Snapshot, top: chain(2, 1, &count), every: slow, in: "a1 a1|a1 b1",
			rules: []model.Rule{late(1, 2, model.Barrier, 1, 20*ms)},
			want:  "exactly-once-state inconsistent-cut"}},
}

// gated: output becomes visible with its checkpoint.
var gated = []tale{
	{sink: &sim.TransactionalLog, story: story{name: "an open transaction is aborted",
		mode: &semantics.TwoPhaseCommit, top: chain(1, 1, &count), every: slow, in: "a1 a2",
		rules: []model.Rule{crash(sinkTask, model.After, model.Write, 1)}}},
	{sink: &sim.TransactionalLog, story: story{name: "a prepared one is committed",
		mode: &semantics.TwoPhaseCommit, top: chain(1, 1, &count), every: slow, in: "a1 a2",
		rules: []model.Rule{crash(coordinatorTask, model.After, model.Completion, 2)}}},
	{sink: &sim.TransactionalLog, set: []model.ParamValue{param("abort-lingering", 0)},
		story: story{name: "an open one is left, and holds readers up",
			mode: &semantics.TwoPhaseCommit, top: chain(1, 1, &count), every: slow, in: "a1 a2",
			rules: []model.Rule{crash(sinkTask, model.After, model.Write, 1)},
			want:  "at-least-once loss; exactly-once loss; progress hanging"}},
	{sink: &sim.TransactionalLog,
		set: []model.ParamValue{param("recommit", 0), param("commit-all", 0)},
		story: story{name: "a prepared one is forgotten",
			mode: &semantics.TwoPhaseCommit, top: chain(1, 1, &count), every: slow, in: "a1 a2",
			rules: []model.Rule{crash(coordinatorTask, model.After, model.Completion, 2)},
			want:  "at-least-once loss; exactly-once loss; progress hanging"}},
	{sink: &sim.TransactionalLog, set: []model.ParamValue{param("txn-timeout", 30*ms)},
		story: story{name: "one that nobody commits in time is aborted",
			mode: &semantics.TwoPhaseCommit, top: chain(1, 1, &count), every: slow, in: "a1",
			rules: []model.Rule{lost(coordinatorTask, sinkTask, model.Complete, 2)},
			want:  "at-least-once loss; exactly-once loss"}},
	{sink: &sim.TransactionalLogUncommitted,
		story: story{name: "readers that do not wait see what is aborted",
			mode: &semantics.TwoPhaseCommit, top: chain(1, 1, &count), every: slow, in: "a1 a2",
			rules: []model.Rule{crash(sinkTask, model.After, model.Write, 1)},
			want: "at-most-once duplicate; exactly-once duplicate; " +
				"atomic-visibility dirty-read early-read torn-read; " +
				"global-visibility fractured-read"}},
	{sink: &sim.BatchLog, story: story{name: "rows wait in the checkpoint",
		mode: &semantics.SnapshotWAL, top: chain(1, 1, &count), every: slow, in: "a1 a2",
		rules: []model.Rule{crash(sinkTask, model.After, model.WriteBatch, 1)}}},
	{sink: &sim.AppendLog, story: story{name: "rows wait in the checkpoint and come one by one",
		mode: &semantics.SnapshotWALSplit, top: chain(1, 1, &count), every: slow, in: "a1 a2",
		rules: []model.Rule{crash(sinkTask, model.After, model.Write, 1)},
		want:  "at-most-once duplicate; exactly-once duplicate"}},
	{sink: &sim.BatchLog, story: story{name: "a batch is run again",
		mode: &semantics.MicroBatch, top: chain(1, 1, &count), every: slow, in: "a1 a2",
		rules: []model.Rule{crash(sinkTask, model.After, model.WriteBatch, 1)}}},
	{sink: &sim.BatchLog, story: story{name: "what it leaves outlives a late drop",
		mode: &semantics.MicroBatch, top: chain(1, 1, &count), every: slow, in: "a1 a2",
		rules: []model.Rule{crash(sinkTask, model.After, model.WriteBatch, 1),
			{Action: model.DuplicateRequest, Proc: coordinatorTask, Scope: model.CallOfKind,
				Call: model.Discard, N: 1, For: 200 * ms}}}},
	{sink: &sim.AppendLog, story: story{name: "a batch is run again and shown again",
		mode: &semantics.MicroBatchPlain, top: chain(1, 1, &count), every: slow, in: "a1 a2",
		rules: []model.Rule{crash(sinkTask, model.After, model.WriteBatch, 1)},
		want: "at-most-once duplicate; exactly-once duplicate; " +
			"global-visibility fractured-read"}},
	{sink: &sim.IdentityLog, story: story{name: "a batch brings what is there already",
		mode: &semantics.MicroBatchPlain, top: chain(1, 1, &count), every: slow, in: "a1 a2",
		rules: []model.Rule{crash(sinkTask, model.After, model.WriteBatch, 1)}}},
	{sink: &sim.IdentityLog, story: story{name: "a batch brings a record twice, and others",
		mode: &semantics.MicroBatchPlain, top: chain(1, 1, &double), every: quick, in: "a1 a2 a3",
		rules: []model.Rule{{Action: model.DuplicateMessage, Scope: model.MessageOnChannel,
			Proc: opTask, Peer: sinkTask, Call: model.Data, N: 1, For: ms}}}},
}

// Tasks of a chain of one operator, two tasks each, under a mode with checkpoints.
const (
	secondSink       = 4
	coordinatorOfTwo = 5
)

// together: what belongs to one checkpoint becomes visible in several places.
var together = []tale{
	{sink: &sim.TransactionalLog, story: story{name: "each sink commits when it is told",
		mode: &semantics.TwoPhaseCommit, top: chain(1, 2, &double), every: quick, in: "a1 b2 c3",
		rules: []model.Rule{lost(coordinatorOfTwo, secondSink, model.Complete, 1)},
		want:  "global-visibility fractured-read"}},
	{sink: &sim.TransactionalLog, set: []model.ParamValue{param("global", 1)},
		story: story{name: "one commits for all", mode: &semantics.TwoPhaseCommit,
			top: chain(1, 2, &double), every: quick, in: "a1 b2 c3",
			rules: []model.Rule{lost(coordinatorOfTwo, secondSink, model.Complete, 1)}}},
	{sink: &sim.TransactionalLog, set: []model.ParamValue{param("txn-timeout", 30*ms)},
		story: story{name: "one commits in time and the other does not",
			mode: &semantics.TwoPhaseCommit, top: chain(1, 2, &double), every: quick,
			in: "a1 b2 c3", rules: []model.Rule{
				lost(coordinatorOfTwo, secondSink, model.Complete, 1)},
			want: "at-least-once loss; exactly-once loss; " +
				"global-visibility torn fractured-read; agreement conflict"}},
}

func TestVerdictsOnCheckpoints(t *testing.T) {
	for _, group := range [][]tale{rewound, gated, together} {
		for _, s := range group {
			s.set = paced(s.set...)
			t.Run(s.name, s.tell)
		}
	}
}

// inFlight counts the records that were in flight in the parts that tasks have uploaded.
func (b *bench) inFlight() int {
	n := 0
	for i := range b.last.Calls {
		if req := &b.last.Calls[i].Req; req.Kind == model.Upload {
			n += len(req.Parts) - int(req.N)
		}
	}
	return n
}

// What is in flight when barriers pass is part of the checkpoint: nothing is wrong with it, unless
// it is left out.
func TestVerdictsOnRecordsInFlight(t *testing.T) {
	for _, s := range []struct {
		alignment int64
		isKept    bool
	}{{2, true}, {3, false}} {
		flights, wrong := 0, 0
		b := newBench(t, &semantics.Snapshot, accounts(), records(ms, "a1 b2 c3|a5 b7"),
			param("alignment", s.alignment), param("interval", ms))
		for seed := uint64(1); seed <= 60; seed++ {
			got := broken(b.run(seed))
			flights += b.inFlight()
			if got != "" {
				wrong++
				assert.Contains(t, got, "inconsistent-cut")
			}
		}
		assert.Equal(t, s.isKept, flights > 0, "alignment %d", s.alignment)
		assert.Equal(t, s.isKept, wrong == 0, "alignment %d", s.alignment)
	}
}

// Defects in what is uploaded and completed are found where they enter.
func TestDefectsInCheckpoints(t *testing.T) {
	for _, s := range []struct {
		name string
		mode *model.Mode
		want string
	}{
		{"a part holds another value", tamper(semantics.Snapshot, model.Operate, on(model.Upload,
			func(m *model.Message) {
				for i := range m.Parts {
					m.Parts[i].Value.Num++
				}
			})), "at-most-once no-subsequence; replay-explained unexplained; " +
			"exactly-once-state wrong-state inconsistent-cut; exactly-once wrong-state; " +
			"effectively-once wrong-state"},
		{"a part is empty", tamper(semantics.Snapshot, model.Operate, on(model.Upload,
			func(m *model.Message) { m.Parts, m.N = nil, 0 })),
			"exactly-once-state state-loss inconsistent-cut; exactly-once state-loss; " +
				"effectively-once state-loss"},
		{"the last checkpoint is an old one", tamper(semantics.Snapshot, model.Extra,
			on(model.Completion, func(m *model.Message) {
				if m.Seq == 3 {
					m.Seq = 1
				}
			})), "exactly-once-state state-loss; exactly-once state-loss; " +
			"effectively-once state-loss; " +
			"mechanism pointer-regression"},
	} {
		t.Run(s.name, func(t *testing.T) {
			b := newBench(t, s.mode, chain(1, 1, &count), records(slow, "a1 a2"),
				paced()...)
			report := b.run(1)
			if !assert.Equal(t, sorted(s.want), broken(report)) {
				t.Log("\n" + report.String() + b.trace())
			}
			assert.Empty(t, oracle.Disagreement(report, b.check()))
		})
	}
}

// What followed a checkpoint that counts again is given up: it does not push out what came before.
func TestGoingBackKeepsWhatWasBefore(t *testing.T) {
	mode := tamper(semantics.Snapshot, model.Extra, on(model.Completion, func(m *model.Message) {
		switch {
		case m.Seq == 5:
			m.Seq = 3
		case m.Seq > 5:
			m.Seq, m.Cursor = 2, 3
		}
	}))
	b := newBench(t, mode, chain(1, 1, &record), records(slow, "a3 a1 a2 a1"), paced()...)
	if report := b.run(1); !assert.Equal(t, "mechanism pointer-regression", broken(report)) {
		t.Log("\n" + report.String() + b.trace())
	}
}
