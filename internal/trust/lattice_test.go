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
// those that do, or nil for all of them. A loss does not: an input may be one that is dropped.
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
	})
	for _, r := range refutations {
		require.NotZero(t, refuted[r.weak], r.weak)
	}
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
