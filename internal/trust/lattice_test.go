package trust

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/scenarios"
)

// refutations say which properties a proven violation of another one refutes as well; kinds are
// those that do, or nil for all of them. A loss refutes exactly-once if isMissed.
var refutations = []struct {
	weak   string
	kinds  []model.AnomalyKind
	strong string
}{
	{"order", nil, "exactly-once"},
	{"no-revision", nil, "exactly-once"},
	{"at-most-once", []model.AnomalyKind{model.Duplicate, model.Regression}, "exactly-once"},
	{"effectively-once", []model.AnomalyKind{model.StateLoss, model.StateDuplicate,
		model.WrongState}, "exactly-once-state"},
	{"effectively-once", nil, "exactly-once"},
}

// said is what a judge says of one property.
type said func(property string) (model.Result, []model.AnomalyKind)

// A violation that is proven is not left open, and still less denied, by a property that includes
// it. So it is in both judges.
func TestProperties_AProvenViolationRefutesWhatIncludesIt(t *testing.T) {
	lib := drawnLibrary()
	refuted := map[string]int{}
	check(t, 1_000, 10_000, func(rt *rapid.T) {
		x := wild(lib).draw(rt)
		res := x.run(rt, scenarios.Options{Trace: true})
		for name, judge := range map[string]said{"checker": blackBox(&res),
			"oracle": inside(&res).Verdict} {
			for _, r := range refutations {
				result, kinds := judge(r.weak)
				is := result == model.Violated && (r.kinds == nil ||
					slices.ContainsFunc(kinds, func(k model.AnomalyKind) bool {
						return slices.Contains(r.kinds, k)
					}))
				if !is {
					continue
				}
				refuted[r.weak]++
				strong, _ := judge(r.strong)
				require.Equal(rt, model.Violated, strong,
					"%s: %s is violated, %v, and %s is not\n%s", name, r.weak, kinds, r.strong,
					x.file())
			}
		}
		if isMissed(&res) {
			refuted["at-least-once"]++
			strong, _ := blackBox(&res)("exactly-once")
			require.Equal(rt, model.Violated, strong, "%s", x.file())
		}
	})
	for _, r := range refutations {
		require.NotZero(t, refuted[r.weak], r.weak)
	}
	require.NotZero(t, refuted["at-least-once"])
}

// blackBox is what the checker says.
func blackBox(res *scenarios.Result) said {
	return func(property string) (model.Result, []model.AnomalyKind) {
		for i := range res.Verdicts {
			if v := &res.Verdicts[i]; v.Property == property {
				var kinds []model.AnomalyKind
				for _, a := range v.Anomalies {
					kinds = append(kinds, a.Kind)
				}
				return v.Result, kinds
			}
		}
		return model.Undecided, nil
	}
}

// isMissed reports whether an input is lost of which a step had an output for the sink, and nothing
// is visible. One that every step drops is lost as well, and nobody can see that.
func isMissed(res *scenarios.Result) bool {
	h := res.Subject.History
	if res.Subject.Shape == model.Keys {
		return false // a later output may have taken its row
	}
	for i := range res.Verdicts {
		for _, a := range res.Verdicts[i].Anomalies {
			isLoss := res.Verdicts[i].Property == "at-least-once" && a.Kind == model.Loss
			isSeen := slices.ContainsFunc(h.Final, func(o model.Observation) bool {
				return o.Out.ID == a.Record.ID
			})
			if isLoss && !isSeen && isSentToSink(res, a.Record.ID) {
				return true
			}
		}
	}
	return false
}

// isSentToSink reports whether a task in front of a sink had outputs of an input, and no operator
// that took it up says that order decides of them.
func isSentToSink(res *scenarios.Result, id model.ID) (is bool) {
	tasks := res.Subject.Job.Tasks
	for _, a := range res.Subject.History.Applications {
		switch task := &tasks[a.Proc]; {
		case a.In.ID != id:
		case task.Operator.Kind >= model.NonCommutative:
			return false
		case a.Outputs > 0 && a.Dropped == "":
			is = is || slices.ContainsFunc(task.Out, func(out model.OutChannel) bool {
				return tasks[out.Peer].Role == model.Sink
			})
		}
	}
	return is
}

// Where operators with state follow one another there is no search, and all is lost: a timeout of
// transactions that is shorter than the outage.
func TestLossRefutesExactlyOnce_BehindTwoStates(t *testing.T) {
	set := scenarios.Settings{Name: "accounts", Mode: "two-phase-commit", Seed: 656, Records: 12,
		Set: []string{"global=1", "txn-timeout=40ms"},
		Faults: []string{"pause source/0 after fetch 4 for 20ms",
			"pause sink/1 after effect 4 for 20ms"}}
	lib, s, err := set.Resolve()
	require.NoError(t, err)
	x := newTrial(t, lib, s)
	res := x.run(t, scenarios.Options{Trace: true})
	for _, judge := range []said{blackBox(&res), inside(&res).Verdict} {
		for _, property := range []string{"at-least-once", "exactly-once"} {
			result, kinds := judge(property)
			require.Equal(t, model.Violated, result, property)
			require.Contains(t, kinds, model.Loss, property)
		}
	}
}

// The order of three inputs decides whether the second of them raises an alarm. It did, and the
// alarm was lost; in another order nobody raises one, and nothing is what a reader sees. So
// exactly-once is not refuted by that loss, also where no search is made: behind two states.
func TestLossLeavesExactlyOnceOpen_WhereAnOrderDropsIt(t *testing.T) {
	lib := scenarios.Builtin()
	lib.Operators = append(slices.Clone(lib.Operators), &model.Operator{Name: "own-passing",
		Kind: model.Commutative,
		Step: func(in model.Record, state model.Value, out *model.Outputs) model.Value {
			out.Emit(in.Key, in.Value)
			return model.Value{Num: state.Num + 1}
		}})
	s, err := scenarios.Parse(lib, "alarms", []byte(`-- scenario.yaml --
format: 1
topology:
  name: alarms
  inputs: [{name: left}, {name: right}]
  stages:
    - {name: pass, operator: own-passing, from: [left, right], exchange: by-key}
    - {name: alarm, operator: alarm, from: [pass], exchange: by-key}
mode: at-most-once
input:
  lines: [a=60, a=60, a=-60, a=10]
  every: 7ms
faults:
  - crash sink/0 before effect 1
`))
	require.NoError(t, err)
	res := newTrial(t, lib, s).run(t, scenarios.Options{Trace: true})
	for name, judge := range map[string]said{"checker": blackBox(&res),
		"oracle": inside(&res).Verdict} {
		result, kinds := judge("at-least-once")
		require.Equal(t, model.Violated, result, name)
		require.Contains(t, kinds, model.Loss, name)
		result, kinds = judge("exactly-once")
		require.NotEqual(t, model.Violated, result, "%s: %v", name, kinds)
	}
}
