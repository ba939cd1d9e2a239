package sim

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/model"
)

// The heap yields what sorting yields, whatever the mix of pushes and pops. The reference is a
// slice that is sorted after every push.
func TestQueue_AgreesWithSorting(t *testing.T) {
	for seed := range uint64(200) {
		var q queue
		var want []key
		step := func(i uint64) uint64 { return model.Draw(seed, model.DrawTie, i, 0, 0) }
		for i := range uint64(300) {
			if r := step(i); r%3 != 0 || len(want) == 0 {
				slot := q.grab()
				q.slab[slot].token = int64(r)
				q.push(int64(r>>32%50), r>>8&1, r>>16&3, slot)
				want = slices.Clone(q.heap)
				continue
			}
			slices.SortFunc(want, func(a, b key) int {
				if a.before(b) {
					return -1
				}
				return 1
			})
			got := q.pop()
			require.Equal(t, want[0], got)
			q.free(got.slot())
			want = slices.Clone(q.heap)
		}
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
