package semantics_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/semantics"
)

// notice is a message between the coordinator and a task, under attempt 1.
func notice(kind model.Kind, checkpoint int64) model.Event {
	return model.Event{Kind: model.Delivered, Msg: model.Message{Kind: kind, Channel: -1,
		Seq: checkpoint, Attempt: 1}}
}

// from has an event come from a process.
func (b *bench) from(task string, ev model.Event) model.Event {
	ev.From = b.job.Find(task)
	return ev
}

func barrier(channel int16, checkpoint int64) model.Event {
	ev := notice(model.Barrier, checkpoint)
	ev.Msg.Channel = channel
	return ev
}

// on has a record come on a channel.
func on(channel int16, offset int64) model.Event {
	ev := data(0, offset, 1)
	ev.Msg.Channel = channel
	return ev
}

// of is an answer to a request about a checkpoint.
func of(kind model.Kind, checkpoint int64, ans model.Answer) model.Event {
	ev := answered(kind, ans)
	ev.Msg.Seq = checkpoint
	return ev
}

// "A source": the position is cut where the trigger finds it, the barrier goes ahead of what
// comes next, and the vote waits for the upload.
func TestSnapshot_SourceCutsAtTheTrigger(t *testing.T) {
	b := newBench(t, &semantics.Snapshot, sum, "source/0")
	require.Equal(t, "", b.start(1), "it waits to be told where to begin")
	require.Equal(t, "call fetch 0!; send ready 0 to coordinator/0",
		b.step(notice(model.Restore, 0)))
	require.Equal(t, "send data 0 to op/0; send data 0 to op/0; call fetch 2!",
		b.step(batch(0, 2, false)))
	require.Equal(t, "send barrier 1 to op/0; begin upload 1 [@2]",
		b.step(notice(model.Trigger, 1)))
	require.Equal(t, "", b.step(notice(model.Trigger, 1)), "a trigger that comes twice")
	require.Equal(t, "send acknowledge 1 to coordinator/0",
		b.step(of(model.Upload, 1, model.Answer{})))
}

// A life goes back to the position of the checkpoint that it is told of.
func TestSnapshot_SourceGoesBack(t *testing.T) {
	b := newBench(t, &semantics.Snapshot, sum, "source/0")
	b.start(1)
	require.Equal(t, "call download 3!", b.step(notice(model.Restore, 3)))
	part := []model.Record{{ID: model.ID{Offset: 7}}}
	require.Equal(t, "call fetch 7!; send ready 3 to coordinator/0",
		b.step(of(model.Download, 3, model.Answer{Found: true, N: 1, Records: part})))
	require.Equal(t, "send ready 3 to coordinator/0", b.step(notice(model.Restore, 3)),
		"it is told twice, and answers twice")
	require.Equal(t, "", b.step(notice(model.Trigger, 3)), "a trigger of the past")
}

// A part that is gone is no place to begin from: the coordinator hears of it.
func TestSnapshot_DeclinesAPartThatIsGone(t *testing.T) {
	b := newBench(t, &semantics.Snapshot, sum, "op/0")
	b.start(1)
	b.step(notice(model.Restore, 3))
	require.Equal(t, "send decline 3 to coordinator/0",
		b.step(of(model.Download, 3, model.Answer{})))
}

// newMerge is a bench of an operator with two input channels.
func newMerge(t *testing.T, set ...model.ParamValue) *bench {
	return newMergeOf(t, &semantics.Snapshot, set...)
}

func newMergeOf(t *testing.T, mode *model.Mode, set ...model.ParamValue) *bench {
	top := &model.Topology{Name: "test",
		Inputs: []model.InputSpec{{Name: "left"}, {Name: "right"}},
		Stages: []model.Stage{{Name: "op", Operator: sum, From: []string{"left", "right"}}}}
	require.NoError(t, top.Validate())
	params := append([]model.ParamValue(nil), set...)
	for _, p := range mode.Params {
		params = append(params, model.ParamValue{Name: p.Name, Value: p.Default})
	}
	b := &bench{t: t, job: model.NewJob(top, params, mode.Extra...)}
	b.proc = mode.New(b.job, &b.job.Tasks[b.job.Find("op/0")])
	b.start(1)
	b.step(notice(model.Restore, 0))
	return b
}

