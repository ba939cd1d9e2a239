package report_test

import (
	"context"
	"encoding/json"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/checker"
	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/report"
	"github.com/oncesim/oncesim/scenarios"
	"github.com/oncesim/oncesim/search"
)

// testMatrix is a small matrix whose modes claim what this test says: at-most-once rightly and
// wrongly, at-least-once something that a crash does not show.
func testMatrix(t *testing.T, ctx context.Context) *report.Matrix {
	t.Helper()
	lib := scenarios.Builtin()
	most, least := *lib.Modes[1], *lib.Modes[2]
	require.Equal(t, "at-most-once", most.Name)
	require.Equal(t, "at-least-once", least.Name)
	most.Claims, most.Tolerates = []string{"at-most-once", "exactly-once"}, []string{"crash"}
	most.Cells = nil
	least.Cells = []model.Cell{{Class: "crash", Must: []model.AnomalyKind{model.Loss},
		May: []model.AnomalyKind{model.Duplicate, model.Regression}}}
	lib.Modes = []*model.Mode{&most, &least}
	var properties []checker.Property
	for _, p := range lib.Properties {
		switch p.Name {
		case "at-most-once", "at-least-once", "exactly-once", "order":
			properties = append(properties, p)
		}
	}
	lib.Properties = properties
	var classes []*scenarios.Class
	for _, c := range lib.Classes {
		if c.Name == "no-fault" || c.Name == "crash" {
			classes = append(classes, c)
		}
	}
	s := &scenarios.Scenario{Name: "pipeline", Topology: &scenarios.Pipeline, Mode: &least, Seed: 1}
	m, err := search.Compare(ctx, lib, s, search.Comparing{Modes: lib.Modes, Classes: classes,
		First: 1, Last: 5})
	require.NoError(t, err)
	m.Costs, err = search.Costs(ctx, lib, s, lib.Modes, 1, 5)
	require.NoError(t, err)
	return report.NewMatrix(m, func(w *scenarios.Scenario) string {
		return report.Command("simrun run pipeline", true, s, w)
	})
}

// One processor at a time: of two witnesses of one size either may be found first.
func TestMatrixText(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	text := testMatrix(t, context.Background()).Text(report.Plain, true)
	golden(t, "matrix.txt", text)
	table, _, _ := strings.Cut(text, "smallest witnesses")
	for _, line := range strings.Split(table, "\n") {
		assert.LessOrEqual(t, len([]rune(line)), 100, line)
	}
}

func TestMatrixJSON(t *testing.T) {
	m := testMatrix(t, context.Background())
	broken, unsure := m.Claims()
	assert.True(t, broken)
	assert.False(t, unsure)
	assert.False(t, m.Agrees)
	assert.Equal(t, 1, m.Unreached)
	var doc struct {
		Scenario, Seeds string
		Agrees          bool
		Cells           []map[string]any
	}
	require.NoError(t, json.Unmarshal(report.JSON(m), &doc))
	assert.Equal(t, "1-5", doc.Seeds)
	require.Len(t, doc.Cells, 2*2*4)
	for _, cell := range doc.Cells {
		for _, key := range []string{"mode", "fault", "property", "claim", "observed", "runs",
			"violations", "anomalies", "bound"} {
			assert.Contains(t, cell, key)
		}
		assert.Equal(t, cell["observed"] == "violated", cell["witness"] != nil)
	}
}

// The witness of a cell is a scenario file that shows the violation.
func TestMatrixWitness(t *testing.T) {
	lib := scenarios.Builtin()
	for _, cell := range testMatrix(t, context.Background()).Cells {
		if cell.Witness == "" {
			continue
		}
		s, err := scenarios.Parse(lib, "witness.sim", []byte(cell.Witness))
		require.NoError(t, err)
		_, res, err := scenarios.Run(lib, s, scenarios.Options{})
		require.NoError(t, err)
		for i := range res.Verdicts {
			if res.Verdicts[i].Property == cell.Property {
				assert.Equal(t, model.Violated, res.Verdicts[i].Result, cell.Witness)
			}
		}
	}
}

// An interrupted comparison shows what was done and does not say that it agrees.
func TestMatrixPartial(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	m := testMatrix(t, ctx)
	assert.True(t, m.Partial)
	assert.Empty(t, m.Cells)
	assert.Contains(t, m.Text(report.Plain, true), "interrupted")
	assert.NotContains(t, m.Text(report.Plain, true), "agrees")
}
