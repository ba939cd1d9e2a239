package search_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/search"
)

// txn is a request about a transaction of partition 0.
func txn(kind model.Kind, id, checkpoint int64) model.Message {
	return model.Message{Kind: kind, Token: id, Seq: checkpoint}
}

// inTxn is a write into a transaction.
func inTxn(id, offset int64) model.Message {
	m := show(offset, "a", offset)
	m.Token, m.Cursor = id, -1
	return m
}

// latencyOf is how long it takes until a record can be seen that arrives at 10 and is served what
// is given, from time 20 on, one request a time unit.
func latencyOf(t *testing.T, requests ...model.Message) int64 {
	t.Helper()
	s := newStory(model.Log)
	for i, req := range requests {
		s.serve(20+int64(i), model.Done, req)
	}
	return search.Measure(&s.res).LatencyP50
}

// What a transaction holds is visible once it is committed and nothing before it is undecided.
func TestMeasure_TransactionsHideUntilTheCommit(t *testing.T) {
	begin, write := txn(model.BeginTxn, 1, 0), inTxn(1, 0)
	prepare, commit := txn(model.PrepareTxn, 1, 4), txn(model.CommitTxn, 1, 4)
	commitAll := model.Message{Kind: model.CommitTxn, Flags: model.Whole, Seq: 4}
	first := search.Measure(&newStory(model.Log).res)
	require.Zero(t, first.LatencyP50)
	at := latencyOf(t, show(0, "a", 1))
	require.Positive(t, at, "outside any transaction at once")
	require.Equal(t, at+3, latencyOf(t, begin, write, prepare, commit))
	require.Equal(t, at+4, latencyOf(t, begin, write, prepare, show(9, "b", 0), commitAll))
	require.Zero(t, latencyOf(t, begin, write, prepare), "it is undecided")
	require.Zero(t, latencyOf(t, begin, write, txn(model.AbortTxn, 1, 0)), "it is aborted")
	require.Zero(t, latencyOf(t, begin, write, begin), "another one of its id aborts it")

	// Transaction 2 is begun first, and undecided until later.
	other, end := txn(model.BeginTxn, 2, 0), txn(model.AbortTxn, 2, 0)
	require.Equal(t, at+5, latencyOf(t, other, inTxn(2, 9), begin, write, commit, end))
	require.Equal(t, at+3, latencyOf(t, other, inTxn(2, 9), show(0, "a", 1), end))
	require.Equal(t, at+3, latencyOf(t, other, begin, write, commit), "it holds nothing")

	// Transaction 2 is over 2 units after its begin.
	other.Cursor = 2
	require.Equal(t, at+4, latencyOf(t, other, inTxn(2, 9), begin, write, commit,
		show(9, "b", 0)))
}

// A reader of uncommitted data sees what is in a transaction before its commit.
func TestMeasure_ReadersOfUncommittedData(t *testing.T) {
	s := newStory(model.Log)
	s.serve(20, model.Done, txn(model.BeginTxn, 1, 0))
	s.serve(21, model.Done, inTxn(1, 0))
	s.res.Subject.History.Observations = []model.Observation{{At: 23, Out: out(0, "a", 0)}}
	s.serve(40, model.Done, txn(model.CommitTxn, 1, 1))
	seen := search.Measure(&s.res).LatencyP50
	require.Equal(t, latencyOf(t, show(0, "a", 1))+3, seen)
}

// A part of a checkpoint is written as what the task keeps in it.
func TestMeasure_Uploads(t *testing.T) {
	s := newStory(model.Log)
	upload := func(task string, state int64, parts ...model.Record) {
		s.serve(1, model.Done, model.Message{Kind: model.Upload, Seq: 1, N: state,
			Token: int64(s.res.Subject.Job.Find(task)), Parts: parts})
	}
	upload("source/0", 1, model.Record{ID: model.ID{Offset: 3}})
	upload("op/0", 2, out(0, "a", 1), out(0, "ab", 2), out(0, "abc", 3))
	upload("sink/0", 2, model.Record{ID: model.ID{Offset: 7}}, out(0, "abcd", 4))
	s.serve(1, model.DoneBefore, model.Message{Kind: model.Upload, Seq: 1})
	m := search.Measure(&s.res)
	require.Equal(t, search.ByClass{Position: 1, State: 3, Output: 1, Metadata: 1}, m.Durable)
	require.EqualValues(t, 3, m.DurableCalls)
	require.EqualValues(t, 1, m.DuplicatesAbsorbed)
	const flight = 32 + 3 + 8
	require.EqualValues(t, 1+8+2+8+flight, m.BytesWritten.State)
	require.Equal(t, m.BytesWritten.State, m.StateBytes)
	require.EqualValues(t, 16, m.BytesWritten.Position)
}

// What the store holds of state are the parts of checkpoints that are retained, and of those under
// way.
func TestMeasure_StateOfRetainedCheckpoints(t *testing.T) {
	s := newStory(model.Log)
	op := int64(s.res.Subject.Job.Find("op/0"))
	for checkpoint := int64(1); checkpoint <= 3; checkpoint++ {
		s.serve(1, model.Done, model.Message{Kind: model.Upload, Seq: checkpoint, N: 1, Token: op,
			Parts: []model.Record{out(0, "a", checkpoint)}})
	}
	require.EqualValues(t, 3*9, search.Measure(&s.res).StateBytes)
	s.serve(2, model.Done, model.Message{Kind: model.Completion, Seq: 2, N: 1})
	require.EqualValues(t, 2*9, search.Measure(&s.res).StateBytes, "2 is retained, 3 is under way")
	s.serve(3, model.Done, model.Message{Kind: model.Discard, Seq: 3})
	m := search.Measure(&s.res)
	require.EqualValues(t, 9, m.StateBytes)
	require.EqualValues(t, 2, m.Durable.Metadata)
}

// A batch shows all its records, and one that is known none.
func TestMeasure_Batches(t *testing.T) {
	s := newStory(model.Log)
	batch := model.Message{Kind: model.WriteBatch, Token: 1,
		Parts: []model.Record{out(0, "a", 1), out(1, "b", 2)}}
	s.serve(25, model.Done, batch)
	s.serve(30, model.DoneBefore, batch)
	s.serve(31, model.Done, model.Message{Kind: model.PlanBatch, Seq: 2, Parts: batch.Parts})
	s.serve(32, model.Done, model.Message{Kind: model.FinishBatch, Seq: 2})
	m := search.Measure(&s.res)
	require.Equal(t, search.ByClass{Output: 2, Metadata: 2}, m.Durable)
	require.EqualValues(t, 3, m.DurableCalls)
	require.EqualValues(t, 1, m.DuplicatesAbsorbed)
	require.Positive(t, m.LatencyP50)
	require.EqualValues(t, 8*(1+2*2)+8, m.BytesWritten.Metadata)
}

// Barriers and notices are messages of their own kind.
func TestMeasure_ControlMessages(t *testing.T) {
	s := newStory(model.Log)
	sent := s.res.Subject.History.Extent.Messages[0]
	sent[model.MessageIndex(1, model.Data)] = 5
	sent[model.MessageIndex(1, model.Ack)] = 3
	sent[model.MessageIndex(1, model.Barrier)] = 2
	sent[model.MessageIndex(2, model.Ready)] = 1
	m := search.Measure(&s.res)
	require.EqualValues(t, 5, m.DataMessages)
	require.EqualValues(t, 3, m.AckMessages)
	require.EqualValues(t, 3, m.ControlMessages)
	require.EqualValues(t, 11, m.Messages())
}
