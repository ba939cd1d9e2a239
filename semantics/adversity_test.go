package semantics_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/semantics"
)

// The tests of this file are about what all modes meet: services that refuse, an input that is
// gone, records that cannot be processed.

func refused(kind model.Kind) model.Event {
	ev := answered(kind, model.Answer{})
	ev.Ans.Outcome = model.Refused
	return ev
}

// A task whose request is refused fails and begins anew. Where a mode may lose, a refused write is
// a loss and nothing more. A refused commit is not, since what follows it would repeat, nor is a
// refused put, since its output would tell of a state that is not there.
func TestModes_Refused(t *testing.T) {
	for _, tc := range []struct {
		modes  []*model.Mode
		task   string
		before []model.Event
		call   model.Kind
		want   string
	}{
		{replaying(), "source/0", nil, model.Position, "fail: position refused"},
		{replaying(), "source/0", nil, model.Fetch, "fail: fetch refused"},
		{replaying(), "source/0", nil, model.OffsetCommit, "fail: offset-commit refused"},
		{replaying(), "op/0", []model.Event{data(0, 0, 1)}, model.Get, "fail: get refused"},
		{replaying(), "op/0", []model.Event{data(0, 0, 1)}, model.Put, "fail: put refused"},
		{replaying(), "sink/0", []model.Event{data(0, 0, 1)}, model.Write, "fail: write refused"},
		{losing(), "source/0", nil, model.Fetch, "fail: fetch refused"},
		{losing(), "sink/0", []model.Event{data(0, 0, 1)}, model.Write, ""},
		{losing()[:1], "source/0", nil, model.Latest, "fail: latest refused"},
		{losing()[1:], "source/0", nil, model.Position, "fail: position refused"},
		{losing()[1:], "source/0", nil, model.OffsetCommit, "fail: offset-commit refused"},
		{losing()[1:], "op/0", []model.Event{data(0, 0, 1)}, model.Get, "fail: get refused"},
		{losing()[1:], "op/0", []model.Event{data(0, 0, 1)}, model.Put, "fail: put refused"},
	} {
		for _, mode := range tc.modes {
			b := newBench(t, mode, sum, tc.task)
			b.start(1)
			for _, ev := range tc.before {
				b.step(ev)
			}
			require.Equal(t, tc.want, b.step(refused(tc.call)), "%s %s", mode.Name, tc.call)
		}
	}
}

// losing are the modes that may lose, replaying those that repeat until nothing is missing.
func losing() []*model.Mode { return []*model.Mode{&semantics.None, &semantics.AtMostOnce} }

func replaying() []*model.Mode {
	return []*model.Mode{&semantics.AtLeastOnce, &semantics.Acker, &semantics.Idempotent,
		&semantics.IdempotentByKey}
}

// What is gone from the input is skipped (auto.offset.reset=earliest): the position moves over the
// gap when all before it is finished.
func TestAtLeastOnce_SkipsWhatIsGone(t *testing.T) {
	b := newBench(t, &semantics.AtLeastOnce, sum, "source/0",
		model.ParamValue{Name: "commit-every", Value: 1})
	b.start(1)
	b.step(answered(model.Position, model.Answer{}))
	require.Equal(t, "send data 0 to op/0; after; send data 1 to op/0; call fetch 2!",
		b.step(batch(0, 2, false)))
	require.Equal(t, "send data 2 to op/0; send data 3 to op/0", b.step(batch(10, 2, true)))
	require.Equal(t, "", b.step(ack(2, 1)), "record 10 is finished, record 0 is not")
	require.Equal(t, "call offset-commit 1!", b.step(ack(0, 1)))
	require.Equal(t, "call offset-commit 11!", b.step(ack(1, 1)), "over the gap and record 10")
	require.Equal(t, "call offset-commit 12!", b.step(ack(3, 1)))
}

// The acker's source does so too.
func TestAcker_SkipsWhatIsGone(t *testing.T) {
	b := newBench(t, &semantics.Acker, sum, "source/0",
		model.ParamValue{Name: "commit-every", Value: 1})
	b.start(1)
	b.step(answered(model.Position, model.Answer{}))
	b.step(batch(0, 1, false))
	b.step(batch(10, 1, true))
	require.Equal(t, "call offset-commit 10!", b.step(ack(firstTree, 0)))
	require.Equal(t, "call offset-commit 11!", b.step(ack(firstTree+1, 0)))
}

// Where everything is gone up to the end, the position moves there and nothing is handed out.
func TestModes_EverythingIsGone(t *testing.T) {
	for _, mode := range append(replaying(), &semantics.AtMostOnce) {
		b := newBench(t, mode, sum, "source/0")
		b.start(1)
		require.Equal(t, "call fetch 2!", b.step(answered(model.Position, model.Answer{Seq: 2})))
		require.Equal(t, "call offset-commit 5!", b.step(batch(5, 0, true)), mode.Name)
	}
}

// At most once commits behind the gap, also where nothing has arrived behind it yet.
func TestAtMostOnce_SkipsWhatIsGone(t *testing.T) {
	b := newBench(t, &semantics.AtMostOnce, sum, "source/0")
	b.start(1)
	b.step(answered(model.Position, model.Answer{}))
	require.Equal(t, "after; call offset-commit 5!", b.step(batch(5, 0, false)))
	require.Equal(t, "call fetch 5!", b.step(model.Event{Kind: model.TimerFired, Token: -1}))
	require.Equal(t, "call offset-commit 8!; send data 0 to op/0; call fetch 8!",
		b.step(batch(7, 1, false)))
}

// A record that fails every time ends the life, again and again where it is repeated. Set aside, it
// is a record without outputs: state stays, nothing is sent, and it is finished at once.
func TestModes_PoisonedRecord(t *testing.T) {
	poison := data(4, 0, 1)
	poison.Msg.Flags |= model.Poisoned
	aside := model.ParamValue{Name: "dead-letter", Value: 1}
	state := answered(model.Get, model.Answer{Found: true, Value: model.Value{Num: 10}})
	for mode, want := range map[*model.Mode]string{
		&semantics.None:            "applied 0",
		&semantics.AtMostOnce:      "applied 0",
		&semantics.AtLeastOnce:     "applied 0; send ack 4 to source/0",
		&semantics.Acker:           "applied 0; send ack 4 to acker/0",
		&semantics.Idempotent:      "applied 0; send ack 4 to source/0",
		&semantics.IdempotentByKey: "applied 0; send ack 4 to source/0",
	} {
		for _, set := range [][]model.ParamValue{nil, {aside}} {
			b := newBench(t, mode, sum, "op/0", set...)
			b.start(1)
			got := b.step(poison)
			if mode != &semantics.None {
				require.Equal(t, "call get!", got)
				got = b.step(state)
			}
			if set == nil {
				require.Equal(t, "fail: poison", got, mode.Name)
				continue
			}
			require.Equal(t, want, got, mode.Name)
			healthy := b.step(data(5, 1, 1))
			require.Contains(t, healthy, "applied 1", mode.Name)
			require.Contains(t, healthy, "to sink/0", mode.Name)
		}
	}
}
