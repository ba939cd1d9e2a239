package search_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/scenarios"
	"github.com/oncesim/oncesim/search"
)

// What the modes cost on page-views, against what is to be expected of their mechanisms. The job
// has two partitions; a record crosses three hops, and two stages on the way; the second of them
// has keyed state.
const (
	costRecords = 160
	costParts   = 2
	costHops    = 3
	costStages  = 2
	costSeeds   = 20
)

// bill is a measurement: of a mode, with some of its parameters set.
type bill struct {
	topology *model.Topology
	mode     string
	every    int64 // arrival interval, 0: the default
	records  int   // 0: costRecords
	set      []model.ParamValue
}

// measure measures each bill once: the tests of this file share them.
func (b bill) measure(t *testing.T) *search.Cost {
	t.Helper()
	key := fmt.Sprintf("%+v", b)
	if paid[key] == nil {
		paid[key] = b.anew(t)
	}
	return paid[key]
}

var paid = map[string]*search.Cost{}

func (b bill) anew(t *testing.T) *search.Cost {
	t.Helper()
	lib := scenarios.Builtin()
	s := &scenarios.Scenario{Name: "costs", Topology: b.topology, Seed: 1, Params: b.set}
	if s.Topology == nil {
		s.Topology = &scenarios.PageViews
	}
	s.Input.Records, s.Input.Every = costRecords, b.every
	if b.records > 0 {
		s.Input.Records = b.records
	}
	for _, m := range lib.Modes {
		if m.Name == b.mode {
			s.Mode = m
		}
	}
	require.NotNil(t, s.Mode, b.mode)
	costs, err := search.Costs(context.Background(), lib, s, []*model.Mode{s.Mode}, 1, costSeeds)
	require.NoError(t, err)
	require.Len(t, costs, 1)
	require.GreaterOrEqual(t, costs[0].Crashed.Crashes, int64(costSeeds/2))
	return &costs[0]
}

func costOf(t *testing.T, mode string, set ...model.ParamValue) *search.Cost {
	t.Helper()
	return bill{mode: mode, set: set}.measure(t)
}

func setTo(name string, value int64) model.ParamValue {
	return model.ParamValue{Name: name, Value: value}
}

// One state write and one visible output a record, in every mode that writes state through. That
// is what makes the other columns comparable.
func TestCosts_StateAndOutputAreTheSame(t *testing.T) {
	none := costOf(t, "none").Steady
	require.EqualValues(t, search.ByClass{Output: costRecords}, none.Durable)
	require.EqualValues(t, costHops*costRecords, none.DataMessages)
	require.Zero(t, none.StateBytes)
	most := costOf(t, "at-most-once").Steady
	for _, mode := range []string{"at-most-once", "at-least-once", "acker", "idempotent",
		"idempotent-by-key", "dedup", "dedup-weak"} {
		m := costOf(t, mode).Steady
		require.EqualValues(t, costRecords, m.Durable.State, mode)
		require.Equal(t, most.StateBytes, m.StateBytes, mode)
		require.Equal(t, none.DataMessages, m.DataMessages, mode)
		require.GreaterOrEqual(t, m.Durable.Output, none.Durable.Output, mode)
		require.Zero(t, m.Durable.Metadata, mode)
		require.Zero(t, m.Replayed+m.DuplicatesAbsorbed+m.DuplicatesVisible+m.Lost, mode)
	}
}

// At-most-once commits once a batch: with full batches it is no slower than at-least-once, and
// with a commit a record it is.
func TestCosts_AtMostOncePaysACommitABatch(t *testing.T) {
	const dense = 500_000
	most := bill{mode: "at-most-once", every: dense}.measure(t).Steady
	least := bill{mode: "at-least-once", every: dense}.measure(t).Steady
	require.LessOrEqual(t, most.LatencyP50, least.LatencyP50)
	require.Less(t, most.Durable.Position, int64(costRecords/2))
	require.GreaterOrEqual(t, most.Durable.Position, int64(costRecords/4), "a batch has 4 at most")
	require.Zero(t, most.AckMessages)

	most = costOf(t, "at-most-once", setTo("batch", 1)).Steady
	least = costOf(t, "at-least-once").Steady
	require.EqualValues(t, costRecords, most.Durable.Position)
	require.Greater(t, most.LatencyP50, least.LatencyP50)
}

