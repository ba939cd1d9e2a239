package semantics_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/semantics"
)

// version is what the sink of a bench writes for a message: its token, and whether it counts.
func version(b *bench, ev model.Event) (token int64, counts bool) {
	var s model.Script
	b.proc.Step(&ev, &s)
	m := &s.Effects[0].Msg
	require.Equal(b.t, model.Write, m.Kind)
	return m.Token, m.Flags&model.Versioned != 0
}

// A write is as new as its message: a resend is no newer, a later message of the life and any of a
// later life are.
func TestIdempotentByKey_VersionIsTheMessage(t *testing.T) {
	b := newBench(t, &semantics.IdempotentByKey, sum, "sink/0")
	b.start(1)
	last := int64(-1)
	for _, ev := range []model.Event{data(0, 5, 1), data(1, 5, 1), data(9, 4, 1), data(0, 5, 2)} {
		token, counts := version(b, ev)
		require.True(t, counts)
		require.Greater(t, token, last)
		last = token
		ev.Msg.Try++
		again, _ := version(b, ev)
		require.Equal(t, token, again)
	}
}

// A write that finds itself or a later one of its sender's life is done. One that finds a later
// life is a zombie's: it is not acknowledged, so that nobody takes its input for finished.
func TestIdempotentByKey_StaleWrites(t *testing.T) {
	b := newBench(t, &semantics.IdempotentByKey, sum, "sink/0")
	b.start(1)
	for _, tc := range []struct {
		outcome model.Outcome
		there   int64
		want    string
	}{
		{model.Done, 0, "send ack 4 to op/0"},
		{model.DoneBefore, 0, "send ack 4 to op/0"},
		{model.Stale, 2<<32 | 5, "send ack 4 to op/0"},
		{model.Stale, 3 << 32, ""},
	} {
		require.Equal(t, "call write 1!", b.step(data(4, 0, 2)))
		ev := answered(model.Write, model.Answer{N: tc.there})
		ev.Ans.Outcome = tc.outcome
		require.Equal(t, tc.want, b.step(ev), tc.outcome.String())
	}
}

// Without versions, and in front of a table by identity, a write is plain.
func TestIdempotent_WritesAreTheSame(t *testing.T) {
	b := newBench(t, &semantics.IdempotentByKey, sum, "sink/0",
		model.ParamValue{Name: "version", Value: 0})
	b.start(1)
	_, counts := version(b, data(4, 0, 1))
	require.False(t, counts)
	b = newBench(t, &semantics.Idempotent, sum, "sink/0")
	b.start(1)
	token, counts := version(b, data(4, 0, 1))
	require.False(t, counts)
	require.Zero(t, token)
}

// One record in flight is what keeps the order of the input up to the last hop.
func TestIdempotentByKey_OneInFlight(t *testing.T) {
	b := newBench(t, &semantics.IdempotentByKey, sum, "source/0")
	b.start(1)
	b.step(answered(model.Position, model.Answer{}))
	require.Equal(t, "send data 0 to op/0; after", b.step(batch(0, 2, true)))
	require.Equal(t, "send data 1 to op/0", b.step(ack(0, 1)))
}
