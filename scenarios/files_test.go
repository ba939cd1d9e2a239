package scenarios_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/report"
	"github.com/oncesim/oncesim/scenarios"
)

// Every built-in scenario comes out as its verdict section says, and reaches all of its faults.
func TestFiles_VerdictsAreMet(t *testing.T) {
	lib := scenarios.Builtin()
	require.NotEmpty(t, lib.Files)
	for _, f := range lib.Files {
		t.Run(f.Name, func(t *testing.T) {
			s, err := scenarios.Parse(lib, f.Name+".sim", []byte(f.Data))
			require.NoError(t, err)
			require.NotEmpty(t, s.Prose)
			require.NotEmpty(t, s.Expect, "a built-in scenario says what must come out")
			_, res, err := scenarios.Run(lib, s, scenarios.Options{})
			require.NoError(t, err)
			require.Empty(t, report.Unmet(&report.Case{Library: lib, Scenario: s, Result: res}))
			for i, n := range res.Subject.History.Reached {
				require.NotZero(t, n, "not reached: %s", s.Faults[i])
			}
		})
	}
}