// At-least-once commits once for commit-every records in each partition, and once more at the end.
func TestCosts_AtLeastOnceCommitsAtAnInterval(t *testing.T) {
	for _, every := range []int64{1, 4, 30} {
		m := costOf(t, "at-least-once", setTo("commit-every", every)).Steady
		require.LessOrEqual(t, m.Durable.Position, costRecords/every+costParts, "%d", every)
		require.GreaterOrEqual(t, m.Durable.Position, costRecords/(every+4),
			"a window of 4 may end together")
		require.EqualValues(t, costHops*costRecords, m.AckMessages)
		require.Zero(t, m.Durable.Dedup)
		require.Equal(t, m.DurableWrites, m.DurableCalls)
	}
}

// Loss is what at-most-once and none pay a crash, duplicates are what at-least-once and the acker
// pay, and no more of them than lie between two commits and in the windows.
func TestCosts_CrashesLoseOrRepeat(t *testing.T) {
	for _, mode := range []string{"none", "at-most-once"} {
		c := costOf(t, mode).Crashed
		require.Positive(t, c.Sum.Lost, mode)
		require.Zero(t, c.Sum.Replayed+c.Sum.DuplicatesVisible+c.Sum.DuplicatesAbsorbed, mode)
	}
	for _, mode := range []string{"at-least-once", "acker"} {
		c := costOf(t, mode).Crashed
		require.Positive(t, c.Sum.DuplicatesVisible, mode)
		require.Positive(t, c.Sum.Replayed, mode)
		require.Zero(t, c.Sum.Lost, mode)
		const commitEvery, window, crashesMax = 4, 4, 2
		require.LessOrEqual(t, c.Most.DuplicatesVisible,
			int64(crashesMax*costParts*(commitEvery+window)), mode)
	}
	rare := costOf(t, "at-least-once", setTo("commit-every", 60)).Crashed
	often := costOf(t, "at-least-once", setTo("commit-every", 1)).Crashed
	require.Greater(t, rare.Sum.Replayed, often.Sum.Replayed, "replay grows with the interval")
}

// The acker about doubles the traffic and writes nothing besides what at-least-once does.
func TestCosts_AckerPaysInMessages(t *testing.T) {
	acker, least := costOf(t, "acker").Steady, costOf(t, "at-least-once").Steady
	require.Greater(t, acker.AckMessages, least.AckMessages)
	require.LessOrEqual(t, acker.Messages(), 3*acker.DataMessages)
	require.Zero(t, acker.Durable.Dedup)
	require.Equal(t, least.Durable.State, acker.Durable.State)
	require.InDelta(t, least.Durable.Position, acker.Durable.Position, 5)
}

// Idempotent writes cost nothing besides: every number without faults is that of at-least-once. A
// crash is paid with rewrites, which the table absorbs where a repeated step gives the same.
func TestCosts_IdempotentIsFree(t *testing.T) {
	require.Equal(t, costOf(t, "at-least-once").Steady, costOf(t, "idempotent").Steady)
	least := bill{topology: &scenarios.Pipeline, mode: "at-least-once", records: 100}.measure(t)
	table := bill{topology: &scenarios.Pipeline, mode: "idempotent", records: 100}.measure(t)
	require.Positive(t, table.Crashed.Sum.DuplicatesAbsorbed)
	require.Equal(t, least.Crashed.Sum.DuplicatesVisible, table.Crashed.Sum.DuplicatesAbsorbed)
	require.Zero(t, table.Crashed.Sum.DuplicatesVisible+table.Crashed.Sum.Lost)
}

