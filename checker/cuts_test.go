package checker

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/model"
)

// snapStory draws a story of checkpoints of one operator that reads two partitions. Cuts need not
// be where the operator is, what is in flight need not be kept, and restarts need not go back far
// enough.
func snapStory(d *draws) string {
	var b strings.Builder
	var at [2]int64
	var cuts [][2]int64
	var flights []string
	fmt.Fprintf(&b, "in a%d a%d b%d | a%d b%d", 1+d.below(3), 1+d.below(3), 1+d.below(3),
		1+d.below(3), 1+d.below(3))
	sizes := [2]int64{3, 2}
	for range 3 + d.below(9) {
		part := d.below(2)
		switch d.below(5) {
		case 0, 1:
			if at[part] < sizes[part] {
				fmt.Fprintf(&b, "; apply %d:%d", part, at[part])
				at[part]++
			}
		case 2, 3:
			cut, flight := at, ""
			if d.oneIn(3) {
				cut[part] = min(max(at[part]+d.below(3)-1, 0), sizes[part])
			}
			for i := at[part]; i < cut[part] && !d.oneIn(4); i++ {
				flight += fmt.Sprintf(" %d:%d", part, i)
			}
			if cut[part] < sizes[part] && d.oneIn(12) {
				flight += fmt.Sprintf(" %d:%d", part, cut[part])
			}
			cuts, flights = append(cuts, cut), append(flights, flight)
			fmt.Fprintf(&b, "; mark %d %d %d; part %d", len(cuts), cut[0], cut[1], len(cuts))
			if flight != "" {
				b.WriteString(" in" + flight)
			}
			fmt.Fprintf(&b, "; done %d", len(cuts))
		case 4:
			if len(cuts) == 0 {
				continue
			}
			back := len(cuts)
			if d.oneIn(4) {
				back = 1 + int(d.below(int64(len(cuts))))
			}
			fmt.Fprintf(&b, "; restart %d", back)
			for _, rec := range strings.Fields(flights[back-1]) {
				fmt.Fprintf(&b, "; apply %s", rec)
			}
			if !d.oneIn(6) {
				at = cuts[back-1]
			}
		}
	}
	for part := range at {
		for ; at[part] < sizes[part] && !d.oneIn(12); at[part]++ {
			fmt.Fprintf(&b, "; apply %d:%d", part, at[part])
		}
	}
	fmt.Fprintf(&b, "; mark 99 %d %d; part 99; done 99", at[0], at[1])
	return b.String()
}

// refCut reports whether the part of a checkpoint, with what is in flight in it, is the state of
// some execution of the inputs before its cut.
func refCut(p *play, id int64, input *model.Input) bool {
	state := map[string]model.Value{}
	part := p.snap.parts[fmt.Sprint(id, " s1/0")]
	for _, rec := range part.Parts[:part.N] {
		state[storeKey(1, rec.Key)] = rec.Value
	}
	for _, in := range part.Parts[part.N:] {
		var out model.Outputs
		out.Begin(1, in)
		key := storeKey(1, in.Key)
		state[key] = p.s.Job.Topology.Stages[0].Operator.Step(in, state[key], &out)
	}
	cut := *p
	cut.s.Input = input
	for _, e := range executions(&cut) {
		if sameState(e.state, state) {
			return true
		}
	}
	return false
}

// refInput is the input before the cut of a checkpoint.
func refInput(p *play, id int64) *model.Input {
	var parts []model.Partition
	for i := range p.s.Input.Parts {
		end := p.snap.parts[fmt.Sprint(id, " source/", i)].Parts[0].ID.Offset
		part := model.Partition{Every: 1}
		part.Records = append(part.Records, p.s.Input.Parts[i].Records[:end]...)
		parts = append(parts, part)
	}
	return model.NewInput(parts)
}