func alignment(how int64) model.ParamValue {
	return model.ParamValue{Name: "alignment", Value: how}
}

// "Alignment": what comes behind a barrier waits until all barriers are there, is in no snapshot
// before, and keeps its order.
func TestSnapshot_AlignedHoldsAChannelBack(t *testing.T) {
	b := newMerge(t)
	require.Equal(t, "applied 0; send data 0 to sink/0", b.step(on(0, 0)))
	require.Equal(t, "", b.step(barrier(0, 1)))
	require.Equal(t, "", b.step(on(0, 1)), "behind its barrier")
	require.Equal(t, "applied 2; send data 0 to sink/0", b.step(on(1, 2)), "before its barrier")
	require.Equal(t, "send barrier 1 to sink/0; begin upload 1 [k=4]; applied 1; "+
		"send data 0 to sink/0", b.step(barrier(1, 1)), "1+3, without what waited")
}

// "At least once": barriers are counted, and what comes early is in the snapshot.
func TestSnapshot_CountedHoldsNothingBack(t *testing.T) {
	b := newMerge(t, alignment(1))
	b.step(barrier(0, 1))
	require.Equal(t, "applied 1; send data 0 to sink/0", b.step(on(0, 1)))
	require.Equal(t, "send barrier 1 to sink/0; begin upload 1 [k=2]", b.step(barrier(1, 1)))
}

// "Unaligned": the cut is at the first barrier, which goes on at once; what comes on the other
// channels before theirs was in flight, and belongs to the checkpoint.
func TestSnapshot_UnalignedKeepsWhatIsInFlight(t *testing.T) {
	b := newMerge(t, alignment(2))
	b.step(on(0, 0))
	require.Equal(t, "send barrier 1 to sink/0", b.step(barrier(0, 1)))
	b.step(on(0, 1))
	b.step(on(1, 2))
	require.Equal(t, "begin upload 1 [k=1 | 2]", b.step(barrier(1, 1)))
}

func TestSnapshot_DroppingKeepsNothingInFlight(t *testing.T) {
	b := newMerge(t, alignment(3))
	b.step(barrier(0, 1))
	b.step(on(1, 2))
	require.Equal(t, "begin upload 1 []", b.step(barrier(1, 1)))
}

// A barrier passes what waits before a busy task: what is passed on its channel is in flight at
// once, and on another channel when its barrier passes it too or when it is handled.
func TestSnapshot_UnalignedOvertakesWhatWaits(t *testing.T) {
	for how, want := range map[int64]string{2: "begin upload 1 [k=1 | 1 | 2 | 4]; applied 3",
		3: "begin upload 1 [k=1]; applied 3"} {
		b := newMerge(t, alignment(how), model.ParamValue{Name: "work", Value: 5})
		require.Equal(t, "applied 0; send data 0 to sink/0; after", b.step(on(0, 0)))
		for _, ev := range []model.Event{on(0, 1), on(1, 2), barrier(0, 1), on(0, 3), on(1, 4)} {
			require.Equal(t, "", b.step(ev), "it is busy")
		}
		require.Equal(t, "send barrier 1 to sink/0; applied 1; send data 0 to sink/0; after",
			b.step(timer(0)), "the barrier is first")
		require.Equal(t, "applied 2; send data 0 to sink/0; after", b.step(timer(0)))
		b.step(barrier(1, 1))
		require.Equal(t, want+"; send data 0 to sink/0; after", b.step(timer(0)),
			"and then what is left, in order")
	}
}

