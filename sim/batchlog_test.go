package sim_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/sim"
)

// batchOf writes numbers as one batch.
func batchOf(id int64, numbers ...int64) model.Message {
	return model.Message{Kind: model.WriteBatch, Token: id, Parts: records(numbers...)}
}

// A batch is there once in a partition, whatever it holds when it comes again. Without an id it is
// none that could come again.
func TestBatchLog_OneOfEachBatch(t *testing.T) {
	s := sim.BatchLog.New(2)
	require.Equal(t, model.Answer{Outcome: model.Done}, ask(s, batchOf(1, 10, 11)))
	require.Equal(t, model.Answer{Outcome: model.Done, Seq: 2}, ask(s, plainly(12)))
	require.Equal(t, model.Answer{Outcome: model.Done, Seq: 3}, ask(s, batchOf(3, 13)))
	require.Equal(t, model.Answer{Outcome: model.Done, Seq: 4}, ask(s, batchOf(2)))
	require.Equal(t, model.Answer{Outcome: model.DoneBefore}, ask(s, batchOf(1, 9)))
	require.Equal(t, model.Answer{Outcome: model.DoneBefore, Seq: 4}, ask(s, batchOf(2, 9)))
	require.Equal(t, model.Answer{Outcome: model.Done}, ask(s, in(1, batchOf(1, 20))))
	require.Equal(t, model.Done, ask(s, batchOf(0, 14)).Outcome)
	require.Equal(t, model.Done, ask(s, batchOf(0, 14)).Outcome)
	require.Equal(t, "[0:10 1:11 2:12 3:13 4:14 5:14]", view(s, 0, 0))
	require.Equal(t, "[4:14 5:14]", view(s, 0, 4))
	require.Equal(t, "[0:20]", view(s, 1, 0))
}

// A partition refuses requests of an attempt below the highest that asked.
func TestBatchLog_Fence(t *testing.T) {
	for _, newer := range []model.Message{batchOf(1, 10), plainly(10)} {
		s := sim.BatchLog.New(2)
		ask(s, fenced(5, newer))
		require.Equal(t, model.Answer{Outcome: model.Refused}, ask(s, fenced(4, batchOf(2, 11))))
		require.Equal(t, model.Answer{Outcome: model.Refused}, ask(s, fenced(4, plainly(11))))
		require.Equal(t, model.Done, ask(s, fenced(5, batchOf(2, 12))).Outcome, "not held")
		require.Equal(t, model.Done, ask(s, fenced(4, in(1, batchOf(2, 11)))).Outcome)
		require.Equal(t, model.Done, ask(s, plainly(13)).Outcome, "nobody looks")
		require.Equal(t, "[0:10 1:12 2:13]", view(s, 0, 0))
	}
}

// Sinks that know no batches take the records of one in one step, each as a write of its own.
func TestSinks_WriteBatch(t *testing.T) {
	batch := model.Message{Kind: model.WriteBatch, Token: 4}
	for i, key := range []string{"a", "b", "a", "b"} {
		batch.Parts = append(batch.Parts, model.Record{ID: model.ID{Offset: int64(i) % 3}, Op: 1,
			Key: key, Value: model.Value{Num: int64(10 + i)}})
	}
	for _, tc := range []struct {
		spec           *model.SinkSpec
		first          string // what the batch leaves
		again          model.Outcome
		second, mixed  string // then again, and again with one record that is new
		beforeIsAnswer int64
	}{
		{&sim.AppendLog, "[0:10 1:11 2:12 3:13]", model.Done,
			"[0:10 1:11 2:12 3:13 4:10 5:11 6:12 7:13]",
			"[0:10 1:11 2:12 3:13 4:10 5:11 6:12 7:13 8:10 9:99]", 8},
		{&sim.IdentityLog, "[0:10 1:11 2:12]", model.DoneBefore, "[0:10 1:11 2:12]",
			"[0:10 1:11 2:12 3:99]", 3},
		{&sim.TableByIdentity, "[0:10 1:11 2:12 0:13]", model.Done,
			"[0:10 1:11 2:12 0:13 0:10 0:13]", "[0:10 1:11 2:12 0:13 0:10 0:13 0:10 3:99]", 0},
		{&sim.TableByKey, "[0:10 1:11 2:12 3:13]", model.Done,
			"[0:10 1:11 2:12 3:13 4:10 5:11 6:12 7:13]",
			"[0:10 1:11 2:12 3:13 4:10 5:11 6:12 7:13 8:10 9:99]", 0},
	} {
		s := tc.spec.New(1)
		require.Equal(t, model.Answer{Outcome: model.Done}, ask(s, batch), tc.spec.Name)
		require.Equal(t, tc.first, view(s, 0, 0), tc.spec.Name)
		require.Equal(t, tc.again, ask(s, batch).Outcome, tc.spec.Name)
		require.Equal(t, tc.second, view(s, 0, 0), tc.spec.Name)
		mixed := batch
		mixed.Parts = []model.Record{batch.Parts[0], {ID: model.ID{Offset: 7}, Op: 1, Key: "c",
			Value: model.Value{Num: 99}}}
		require.Equal(t, model.Answer{Outcome: model.Done, Seq: tc.beforeIsAnswer}, ask(s, mixed),
			tc.spec.Name)
		require.Equal(t, tc.mixed, view(s, 0, 0), tc.spec.Name)
		require.Equal(t, model.Done, ask(s, batchOf(9)).Outcome, tc.spec.Name)
	}
}
