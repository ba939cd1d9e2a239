package sim_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/sim"
)

// writeOf writes record offset as number token of producer 0, behind number before.
func writeOf(offset, token, before int64) model.Message {
	return model.Message{Kind: model.Write, Flags: model.InOrder, Token: token, Cursor: before,
		Record: model.Record{ID: model.ID{Offset: offset}, Op: 1, Value: model.Value{Num: token}}}
}

func shown(s model.Service, part, from int64) []int64 {
	ans := ask(s, model.Message{Kind: model.Read, Seq: part, Cursor: from, Flags: model.Whole})
	return numbers(ans.Records)
}

// One identity is one entry: a repetition is answered with its place and changes nothing, whatever
// its value. Another operator or path is another output, another partition another log.
func TestIdentityLog_OneEntryAnIdentity(t *testing.T) {
	l := sim.IdentityLog.New(2)
	require.Equal(t, model.Answer{Outcome: model.Done}, ask(l, writeOf(7, 1, -1)))
	require.Equal(t, model.Answer{Outcome: model.Done, Seq: 1}, ask(l, writeOf(8, 2, 1)))
	require.Equal(t, model.Answer{Outcome: model.DoneBefore}, ask(l, writeOf(7, 9, 2)))
	for i, other := range []model.Record{{ID: model.ID{Offset: 7}, Op: 2},
		{ID: model.ID{Offset: 7}, Op: 1, Path: 1}} {
		m := writeOf(0, 3, -1)
		m.Record = other
		require.Equal(t, model.Answer{Outcome: model.Done, Seq: int64(2 + i)}, ask(l, m))
	}
	m := writeOf(7, 4, -1)
	m.Seq = 1
	require.Equal(t, model.Answer{Outcome: model.Done}, ask(l, m))
	require.Equal(t, []int64{1, 2, 0, 0}, shown(l, 0, 0))
	require.Equal(t, []int64{0, 0}, shown(l, 0, 2))
	require.Equal(t, []int64{4}, shown(l, 1, 0))
}

// In order, what is behind a gap is refused and leaves nothing, for each producer of a partition by
// itself. -1 stands for no gap.
func TestIdentityLog_RefusesGaps(t *testing.T) {
	l := sim.IdentityLog.New(1)
	require.Equal(t, model.Answer{Outcome: model.Refused}, ask(l, writeOf(1, 1, 0)))
	require.Equal(t, model.Done, ask(l, writeOf(0, 0, -1)).Outcome)
	require.Equal(t, model.Done, ask(l, writeOf(1, 1, 0)).Outcome)
	require.Equal(t, model.Refused, ask(l, writeOf(3, 5, 3)).Outcome)
	require.Equal(t, model.Done, ask(l, writeOf(3, 5, -1)).Outcome, "all before it is delivered")
	m := writeOf(4, 6, 5)
	m.Channel = 2
	require.Equal(t, model.Refused, ask(l, m).Outcome, "another producer")
	m.Flags = 0
	require.Equal(t, model.Done, ask(l, m).Outcome, "nobody looks")
	require.Equal(t, []int64{0, 1, 5, 6}, shown(l, 0, 0))
}

// A repetition under a new number moves the number on, or what follows it would be behind a gap for
// good. Behind a gap it is refused like anything else.
func TestIdentityLog_RepetitionsCount(t *testing.T) {
	l := sim.IdentityLog.New(1)
	ask(l, writeOf(0, 0, -1))
	require.Equal(t, model.Refused, ask(l, writeOf(0, 7, 5)).Outcome)
	require.Equal(t, model.DoneBefore, ask(l, writeOf(0, 5, 0)).Outcome)
	require.Equal(t, model.Done, ask(l, writeOf(1, 6, 5)).Outcome)
}

func TestIdentityLog_RestoresWhatItEncodes(t *testing.T) {
	l, other := sim.IdentityLog.New(2), sim.IdentityLog.New(2)
	var empty, c, again model.Codec
	l.State(&empty)
	ask(l, writeOf(7, 3, -1))
	ask(other, writeOf(9, 9, -1))
	l.State(&c)
	c.Rewind()
	other.State(&c)
	require.Zero(t, c.Left())
	other.State(&again)
	require.Equal(t, c.Bytes(), again.Bytes())
	require.Equal(t, model.DoneBefore, ask(other, writeOf(7, 3, -1)).Outcome)
	require.Equal(t, model.Refused, ask(other, writeOf(8, 9, 8)).Outcome)
	require.Equal(t, model.Done, ask(other, writeOf(9, 4, 3)).Outcome)
	other.Reset()
	again.Reset()
	other.State(&again)
	require.Equal(t, empty.Bytes(), again.Bytes())
	require.Panics(t, func() { ask(l, model.Message{Kind: model.Get}) })
}

// A producer whose epoch is over is refused in order, whatever its number: Kafka's brokers compare
// epochs first.
func TestIdentityLog_Epochs(t *testing.T) {
	l := sim.IdentityLog.New(1)
	later := writeOf(9, 100, -1)
	later.N = 1
	require.Equal(t, model.Done, ask(l, later).Outcome)
	earlier := writeOf(4, 4, 3)
	require.Equal(t, model.Refused, ask(l, earlier).Outcome)
	earlier.Flags = 0
	require.Equal(t, model.Done, ask(l, earlier).Outcome, "out of order nobody looks")
}