// What a life began with and has not handled is in flight of the next checkpoint as well, once, and
// in front of what came since on whichever channel.
func TestSnapshot_UnalignedKeepsTheOrderOfWhatWasInFlight(t *testing.T) {
	b := newMerge(t, alignment(2), model.ParamValue{Name: "work", Value: 5})
	b.start(1)
	b.step(notice(model.Restore, 3))
	part := []model.Record{records(0, 1)[0], records(1, 1)[0], records(2, 1)[0]}
	b.step(of(model.Download, 3, model.Answer{Found: true, Records: part}))
	for _, ev := range []model.Event{on(1, 3), barrier(1, 4), on(0, 4)} {
		require.Equal(t, "", b.step(ev), "it is busy with 0")
	}
	require.Equal(t, "send barrier 4 to sink/0; applied 1; send data 0 to sink/0; after",
		b.step(timer(0)))
	b.step(barrier(0, 4))
	require.Equal(t, "begin upload 4 [k=1 | 1 | 2 | 3 | 4]; applied 2; "+
		"send data 0 to sink/0; after",
		b.step(timer(0)))
}

// A savepoint is aligned: its barrier passes nothing.
func TestSnapshot_ABarrierOfASavepointKeepsItsPlace(t *testing.T) {
	b := newMerge(t, alignment(2), model.ParamValue{Name: "work", Value: 5})
	for _, ev := range []model.Event{on(0, 0), on(0, 1), asLast(barrier(0, 1)),
		asLast(barrier(1, 1))} {
		b.step(ev)
	}
	require.Equal(t, "applied 1; send data 0 to sink/0; after", b.step(timer(0)))
	require.Equal(t, "send barrier 1 to sink/0 as the last; begin upload 1 [k=3]",
		b.step(timer(0)))
}

// Aligned, the barrier waits for its turn however long that takes.
func TestSnapshot_AlignedBarriersOvertakeNothing(t *testing.T) {
	b := newMerge(t, model.ParamValue{Name: "work", Value: 5})
	for _, ev := range []model.Event{on(0, 0), on(0, 1), barrier(0, 1), barrier(1, 1)} {
		b.step(ev)
	}
	require.Equal(t, "applied 1; send data 0 to sink/0; after", b.step(timer(0)))
	require.Equal(t, "send barrier 1 to sink/0; begin upload 1 [k=3]", b.step(timer(0)))
}

// A sink that looks ahead has one write out at a time, repeats it while its outcome is unknown, and
// lets a barrier pass what waits for it; without that it waits in the call.
func TestSnapshot_UnalignedSinkLooksAhead(t *testing.T) {
	b := newBench(t, &semantics.Snapshot, sum, "sink/0", alignment(2))
	b.start(1)
	b.step(notice(model.Restore, 0))
	require.Equal(t, "begin write 1", b.step(data(0, 0, 1)))
	require.Equal(t, "", b.step(data(0, 1, 1)))
	require.Equal(t, "", b.step(barrier(0, 1)))
	unknown := of(model.Write, 0, model.Answer{})
	unknown.Msg.Record, unknown.Ans.Outcome = records(0, 1)[0], model.Unknown
	require.Equal(t, "begin write 1", b.step(unknown))
	require.Equal(t, "begin upload 1 [| 1]; begin write 2",
		b.step(of(model.Write, 0, model.Answer{})))
}

// What was in flight is taken up before anything new, and both meet the state of the checkpoint.
func TestSnapshot_RestoresStateAndWhatWasInFlight(t *testing.T) {
	b := newBench(t, &semantics.Snapshot, sum, "op/0")
	b.start(1)
	require.Equal(t, "", b.step(data(0, 5, 1)), "it came before the task was told where to begin")
	b.step(notice(model.Restore, 3))
	part := []model.Record{{Op: 1, Key: "k", Value: model.Value{Num: 10}}, records(4, 1)[0]}
	require.Equal(t, "send ready 3 to coordinator/0; applied 4; send data 0 to sink/0; applied 5; "+
		"send data 0 to sink/0",
		b.step(of(model.Download, 3, model.Answer{Found: true, N: 1, Records: part})))
	require.Equal(t, "send barrier 4 to sink/0; begin upload 4 [k=21]",
		b.step(barrier(0, 4)), "10+5+6")
}

