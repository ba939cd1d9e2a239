package checker

import (
	"cmp"
	"slices"
	"testing"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/model"
)

// stepState is a service in miniature: the completed checkpoint, or the last transaction of an id.
type stepState struct {
	completed int64
	epoch     int64
	fate      model.Kind // CommitTxn, AbortTxn or none
}

// serve is what the service does. It shares nothing with the package.
func (s stepState) serve(req *model.Message) (after stepState, ans model.Answer) {
	ans.Outcome = model.Done
	isIts := s.epoch > 0 && (req.N == 0 || req.N == s.epoch)
	isOpen := isIts && s.fate == model.NoKind
	switch req.Kind {
	case model.Completion:
		switch s.completed {
		case req.Seq:
			ans.Outcome = model.DoneBefore
		case req.Cursor:
			s.completed = req.Seq
		default:
			ans.Outcome, ans.Seq = model.Stale, s.completed
		}
	case model.Newest:
		ans.Seq = s.completed
	case model.BeginTxn:
		switch {
		case req.N == 0 || req.N == s.epoch+1:
			s.epoch, s.fate = s.epoch+1, model.NoKind
			ans.Seq = s.epoch
		case isOpen:
			ans.Outcome, ans.Seq = model.DoneBefore, s.epoch
		default:
			ans.Outcome = model.Stale
		}
	case model.CommitTxn, model.AbortTxn:
		switch {
		case isOpen:
			s.fate = req.Kind
		case isIts && s.fate == req.Kind:
			ans.Outcome = model.DoneBefore
		default:
			ans.Outcome = model.Stale
		}
	case model.PrepareTxn:
		if !isOpen {
			ans.Outcome = model.Stale
		}
	}
	return s, ans
}

// stepHistory draws a history of calls to one object, most of them true.
func stepHistory(d *draws, kinds []model.Kind, service model.ServiceID) *model.History {
	type timed struct {
		call  model.Call
		point int64
	}
	var list []timed
	for range 2 + d.below(8) {
		c := model.Call{Service: service, Outcome: model.Done, Invoked: 1 + d.below(20),
			Req: model.Message{Kind: kinds[d.below(int64(len(kinds)))], Token: 7}}
		switch c.Req.Kind {
		case model.Completion:
			c.Req.Seq, c.Req.Cursor = 1+d.below(3), d.below(4)
		case model.Newest:
		default:
			c.Req.Token, c.Req.N = 7, d.below(4)
		}
		point := c.Invoked + d.below(5)
		c.Answered = point + d.below(5)
		list = append(list, timed{c, point})
	}
	slices.SortStableFunc(list, func(a, b timed) int { return cmp.Compare(a.point, b.point) })
	h := &model.History{End: model.End{Reason: model.Quiescent, N: 1000}}
	var state stepState
	for i := range list {
		c := &list[i].call
		after, ans := state.serve(&c.Req)
		switch d.below(8) {
		case 0:
			state, c.Outcome, c.Answered = after, model.Unknown, 0
		case 1:
			c.Outcome, c.Answered = model.Unknown, 0
		case 2:
			c.Outcome = model.Refused
		case 3:
			state, c.Outcome, c.Ans = after, ans.Outcome, ans
			state, ans = state.serve(&c.Req)
			if isApplied(&ans) {
				h.Servings = append(h.Servings, model.Serving{Call: int32(i), Copy: true, Ans: ans})
			}
		default:
			state, c.Outcome, c.Ans = after, ans.Outcome, ans
		}
		if d.oneIn(6) && c.Answered > 0 && c.Outcome != model.Refused {
			switch lie := d.below(3); {
			case lie == 0 && c.Req.Kind != model.Newest:
				c.Outcome = []model.Outcome{model.Done, model.DoneBefore, model.Stale}[d.below(3)]
			case lie == 1:
				c.Ans.Seq = d.below(4)
			case lie == 2:
				c.Answered = c.Invoked + d.below(2)
			}
		}
		h.Calls = append(h.Calls, *c)
	}
	return h
}

