package sim_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/model"
)

// jobKinds are the requests about the job as a whole: they share one fence.
var jobKinds = []model.Kind{model.NextCheckpoint, model.Upload, model.Completion, model.Newest,
	model.Download, model.Discard, model.PlanBatch, model.FinishBatch, model.NewestBatch}

// records is records that carry numbers.
func records(numbers ...int64) (list []model.Record) {
	for _, n := range numbers {
		list = append(list, model.Record{Op: 1, Key: "k", Value: model.Value{Num: n}})
	}
	return list
}

// uploads is the part of a task: the first state records are keyed state.
func uploads(checkpoint, task, state int64, numbers ...int64) model.Message {
	return model.Message{Kind: model.Upload, Seq: checkpoint, Token: task, N: state,
		Parts: records(numbers...)}
}

func downloads(checkpoint, task int64) model.Message {
	return model.Message{Kind: model.Download, Seq: checkpoint, Token: task}
}

// completes moves the pointer from a checkpoint on; two are retained.
func completes(checkpoint, from int64) model.Message {
	return model.Message{Kind: model.Completion, Seq: checkpoint, Cursor: from, N: 2}
}

func newest(s model.Service, n int64) int64 {
	return ask(s, model.Message{Kind: model.Newest, N: n}).Seq
}

// there is which checkpoints, up to the tenth, a task has a part of.
func there(s model.Service, task int64) (list []int64) {
	for c := int64(1); c < 11; c++ {
		if ask(s, downloads(c, task)).Found {
			list = append(list, c)
		}
	}
	return list
}

func TestCheckpoints_IdsBeginWithOneAndAreNew(t *testing.T) {
	s := newStore()
	for n := range int64(5) {
		require.Equal(t, model.Answer{Outcome: model.Done, Seq: n + 1},
			ask(s, model.Message{Kind: model.NextCheckpoint}))
	}
}

// A part is what was uploaded first. Another task and another checkpoint have parts of their own,
// and one without records is there as well.
func TestCheckpoints_UploadAndDownload(t *testing.T) {
	s := newStore()
	require.Equal(t, model.Done, ask(s, uploads(1, 3, 1, 10, 11)).Outcome)
	require.Equal(t, model.DoneBefore, ask(s, uploads(1, 3, 2, 99, 99)).Outcome)
	require.Equal(t, model.Done, ask(s, uploads(1, 4, 0)).Outcome)
	require.Equal(t, model.Done, ask(s, uploads(2, 3, 0, 12)).Outcome)
	require.Equal(t, model.Answer{Outcome: model.Done, Seq: 1, Found: true, N: 1,
		Records: records(10, 11)}, ask(s, downloads(1, 3)))
	require.Equal(t, model.Answer{Outcome: model.Done, Seq: 2, Found: true,
		Records: records(12)}, ask(s, downloads(0, 3)))
	require.Equal(t, records(12), ask(s, downloads(2, 3)).Records)
	empty := ask(s, downloads(1, 4))
	require.True(t, empty.Found)
	require.Empty(t, empty.Records)
	for _, none := range []model.Message{downloads(2, 4), downloads(1, 9), downloads(3, 3)} {
		require.Equal(t, model.Answer{Outcome: model.Done}, ask(s, none))
	}
	require.Panics(t, func() { ask(s, uploads(3, 3, 2, 1)) }, "more state than records")
	require.Panics(t, func() { ask(s, downloads(1, -1)) })
}

