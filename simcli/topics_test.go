package simcli

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/report"
	"github.com/oncesim/oncesim/scenarios"
)

// runOf is the line of an explanation that shows a term, as arguments of the command.
func runOf(t *testing.T, text string) []string {
	t.Helper()
	_, rest, found := strings.Cut(text, "to see it:\n")
	require.True(t, found, text)
	line, _, found := strings.Cut(rest, "\n  look at: ")
	require.True(t, found, text)
	line = strings.ReplaceAll(line, "\\\n", " ")
	var args []string
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			args = append(args, part)
			continue
		}
		args = append(args, strings.Fields(part)...)
	}
	require.Equal(t, "simrun", args[0])
	return args[1:]
}

// Each term says how to see it, and the line runs: each of its faults strikes, and the report shows
// what it says.
func TestExplainTerms(t *testing.T) {
	shows := map[string][]string{
		"alignment":     {"exactly-once-state  violated", "did not wait"},
		"at-least-once": {"duplicate", "at-least-once       holds     claimed"},
		"barrier":       {"bar. 1"},
		"checkpoint":    {"trigger 1", "decided", "restore 1"},
		"effectively-once": {"effectively-once    holds     claimed",
			"exactly-once        violated"},
		"exactly-once": {"exactly-once        holds     claimed", "abort 1.1"},
		"fencing":      {"zombie-write", "hanging"},
		"micro-batch":  {"exactly-once        holds     claimed", "batch 1", "#2"},
		"snapshot": {"conserved           holds", "exactly-once-state  holds",
			"1 restored"},
		"two-phase-commit": {"exactly-once        holds     claimed", "prepare 1.1", "commit 1.1"},
		"unaligned":        {"at-least-once       violated", "loss", "the part does not keep it"},
	}
	lib := scenarios.Builtin()
	require.Len(t, report.Terms(), len(shows))
	for _, term := range report.Terms() {
		text := report.Explain(lib, term.Name, "simrun", nil)
		status, stdout, stderr := try(context.Background(), lib, runOf(t, text)...)
		assert.Zero(t, status, "%s: %s", term.Name, stderr)
		assert.NotContains(t, stdout, "not reached", term.Name)
		for _, part := range shows[term.Name] {
			assert.Contains(t, stdout, part, term.Name)
		}
	}
}

// With fences, and with alignment, the runs of these terms are clean.
func TestExplainTermsTheOtherWay(t *testing.T) {
	lib := scenarios.Builtin()
	for term, instead := range map[string][2]string{
		"alignment": {"snapshot-counting", "snapshot"},
		"fencing":   {"fencing=0", "fencing=3"},
		"unaligned": {"alignment=3", "alignment=2"},
	} {
		args := runOf(t, report.Explain(lib, term, "simrun", nil))
		for i := range args {
			args[i] = strings.ReplaceAll(args[i], instead[0], instead[1])
		}
		status, stdout, _ := try(context.Background(), lib, args...)
		assert.Zero(t, status, term)
		assert.Contains(t, stdout, "exactly-once-state  holds", term)
		assert.NotContains(t, stdout, "loss", term)
		assert.NotContains(t, stdout, "hanging", term)
		assert.NotContains(t, stdout, "zombie-write", term)
	}
}

// Where one fault on a few records does not show an anomaly, the run that is named does.
func TestExplainShowsWhatTakesMore(t *testing.T) {
	lib := scenarios.Builtin()
	none := func(model.AnomalyKind) []string { return nil }
	text := report.Explain(lib, "wrong-state", "simrun", none)
	text = strings.Replace(text, "a run that shows it:\n", "to see it:\n", 1)
	_, stdout, _ := try(context.Background(), lib, runOf(t, text+"  look at: ")...)
	assert.Contains(t, stdout, "  wrong-state  ")
	assert.NotContains(t, stdout, "not reached")
}
