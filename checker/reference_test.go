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
			choices(p, order, map[model.ID]uint64{}, func(nonces map[model.ID]uint64) {
				all = append(all, execute(p, order, nonces))
			})
		}
	}
	extend()
	return all
}

// choices hands out all choices of the nonces with which the first operator takes its steps: those
// of the lives that took the step, or 0 where the operator does without.
func choices(p *play, order []model.Record, chosen map[model.ID]uint64,
	use func(map[model.ID]uint64)) {
	if len(order) == 0 {
		use(chosen)
		return
	}
	for _, nonce := range noncesOf(p, order[0]) {
		chosen[order[0].ID] = nonce
		choices(p, order[1:], chosen, use)
	}
}

func noncesOf(p *play, in model.Record) (list []uint64) {
	if p.s.Job.Topology.Stages[0].Operator.Kind != model.NonDeterministic {
		return []uint64{0}
	}
	for _, a := range p.truth {
		if a.op == 1 && a.in.Same(in) && !slices.Contains(list, a.nonce) {
			list = append(list, a.nonce)
		}
	}
	return list
}

func execute(p *play, order []model.Record, nonces map[model.ID]uint64) execution {
	e := execution{state: map[string]model.Value{}}
	var step func(op int, in model.Record)
	step = func(op int, in model.Record) {
		if op > len(p.s.Job.Topology.Stages) {
			e.outs = append(e.outs, in)
			return
		}
		var out model.Outputs
		out.Begin(int32(op), in)
		if op == 1 {
			out.Seed(nonces[in.ID])
		}
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
	if p.s.Shape == model.Keys {
		return refExactlyOnceKeys(p)
	}
	return refNoRevision(p) && slices.ContainsFunc(executions(p), func(e execution) bool {
		return slices.Equal(e.outs, p.sinks[0]) && sameState(e.state, p.final())
	})
}

// refExactlyOnceKeys: what each row has shown is, in order, among what one execution writes to it,
// and what it holds in the end is the last of that.
func refExactlyOnceKeys(p *play) bool {
	return slices.ContainsFunc(executions(p), func(e execution) bool {
		return sameState(e.state, p.final()) && refHeld(p, e) && !slices.ContainsFunc(p.sinks[0],
			func(held model.Record) bool { return !refForward(p, e, held.Key) })
	})
}

// refForward reports whether all that a row has shown is in an execution in that order.
func refForward(p *play, e execution, key string) bool {
	at := 0
	for _, o := range p.feeds[0] {
		if o.Out.Key != key {
			continue
		}
		n := slices.Index(e.outs[at:], o.Out)
		if n < 0 {
			return false
		}
		at += n + 1
	}
	return true
}

// refHeld reports whether each row holds the last output of an execution.
func refHeld(p *play, e execution) bool {
	last := map[string]model.Record{}
	for _, out := range e.outs {
		last[out.Key] = out
	}
	for _, held := range p.sinks[0] {
		if last[held.Key] != held {
			return false
		}
	}
	return len(last) == len(p.sinks[0])
}

func refEffectivelyOnceKeys(p *play) bool {
	return slices.ContainsFunc(executions(p), func(e execution) bool {
		return sameState(e.state, p.final()) && refHeld(p, e)
	})
}

func refNoRevisionKeys(p *play) bool {
	for i, o := range p.feeds[0] {
		if slices.ContainsFunc(p.feeds[0][:i], func(old model.Observation) bool {
			return old.Out.Same(o.Out) && old.Out != o.Out
		}) {
			return false
		}
	}
	return true
}

// refOrderKeys: in no row an output follows one that comes later on its channel, or itself.
func refOrderKeys(p *play) bool {
	rows := p.rows()
	for _, key := range model.SortedKeys(rows, nil) {
		for i, now := range rows[key] {
			if slices.ContainsFunc(rows[key][:i], func(old model.Record) bool {
				return old.ID.Part == now.ID.Part && (now.ID.Offset < old.ID.Offset ||
					now.ID == old.ID && now.Path <= old.Path)
			}) {
				return false
			}
		}
	}
	return true
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
					return !refArrived(p, out)
				})
			})
			if !covered {
				return false
			}
		}
	}
	return true
}

