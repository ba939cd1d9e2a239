package sim_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/semantics"
)

// The tests of this file ask the state store of a world directly.

func newStore() model.Service {
	return world(&semantics.AtLeastOnce, sum, 1, 1).Service(model.StateStore)
}

func ask(s model.Service, req model.Message) model.Answer {
	ans := model.Answer{Outcome: model.Done}
	s.Serve(0, &req, &ans)
	return ans
}

// update takes input n up in the row of task 3, with new state and two outputs.
func update(n int64, attempt int32) model.Message {
	return model.Message{Kind: model.Update, Flags: model.Fenced | model.WithState, Seq: n, N: 1000,
		Token: 3, Attempt: attempt,
		Record: model.Record{ID: model.ID{Offset: n}, Op: 1, Key: "k",
			Value: model.Value{Num: 10 * n}},
		Parts: []model.Record{{Value: model.Value{Num: 2 * n}}, {Value: model.Value{Num: 2*n + 1}}}}
}

func about(kind model.Kind, attempt int32) model.Message {
	return model.Message{Kind: kind, Flags: model.Fenced, Token: 3, Attempt: attempt}
}

func state(s model.Service) int64 {
	return ask(s, model.Message{Kind: model.Get, Record: model.Record{Op: 1, Key: "k"}}).Value.Num
}

// numbers is the numbers in the values of records.
func numbers(list []model.Record) (all []int64) {
	for i := range list {
		all = append(all, list[i].Value.Num)
	}
	return all
}

// A row that nothing was written to is empty, and not the row of another task.
func TestStore_EmptyRow(t *testing.T) {
	s := newStore()
	ask(s, update(5, 1))
	other := about(model.LoadIDs, 1)
	other.Token, other.Channel = 2, 4
	ans := ask(s, other)
	require.EqualValues(t, -1, ans.Seq)
	require.Empty(t, ans.Records)
	other.Kind = model.LoadOutbox
	ans = ask(s, other)
	require.Zero(t, ans.Seq)
	require.Empty(t, ans.Records)
}

// An update writes id, state and outputs at once; a second one of the same input writes nothing
// and gets the same answer.
func TestStore_UpdateIsOneWrite(t *testing.T) {
	s := newStore()
	require.Equal(t, model.Answer{Outcome: model.Done}, ask(s, update(0, 1)))
	require.Equal(t, model.Answer{Outcome: model.Done, Seq: 2}, ask(s, update(1, 1)))
	again := update(0, 1)
	again.Record.Value.Num, again.Cursor = 99, 4
	require.Equal(t, model.Answer{Outcome: model.DoneBefore}, ask(s, again))
	again = update(1, 1)
	require.Equal(t, model.Answer{Outcome: model.DoneBefore, Seq: 2}, ask(s, again))
	require.EqualValues(t, 10, state(s))
	ids := ask(s, about(model.LoadIDs, 1))
	require.EqualValues(t, 1, ids.Seq)
	require.Equal(t, []int64{0, 1}, numbers(ids.Records))
	require.EqualValues(t, 1, ids.Records[1].ID.Offset)
	out := ask(s, about(model.LoadOutbox, 1))
	require.Zero(t, out.Seq)
	require.EqualValues(t, 4, out.N)
	require.Equal(t, []int64{0, 1, 2, 3}, numbers(out.Records))
}

// Without the flag an update leaves the state alone, and so does a mark, which is the id alone.
func TestStore_StateIsOptional(t *testing.T) {
	s := newStore()
	ask(s, update(1, 1))
	bare := update(2, 1)
	bare.Flags, bare.Parts = 0, nil
	require.Equal(t, model.Done, ask(s, bare).Outcome)
	mark := update(3, 1)
	mark.Kind, mark.Parts = model.Mark, nil
	require.Equal(t, model.Done, ask(s, mark).Outcome)
	require.Equal(t, model.DoneBefore, ask(s, mark).Outcome)
	require.EqualValues(t, 10, state(s))
	require.Equal(t, []int64{1, 2, 3}, numbers(ask(s, about(model.LoadIDs, 1)).Records))
	require.Len(t, ask(s, about(model.LoadOutbox, 1)).Records, 2)
}

// Rows below the cursor go. A cursor behind the last row takes all there are, one that goes back
// brings nothing back, and the numbers of what comes go on.
func TestStore_DeliveredRowsGo(t *testing.T) {
	s := newStore()
	ask(s, update(0, 1))
	for _, step := range []struct{ cursor, first, left int64 }{{1, 1, 3}, {0, 1, 5}, {50, 6, 2}} {
		m := update(10+step.cursor, 1)
		m.Cursor = step.cursor
		ask(s, m)
		out := ask(s, about(model.LoadOutbox, 1))
		require.Equal(t, step.first, out.Seq)
		require.Equal(t, step.left, out.N)
	}
}