// TestCutsAgreeWithTheReference judges random checkpoints by trying all executions.
func TestCutsAgreeWithTheReference(t *testing.T) {
	j := NewJudge()
	var cuts, ends [2]int
	for seed := range fewer(4_000, 0) {
		d := &draws{seed: seed}
		spec := []string{"sum", "roll", "max", "odd"}[d.below(4)]
		story := snapStory(d)
		p := stage(t, spec, "snap", story)
		var want []string
		isRight := true
		newest := int64(0)
		for _, s := range p.h.Servings {
			if req := &p.h.Calls[s.Call].Req; req.Kind == model.Completion {
				newest = req.Seq
				if holds := refCut(p, newest, refInput(p, newest)); holds {
					cuts[0]++
				} else {
					cuts[1]++
					isRight = false
					want = append(want, fmt.Sprintf("inconsistent-cut -1:%d", newest))
				}
			}
		}
		if newest > 0 && !refCut(p, newest, p.s.Input) {
			isRight = false
			ends[1]++
		} else if newest > 0 {
			ends[0]++
		}
		v := verdictOf(j.Judge(p.s, All()), "exactly-once-state")
		require.NotEqual(t, model.Undecided, v.Result, story)
		var got []string
		for _, a := range v.Anomalies {
			if a.Kind == model.InconsistentCut {
				got = append(got, fmt.Sprintf("%s -1:%d", a.Kind, a.Record.ID.Offset))
			}
		}
		require.Equal(t, want, got, "%d %s: %s", seed, spec, story)
		if newest > 0 {
			require.Equal(t, isRight, v.Result == model.Holds, "%d %s: %s", seed, spec, story)
		}
	}
	t.Logf("of cuts %d are right, %d not; of ends %d and %d", cuts[0], cuts[1], ends[0], ends[1])
	require.Greater(t, min(cuts[0], cuts[1], ends[0], ends[1]), enough(400))
}

func verdictOf(verdicts []model.Verdict, property string) model.Verdict {
	for _, v := range verdicts {
		if v.Property == property {
			return v
		}
	}
	panic(property)
}

// refBranch reports whether some inputs under a key, each taken once at most and in the order of
// their partition, lead to a goal, which is asked before each step, with the state so far.
func refBranch(p *play, key string, goal func(state model.Value, next *model.Record) bool) bool {
	var lanes [][]model.Record
	for i := range p.s.Input.Parts {
		lanes = append(lanes, p.s.Input.Parts[i].Records)
	}
	var try func(state model.Value) bool
	try = func(state model.Value) bool {
		if goal(state, nil) {
			return true
		}
		for i := range lanes {
			if len(lanes[i]) == 0 {
				continue
			}
			lane := lanes[i]
			in := &lane[0]
			var out model.Outputs
			out.Begin(1, *in)
			lanes[i] = lane[1:]
			found := try(state)
			if !found && in.Key == key {
				after := p.s.Job.Topology.Stages[0].Operator.Step(*in, state, &out)
				found = goal(state, in) || try(after)
			}
			lanes[i] = lane
			if found {
				return true
			}
		}
		return false
	}
	return try(model.Value{})
}

// refAtMostOnceOnBranches: no identity twice, each value what some inputs give, and each state too.
func refAtMostOnceOnBranches(p *play, newest int64) bool {
	for i, out := range p.sinks[0] {
		isGiven := refBranch(p, out.Key, func(state model.Value, in *model.Record) bool {
			if in == nil || in.ID != out.ID {
				return false
			}
			var made model.Outputs
			made.Begin(1, *in)
			p.s.Job.Topology.Stages[0].Operator.Step(*in, state, &made)
			return slices.Contains(made.Records(), out)
		})
		if !isGiven || slices.ContainsFunc(p.sinks[0][:i], out.Same) {
			return false
		}
	}
	part := p.snap.parts[fmt.Sprint(newest, " s1/0")]
	for _, rec := range part.Parts[:part.N] {
		value := rec.Value
		for _, in := range part.Parts[part.N:] {
			var out model.Outputs
			if out.Begin(1, in); in.Key == rec.Key {
				value = p.s.Job.Topology.Stages[0].Operator.Step(in, value, &out)
			}
		}
		if !refBranch(p, rec.Key, func(state model.Value, in *model.Record) bool {
			return in == nil && state == value
		}) {
			return false
		}
	}
	return true
}

