package semantics_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/semantics"
)

// The tests of this file feed a process with events and compare the effects that it answers with,
// written as one line. No simulator is involved: what a mode promises can be read off its scripts.

var sum = &model.Operator{Name: "sum", Kind: model.Commutative,
	Step: func(in model.Record, st model.Value, out *model.Outputs) model.Value {
		st.Num += in.Value.Num
		out.Emit(in.Key, st)
		return st
	}}

var filter = &model.Operator{Name: "filter",
	Step: func(in model.Record, st model.Value, out *model.Outputs) model.Value {
		if in.Value.Num%2 == 0 {
			out.Drop("even")
			return st
		}
		out.Emit(in.Key, in.Value)
		return st
	}}

// bench holds one process and the lines of the effects that it has answered with so far.
type bench struct {
	t    *testing.T
	job  *model.Job
	proc model.Process
}

// newBench makes the process of a task and starts it under attempt 1.
func newBench(t *testing.T, mode *model.Mode, op *model.Operator, task string,
	set ...model.ParamValue) *bench {
	top := &model.Topology{Name: "test", Inputs: []model.InputSpec{{Name: "input"}},
		Stages: []model.Stage{{Name: "op", Operator: op, From: []string{"input"}}}}
	require.NoError(t, top.Validate())
	params := append([]model.ParamValue(nil), set...)
	for _, p := range mode.Params {
		params = append(params, model.ParamValue{Name: p.Name, Value: p.Default})
	}
	b := &bench{t: t, job: model.NewJob(top, params, mode.Extra...)}
	b.proc = mode.New(b.job, &b.job.Tasks[b.job.Find(task)])
	return b
}

// start begins life n and returns its first effects.
func (b *bench) start(n int32) string {
	var s model.Script
	b.proc.Start(model.Self{Attempt: n, Life: n}, &s)
	return b.line(&s)
}

func (b *bench) step(ev model.Event) string {
	var s model.Script
	b.proc.Step(&ev, &s)
	return b.line(&s)
}

