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
		text := report.Explain(lib, name, noRuns)
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
		text := report.Explain(lib, kind.String(), func(k model.AnomalyKind) []string {
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
	text := report.Explain(lib, "duplicate", noRuns)
	assert.Contains(t, text, "duplicate: an anomaly\n")
	assert.Contains(t, text, "duplicate: a fault\n")
	assert.Contains(t, text, "no mode of the library shows it")
	assert.Empty(t, report.Explain(lib, "nothing", noRuns))
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
