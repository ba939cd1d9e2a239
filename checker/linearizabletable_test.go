package checker

import (
	"fmt"
	"strings"
	"testing"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/model"
)

// A rowStory is a history of the row of key a in a table by key, or of the row of a task, between
// semicolons, times being event numbers:
//
//	write 7 10-12      the row becomes 7, which is output 7 of operator 1
//	write 7 v3 10-12   it does if its version is below 3
//	see 7 10           a reader sees 7 in the feed; final 7 10: the row holds it in the end
//	ask 3 10-12        attempt 3 asks for the row of task 0, fenced; +copy: it is served twice
//
// "10-" is a call whose caller does not know if it took effect; "+stale", "+before" and "+refused"
// are other outcomes.
func rowStory(t testing.TB, shape model.SinkShape, story string) Subject {
	h := &model.History{End: model.End{Reason: model.Quiescent, N: 1000}}
	for _, clause := range strings.Split(story, ";") {
		if words := strings.Fields(clause); len(words) > 0 {
			rowClause(t, h, words)
		}
	}
	return Subject{History: h, Shape: shape}
}

func rowRecord(n int64) model.Record {
	return model.Record{ID: model.ID{Offset: n}, Op: 1, Key: "a", Value: model.Value{Num: n}}
}

func rowClause(t testing.TB, h *model.History, words []string) {
	n := linearNumber(t, words[1])
	call := model.Call{Service: model.External, Outcome: model.Unknown}
	at := words[2]
	switch words[0] {
	case "write":
		call.Req = model.Message{Kind: model.Write, Record: rowRecord(n)}
		if at[0] == 'v' {
			call.Req.Flags, call.Req.Token = model.Versioned, linearNumber(t, at[1:])
			at = words[3]
		}
	case "ask":
		call.Service = model.StateStore
		call.Req = model.Message{Kind: model.LoadIDs, Flags: model.Fenced, Attempt: int32(n)}
	default:
		o := model.Observation{N: linearNumber(t, at), Out: rowRecord(n)}
		if words[0] == "see" {
			h.Observations = append(h.Observations, o)
		} else {
			h.Final = append(h.Final, o)
		}
		return
	}
	from, until, _ := strings.Cut(at, "-")
	call.Invoked = linearNumber(t, from)
	if until != "" {
		call.Outcome, call.Answered = model.Done, linearNumber(t, until)
	}
	if words[len(words)-1] == "+stale" {
		call.Outcome = model.Stale
	}
	linearMarks(h, call, words[3:])
}

