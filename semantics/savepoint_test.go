package semantics_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/semantics"
)

func stopAt(checkpoint int64) model.ParamValue {
	return model.ParamValue{Name: "stop-at", Value: checkpoint}
}

// asLast is a notice, or a barrier, behind which nothing is to come.
func asLast(ev model.Event) model.Event {
	ev.Msg.Flags |= model.Idle
	return ev
}

// A source reads nothing behind the barrier of a savepoint, though it would be time to.
func TestSavepoint_SourceStops(t *testing.T) {
	b := newBench(t, &semantics.Snapshot, sum, "source/0")
	b.start(1)
	b.step(notice(model.Restore, 0))
	b.step(batch(0, 2, false))
	require.Equal(t, "after", b.step(answered(model.Fetch, model.Answer{Seq: 2, Wait: 1})))
	require.Equal(t, "call fetch 2!", b.step(timer(-1)))
	b.step(answered(model.Fetch, model.Answer{Seq: 2, Wait: 1}))
	require.Equal(t, "send barrier 1 to op/0 as the last; begin upload 1 [@2]",
		b.step(asLast(notice(model.Trigger, 1))))
	require.Equal(t, "", b.step(timer(-1)))
	require.Equal(t, "send barrier 2 to op/0 as the last; begin upload 2 [@2]",
		b.step(asLast(notice(model.Trigger, 2))), "the first one was aborted")
	require.Equal(t, "send ready 2 to coordinator/0", b.step(asLast(notice(model.Complete, 2))))
	b.start(2)
	require.Equal(t, "call fetch 0!; send ready 0 to coordinator/0",
		b.step(again(model.Restore, 0)), "the job is started anew")
}

// again is a notice of attempt 2.
func again(kind model.Kind, checkpoint int64) model.Event {
	ev := notice(kind, checkpoint)
	ev.Msg.Attempt = 2
	return ev
}

// A sink says that it is done once it has committed.
func TestSavepoint_SinkCommitsFirst(t *testing.T) {
	b := newBench(t, &semantics.TwoPhaseCommit, sum, "sink/0")
	b.start(1)
	b.step(notice(model.Restore, 0))
	b.step(answered(model.ListTxns, model.Answer{}))
	b.step(data(0, 0, 1))
	ev := of(model.BeginTxn, 0, model.Answer{Seq: 1})
	ev.Msg.Token = 1<<32 + 1
	b.step(ev)
	b.step(asLast(barrier(0, 3)))
	require.Equal(t, "call commit-txn 1.1 for 3!; send ready 3 to coordinator/0",
		b.step(asLast(notice(model.Complete, 3))))
}

// However barriers are taken, a savepoint is aligned: an operator goes no further than that.
func TestSavepoint_IsAligned(t *testing.T) {
	for _, how := range []int64{0, 2, 3} {
		b := newMerge(t, alignment(how))
		require.Equal(t, "", b.step(asLast(barrier(0, 1))))
		require.Equal(t, "applied 2; send data 0 to sink/0", b.step(on(1, 2)))
		require.Equal(t, "send barrier 1 to sink/0 as the last; begin upload 1 [k=3]",
			b.step(asLast(barrier(1, 1))))
	}
	b := newMerge(t, alignment(2))
	b.step(asLast(barrier(0, 1)))
	require.Equal(t, "", b.step(barrier(0, 2)), "it waits behind its own channel")
	require.Equal(t, "send barrier 2 to sink/0", b.step(notice(model.Cancel, 1)),
		"the next one is not aligned")
}

// voted brings a coordinator to where all have voted for a checkpoint.
func voted(b *bench, checkpoint int64) string {
	b.step(timer(0))
	b.step(answered(model.NextCheckpoint, model.Answer{Seq: checkpoint}))
	b.step(b.from("source/0", notice(model.Acknowledge, checkpoint)))
	b.step(b.from("op/0", notice(model.Acknowledge, checkpoint)))
	return b.step(b.from("sink/0", notice(model.Acknowledge, checkpoint)))
}

const completeAsLast = "send complete 5 to source/0 as the last; " +
	"send complete 5 to op/0 as the last; send complete 5 to sink/0 as the last; after"

// The savepoint is complete, then everybody does what is left, then the job stops. Who voted twice
// has not done it twice.
func TestSavepoint_CoordinatorStops(t *testing.T) {
	b := newBench(t, &semantics.Snapshot, sum, "coordinator/0", stopAt(5))
	open(b, 4)
	require.Equal(t, "call completion 5 over 4", voted(b, 5))
	require.Equal(t, completeAsLast, b.step(of(model.Completion, 5, model.Answer{})))
	require.Equal(t, "", b.step(timer(5)), "the checkpoint is complete")
	require.Equal(t, "", b.step(b.from("sink/0", notice(model.Acknowledge, 5))))
	require.Equal(t, "", b.step(b.from("sink/0", notice(model.Ready, 4))))
	require.Equal(t, "", b.step(b.from("source/0", notice(model.Ready, 5))))
	require.Equal(t, "", b.step(b.from("op/0", notice(model.Ready, 5))))
	require.Equal(t, "", b.step(b.from("op/0", notice(model.Ready, 5))))
	require.Equal(t, "fail: the job stops with savepoint 5",
		b.step(b.from("sink/0", notice(model.Ready, 5))))
}

