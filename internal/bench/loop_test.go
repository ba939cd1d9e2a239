package bench

import (
	"fmt"
	"testing"

	"github.com/oncesim/oncesim/sim"
)

func BenchmarkLoop(b *testing.B) {
	for _, pending := range []int{16, 256, 4096} {
		b.Run(fmt.Sprintf("bare-heap/%d", pending), func(b *testing.B) {
			h := newBareHeap(pending)
			b.ResetTimer()
			h.turn(b.N)
		})
		b.Run(fmt.Sprintf("world/%d", pending), func(b *testing.B) {
			w := pings(pending, 200_000)
			rules := unreached()
			w.Run(1, rules, sim.Options{})
			b.ReportAllocs()
			b.ResetTimer()
			var n int64
			for n < int64(b.N) {
				n += w.Run(1, rules, sim.Options{}).End.N / 2
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/event")
		})
		b.Run(fmt.Sprintf("unhashed/%d", pending), func(b *testing.B) {
			w := pings(pending, 200_000)
			w.Run(1, nil, sim.Options{Unhashed: true})
			b.ResetTimer()
			var n int64
			for n < int64(b.N) {
				n += w.Run(1, nil, sim.Options{Unhashed: true}).End.N / 2
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/event")
		})
	}
}
