package trust

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/internal/oracle"
	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/scenarios"
)

// The runs on which the judges differed once, and what is true of them.
func TestJudges_AgreeWhereTheyDidNot(t *testing.T) {
	for _, tc := range []struct {
		name     string
		set      scenarios.Settings
		property string
		kind     model.AnomalyKind
	}{
		{"a coordinator that looks at the state of a task does not have it",
			scenarios.Settings{Name: "running-average-four", Mode: "independent-snapshots",
				Faults: []string{"crash source/0 before effect 6",
					"lose data 4 from source/1 to average/0"}},
			"exactly-once-state", model.StateLoss},
	} {
		t.Run(tc.name, func(t *testing.T) {
			lib, s, err := tc.set.Resolve()
			require.NoError(t, err)
			_, res, err := scenarios.Run(lib, s, scenarios.Options{Trace: true})
			require.NoError(t, err)
			require.NotContains(t, res.Subject.History.Reached, int64(0))
			x := res.Subject
			report := oracle.Judge(x.Job, x.Mode, x.Input, x.Shape, res.Trace, x.History)
			require.Empty(t, oracle.Disagreement(report, res.Verdicts))
			for i := range res.Verdicts {
				if v := &res.Verdicts[i]; v.Property == tc.property {
					require.True(t, v.Has(tc.kind), "%+v", v)
				}
			}
		})
	}
}
