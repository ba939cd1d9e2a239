package search_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/scenarios"
	"github.com/oncesim/oncesim/search"
	"github.com/oncesim/oncesim/sim"
)

// wander takes steps at random to the end of a run, now and then with a crash.
func wander(o *sim.Ordered, r *rand.Rand) {
	var list []sim.Choice
	for {
		list = o.Choices(list[:0])
		if len(list) == 0 {
			return
		}
		c := list[r.IntN(len(list))]
		o.Take(&c)
		crashes := o.Crashes(&c, nil)
		if len(crashes) == 0 || r.IntN(12) > 0 {
			continue
		}
		o.Undo()
		crash := crashes[r.IntN(len(crashes))]
		if !o.Take(&crash) {
			o.Undo()
			o.Take(&c)
		}
	}
}

// Two runs that end in states of one key have the same verdicts, with the same kinds of anomalies:
// the key has all of the past that judges look at. This goes for the key with what exploring
// teaches as well, which leaves out what cannot matter then.
func TestOrders_OnePastOneVerdict(t *testing.T) {
	walks := 400
	if testing.Short() || underRace {
		walks = 60
	}
	lib := scenarios.Builtin()
	for _, topology := range []string{"pipeline", "two-inputs", "lottery"} {
		for _, mode := range lib.Modes {
			t.Run(topology+"/"+mode.Name, func(t *testing.T) {
				t.Parallel()
				s := orderly(t, topology, mode.Name, "a=1", "a=2")
				runner, err := scenarios.NewRunner(lib, s)
				require.NoError(t, err)
				known, r := &sim.Known{}, rand.New(rand.NewPCG(1, 2))
				verdicts, again := map[[2]uint64]string{}, 0
				for range walks {
					o := runner.Ordered(1, sim.Budget{Crashes: r.IntN(2), Timers: r.IntN(2)}, known,
						scenarios.Options{Unhashed: true})
					wander(o, r)
					key := o.Ending()
					res := runner.Judge(o.Finish())
					signature := search.Signature(mode, res.Verdicts)
					if o.IsSurprised() {
						clear(verdicts)
					}
					known.Learn(o)
					if old, ok := verdicts[key]; ok {
						again++
						require.Equal(t, old, signature)
					}
					verdicts[key] = signature
				}
				require.NotZero(t, again, "no state was reached twice")
			})
		}
	}
}
