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

// measure measures each bill once: the tests of this file share them. Under the race detector none
// is measured here: TestCosts_AreDeterministic has all that workers share.
func (b bill) measure(t *testing.T) *search.Cost {
	t.Helper()
	if underRace {
		t.Skip("many runs, and no other code than that of TestCosts_AreDeterministic")
	}
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

const milli = 1_000_000

// What gates output pays in latency: an output of two-phase commit waits for its checkpoint, the
// longer the interval the longer. What does not wait is as fast as the modes without guarantees.
func TestCosts_GatesPayInLatency(t *testing.T) {
	p50 := func(mode string, set ...model.ParamValue) int64 {
		return costOf(t, mode, set...).Steady.LatencyP50
	}
	require.Less(t, p50("at-least-once"), p50("dedup"))
	for _, gated := range []string{"two-phase-commit", "snapshot-wal", "micro-batch"} {
		require.Less(t, p50("dedup"), p50(gated), gated)
		require.Less(t, p50("snapshot"), p50(gated), gated)
	}
	require.LessOrEqual(t, p50("snapshot"), p50("at-least-once"))
	for _, gated := range []string{"two-phase-commit", "snapshot-wal"} {
		seldom := p50(gated, setTo("interval", 80*milli))
		require.Greater(t, seldom, p50(gated), gated)
		require.Greater(t, seldom, int64(80*milli/2), "on average half an interval, and more")
	}
}

// Deduplication pays for every record, and snapshots for every interval: in requests always, in
// writes when the interval is long against what the state holds.
func TestCosts_SnapshotsPayAtAnInterval(t *testing.T) {
	dedup, snapshot := costOf(t, "dedup").Steady, costOf(t, "snapshot").Steady
	require.Less(t, snapshot.DurableCalls, dedup.DurableCalls)
	seldom := costOf(t, "snapshot", setTo("interval", 400*milli)).Steady
	require.Less(t, seldom.DurableWrites, dedup.DurableWrites)
	require.Less(t, seldom.DurableCalls, snapshot.DurableCalls)
	require.Less(t, seldom.BytesWritten.State, snapshot.BytesWritten.State)
	require.Greater(t, snapshot.BytesWritten.State, dedup.BytesWritten.State,
		"all of the state each time, not what changed")
	require.Zero(t, snapshot.Durable.Dedup)
	require.Zero(t, snapshot.AckMessages)
	require.Positive(t, snapshot.ControlMessages)
	require.EqualValues(t, costHops*costRecords, snapshot.DataMessages)
	require.EqualValues(t, costRecords, snapshot.Durable.Output)
}

// An unaligned checkpoint has the records in flight in it besides. It is not fewer bytes in all
// than an aligned one, which waits and so is taken less often.
func TestCosts_UnalignedKeepsWhatIsInFlight(t *testing.T) {
	steady := func(alignment int64) search.Metrics {
		return bill{mode: "snapshot", every: milli, set: []model.ParamValue{
			setTo("alignment", alignment), setTo("interval", 5*milli)}}.measure(t).Steady
	}
	aligned, unaligned, dropping := steady(0), steady(2), steady(3)
	require.Greater(t, unaligned.BytesWritten.State, dropping.BytesWritten.State)
	require.GreaterOrEqual(t, unaligned.BytesWritten.State, aligned.BytesWritten.State)
}

// Written ahead, output is written twice: into the checkpoint and then to its place.
func TestCosts_WriteAheadWritesTwice(t *testing.T) {
	for _, mode := range []string{"snapshot-wal", "snapshot-wal-split"} {
		m := costOf(t, mode).Steady
		require.EqualValues(t, 2*costRecords, m.Durable.Output, mode)
	}
}

// Two-phase commit begins, prepares and commits a transaction for each checkpoint and sink, and has
// it in the checkpoint; each record is written once.
func TestCosts_TwoPhaseCommitPaysInTransactions(t *testing.T) {
	commit, snapshot := costOf(t, "two-phase-commit").Steady, costOf(t, "snapshot").Steady
	require.EqualValues(t, costRecords, commit.Durable.Output)
	require.Greater(t, commit.Durable.Metadata, snapshot.Durable.Metadata)
	require.Greater(t, commit.DurableCalls, snapshot.DurableCalls)
	require.Equal(t, snapshot.DataMessages, commit.DataMessages)
	// Per checkpoint: its id, that it is completed, and empty parts. A transaction has three more.
	checkpoints := commit.Durable.Position / costParts
	require.LessOrEqual(t, commit.Durable.Metadata, checkpoints*(2+2+costParts*(3+1))+4)
}

// A batch costs two entries of the log beside the state, however many records it has, and a crash
// has one batch run again.
func TestCosts_MicroBatchPaysABatch(t *testing.T) {
	batch := costOf(t, "micro-batch")
	m := batch.Steady
	require.EqualValues(t, costRecords, m.Durable.Output)
	require.Zero(t, m.Durable.Metadata%2, "a plan and an end")
	require.Less(t, m.DurableCalls, costOf(t, "dedup").Steady.DurableCalls)
	const size, crashesMax = 100, 2
	require.LessOrEqual(t, batch.Crashed.Most.Replayed, int64(crashesMax*costParts*size))
	require.Zero(t, batch.Crashed.Sum.DuplicatesVisible+batch.Crashed.Sum.Lost)
}

// A crash takes the modes with checkpoints back: they lose nothing, replay more the longer the
// interval is, and show the replay only where output is not gated.
func TestCosts_CrashesGoBackToACheckpoint(t *testing.T) {
	for _, mode := range []string{"snapshot", "snapshot-upsert", "snapshot-wal",
		"two-phase-commit"} {
		c := costOf(t, mode).Crashed
		require.Positive(t, c.Sum.Replayed, mode)
		require.Zero(t, c.Sum.Lost, mode)
		require.Equal(t, mode == "snapshot", c.Sum.DuplicatesVisible > 0, mode)
		seldom := costOf(t, mode, setTo("interval", 400*milli)).Crashed
		require.Greater(t, seldom.Sum.Replayed, c.Sum.Replayed, mode)
	}
	require.Positive(t, costOf(t, "snapshot-upsert").Crashed.Sum.DuplicatesAbsorbed)
}
