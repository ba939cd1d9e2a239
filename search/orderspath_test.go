package search_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/scenarios"
	"github.com/oncesim/oncesim/search"
)

// The path of a witness leads to the same run: the same steps, the anomaly, and the crash among the
// faults that struck.
func TestOrders_PathsLeadToTheirWitnesses(t *testing.T) {
	for _, c := range []struct {
		topology, mode string
		o              search.Orders
	}{
		{"pipeline", "at-least-once", search.Orders{Crashes: 1}},
		{"pipeline", "dedup", search.Orders{Crashes: 1}},
		{"two-inputs", "snapshot-counting", search.Orders{Lulls: 1}},
		{"two-inputs", "snapshot-counting", search.Orders{Crashes: 1, Lulls: 1, Timers: 1,
			Walks: 500}},
	} {
		s := orderly(t, c.topology, c.mode, "a=1", "a=2")
		f := explored(t, c.o, s)
		require.NotEmpty(t, f.Witnesses)
		c.o.Library = scenarios.Builtin()
		for kind, tape := range f.Witnesses {
			again, err := c.o.Follow(s, tape.Path)
			require.NoError(t, err)
			require.Equal(t, tape.Lines(), again.Lines())
			res, err := c.o.Replay(s, again)
			require.NoError(t, err)
			require.True(t, shows(&res, kind), kind)
			h, plan := res.Subject.History, again.Faults()
			require.Len(t, h.Reached, len(plan))
			require.Equal(t, strings.Count(tape.String(), "crash "), len(plan))
			for i, n := range h.Reached {
				require.Equal(t, model.EntryCrash, res.Trace[n-1].Kind)
				require.Equal(t, plan[i].Proc, again.Job.Tasks[res.Trace[n-1].Proc].Name)
			}
		}
	}
}

func shows(res *scenarios.Result, kind model.AnomalyKind) bool {
	for i := range res.Verdicts {
		if res.Verdicts[i].Has(kind) {
			return true
		}
	}
	return false
}

// A path that is none says where it is wrong.
func TestOrders_FollowSaysWhatIsWrong(t *testing.T) {
	s := orderly(t, "pipeline", "at-least-once", "a=1")
	o := search.Orders{Library: scenarios.Builtin(), Crashes: 1}
	for _, c := range []struct{ path, err string }{
		{"", `step 1 of the path, "": "" is not the number of a choice`},
		{"0.9", `step 2 of the path, "9": no choice 9, of those from 0 there are 1`},
		{"0.-1", `step 2 of the path, "-1": "-1" is not the number of a choice`},
		{"0:2.9", `step 3 of the path, "9": no choice 9, of those from 0 there are 1`},
		{"0:999", `step 19 of the path, "0:999": no choice 0, of those from 0 there are 0`},
		{"0:0", `step 1 of the path, "0:0": "0" is not how many times`},
		{"0:", `step 1 of the path, "0:": "" is not how many times`},
		{"0.0x", `step 2 of the path, "0x": "" is not the number of a crash`},
		{"0.0x99", `step 2 of the path, "0x99": no crash 99, of those from 0 there are `},
	} {
		_, err := o.Follow(s, c.path)
		require.ErrorContains(t, err, c.err, c.path)
	}
	tape, err := o.Follow(s, "0.0")
	require.NoError(t, err)
	_, err = o.Replay(s, tape)
	require.ErrorContains(t, err, "the tape ends before the run does")
}
