package bench

import "testing"

func BenchmarkRun(b *testing.B) {
	for _, topology := range []string{"pipeline", "page-views"} {
		b.Run(topology, func(b *testing.B) {
			j, err := newJob(topology)
			if err != nil {
				b.Fatal(err)
			}
			s, err := j.reused()
			if err != nil {
				b.Fatal(err)
			}
			s()
			b.ReportAllocs()
			b.ResetTimer()
			for range b.N {
				s()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*seeds), "ns/run")
		})
	}
}

func BenchmarkJudge(b *testing.B) {
	for _, topology := range []string{"pipeline", "page-views"} {
		b.Run(topology, func(b *testing.B) {
			j, err := newJob(topology)
			if err != nil {
				b.Fatal(err)
			}
			s, err := j.judged()
			if err != nil {
				b.Fatal(err)
			}
			s()
			b.ReportAllocs()
			b.ResetTimer()
			for range b.N {
				s()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*seeds), "ns/judging")
		})
	}
}