// A barrier of a newer checkpoint means that the one before was given up, and lets go of what
// waited for it.
func TestSnapshot_ANewerBarrierSubsumes(t *testing.T) {
	b := newMerge(t)
	b.step(barrier(0, 1))
	b.step(on(0, 1))
	require.Equal(t, "applied 1; send data 0 to sink/0", b.step(barrier(1, 2)))
	require.Equal(t, "", b.step(barrier(1, 1)), "late")
	require.Equal(t, "send barrier 2 to sink/0; begin upload 2 [k=2]", b.step(barrier(0, 2)))
}

// An aborted checkpoint lets go of what waited for it, and its barriers count no more.
func TestSnapshot_AnAbortLetsGo(t *testing.T) {
	b := newMerge(t)
	b.step(barrier(0, 1))
	b.step(on(0, 1))
	require.Equal(t, "", b.step(notice(model.Cancel, 7)), "it is another one")
	require.Equal(t, "applied 1; send data 0 to sink/0", b.step(notice(model.Cancel, 1)))
	require.Equal(t, "", b.step(barrier(1, 1)))
	require.Equal(t, "applied 2; send data 0 to sink/0", b.step(on(0, 2)))
}

// What a life of another attempt says counts for nothing.
func TestSnapshot_IgnoresOtherAttempts(t *testing.T) {
	for _, task := range []string{"op/0", "sink/0", "coordinator/0"} {
		b := newBench(t, &semantics.TwoPhaseCommit, sum, task)
		b.start(2)
		for _, kind := range []model.Kind{model.Restore, model.Complete, model.Acknowledge,
			model.Data} {
			require.Equal(t, "", b.step(notice(kind, 1)), "%s hears %s", task, kind)
		}
	}
}

// open brings a coordinator to where it triggers: three tasks are ready.
func open(b *bench, completed int64) {
	b.start(1)
	b.step(answered(model.Newest, model.Answer{Seq: completed}))
	for _, task := range []string{"source/0", "op/0", "sink/0"} {
		b.step(b.from(task, notice(model.Ready, completed)))
	}
}

func timer(token int64) model.Event { return model.Event{Kind: model.TimerFired, Token: token} }

// "Completion is the decision": it comes when the last vote is in, and is told afterwards.
func TestCoordinator_CompletesWhenAllHaveVoted(t *testing.T) {
	b := newBench(t, &semantics.Snapshot, sum, "coordinator/0")
	require.Equal(t, "call newest 0!", b.start(1))
	require.Equal(t, "send restore 4 to source/0; send restore 4 to op/0; "+
		"send restore 4 to sink/0; after", b.step(answered(model.Newest, model.Answer{Seq: 4})))
	require.Equal(t, "", b.step(b.from("op/0", notice(model.Ready, 4))))
	require.Equal(t, "send restore 4 to source/0; send restore 4 to sink/0; after",
		b.step(timer(-1)), "those that have not answered are told again")
	b.step(b.from("source/0", notice(model.Ready, 4)))
	require.Equal(t, "after", b.step(b.from("sink/0", notice(model.Ready, 4))))
	require.Equal(t, "call checkpoint-id 0!", b.step(timer(0)))
	require.Equal(t, "send trigger 9 to source/0; after",
		b.step(answered(model.NextCheckpoint, model.Answer{Seq: 9})))
	require.Equal(t, "", b.step(b.from("source/0", notice(model.Acknowledge, 9))))
	require.Equal(t, "", b.step(b.from("source/0", notice(model.Acknowledge, 9))), "it comes twice")
	require.Equal(t, "", b.step(b.from("op/0", notice(model.Acknowledge, 8))), "it is late")
	require.Equal(t, "", b.step(b.from("op/0", notice(model.Acknowledge, 9))))
	require.Equal(t, "call completion 9 over 4",
		b.step(b.from("sink/0", notice(model.Acknowledge, 9))))
	require.Equal(t, "send complete 9 to source/0; send complete 9 to op/0; "+
		"send complete 9 to sink/0; after", b.step(of(model.Completion, 9, model.Answer{})))
}

