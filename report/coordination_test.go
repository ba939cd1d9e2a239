package report_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/report"
	"github.com/oncesim/oncesim/scenarios"
)

// traced are the events of a trace file by what they are about: "serve commit-txn".
func traced(t *testing.T, c *report.Case) map[string][]traceLine {
	t.Helper()
	var b strings.Builder
	require.NoError(t, report.WriteTrace(&b, c))
	lines := map[string][]traceLine{}
	for _, line := range strings.Split(strings.TrimSpace(b.String()), "\n")[1:] {
		var e traceLine
		require.NoError(t, json.Unmarshal([]byte(line), &e))
		lines[e.Kind+" "+e.Msg] = append(lines[e.Kind+" "+e.Msg], e)
	}
	return lines
}

type traceLine struct {
	Kind, Msg, Txn string
	Checkpoint     int64
}

// A trace says of which checkpoint and transaction an event is.
func TestWriteTrace_CheckpointsAndTransactions(t *testing.T) {
	events := traced(t, open(t, "two-phase-commit-op-crash"))
	for _, kind := range []string{"deliver barrier", "deliver trigger", "serve upload",
		"deliver acknowledge", "serve completion", "deliver complete", "serve prepare-txn",
		"serve commit-txn", "serve checkpoint-id"} {
		require.NotEmpty(t, events[kind], kind)
		for _, e := range events[kind] {
			assert.Positive(t, e.Checkpoint, kind)
		}
	}
	assert.Equal(t, "1.1", events["serve begin-txn"][0].Txn)
	assert.Equal(t, "1.1", events["serve write"][0].Txn)
	assert.Equal(t, "1.1", events["serve abort-txn"][0].Txn)
	for _, kind := range []string{"serve prepare-txn", "serve commit-txn"} {
		assert.Equal(t, "2.1", events[kind][0].Txn, kind)
	}
	events = traced(t, open(t, "micro-batch-sink-crash"))
	for _, kind := range []string{"serve write-batch", "serve plan-batch", "serve finish-batch"} {
		assert.EqualValues(t, 1, events[kind][0].Checkpoint, kind)
	}
	for kind, list := range traced(t, open(t, "at-least-once-sink-crash")) {
		for _, e := range list {
			assert.Zero(t, e.Checkpoint, kind)
			assert.Empty(t, e.Txn, kind)
		}
	}
}

// lateTrigger is the run in which two inputs meet, one of them told late of the checkpoint that the
// job then goes back to, with a parameter set otherwise.
func lateTrigger(t *testing.T, param string, value int64) *report.Case {
	t.Helper()
	c := open(t, "snapshot-in-flight-dropped")
	c.Scenario.Params = []model.ParamValue{{Name: param, Value: value}}
	return caseOf(t, c.Library, c.Scenario)
}

// A story blames the cut only where it is to blame: how the snapshot was taken decides it.
func TestStory_Cuts(t *testing.T) {
	ahead, view, left := "and did not wait", "a view of live state", "does not keep it"
	for _, test := range []struct {
		param string
		value int64
		says  string
	}{
		{"retain", 3, ""}, // aligned
		{"alignment", 1, ahead},
		{"alignment", 2, ""},
		{"alignment", 3, left},
		{"aliased", 1, view},
	} {
		why := report.NewRun(lateTrigger(t, test.param, test.value)).Why
		for _, words := range []string{ahead, view, left} {
			assert.Equal(t, words == test.says, strings.Contains(why, words), "%s=%d: %s",
				test.param, test.value, why)
		}
	}
}

// A run with checkpoints shows how they went although nothing is violated.
func TestText_CheckpointsOfACleanRun(t *testing.T) {
	text := report.Text(open(t, "two-phase-commit-op-crash"), report.Plain)
	assert.Contains(t, text, "\ncheckpoints: 3 begun, 2 completed, 0 restored; "+
		"transactions: 2 begun, 1 committed, 1 aborted\n")
	for _, row := range []string{"prepare 2.1", "commit 2.1", "abort 1.1", "bar. 2", "trigger 2",
		"decided"} {
		assert.Contains(t, text, row)
	}
}

// The story of a lesson names the cause that the lesson is about.
func TestStoryOfLessons(t *testing.T) {
	lib := scenarios.Builtin()
	for name, cause := range map[string]string{
		"late-commit-ends-the-next-transaction":    "by a request that was sent at event",
		"late-abort-ends-the-next-transaction":     "for the transaction before it under that id",
		"uncommitted-reader-sees-what-was-aborted": "this reader does not wait for the decision",
		"unaligned-without-in-flight-loses":        "the part does not keep it",
		"figure-money-in-flight-dropped":           "the part does not keep it",
		"barrier-overtakes-and-forgets-what-waits": "(event 81) and overtook it",
		"txn-timeout-shorter-than-an-outage":       "external was down when a commit-txn",
		"zombie-sink-fenced-at-the-store-only":     "was a zombie by then",
		"lone-restart-loses":                       "the source was not taken back",
		"write-ahead-rows-repeat":                  "cannot tell that it is written",
		"commit-left-out-of-the-restore-times-out": "nobody asked for the commit",
	} {
		c := lessonOf(t, lib, name)
		text := report.NewRun(c).Why
		assert.Contains(t, text, cause, name)
	}
}

// lessonOf runs a built-in scenario file.
func lessonOf(t *testing.T, lib *scenarios.Library, name string) *report.Case {
	t.Helper()
	for _, f := range lib.Files {
		if f.Name == name {
			s, err := scenarios.Parse(lib, name, []byte(f.Data))
			require.NoError(t, err)
			return caseOf(t, lib, s)
		}
	}
	t.Fatalf("no built-in scenario %q", name)
	return nil
}

// A run that does not come to its end names what stops it, and no record that is in order.
func TestStuckNamesNoRecord(t *testing.T) {
	c := open(t, "two-phase-commit-stuck")
	assert.Contains(t, report.Title(c), "stuck (checkpoint 2 cannot be restored, ")
	assert.NotContains(t, report.NewRun(c).Why, "input/0:")
	c = open(t, "dedup-poison")
	assert.Contains(t, report.Title(c), "stuck input/0 at position 0, not 3")
}

// Why nothing is claimed is in the document too, with durations as such.
func TestRunSaysWhyNothingIsClaimed(t *testing.T) {
	assert.Equal(t, []string{"txn-timeout 800s, not 900s"},
		report.NewRun(open(t, "two-phase-commit-no-claim")).Unclaimed)
	assert.Empty(t, report.NewRun(open(t, "no-fault")).Unclaimed)
}
