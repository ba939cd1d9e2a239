package report_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/faults"
	"github.com/oncesim/oncesim/report"
	"github.com/oncesim/oncesim/search"
)

// The report of a shrunk run says what the larger one had in vain.
func TestTextOfAShrunkRun(t *testing.T) {
	large := open(t, "at-least-once-sink-crash")
	for i := range 12 {
		f, err := faults.Parse("duplicate ack 1 from sink/0 to op/0 by " +
			strings.Repeat("1", i+1) + "ns")
		require.NoError(t, err)
		large.Scenario.Faults = append(large.Scenario.Faults, f)
	}
	for _, c := range []struct {
		runs int
		want string
	}{
		{0, "\nminimal: the only single deletion or weakening loses it\n"},
		{2, "perhaps not minimal: it ended after 2 runs, before every single step was tried\n"},
	} {
		s, err := search.Shrink(context.Background(), large.Library, large.Scenario,
			search.Shrinking{RunsMax: c.runs})
		require.NoError(t, err)
		small := caseOf(t, large.Library, s.Scenario)
		small.Shrunk = s
		text := report.Text(small, report.Plain)
		require.Contains(t, text, c.want)
		if c.runs == 0 {
			require.Contains(t, text, "\nnot needed: 12 faults, 2 records\n"+
				"  duplicate ack 1 from sink/0 to op/0 by 1ns\n")
			require.Contains(t, text, "\n  … and 2 more\n")
			require.Equal(t, 10, strings.Count(text, "  duplicate ack 1 "))
		}
	}
}

func TestShrinking(t *testing.T) {
	s := &search.Shrunk{Runs: 21, IsMinimal: true,
		Faults: [2]int64{3, 1}, Records: [2]int64{20, 2}, Events: [2]int64{478, 31}}
	c := &report.Case{Shrunk: s}
	require.Equal(t, "3 faults, 20 records, 478 events → 1 fault, 2 records, 31 events; 21 runs, "+
		"minimal", c.Shrinking())
	s.IsMinimal, s.Runs = false, 1
	require.Equal(t, "3 faults, 20 records, 478 events → 1 fault, 2 records, 31 events; 1 run, "+
		"not known to be minimal", c.Shrinking())
}
