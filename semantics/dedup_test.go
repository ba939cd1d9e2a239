package semantics_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/semantics"
)

// behind is data that follows number before on its channel.
func behind(before, seq, offset int64) model.Event {
	ev := data(seq, offset, 1)
	ev.Msg.Cursor = before
	return ev
}

// first is data that follows nothing.
func first(seq, offset int64) model.Event { return behind(-1, seq, offset) }

// loaded answers what a life asks of its row: a catalog, and an outbox from number from on.
func (b *bench) loaded(last int64, ids []model.Record, from int64, rows []model.Record) string {
	outbox := b.step(answered(model.LoadOutbox, model.Answer{Seq: from, Records: rows}))
	require.Equal(b.t, "", outbox, "nothing is sent before the catalog is known")
	return b.step(answered(model.LoadIDs, model.Answer{Seq: last, Records: ids}))
}

// effects is the effects of one step, for what a line does not show.
func (b *bench) effects(ev model.Event) []model.Effect {
	var s model.Script
	b.proc.Step(&ev, &s)
	return s.Effects
}

// updated answers an update that was asked for as the store does, from number first on.
func updated(first int64, parts ...model.Record) model.Event {
	ev := answered(model.Update, model.Answer{Seq: first})
	ev.Msg.Parts = parts
	return ev
}

// "One atomic write: state, dedup id, productions"; then the acknowledgement, then the productions.
func TestDedup_OneWriteThenAckThenSend(t *testing.T) {
	b := newBench(t, &semantics.Dedup, sum, "op/0")
	require.Equal(t, "call load-outbox 0!; call load-ids 0!", b.start(4))
	require.Equal(t, "", b.loaded(-1, nil, 6, nil))
	require.Equal(t, "call get!", b.step(first(2, 0)))
	effects := b.effects(answered(model.Get, model.Answer{Found: true,
		Value: model.Value{Num: 10}}))
	require.Len(t, effects, 2)
	require.Equal(t, model.EffectApplied, effects[0].Kind)
	m := effects[1].Msg
	require.True(t, effects[1].UntilDone)
	require.Equal(t, model.Update, m.Kind)
	require.Equal(t, model.Fenced|model.InOrder|model.WithState, m.Flags)
	require.Equal(t, []int64{2, 1000, 1, 6}, []int64{m.Seq, m.N, m.Token, m.Cursor})
	require.Equal(t, model.Record{Op: 1, Key: "k", Value: model.Value{Num: 11}}, m.Record)
	require.Len(t, m.Parts, 1)
	require.EqualValues(t, 11, m.Parts[0].Value.Num)
	require.Equal(t, "send ack 2 to source/0; send data 6 to sink/0; after",
		b.step(updated(6, m.Parts...)))
}

// "In the dedup data? Drop and acknowledge": also what an earlier life had taken up.
func TestDedup_AcknowledgesWhatIsKnown(t *testing.T) {
	b := newBench(t, &semantics.Dedup, filter, "op/0")
	b.start(2)
	b.loaded(3, records(2, 1), 0, nil)
	require.Equal(t, "send ack 1 to source/0", b.step(first(1, 2)))
	require.Equal(t, "applied 4; call update 4!", b.step(first(4, 4)))
	b.step(updated(0))
	require.Equal(t, "send ack 4 to source/0", b.step(first(4, 4)))
}

// A restarted task sends its outbox again, as far as the window goes, under the numbers of old.
func TestDedup_RestartSendsTheOutbox(t *testing.T) {
	b := newBench(t, &semantics.Dedup, sum, "op/0", model.ParamValue{Name: "window", Value: 2})
	b.start(2)
	require.Equal(t, "send data 8 to sink/0; send data 9 to sink/0; after",
		b.loaded(5, nil, 8, records(0, 4)))
	require.Equal(t, "", b.step(ack(9, 7)))
	require.Equal(t, "send data 10 to sink/0; send data 11 to sink/0", b.step(ack(8, 7)),
		"an acknowledgement is true whichever life it was for")
	require.Equal(t, "", b.step(ack(8, 7)))
}

// What is sent names what may be missing before it on its channel, and no more.
func TestDedup_NamesTheNumberBefore(t *testing.T) {
	b := newBench(t, &semantics.Dedup, sum, "op/0")
	b.start(1)
	b.step(answered(model.LoadOutbox, model.Answer{Seq: 3, Records: records(0, 3)}))
	effects := b.effects(answered(model.LoadIDs, model.Answer{Seq: -1}))
	require.EqualValues(t, -1, effects[0].Msg.Cursor)
	require.EqualValues(t, 3, effects[1].Msg.Cursor)
	require.EqualValues(t, 4, effects[2].Msg.Cursor)
	b.step(ack(3, 1))
	effects = b.effects(model.Event{Kind: model.TimerFired})
	require.EqualValues(t, 4, effects[0].Msg.Seq)
	require.EqualValues(t, -1, effects[0].Msg.Cursor, "3 is delivered")
	require.EqualValues(t, 4, effects[1].Msg.Cursor)
}

