package simtest_test

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/oncesim/oncesim/simtest"
)

// What is drawn is a scenario that runs, and that reaches its faults or says so.
func TestDraw_IsRun(t *testing.T) {
	var plans, faults int
	rapid.Check(t, func(rt *rapid.T) {
		s := simtest.Draw(rt, simtest.Scenario{Name: "pipeline", Mode: "dedup", Records: 3},
			simtest.FaultsMax(1))
		plans++
		if s.Faults[0] != "" {
			faults++
		}
		simtest.Run(rt, s)
	})
	require.Greater(t, faults, plans/5)
	require.Greater(t, plans, faults)
}

// Rapid shrinks the list: of the plan one crash is left, and the first seed.
func TestDraw_Shrinks(t *testing.T) {
	text, ok := start(t, t.TempDir(), "draws", "-rapid.nofailfile", "-rapid.seed=1")
	require.False(t, ok)
	require.Contains(t, text, "exactly-once-state violated")
	require.NotContains(t, text, "saved: ", "each step of shrinking would save a file")
	draws := regexp.MustCompile(`(?m)\[rapid\] draw faults: (.*)\n.*\[rapid\] draw seed: (.*)\n`).
		FindStringSubmatch(text)
	require.NotNil(t, draws, text)
	require.Regexp(t, `^\[\]string\{"crash source/0 [^,]*"\}$`, draws[1])
	require.Equal(t, "0x1", draws[2])
}

// The bytes that a fuzzer finds are always a plan.
func FuzzBytes(f *testing.F) {
	simtest.Fuzz(f, simtest.Scenario{Name: "pipeline", Mode: "dedup", Records: 3})
}