// TestLinearizableRows tells what the models of rows accept and reject.
func TestLinearizableRows(t *testing.T) {
	tests := []struct {
		name, story string
		shape       model.SinkShape
		wrong       string // how the reason begins; "": it holds
	}{
		{"written and seen", "write 1 1-2; write 2 3-4; see 1 5; see 2 6; final 2 7", model.Keys,
			""},
		{"gone in the end", "write 1 1-2", model.Keys, "the row of operator 1"},
		{"never known", "write 1 1-; final 1 9", model.Keys, ""},
		{"not there", "write 1 1-", model.Keys, ""},
		{"stale in the end", "write 1 1-2; write 2 3-4; final 1 7", model.Keys,
			"the row of operator 1, key \"a\", record 0:1: no order of the calls explains 1 at " +
				"event 7"},
		{"either of two", "write 1 1-4; write 2 3-5; final 1 7", model.Keys, ""},
		{"seen and never written", "see 1 5; final 1 6", model.Keys, "the row of operator 1"},
		{"seen before it was written", "see 1 5; write 1 6-7; final 1 8", model.Keys, "the row"},
		{"two identities are two rows", "write 1 1-2; write 2 3-4; final 1 7; final 2 8",
			model.Rows, ""},
		{"a row of an identity is gone", "write 1 1-2; write 2 3-4; final 2 8", model.Rows,
			"the row"},
		{"refused", "write 1 1-2 +refused", model.Keys, ""},
		{"changes nothing", "write 1 1-2; write 1 3-4 +before; final 1 5", model.Rows, ""},
		{"copy after another write", "write 1 1-2 +copy; write 2 3-4; final 1 5", model.Keys, ""},

		{"older version", "write 2 v2 1-2; write 1 v1 3-4 +stale; final 2 7", model.Keys, ""},
		{"older version accepted", "write 2 v2 1-2; write 1 v1 3-4; final 1 7", model.Keys,
			"the row"},
		{"same version", "write 2 v2 1-2; write 2 v2 3-4 +before; final 2 7", model.Keys, ""},
		{"same version applied twice", "write 2 v2 1-2; write 2 v2 3-4; final 2 7", model.Keys,
			"the row of operator 1, key \"a\", record 0:2: no order of the calls explains " +
				"done at event 4"},
		{"stale for no reason", "write 2 v2 1-2 +stale", model.Keys, "the row"},
		{"stale by what nobody knows of", "write 3 v3 1-; write 2 v2 4-5 +stale; final 3 9",
			model.Keys, ""},
		{"unread, and yet it counts", "write 3 v3 1-; write 2 v2 4-5 +stale; write 4 v4 6-7; " +
			"final 4 9", model.Keys, ""},

		{"attempts follow", "ask 1 1-2; ask 2 3-4; ask 1 5-6 +refused; ask 2 7-8", model.Log, ""},
		{"zombie accepted", "ask 1 1-2; ask 2 3-4; ask 1 5-6", model.Log,
			"the row of task 0: load-ids of attempt 1, answered at event 6, was accepted"},
		{"at the same time", "ask 2 3-6; ask 1 5-8", model.Log, ""},
		{"refused for no reason", "ask 1 1-2; ask 1 3-4 +refused", model.Log, ""},
		{"refused by what nobody knows of", "ask 2 1-; ask 1 3-4 +refused", model.Log, ""},
		{"refused between what was accepted", "ask 2 1-; ask 1 3-4 +refused; ask 1 5-6", model.Log,
			""},
		{"refused and shut nobody out", "ask 2 1-2 +refused; ask 1 3-4", model.Log, ""},
		{"refused beside a zombie", "ask 2 1-2; ask 2 3-4 +refused; ask 1 5-6", model.Log,
			"the row of task 0: load-ids of attempt 1, answered at event 6, was accepted, " +
				"although one of attempt 2 had been answered before"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := rowStory(t, test.shape, test.story)
			service := model.External
			if test.shape == model.Log {
				service = model.StateStore
			}
			v := Linearizable(s, 0)[service]
			require.Equal(t, test.wrong == "", v.Result == model.Holds, v.Reason)
			require.True(t, strings.HasPrefix(v.Reason, test.wrong), v.Reason)
		})
	}
}

// TestLinearizableIdentityLog: a write that had been made before is told the place of its identity,
// be its value as it may.
func TestLinearizableIdentityLog(t *testing.T) {
	for story, isRight := range map[string]bool{
		"write x 0 1-2; write x 0 3-4 +before; final x 0 9-":                true,
		"write x 0 1-; write x 0 3-4 +before; final x 0 9-":                 true,
		"write x 0 1-; write x 0 3-4 +before; write y 1 5-6; final xy 0 9-": true,
		"write x 0 1-2; write y 0 3-4 +before; final x 0 9-":                false,
		"write x 0 3-4 +before; write x 0 5-6; final x 0 9-":                false,
		"write x 0 1-; write x 1 3-4 +before; write y 0 5-6; final yx 0 9-": false,
		"write x 0 1-2; write x 0 3-4 +before; cut":                         true,
		"write x 0 1-; write x 0 3-4 +before; cut":                          true,
		"write y 0 1-; write x 0 3-4 +before; cut":                          false,
	} {
		for _, other := range []int64{0, 1} {
			s := linearStory(t, story)
			for i := range s.History.Calls {
				if call := &s.History.Calls[i]; call.Outcome == model.DoneBefore {
					call.Req.Record.Value.Num += other
				}
			}
			v := Linearizable(s, 0)[model.External]
			require.Equal(t, isRight, v.Result == model.Holds, "%s: %s", story, v.Reason)
		}
	}
}

