package semantics_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/semantics"
)

// The tests of this file are about what parameters change, each of them by itself.

func param(name string, value int64) model.ParamValue {
	return model.ParamValue{Name: name, Value: value}
}

// checkpoint has a coordinator's next checkpoint run: it ends as the last event says.
func checkpoint(b *bench, id int64, last model.Event) string {
	b.step(timer(0))
	b.step(answered(model.NextCheckpoint, model.Answer{Seq: id}))
	if last.Msg.Kind != model.Completion {
		return b.step(last)
	}
	for _, task := range []string{"source/0", "op/0", "sink/0"} {
		b.step(b.from(task, notice(model.Acknowledge, id)))
	}
	return b.step(last)
}

// The job fails with the first checkpoint beyond those on end that may fail. One that is completed
// in between makes up for those before it.
func TestCoordinator_Tolerates(t *testing.T) {
	fails := func(b *bench, id int64) string {
		return checkpoint(b, id, b.from("op/0", notice(model.Decline, id)))
	}
	const aborts = "begin discard "
	b := newBench(t, &semantics.Snapshot, sum, "coordinator/0", param("tolerable", 0))
	open(b, 0)
	require.Contains(t, fails(b, 1), "fail: checkpoint 1 failed, the 1. on end")

	b = newBench(t, &semantics.Snapshot, sum, "coordinator/0", param("tolerable", 1))
	open(b, 0)
	require.Regexp(t, aborts+"1; after$", fails(b, 1))
	require.Contains(t, checkpoint(b, 2, of(model.Completion, 2, model.Answer{})), "complete 2")
	require.Regexp(t, aborts+"3; after$", fails(b, 3), "the first since checkpoint 2")
	require.Contains(t, fails(b, 4), "fail: checkpoint 4 failed, the 2. on end")
}

// What a checkpoint may take is the time of the timer that goes off for it.
func TestCoordinator_CheckpointTimeout(t *testing.T) {
	for _, timeout := range []int64{2_000_000, 70_000_000} {
		b := newBench(t, &semantics.Snapshot, sum, "coordinator/0",
			param("checkpoint-timeout", timeout))
		open(b, 0)
		b.step(timer(0))
		var s model.Script
		ev := answered(model.NextCheckpoint, model.Answer{Seq: 1})
		b.proc.Step(&ev, &s)
		last := s.Effects[len(s.Effects)-1]
		require.Equal(t, model.EffectAfter, last.Kind)
		require.EqualValues(t, 1, last.Token)
		require.Equal(t, timeout, last.Delay)
	}
}

// A job that has no older checkpoint to go back to says so, and fails on what will not change.
func TestCoordinator_FallsBackNoFurther(t *testing.T) {
	for restored, left := range map[int64]int64{4: 4, 7: 0} {
		b := newBench(t, &semantics.Snapshot, sum, "coordinator/0", param("fall-back", 1))
		b.start(1)
		b.step(answered(model.Newest, model.Answer{Seq: restored}))
		b.step(b.from("op/0", notice(model.Decline, restored)))
		var s model.Script
		ev := answered(model.Newest, model.Answer{Seq: left})
		b.proc.Step(&ev, &s)
		require.Regexp(t, "^fail: checkpoint . cannot be restored, and none before it is kept$",
			b.line(&s))
		require.Equal(t, restored, s.Effects[0].Msg.Record.ID.Offset, "what it fails on")
	}
}

// A commit that comes too late is given up, or fails the task.
func TestTwoPhaseCommit_StrictCommit(t *testing.T) {
	late := of(model.CommitTxn, 1, model.Answer{})
	late.Ans.Outcome = model.Stale
	for strict, want := range []string{"", "fail: commit-txn of a transaction that is over"} {
		b := newBench(t, &semantics.TwoPhaseCommit, sum, "sink/0",
			param("strict-commit", int64(strict)))
		b.start(1)
		b.step(notice(model.Restore, 0))
		require.Equal(t, want, b.step(late))
	}
}

