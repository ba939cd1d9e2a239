package oracle_test

import (
	"testing"

	"github.com/oncesim/oncesim/internal/oracle"
	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/semantics"
)

func BenchmarkJudge(b *testing.B) {
	w := newBench(b, &semantics.AtLeastOnce, chain(2, 2, &double, &count),
		records(quick, "a1 b2|a3 b4"))
	rule := atEffect(model.Crash, 4, model.After, 4, 0)
	w.run(1, rule)
	h, trace := w.last, w.world.Trace()
	b.Run("made-once", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			w.oracle.Judge(trace, h)
		}
		b.ReportMetric(float64(len(trace)), "events")
	})
	b.Run("made-anew", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			oracle.Judge(w.job, w.mode, w.input, model.Log, trace, h)
		}
	})
}