// TestLinearizableUpdate: state that is written by an update is read as if it had been put, and an
// update without state writes none.
func TestLinearizableUpdate(t *testing.T) {
	for _, test := range []struct {
		story            string
		withState, alone bool
	}{
		{"put a 1 1-2; get a 1 3-4", true, false},
		{"put a 1 1-2; get a - 3-4", false, true},
		{"put a 1 1-2; put a 2 3-4 +before; get a 1 5-6", true, false},
		{"put a 1 1-2; put a 2 3-4 +before; get a 2 5-6", false, false},
		{"put a 1 1-2; put a 2 3-; get a 2 5-6", true, false},
	} {
		s := linearStory(t, test.story)
		for _, flags := range []model.Flags{model.WithState, 0} {
			for i := range s.History.Calls {
				if req := &s.History.Calls[i].Req; req.Kind != model.Get {
					req.Kind, req.Flags = model.Update, flags
				}
			}
			v := Linearizable(s, 0)[model.StateStore]
			want := flags != 0 && test.withState || flags == 0 && test.alone
			require.Equal(t, want, v.Result == model.Holds, "%s: %s", test.story, v.Reason)
		}
	}
}

// randomFence draws a history of fenced requests, mostly true.
func randomFence(d *draws) (story []string) {
	highest := int64(0)
	for i := range 2 + d.below(7) {
		n, at := 1+d.below(3), 3*i+d.below(3)
		clause := fmt.Sprintf("ask %d %d-%d", n, max(at-d.below(5), 0), at+d.below(5))
		isRefused := n < highest
		highest = max(highest, n)
		switch d.below(6) {
		case 0:
			isRefused = !isRefused
		case 1:
			clause = clause[:strings.Index(clause, "-")+1]
		}
		if isRefused && !strings.HasSuffix(clause, "-") {
			clause += " +refused"
		}
		story = append(story, clause)
	}
	return story
}

