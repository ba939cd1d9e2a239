package report_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/scenarios"
)

// A file has a short name, by what the report is about; all that the run violates is in it.
func TestFile_Name(t *testing.T) {
	for scenario, want := range map[string]string{
		"at-least-once-sink-crash": `^at-least-once_exactly-once=duplicate-[0-9a-f]{8}\.sim$`,
		"at-least-once-clean":      `^at-least-once_clean-[0-9a-f]{8}\.sim$`,
	} {
		c := open(t, "at-least-once-sink-crash")
		if strings.HasSuffix(scenario, "clean") {
			s := *c.Scenario
			s.Faults = nil
			c = caseOf(t, c.Library, &s)
		}
		name, data, err := c.File("somewhere")
		require.NoError(t, err)
		require.Regexp(t, want, name)
		s, err := scenarios.Parse(c.Library, name, data)
		require.NoError(t, err)
		require.Equal(t, c.Record(), s.Recorded)
	}
}

// What a person expects of a run is kept where it was judged by that, and of no other run.
func TestFile_KeepsWhatWasJudged(t *testing.T) {
	for _, isJudged := range []bool{true, false} {
		c := open(t, "at-least-once-sink-crash")
		expect := []scenarios.Expectation{{Result: 1, Property: "order"}}
		c.Scenario.Expect, c.Judged = expect, isJudged
		_, data, err := c.File("somewhere")
		require.NoError(t, err)
		require.Equal(t, isJudged, strings.Contains(string(data), "-- verdict --"))
		require.Equal(t, expect, c.Scenario.Expect, "the case stays as it is")
	}
}
