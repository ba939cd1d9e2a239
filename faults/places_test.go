package faults

import (
	"fmt"
	"iter"
	"slices"
	"testing"

	"github.com/oncesim/oncesim/model"
	"github.com/stretchr/testify/require"
)

// A Places is ranged over like any sequence.
var _ iter.Seq[model.Rule] = Places{}.Each

// lines prints all places of newJob(2).
func lines(s Places) []string {
	var list []string
	for rule := range s.Each {
		list = append(list, FromRule(newJob(2), rule).String())
	}
	return list
}

// All places of a run in which op/0 has two effects, the second of which is a put.
func TestPlaces_crash(t *testing.T) {
	extent := &model.Extent{Effects: []int64{0, 0, 2},
		Calls: [][]int64{{}, {}, calls(model.Put, 1)}}
	require.Equal(t, []string{
		"crash op/0 before effect 1",
		"crash op/0 after effect 1",
		"crash op/0 before effect 2",
		"crash op/0 after effect 2",
		"crash op/0 during put 1",
		"crash op/0 before ack of put 1",
		"crash op/0 after put 1",
	}, lines(Places{Action: model.Crash, Extent: extent}))
}

func TestPlaces_calls(t *testing.T) {
	want := []string{
		"delay call position 1 of source/0 by 3ms",
		"delay call fetch 1 of source/0 by 3ms",
		"delay call fetch 2 of source/0 by 3ms",
		"delay call offset-commit 1 of source/0 by 3ms",
		"delay call get 1 of op/0 by 3ms",
		"delay call put 1 of op/0 by 3ms",
		"delay call put 2 of op/0 by 3ms",
		"delay call write 1 of sink/0 by 3ms",
		"delay call write 2 of sink/0 by 3ms",
		"delay call write 3 of sink/0 by 3ms",
	}
	require.Equal(t, want,
		lines(Places{Action: model.DelayRequest, For: 3_000_000, Extent: newExtent()}))
}

// By sender, then by receiver, data before acknowledgements.
func TestPlaces_messages(t *testing.T) {
	require.Equal(t, []string{
		"lose data 1 from source/0 to op/0",
		"lose data 2 from source/0 to op/0",
		"lose data 3 from source/0 to op/0",
		"lose ack 1 from op/0 to source/0",
		"lose ack 2 from op/0 to source/0",
		"lose data 1 from op/0 to sink/0",
		"lose data 1 from op/1 to sink/1",
		"lose ack 1 from sink/0 to op/0",
		"lose ack 2 from sink/0 to op/0",
	}, lines(Places{Action: model.LoseMessage, Extent: newExtent()}))
}

// From each request, from its answer, and from each message on.
func TestPlaces_partition(t *testing.T) {
	extent := &model.Extent{Effects: []int64{0, 0, 2, 0, 0, 0},
		Calls:    [][]int64{{}, {}, calls(model.Put, 2), {}, {}, {}},
		Messages: [][]int64{{}, {}, messages(6, 0, model.Ack, 1, 4, model.Data, 1), {}, {}, {}}}
	require.Equal(t, []string{
		"partition op/0 | store for 3ms at put 1",
		"partition op/0 | store for 3ms at answer of put 1",
		"partition op/0 | store for 3ms at put 2",
		"partition op/0 | store for 3ms at answer of put 2",
		"partition op/0 | source/0 for 3ms at ack 1",
		"partition op/0 | sink/0 for 3ms at data 1",
	}, lines(Places{Action: model.CutLink, For: 3_000_000, Extent: extent}))
	require.Equal(t, []string{
		"crash store for 3ms at put 1 of op/0",
		"crash store for 3ms at put 2 of op/0",
	}, lines(Places{Action: model.CrashService, For: 3_000_000, Extent: extent}))
}

// Before each offset of a partition at each fetch of its source, the whole partition included.
func TestPlaces_truncate(t *testing.T) {
	require.Equal(t, []string{
		"truncate input/0 before 1 at fetch 1 of source/0",
		"truncate input/0 before 2 at fetch 1 of source/0",
		"truncate input/0 before 3 at fetch 1 of source/0",
		"truncate input/0 before 1 at fetch 2 of source/0",
		"truncate input/0 before 2 at fetch 2 of source/0",
		"truncate input/0 before 3 at fetch 2 of source/0",
	}, lines(Places{Action: model.TruncateInput, Extent: newExtent()}))
}

func TestPlaces_poison(t *testing.T) {
	require.Equal(t, []string{
		"poison record input/0:1 at op/0",
		"poison record input/1:0 at op/0",
		"poison record input/0:2 at op/1",
	}, lines(Places{Action: model.PoisonRecord, Extent: newExtent()}))
}