// stepHolds is what porcupine thinks of the history of one object.
func stepHolds(h *model.History) bool {
	const after = 1 << 40
	type op struct {
		call    *model.Call
		isKnown bool
	}
	var list []porcupine.Operation
	add := func(c *model.Call, isKnown bool) {
		end := int64(after)
		if isKnown {
			end = c.Answered
		}
		list = append(list, porcupine.Operation{Input: op{c, isKnown}, Call: c.Invoked,
			Return: end})
	}
	for i := range h.Calls {
		c := &h.Calls[i]
		if c.Outcome != model.Refused {
			add(c, c.Outcome != model.Unknown)
		}
	}
	for _, s := range h.Servings {
		add(&h.Calls[s.Call], false)
	}
	return porcupine.CheckOperations(porcupine.Model{
		Init: func() any { return stepState{} },
		Step: func(state, input, _ any) (bool, any) {
			in := input.(op)
			req := &in.call.Req
			next, ans := state.(stepState).serve(req)
			told := in.call.Ans
			switch isTold := in.isKnown; {
			case !isTold || req.Kind == model.PrepareTxn && in.call.Outcome == model.Stale:
				return true, next
			case req.Kind == model.PrepareTxn && in.call.Outcome == model.DoneBefore:
				return ans.Outcome == model.Done, next
			case req.Kind == model.BeginTxn && in.call.Outcome == model.Stale:
				return ans.Outcome != model.Done, state // it may be another attempt's
			case req.Kind == model.Newest,
				req.Kind == model.Completion && in.call.Outcome == model.Stale,
				req.Kind == model.BeginTxn && in.call.Outcome == model.Done && req.N == 0:
				return ans.Outcome == in.call.Outcome && ans.Seq == told.Seq, next
			}
			return ans.Outcome == in.call.Outcome, next
		},
	}, list)
}

// TestLinearizableStepsAgreeWithPorcupine judges random histories of the completed checkpoint, and
// of transactions, twice.
func TestLinearizableStepsAgreeWithPorcupine(t *testing.T) {
	objects := []struct {
		service model.ServiceID
		kinds   []model.Kind
	}{
		{model.StateStore, []model.Kind{model.Completion, model.Completion, model.Newest}},
		{model.External, []model.Kind{model.BeginTxn, model.CommitTxn, model.AbortTxn,
			model.PrepareTxn}},
	}
	for _, o := range objects {
		var judged [2]int
		for seed := range linearSeeds() / 2 {
			h := stepHistory(&draws{seed: seed}, o.kinds, o.service)
			s := Subject{History: h, Shape: model.Log}
			if o.service == model.External && !slices.ContainsFunc(h.Calls,
				func(c model.Call) bool { return c.Req.Kind == model.BeginTxn }) {
				continue // then nobody knows that it is about transactions
			}
			v := Linearizable(s, 0)[o.service]
			require.NotEqual(t, model.Undecided, v.Result)
			holds := stepHolds(h)
			require.Equal(t, holds, v.Result == model.Holds, "%d of %s: %s %+v", seed,
				model.ServiceNames[o.service], v.Reason, h.Calls)
			if holds {
				judged[0]++
			} else {
				judged[1]++
			}
		}
		t.Logf("%d linearizable, %d not", judged[0], judged[1])
		require.Greater(t, min(judged[0], judged[1]), enough(500))
	}
}

// TestLinearizableTransactions: plays with transactions and batches are linearizable.
func TestLinearizableTransactions(t *testing.T) {
	for _, spec := range []string{"sum", "double>sum"} {
		p := bigSnapPlay(t, spec, 120)
		for _, v := range Linearizable(p.s, 0) {
			require.Equal(t, model.Holds, v.Result, v.Reason)
		}
	}
	story := "in a1 a2; apply 0:0; apply 0:1; batch 1 0:0; batch 2 0:1; see"
	p := stage(t, "double", "volatile", story)
	v := Linearizable(p.s, 0)[model.External]
	require.Equal(t, model.Holds, v.Result, v.Reason)
	p = stage(t, "double", "volatile", story+"; vanish")
	v = Linearizable(p.s, 0)[model.External]
	require.Equal(t, model.Violated, v.Result)
	require.Contains(t, v.Reason, "partition 0")
}

