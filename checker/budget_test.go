package checker

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/model"
)

// TestBudget_IsSpentToTheLastStep: four inputs on each of two channels can be taken in 70 orders, no
// two of which give one state on the way, so that the ways there are C(10,5)-2 = 250 steps. A search
// may spend a quarter of what there is. It finds the last order with its last step, and only then
// knows that there is none. What it finds under the one key is looked for once more among all inputs
// of the task, with a quarter of what the first search has left.
func TestBudget_IsSpentToTheLastStep(t *testing.T) {
	input := "in a1 a2 a3 a4 | a5 a6 a7 a8"
	last := model.Value{}
	for _, n := range []int64{5, 6, 7, 8, 1, 2, 3, 4} {
		var out model.Outputs
		last = hash.Step(model.Record{Key: "a", Value: model.Value{Num: n}}, last, &out)
	}
	for _, c := range []struct {
		state    model.Value
		stepsMax int
		want     model.Result
	}{
		{last, 1249, model.Undecided},
		{last, 1250, model.Holds},
		{model.Value{Num: 1}, 999, model.Undecided},
		{model.Value{Num: 1}, 1000, model.Violated},
	} {
		p := stage(t, "hash", "through", input)
		p.call(p.lives["s1/0"], model.StateStore, model.Message{Kind: model.Put,
			Record: model.Record{Op: 1, Key: "a", Value: c.state}}, model.Answer{Outcome: model.Done})
		p.h.End.N = p.tick()
		j := NewJudge()
		j.StepsMax = c.stepsMax
		got := verdictOf(j.Judge(p.s, All()), "exactly-once-state")
		require.Equal(t, c.want, got.Result, "%v within %d steps", c.state, c.stepsMax)
	}
}
