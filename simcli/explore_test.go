package simcli

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/report"
	"github.com/oncesim/oncesim/scenarios"
)

// The line of each smallest run of an exploration of orders is a command line that shows the same
// anomaly, and names itself: with flags and without, of a topology and of a file.
func TestExplore_OrdersCanBeFollowed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "it is.sim")
	require.NoError(t, os.WriteFile(file, []byte("-- scenario.yaml --\nformat: 1\n"+
		"topology: pipeline\nmode: at-least-once\nseed: 9\ninput: [a=1, a=2, a=3]\n"+
		"faults: [crash sink/0 after effect 1]\n"), 0o600))
	for _, args := range [][]string{
		{"pipeline", "--records", "1"},
		{"pipeline", "--mode", "dedup", "--set", "horizon=5"},
		{"running-average", "--mode", "snapshot-counting", "--crashes", "0", "--timers", "1",
			"--lulls", "1", "--walks", "2000"},
		{file},
		{file, "--records", "1", "--mode", "none"},
	} {
		args = append([]string{"explore"}, append(args, "--orders", "--json")...)
		_, out, log := try(context.Background(), scenarios.Builtin(), args...)
		var doc struct {
			Violations []struct{ Kind, Reproduce string }
		}
		require.NoError(t, json.Unmarshal([]byte(out), &doc), log)
		require.NotEmpty(t, doc.Violations, args)
		for _, v := range doc.Violations {
			line := strings.ReplaceAll(v.Reproduce, report.Quote(file), "FILE")
			words := strings.Fields(line)[1:]
			for i := range words {
				words[i] = strings.ReplaceAll(words[i], "FILE", file)
			}
			_, out, log := try(context.Background(), scenarios.Builtin(), words...)
			require.Empty(t, log)
			require.Contains(t, out, v.Kind)
			require.Contains(t, out, "\nreproduce: "+v.Reproduce+"\n")
		}
	}
}