// The pointer moves only from where the request says that it is.
func TestCheckpoints_CompletionIsCompareAndSet(t *testing.T) {
	s := newStore()
	require.Zero(t, newest(s, 0))
	require.Equal(t, model.Answer{Outcome: model.Stale}, ask(s, completes(2, 1)))
	require.Equal(t, model.Answer{Outcome: model.Done, Seq: 1}, ask(s, completes(1, 0)))
	require.Equal(t, model.Answer{Outcome: model.DoneBefore, Seq: 1}, ask(s, completes(1, 0)))
	require.Equal(t, model.Answer{Outcome: model.Stale, Seq: 1}, ask(s, completes(2, 0)))
	require.Equal(t, model.Answer{Outcome: model.Done, Seq: 4}, ask(s, completes(4, 1)))
	require.Equal(t, model.Answer{Outcome: model.Stale, Seq: 4}, ask(s, completes(1, 0)))
	require.EqualValues(t, 4, newest(s, 0))
	require.EqualValues(t, 1, newest(s, 1))
	require.EqualValues(t, 1, newest(s, 7), "the oldest that is retained")
	require.Equal(t, model.Done, ask(s, completes(2, 4)).Outcome, "also back: it is a pointer")
	require.EqualValues(t, 2, newest(s, 0))
	require.EqualValues(t, 4, newest(s, 1))
	m := completes(9, 2)
	m.N = 0
	require.Panics(t, func() { ask(s, m) })
	require.Panics(t, func() { newest(s, -1) })
}

// Going back gives up what followed: whoever goes back further does not meet it again.
func TestCheckpoints_GoingBackTruncates(t *testing.T) {
	s := newStore()
	step := func(checkpoint, from int64) {
		m := completes(checkpoint, from)
		m.N = 9
		require.Equal(t, model.Done, ask(s, m).Outcome)
	}
	step(1, 0)
	step(2, 1)
	step(3, 2)
	step(2, 3)
	require.EqualValues(t, 2, newest(s, 0))
	require.EqualValues(t, 1, newest(s, 1))
	step(1, 2)
	require.EqualValues(t, 1, newest(s, 1), "there is nothing before it")
	step(4, 1)
	require.EqualValues(t, 1, newest(s, 1))
}

// With a completion the parts go of what can no longer be gone back to: completed checkpoints that
// are not retained, and older ones that never were completed. Those that are under way stay.
func TestCheckpoints_Retention(t *testing.T) {
	s := newStore()
	for _, c := range []int64{1, 2, 3, 4, 5, 6} {
		ask(s, uploads(c, 0, 0, c))
		ask(s, uploads(c, 5, 0, c))
	}
	ask(s, completes(1, 0))
	require.Equal(t, []int64{1, 2, 3, 4, 5, 6}, there(s, 0))
	ask(s, completes(3, 1))
	require.Equal(t, []int64{1, 3, 4, 5, 6}, there(s, 0), "2 was never completed")
	ask(s, completes(4, 3))
	require.Equal(t, []int64{3, 4, 5, 6}, there(s, 0))
	ask(s, completes(5, 3))
	require.Equal(t, []int64{3, 4, 5, 6}, there(s, 5), "a stale one drops nothing")
	require.EqualValues(t, 3, newest(s, 9))
	require.Equal(t, records(4), ask(s, downloads(4, 5)).Records)
	m := completes(6, 4)
	m.N = 1
	ask(s, m)
	require.Equal(t, []int64{6}, there(s, 0))
	require.EqualValues(t, 6, newest(s, 1))
}

// Any checkpoint can be discarded, also the completed one: nobody else than the caller is to know
// better. The pointer stays, and its parts can come again.
func TestCheckpoints_Discard(t *testing.T) {
	s := newStore()
	for _, c := range []int64{1, 2} {
		ask(s, uploads(c, 0, 0, c))
		ask(s, uploads(c, 7, 0, c))
	}
	ask(s, completes(1, 0))
	require.Equal(t, model.Answer{Outcome: model.Done},
		ask(s, model.Message{Kind: model.Discard, Seq: 1}))
	require.Equal(t, []int64{2}, there(s, 0))
	require.Equal(t, []int64{2}, there(s, 7))
	require.EqualValues(t, 1, newest(s, 0))
	require.Equal(t, model.Done, ask(s, uploads(1, 0, 0, 8)).Outcome)
	require.Equal(t, records(8), ask(s, downloads(1, 0)).Records)
}