// The catalog of a channel holds the latest inputs, as many as the request says; the highest
// number stays. What fell out is new.
func TestStore_Horizon(t *testing.T) {
	s := newStore()
	for _, n := range []int64{4, 9, 7} {
		m := update(n, 1)
		m.N = 2
		require.Equal(t, model.Done, ask(s, m).Outcome)
	}
	ids := ask(s, about(model.LoadIDs, 1))
	require.EqualValues(t, 9, ids.Seq)
	require.Equal(t, []int64{9, 7}, numbers(ids.Records))
	m := update(4, 1)
	m.N = 2
	require.Equal(t, model.Done, ask(s, m).Outcome)
	require.Equal(t, []int64{7, 4}, numbers(ask(s, about(model.LoadIDs, 1)).Records))
	m.N = -1
	m.Record.ID.Offset = 20
	require.Panics(t, func() { ask(s, m) })
}

// Every request that asks with a fence raises it, and one below it is refused and does nothing.
// Without the flag nobody looks. The fence of one row is none of another's.
func TestStore_Fence(t *testing.T) {
	for _, kind := range []model.Kind{model.LoadIDs, model.LoadOutbox, model.Mark, model.Update} {
		s := newStore()
		ask(s, update(0, 2))
		newer := update(1, 5)
		newer.Kind = kind
		require.Equal(t, model.Done, ask(s, newer).Outcome, kind)
		for _, old := range []model.Kind{model.LoadIDs, model.LoadOutbox, model.Mark,
			model.Update} {
			m := update(2, 4)
			m.Kind = old
			require.Equal(t, model.Answer{Outcome: model.Refused}, ask(s, m), "%s %s", kind, old)
		}
		require.NotContains(t, numbers(ask(s, about(model.LoadIDs, 5)).Records), int64(2))
		m := update(2, 4)
		m.Flags = 0
		require.Equal(t, model.Done, ask(s, m).Outcome)
		m = update(3, 4)
		m.Token = 1
		require.Equal(t, model.Done, ask(s, m).Outcome)
	}
}

// What a task was handed stays as it was, whatever is written afterwards.
func TestStore_AnswersStay(t *testing.T) {
	s := newStore()
	var ids, out []model.Answer
	for n := range int64(50) {
		m := update(n, 1)
		m.N, m.Cursor = 3, n
		ask(s, m)
		ids, out = append(ids, ask(s, about(model.LoadIDs, 1))), append(out,
			ask(s, about(model.LoadOutbox, 1)))
	}
	for n := range int64(50) {
		require.Equal(t, n, slices.Max(numbers(ids[n].Records)))
		require.Len(t, ids[n].Records, int(min(n+1, 3)))
		require.Equal(t, n, numbers(out[n].Records)[0])
		require.Equal(t, 2*n+1, slices.Max(numbers(out[n].Records)))
	}
}

// Rows are part of the state of the store; an empty store forgets them.
func TestStore_RestoresRows(t *testing.T) {
	s, fresh := newStore(), newStore()
	var empty, c, again model.Codec
	s.State(&empty)
	for n := range int64(9) {
		m := update(n, int32(n+1))
		m.Channel, m.N, m.Cursor = int16(n%3), 2, n
		ask(s, m)
	}
	s.State(&c)
	ask(fresh, update(70, 1))
	c.Rewind()
	fresh.State(&c)
	require.Zero(t, c.Left())
	fresh.State(&again)
	require.Equal(t, c.Bytes(), again.Bytes())
	for _, store := range []model.Service{s, fresh} {
		m := update(8, 8)
		m.Channel = 2
		require.Equal(t, model.Refused, ask(store, m).Outcome, "fence")
		m.Attempt = 9
		require.Equal(t, model.Answer{Outcome: model.DoneBefore, Seq: 16}, ask(store, m), "catalog")
		m.Record.ID.Offset = 2
		require.Equal(t, model.Answer{Outcome: model.Done, Seq: 18}, ask(store, m), "fallen out")
	}
	fresh.Reset()
	again.Reset()
	fresh.State(&again)
	require.Equal(t, empty.Bytes(), again.Bytes())
}

// A store that has been used before allocates nothing.
func TestStore_AllocatesNothing(t *testing.T) {
	s := newStore()
	requests := make([]model.Message, 100)
	for n := range requests {
		requests[n] = update(int64(n), 1)
		requests[n].N, requests[n].Cursor, requests[n].Channel = 8, int64(n), int16(n%2)
	}
	var ans model.Answer
	run := func() {
		s.Reset()
		for n := range requests {
			s.Serve(0, &requests[n], &ans)
		}
	}
	for range 5 {
		run()
	}
	require.Zero(t, testing.AllocsPerRun(10, run))
}