// An answer that does not come leaves the decision open: the parts stay, and the next life finds
// out.
func TestCoordinator_LeavesAnUnknownDecisionAlone(t *testing.T) {
	b := newBench(t, &semantics.Snapshot, sum, "coordinator/0")
	open(b, 0)
	b.step(timer(0))
	b.step(answered(model.NextCheckpoint, model.Answer{Seq: 1}))
	ev := of(model.Completion, 1, model.Answer{})
	ev.Ans.Outcome = model.Unknown
	require.Equal(t, "fail: whether checkpoint 1 is completed is unknown", b.step(ev))
}

// A vote of no, or a timeout, aborts: every task hears of it, and the next checkpoint is due.
func TestCoordinator_Aborts(t *testing.T) {
	for name, why := range map[string]func(b *bench) model.Event{
		"no":      func(b *bench) model.Event { return b.from("op/0", notice(model.Decline, 1)) },
		"timeout": func(*bench) model.Event { return timer(1) },
	} {
		b := newBench(t, &semantics.Snapshot, sum, "coordinator/0")
		open(b, 0)
		b.step(timer(0))
		b.step(answered(model.NextCheckpoint, model.Answer{Seq: 1}))
		require.Equal(t, "send cancel 1 to source/0; send cancel 1 to op/0; "+
			"send cancel 1 to sink/0; begin discard 1; after", b.step(why(b)), name)
		for _, task := range []string{"source/0", "op/0", "sink/0"} {
			require.Equal(t, "", b.step(b.from(task, notice(model.Acknowledge, 1))), "late")
		}
	}
}

// A checkpoint behind which nobody has anything left to do is the last one.
func TestCoordinator_StopsWhenAllAreIdle(t *testing.T) {
	b := newBench(t, &semantics.Snapshot, sum, "coordinator/0")
	open(b, 0)
	b.step(timer(0))
	b.step(answered(model.NextCheckpoint, model.Answer{Seq: 1}))
	for _, task := range []string{"source/0", "op/0", "sink/0"} {
		vote := notice(model.Acknowledge, 1)
		vote.Msg.Flags = model.Idle
		b.step(b.from(task, vote))
	}
	require.Equal(t, "send complete 1 to source/0; send complete 1 to op/0; "+
		"send complete 1 to sink/0", b.step(of(model.Completion, 1, model.Answer{})))
}

// A checkpoint whose parts are gone gives way to the one before, where that is wanted: durably, so
// that all begin from the same.
func TestCoordinator_FallsBack(t *testing.T) {
	b := newBench(t, &semantics.Snapshot, sum, "coordinator/0",
		model.ParamValue{Name: "fall-back", Value: 1})
	b.start(1)
	b.step(answered(model.Newest, model.Answer{Seq: 4}))
	require.Equal(t, "call newest 0!", b.step(b.from("op/0", notice(model.Decline, 4))))
	require.Equal(t, "call completion 3 over 4",
		b.step(answered(model.Newest, model.Answer{Seq: 3})))
	require.Equal(t, "fail: going back to checkpoint 3",
		b.step(of(model.Completion, 3, model.Answer{})))
	b = newBench(t, &semantics.Snapshot, sum, "coordinator/0")
	b.start(1)
	b.step(answered(model.Newest, model.Answer{Seq: 4}))
	require.Equal(t, "fail: checkpoint 4 cannot be restored",
		b.step(b.from("op/0", notice(model.Decline, 4))))
}

