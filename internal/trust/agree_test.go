package trust

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/internal/oracle"
	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/scenarios"
)

// Pages that two tasks count.
const (
	kibana = "/presentations/logstash-monitorama-2013/images/kibana-search.png"
	board  = "/presentations/logstash-monitorama-2013/images/kibana-dashboard3.png"
	medic  = "/presentations/logstash-monitorama-2013/images/sad-medic.png"
)

// visit is a line of an access log.
func visit(page string) string {
	return `a - - [17/May/2015:10:05:03 +0000] "GET ` + page + ` HTTP/1.1" 200 1`
}

// operator is one of the library.
func operator(t *testing.T, name string) *model.Operator {
	list := scenarios.Builtin().Operators
	i := slices.IndexFunc(list, func(op *model.Operator) bool { return op.Name == name })
	require.GreaterOrEqual(t, i, 0, name)
	return list[i]
}

// The runs on which the judges differed once, and what is true of them.
func TestJudges_AgreeWhereTheyDidNot(t *testing.T) {
	for _, tc := range []struct {
		name     string
		set      scenarios.Settings
		property string
		kinds    []model.AnomalyKind // none: the property holds
	}{
		{"a coordinator that looks at the state of a task does not have it",
			scenarios.Settings{Name: "running-average-four", Mode: "independent-snapshots",
				Faults: []string{"crash source/0 before effect 6",
					"lose data 4 from source/1 to average/0"}},
			"exactly-once-state", []model.AnomalyKind{model.StateLoss}},
		{"a task that is handed the state of another has it",
			scenarios.Settings{Name: "page-views", Mode: "two-phase-commit",
				Defect: "state-of-a-neighbour", Records: 1, Set: []string{"stop-at=2"}},
			"replay-explained", nil},
		{"and what it leaves is made of that",
			scenarios.Settings{Name: "accounts", Mode: "micro-batch",
				Defect: "state-of-a-neighbour", Lines: []string{"bob carol 40", "bob carol 40"},
				Faults: []string{"pause debit/1 after effect 1 of record input/0:1 for 80ms"}},
			"exactly-once-state", []model.AnomalyKind{model.StateLoss, model.InconsistentCut}},
		{"a checkpoint that counts again does so without the parts that were dropped",
			scenarios.Settings{Name: "running-average", Mode: "two-phase-commit",
				Defect: "completed-by-two", Lines: []string{"k1=12"},
				Faults: []string{"delay call completion 2 of coordinator/0 by 50ms"}},
			"exactly-once-state", []model.AnomalyKind{model.StateLoss}},
		{"what is left of a part is what steps gave",
			scenarios.Settings{Name: "running-average", Mode: "two-phase-commit",
				Defect: "restore-takes-the-tail", Lines: []string{"k1=12", "k3=2"},
				Set:    []string{"stop-at=2"},
				Faults: []string{"lose request of completion 3 from coordinator/0"}},
			"replay-explained", nil},
		{"and so is the part of another checkpoint",
			scenarios.Settings{Name: "accounts", Mode: "micro-batch",
				Defect: "state-of-first-run", Lines: []string{"bob carol 110", "carol bob 80"},
				Faults: []string{"lose data 1 from debit/0 to credit/1"}},
			"replay-explained", nil},
		{"a state that was replaced is what a step gave",
			scenarios.Settings{Name: "transfers", Mode: "dedup", Defect: "standby-lags",
				Lines:  []string{"bob carol 40", "bob carol 40", "bob carol 110"},
				Faults: []string{"refuse call update 3 of ledger/0"}},
			"replay-explained", nil},
		{"and an empty one that was never put is the empty state",
			scenarios.Settings{Name: "running-average", Mode: "dedup", Defect: "standby-lags",
				Lines:  []string{"k3=3", "k3=4"},
				Faults: []string{"pause average/0 after update 1 for 80ms"}},
			"at-most-once", nil},
		{"an output has arrived with an equal one of another application",
			scenarios.Settings{Name: "fan-out", Mode: "acker", Defect: "unknown-is-done",
				Lines: []string{"be", "or be"},
				Faults: []string{"crash double/0 after effect 1 of record input/0:0",
					"lose request of write 9 from sink/0"}},
			"at-least-once", nil},
		{"a record that is sent again is the one that is equal",
			scenarios.Settings{Name: "transfers", Mode: "dedup", Defect: "load-catalog-in-part",
				Lines: []string{"bob carol 40"},
				Faults: []string{"lose data 1 from ledger/0 to sink/0",
					"crash ledger/0 after update 1"}},
			"replay-explained", nil},
		{"an output is of the step whose partition it is in",
			scenarios.Settings{Name: "page-views", Mode: "snapshot",
				Defect: "state-of-a-neighbour", Set: []string{"alignment=2"},
				Lines: []string{visit(kibana), visit(board), visit(kibana), visit(kibana),
					visit(kibana), visit(medic)},
				Faults: []string{"lose request of fetch 3 from source/1",
					"crash sink/1 after effect 1 of checkpoint 2"}},
			"replay-explained", nil},
		{"and a phantom in any other",
			scenarios.Settings{Name: "page-views", Mode: "two-phase-commit",
				Defect: "state-of-a-neighbour", Records: 1, Set: []string{"alignment=2"},
				Faults: []string{"crash sink/0 after write 1",
					"lose answer of fetch 2 from source/0"}},
			"exactly-once", []model.AnomalyKind{model.Phantom}},
		{"what readers see in the end is all of it",
			scenarios.Settings{Name: "pipeline", Mode: "two-phase-commit",
				Defect: "begin-not-known-yet", Lines: []string{"k1=12", "k1=2"},
				Faults: []string{"crash op/0 after effect 1 of record input/0:1"}},
			"at-most-once", []model.AnomalyKind{model.Duplicate}},
		{"an output has not arrived where another one has its version",
			scenarios.Settings{Name: "running-average", Mode: "idempotent-by-key",
				Defect: "version-begins-again", Seed: 702,
				Lines:  []string{"k1=12", "k1=2", "k0=89", "k0=18", "k1=70", "k0=45"},
				Faults: []string{"refuse call put 4 of average/0"}},
			"at-least-once", []model.AnomalyKind{model.Loss}},
		{"one execution has one order for all its keys",
			scenarios.Settings{Name: "running-average", Mode: "snapshot-wal",
				Defect: "in-flight-cut-short", Set: []string{"interval=1ms"}, Seed: 439,
				Lines: []string{"k1=12", "k3=2", "k1=89", "k1=18", "k1=70", "k1=45", "k3=3"}},
			"exactly-once-state", []model.AnomalyKind{model.InconsistentCut}},
		{"a state behind another one may be named though its value is right",
			scenarios.Settings{Name: "accounts", Mode: "at-most-once",
				Defect: "position-by-count",
				Lines:  []string{"bob carol 40", "bob carol 40", "bob carol 40"},
				Faults: []string{"truncate input/0 before 1 at fetch 1 of source/0"}},
			"exactly-once", []model.AnomalyKind{model.Loss, model.Duplicate}},
		{"what a step took up that shows nothing is not lost",
			scenarios.Settings{Topology: &model.Topology{Name: "count-then-pay",
				Inputs: []model.InputSpec{{Name: "input"}},
				Stages: []model.Stage{
					{Name: "count", Operator: operator(t, "count"), From: []string{"input"}},
					{Name: "ledger", Operator: operator(t, "ledger"), From: []string{"count"}},
				}},
				Mode: "at-least-once", Set: []string{"timeout=15ms"}, Lines: []string{"a=1"},
				Faults: []string{"partition count/0 | store for 40ms at answer of put 1"}},
			"exactly-once", []model.AnomalyKind{model.StateDuplicate}},
		{"no state is the empty one, which a step may leave as well",
			scenarios.Settings{Topology: &model.Topology{Name: "count",
				Inputs: []model.InputSpec{{Name: "input"}},
				Stages: []model.Stage{
					{Name: "count", Operator: operator(t, "count"), From: []string{"input"}},
				}},
				Mode: "at-most-once", Lines: []string{"a=0"},
				Faults: []string{"forget call put 1 of count/0"}},
			"at-most-once", nil},
		{"a step whose input was set aside has decided nothing",
			scenarios.Settings{Name: "lottery", Mode: "idempotent-by-key", Seed: 5,
				Set: []string{"dead-letter=1"}, Lines: []string{"a=0"},
				Faults: []string{"poison record input/0:0 at bonus/0"}},
			"exactly-once-state", []model.AnomalyKind{model.StateLoss}},
		{"and nobody knows what it would have",
			scenarios.Settings{Topology: &model.Topology{Name: "lotteries",
				Inputs: []model.InputSpec{{Name: "one"}, {Name: "two", Partitions: 2}},
				Stages: []model.Stage{{Name: "bonus",
					Operator: scenarios.Lottery.Stages[0].Operator, From: []string{"one", "two"}}}},
				Mode: "idempotent", Lines: []string{"a=0", "a=0", "a=0"},
				Faults: []string{"poison record one/0:0 at bonus/0"}},
			"at-most-once", []model.AnomalyKind{model.StateDuplicate}},
		{"all that a step emits stays together, also where its task merges channels",
			scenarios.Settings{Topology: &model.Topology{Name: "forked",
				Inputs: []model.InputSpec{{Name: "one"}, {Name: "two"}},
				Stages: []model.Stage{{Name: "fork", Operator: ownOperators[0],
					From: []string{"one", "two"}}}},
				Mode: "none", Lines: []string{"a=0", "b=0"},
				Faults: []string{"delay call write 2 of sink/0 by 60ms"}},
			"exactly-once", []model.AnomalyKind{model.Reorder}},
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
			i := slices.IndexFunc(res.Verdicts, func(v model.Verdict) bool {
				return v.Property == tc.property
			})
			v := &res.Verdicts[i]
			require.NotEqual(t, model.Undecided, v.Result, "%+v", v)
			require.Equal(t, len(tc.kinds) > 0, v.Result == model.Violated, "%+v", v)
			for _, kind := range tc.kinds {
				require.True(t, v.Has(kind), "%+v", v)
			}
		})
	}
}