// A batch is taken channel by channel, or as its rows come.
func TestMicroBatch_FixedMerge(t *testing.T) {
	row := func(channel int16, offset int64) model.Event {
		ev := on(channel, offset)
		ev.Msg.Token = 1
		return ev
	}
	for fixed, want := range []string{"applied 1; applied 0", "applied 0; applied 1"} {
		b := newMergeOf(t, &semantics.MicroBatch, param("fixed-merge", int64(fixed)))
		b.step(row(1, 1))
		b.step(row(0, 0))
		ends := ""
		for channel := range int16(2) {
			end := barrier(channel, 1)
			end.Msg.N = 1
			ends = b.step(end)
		}
		require.Equal(t, want, appliedIn(ends))
	}
}

// appliedIn leaves of a line of effects what says in which order records were applied.
func appliedIn(line string) string {
	return strings.Join(slices.DeleteFunc(strings.Split(line, "; "), func(effect string) bool {
		return !strings.HasPrefix(effect, "applied")
	}), "; ")
}

// Who is fenced, and by whom: requests to the external system by one bit, those to the store by the
// other.
func TestModes_Fencing(t *testing.T) {
	flagged := func(mode *model.Mode, fencing int64) (external, store bool) {
		b := newBench(t, mode, sum, "sink/0", param("fencing", fencing))
		b.start(1)
		events := []model.Event{notice(model.Restore, 0), data(0, 0, 1), barrier(0, 1),
			notice(model.Complete, 1)}
		events[1].Msg.Token, events[2].Msg.N = 1, 1 // of batch 1, which has one row
		if mode.Name == semantics.TwoPhaseCommit.Name {
			events = slices.Insert(events, 2, answered(model.BeginTxn, model.Answer{Seq: 1}))
		}
		for i := range events {
			var s model.Script
			b.proc.Step(&events[i], &s)
			for _, e := range s.Effects {
				isFenced := e.Msg.Flags&model.Fenced != 0
				switch {
				case e.Kind != model.EffectCall && e.Kind != model.EffectBegin:
				case e.Service == model.External:
					external = isFenced
				default:
					store = isFenced
				}
			}
		}
		return external, store
	}
	for _, mode := range []*model.Mode{&semantics.Snapshot, &semantics.SnapshotUpsert,
		&semantics.SnapshotFirstWins, &semantics.SnapshotWAL, &semantics.SnapshotWALSplit,
		&semantics.SnapshotCounting, &semantics.TwoPhaseCommit, &semantics.MicroBatch,
		&semantics.MicroBatchPlain} {
		uploads := mode.Name != "micro-batch" && mode.Name != "micro-batch-plain"
		for fencing := range int64(4) {
			external, store := flagged(mode, fencing)
			require.Equal(t, fencing&1 != 0, external, "%s, %d", mode.Name, fencing)
			require.Equal(t, fencing&2 != 0 && uploads, store, "%s, %d", mode.Name, fencing)
		}
	}
}

// Rows that are written one by one are marked when all are. What is marked is not written by the
// next life; what is not is written again.
func TestSnapshotWALSplit_Marks(t *testing.T) {
	b := newBench(t, &semantics.SnapshotWALSplit, sum, "sink/0")
	b.start(1)
	b.step(notice(model.Restore, 0))
	b.step(data(0, 0, 1))
	b.step(barrier(0, 1))
	b.step(data(0, 1, 1))
	b.step(barrier(0, 2))
	require.Equal(t, "call write 1!; call mark 1!; call write 2!; call mark 2!",
		b.step(notice(model.Complete, 2)))

	part := []model.Record{
		{ID: model.ID{Offset: 1}, Path: 1}, {Key: "k", Value: model.Value{Num: 1}},
		{ID: model.ID{Offset: 2}, Path: 1}, {Key: "k", Value: model.Value{Num: 2}}}
	for marked, want := range map[int64]string{
		-1: "call write 1!; call mark 1!; call write 2!; call mark 2!",
		1:  "call write 2!; call mark 2!", 2: "", 3: "",
	} {
		b = newBench(t, &semantics.SnapshotWALSplit, sum, "sink/0")
		b.start(1)
		b.step(notice(model.Restore, 2))
		require.Equal(t, "call load-ids 0!; send ready 2 to coordinator/0", b.step(of(
			model.Download, 2, model.Answer{Found: true, N: 4, Records: part})))
		require.Equal(t, want, b.step(answered(model.LoadIDs, model.Answer{Seq: marked})), marked)
	}
}