// Only what changes something can be forgotten, and only what was changed can be stale.
func TestPlaces_fittingCalls(t *testing.T) {
	require.Equal(t, []string{
		"forget call offset-commit 1 of source/0",
		"forget call put 1 of op/0",
		"forget call put 2 of op/0",
		"forget call write 1 of sink/0",
		"forget call write 2 of sink/0",
		"forget call write 3 of sink/0",
	}, lines(Places{Action: model.ForgetRequest, Extent: newExtent()}))
	require.Equal(t, []string{
		"stale call position 1 of source/0",
		"stale call fetch 1 of source/0",
		"stale call fetch 2 of source/0",
		"stale call get 1 of op/0",
	}, lines(Places{Action: model.StaleRead, Extent: newExtent()}))
}

// Only an upload can be torn.
func TestPlaces_tear(t *testing.T) {
	extent := newExtent()
	require.Empty(t, lines(Places{Action: model.TearRequest, Extent: extent}))
	extent.Calls[2] = calls(model.Upload, 2, model.Download, 1)
	require.Equal(t, []string{
		"tear call upload 1 of op/0",
		"tear call upload 2 of op/0",
	}, lines(Places{Action: model.TearRequest, Extent: extent}))
}

// newBusyExtent is newExtent with a barrier, and a notice that op/0 sends.
func newBusyExtent() *model.Extent {
	extent := newExtent()
	extent.Messages[0][model.MessageIndex(2, model.Barrier)] = 2
	extent.Messages[2][model.MessageIndex(5, model.Acknowledge)] = 1
	return extent
}

// Of the kinds that are asked for, and of nothing else.
func TestPlaces_kinds(t *testing.T) {
	numbers := func(s Places) []string {
		var list []string
		for rule := range s.Each {
			rule.Validate()
			list = append(list, fmt.Sprintf("%s %d of %d", rule.Call, rule.N, rule.Proc))
		}
		require.EqualValues(t, s.Len(), len(list))
		return list
	}
	lose := Places{Action: model.LoseMessage, Extent: newBusyExtent(),
		Kinds: []model.Kind{model.Barrier}}
	require.Equal(t, []string{"barrier 1 of 0", "barrier 2 of 0"}, numbers(lose))
	lose.Kinds = []model.Kind{model.Trigger, model.Acknowledge}
	require.Equal(t, []string{"acknowledge 1 of 2"}, numbers(lose))

	plain := Places{Action: model.LoseMessage, Extent: newExtent()}
	lose.Kinds = []model.Kind{model.Data, model.Ack}
	require.Equal(t, lines(plain), lines(lose))
	lose.Kinds = nil
	require.Equal(t, plain.Len()+3, lose.Len())

	delay := Places{Action: model.DelayRequest, For: 1, Extent: newBusyExtent(),
		Kinds: []model.Kind{model.Put, model.CommitTxn}}
	require.Equal(t, []string{"put 1 of 2", "put 2 of 2"}, numbers(delay))
	cut := Places{Action: model.CutLink, For: 1, Extent: newBusyExtent(),
		Kinds: []model.Kind{model.Barrier, model.Get}}
	require.Equal(t, []string{"barrier 1 of 0", "barrier 2 of 0", "get 1 of 2", "get 1 of 2"},
		numbers(cut))

	crash := Places{Action: model.Crash, Extent: newBusyExtent()}
	all := crash.Len()
	crash.Kinds = []model.Kind{model.Barrier}
	require.Equal(t, all, crash.Len(), "a crash strikes no message")
}

// What happened before From is left out of each kind by itself.
func TestPlaces_kindsFrom(t *testing.T) {
	from := newBusyExtent()
	from.Messages[0][model.MessageIndex(2, model.Barrier)] = 1
	lose := Places{Action: model.LoseMessage, Extent: newBusyExtent(), From: from,
		Kinds: []model.Kind{model.Barrier}}
	require.Equal(t, []string{"lose barrier 2 from source/0 to op/0"}, lines(lose))
}

// Two for each effect, three for each call; one for each call, or for each message.
func TestPlaces_len(t *testing.T) {
	const effects, calls, messages = 6 + 4 + 2 + 3, 4 + 3 + 3, 3 + 2 + 1 + 1 + 2
	for action, want := range map[model.Action]int64{
		model.Crash: 2*effects + 3*calls, model.Pause: 2*effects + 3*calls,
		model.LoseRequest: calls, model.LoseAnswer: calls,
		model.DelayRequest: calls, model.DuplicateRequest: calls,
		model.LoseMessage: messages, model.DelayMessage: messages,
		model.DuplicateMessage: messages, model.ReorderMessages: messages,
		model.CutLink: 2*calls + messages, model.CrashService: calls, model.RefuseRequest: calls,
		model.ForgetRequest: 1 + 2 + 3, model.StaleRead: 3 + 1, model.TruncateInput: 2 * 3,
		model.PoisonRecord: 3,
	} {
		require.Equal(t, want, Places{Action: action, For: 1, Extent: newExtent()}.Len(), action)
	}
}

