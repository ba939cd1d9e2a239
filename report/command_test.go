package report_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/faults"
	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/report"
	"github.com/oncesim/oncesim/scenarios"
)

func TestQuote(t *testing.T) {
	for word, want := range map[string]string{
		"pipeline":       "pipeline",
		"a/b-c_d.sim":    "a/b-c_d.sim",
		"":               "''",
		"two words":      "'two words'",
		"it's":           `'it'\''s'`,
		"$HOME":          "'$HOME'",
		"a\nb":           "'a\nb'",
		"*":              "'*'",
		"crash op/0 at~": "'crash op/0 at~'",
	} {
		assert.Equal(t, want, report.Quote(word))
	}
}

// Every setting that differs from what the name alone means is in the line, and nothing else.
func TestCommand(t *testing.T) {
	lib := scenarios.Builtin()
	base := &scenarios.Scenario{Name: "pipeline", Topology: &scenarios.Pipeline, Mode: lib.Modes[0],
		Seed: 1}
	s := *base
	assert.Equal(t, "simrun run x.sim", report.Command("simrun run x.sim", false, base, &s))
	assert.Equal(t, "simrun run pipeline --mode none --seed 1",
		report.Command("simrun run pipeline", true, base, &s))

	s.Mode, s.Seed = lib.Modes[2], 7
	s.Params = []model.ParamValue{{Name: "window", Value: 1}, {Name: "timeout", Value: 5_000_000}}
	s.Input = scenarios.InputSpec{Kind: scenarios.InputFile, Path: "my log", Records: 5}
	plan, err := faults.ParsePlan("crash sink/0 before ack of write 2", "crash op/0 at 1ms")
	require.NoError(t, err)
	s.Faults = plan
	assert.Equal(t, "simrun run x.sim --mode at-least-once --seed 7 --input 'my log' --records 5 "+
		"--set window=1 --set timeout=5ms --fault 'crash sink/0 before ack of write 2' "+
		"--fault 'crash op/0 at 1ms'", report.Command("simrun run x.sim", false, base, &s))

	base.Faults = plan
	s = *base
	s.Faults = nil
	assert.Equal(t, "simrun run x.sim --fault ''",
		report.Command("simrun run x.sim", false, base, &s))
}