// TestLinearizableFenceAgreesWithPorcupine judges random histories of a fenced row twice.
func TestLinearizableFenceAgreesWithPorcupine(t *testing.T) {
	var judged [2]int
	for seed := range fewer(14_000, 0) {
		story := strings.Join(randomFence(&draws{seed: seed}), "; ")
		s := rowStory(t, model.Log, story)
		v := Linearizable(s, 0)[model.StateStore]
		var list []porcupine.Operation
		for i := range s.History.Calls {
			c := &s.History.Calls[i]
			end := c.Answered
			if isOpen(c) {
				end = 1 << 40
			}
			list = append(list, porcupine.Operation{Input: c, Call: c.Invoked, Return: end})
		}
		holds := porcupine.CheckOperations(porcupine.Model{
			Init: func() any { return int32(0) },
			Step: func(state, input, _ any) (bool, any) {
				c, highest := input.(*model.Call), state.(int32)
				switch {
				case c.Outcome == model.Refused:
					return true, highest
				case c.Req.Attempt < highest:
					return isOpen(c), highest
				}
				return true, c.Req.Attempt
			},
		}, list)
		require.Equal(t, holds, v.Result == model.Holds, "%d: %s: %s", seed, story, v.Reason)
		judged[btoi(holds)]++
	}
	t.Log(judged)
	require.Greater(t, min(judged[0], judged[1]), enough(2_100))
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// randomRow draws a history of a row of a table by key, with versions or without, mostly true.
func randomRow(d *draws) (story []string) {
	held, version, versioned := int64(0), int64(-1), d.oneIn(2)
	for i := range 2 + d.below(7) {
		n, at := 1+d.below(4), 3*i+1+d.below(3)
		from, until := max(at-d.below(4), 1), fmt.Sprint(at+d.below(4))
		if held != 0 && d.oneIn(4) {
			story = append(story, fmt.Sprintf("see %d %d", held, at+d.below(6)))
			continue
		}
		mark, isKnown := "", !d.oneIn(5)
		switch {
		case !versioned || n > version:
			held, version = n, n
		case n == version:
			mark = " +before"
		default:
			mark = " +stale"
		}
		if versioned && d.oneIn(9) {
			mark = []string{"", " +before", " +stale"}[d.below(3)]
		}
		if !isKnown {
			until, mark = "", ""
		}
		token := ""
		if versioned {
			token = fmt.Sprintf("v%d ", n)
		}
		story = append(story, fmt.Sprintf("write %d %s%d-%s%s", n, token, from, until, mark))
	}
	if d.oneIn(6) {
		held = d.below(5)
	}
	if held > 0 {
		story = append(story, fmt.Sprintf("final %d 99", held))
	}
	return story
}

// rowHolds is what porcupine thinks of one row, without any short cut.
func rowHolds(h *model.History) bool {
	type op struct {
		call *model.Call
		rec  model.Record
	}
	type held struct {
		rec     model.Record
		version int64
	}
	var list []porcupine.Operation
	for i := range h.Calls {
		c := &h.Calls[i]
		end := c.Answered
		if isOpen(c) {
			end = 1 << 40
		}
		list = append(list, porcupine.Operation{Input: op{c, c.Req.Record}, Call: c.Invoked,
			Return: end})
	}
	for _, o := range h.Observations {
		list = append(list, porcupine.Operation{Input: op{rec: o.Out}, Return: o.N})
	}
	final := model.Record{}
	if len(h.Final) > 0 {
		final = h.Final[0].Out
	}
	if len(list) > 0 {
		list = append(list, porcupine.Operation{Input: op{rec: final}, Call: 99, Return: 99})
	}
	return porcupine.CheckOperations(porcupine.Model{
		Init: func() any { return held{version: -1} },
		Step: func(state, input, _ any) (bool, any) {
			now, in := state.(held), input.(op)
			switch {
			case in.call == nil:
				return now.rec == in.rec, now
			case in.call.Req.Flags == 0:
				return true, held{in.rec, now.version}
			}
			token, outcome := in.call.Req.Token, in.call.Outcome
			switch {
			case token > now.version:
				return isOpen(in.call) || outcome == model.Done, held{in.rec, token}
			case token == now.version:
				return isOpen(in.call) || outcome == model.DoneBefore, now
			}
			return isOpen(in.call) || outcome == model.Stale, now
		},
	}, list)
}

// TestLinearizableRowAgreesWithPorcupine judges random histories of a row twice.
func TestLinearizableRowAgreesWithPorcupine(t *testing.T) {
	var judged [2]int
	for seed := range fewer(14_000, 0) {
		story := strings.Join(randomRow(&draws{seed: seed}), "; ")
		s := rowStory(t, model.Keys, story)
		v := Linearizable(s, 0)[model.External]
		holds := rowHolds(s.History)
		require.Equal(t, holds, v.Result == model.Holds, "%d: %s: %s", seed, story, v.Reason)
		judged[btoi(holds)]++
	}
	t.Log(judged)
	require.Greater(t, min(judged[0], judged[1]), enough(2_100))
}

// TestLinearizableOfTables judges the plays with a table for their sink: it is linearizable
// whatever the tasks do.
func TestLinearizableOfTables(t *testing.T) {
	specs := []string{"sum@rows", "odd@keys", "pair@keys", "noise@rows", "rekey@keys"}
	for seed := range fewer(2_000, 0) {
		p, story := randomPlay(t, seed, specs)
		for _, v := range Linearizable(p.s, 0) {
			require.Equal(t, model.Holds, v.Result, "%s: %s", story, v.Reason)
		}
	}
}