// Rows wait for a completed checkpoint, then are one batch under its number; those of a checkpoint
// that was given up come with the next.
func TestSnapshotWAL_WritesWhatIsComplete(t *testing.T) {
	b := newBench(t, &semantics.SnapshotWAL, sum, "sink/0")
	b.start(1)
	b.step(notice(model.Restore, 0))
	require.Equal(t, "", b.step(data(0, 0, 1)))
	require.Equal(t, "begin upload 1 [@1 k=1]", b.step(barrier(0, 1)))
	b.step(data(0, 1, 1))
	require.Equal(t, "begin upload 2 [@1 k=1 @2 k=2]", b.step(barrier(0, 2)))
	b.step(data(0, 2, 1))
	require.Equal(t, "call write-batch 1! [k=1]; call write-batch 2! [k=2]",
		b.step(notice(model.Complete, 2)))
	require.Equal(t, "", b.step(notice(model.Complete, 2)))
}

// "Two-phase commit": begin with the first record, write, prepare at the barrier, commit on
// completion; the next record begins the next transaction.
func TestTwoPhaseCommit_Phases(t *testing.T) {
	b := newBench(t, &semantics.TwoPhaseCommit, sum, "sink/0")
	b.start(1)
	require.Equal(t, "call list-txns!; send ready 0 to coordinator/0",
		b.step(notice(model.Restore, 0)))
	require.Equal(t, "", b.step(answered(model.ListTxns, model.Answer{})))
	require.Equal(t, "call begin-txn 1.1!", b.step(data(0, 0, 1)))
	begun := answered(model.BeginTxn, model.Answer{Seq: 1})
	begun.Msg.Token = 1<<32 | 1
	require.Equal(t, "call write 0 of 1.1!", b.step(begun))
	require.Equal(t, "call write 1 of 1.1!", b.step(data(0, 1, 1)))
	require.Equal(t, "call prepare-txn 1.1 for 1!; begin upload 1 [@4294967297]",
		b.step(barrier(0, 1)))
	require.Equal(t, "call begin-txn 1.2!", b.step(data(0, 2, 1)))
	require.Equal(t, "call commit-txn 1.1 for 1!", b.step(notice(model.Complete, 1)))
	require.Equal(t, "", b.step(notice(model.Complete, 1)))
}

// Recovery: what the checkpoint has prepared is committed, and what it does not know is aborted.
func TestTwoPhaseCommit_RecoversAndAborts(t *testing.T) {
	b := newBench(t, &semantics.TwoPhaseCommit, sum, "sink/0")
	b.start(2)
	restore := notice(model.Restore, 3)
	restore.Msg.Attempt = 2
	require.Equal(t, "call download 3!", b.step(restore))
	known := model.Record{ID: model.ID{Offset: 1<<32 | 1}, Path: 1, Value: model.Value{Num: 3}}
	lingering := model.Record{ID: model.ID{Offset: 1<<32 | 2}, Path: 1}
	require.Equal(t, "call list-txns!; send ready 3 to coordinator/0",
		b.step(of(model.Download, 3, model.Answer{Found: true, N: 1,
			Records: []model.Record{known}})))
	require.Equal(t, "call abort-txn 1.2 for 0!; call commit-txn 1.1 for 3!",
		b.step(answered(model.ListTxns, model.Answer{Records: []model.Record{known, lingering}})))
}

// Who probes initialises each id from where the checkpoint was, until one was never used; what
// lingers ends with that. The ids behind it are new, and a begin says so.
func TestTwoPhaseCommit_ProbesIDs(t *testing.T) {
	b := newBench(t, &semantics.TwoPhaseCommit, sum, "sink/0",
		model.ParamValue{Name: "abort-lingering", Value: 2})
	b.start(1)
	b.step(notice(model.Restore, 3))
	part := []model.Record{{ID: model.ID{Offset: 4}, Path: 1, Value: model.Value{Num: 3}},
		{ID: model.ID{Offset: 4}}}
	require.Equal(t, "call init-txn 0.5!; send ready 3 to coordinator/0",
		b.step(of(model.Download, 3, model.Answer{Found: true, N: 2, Records: part})))
	require.Equal(t, "", b.step(data(0, 0, 1)), "not before it is known what lingers")
	require.Equal(t, "call init-txn 0.6!",
		b.step(answered(model.InitTxn, model.Answer{Seq: 2})), "5 had been used")
	require.Equal(t, "call commit-txn 0.4 for 3!; call begin-txn 0.7!",
		b.step(answered(model.InitTxn, model.Answer{Seq: 1})), "6 had not")
}

