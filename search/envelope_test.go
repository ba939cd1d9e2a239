package search_test

import (
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/scenarios"
	"github.com/oncesim/oncesim/search"
)

const (
	envelopeFaults  = 5       // at most, in a plan
	envelopeRecords = 60      // of the real access log
	envelopeSeeds   = 600     // without -golden.full
	envelopeFull    = 200_000 // with it
)

// TestGolden_Envelope holds the modes that claim exactly-once to it on a real log, two partitions
// and two tasks side by side, under up to five faults of any classes that they tolerate. It counts
// where in the life of a checkpoint the crashes fell: none of the gaps goes untried.
func TestGolden_Envelope(t *testing.T) {
	lib := scenarios.Builtin()
	for _, mode := range lib.Modes {
		claims := mode.ClaimsFor(scenarios.PageViews.Kind())
		if mode.IsVariant || !slices.Contains(claims, "exactly-once") {
			continue
		}
		t.Run(mode.Name, func(t *testing.T) {
			envelope(t, lib, mode, &scenarios.PageViews, envelopeRecords)
		})
		t.Run(mode.Name+"/fan-out", func(t *testing.T) {
			envelope(t, lib, mode, &scenarios.FanOut, envelopeRecords/4)
		})
	}
}

func envelope(t *testing.T, lib *scenarios.Library, mode *model.Mode, top *model.Topology,
	records int) {
	s := &scenarios.Scenario{Topology: top, Mode: mode, Seed: 1}
	s.Input.Records = records
	if top.Sample == "" {
		s.Input.Kind = scenarios.InputGenerated
	}
	gaps := &gapCounts{counts: make([]int64, len(search.Gaps()))}
	cell := &search.Cell{Library: lib, Scenario: s, Inspect: gaps.inspect}
	seeds := uint64(envelopeSeeds)
	switch {
	case *full:
		seeds = envelopeFull
	case underRace:
		seeds /= 30
	}
	tally, err := cell.Envelope(context.Background(), 1, seeds, envelopeFaults)
	require.NoError(t, err)
	job := s.Job()
	for i, p := range lib.Properties {
		isClaimed := slices.Contains(s.Claims(), p.Name)
		if !isClaimed && p.Name != "progress" { // which is what a tolerated fault leaves, of course
			continue
		}
		require.Zero(t, tally.Counts[i].Undecided, "%s is unknown", p.Name)
		if tally.Counts[i].Violated == 0 {
			continue
		}
		for _, kind := range p.Anomalies {
			if w := tally.Witnesses[kind]; w != nil {
				t.Errorf("%s violated %d times: %s, seed %d, %s", p.Name,
					tally.Counts[i].Violated, kind, w.Seed, describe(job, w.Rules))
			}
		}
	}
	t.Logf("%d runs, %d of which met all their faults", tally.Runs, tally.Reached)
	if gaps.total() == 0 { // no mode with checkpoints gets by without a crash in one
		require.NotEqual(t, model.Snapshotted, mode.State)
		return
	}
	for i, gap := range search.Gaps() {
		t.Logf("%8d crashes in the gap %s", gaps.counts[i], gap)
		// A batch is written before it is finished: nothing of it is to be made visible afterwards.
		isEmpty := gap == search.GapNotify && slices.Contains(mode.Extra, "driver")
		if *full && !isEmpty && top == &scenarios.PageViews { // where several tasks keep state
			require.NotZero(t, gaps.counts[i], "no crash in the gap %s", gap)
		}
	}
}

// gapCounts counts crashes by gap, over all workers.
type gapCounts struct {
	mu     sync.Mutex
	counts []int64
}

func (g *gapCounts) inspect() search.Inspect {
	return func(_ uint64, _ []model.Rule, res *scenarios.Result) {
		g.mu.Lock()
		defer g.mu.Unlock()
		search.CrashGaps(res.Subject.History, g.counts)
	}
}

func (g *gapCounts) total() (sum int64) {
	for _, n := range g.counts {
		sum += n
	}
	return sum
}
