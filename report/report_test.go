package report_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/report"
	"github.com/oncesim/oncesim/scenarios"
)

var update = flag.Bool("update", false, "rewrite the golden files of this package")

// caseOf runs a scenario with its full trace.
func caseOf(t testing.TB, lib *scenarios.Library, s *scenarios.Scenario) *report.Case {
	t.Helper()
	runner, res, err := scenarios.Run(lib, s, scenarios.Options{Trace: true})
	require.NoError(t, err)
	return &report.Case{Library: lib, Scenario: s, Result: res, Stats: runner.Stats(), Judged: true,
		Command: report.Command("simrun run "+s.Name, false, s, s)}
}

// open runs a scenario file of testdata.
func open(t testing.TB, name string) *report.Case {
	t.Helper()
	lib := scenarios.Builtin()
	path := filepath.Join("testdata", name+".sim")
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	s, err := scenarios.Parse(lib, path, data)
	require.NoError(t, err)
	return caseOf(t, lib, s)
}

// golden compares a text with a file of testdata, or rewrites the file. Read the difference before
// you commit it: a golden file that nobody reads tests nothing.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(want), got)
}

// Every scenario file of testdata has its report beside it.
func TestText(t *testing.T) {
	files, err := filepath.Glob("testdata/*.sim")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".sim")
		t.Run(name, func(t *testing.T) {
			golden(t, name+".txt", report.Text(open(t, name), report.Plain))
		})
	}
}

// The same failure gives the same bytes, in whatever order maps are walked.
func TestTextIsDeterministic(t *testing.T) {
	c := open(t, "at-least-once-zombie")
	want := report.Text(c, report.Plain)
	for range 20 {
		require.Equal(t, want, report.Text(open(t, "at-least-once-zombie"), report.Plain))
	}
}

// A title alone says what happened, and says unknown where nothing is known.
func TestTitle(t *testing.T) {
	for name, want := range map[string]string{
		"at-least-once-sink-crash": "at-least-once-sink-crash under at-least-once, seed 1: " +
			"exactly-once violated: duplicate input/0:1 x2",
		"at-most-once-source-crash": "at-most-once-source-crash under at-most-once, seed 1: " +
			"exactly-once violated: loss input/0:0",
		"no-fault": "no-fault under at-least-once, seed 1: at-least-once holds",
		"spent-budget": "spent-budget under at-least-once, seed 1: at-least-once unknown: " +
			"the budget of events was spent before the run ended",
		"two-phase-commit-no-claim": "two-phase-commit-no-claim under two-phase-commit, seed 1: " +
			"nothing is claimed: txn-timeout 800s, not 900s; 1 fault was not reached",
	} {
		c := open(t, name)
		assert.Equal(t, want, report.Title(c), name)
		assert.True(t, strings.HasPrefix(report.Text(c, report.Plain), want+"\n"), name)
	}
}

// Colour changes nothing but colour.
func TestColour(t *testing.T) {
	c := open(t, "at-least-once-sink-crash")
	coloured := report.Text(c, report.Colour)
	assert.Contains(t, coloured, "\x1b[31mviolated\x1b[0m")
	plain := report.Text(c, report.Plain)
	assert.NotContains(t, plain, "\x1b")
	for _, code := range []string{"0", "1", "31", "32", "33"} {
		coloured = strings.ReplaceAll(coloured, "\x1b["+code+"m", "")
	}
	assert.Equal(t, plain, coloured)
}

// A run without a trace is judged; the report says what it cannot show.
func TestTextWithoutTrace(t *testing.T) {
	c := open(t, "at-least-once-sink-crash")
	c.Result.Trace = nil
	text := report.Text(c, report.Plain)
	assert.Contains(t, text, "no trace was kept")
	assert.Contains(t, text, "duplicate  input/0:1")
	assert.NotContains(t, text, "delivered")
	assert.Empty(t, report.NewRun(c).Why)
	assert.Empty(t, report.NewRun(c).Affected)
}

func TestSignature(t *testing.T) {
	assert.Equal(t, "at-least-once_at-most-once=duplicate_exactly-once=duplicate",
		report.Signature(open(t, "at-least-once-lost-answer")))
	assert.Equal(t, "at-least-once_clean", report.Signature(open(t, "no-fault")))
	assert.Contains(t, report.Signature(open(t, "spent-budget")), "at-least-once=unknown")

	// Seed and records are no part of it.
	c := open(t, "at-least-once-sink-crash")
	before := report.Signature(c)
	c.Scenario.Seed = 77
	assert.Equal(t, before, report.Signature(caseOf(t, c.Library, c.Scenario)))
}

func TestUnmet(t *testing.T) {
	assert.Empty(t, report.Unmet(open(t, "no-fault")))
	assert.Equal(t, []string{`line 11 expects "violated at-least-once: loss input/1:0", ` +
		`the run has holds`}, report.Unmet(open(t, "malformed")))
}

func TestIsViolated(t *testing.T) {
	violated, unknown := report.IsViolated(open(t, "at-least-once-sink-crash"))
	assert.False(t, violated, "what the mode does not claim is no violation of a claim")
	assert.False(t, unknown)
	_, unknown = report.IsViolated(open(t, "spent-budget"))
	assert.True(t, unknown)
}

func TestRunJSON(t *testing.T) {
	c := open(t, "at-least-once-sink-crash")
	data := report.JSON(report.NewRun(c))
	golden(t, "at-least-once-sink-crash.json", string(data))
	var doc map[string]any
	require.NoError(t, json.Unmarshal(data, &doc))
	assert.Len(t, doc["hash"], 16)
	for _, key := range []string{"scenario", "mode", "seed", "hash", "events", "records", "faults",
		"notReached", "verdicts", "metrics"} {
		assert.Contains(t, doc, key)
	}
}

// A trace file has a header and then every event, numbered from 1, each caused by an earlier one.
func TestWriteTrace(t *testing.T) {
	c := open(t, "at-least-once-sink-crash")
	var b strings.Builder
	require.NoError(t, report.WriteTrace(&b, c))
	lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	var header struct {
		Hash   string
		Events int
	}
	require.NoError(t, json.Unmarshal([]byte(lines[0]), &header))
	require.Equal(t, header.Events, len(lines)-1)
	for i, line := range lines[1:] {
		var e struct {
			I     int
			Kind  string
			Cause []int
		}
		require.NoError(t, json.Unmarshal([]byte(line), &e), line)
		assert.Equal(t, i+1, e.I)
		assert.NotEmpty(t, e.Kind)
		for _, cause := range e.Cause {
			assert.Less(t, cause, e.I)
		}
	}
	golden(t, "at-least-once-sink-crash.jsonl", b.String())
}

// errorAfter is a writer that takes so many bytes.
type errorAfter int

func (n *errorAfter) Write(p []byte) (int, error) {
	if *n -= errorAfter(len(p)); *n < 0 {
		return 0, os.ErrClosed
	}
	return len(p), nil
}

// The error of a writer is reported wherever it comes.
func TestWriteTraceFails(t *testing.T) {
	c := open(t, "no-fault")
	for _, n := range []errorAfter{0, 200, 5000} {
		assert.ErrorIs(t, report.WriteTrace(&n, c), os.ErrClosed)
	}
}
