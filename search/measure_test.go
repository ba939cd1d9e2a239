package search_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/scenarios"
	"github.com/oncesim/oncesim/search"
)

// story is a history made by hand: three records of one partition that arrive at 10, 20 and 30.
type story struct {
	res scenarios.Result
}

func newStory(shape model.SinkShape) *story {
	s := &story{}
	input := model.NewInput([]model.Partition{{Records: make([]model.Record, 3), Every: 10}})
	s.res.Subject.Job = model.NewJob(&scenarios.Pipeline, nil)
	s.res.Subject.Input, s.res.Subject.Shape = input, shape
	s.res.Subject.History = &model.History{}
	s.res.Subject.History.Extent.Reset(3)
	return s
}

// serve adds a request that a service applied with an outcome.
func (s *story) serve(at int64, outcome model.Outcome, req model.Message) {
	h := s.res.Subject.History
	h.Calls = append(h.Calls, model.Call{Req: req})
	h.Servings = append(h.Servings, model.Serving{N: int64(len(h.Calls)), At: at,
		Call: int32(len(h.Calls) - 1), Ans: model.Answer{Outcome: outcome}})
}

// trace adds an event of a process.
func (s *story) trace(kind model.EntryKind, task string, attempt int32, outcome model.Outcome,
	msg model.Message) {
	s.res.Trace = append(s.res.Trace, model.Entry{Kind: kind, Attempt: attempt, Outcome: outcome,
		Proc: s.res.Subject.Job.Find(task), Msg: msg})
}

// out is what operator 1 makes of the record at an offset.
func out(offset int64, key string, value int64) model.Record {
	return model.Record{ID: model.ID{Offset: offset}, Op: 1, Key: key,
		Value: model.Value{Num: value}}
}

func show(offset int64, key string, value int64) model.Message {
	return model.Message{Kind: model.Write, Record: out(offset, key, value)}
}

// An update of a row is one call, and a write of each class that it has something of.
func TestMeasure_Update(t *testing.T) {
	s := newStory(model.Log)
	update := model.Message{Kind: model.Update, Flags: model.WithState, Record: out(0, "key", 5),
		Parts: []model.Record{out(0, "a", 1), out(0, "ab", 2)}}
	s.serve(1, model.Done, update)
	s.serve(2, model.DoneBefore, update)
	s.serve(3, model.Refused, update)
	update.Flags, update.Record.ID.Offset, update.Parts = 0, 1, nil
	s.serve(4, model.Done, update)
	s.serve(5, model.Done, model.Message{Kind: model.Mark, Record: out(2, "", 0)})
	m := search.Measure(&s.res)
	require.Equal(t, search.ByClass{State: 1, Dedup: 3, Output: 2}, m.Durable)
	require.EqualValues(t, 6, m.DurableWrites)
	require.EqualValues(t, 3, m.DurableCalls)
	require.EqualValues(t, 1, m.DuplicatesAbsorbed)
	require.Equal(t, search.ByClass{State: 3 + 8, Dedup: 3 * (32 + 8),
		Output: 2*(32+8) + 1 + 2}, m.BytesWritten)
	require.EqualValues(t, 11, m.StateBytes)
}

// Requests that change nothing cost nothing, and reads are no writes.
func TestMeasure_OnlyWhatChangesSomething(t *testing.T) {
	s := newStory(model.Log)
	for _, kind := range []model.Kind{model.Position, model.Latest, model.Fetch, model.Get,
		model.LoadIDs, model.LoadOutbox, model.Read} {
		s.serve(1, model.Done, model.Message{Kind: kind})
	}
	for _, outcome := range []model.Outcome{model.Refused, model.Stale} {
		s.serve(1, outcome, show(0, "a", 1))
	}
	require.Zero(t, search.Measure(&s.res))

	s.serve(2, model.Done, model.Message{Kind: model.OffsetCommit, Seq: 2})
	put := model.Message{Kind: model.Put, Record: out(0, "a", 1)}
	s.serve(3, model.Done, put)
	put.Record.Value.Text = "four"
	s.serve(4, model.Done, put)
	m := search.Measure(&s.res)
	require.Equal(t, search.ByClass{Position: 1, State: 2}, m.Durable)
	require.Equal(t, search.ByClass{Position: 16, State: 9 + 13}, m.BytesWritten)
	require.EqualValues(t, 13, m.StateBytes, "the last value of the key")
	require.EqualValues(t, 3, m.DurableCalls)
}

// What a sink absorbs depends on its shape: a log takes everything, a table by identity what
// differs, a table by key what differs from the last write to the key.
func TestMeasure_Absorbed(t *testing.T) {
	writes := []model.Message{show(0, "a", 1), show(1, "a", 2), show(0, "a", 1), show(1, "a", 2),
		show(1, "a", 2), show(1, "a", 3)}
	for shape, want := range map[model.SinkShape]int64{model.Log: 0, model.Rows: 3,
		model.Keys: 1} {
		s := newStory(shape)
		for i, w := range writes {
			s.serve(int64(i), model.Done, w)
		}
		m := search.Measure(&s.res)
		require.Equal(t, want, m.DuplicatesAbsorbed, "shape %d", shape)
		require.Equal(t, int64(len(writes))-want, m.Durable.Output)
		require.Equal(t, m.Durable.Output, m.DurableCalls)
	}
}

