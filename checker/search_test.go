package checker

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/model"
)

// unclaimed is a history without a single claim, as it might be recorded of a real pipeline: what
// became visible is the output of one execution, the state that of another or the same, and at
// times one entry is altered or swapped. Only the search can tell.
func unclaimed(t *testing.T, seed uint64) *play {
	d := &draws{seed: seed}
	spec := []string{"sum", "roll", "odd", "double>roll", "odd>double"}[d.below(5)]
	parts := make([]string, 2)
	for range 2 + d.below(5) {
		parts[d.below(2)] += fmt.Sprintf(" %c%d", 'a'+rune(d.below(3)), d.below(3))
	}
	p := newPlay(t, spec, "through", parseInput(strings.Join(parts, "|")))
	all := executions(p)
	shown := all[d.below(int64(len(all)))]
	stored := shown
	if d.oneIn(2) {
		stored = all[d.below(int64(len(all)))]
	}
	p.sinks[0] = append(p.sinks[0], shown.outs...)
	if n := int64(len(shown.outs)); n > 1 && d.oneIn(3) {
		i := d.below(n - 1)
		p.sinks[0][i], p.sinks[0][i+1] = p.sinks[0][i+1], p.sinks[0][i]
	} else if n > 0 && d.oneIn(4) {
		p.sinks[0][d.below(n)].Value.Num++
	}
	for _, name := range model.SortedKeys(stored.state, nil) {
		var rec model.Record
		_, err := fmt.Sscanf(name, "%d %s", &rec.Op, &rec.Key)
		require.NoError(t, err)
		rec.Value = stored.state[name]
		p.store[name] = rec.Value
		p.call(p.lives[fmt.Sprintf("s%d/0", rec.Op)], model.StateStore,
			model.Message{Kind: model.Put, Record: rec}, model.Answer{Outcome: model.Done})
	}
	p.finish()
	return p
}

// TestSearch compares what the searches find with the reference. Nothing may be left undecided,
// and both findings must be common.
func TestSearch(t *testing.T) {
	j, props := NewJudge(), []Property{exactlyOnceState(), exactlyOnce()}
	var holds, violated int
	for seed := range uint64(4_000) {
		p := unclaimed(t, seed)
		verdicts := j.Judge(p.s, props)
		for i, want := range []bool{refExactlyOnceState(p), refExactlyOnce(p)} {
			require.NotEqual(t, model.Undecided, verdicts[i].Result, "%d: %s", seed,
				verdicts[i].Reason)
			require.Equal(t, want, verdicts[i].Result == model.Holds, "%d: %s: %v", seed,
				p.s.Job.Topology.Name, show(verdicts))
			if want {
				holds++
			} else {
				violated++
			}
		}
	}
	require.Greater(t, holds, 2000)
	require.Greater(t, violated, 1000)
	t.Log(holds, violated)
}
