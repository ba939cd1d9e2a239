package scenarios_test

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/scenarios"
	"github.com/oncesim/oncesim/semantics"
)

var updateHashes = flag.Bool("golden.hashes", false, "rewrite testdata/hashes.txt")

const hashesFile = "testdata/hashes.txt"

// hashes runs every built-in scenario, and every topology on its default input under every mode,
// and returns a line for each.
func hashes(t *testing.T) string {
	lib := scenarios.Builtin()
	var b strings.Builder
	line := func(name string, s *scenarios.Scenario) {
		_, res, err := scenarios.Run(lib, s, scenarios.Options{})
		require.NoError(t, err)
		end := res.Subject.History.End
		fmt.Fprintf(&b, "%016x %7d %s\n", end.Hash, end.N, name)
	}
	for _, f := range lib.Files {
		s, err := scenarios.Parse(lib, f.Name+".sim", []byte(f.Data))
		require.NoError(t, err)
		line(f.Name, s)
	}
	for _, top := range lib.Topologies {
		for _, mode := range lib.Modes {
			line(top.Name+" "+mode.Name, &scenarios.Scenario{Topology: top, Mode: mode, Seed: 1})
		}
	}
	return b.String()
}

// The hashes of the built-in scenarios tie this version to its past. They move when events, draws
// or their order move: then raise GoldenVersion, rewrite the file with -golden.hashes and say why
// in CHANGELOG.md.
func TestHashes_Golden(t *testing.T) {
	got := fmt.Sprintf("version %d\n%s", scenarios.GoldenVersion, hashes(t))
	if *updateHashes {
		require.NoError(t, os.WriteFile(hashesFile, []byte(got), 0o644))
	}
	want, err := os.ReadFile(hashesFile)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}

// They do not depend on the number of processors.
func TestHashes_AnyGOMAXPROCS(t *testing.T) {
	want := hashes(t)
	for _, n := range []int{1, 2, 8} {
		old := runtime.GOMAXPROCS(n)
		got := hashes(t)
		runtime.GOMAXPROCS(old)
		require.Equal(t, want, got, "GOMAXPROCS %d", n)
	}
}

// A passing run on a runner that has run before allocates next to nothing, judging included. What
// an operator allocates is its own: those that make text are left out. Once all seeds have run,
// each runs once more.
func TestRunner_ReusedPassingRunAllocations(t *testing.T) {
	const seeds = 8
	lib := scenarios.Builtin()
	for _, top := range lib.Topologies {
		if top == &scenarios.Transfers || top == &scenarios.RunningAverage {
			continue
		}
		for _, mode := range lib.Modes {
			if mode == &semantics.SnapshotCounting {
				continue // its snapshots are of no cut, with or without a fault
			}
			r, err := scenarios.NewRunner(lib, &scenarios.Scenario{Topology: top, Mode: mode})
			require.NoError(t, err)
			seed := uint64(0)
			run := func() {
				seed++
				r.Run(seed%seeds, nil, scenarios.Options{})
			}
			for range seeds {
				run()
			}
			require.LessOrEqual(t, testing.AllocsPerRun(seeds, run), 10.0, "%s %s", top.Name,
				mode.Name)
		}
	}
}

func BenchmarkRun(b *testing.B) {
	lib := scenarios.Builtin()
	for _, top := range lib.Topologies {
		for _, mode := range lib.Modes {
			b.Run(top.Name+"/"+mode.Name, func(b *testing.B) {
				r, err := scenarios.NewRunner(lib, &scenarios.Scenario{Topology: top, Mode: mode})
				if err != nil {
					b.Fatal(err)
				}
				b.ReportAllocs()
				var events int64
				for i := range b.N {
					res := r.Run(uint64(i%64), nil, scenarios.Options{})
					events += res.Subject.History.End.N
				}
				b.ReportMetric(float64(events)/float64(b.N), "events/op")
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(events), "ns/event")
			})
		}
	}
}
