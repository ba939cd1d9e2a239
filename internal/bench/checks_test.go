package bench

import (
	"testing"

	"github.com/oncesim/oncesim/checker"
	"github.com/oncesim/oncesim/model"
)

func BenchmarkLogCheck(b *testing.B) {
	s := checker.Subject{History: longLog(operations), Shape: model.Log}
	b.ReportAllocs()
	for b.Loop() {
		mustBe(model.Holds, checker.Linearizable(s, 0)[model.External].Result)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*operations), "ns/operation")
}