// Each request about the job raises the one fence, and one below it is refused and does nothing.
// Without the flag nobody looks.
func TestCheckpoints_OneFence(t *testing.T) {
	request := func(kind model.Kind, attempt int32) model.Message {
		return model.Message{Kind: kind, Flags: model.Fenced, Seq: 1, N: 1, Token: 2,
			Attempt: attempt, Parts: records(1)}
	}
	for _, kind := range jobKinds {
		s := newStore()
		ask(s, uploads(8, 1, 0, 3))
		require.NotEqual(t, model.Refused, ask(s, model.Message{Kind: model.PlanBatch, Seq: 1,
			Parts: records(5)}).Outcome)
		require.NotEqual(t, model.Refused, ask(s, request(kind, 5)).Outcome, kind)
		var before, after model.Codec
		s.State(&before)
		for _, old := range jobKinds {
			require.Equal(t, model.Answer{Outcome: model.Refused}, ask(s, request(old, 4)),
				"%s %s", kind, old)
		}
		s.State(&after)
		require.Equal(t, before.Bytes(), after.Bytes(), kind)
		for _, old := range jobKinds {
			m := request(old, 4)
			m.Flags = 0
			require.NotEqual(t, model.Refused, ask(s, m).Outcome, "%s %s", kind, old)
		}
		require.Equal(t, model.Done, ask(s, update(0, 1)).Outcome, "the fence of rows is another")
	}
}

func planOf(batch int64, attempt int32, ends ...int64) model.Message {
	return model.Message{Kind: model.PlanBatch, Seq: batch, Attempt: attempt,
		Parts: records(ends...)}
}

// A batch has one plan: the first. Who asks again gets it told.
func TestBatches_PlanIsPutIfAbsent(t *testing.T) {
	s := newStore()
	require.Equal(t, model.Answer{Outcome: model.Done}, ask(s,
		model.Message{Kind: model.NewestBatch}))
	require.Equal(t, model.Done, ask(s, planOf(1, 1, 10, 20)).Outcome)
	require.Equal(t, model.Answer{Outcome: model.DoneBefore, N: 2, Records: records(10, 20)},
		ask(s, planOf(1, 1, 10, 20)))
	for _, other := range []model.Message{planOf(1, 1, 10, 21), planOf(1, 1, 10),
		planOf(1, 2, 10, 20)} {
		require.Equal(t, model.Answer{Outcome: model.Stale, N: 2, Records: records(10, 20)},
			ask(s, other))
	}
	require.Equal(t, model.Done, ask(s, planOf(2, 2, 30)).Outcome)
	require.Equal(t, model.Answer{Outcome: model.Done, Seq: 2, N: 1, Records: records(30)},
		ask(s, model.Message{Kind: model.NewestBatch}))
	require.Equal(t, records(10, 20), ask(s, planOf(1, 1, 5)).Records)
	require.Panics(t, func() { ask(s, planOf(0, 1, 5)) })
}

// Of a batch that is run again, parts of earlier attempts are dropped: a request that comes late
// leaves what the attempt that sent it has uploaded. Of a checkpoint all of them go.
func TestBatches_DiscardLeavesWhatTheAttemptMade(t *testing.T) {
	s := newStore()
	ask(s, planOf(1, 1, 5))
	ask(s, fenced(1, uploads(1, 3, 0, 7)))
	ask(s, fenced(1, uploads(2, 3, 0, 7)))
	discard := func(attempt int32, checkpoint int64) {
		ask(s, fenced(attempt, model.Message{Kind: model.Discard, Seq: checkpoint}))
	}
	discard(1, 1)
	require.Equal(t, []int64{1, 2}, there(s, 3))
	discard(2, 1)
	require.Equal(t, []int64{2}, there(s, 3))
	require.Equal(t, model.Done, ask(s, fenced(2, uploads(1, 3, 0, 8))).Outcome)
	discard(2, 1)
	require.Equal(t, records(8), ask(s, downloads(1, 3)).Records)
	discard(2, 2)
	require.Equal(t, []int64{1}, there(s, 3))
}