// Whoever takes ids in turn initialises one before a life uses it for the first time, and names the
// epoch of each transaction from then on.
func TestTwoPhaseCommit_InitialisesIDsOfAPool(t *testing.T) {
	b := newBench(t, &semantics.TwoPhaseCommit, sum, "sink/0",
		model.ParamValue{Name: "pool", Value: 1})
	b.start(1)
	b.step(notice(model.Restore, 0))
	require.Equal(t, "call init-txn 0.1!", b.step(data(0, 0, 1)))
	init := answered(model.InitTxn, model.Answer{Seq: 4})
	init.Msg.Token = 1
	require.Equal(t, "call begin-txn 0.1/5!", b.step(init))
	begun := answered(model.BeginTxn, model.Answer{Seq: 5})
	begun.Msg.Token = 1
	require.Equal(t, "call write 0 of 0.1!", b.step(begun))
	b.step(barrier(0, 1))
	require.Equal(t, "call begin-txn 0.1/6!", b.step(data(0, 1, 1)), "without another init")
}

// The parameters take one rule each away.
func TestTwoPhaseCommit_WithoutItsRules(t *testing.T) {
	part := []model.Record{{ID: model.ID{Offset: 1<<32 | 1}, Path: 1, Value: model.Value{Num: 3}}}
	restored := func(set ...model.ParamValue) string {
		b := newBench(t, &semantics.TwoPhaseCommit, sum, "sink/0", set...)
		b.start(1)
		b.step(notice(model.Restore, 3))
		return b.step(of(model.Download, 3, model.Answer{Found: true, N: 1, Records: part}))
	}
	require.Equal(t, "call commit-txn 1.1 for 3!; send ready 3 to coordinator/0",
		restored(model.ParamValue{Name: "abort-lingering"}))
	require.Equal(t, "send ready 3 to coordinator/0",
		restored(model.ParamValue{Name: "abort-lingering"}, model.ParamValue{Name: "recommit"}))
	require.Equal(t, "call commit-txn all for 3!; send ready 3 to coordinator/0",
		restored(model.ParamValue{Name: "abort-lingering"},
			model.ParamValue{Name: "global", Value: 1}))
}

// A batch is planned before it runs, and finished when state and output of it are durable.
func TestMicroBatch_PlansThenRuns(t *testing.T) {
	b := newBench(t, &semantics.MicroBatch, sum, "driver/0")
	require.Equal(t, "call newest-batch 0!", b.start(1))
	require.Equal(t, "send restore 0 to source/0; send restore 0 to op/0; "+
		"send restore 0 to sink/0; after", b.step(answered(model.NewestBatch, model.Answer{})))
	for _, task := range []string{"source/0", "op/0"} {
		b.step(b.from(task, notice(model.Ready, 0)))
	}
	require.Equal(t, "call latest 0!", b.step(b.from("sink/0", notice(model.Ready, 0))))
	require.Equal(t, "call plan-batch 1! [@3]",
		b.step(answered(model.Latest, model.Answer{Seq: 3})))
	require.Equal(t, "send trigger 1 to source/0; after",
		b.step(of(model.PlanBatch, 1, model.Answer{})))
	require.Equal(t, "", b.step(b.from("op/0", notice(model.Acknowledge, 1))))
	require.Equal(t, "call finish-batch 1!", b.step(b.from("sink/0", notice(model.Acknowledge, 1))))
}