// TestBranchesAgreeWithTheReference judges random runs with restarts. A record is seldom written
// twice, so that repetitions do not hide the rest, and seldom as another value than came of it.
func TestBranchesAgreeWithTheReference(t *testing.T) {
	j := NewJudge()
	var judged [2]int
	for seed := range fewer(4_000, 0) {
		d := &draws{seed: seed}
		spec := []string{"sum", "roll", "max", "odd"}[d.below(4)]
		var clauses []string
		written := map[string]bool{}
		for _, clause := range strings.Split(snapStory(d), "; ") {
			clauses = append(clauses, clause)
			rec, isStep := strings.CutPrefix(clause, "apply ")
			if isStep && d.below(3) > 0 && (!written[rec] || d.oneIn(20)) {
				written[rec] = true
				clauses = append(clauses, "write "+rec)
				if d.oneIn(10) {
					clauses[len(clauses)-1] += fmt.Sprintf("=%d", d.below(20))
				}
			}
		}
		story := strings.Join(clauses, "; ")
		p := stage(t, spec, "snap", story)
		v := verdictOf(j.Judge(p.s, All()), "at-most-once")
		require.NotEqual(t, model.Undecided, v.Result, story)
		want := refAtMostOnceOnBranches(p, 99)
		require.Equal(t, want, v.Result == model.Holds, "%d %s: %s", seed, spec, story)
		if want {
			judged[0]++
		} else {
			judged[1]++
		}
	}
	t.Logf("%d hold, %d do not", judged[0], judged[1])
	require.Greater(t, min(judged[0], judged[1]), enough(400))
}

// TestSpoiltCheckpoints takes a run with checkpoints that is right and changes one thing in what
// the store was told. Each is found.
func TestSpoiltCheckpoints(t *testing.T) {
	find := func(h *model.History, kind model.Kind, role func(*model.Message) bool) (
		list []*model.Message) {
		for i := range h.Calls {
			if req := &h.Calls[i].Req; req.Kind == kind && (role == nil || role(req)) {
				list = append(list, req)
			}
		}
		return list
	}
	isOfOperator := func(req *model.Message) bool { return req.Token == 2 }
	isOfSource := func(req *model.Message) bool { return req.Token == 0 }
	tests := []struct {
		name, property string
		kind           model.AnomalyKind
		spoil          func(p *play)
	}{
		{"a state", "exactly-once-state", model.InconsistentCut, func(p *play) {
			find(p.h, model.Upload, isOfOperator)[1].Parts[0].Value.Num++
		}},
		{"a state is missing", "exactly-once-state", model.InconsistentCut, func(p *play) {
			req := find(p.h, model.Upload, isOfOperator)[3]
			req.Parts, req.N = req.Parts[1:], req.N-1
		}},
		{"a record in flight is missing", "exactly-once-state", model.InconsistentCut,
			func(p *play) {
				req := find(p.h, model.Upload, isOfOperator)[2]
				req.Parts = req.Parts[:req.N]
			}},
		{"a record in flight is another", "exactly-once-state", model.InconsistentCut,
			func(p *play) {
				req := find(p.h, model.Upload, isOfOperator)[2]
				req.Parts[req.N].Value.Num++
			}},
		{"a position is too far", "exactly-once-state", model.InconsistentCut, func(p *play) {
			find(p.h, model.Upload, isOfSource)[2].Parts[0].ID.Offset++
		}},
		{"a position is not far enough", "exactly-once-state", model.InconsistentCut,
			func(p *play) { find(p.h, model.Upload, isOfSource)[2].Parts[0].ID.Offset-- }},
		{"a position is that of another partition", "exactly-once-state", model.InconsistentCut,
			func(p *play) { find(p.h, model.Upload, isOfSource)[2].Parts[0].ID.Part = 1 }},
		{"a completion goes back", "mechanism", model.PointerRegression, func(p *play) {
			find(p.h, model.Completion, nil)[4].Seq = 2
		}},
		{"the last completion is of an older one", "exactly-once-state", model.StateLoss,
			func(p *play) {
				list := find(p.h, model.Completion, nil)
				list[len(list)-1].Seq = 3
			}},
		{"a commit becomes an abort", "atomic-visibility", model.DirtyRead, func(p *play) {
			find(p.h, model.CommitTxn, nil)[2].Kind = model.AbortTxn
		}},
		{"a commit goes to another", "progress", model.Hanging, func(p *play) {
			find(p.h, model.CommitTxn, nil)[2].Token = 1
		}},
	}
	for _, c := range tests {
		p := bigSnapPlay(t, "sum", 120)
		c.spoil(p)
		v := verdictOf(NewJudge().Judge(p.s, All()), c.property)
		require.True(t, v.Has(c.kind), "%s: %s %v", c.name, v.Result, v.Anomalies)
	}
}