// refArrived: it was shown, or, in a table by key, something of its key that may come later was.
func refArrived(p *play, out model.Record) bool {
	if slices.Contains(p.sinks[0], out) {
		return true
	}
	return slices.ContainsFunc(p.feeds[0], func(o model.Observation) bool {
		isLater := o.Out.ID.Part != out.ID.Part || o.Out.ID.Offset > out.ID.Offset ||
			o.Out.ID == out.ID && o.Out.Path > out.Path
		return p.s.Shape == model.Rows && o.Out == out || p.s.Shape == model.Keys &&
			(o.Out == out || o.Out.Key == out.Key && isLater)
	})
}

// shownRecords is what is visible in the end: what a log or a table by identity holds, or what a
// table by key has held, where one value of an identity that follows another replaces it.
func (p *play) shownRecords() (list []model.Record) {
	if p.s.Shape != model.Keys {
		return p.sinks[0]
	}
	rows := p.rows()
	for _, key := range model.SortedKeys(rows, nil) {
		list = append(list, rows[key]...)
	}
	return list
}

// rows are the records that each row of a table by key has held, in order, except for what was
// replaced by another value of its identity.
func (p *play) rows() map[string][]model.Record {
	rows := map[string][]model.Record{}
	for _, o := range p.feeds[0] {
		row := rows[o.Out.Key]
		if n := len(row); n > 0 && row[n-1].Same(o.Out) {
			row = row[:n-1]
		}
		rows[o.Out.Key] = append(row, o.Out)
	}
	return rows
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
	shown := p.shownRecords()
	for i, out := range shown {
		if !p.s.Input.Has(out.ID) || slices.ContainsFunc(shown[:i], out.Same) {
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
			for _, nonce := range noncesOf(p, in) {
				if after, fits := refStep(p, in, state, nonce); fits && try(after, resets) {
					return true
				}
			}
			shows := func(rec model.Record) bool { return rec.ID == in.ID }
			if !slices.ContainsFunc(p.shownRecords(), shows) && try(state, resets) {
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

// refStep takes the first operator's step; fits says that it emits all that is visible of it.
func refStep(p *play, in model.Record, state model.Value, nonce uint64) (
	after model.Value, fits bool) {
	var out model.Outputs
	out.Begin(1, in)
	out.Seed(nonce)
	after = p.s.Job.Topology.Stages[0].Operator.Step(in, state, &out)
	return after, !slices.ContainsFunc(p.shownRecords(), func(rec model.Record) bool {
		return rec.ID == in.ID && !slices.Contains(out.Records(), rec)
	})
}

// refClaimsOnce tries all parts of what was applied under a key, in the order in which it was.
func refClaimsOnce(p *play, key string) bool {
	resets := 0
	if p.s.Mode.State == model.Volatile {
		resets = p.restarts
	}
	shown := map[model.ID]int{}
	for _, out := range p.shownRecords() {
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
			missing := slices.ContainsFunc(p.shownRecords(), func(out model.Record) bool {
				return shown[out.ID] > 0 && !used[out.ID]
			})
			return !missing && p.final()[storeKey(1, key)] == state
		}
		in := p.truth[i].in
		if in.Key != key || used[in.ID] {
			return try(i+1, state, resets)
		}
		after, fits := refStep(p, in, state, p.truth[i].nonce)
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
// partitions in order, and at times dies, skips, rewinds, repeats or lies. A spec as "sum@rows" has
// a table for its sink.
func randomPlay(t testing.TB, seed uint64, specs []string) (*play, string) {
	d := &draws{seed: seed}
	spec := specs[d.below(int64(len(specs)))]
	spec, shape, isTable := strings.Cut(spec, "@")
	mode := []string{"volatile", "through"}[d.below(2)]
	if isTable {
		mode += "+" + shape
	}
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
			if isTwo := strings.HasPrefix(spec, "pair") || strings.HasPrefix(spec, "twin"); isTwo &&
				!d.oneIn(12) {
				longer = append(longer, clause+".1 at 2")
			}
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

// TestReferenceRandom does the same for operators whose steps depend on the life that takes them,
// each time with all choices of lives.
func TestReferenceRandom(t *testing.T) {
	reference := map[string]func(*play) bool{"exactly-once": refExactlyOnce,
		"exactly-once-state": refExactlyOnceState, "at-least-once": refAtLeastOnce,
		"at-most-once": refAtMostOnce}
	specs := []string{"noise", "dice", "noise@rows", "dice@rows"}
	for name, tally := range compare(t, 4_500, specs, reference) {
		require.Zero(t, tally[model.Undecided], name)
		require.Greater(t, tally[model.Holds], 200, name)
		require.Greater(t, tally[model.Violated], 200, name)
	}
	delete(reference, "at-least-once")
	delete(reference, "at-most-once")
	specs = []string{"noise>double", "dice>double", "noise>double@rows"}
	for name, tally := range compare(t, 3_000, specs, reference) {
		require.Zero(t, tally[model.Undecided], name)
		require.Greater(t, tally[model.Holds], 100, name)
		require.Greater(t, tally[model.Violated], 100, name)
	}
}

// TestReferenceKeys does the same for a table by key.
func TestReferenceKeys(t *testing.T) {
	reference := map[string]func(*play) bool{"exactly-once": refExactlyOnce,
		"exactly-once-state": refExactlyOnceState, "at-least-once": refAtLeastOnce,
		"at-most-once": refAtMostOnce, "effectively-once": refEffectivelyOnceKeys,
		"no-revision": refNoRevisionKeys, "order": refOrderKeys}
	specs := []string{"sum@keys", "roll@keys", "odd@keys", "double@keys", "pair@keys", "rekey@keys",
		"noise@keys", "dice@keys", "twin@keys"}
	for name, tally := range compare(t, 10_000, specs, reference) {
		require.Zero(t, tally[model.Undecided], name)
		if underRace || testing.Short() {
			continue // too few to show everything
		}
		require.Greater(t, tally[model.Holds], 400, name)
		require.Greater(t, tally[model.Violated], 400, name)
	}
	delete(reference, "at-least-once")
	delete(reference, "at-most-once")
	specs = []string{"double>roll@keys", "roll>rekey@keys", "rekey>roll@keys", "odd>rekey@keys",
		"dice>rekey@keys"}
	for name, tally := range compare(t, 5_000, specs, reference) {
		require.Zero(t, tally[model.Undecided], name)
		if underRace || testing.Short() {
			continue // too few to show everything
		}
		require.Greater(t, tally[model.Holds], 100, name)
		require.Greater(t, tally[model.Violated], 100, name)
	}
}

// TestReferenceRows does the same for a table by identity.
func TestReferenceRows(t *testing.T) {
	reference := map[string]func(*play) bool{"exactly-once": refExactlyOnce,
		"exactly-once-state": refExactlyOnceState, "at-least-once": refAtLeastOnce,
		"at-most-once": refAtMostOnce}
	specs := []string{"sum@rows", "roll@rows", "odd@rows", "double@rows", "pair@rows"}
	for name, tally := range compare(t, 4_500, specs, reference) {
		require.Zero(t, tally[model.Undecided], name)
		if underRace || testing.Short() {
			continue // too few to show everything
		}
		require.Greater(t, tally[model.Holds], 200, name)
		require.Greater(t, tally[model.Violated], 200, name)
	}
}

// TestReferenceInRow does the same for two operators. Where both keep state, what the claims do
// not explain may be left undecided.
func TestReferenceInRow(t *testing.T) {
	reference := map[string]func(*play) bool{"exactly-once": refExactlyOnce,
		"exactly-once-state": refExactlyOnceState}
	specs := []string{"double>roll", "double>odd", "sum>double", "roll>double", "odd>double",
		"pair>roll", "pair>sum", "twin>double"}
	for name, tally := range compare(t, 4_500, specs, reference) {
		require.Zero(t, tally[model.Undecided], name)
		if underRace || testing.Short() {
			continue // too few to show everything
		}
		require.Greater(t, tally[model.Holds], 200, name)
		require.Greater(t, tally[model.Violated], 200, name)
	}
	for name, tally := range compare(t, 2_000, []string{"sum>roll", "roll>odd"}, reference) {
		require.Greater(t, tally[model.Holds], 100, name)
		require.Greater(t, tally[model.Violated], 100, name)
	}
}

// fewer is how many of so many random histories are judged: not all where that takes long, or where
// little time is given, but never less than a number.
func fewer(n, least uint64) uint64 {
	if underRace || testing.Short() {
		return max(n/3, least)
	}
	return n
}

// enough is how many of them must show something, if it is n of all.
func enough(n int) int { return int(fewer(uint64(n), 0)) }

// compare judges random histories and fails where a verdict differs from the reference.
func compare(t *testing.T, runs uint64, specs []string, reference map[string]func(*play) bool) (
	tallies map[string]*[3]int) {
	j, props := NewJudge(), All()
	tallies = map[string]*[3]int{}
	for seed := range fewer(runs, 2_000) {
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
