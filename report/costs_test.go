package report_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/report"
	"github.com/oncesim/oncesim/scenarios"
	"github.com/oncesim/oncesim/search"
)

// The document has what a record and a crash cost each mode, in the order of the modes.
func TestMatrixCosts(t *testing.T) {
	m := testMatrix(t, context.Background())
	require.Len(t, m.Costs, 2)
	most, least := m.Costs[0], m.Costs[1]
	assert.Equal(t, "at-most-once", most.Mode)
	assert.Equal(t, "at-least-once", least.Mode)
	assert.Equal(t, map[string]float64{"position": 0.25, "state": 0, "dedup": 0, "output": 1,
		"metadata": 0}, least.Durable)
	assert.InDelta(t, 1.25, least.DurableCalls, 0.001)
	assert.InDelta(t, 2, least.AckMessages, 0.001)
	assert.Zero(t, most.AckMessages)
	assert.Positive(t, most.Lost)
	assert.Zero(t, most.DuplicatesVisible)
	assert.Zero(t, least.Lost)
	assert.Positive(t, least.DuplicatesVisible)
	for _, c := range m.Costs {
		assert.Positive(t, c.Crashes)
		assert.Less(t, c.LatencyP50, c.LatencyP99)
		require.NotNil(t, c.Replayed)
	}

	var doc struct{ Costs []map[string]any }
	require.NoError(t, json.Unmarshal(report.JSON(m), &doc))
	require.Len(t, doc.Costs, 2)
	for _, key := range []string{"mode", "latencyP50", "latencyP99", "durable", "durableCalls",
		"bytesWritten", "dataMessages", "ackMessages", "crashes", "replayed",
		"duplicatesAbsorbed", "duplicatesVisible", "lost", "stateBytes"} {
		assert.Contains(t, doc.Costs[0], key)
	}
}

// What takes a trace is unknown without one: in the table a question mark, in the document null.
func TestMatrixCostsWithoutTrace(t *testing.T) {
	least := scenarios.Builtin().Modes[2]
	m := &search.Matrix{Library: scenarios.Builtin(), Records: 4,
		Scenario: &scenarios.Scenario{Name: "pipeline"}, Costs: []search.Cost{{Mode: least,
			Crashed: search.Toll{Crashes: 3, Sum: search.Metrics{Lost: 1, Replayed: 7}}}}}
	doc := report.NewMatrix(m, nil)
	assert.Nil(t, doc.Costs[0].Replayed)
	assert.InDelta(t, 0.33, doc.Costs[0].Lost, 0.001)
	assert.Contains(t, doc.Text(report.Plain, true), "     ?      ?     0 0.33\n")
}

// A comparison that measured no costs has no table of them, and an empty list.
func TestMatrixWithoutCosts(t *testing.T) {
	m := &search.Matrix{Library: scenarios.Builtin(),
		Scenario: &scenarios.Scenario{Name: "pipeline"}}
	doc := report.NewMatrix(m, nil)
	assert.NotContains(t, doc.Text(report.Plain, true), "costs")
	assert.Contains(t, string(report.JSON(doc)), `"costs": []`)
}

// However many modes and classes there are, the tables fit into 100 columns, and each class has a
// line in each of the overviews.
func TestMatrixOfManyModes(t *testing.T) {
	lib := scenarios.Builtin()
	least := *lib.Modes[2]
	lib.Modes = nil
	for i := range 9 {
		mode := least
		mode.Name = fmt.Sprintf("at-least-once-%d", i)
		lib.Modes = append(lib.Modes, &mode)
	}
	classes := []*scenarios.Class{{Name: "no-fault"}, {Name: "crash", Action: model.Crash},
		{Name: "a-class-with-a-name-of-some-length", Action: model.Crash}}
	s := &scenarios.Scenario{Name: "pipeline", Topology: &scenarios.Pipeline, Mode: &least, Seed: 1}
	m, err := search.Compare(context.Background(), lib, s, search.Comparing{Modes: lib.Modes,
		Classes: classes, First: 1, Last: 2})
	require.NoError(t, err)
	m.Costs, err = search.Costs(context.Background(), lib, s, lib.Modes, 1, 2)
	require.NoError(t, err)
	doc := report.NewMatrix(m, func(*scenarios.Scenario) string { return "" })
	text := doc.Text(report.Plain, true)
	table, _, _ := strings.Cut(text, "smallest witnesses")
	for _, line := range strings.Split(table, "\n") {
		assert.LessOrEqual(t, len([]rune(line)), 100, line)
	}
	assert.Equal(t, 2, strings.Count(text, "\nno-fault  "))
	assert.Equal(t, 3, strings.Count(text, "\nat-least-once-8  "), "in detail twice, and its costs")
}

// A run says what it cost, and without a trace only what is known without one.
func TestTextCosts(t *testing.T) {
	c := open(t, "at-least-once-sink-crash")
	assert.Contains(t, report.Text(c, report.Plain), "\ncost of a record: ")
	assert.Contains(t, report.Text(c, report.Plain), "duplicates absorbed\n")
	c.Result.Trace = nil
	text := report.Text(c, report.Plain)
	assert.Contains(t, text, "\ncost of a record: ")
	assert.NotContains(t, text, "absorbed")
}