// Every place is legal, there are no two alike, it prints and compiles to itself, and it is found
// under its number.
func TestPlaces_each(t *testing.T) {
	job := newJob(2)
	for action := model.Crash; action <= model.PoisonRecord; action++ {
		places := Places{Action: action, For: 7, Extent: newExtent()}
		seen := map[model.Rule]bool{}
		for rule := range places.Each {
			rule.Validate()
			require.Equal(t, rule, places.At(int64(len(seen))))
			requireSameRule(t, job, rule)
			require.False(t, seen[rule], "%+v", rule)
			seen[rule] = true
		}
		require.Equal(t, places.Len(), int64(len(seen)))
	}
}

// What happened before From and what happened after it make the whole.
func TestPlaces_from(t *testing.T) {
	from := newExtent()
	from.Effects = []int64{2, 0, 4, 0, 1, 0}
	from.Calls[0] = calls(model.Position, 1, model.Fetch, 1)
	from.Calls[4] = calls(model.Write, 1)
	from.Messages[0] = messages(6, 2, model.Data, 1)
	from.Messages[4] = messages(6)
	for action := model.Crash; action <= model.PoisonRecord; action++ {
		whole := slices.Collect(Places{Action: action, For: 1, Extent: newExtent()}.Each)
		early := slices.Collect(Places{Action: action, For: 1, Extent: from}.Each)
		late := slices.Collect(Places{Action: action, For: 1, Extent: newExtent(), From: from}.Each)
		require.NotEmpty(t, late)
		if action == model.PoisonRecord {
			require.Equal(t, whole, late, "records are taken up again, or others in their place")
			continue
		}
		require.ElementsMatch(t, whole, append(early, late...))
	}
}

// A run that fell short of From, since a fault made it shorter, has nothing new to offer.
func TestPlaces_fromBeyond(t *testing.T) {
	short := newExtent()
	short.Effects[0], short.Calls[0] = 1, calls()
	places := Places{Action: model.Crash, Extent: short, From: newExtent()}
	require.Zero(t, places.Len())
	require.Empty(t, lines(places))
}

func TestPlaces_empty(t *testing.T) {
	places := Places{Action: model.Crash, Extent: &model.Extent{}}
	require.Zero(t, places.Len())
	require.PanicsWithValue(t, "faults: place 0 of 0", func() { places.At(0) })
}

func TestPlaces_stopsEarly(t *testing.T) {
	n := 0
	for range (Places{Action: model.Crash, Extent: newExtent()}).Each {
		if n++; n == 3 {
			break
		}
	}
	require.Equal(t, 3, n)
}

// A pause or a delay of no time is no fault; of a crash, a duration means nothing.
func TestPlaces_duration(t *testing.T) {
	for _, action := range []model.Action{model.Pause, model.DelayRequest, model.DelayMessage} {
		places := Places{Action: action, Extent: newExtent()}
		require.Panics(t, func() { places.At(0) }, action.String())
	}
	duplicate := Places{Action: model.DuplicateRequest, Extent: newExtent()}
	require.EqualValues(t, DuplicateAfter, duplicate.At(0).For)
	reorder := Places{Action: model.ReorderMessages, Extent: newExtent()}
	require.EqualValues(t, ReorderWithin, reorder.At(0).For)
	require.Zero(t, Places{Action: model.Crash, For: 5, Extent: newExtent()}.At(0).For)
}

func TestPlaces_allocatesNothing(t *testing.T) {
	places := Places{Action: model.Crash, Extent: newExtent()}
	sum := int64(0)
	allocs := testing.AllocsPerRun(10, func() {
		for rule := range places.Each {
			sum += rule.N
		}
		for i := range places.Len() {
			rule := places.At(i)
			sum += rule.N
		}
	})
	require.Zero(t, allocs)
	require.Positive(t, sum)
}

func BenchmarkPlaces(b *testing.B) {
	extent := newExtent()
	extent.Effects[0] = 1000
	places := Places{Action: model.Crash, Extent: extent}
	b.ReportAllocs()
	for b.Loop() {
		for range places.Each {
			continue
		}
	}
}