// What nobody says is waited for as long as for a checkpoint.
func TestSavepoint_CoordinatorStopsWithoutAWord(t *testing.T) {
	b := newBench(t, &semantics.Snapshot, sum, "coordinator/0", stopAt(5))
	open(b, 4)
	voted(b, 5)
	b.step(of(model.Completion, 5, model.Answer{}))
	require.Equal(t, "fail: savepoint 5 is there, and not every task has done its part",
		b.step(timer(-2)))
}

// One that is aborted is tried again; one that is the completed checkpoint is not, nor is one
// before its time.
func TestSavepoint_IsTriedUntilItIsThere(t *testing.T) {
	trigger := func(b *bench, checkpoint int64) string {
		b.step(timer(0))
		return b.step(answered(model.NextCheckpoint, model.Answer{Seq: checkpoint}))
	}
	b := newBench(t, &semantics.Snapshot, sum, "coordinator/0", stopAt(5))
	open(b, 3)
	require.Equal(t, "send trigger 4 to source/0; after", trigger(b, 4))
	b.step(timer(4))
	require.Equal(t, "send trigger 5 to source/0 as the last; after", trigger(b, 5))
	b.step(timer(5))
	require.Equal(t, "send trigger 6 to source/0 as the last; after", trigger(b, 6))
	for _, completed := range []int64{5, 6} {
		open(b, completed)
		require.Equal(t, "send trigger 7 to source/0; after", trigger(b, 7))
	}
}

// A savepoint that nobody is to go back to becomes the completed checkpoint once the job stops.
func TestSavepoint_IsKeptOutOfTheWay(t *testing.T) {
	b := newBench(t, &semantics.Snapshot, sum, "coordinator/0", stopAt(5),
		model.ParamValue{Name: "savepoint-restores"})
	open(b, 4)
	require.Equal(t, completeAsLast, voted(b, 5), "nothing says that it is decided")
	b.step(b.from("source/0", notice(model.Ready, 5)))
	b.step(b.from("op/0", notice(model.Ready, 5)))
	require.Equal(t, "call completion 5 over 4",
		b.step(b.from("sink/0", notice(model.Ready, 5))))
	require.Equal(t, "fail: the job stops with savepoint 5",
		b.step(of(model.Completion, 5, model.Answer{})))
}

// Where tasks restart alone, nobody would start the others again.
func TestSavepoint_NotWithLoneRestarts(t *testing.T) {
	b := newBench(t, &semantics.SnapshotLoneRestart, sum, "coordinator/0", stopAt(5))
	open(b, 4)
	b.step(timer(0))
	require.Equal(t, "send trigger 5 to source/0; after",
		b.step(answered(model.NextCheckpoint, model.Answer{Seq: 5})))
}

// A barrier waits for the others so long and no longer: then the snapshot is taken as it is, what
// was held back goes on, and what comes in front of the other barriers was in flight.
func TestSnapshot_UnalignedAfterAWhile(t *testing.T) {
	b := newMerge(t, model.ParamValue{Name: "unaligned-after", Value: 5})
	b.step(on(0, 0))
	require.Equal(t, "after", b.step(barrier(0, 1)))
	require.Equal(t, "", b.step(on(0, 1)))
	require.Equal(t, "", b.step(timer(-3)), "that is of another checkpoint")
	require.Equal(t, "send barrier 1 to sink/0; applied 1; send data 0 to sink/0",
		b.step(timer(-2)))
	require.Equal(t, "", b.step(timer(-2)))
	require.Equal(t, "applied 2; send data 0 to sink/0", b.step(on(1, 2)))
	require.Equal(t, "begin upload 1 [k=1 | 2]", b.step(barrier(1, 1)))
	require.Equal(t, "after", b.step(barrier(1, 2)), "the next one is aligned at first")
	require.Equal(t, "", b.step(on(1, 3)))
	require.Equal(t, "send barrier 2 to sink/0; begin upload 2 [k=6]; applied 3; "+
		"send data 0 to sink/0", b.step(barrier(0, 2)))
	require.Equal(t, "", b.step(timer(-3)), "it is over")
}

// A part that is torn is no place to begin from, unless nobody looks.
func TestSnapshot_DeclinesAPartThatIsTorn(t *testing.T) {
	torn := of(model.Download, 3, model.Answer{Found: true, End: true})
	for checks, want := range []string{"send ready 3 to coordinator/0",
		"send decline 3 to coordinator/0"} {
		b := newBench(t, &semantics.Snapshot, sum, "op/0",
			model.ParamValue{Name: "checksums", Value: int64(checks)})
		b.start(1)
		b.step(notice(model.Restore, 3))
		require.Equal(t, want, b.step(torn))
	}
	b := newBench(t, &semantics.MicroBatch, sum, "op/0")
	b.start(1)
	b.step(notice(model.Restore, 3))
	require.Equal(t, "send decline 3 to driver/0", b.step(torn))
	b = newBench(t, &semantics.IndependentSnapshots, sum, "coordinator/0")
	b.start(1)
	torn.Ans.Seq = 3
	require.Equal(t, "fail: snapshot 3 is torn, and it alone says which came before it",
		b.step(torn))
}