// Two tasks keep state behind one that merges channels, and each of them has an order of its
// inputs. That no order of the merging task gives both is found from the inside. From the outside
// only the orders that were found are looked at: it stays open whether others fit together.
func TestJudges_LeaveMergesOpen(t *testing.T) {
	requireOpen(t, scenarios.Settings{Topology: &model.Topology{Name: "forked-averages",
		Inputs: []model.InputSpec{{Name: "input", Partitions: 2}},
		Stages: []model.Stage{
			{Name: "fork", Operator: ownOperators[0], From: []string{"input"}},
			{Name: "average", Operator: operator(t, "average"), From: []string{"fork"},
				Parallel: 2, Exchange: model.ByKey},
		}},
		Mode: "at-most-once", Lines: []string{"a=7", "a=0", "a=2", "a=0"}, Seed: 7,
		Faults: []string{"delay call put 2 of average/0 by 60ms"}},
		model.Violated, "were not shown to fit together")
}

// What is in flight in another order than that of its channel is a state of its cut where values do
// not tell the orders apart. The checker goes by the steps of the run, and what is in flight of an
// operator that draws has had none yet; the oracle takes the values.
func TestJudges_LeaveDrawsOpen(t *testing.T) {
	requireOpen(t, scenarios.Settings{Name: "lottery", Mode: "snapshot-wal", Seed: 258, Records: 4,
		Defect: "in-flight-reversed", Set: []string{"alignment=2", "work=20ms"},
		Faults: []string{"delay call fetch 3 of source/0 by 60ms"}},
		model.Holds, "draws anew")
}

// requireOpen requires that the checker leaves exactly-once-state open, of which the oracle knows.
func requireOpen(t *testing.T, set scenarios.Settings, inside model.Result, why string) {
	lib, s, err := set.Resolve()
	require.NoError(t, err)
	_, res, err := scenarios.Run(lib, s, scenarios.Options{Trace: true})
	require.NoError(t, err)
	x := res.Subject
	report := oracle.Judge(x.Job, x.Mode, x.Input, x.Shape, res.Trace, x.History)
	known, _ := report.Verdict("exactly-once-state")
	require.Equal(t, inside, known)
	i := slices.IndexFunc(res.Verdicts, func(v model.Verdict) bool {
		return v.Property == "exactly-once-state"
	})
	require.Equal(t, model.Undecided, res.Verdicts[i].Result)
	require.Contains(t, res.Verdicts[i].Reason, why)
}
