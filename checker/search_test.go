package checker

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/model"
)

// unclaimed is a history without a single claim, as it might be recorded of a real pipeline: what
// became visible is the output of one execution, the state that of another or the same, and at
// times one entry is altered or swapped. Only the search can tell.
//
// Of a table by key some outputs are left out, as if they had been replaced before anybody looked.
func unclaimed(t *testing.T, seed uint64, specs []string, mode string) *play {
	d := &draws{seed: seed}
	spec := specs[d.below(int64(len(specs)))]
	parts := make([]string, 2)
	for range 2 + d.below(5) {
		parts[d.below(2)] += fmt.Sprintf(" %c%d", 'a'+rune(d.below(3)), d.below(3))
	}
	p := newPlay(t, spec, mode, parseInput(strings.Join(parts, "|")))
	all := executions(p)
	shown := all[d.below(int64(len(all)))]
	stored := shown
	if d.oneIn(2) {
		stored = all[d.below(int64(len(all)))]
	}
	p.visible(d, shown.outs)
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

// visible shows outputs, at times with a flaw.
func (p *play) visible(d *draws, outs []model.Record) {
	outs = slices.Clone(outs)
	if p.s.Shape == model.Keys {
		outs = slices.DeleteFunc(outs, func(model.Record) bool { return d.oneIn(4) })
	}
	if n := int64(len(outs)); n > 1 && d.oneIn(3) {
		i := d.below(n - 1)
		outs[i], outs[i+1] = outs[i+1], outs[i]
	} else if n > 0 && d.oneIn(4) {
		outs[d.below(n)].Value.Num++
	}
	if p.s.Shape == model.Log {
		p.sinks[0] = outs
		return
	}
	for _, out := range outs {
		p.write(p.lives[fmt.Sprintf("s%d/0", out.Op)], out)
	}
}

// TestSearchTables does what TestSearch does, for tables.
func TestSearchTables(t *testing.T) {
	j, props := NewJudge(), []Property{exactlyOnce(), effectivelyOnce(), order()}
	var holds, violated [3]int
	for seed := range fewer(6_000, 0) {
		mode := []string{"through+keys", "through+keys", "through+rows"}[seed%3]
		p := unclaimed(t, seed, []string{"sum", "roll", "odd", "twin", "double>roll", "odd>double",
			"roll>rekey", "rekey>roll", "rekey", "double"}, mode)
		want := []bool{refExactlyOnce(p), refExactlyOnceState(p), true}
		if p.s.Shape == model.Keys {
			want[1], want[2] = refEffectivelyOnceKeys(p), refOrderKeys(p)
		}
		for i, v := range j.Judge(p.s, props) {
			if p.s.Shape == model.Rows && v.Property == "order" {
				continue
			}
			require.NotEqual(t, model.Undecided, v.Result, "%d: %s", seed, v.Reason)
			require.Equal(t, want[i], v.Result == model.Holds, "%d: %s: %v", seed,
				p.s.Job.Topology.Name, v)
			if want[i] {
				holds[i]++
			} else {
				violated[i]++
			}
		}
	}
	t.Log(holds, violated)
	for i := range props {
		require.Greater(t, holds[i], enough(300), props[i].Name)
		require.Greater(t, violated[i], enough(300), props[i].Name)
	}
}

// TestSearch compares what the searches find with the reference. Nothing may be left undecided,
// and both findings must be common.
func TestSearch(t *testing.T) {
	j, props := NewJudge(), []Property{exactlyOnceState(), exactlyOnce()}
	var holds, violated int
	for seed := range fewer(2_500, 0) {
		p := unclaimed(t, seed, []string{"sum", "roll", "odd", "double>roll", "odd>double"},
			"through")
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
	require.Greater(t, holds, enough(1500))
	require.Greater(t, violated, enough(800))
	t.Log(holds, violated)
}
