package search

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/model"
)

// Plans that came to the same run go on alike where all that they have is crashes. A pause that
// began elsewhere ends at another time, and a partition is in force before it is seen: these are
// told apart, whatever the run.
func TestSameRun_TellsWhatLastsApart(t *testing.T) {
	crash := func(n int64) model.Rule {
		return model.Rule{Action: model.Crash, Scope: model.EveryEffect, N: n}
	}
	pause := func(n int64) model.Rule {
		return model.Rule{Action: model.Pause, Scope: model.EveryEffect, N: n, For: 80}
	}
	cut := func(at int64) model.Rule { return model.Rule{Action: model.CutLink, At: at, For: 40} }
	for _, c := range []struct {
		a, b   []model.Rule
		isSame bool
	}{
		{[]model.Rule{crash(1)}, []model.Rule{crash(2)}, true},
		{[]model.Rule{crash(1), crash(4)}, []model.Rule{crash(2), crash(3)}, true},
		{[]model.Rule{pause(1)}, []model.Rule{pause(2)}, false},
		{[]model.Rule{cut(1)}, []model.Rule{cut(2)}, false},
		{[]model.Rule{pause(1)}, []model.Rule{crash(1)}, false},
		{[]model.Rule{pause(1), crash(4)}, []model.Rule{pause(1), crash(5)}, true},
		{[]model.Rule{pause(1), crash(4)}, []model.Rule{pause(2), crash(4)}, false},
	} {
		require.Equal(t, c.isSame, newSameRun(7, c.a) == newSameRun(7, c.b), "%v, %v", c.a, c.b)
		require.NotEqual(t, newSameRun(7, c.a), newSameRun(8, c.a))
	}
}