// OutOfOrderSequence: what is behind a gap waits for a repetition, without an acknowledgement.
func TestDedup_WaitsForWhatIsMissing(t *testing.T) {
	for _, tc := range []struct {
		inOrder int64
		want    string
	}{{1, ""}, {0, "applied 2; call update 3!"}} {
		b := newBench(t, &semantics.Dedup, filter, "op/0",
			model.ParamValue{Name: "in-order", Value: tc.inOrder})
		b.start(1)
		b.loaded(1, nil, 0, nil)
		require.Equal(t, tc.want, b.step(behind(2, 3, 2)))
	}
}

// The horizon: one that has fallen out of the catalog is taken up again, unless its number says
// that it was taken.
func TestDedup_Horizon(t *testing.T) {
	for _, tc := range []struct {
		inOrder int64
		want    string
	}{{1, "send ack 0 to source/0"}, {0, "applied 0; call update 0!"}} {
		b := newBench(t, &semantics.Dedup, filter, "op/0",
			model.ParamValue{Name: "horizon", Value: 2},
			model.ParamValue{Name: "in-order", Value: tc.inOrder})
		b.start(1)
		b.loaded(-1, nil, 0, nil)
		for n := range int64(3) {
			b.step(first(n, n))
			b.step(updated(0))
		}
		require.Equal(t, "send ack 1 to source/0", b.step(first(1, 1)))
		require.Equal(t, tc.want, b.step(first(0, 0)))
	}
}

// "Writes carry a sequencer": a task that the store refuses gives up, and has sent nothing.
func TestDedup_Fenced(t *testing.T) {
	for _, mode := range []*model.Mode{&semantics.Dedup, &semantics.DedupWeak,
		&semantics.DedupIDFirst, &semantics.DedupIDLast} {
		for _, fencing := range []int64{0, 1} {
			b := newBench(t, mode, filter, "op/0",
				model.ParamValue{Name: "fencing", Value: fencing})
			var s model.Script
			b.proc.Start(model.Self{Life: 1}, &s)
			require.Equal(t, fencing == 1, s.Effects[0].Msg.Flags&model.Fenced != 0, mode.Name)
			ev := updated(0)
			ev.Msg.Kind, ev.Ans.Outcome = model.LoadIDs, model.Refused
			effects := b.effects(ev)
			require.Len(t, effects, 1)
			require.Equal(t, model.EffectFail, effects[0].Kind)
		}
	}
}

// A step that fails ends the life, or with a dead letter queue leaves its id and nothing else.
func TestDedup_DeadLetter(t *testing.T) {
	poison := first(0, 0)
	poison.Msg.Flags = model.Poisoned
	b := newBench(t, &semantics.Dedup, sum, "op/0")
	b.start(1)
	b.loaded(-1, nil, 0, nil)
	b.step(poison)
	effects := b.effects(answered(model.Get, model.Answer{}))
	require.Equal(t, model.EffectFail, effects[len(effects)-1].Kind)
	b = newBench(t, &semantics.Dedup, sum, "op/0", model.ParamValue{Name: "dead-letter", Value: 1})
	b.start(1)
	b.loaded(-1, nil, 0, nil)
	b.step(poison)
	effects = b.effects(answered(model.Get, model.Answer{}))
	require.Len(t, effects, 2)
	require.Equal(t, model.Fenced|model.InOrder, effects[1].Msg.Flags)
	require.Empty(t, effects[1].Msg.Parts)
}

// A position is committed when the next task has taken everything before it up, and what is gone
// from the input is skipped.
func TestDedup_Source(t *testing.T) {
	b := newBench(t, &semantics.Dedup, sum, "source/0",
		model.ParamValue{Name: "commit-every", Value: 2})
	b.start(1)
	b.step(answered(model.Position, model.Answer{Seq: 3}))
	require.Equal(t, "call offset-commit 7!; send data 7 to op/0; send data 8 to op/0; "+
		"send data 9 to op/0; after; call fetch 10!", b.step(batch(7, 3, false)))
	require.Equal(t, "", b.step(ack(8, 1)), "record 7 is not taken up: position 7 stays")
	require.Equal(t, "call offset-commit 9!", b.step(ack(7, 1)))
	require.Equal(t, "send data 9 to op/0; after", b.step(model.Event{Kind: model.TimerFired}))
}

// The external system is asked to look: the number, the one before it and the producer. What it
// refuses is not acknowledged, and what it has is.
func TestDedup_Sink(t *testing.T) {
	b := newBench(t, &semantics.Dedup, sum, "sink/0")
	b.start(1)
	effects := b.effects(behind(4, 6, 1))
	require.Len(t, effects, 1)
	m := effects[0].Msg
	require.Equal(t, model.InOrder, m.Flags)
	require.Equal(t, []int64{6, 4}, []int64{m.Token, m.Cursor})
	refused := answered(model.Write, model.Answer{})
	refused.Ans.Outcome = model.Refused
	require.Equal(t, "", b.step(refused))
	known := answered(model.Write, model.Answer{})
	known.Ans.Outcome = model.DoneBefore
	require.Equal(t, "send ack 6 to op/0", b.step(known))
}

