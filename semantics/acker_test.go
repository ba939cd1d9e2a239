package semantics_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/semantics"
)

// twice emits its input two times.
var twice = &model.Operator{Name: "twice",
	Step: func(in model.Record, st model.Value, out *model.Outputs) model.Value {
		out.Emit(in.Key, in.Value)
		out.Emit(in.Key, in.Value)
		return st
	}}

// troupe is the source, the operator, the sink and the acker of one job, without a network: a test
// hands messages on as it likes.
type troupe struct {
	t       *testing.T
	benches []*bench
}

func newTroupe(t *testing.T, op *model.Operator, set ...model.ParamValue) *troupe {
	tr := &troupe{t: t}
	for _, task := range []string{"source/0", "op/0", "sink/0", "acker/0"} {
		b := newBench(t, &semantics.Acker, op, task, set...)
		b.start(1)
		tr.benches = append(tr.benches, b)
	}
	tr.benches[0].step(answered(model.Position, model.Answer{}))
	return tr
}

// deliver lets a process handle an event and hands the messages on that come of it, and so forth,
// except to the acker. It returns what was on its way there, depth first.
func (tr *troupe) deliver(from int, ev model.Event) (acks []model.Event) {
	var s model.Script
	tr.benches[from].proc.Step(&ev, &s)
	for _, e := range s.Effects {
		if e.Kind != model.EffectSend {
			continue
		}
		next := model.Event{Kind: model.Delivered, From: model.ProcID(from), Msg: e.Msg}
		if int(e.To) == len(tr.benches)-1 {
			acks = append(acks, next)
			continue
		}
		acks = append(acks, tr.deliver(int(e.To), next)...)
	}
	return acks
}

// begin lets the source begin the trees of n records and returns all acknowledgements.
func (tr *troupe) begin(n int64) []model.Event { return tr.deliver(0, batch(0, n, true)) }

// told is what the acker sends to the source when it takes an acknowledgement.
func (tr *troupe) told(ack model.Event) (told []model.Message) {
	var s model.Script
	tr.benches[3].proc.Step(&ack, &s)
	for _, e := range s.Effects {
		if e.Kind == model.EffectSend {
			require.Equal(tr.t, model.ProcID(0), e.To)
			require.Equal(tr.t, model.Ack, e.Msg.Kind)
			told = append(told, e.Msg)
		}
	}
	return told
}

// A tree is finished when the acker's number for it is zero, and not before the last
// acknowledgement is in, whichever it is. Reference: Acker.java, where the entry of a tree is made
// by whatever comes first, its init or not.
func TestAcker_TreeIsFinishedInAnyOrder(t *testing.T) {
	for _, order := range [][]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1},
		{2, 1, 0}} {
		tr := newTroupe(t, sumless())
		acks := tr.begin(1)
		require.Len(t, acks, 3, "of sink, operator and source")
		require.Empty(t, tr.told(acks[order[0]]))
		require.Empty(t, tr.told(acks[order[1]]))
		told := tr.told(acks[order[2]])
		require.Len(t, told, 1, order)
		require.Equal(t, acks[0].Msg.Seq, told[0].Seq)
	}
}

// sumless is a stateless operator that emits what comes.
func sumless() *model.Operator {
	return &model.Operator{Name: "same",
		Step: func(in model.Record, st model.Value, out *model.Outputs) model.Value {
			out.Emit(in.Key, in.Value)
			return st
		}}
}

// Trees do not disturb each other, and one with two leaves waits for both.
func TestAcker_TreesAreApart(t *testing.T) {
	tr := newTroupe(t, twice)
	acks := tr.begin(2)
	require.Len(t, acks, 8)
	missing := acks[0]
	finished := 0
	for _, ack := range acks[1:] {
		finished += len(tr.told(ack))
	}
	require.Equal(t, 1, finished, "of the first tree one leaf is missing")
	require.Len(t, tr.told(missing), 1)
}

// Zero is all that the acker knows. With ids of one bit the two children of a tuple cancel each
// other out, and their tree is finished before they are.
func TestAcker_FewBitsFinishByAccident(t *testing.T) {
	tr := newTroupe(t, twice, model.ParamValue{Name: "id-bits", Value: 1})
	acks := tr.begin(1)
	require.Len(t, acks, 4)
	operator, source := acks[2], acks[3]
	require.Empty(t, tr.told(source))
	require.Len(t, tr.told(operator), 1, "no sink has said a word")
}

