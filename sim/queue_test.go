package sim

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/model"
)

// The wheel yields what sorting yields, whatever the mix of pushes and pops, near and far ahead of
// the last event. The reference is a list of its own, kept sorted by what was asked for and not by
// keys.
func TestQueue_AgreesWithSorting(t *testing.T) {
	type asked struct {
		at              int64
		class, tie, seq uint64
		slot            int32
	}
	compare := func(a, b asked) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.class, b.class),
			cmp.Compare(a.tie, b.tie), cmp.Compare(a.seq, b.seq))
	}
	for seed := range uint64(200) {
		var q queue
		var want []asked
		var now int64
		for i := range uint64(300) {
			r := model.Draw(seed, model.DrawTie, i, 0, 0)
			if r%3 != 0 || len(want) == 0 {
				ahead := int64(r>>32%50) << (r >> 24 % 8 * (seed % 8))
				a := asked{at: now + ahead, class: r >> 8 & 1, tie: r >> 16 & 3, seq: i,
					slot: q.grab()}
				q.push(a.at, a.class, a.tie, a.slot)
				want = append(want, a)
				slices.SortFunc(want, compare)
				continue
			}
			got := q.pop()
			require.Equal(t, want[0].slot, got.slot())
			require.EqualValues(t, want[0].at, got.at)
			now, want = int64(got.at), want[1:]
			q.free(got.slot())
		}
		for _, last := range want {
			require.Equal(t, last.slot, q.pop().slot())
		}
		require.Zero(t, q.near.used)
		require.Empty(t, q.due)
		require.Empty(t, q.far)
	}
}

// At one instant faults come first, then the keyed tie decides, then the order of making.
func TestQueue_OrderAtOneInstant(t *testing.T) {
	var q queue
	push := func(at int64, class, tie uint64) int32 {
		slot := q.grab()
		q.push(at, class, tie, slot)
		return slot
	}
	late := push(2, classFault, 0)
	third := push(1, classEvent, 5)
	fourth := push(1, classEvent, 5)
	second := push(1, classEvent, 1)
	first := push(1, classFault, 9)
	for _, want := range []int32{first, second, third, fourth, late} {
		require.Equal(t, want, q.pop().slot())
	}
}

func BenchmarkQueue(b *testing.B) {
	for _, pending := range []int{16, 256, 4096} {
		b.Run(fmt.Sprintf("pending=%d", pending), func(b *testing.B) {
			var q queue
			for i := range pending {
				q.push(int64(i), classEvent, 0, q.grab())
			}
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				k := q.pop()
				draw := model.Draw(1, model.DrawTie, uint64(i), 0, 0)
				q.push(int64(k.at)+model.Below(draw, 1_000_000), classEvent, draw, k.slot())
				if q.seq > seqMax-2 {
					q.seq = 0
				}
			}
		})
	}
}

// The furthest time has its place, and what is before the last event has none.
func TestQueue_Ends(t *testing.T) {
	var q queue
	last, first := q.grab(), q.grab()
	q.push(1<<63-1, classEvent, 0, last)
	q.push(3, classEvent, 0, first)
	require.Equal(t, first, q.pop().slot())
	require.PanicsWithValue(t, "sim: an event for 2 at 3", func() {
		q.push(2, classEvent, 0, q.grab())
	})
	require.Equal(t, last, q.pop().slot())
	q.reset()
	q.push(0, classEvent, 0, q.grab())
	require.Zero(t, q.pop().at)
}
