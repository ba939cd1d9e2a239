package report

import (
	"testing"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/scenarios"
)

// The page shows the completed checkpoint, and batches as their writes, and explains them where the
// judge does. Of a log with transactions it has no entries.
func TestLinearizablePage_CheckpointsAndBatches(t *testing.T) {
	lib := scenarios.Builtin()
	logs := map[string]bool{"snapshot": true, "snapshot-wal": true, "micro-batch": true,
		"two-phase-commit": false}
	for _, mode := range lib.Modes {
		hasLog, isOne := logs[mode.Name]
		if !isOne {
			continue
		}
		s := &scenarios.Scenario{Name: "page", Topology: &scenarios.Pipeline, Mode: mode, Seed: 1}
		s.Input.Records = 8
		runner, err := scenarios.NewRunner(lib, s)
		require.NoError(t, err)
		extent := runner.Run(1, nil, scenarios.Options{}).Subject.History.Extent
		for seed := uint64(1); seed <= 20; seed++ {
			rules := lib.Classes[1].Draw(seed, &extent, nil)
			c := &Case{Library: lib, Scenario: s,
				Result: runner.Run(seed, rules, scenarios.Options{})}
			c.CheckLinearizable(0)
			require.Equal(t, model.Holds, c.LinearizableResult(), "%s, seed %d", mode.Name, seed)
			page, _ := pageResult(c)
			require.Equal(t, porcupine.Ok, page, "%s, seed %d", mode.Name, seed)
			k := newCalls(c, pageSteps)
			require.Equal(t, hasLog, k.index["log of partition 0"] != nil, mode.Name)
			require.Equal(t, mode.Name != "micro-batch", k.index["completed checkpoint"] != nil)
		}
	}
}

// A store that forgets a completion, or a log that takes half a batch, is not explained.
func TestLinearizablePage_IllegalCheckpointsAndBatches(t *testing.T) {
	c := smallRun(t, &scenarios.Pipeline, "snapshot-wal", "crash coordinator/0 after completion 1")
	page, _ := pageResult(c)
	require.Equal(t, porcupine.Ok, page)
	h := c.Result.Subject.History
	spoilt := 0
	for i := range h.Calls {
		if call := &h.Calls[i]; call.Req.Kind == model.Newest && call.Ans.Seq > 0 {
			call.Ans.Seq--
			spoilt++
		}
	}
	require.Positive(t, spoilt)
	page, _ = pageResult(c)
	require.Equal(t, porcupine.Illegal, page)

	c = smallRun(t, &scenarios.Pipeline, "snapshot-wal")
	h = c.Result.Subject.History
	for i := range h.Calls {
		if call := &h.Calls[i]; call.Req.Kind == model.WriteBatch && len(call.Req.Parts) > 1 {
			call.Req.Parts = call.Req.Parts[1:]
			break
		}
	}
	page, _ = pageResult(c)
	require.Equal(t, porcupine.Illegal, page)
}
