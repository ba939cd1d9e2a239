package checker

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/model"
)

// TestBudget_IsSpentToTheLastStep: four inputs on each of two channels can be taken in 70 orders,
// no two of which give one state on the way, so that the ways there are C(10,5)-2 = 250 steps. A
// search may spend a quarter of what there is. It finds the last order with its last step, and only
// then knows that there is none. What it finds under the one key is looked for once more among all
// inputs of the task, with a quarter of what the first search has left.
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
		rec := model.Record{Op: 1, Key: "a", Value: c.state}
		p.call(p.lives["s1/0"], model.StateStore, model.Message{Kind: model.Put, Record: rec},
			model.Answer{Outcome: model.Done})
		p.h.End.N = p.tick()
		j := NewJudge()
		j.StepsMax = c.stepsMax
		got := verdictOf(j.Judge(p.s, All()), "exactly-once-state")
		require.Equal(t, c.want, got.Result, "%v within %d steps", c.state, c.stepsMax)
	}
}

// TestBudget_AccusesOnlyOfWhatIsKnown shows of the last two inputs what another order gives than of
// the others. Where that is not so is named, once. Of each value it is right that some order gives
// it, but a search with a small budget does not come that far, and must not say that none does.
func TestBudget_AccusesOnlyOfWhatIsKnown(t *testing.T) {
	first := []int64{0} // what the inputs of the second channel give if they come first
	for _, n := range []int64{5, 6, 7, 8} {
		var out model.Outputs
		after := hash.Step(model.Record{Key: "a", Value: model.Value{Num: n}},
			model.Value{Num: first[len(first)-1]}, &out)
		first = append(first, after.Num)
	}
	story := "in a1 a2 a3 a4 | a5 a6 a7 a8; take 0:0; take 0:1; take 0:2; take 0:3; take 1:0; " +
		"take 1:1; apply 1:2; apply 1:3; "
	story += fmt.Sprintf("write 1:2=%d; write 1:3=%d", first[3], first[4])
	for _, stepsMax := range []int{1, 0} {
		j := NewJudge()
		j.StepsMax = stepsMax
		got := show(j.Judge(stage(t, "hash", "volatile", story).s, All()))
		require.Equal(t, "wrong-value 1:2", got["exactly-once"])
	}
}

// TestBudget_OfABranch: of eight inputs each is taken or not, so that the step on the i-th is tried
// after 2^(i-1) others, and there are 255. That all of them are taken is tried last.
func TestBudget_OfABranch(t *testing.T) {
	all := model.Value{}
	for n := range int64(8) {
		var out model.Outputs
		all = hash.Step(model.Record{Key: "a", Value: model.Value{Num: n}}, all, &out)
	}
	for _, c := range []struct {
		state    int64
		stepsMax int
		want     model.Result
	}{
		{all.Num, 4*255 - 1, model.Undecided},
		{all.Num, 4 * 255, model.Holds},
		{1, 4*255 - 1, model.Undecided},
		{1, 4 * 255, model.Violated},
	} {
		p := stage(t, "hash", "snap", fmt.Sprintf(
			"in a0 a1 a2 a3 a4 a5 a6 a7; mark 1 8; part 1 a=%d; done 1", c.state))
		j := NewJudge()
		j.StepsMax = c.stepsMax
		got := verdictOf(j.Judge(p.s, All()), "at-most-once")
		require.Equal(t, c.want, got.Result, "%v within %d steps", c.state, c.stepsMax)
	}
}