// TestLinearizableDecisions tells what a service may do besides what it is asked for.
func TestLinearizableDecisions(t *testing.T) {
	call := func(kind model.Kind, outcome model.Outcome, n, at int64) model.Call {
		c := model.Call{Service: model.External, Outcome: outcome, Invoked: at, Answered: at + 1,
			Req: model.Message{Kind: kind, Token: 7, N: n}}
		if kind == model.BeginTxn || kind == model.InitTxn {
			c.Req.N, c.Ans.Seq = 0, n
		}
		return c
	}
	history := func(calls ...model.Call) *model.History {
		h := &model.History{End: model.End{Reason: model.Quiescent, N: 100, At: 100}, Calls: calls}
		for i := range calls {
			h.Servings = append(h.Servings, model.Serving{N: calls[i].Invoked, At: calls[i].Invoked,
				Call: int32(i), Ans: model.Answer{Outcome: model.Done, Seq: calls[i].Ans.Seq}})
		}
		return h
	}
	late := call(model.BeginTxn, model.Done, 1, 1)
	late.Req.Cursor = 10
	fenced := call(model.PrepareTxn, model.Done, 1, 5)
	fenced.Req.Flags, fenced.Req.Attempt = model.Fenced, 2
	shut := call(model.CommitTxn, model.Done, 1, 8)
	shut.Req.Flags, shut.Req.Attempt = model.Fenced, 1
	whole := call(model.CommitTxn, model.Done, 0, 5)
	whole.Req.Flags, whole.Req.Token = model.Whole, 0
	tests := []struct {
		name string
		h    *model.History
		want model.Result
	}{
		{"committed and aborted", history(call(model.BeginTxn, model.Done, 1, 1),
			call(model.CommitTxn, model.Done, 1, 5), call(model.AbortTxn, model.Done, 1, 8)),
			model.Violated},
		{"aborted by nobody", history(call(model.BeginTxn, model.Done, 1, 1),
			call(model.CommitTxn, model.Stale, 1, 50)), model.Violated},
		{"aborted by time", history(late, call(model.CommitTxn, model.Stale, 1, 50)), model.Holds},
		{"aborted before its time", history(late, call(model.CommitTxn, model.Stale, 1, 5),
			call(model.PrepareTxn, model.Done, 1, 8)), model.Violated},
		{"committed with the others", history(call(model.BeginTxn, model.Done, 1, 1), whole,
			call(model.AbortTxn, model.Stale, 1, 8)), model.Holds},
		{"its id is taken over", history(call(model.BeginTxn, model.Done, 1, 1),
			call(model.InitTxn, model.Done, 2, 5), call(model.CommitTxn, model.Stale, 1, 8),
			call(model.BeginTxn, model.Done, 3, 12)), model.Holds},
		{"and it is committed", history(call(model.BeginTxn, model.Done, 1, 1),
			call(model.InitTxn, model.Done, 2, 5), call(model.CommitTxn, model.Done, 1, 8)),
			model.Violated},
		{"taken over with an epoch that is not next", history(
			call(model.BeginTxn, model.Done, 1, 1), call(model.InitTxn, model.Done, 3, 5)),
			model.Violated},
		{"taken over once more", history(call(model.InitTxn, model.Done, 1, 1),
			call(model.BeginTxn, model.Done, 2, 3), call(model.InitTxn, model.DoneBefore, 2, 5),
			call(model.CommitTxn, model.Done, 2, 8)), model.Holds},
		{"taken over once more, and aborted", history(call(model.InitTxn, model.Done, 1, 1),
			call(model.BeginTxn, model.Done, 2, 3), call(model.InitTxn, model.DoneBefore, 2, 5),
			call(model.CommitTxn, model.Stale, 2, 8)), model.Violated},
		{"a replaced attempt", history(call(model.BeginTxn, model.Done, 1, 1), fenced, shut),
			model.Violated},
	}
	for _, c := range tests {
		v := Linearizable(Subject{History: c.h, Shape: model.Log}, 0)[model.External]
		require.Equal(t, c.want, v.Result, "%s: %s", c.name, v.Reason)
	}
}