// A write that comes too late is a duplicate only if it had come before.
func TestMeasure_Stale(t *testing.T) {
	s := newStory(model.Keys)
	s.serve(1, model.Done, show(1, "a", 2))
	s.serve(2, model.Stale, show(0, "a", 1))
	require.Zero(t, search.Measure(&s.res).DuplicatesAbsorbed)
	s.serve(3, model.Stale, show(1, "a", 2))
	s.serve(4, model.DoneBefore, show(1, "a", 2))
	require.EqualValues(t, 2, search.Measure(&s.res).DuplicatesAbsorbed)
}

// Data that an operator acknowledges without a step, or a sink without a write, was absorbed. A
// life that was not there for the step absorbs; one whose step was in vain does not.
func TestMeasure_RecognisedByTasks(t *testing.T) {
	in := model.Record{ID: model.ID{Offset: 1}}
	ack := model.Message{Kind: model.Ack, Record: in}
	step := model.Message{Record: in}
	s := newStory(model.Log)
	s.trace(model.EntryApply, "op/0", 1, 0, step) // dies before it acknowledges
	s.trace(model.EntryApply, "op/0", 2, 0, step)
	s.trace(model.EntrySend, "op/0", 2, 0, ack)
	require.Zero(t, search.Measure(&s.res).DuplicatesAbsorbed)
	s.trace(model.EntrySend, "op/0", 2, 0, ack)
	s.trace(model.EntrySend, "op/0", 3, 0, ack)
	s.trace(model.EntrySend, "source/0", 1, 0, ack)
	require.EqualValues(t, 2, search.Measure(&s.res).DuplicatesAbsorbed)

	s = newStory(model.Log)
	write := model.Message{Kind: model.Write, Record: out(1, "", 0)}
	ack.Record = out(1, "", 0)
	s.trace(model.EntryAnswer, "sink/0", 1, model.Unknown, write)
	s.trace(model.EntryAnswer, "sink/0", 1, model.Refused, write)
	s.trace(model.EntryAnswer, "sink/0", 1, model.Done, write)
	s.trace(model.EntrySend, "sink/0", 1, 0, ack)
	require.Zero(t, search.Measure(&s.res).DuplicatesAbsorbed)
	s.trace(model.EntrySend, "sink/0", 1, 0, ack)
	require.EqualValues(t, 1, search.Measure(&s.res).DuplicatesAbsorbed)
}

// Latency runs from arrival to the first write that was taken, not to the reader's poll.
func TestMeasure_Latency(t *testing.T) {
	s := newStory(model.Log)
	s.serve(15, model.Refused, show(0, "a", 1))
	s.serve(17, model.Done, show(0, "a", 1))
	s.serve(22, model.Done, show(1, "a", 1))
	s.serve(42, model.Done, show(2, "a", 1))
	s.serve(90, model.Done, show(0, "a", 1))
	s.res.Subject.History.Observations = []model.Observation{{At: 100, Out: out(0, "a", 1)}}
	m := search.Measure(&s.res)
	require.EqualValues(t, 7, m.LatencyP50, "of 7, 2 and 12")
	require.EqualValues(t, 7, m.LatencyP99, "the lower of those around it")
}

// Losses are counted by record, however many properties name them; duplicates by entry.
func TestMeasure_LostAndVisible(t *testing.T) {
	s := newStory(model.Log)
	lost := []model.Anomaly{{Kind: model.Loss, Record: out(0, "", 0)},
		{Kind: model.Loss, Record: out(2, "", 0)}, {Kind: model.StateLoss, Record: out(1, "", 0)}}
	s.res.Verdicts = []model.Verdict{{Anomalies: lost}, {Anomalies: lost[:1]}}
	for _, offset := range []int64{1, 1, 2, 1} {
		s.res.Subject.History.Final = append(s.res.Subject.History.Final,
			model.Observation{Out: out(offset, "a", offset)})
	}
	m := search.Measure(&s.res)
	require.EqualValues(t, 2, m.Lost)
	require.EqualValues(t, 2, m.DuplicatesVisible)
}

// A replay is a record that reaches a stage that reads the input once more.
func TestMeasure_Replayed(t *testing.T) {
	s := newStory(model.Log)
	data := model.Message{Kind: model.Data}
	require.False(t, search.Measure(&s.res).IsTraced)
	s.trace(model.EntryDeliver, "op/0", 1, 0, data)
	s.trace(model.EntryDrop, "op/0", 1, 0, data)
	s.trace(model.EntryDeliver, "op/0", 2, 0, data)
	data.Record.Op = 1
	s.trace(model.EntryDeliver, "sink/0", 1, 0, data)
	s.trace(model.EntryDeliver, "sink/0", 1, 0, data)
	m := search.Measure(&s.res)
	require.EqualValues(t, 1, m.Replayed)
	require.True(t, m.IsTraced)
}

// Messages are what processes sent, whether or not they arrived.
func TestMeasure_Messages(t *testing.T) {
	s := newStory(model.Log)
	sent := s.res.Subject.History.Extent.Messages
	sent[0][model.MessageIndex(1, model.Data)] = 5
	sent[1][model.MessageIndex(2, model.Data)] = 4
	sent[1][model.MessageIndex(0, model.Ack)] = 3
	m := search.Measure(&s.res)
	require.EqualValues(t, 9, m.DataMessages)
	require.EqualValues(t, 3, m.AckMessages)
	require.EqualValues(t, 12, m.Messages())
}