// The init of a tree, taken twice, is taken for a finished tree.
func TestAcker_DoubledInit(t *testing.T) {
	tr := newTroupe(t, sumless())
	source := tr.begin(1)[2]
	require.Empty(t, tr.told(source))
	require.Len(t, tr.told(source), 1)
}

// An entry lives for three ticks; when none is left, no timer runs.
func TestAcker_ForgetsByAge(t *testing.T) {
	b := newBench(t, &semantics.Acker, sum, "acker/0")
	require.Equal(t, "", b.start(1))
	tick := model.Event{Kind: model.TimerFired}
	require.Equal(t, "after", b.step(ack(7, 99)))
	require.Equal(t, "after", b.step(tick))
	require.Equal(t, "", b.step(ack(8, 99)), "the timer runs")
	require.Equal(t, "after", b.step(tick))
	require.Equal(t, "after", b.step(tick), "tree 7 is gone, tree 8 is not")
	require.Equal(t, "", b.step(tick))
	init := ack(7, 99)
	init.Msg.N = 1
	require.Equal(t, "after", b.step(init), "its init finds nothing")
	require.Panics(t, func() { b.step(data(0, 0, 1)) })
}

const firstTree = 1 << 32 // of attempt 1

// The source tells the acker of each root, and commits behind what the acker calls finished.
func TestAcker_Spout(t *testing.T) {
	b := newBench(t, &semantics.Acker, sum, "source/0",
		model.ParamValue{Name: "commit-every", Value: 1},
		model.ParamValue{Name: "window", Value: 2})
	require.Equal(t, "call position 0!", b.start(1))
	require.Equal(t, "call fetch 0!", b.step(answered(model.Position, model.Answer{})))
	require.Equal(t, "send data 4294967296 to op/0; send ack 4294967296 to acker/0; "+
		"send data 4294967297 to op/0; send ack 4294967297 to acker/0; after",
		b.step(batch(0, 3, true)))
	require.Equal(t, "", b.step(ack(firstTree+1, 0)), "record 0 is not finished: position 0 stays")
	require.Equal(t, "call offset-commit 2!; send data 4294967298 to op/0; "+
		"send ack 4294967298 to acker/0", b.step(ack(firstTree, 0)))
	require.Equal(t, "", b.step(ack(firstTree, 0)), "a second one finishes nothing")
	require.Equal(t, "call offset-commit 3!", b.step(ack(firstTree+2, 0)))
}

// A tree that is not finished in time is given up for a new one, without any failure. A record
// that was begun after the timer was set has time until the next one.
func TestAcker_UnfinishedIsBegunAnew(t *testing.T) {
	b := newBench(t, &semantics.Acker, sum, "source/0",
		model.ParamValue{Name: "commit-every", Value: 1})
	b.start(1)
	b.step(answered(model.Position, model.Answer{}))
	b.step(batch(0, 1, false))
	require.Equal(t, "send data 4294967297 to op/0; send ack 4294967297 to acker/0",
		b.step(batch(1, 1, true)))
	due := model.Event{Kind: model.TimerFired}
	require.Equal(t, "send data 4294967298 to op/0; send ack 4294967298 to acker/0; after",
		b.step(due), "record 0 under its second tree")
	require.Equal(t, "", b.step(ack(firstTree, 0)), "the first tree comes too late")
	require.Equal(t, "", b.step(ack(firstTree+1, 0)))
	require.Equal(t, "call offset-commit 2!", b.step(ack(firstTree+2, 0)))
	require.Equal(t, "", b.step(due), "nothing is missing, no timer runs")
}

// State first, then the children, then the acknowledgement; a dropped record is acknowledged too.
func TestAcker_OperatorOrder(t *testing.T) {
	b := newBench(t, &semantics.Acker, sum, "op/0")
	require.Equal(t, "", b.start(1))
	require.Equal(t, "call get!", b.step(data(7, 0, 3)))
	require.Equal(t, "applied 0; call put 11!; send data 7 to sink/0; send ack 7 to acker/0",
		b.step(answered(model.Get, model.Answer{Found: true, Value: model.Value{Num: 10}})))
	require.Equal(t, "", b.step(answered(model.Put, model.Answer{})))
	b = newBench(t, &semantics.Acker, filter, "op/0")
	b.start(1)
	require.Equal(t, "applied 1; send ack 4 to acker/0", b.step(data(4, 1, 1)))
	b = newBench(t, &semantics.Acker, sum, "sink/0")
	b.start(1)
	require.Equal(t, "call write 1!; send ack 4 to acker/0", b.step(data(4, 0, 1)))
}