// Deduplication pays one durable call a stage and record, in which the id, the state and the
// outputs are, and the latency of it; a crash then costs neither losses nor duplicates.
func TestCosts_DedupPaysAtEveryHop(t *testing.T) {
	dedup, least := costOf(t, "dedup"), costOf(t, "at-least-once")
	m := dedup.Steady
	require.EqualValues(t, costStages*costRecords, m.Durable.Dedup)
	require.EqualValues(t, (costStages+1)*costRecords, m.Durable.Output, "an outbox a stage")
	require.Equal(t, m.Durable.Dedup+costRecords+m.Durable.Position, m.DurableCalls)
	require.EqualValues(t, costHops*costRecords, m.AckMessages)
	require.Less(t, least.Steady.LatencyP50, m.LatencyP50)
	require.Less(t, least.Steady.LatencyP99, m.LatencyP99)
	require.Positive(t, dedup.Crashed.Sum.DuplicatesAbsorbed)
	require.Positive(t, dedup.Crashed.Sum.Replayed)
	require.Zero(t, dedup.Crashed.Sum.DuplicatesVisible+dedup.Crashed.Sum.Lost)
}

// Weak productions pay an id a stage and no outbox, and less latency.
func TestCosts_DedupWeakPaysLess(t *testing.T) {
	weak, strong := costOf(t, "dedup-weak"), costOf(t, "dedup").Steady
	m := weak.Steady
	require.EqualValues(t, costStages*costRecords, m.Durable.Dedup)
	require.EqualValues(t, costRecords, m.Durable.Output)
	require.Less(t, m.LatencyP50, strong.LatencyP50)
	require.Less(t, m.BytesWritten.Sum(), strong.BytesWritten.Sum())
	require.Zero(t, weak.Crashed.Sum.DuplicatesVisible+weak.Crashed.Sum.Lost)
}

// Costs are the same however many workers measure them, and nothing is said of a mode that was
// interrupted.
func TestCosts_AreDeterministic(t *testing.T) {
	b := bill{mode: "at-least-once", records: 40}
	require.Equal(t, b.anew(t), b.anew(t))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	lib := scenarios.Builtin()
	s := &scenarios.Scenario{Topology: &scenarios.Pipeline, Mode: lib.Modes[0], Seed: 1}
	costs, err := search.Costs(ctx, lib, s, lib.Modes, 1, 3)
	require.NoError(t, err)
	require.Empty(t, costs)
}

// However many seeds a comparison has, costs are measured on a hundred.
func TestCosts_AreBounded(t *testing.T) {
	lib := scenarios.Builtin()
	s := &scenarios.Scenario{Topology: &scenarios.Pipeline, Mode: lib.Modes[0], Seed: 1}
	costs, err := search.Costs(context.Background(), lib, s, lib.Modes[:1], 7, 1<<64-1)
	require.NoError(t, err)
	require.LessOrEqual(t, costs[0].Crashed.Crashes, int64(200))
	require.GreaterOrEqual(t, costs[0].Crashed.Crashes, int64(100))
}

// The median of one run is that run, in every number.
func TestCosts_OfOneSeed(t *testing.T) {
	lib := scenarios.Builtin()
	s := &scenarios.Scenario{Topology: &scenarios.PageViews, Seed: 3}
	s.Input.Records = 20
	for _, s.Mode = range lib.Modes {
		costs, err := search.Costs(context.Background(), lib, s, []*model.Mode{s.Mode}, 3, 3)
		require.NoError(t, err)
		_, res, err := scenarios.Run(lib, s, scenarios.Options{Trace: true})
		require.NoError(t, err)
		require.Equal(t, search.Measure(&res), costs[0].Steady, s.Mode.Name)
		require.Positive(t, costs[0].Steady.BytesWritten.Output)
	}
}