// line renders effects: "call offset-commit 3!; send data 0 to op/0". The mark ! is UntilDone.
func (b *bench) line(s *model.Script) string {
	var parts []string
	for _, e := range s.Effects {
		text := ""
		switch e.Kind {
		case model.EffectSend:
			text = fmt.Sprintf("send %s %d to %s", e.Msg.Kind, e.Msg.Seq, b.job.Tasks[e.To].Name)
			if e.Msg.Kind != model.Acknowledge && e.Msg.Flags&model.Idle != 0 {
				text += " as the last"
			}
		case model.EffectCall, model.EffectBegin:
			text = request(&e)
		case model.EffectAfter:
			text = "after"
		case model.EffectApplied:
			text = fmt.Sprintf("applied %d", e.Msg.Record.ID.Offset)
		case model.EffectFail:
			text = "fail: " + e.Reason
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "; ")
}

// request renders a call: "call put 3!"; about a transaction "call commit-txn 1.2 for 5", the id
// being that of the second transaction of attempt 1; with the parts of a request in brackets, state
// as k=value, what is in flight behind a bar by its offset, everything else as @offset.
func request(e *model.Effect) string {
	m, text := &e.Msg, "call "+e.Msg.Kind.String()
	if e.Kind == model.EffectBegin {
		text = "begin " + m.Kind.String()
	}
	txn := fmt.Sprintf("%d.%d", m.Token>>32, m.Token&(1<<32-1))
	switch {
	case m.Kind == model.Write && m.Flags&model.Fenced != 0 && m.Token != 0:
		text += fmt.Sprintf(" %d of %s", m.Cursor, txn)
	case m.Kind == model.InitTxn, m.Kind == model.BeginTxn && m.N == 1: // the first of its id
		text += " " + txn
	case m.Kind == model.BeginTxn:
		text += fmt.Sprintf(" %s/%d", txn, m.N)
	case m.Flags&model.Whole != 0:
		text += fmt.Sprintf(" all for %d", m.Seq)
	case m.Kind == model.PrepareTxn, m.Kind == model.CommitTxn, m.Kind == model.AbortTxn:
		text += fmt.Sprintf(" %s for %d", txn, m.Seq)
	case m.Kind == model.WriteBatch:
		text += fmt.Sprintf(" %d", m.Token)
	case m.Kind == model.Completion:
		text += fmt.Sprintf(" %d over %d", m.Seq, m.Cursor)
	case m.Kind != model.Get && m.Kind != model.ListTxns:
		text += fmt.Sprintf(" %d", m.Seq+m.Record.Value.Num)
	}
	if e.UntilDone {
		text += "!"
	}
	if m.Kind == model.Upload || m.Kind != model.Update && len(m.Parts) > 0 {
		text += " [" + parts(m) + "]"
	}
	return text
}

func parts(m *model.Message) string {
	var words []string
	for i := range m.Parts {
		part := &m.Parts[i]
		switch {
		case m.Kind == model.Upload && int64(i) >= m.N:
			words = append(words, fmt.Sprintf("| %d", part.ID.Offset))
		case part.Key != "":
			words = append(words, fmt.Sprintf("%s=%d", part.Key, part.Value.Num))
		default:
			words = append(words, fmt.Sprintf("@%d", part.ID.Offset))
		}
	}
	return strings.Join(words, " ")
}

// records makes n records with the values 1 to n.
func records(from, n int64) []model.Record {
	var list []model.Record
	for i := from; i < from+n; i++ {
		list = append(list, model.Record{ID: model.ID{Offset: i}, Key: "k",
			Value: model.Value{Num: i + 1}})
	}
	return list
}

func answered(kind model.Kind, ans model.Answer) model.Event {
	ans.Outcome = model.Done
	return model.Event{Kind: model.Answered, Msg: model.Message{Kind: kind,
		Record: model.Record{Key: "k"}}, Ans: ans}
}

func batch(from, n int64, end bool) model.Event {
	return answered(model.Fetch, model.Answer{Seq: from, N: n, End: end,
		Records: records(from, n)})
}

func data(seq, offset, attempt int64) model.Event {
	return model.Event{Kind: model.Delivered, Msg: model.Message{Kind: model.Data, Seq: seq,
		Attempt: int32(attempt), Record: records(offset, 1)[0]}}
}

func ack(seq, token int64) model.Event {
	return model.Event{Kind: model.Delivered, Msg: model.Message{Kind: model.Ack, Seq: seq,
		Token: token}}
}

// "Save the position, then process": the commit stands before the sends, for the whole batch, and
// is repeated until done.
func TestAtMostOnce_CommitsBeforeItHandsOut(t *testing.T) {
	b := newBench(t, &semantics.AtMostOnce, sum, "source/0")
	require.Equal(t, "call position 0!", b.start(1))
	require.Equal(t, "call fetch 5!", b.step(answered(model.Position, model.Answer{Seq: 5})))
	require.Equal(t, "call offset-commit 8!; send data 0 to op/0; send data 0 to op/0; "+
		"send data 0 to op/0; call fetch 8!", b.step(batch(5, 3, false)))
	require.Equal(t, "", b.step(answered(model.OffsetCommit, model.Answer{})))
}

// "Process, then save the position": nothing is committed before the acknowledgements are in.
func TestAtLeastOnce_CommitsAfterAcknowledgements(t *testing.T) {
	b := newBench(t, &semantics.AtLeastOnce, sum, "source/0",
		model.ParamValue{Name: "commit-every", Value: 1})
	b.start(1)
	require.Equal(t, "call fetch 0!", b.step(answered(model.Position, model.Answer{})))
	require.Equal(t, "send data 0 to op/0; after; send data 1 to op/0",
		b.step(batch(0, 2, true)))
	require.Equal(t, "", b.step(ack(1, 1)), "record 0 is not finished: position 0 stays")
	require.Equal(t, "call offset-commit 2!", b.step(ack(0, 1)), "now both are")
}

// The commit covers commit-every records, or the rest when the input ends.
func TestAtLeastOnce_CommitEvery(t *testing.T) {
	b := newBench(t, &semantics.AtLeastOnce, sum, "source/0",
		model.ParamValue{Name: "commit-every", Value: 2})
	b.start(1)
	b.step(answered(model.Position, model.Answer{}))
	b.step(batch(0, 3, true))
	require.Equal(t, "", b.step(ack(0, 1)))
	require.Equal(t, "call offset-commit 2!", b.step(ack(1, 1)))
	require.Equal(t, "call offset-commit 3!", b.step(ack(2, 1)))
}

// A source has no more than a window of records unacknowledged, and fetches when it runs dry.
func TestAtLeastOnce_Window(t *testing.T) {
	b := newBench(t, &semantics.AtLeastOnce, sum, "source/0",
		model.ParamValue{Name: "window", Value: 2},
		model.ParamValue{Name: "commit-every", Value: 9})
	b.start(1)
	b.step(answered(model.Position, model.Answer{}))
	require.Equal(t, "send data 0 to op/0; after; send data 1 to op/0", b.step(batch(0, 3, false)))
	require.Equal(t, "", b.step(ack(1, 1)), "record 0 holds the window")
	require.Equal(t, "send data 2 to op/0; call fetch 3!", b.step(ack(0, 1)))
}

// What is not acknowledged in time is sent again, in order; what is, is not.
func TestAtLeastOnce_ResendsWhatIsMissing(t *testing.T) {
	b := newBench(t, &semantics.AtLeastOnce, sum, "source/0")
	b.start(1)
	b.step(answered(model.Position, model.Answer{}))
	b.step(batch(0, 3, true))
	b.step(ack(1, 1))
	due := model.Event{Kind: model.TimerFired}
	require.Equal(t, "send data 0 to op/0; send data 2 to op/0; after", b.step(due))
	b.step(ack(0, 1))
	b.step(ack(2, 1))
	require.Equal(t, "", b.step(due), "nothing is missing, no timer runs")
}

// An acknowledgement of what an earlier life had sent is not taken for one of this life's.
func TestAtLeastOnce_IgnoresAcknowledgementsOfEarlierLives(t *testing.T) {
	b := newBench(t, &semantics.AtLeastOnce, sum, "source/0",
		model.ParamValue{Name: "commit-every", Value: 1})
	b.start(2)
	b.step(answered(model.Position, model.Answer{}))
	b.step(batch(0, 1, true))
	require.Equal(t, "", b.step(ack(0, 1)))
	require.Equal(t, "call offset-commit 1!", b.step(ack(0, 2)))
	require.Equal(t, "", b.step(ack(0, 2)), "a second one settles nothing")
}

// State is read once a life, written through before anything is sent, and the input is
// acknowledged only when its outputs are.
func TestAtLeastOnce_OperatorOrder(t *testing.T) {
	b := newBench(t, &semantics.AtLeastOnce, sum, "op/0")
	require.Equal(t, "", b.start(1))
	require.Equal(t, "call get!", b.step(data(7, 0, 3)))
	require.Equal(t, "applied 0; call put 11!; send data 0 to sink/0; after",
		b.step(answered(model.Get, model.Answer{Found: true, Value: model.Value{Num: 10}})))
	require.Equal(t, "", b.step(answered(model.Put, model.Answer{})))
	require.Equal(t, "applied 1; call put 13!; send data 1 to sink/0", b.step(data(8, 1, 3)))
	require.Equal(t, "send ack 8 to source/0", b.step(ack(1, 1)))
	require.Equal(t, "send ack 7 to source/0", b.step(ack(0, 1)))
}

// A record that emits nothing is finished when it is applied.
func TestAtLeastOnce_DroppedRecordIsAcknowledgedAtOnce(t *testing.T) {
	b := newBench(t, &semantics.AtLeastOnce, filter, "op/0")
	b.start(1)
	require.Equal(t, "applied 1; send ack 4 to source/0", b.step(data(4, 1, 1)))
}

// The sink repeats a write until it is done, then acknowledges; at most once does neither.
func TestSinks_Write(t *testing.T) {
	b := newBench(t, &semantics.AtLeastOnce, sum, "sink/0")
	b.start(1)
	require.Equal(t, "call write 1!; send ack 4 to op/0", b.step(data(4, 0, 1)))
	b = newBench(t, &semantics.AtMostOnce, sum, "sink/0")
	b.start(1)
	require.Equal(t, "call write 1", b.step(data(4, 0, 1)))
}

// "No effort to recover": a source begins at the end of what has arrived and commits nothing; an
// operator begins with empty state and never touches the store.
func TestNone_RemembersNothing(t *testing.T) {
	b := newBench(t, &semantics.None, sum, "source/0")
	require.Equal(t, "call latest 0!", b.start(1))
	require.Equal(t, "call fetch 5!", b.step(answered(model.Latest, model.Answer{Seq: 5})))
	require.Equal(t, "send data 0 to op/0; call fetch 6!", b.step(batch(5, 1, false)))
	require.Equal(t, "after", b.step(batch(6, 0, false)), "nothing yet: ask again later")
	require.Equal(t, "", b.step(batch(6, 0, true)), "the input ends")
	b = newBench(t, &semantics.None, sum, "op/0")
	b.start(1)
	require.Equal(t, "applied 0; send data 0 to sink/0", b.step(data(0, 0, 1)))
}

// A restarted process is as if newly made, whatever it did before.
func TestModes_StartForgets(t *testing.T) {
	for _, mode := range semantics.All() {
		for _, task := range []string{"source/0", "op/0", "sink/0"} {
			used, fresh := newBench(t, mode, sum, task), newBench(t, mode, sum, task)
			used.start(1)
			live(used, mode, task)
			require.Equal(t, fresh.start(3), used.start(3), "%s %s", mode.Name, task)
			var a, b model.Codec
			used.proc.State(&a)
			fresh.proc.State(&b)
			require.Equal(t, b.Bytes(), a.Bytes(), "%s %s", mode.Name, task)
		}
	}
}

// live lets a process that was started do something worth forgetting.
func live(b *bench, mode *model.Mode, task string) {
	isSource := task == "source/0"
	switch {
	case mode.Restart == model.RestartJob || mode.State == model.Snapshotted:
		b.step(notice(model.Restore, 0))
		if isSource && mode != &semantics.IndependentSnapshots {
			trigger := notice(model.Trigger, 1)
			trigger.Msg.N = 2
			b.step(trigger)
		}
		if isSource {
			b.step(batch(0, 2, false))
			return
		}
		b.step(data(0, 0, 1))
	case isSource:
		kind := model.Position
		if mode == &semantics.None {
			kind = model.Latest
		}
		b.step(answered(kind, model.Answer{Seq: 2}))
		b.step(batch(2, 2, false))
	default:
		b.step(data(0, 0, 1))
	}
}

// A process panics on an event that no protocol sends it.
func TestModes_PanicOnWhatCannotHappen(t *testing.T) {
	for _, mode := range semantics.All() {
		for _, task := range []string{"source/0", "op/0"} {
			b := newBench(t, mode, sum, task)
			b.start(1)
			require.Panics(t, func() { b.step(answered(model.Read, model.Answer{})) },
				"%s %s", mode.Name, task)
		}
	}
}

// Every mode says what it is, and declares its parameters within their ranges.
func TestModes_Declarations(t *testing.T) {
	names := map[string]bool{}
	for _, mode := range semantics.All() {
		require.NotEmpty(t, mode.Says)
		require.NotEmpty(t, mode.Source)
		require.NotEmpty(t, mode.Claims)
		require.False(t, names[mode.Name])
		names[mode.Name] = true
		for _, p := range mode.Params {
			require.NotEmpty(t, p.Says)
			require.LessOrEqual(t, p.Min, p.Default)
			require.LessOrEqual(t, p.Default, p.Max)
			require.Same(t, mode.Param(p.Name), mode.Param(p.Name))
		}
		require.Nil(t, mode.Param("no such"))
	}
}
