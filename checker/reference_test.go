package checker

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/model"
)

// The reference judges by the definitions, word by word: it enumerates all failure-free executions
// of stages in a row with one task each. It shares nothing with the package but the play that it
// looks at, whose truth it may use.

// execution is what one order of the inputs gives.
type execution struct {
	outs  []model.Record
	state map[string]model.Value
}

// executions enumerates all orders that keep each partition's own.
func executions(p *play) (all []execution) {
	order := make([]model.Record, 0, p.s.Input.Total())
	positions := make([]int, len(p.s.Input.Parts))
	var extend func()
	extend = func() {
		done := true
		for part := range positions {
			records := p.s.Input.Parts[part].Records
			if positions[part] == len(records) {
				continue
			}
			done = false
			order = append(order, records[positions[part]])
			positions[part]++
			extend()
			positions[part]--
			order = order[:len(order)-1]
		}
		if done {
			all = append(all, execute(p, order))
		}
	}
	extend()
	return all
}

func execute(p *play, order []model.Record) execution {
	e := execution{state: map[string]model.Value{}}
	var step func(op int, in model.Record)
	step = func(op int, in model.Record) {
		if op > len(p.s.Job.Topology.Stages) {
			e.outs = append(e.outs, in)
			return
		}
		var out model.Outputs
		out.Begin(int32(op), in)
		operator, key := p.s.Job.Topology.Stages[op-1].Operator, storeKey(int32(op), in.Key)
		if after := operator.Step(in, e.state[key], &out); operator.Kind != model.Stateless {
			e.state[key] = after
		}
		for _, rec := range out.Records() {
			step(op+1, rec)
		}
	}
	for _, in := range order {
		step(1, in)
	}
	return e
}

// sameState compares states; an absent key is the empty state.
func sameState(a, b map[string]model.Value) bool {
	for _, m := range []map[string]model.Value{a, b} {
		for key := range m {
			if a[key] != b[key] {
				return false
			}
		}
	}
	return true
}

func refExactlyOnceState(p *play) bool {
	return slices.ContainsFunc(executions(p), func(e execution) bool {
		return sameState(e.state, p.final())
	})
}

func refExactlyOnce(p *play) bool {
	return refNoRevision(p) && slices.ContainsFunc(executions(p), func(e execution) bool {
		return slices.Equal(e.outs, p.sinks[0]) && sameState(e.state, p.final())
	})
}

// refNoRevision: what was seen is still in its place. Two values of one identity are two entries,
// which no execution has.
func refNoRevision(p *play) bool {
	for _, o := range p.h.Observations {
		if int(o.Seq) >= len(p.sinks[0]) || p.sinks[0][o.Seq] != o.Out {
			return false
		}
	}
	return true
}

func refAtLeastOnce(p *play) bool {
	for part := range p.s.Input.Parts {
		for _, rec := range p.s.Input.Parts[part].Records {
			covered := slices.ContainsFunc(p.truth, func(a applied) bool {
				return a.in.Same(rec) && !slices.ContainsFunc(a.outs, func(out model.Record) bool {
					return !slices.Contains(p.sinks[0], out)
				})
			})
			if !covered {
				return false
			}
		}
	}
	return true
}

// refAtMostOnce: nothing twice, and each key explained by itself by some part of its inputs, in an
// order that keeps each partition's own.
func refAtMostOnce(p *play) bool { return refOnce(p, refSomeOnce) }

// refAtMostOnceAsClaimed accepts the order of the claims too, whatever it is.
func refAtMostOnceAsClaimed(p *play) bool {
	return refOnce(p, func(p *play, key string) bool {
		return refSomeOnce(p, key) || refClaimsOnce(p, key)
	})
}

func refOnce(p *play, explains func(p *play, key string) bool) bool {
	keys := map[string]bool{}
	for i, out := range p.sinks[0] {
		if !p.s.Input.Has(out.ID) || slices.ContainsFunc(p.sinks[0][:i], out.Same) {
			return false
		}
	}
	for i := range p.s.Input.Total() {
		keys[p.s.Input.ByIndex(i).Key] = true
	}
	for _, key := range model.SortedKeys(keys, nil) {
		if !explains(p, key) {
			return false
		}
	}
	return true
}