// Weak productions: outputs are acknowledged first, then id and state are written, oldest first,
// and only then is the input acknowledged. The state in memory runs ahead; each write has its own.
func TestDedupWeak_WritesLast(t *testing.T) {
	b := newBench(t, &semantics.DedupWeak, sum, "op/0")
	require.Equal(t, "call load-ids 0!", b.start(1))
	b.step(answered(model.LoadIDs, model.Answer{Seq: -1}))
	require.Equal(t, "call get!", b.step(first(0, 0)))
	require.Equal(t, "applied 0; send data 0 to sink/0; after",
		b.step(answered(model.Get, model.Answer{})))
	require.Equal(t, "applied 1; send data 1 to sink/0", b.step(behind(0, 1, 1)))
	require.Equal(t, "", b.step(behind(0, 1, 1)), "unfinished: neither known nor new")
	require.Equal(t, "", b.step(ack(1, 1)))
	require.Equal(t, "call update 1!", b.step(ack(0, 1)), "number 0, state 1")
	require.Equal(t, "send ack 0 to source/0; call update 4!",
		b.step(answered(model.Update, model.Answer{})), "number 1, state 3")
	require.Equal(t, "send ack 1 to source/0", b.step(answered(model.Update, model.Answer{})))
	require.Equal(t, "send ack 1 to source/0", b.step(behind(0, 1, 1)))
}

// Each life of a task that counts its own outputs begins above the last, and what comes from an
// earlier life of a sender than what was taken up waits for that life's successor.
func TestDedupWeak_NumbersGrowOverLives(t *testing.T) {
	b := newBench(t, &semantics.DedupWeak, filter, "op/0")
	b.start(3)
	b.step(answered(model.LoadIDs, model.Answer{Seq: -1}))
	require.Equal(t, "applied 2; send data 2000000000 to sink/0; after",
		b.step(first(1_000_000_004, 2)))
	require.Equal(t, "", b.step(first(7, 4)))
	require.Equal(t, "applied 4; send data 2000000001 to sink/0",
		b.step(behind(1_000_000_004, 1_000_000_005, 4)))
}

// Id first: the id stands before the state and the outputs.
func TestDedupIDFirst_Order(t *testing.T) {
	b := newBench(t, &semantics.DedupIDFirst, sum, "op/0")
	b.start(1)
	b.step(answered(model.LoadIDs, model.Answer{Seq: -1}))
	require.Equal(t, "call mark 5!", b.step(first(5, 0)))
	require.Equal(t, "call get!", b.step(answered(model.Mark, model.Answer{})))
	require.Equal(t, "applied 0; call put 1!; send data 0 to sink/0; after",
		b.step(answered(model.Get, model.Answer{})))
	require.Equal(t, "send ack 5 to source/0", b.step(ack(0, 1)))

	b = newBench(t, &semantics.DedupIDFirst, sum, "sink/0")
	require.Equal(t, "call load-ids 0!", b.start(1))
	b.step(answered(model.LoadIDs, model.Answer{Seq: -1}))
	require.Equal(t, "call mark 5!", b.step(first(5, 0)))
	require.Equal(t, "call write 1!", b.step(answered(model.Mark, model.Answer{})))
	require.Equal(t, "send ack 5 to op/0", b.step(answered(model.Write, model.Answer{})))
	require.Equal(t, "send ack 5 to op/0", b.step(first(5, 0)))
}

// Id last: the id stands behind the state and the outputs.
func TestDedupIDLast_Order(t *testing.T) {
	b := newBench(t, &semantics.DedupIDLast, sum, "op/0")
	b.start(1)
	b.step(answered(model.LoadIDs, model.Answer{Seq: -1}))
	require.Equal(t, "call get!", b.step(first(5, 0)))
	require.Equal(t, "applied 0; call put 1!; send data 0 to sink/0; after",
		b.step(answered(model.Get, model.Answer{})))
	require.Equal(t, "call mark 5!", b.step(ack(0, 1)))
	require.Equal(t, "send ack 5 to source/0", b.step(answered(model.Mark, model.Answer{})))

	b = newBench(t, &semantics.DedupIDLast, sum, "sink/0")
	b.start(1)
	b.step(answered(model.LoadIDs, model.Answer{Seq: -1}))
	require.Equal(t, "call write 1!", b.step(first(5, 0)))
	require.Equal(t, "call mark 5!", b.step(answered(model.Write, model.Answer{})))
	require.Equal(t, "send ack 5 to op/0", b.step(answered(model.Mark, model.Answer{})))
}