func TestBatches_Finish(t *testing.T) {
	s := newStore()
	finish := func(batch int64) model.Outcome {
		return ask(s, model.Message{Kind: model.FinishBatch, Seq: batch}).Outcome
	}
	require.Equal(t, model.Refused, finish(1), "nobody planned it")
	ask(s, planOf(1, 1, 10))
	require.False(t, ask(s, model.Message{Kind: model.NewestBatch}).Found)
	require.Equal(t, model.Done, finish(1))
	require.Equal(t, model.DoneBefore, finish(1))
	require.True(t, ask(s, model.Message{Kind: model.NewestBatch}).Found)
	ask(s, planOf(2, 1, 20))
	require.False(t, ask(s, model.Message{Kind: model.NewestBatch}).Found)
}

// What a task was handed stays as it was, whatever is written, dropped and uploaded afterwards.
func TestCheckpoints_AnswersStay(t *testing.T) {
	s := newStore()
	var parts, plans []model.Answer
	for n := int64(1); n <= 60; n++ {
		ask(s, uploads(n, 0, 1, n, n+100))
		ask(s, planOf(n, 1, n))
		parts = append(parts, ask(s, downloads(n, 0)))
		plans = append(plans, ask(s, model.Message{Kind: model.NewestBatch}))
		ask(s, completes(n, n-1))
		if n%3 == 0 {
			ask(s, model.Message{Kind: model.Discard, Seq: n})
			ask(s, uploads(n, 0, 0, -n))
		}
	}
	for i := range parts {
		n := int64(i + 1)
		require.Equal(t, records(n, n+100), parts[i].Records)
		require.Equal(t, records(n), plans[i].Records)
	}
}

// jobRequests is a life of checkpoints and batches.
func jobRequests() (list []model.Message) {
	for n := int64(1); n <= 12; n++ {
		list = append(list, model.Message{Kind: model.NextCheckpoint, Flags: model.Fenced,
			Attempt: int32(n)}, uploads(n, n%3, 1, n, 2*n), uploads(n, 7, 0, n), planOf(n, 1, n))
		if n%4 != 3 {
			list = append(list, completes(n, n-1-(n%4+3)%4/3), model.Message{
				Kind: model.FinishBatch, Seq: n})
		}
		list = append(list, downloads(n, 7), downloads(n-1, (n-1)%3),
			model.Message{Kind: model.Newest, N: n % 3},
			model.Message{Kind: model.Discard, Seq: n - 5}, model.Message{Kind: model.NewestBatch})
	}
	return list
}

// At any point a store can be encoded, and another that is restored from it goes on as it does. An
// empty store forgets everything.
func TestCheckpoints_RestoresWhatItEncodes(t *testing.T) {
	requests := jobRequests()
	other := newStore()
	var empty model.Codec
	other.State(&empty)
	for cut := range requests {
		s := newStore()
		for _, m := range requests[:cut] {
			ask(s, m)
		}
		var c, again model.Codec
		s.State(&c)
		c.Rewind()
		other.State(&c)
		require.Zero(t, c.Left())
		other.State(&again)
		require.Equal(t, c.Bytes(), again.Bytes())
		for _, m := range requests[cut:] {
			require.Equal(t, ask(s, m), ask(other, m))
		}
		require.Equal(t, there(s, 7), there(other, 7))
	}
	other.Reset()
	var again model.Codec
	other.State(&again)
	require.Equal(t, empty.Bytes(), again.Bytes())
	require.Empty(t, slices.Concat(there(other, 0), there(other, 7)))
}

// A store that has been used before allocates nothing.
func TestCheckpoints_AllocateNothing(t *testing.T) {
	s, requests := newStore(), jobRequests()
	var ans model.Answer
	run := func() {
		s.Reset()
		for n := range requests {
			ans = model.Answer{Outcome: model.Done}
			s.Serve(0, &requests[n], &ans)
		}
	}
	for range 5 {
		run()
	}
	require.Zero(t, testing.AllocsPerRun(10, run))
}
