package report_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/report"
	"github.com/oncesim/oncesim/scenarios"
)

func noRuns(model.AnomalyKind) []string { return nil }

// Whatever has a name has an explanation with its source or its form, within 100 columns.
func TestExplainEveryTopic(t *testing.T) {
	lib := scenarios.Builtin()
	for _, name := range report.Topics(lib) {
		text := report.Explain(lib, name, "simrun", noRuns)
		assert.True(t, strings.HasPrefix(text, name+": "), "%s: %s", name, text)
		assert.Greater(t, len(text), len(name)+30, text)
		for _, line := range strings.Split(text, "\n") {
			isForm := strings.Contains(line, " PROCESS ") // lines of faults are not broken
			assert.True(t, isForm || len([]rune(line)) <= 100, line)
		}
	}
}

// Every anomaly is explained and says what it violates, how it is found, and where that is from.
func TestExplainEveryAnomaly(t *testing.T) {
	lib := scenarios.Builtin()
	for _, kind := range model.Anomalies() {
		text := report.Explain(lib, kind.String(), "simrun", func(k model.AnomalyKind) []string {
			return []string{"run " + k.String()}
		})
		for _, part := range []string{"how it is found: ", "it can be why these are violated: ",
			"source: ", "run " + kind.String()} {
			assert.Contains(t, text, part)
		}
	}
}

// A name with two meanings has both explained; a name without meaning has none.
func TestExplainNames(t *testing.T) {
	lib := scenarios.Builtin()
	text := report.Explain(lib, "duplicate", "simrun", noRuns)
	assert.Contains(t, text, "duplicate: an anomaly\n")
	assert.Contains(t, text, "duplicate: a fault\n")
	assert.Contains(t, text, "no mode of the library shows it")
	assert.Empty(t, report.Explain(lib, "nothing", "simrun", noRuns))
}

// A lesson is the prose of the file, the report, and what its anomalies are.
func TestLesson(t *testing.T) {
	c := open(t, "at-least-once-sink-crash")
	text := report.Lesson(c, report.Plain)
	assert.True(t, strings.HasPrefix(text, c.Scenario.Prose))
	assert.Contains(t, text, report.Text(c, report.Plain))
	assert.Contains(t, text, "duplicate: One output is visible more than once.")
	assert.NotContains(t, text, "loss: ")
}

// A parameter is explained by what each of its values means, and by the modes that have it.
func TestExplainParameters(t *testing.T) {
	lib := scenarios.Builtin()
	text := report.Explain(lib, "fencing", "simrun", noRuns)
	for _, part := range []string{"fencing: a term of the field\n", "\n  2: the checkpoint store\n",
		"default: 3\n", "range: 0 to 3\n", "two-phase-commit", "with another value they claim"} {
		assert.Contains(t, text, part)
	}
	assert.Contains(t, report.Explain(lib, "txn-timeout", "simrun", noRuns), "default: 900s\n")
	assert.NotContains(t, report.Explain(lib, "window", "simrun", noRuns), "they claim nothing")
}

// The parameters of a mode are explained in whole.
func TestExplainModeCutsNothing(t *testing.T) {
	lib := scenarios.Builtin()
	for _, m := range lib.Modes {
		text := report.Explain(lib, m.Name, "simrun", noRuns)
		assert.NotContains(t, text, "…", m.Name)
		words := strings.Join(strings.Fields(text), " ")
		for i := range m.Params {
			assert.Contains(t, words, m.Params[i].Says, m.Name)
		}
	}
}

// Kinds of messages and requests are explained, and other names lead to what they are names of.
func TestExplainKindsAndAliases(t *testing.T) {
	lib := scenarios.Builtin()
	for _, kind := range model.Kinds() {
		text := report.Explain(lib, kind.String(), "simrun", noRuns)
		assert.NotContains(t, text, "\n  .\n", kind)
	}
	assert.Contains(t, report.Explain(lib, "commit-txn", "simrun", noRuns),
		"lose answer of commit-txn 1 from PROCESS")
	assert.Equal(t, report.Explain(lib, "two-phase-commit", "simrun", noRuns),
		report.Explain(lib, "2pc", "simrun", noRuns))
}

// Who claims a property under a condition is listed with the condition.
func TestExplainClaims(t *testing.T) {
	lib := scenarios.Builtin()
	assert.Contains(t, report.Explain(lib, "exactly-once", "simrun", noRuns),
		"modes that claim it where every operator is deterministic: micro-batch\n")
	assert.Contains(t, report.Explain(lib, "effectively-once", "simrun", noRuns),
		"modes that claim it where no operator keeps state: idempotent\n")
}