// A batch that is not finished is run again as it was planned, from the state before it.
func TestMicroBatch_RunsTheSameBatchAgain(t *testing.T) {
	b := newBench(t, &semantics.MicroBatch, sum, "driver/0")
	b.start(1)
	plan := []model.Record{{ID: model.ID{Offset: 5}, Value: model.Value{Num: 3}}}
	require.Equal(t, "call discard 2!; send restore 1 to source/0; send restore 1 to op/0; "+
		"send restore 1 to sink/0; after",
		b.step(answered(model.NewestBatch, model.Answer{Seq: 2, Records: plan})))
	for _, task := range []string{"source/0", "op/0"} {
		b.step(b.from(task, notice(model.Ready, 1)))
	}
	require.Equal(t, "send trigger 2 to source/0; after",
		b.step(b.from("sink/0", notice(model.Ready, 1))))
}

// A task knows when it has all of a batch, whatever comes twice, late or in another order.
func TestMicroBatch_CollectsABatch(t *testing.T) {
	b := newBench(t, &semantics.MicroBatch, sum, "sink/0")
	b.start(1)
	b.step(notice(model.Restore, 0))
	row := func(seq, offset int64) model.Event {
		ev := data(seq, offset, 1)
		ev.Msg.Token = 1
		return ev
	}
	end := barrier(0, 1)
	end.Msg.N = 2
	require.Equal(t, "", b.step(row(1, 1)))
	require.Equal(t, "", b.step(end), "one is missing")
	require.Equal(t, "", b.step(row(1, 1)), "it comes twice")
	require.Equal(t, "call write-batch 1! [k=1 k=2]", b.step(row(0, 0)))
	require.Equal(t, "", b.step(row(0, 0)), "of a batch that is over")
}

// Snapshots that do not fit together send each other back, to the start if need be.
func TestIndependentSnapshots_FallLikeDominoes(t *testing.T) {
	b := newBench(t, &semantics.IndependentSnapshots, sum, "coordinator/0")
	require.Equal(t, "call download 0!", b.start(1))
	// The source has snapshots behind 2 and 4 records, the operator behind 3, the sink behind 2.
	require.Equal(t, "call download 0!", b.step(answered(model.Download, model.Answer{
		Records: history(-1, 1, 2, -1, 2, 4)})))
	require.Equal(t, "call download 0!", b.step(answered(model.Download, model.Answer{
		Records: append(history(-1, 1, 3), received(history(3))...)})))
	require.Equal(t, "send restore 0 to source/0; send restore 0 to op/0; "+
		"send restore 0 to sink/0; after", b.step(answered(model.Download, model.Answer{
		Records: received(history(-1, 1, 2))})))
}

// Where they fit, nobody falls.
func TestIndependentSnapshots_MeetWhereTheyFit(t *testing.T) {
	b := newBench(t, &semantics.IndependentSnapshots, sum, "coordinator/0")
	b.start(1)
	b.step(answered(model.Download, model.Answer{Records: history(-1, 1, 2, -1, 2, 4)}))
	op := history(-1, 1, 2)
	op = append(op, received(history(2))...)
	b.step(answered(model.Download, model.Answer{Records: op}))
	require.Equal(t, "send restore 1 to source/0; send restore 1 to op/0; "+
		"send restore 1 to sink/0; after", b.step(answered(model.Download, model.Answer{
		Records: received(history(-1, 1, 2))})))
}

// history makes the counts of snapshots with one channel: -1 and a number begin one, and then come
// the counts of its channels.
func history(words ...int64) (list []model.Record) {
	for i := 0; i < len(words); i++ {
		if words[i] < 0 {
			i++
			list = append(list, model.Record{ID: model.ID{Part: -1, Offset: words[i]}})
			continue
		}
		list = append(list, model.Record{ID: model.ID{Offset: words[i]}})
	}
	return list
}

// received makes counts those of input channels.
func received(list []model.Record) []model.Record {
	for i := range list {
		if list[i].ID.Part >= 0 {
			list[i].Path = 1
		}
	}
	return list
}