// refSomeOnce tries all parts of a key's inputs, in all orders that keep each partition's own, and
// all places where state in memory may have been lost.
func refSomeOnce(p *play, key string) bool {
	var lanes [][]model.Record
	for part := range p.s.Input.Parts {
		lanes = append(lanes, slices.DeleteFunc(slices.Clone(p.s.Input.Parts[part].Records),
			func(rec model.Record) bool { return rec.Key != key }))
	}
	resets := 0
	if p.s.Mode.State == model.Volatile {
		resets = p.restarts
	}
	stateless := p.s.Job.Topology.Kind() == model.Stateless
	var try func(state model.Value, resets int) bool
	try = func(state model.Value, resets int) bool {
		left := false
		for i := range lanes {
			if len(lanes[i]) == 0 {
				continue
			}
			left = true
			in, lane := lanes[i][0], lanes[i]
			lanes[i] = lane[1:]
			var out model.Outputs
			out.Begin(1, in)
			after := p.s.Job.Topology.Stages[0].Operator.Step(in, state, &out)
			shows := func(rec model.Record) bool { return rec.ID == in.ID }
			fits := !slices.ContainsFunc(p.sinks[0], func(rec model.Record) bool {
				return shows(rec) && !slices.Contains(out.Records(), rec)
			})
			if fits && try(after, resets) || !slices.ContainsFunc(p.sinks[0], shows) &&
				try(state, resets) {
				return true
			}
			lanes[i] = lane
		}
		if !left && (stateless || p.final()[storeKey(1, key)] == state) {
			return true
		}
		return resets > 0 && state != (model.Value{}) && try(model.Value{}, resets-1)
	}
	return try(model.Value{}, resets)
}

// refClaimsOnce tries all parts of what was applied under a key, in the order in which it was.
func refClaimsOnce(p *play, key string) bool {
	resets := 0
	if p.s.Mode.State == model.Volatile {
		resets = p.restarts
	}
	shown := map[model.ID]int{}
	for _, out := range p.sinks[0] {
		if p.s.Input.At(out.ID).Key == key {
			shown[out.ID]++
		}
	}
	used := map[model.ID]bool{}
	var try func(i int, state model.Value, resets int) bool
	try = func(i int, state model.Value, resets int) bool {
		if resets > 0 && state != (model.Value{}) && try(i, model.Value{}, resets-1) {
			return true
		}
		if i == len(p.truth) {
			missing := slices.ContainsFunc(p.sinks[0], func(out model.Record) bool {
				return shown[out.ID] > 0 && !used[out.ID]
			})
			return !missing && p.final()[storeKey(1, key)] == state
		}
		in := p.truth[i].in
		if in.Key != key || used[in.ID] {
			return try(i+1, state, resets)
		}
		var out model.Outputs
		out.Begin(1, in)
		after := p.s.Job.Topology.Stages[0].Operator.Step(in, state, &out)
		fits := !slices.ContainsFunc(p.sinks[0], func(rec model.Record) bool {
			return rec.ID == in.ID && !slices.Contains(out.Records(), rec)
		})
		used[in.ID] = true
		if fits && try(i+1, after, resets) {
			return true
		}
		used[in.ID] = false
		return try(i+1, state, resets)
	}
	return try(0, model.Value{}, resets)
}

// draws is a source of small numbers for random histories.
type draws struct{ seed, n uint64 }

func (d *draws) below(n int64) int64 {
	d.n++
	return model.Below(model.Draw(d.seed, model.DrawPlan, d.n, 0, 0), n)
}

func (d *draws) oneIn(n int64) bool { return d.below(n) == 0 }

// randomPlay plays a story that a job with some faults might have lived through: it reads its
// partitions in order, and at times dies, skips, rewinds, repeats or lies.
func randomPlay(t testing.TB, seed uint64, specs []string) (*play, string) {
	d := &draws{seed: seed}
	spec := specs[d.below(int64(len(specs)))]
	mode := []string{"volatile", "through"}[d.below(2)]
	parts := make([]string, 1+d.below(2))
	for range 1 + d.below(5) {
		part := d.below(int64(len(parts)))
		parts[part] += fmt.Sprintf(" %c%d", 'a'+rune(d.below(2)), d.below(3))
	}
	input := parseInput(strings.Join(parts, "|"))
	story := []string{"in" + strings.Join(parts, " |")}
	positions := make([]int64, len(parts))
	for range 9 {
		part := d.below(int64(len(parts)))
		if positions[part] < int64(len(input.Parts[part].Records)) {
			story = append(story, d.clauses(part, &positions[part], len(story) > 3)...)
		}
	}
	for part := range positions { // most runs drain
		for !d.oneIn(9) && positions[part] < int64(len(input.Parts[part].Records)) {
			story = append(story, fmt.Sprintf("take %d:%d", part, positions[part]))
			positions[part]++
		}
	}
	if strings.Contains(spec, ">") {
		story = d.downstream(story, spec)
	}
	text := strings.Join(story, "; ")
	return stage(t, spec, mode, text), spec + ", " + mode + ": " + text
}

// clauses tells what happens to one record.
func (d *draws) clauses(part int64, at *int64, written bool) []string {
	name := fmt.Sprintf("%d:%d", part, *at)
	on := func(clauses ...string) []string {
		*at++
		return clauses
	}
	switch d.below(17) {
	case 0: // the task dies before anything durable
		return []string{"apply " + name, "crash"}
	case 1: // it dies with the state stored
		return []string{"apply " + name, "put " + name, "crash"}
	case 2: // it dies with everything done, and does it again
		return []string{"take " + name, "crash"}
	case 3:
		return on("take "+name, "crash")
	case 4: // the output is lost
		return on("apply "+name, "put "+name, "crash")
	case 5: // an input is lost
		return on()
	case 6: // the source goes back to the beginning
		*at = 0
		return []string{"crash"}
	case 7: // the write is repeated, or was another
		return on("take "+name, "write "+name+[]string{"", "=1", "=2"}[d.below(3)])
	case 8:
		return on("apply "+name, "put "+name, fmt.Sprintf("write %s=%d", name, d.below(5)))
	case 9:
		return []string{"see"}
	case 10: // another value is stored
		return on("apply "+name, fmt.Sprintf("put %s=%d", name, d.below(5)), "write "+name)
	case 11: // the write is late
		return on("apply "+name, "put "+name, "see", "write "+name)
	case 12: // the write is lost, and nobody dies of it
		return on("apply "+name, "put "+name)
	}
	return on("take " + name)
}

// downstream lets each record go on to the second stage as soon as it has left the first, unless
// it was lost on the way, and lets only the second write.
func (d *draws) downstream(story []string, spec string) (longer []string) {
	for _, clause := range story {
		verb, name, _ := strings.Cut(clause, " ")
		switch {
		case verb == "write":
			continue
		case verb == "take" && !d.oneIn(12):
			longer = append(longer, clause, clause+" at 2")
			if d.oneIn(12) {
				longer = append(longer, "crash s2/0")
			}
			if d.oneIn(12) {
				longer = append(longer, "write "+name+" at 2")
			}
		default:
			longer = append(longer, clause)
		}
	}
	return longer
}

// TestReference compares verdicts with the reference on random histories of one operator. All of
// them must be decided.
func TestReference(t *testing.T) {
	tallies := compare(t, 8_000, []string{"sum", "roll", "odd", "double", "pair"},
		map[string]func(*play) bool{"exactly-once": refExactlyOnce,
			"exactly-once-state": refExactlyOnceState, "at-least-once": refAtLeastOnce,
			"at-most-once": refAtMostOnce})
	for name, tally := range tallies {
		require.Zero(t, tally[model.Undecided], name)
		require.Greater(t, tally[model.Holds], 400, name)
		require.Greater(t, tally[model.Violated], 400, name)
	}
}

// TestReferenceInRow does the same for two operators. Where both keep state, what the claims do
// not explain may be left undecided.
func TestReferenceInRow(t *testing.T) {
	reference := map[string]func(*play) bool{"exactly-once": refExactlyOnce,
		"exactly-once-state": refExactlyOnceState}
	specs := []string{"double>roll", "double>odd", "sum>double", "roll>double", "odd>double"}
	for name, tally := range compare(t, 5_000, specs, reference) {
		require.Zero(t, tally[model.Undecided], name)
		require.Greater(t, tally[model.Holds], 200, name)
		require.Greater(t, tally[model.Violated], 200, name)
	}
	for name, tally := range compare(t, 2_000, []string{"sum>roll", "roll>odd"}, reference) {
		require.Greater(t, tally[model.Holds], 100, name)
		require.Greater(t, tally[model.Violated], 100, name)
	}
}

// compare judges random histories and fails where a verdict differs from the reference.
func compare(t *testing.T, runs uint64, specs []string, reference map[string]func(*play) bool) (
	tallies map[string]*[3]int) {
	j, props := NewJudge(), All()
	tallies = map[string]*[3]int{}
	for seed := range runs {
		p, story := randomPlay(t, seed, specs)
		for _, v := range j.Judge(p.s, props) {
			ref := reference[v.Property]
			if ref == nil {
				continue
			}
			if tallies[v.Property] == nil {
				tallies[v.Property] = &[3]int{}
			}
			tallies[v.Property][v.Result]++
			switch {
			case v.Result == model.Undecided || ref(p) == (v.Result == model.Holds):
			case v.Property == "at-most-once" && v.Result == model.Holds:
				require.True(t, refAtMostOnceAsClaimed(p), "%d: %s", seed, story)
			default:
				require.Failf(t, "not as the reference", "%d: %s: %v", seed, story,
					show([]model.Verdict{v}))
			}
		}
	}
	for name, tally := range tallies {
		t.Logf("%s: %d unknown, %d hold, %d violated", name, tally[0], tally[1], tally[2])
	}
	return tallies
}
