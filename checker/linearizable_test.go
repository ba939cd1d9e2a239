package checker

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/model"
)

// A linearStory is a history of calls between semicolons, times being event numbers:
//
//	put a 1 10-12      the state of operator 1 under a becomes 1
//	get a 1 10-12      it is 1; "get a - 10-12": it is absent
//	commit 0 5 10-12   the committed offset of partition 0 becomes 5; position 0 5 10-12: it is 5
//	write x 3 10-12    x is appended and told place 3; capitals go to partition 1
//	read xy 3 10-12    a task reads the partition of the first letter from place 3 to its end
//	see x 3 10-10      a reader sees x at place 3
//	final xyz 0 20-22  the final read of a partition
//
// "10-" is a call whose caller does not know if it took effect, "+copy" behind a call says that the
// service also served a second copy of it; "+refused" and "+before" are other outcomes. A last
// clause "cut" leaves the run without an end and without a final read.
func linearStory(t testing.TB, story string) Subject {
	h := &model.History{End: model.End{Reason: model.Quiescent, N: 1000}}
	for _, clause := range strings.Split(story, ";") {
		words := strings.Fields(clause)
		switch {
		case len(words) == 0:
		case words[0] == "cut":
			h.End.Reason = model.EventBound
		default:
			require.GreaterOrEqual(t, len(words), 4, clause)
			linearClause(t, h, words)
		}
	}
	return Subject{History: h, Shape: model.Log}
}

var linearKinds = map[string]model.Kind{"put": model.Put, "get": model.Get,
	"commit": model.OffsetCommit, "position": model.Position, "write": model.Write,
	"read": model.Read}

var linearServices = map[string]model.ServiceID{"put": model.StateStore, "get": model.StateStore,
	"commit": model.InputLog, "position": model.InputLog, "write": model.External,
	"read": model.External}

func linearNumber(t testing.TB, word string) int64 {
	n, err := strconv.ParseInt(word, 10, 64)
	require.NoError(t, err)
	return n
}

// linearRecord is the record that a letter stands for, and its partition.
func linearRecord(letter byte) (model.Record, int64) {
	rec := model.Record{ID: model.ID{Offset: int64(letter | 0x20)}, Op: 1, Key: "k",
		Value: model.Value{Num: int64(letter)}}
	if 'A' <= letter && letter <= 'Z' {
		return rec, 1
	}
	return rec, 0
}

func linearRecords(letters string) (list []model.Record) {
	for i := range len(letters) {
		rec, _ := linearRecord(letters[i])
		list = append(list, rec)
	}
	return list
}

func linearClause(t testing.TB, h *model.History, words []string) {
	from, until, _ := strings.Cut(words[3], "-")
	call := model.Call{Service: linearServices[words[0]], Invoked: linearNumber(t, from),
		Outcome: model.Unknown, Req: model.Message{Kind: linearKinds[words[0]]}}
	if until != "" {
		call.Outcome, call.Answered = model.Done, linearNumber(t, until)
	}
	switch words[0] {
	case "put":
		call.Req.Record = model.Record{Op: 1, Key: words[1],
			Value: model.Value{Num: linearNumber(t, words[2])}}
	case "get":
		call.Req.Record = model.Record{Op: 1, Key: words[1]}
		if call.Ans.Found = words[2] != "-"; call.Ans.Found {
			call.Ans.Value.Num = linearNumber(t, words[2])
		}
	case "commit", "position":
		call.Req.Record.ID.Part = int32(linearNumber(t, words[1]))
		call.Req.Seq = linearNumber(t, words[2])
		call.Ans.Seq = call.Req.Seq
	case "write":
		call.Req.Record, call.Req.Seq = linearRecord(words[1][0])
		call.Ans.Seq = linearNumber(t, words[2])
	case "read":
		_, call.Req.Seq = linearRecord(words[1][0])
		call.Req.Cursor = linearNumber(t, words[2])
		call.Ans.Records = linearRecords(strings.Trim(words[1], "()"))
	case "see", "final":
		for i, rec := range linearRecords(words[1]) {
			_, part := linearRecord(words[1][0])
			o := model.Observation{N: call.Invoked + int64(i), Part: int32(part), Out: rec,
				Seq: linearNumber(t, words[2]) + int64(i)}
			if words[0] == "see" {
				h.Observations = append(h.Observations, o)
			} else {
				h.Final = append(h.Final, o)
			}
		}
		return
	default:
		t.Fatal(words)
	}
	linearMarks(h, call, words[4:])
}

func linearMarks(h *model.History, call model.Call, marks []string) {
	for _, mark := range marks {
		switch mark {
		case "+copy":
			h.Servings = append(h.Servings, model.Serving{Call: int32(len(h.Calls)), Copy: true,
				Ans: model.Answer{Outcome: model.Done}})
		case "+refused":
			call.Outcome = model.Refused
		case "+before":
			call.Outcome = model.DoneBefore
		}
	}
	h.Calls = append(h.Calls, call)
}

// TestLinearizableStories tells what each model accepts and rejects, and what is cited.
func TestLinearizableStories(t *testing.T) {
	tests := []struct {
		name, story string
		events      string // of the first anomaly; "": it holds
	}{
		{"nothing", "", ""},

		{"offset read back", "position 0 0 1-2; commit 0 3 3-4; position 0 3 5-6", ""},
		{"offset lost", "commit 0 3 3-4; position 0 0 5-6", "5 6"},
		{"offsets of two partitions", "commit 0 3 1-2; position 1 0 3-4; position 0 3 5-6", ""},
		{"offset goes back by a commit", "commit 0 3 1-2; commit 0 2 3-4; position 0 2 5-6", ""},
		{"concurrent commit", "commit 0 3 1-9; position 0 0 2-3; position 0 3 4-5", ""},
		{"concurrent commit undone", "commit 0 3 1-9; position 0 3 2-3; position 0 0 4-5", "4 5"},
		{"touching is concurrent", "commit 0 3 1-4; position 0 0 4-5", ""},
		{"late commit", "commit 0 3 1-; commit 0 3 2-3; commit 0 5 4-5; position 0 3 6-7", ""},
		{"unknown commit", "commit 0 3 1-; position 0 0 2-3; position 0 3 4-5", ""},
		{"unknown commit undone", "commit 0 3 1-; position 0 3 2-3; position 0 0 4-5", "4 5"},
		{"offset before its commit", "position 0 3 1-2; commit 0 3 3-", "1 2"},
		{"commit of what it was", "commit 0 3 1-2; commit 0 0 3-; position 0 0 5-6", ""},
		{"late commit of what it was", "commit 0 0 1-; position 0 0 2-3; commit 0 5 4-5; " +
			"position 0 5 6-7; position 0 0 8-9", ""},
		{"refused commit", "commit 0 3 1-2 +refused; position 0 3 3-4", "3 4"},
		{"doubled commit", "commit 0 3 1-2 +copy; commit 0 5 3-4; position 0 3 5-6", ""},
		{"not doubled commit", "commit 0 3 1-2; commit 0 5 3-4; position 0 3 5-6", "5 6"},
		{"position without an answer", "commit 0 3 1-2; position 0 9 3-", ""},
		{"the first of two", "commit 0 3 1-2; position 0 9 3-4; position 0 8 5-6", "3 4"},

		{"absent", "get a - 1-2; put a 0 3-4; get a 0 5-6", ""},
		{"absent again", "put a 1 1-2; get a - 3-4", "3 4"},
		{"absent is not zero", "get a 0 1-2", "1 2"},
		{"two keys", "put a 1 1-2; put b 2 3-4; get a 1 5-6; get b 2 7-8", ""},
		{"keys mixed up", "put a 1 1-2; put b 2 3-4; get a 2 5-6", "5 6"},
		{"put had been made", "put a 1 1-2; put a 2 3-4; put a 1 5-6 +before; get a 2 7-8", ""},
		{"late put", "put a 1 1-; put a 2 3-4; get a 2 5-6; get a 1 7-8; get a 1 9-10", ""},
		{"late put, twice", "put a 1 1-; put a 2 3-4; get a 1 5-6; get a 2 7-8; get a 1 9-10",
			"7 8"},
		{"new and old", "put a 1 1-2; put a 2 3-9; get a 2 4-5; get a 1 6-7", "6 7"},

		{"log", "write x 0 1-2; write y 1 3-4; see x 0 5-5; final xy 0 20-21", ""},
		{"duplicates are legal", "write x 0 1-2; write x 1 3-4; final xx 0 20-21", ""},
		{"two partitions", "write x 0 1-2; write Y 0 3-4; final x 0 20-20; final Y 0 21-21", ""},
		{"one place twice", "write x 0 1-2; write y 0 3-4; final x 0 20-20", "3 4"},
		{"place too far", "write x 1 1-2; final x 0 20-20", "1 2"},
		{"places against time", "write x 1 1-2; write y 0 3-4; final yx 0 20-21", "2 3"},
		{"places of concurrent writes", "write x 1 1-4; write y 0 3-5; final yx 0 20-21", ""},
		{"final read misses one", "write x 0 1-2; write y 1 3-4; final x 0 20-20", "4 20"},
		{"final read misses all", "write x 0 1-2", "2 1000"},
		{"no final read", "write x 0 1-2; cut", ""},
		{"final read of another", "write x 0 1-2; final y 0 20-20", "2 20"},
		{"final read with a hole", "write x 0 1-2; write y 1 3-4; final y 1 20-20", "20"},
		{"final read of more", "write x 0 1-2; final xy 0 20-21", "20 21"},
		{"seen too early", "see x 0 1-1; write x 0 2-3; final x 0 20-20", "1 2"},
		{"seen before the answer", "write x 0 1-4; see x 0 2-2; final x 0 20-20", ""},
		{"seen at the wrong place", "write x 0 1-2; write y 1 3-4; see y 0 5-5; final xy 0 20-21",
			"2 5"},
		{"refused and seen", "write x 0 1-2 +refused; final x 0 20-20", "20"},
		{"refused", "write x 0 1-2 +refused", ""},
		{"unknown and seen", "write x 0 1-; write y 1 3-4; final xy 0 20-21", ""},
		{"unknown and not seen", "write x 0 1-; write y 0 3-4; final y 0 20-20", ""},
		{"unknown and moved on", "write x 0 1-; write y 1 3-4; cut", ""},
		{"nothing to move on", "write x 0 5-; write y 1 3-4; cut", "4"},
		{"the early one is taken", "write x 0 1-; write x 0 9-; write y 1 3-4; see x 2 12-12;" +
			"final xyx 0 20-22", ""},
		{"seen takes the late one", "write x 0 1-; write x 0 4-; write y 1 2-3; see x 2 9-9; cut",
			""},
		{"doubled", "write x 0 1-2 +copy; write y 1 3-4; final xyx 0 20-22", ""},
		{"not doubled", "write x 0 1-2; write y 1 3-4; final xyx 0 20-22", "20 22"},
		{"had been made", "write x 0 1-; write x 0 3-4 +before; final x 0 20-20", ""},
		{"had not been made", "write x 0 3-4 +before; final x 0 20-20", "3 4"},
		{"a task reads", "write x 0 1-2; read x 0 3-4; read () 1 5-6; write y 1 7-8; final xy 0 " +
			"20-21", ""},
		{"a task reads too little", "write x 0 1-2; write y 1 3-4; read x 0 5-6; final xy 0 20-21",
			"4 5"},
		{"a task reads too much", "write x 0 1-2; read xy 0 3-4; write y 1 5-6; final xy 0 20-21",
			"4 5"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			verdicts := Linearizable(linearStory(t, test.story), 0)
			require.Len(t, verdicts, 3)
			var events []string
			for _, v := range verdicts {
				require.Equal(t, "linearizable", v.Property)
				require.NotEqual(t, model.Undecided, v.Result)
				require.Equal(t, v.Result == model.Violated, len(v.Anomalies) > 0)
				require.Equal(t, v.Result == model.Violated, v.Reason != "")
				for _, a := range v.Anomalies {
					require.Equal(t, model.Unexplained, a.Kind)
					for _, n := range a.Events {
						if n != 0 {
							events = append(events, strconv.FormatInt(n, 10))
						}
					}
				}
			}
			require.Equal(t, test.events, strings.Join(events, " "), "%v", verdicts)
			requireGuess(t, linearStory(t, test.story).History, test.story)
		})
	}
}

// requireGuess judges the external log of a history without a guess, and wants a guess to be right
// if and only if the log is: so nothing is entered twice for no reason.
func requireGuess(t testing.TB, h *model.History, story string) {
	l := linear{h: h}
	g := l.sort(model.Log)
	isRight := g.isRight()
	v := l.logs(&logs{linear: &l, parts: []logPart{{isWrong: true}}, isGuess: true})
	require.Equal(t, v.Result == model.Holds, isRight, "%s: %s", story, v.Reason)
}

// TestLinearizableReasons reads what a violation says.
func TestLinearizableReasons(t *testing.T) {
	tests := []struct{ story, reason string }{
		{"commit 2 3 1-2; position 2 0 3-4", "the committed offset of partition 2: no order of " +
			"the calls explains the answer 0 at event 4"},
		{"put a 3 1-2; get a - 3-4", `the state of operator 1 under "a": no order of the calls ` +
			"explains the answer nothing at event 4"},
		{"get a 3 3-4; get b 4 5-6", `the state of operator 1 under "a": no order of the calls ` +
			"explains the answer 3 at event 4; 1 more"},
		{"write X 0 1-2; write Y 0 3-4; final X 0 9-9",
			"the log of partition 1: two writes were told place 0"},
	}
	for _, test := range tests {
		var reasons []string
		for _, v := range Linearizable(linearStory(t, test.story), 0) {
			if v.Result == model.Violated {
				reasons = append(reasons, v.Reason)
			}
		}
		require.Equal(t, []string{test.reason}, reasons, test.story)
	}
}

// TestLinearizableBudget counts steps and not time: the same budget gives the same verdict, and
// what is hard is undecided.
func TestLinearizableBudget(t *testing.T) {
	story := "put a 9 1-2"
	for i := range 40 {
		story += fmt.Sprintf("; put a %d %d-; put a %d %d-", i%20, i+3, i%20, i+3)
		story += fmt.Sprintf("; get a %d %d-%d", i%20, 60+i, 61+i)
	}
	s := linearStory(t, story+"; get a 9 200-201; get a 77 202-203")
	least := 1
	for ; Linearizable(linearStory(t, "put a 1 1-2; get a 1 3-4"), least)[1].Result !=
		model.Holds; least++ {
	}
	require.Equal(t, 2, least)
	for _, steps := range []int{1, 100, 5_000} {
		for range 3 {
			v := Linearizable(s, steps)[model.StateStore]
			require.Equal(t, model.Undecided, v.Result)
			require.Equal(t, reasonLinearSteps, v.Reason)
			require.Empty(t, v.Anomalies)
		}
	}

	story = "put a 99 1-2"
	for i := range 30 { // read by nobody, or once: no choice is left
		story += fmt.Sprintf("; put a %d %d-; put a %d %d-", 100+i, i+3, 200+i, 3*i+60)
		story += fmt.Sprintf("; get a %d %d-%d", 200+i, 3*i+61, 3*i+62)
	}
	easy := Linearizable(linearStory(t, story+"; get a 99 200-201"), 300)
	require.Equal(t, model.Violated, easy[model.StateStore].Result)
}

// logNode is a log as a list from its end; it is shared, never changed.
type logNode struct {
	before *logNode
	rec    model.Record
	length int64
	hash   uint64
}

func (n *logNode) equal(other *logNode) bool {
	for n != other {
		if n.length != other.length || n.hash != other.hash || n.rec != other.rec {
			return false
		}
		n, other = n.before, other.before
	}
	return true
}

// logOp is one operation of the reference: an append, or a read of what lies from a place on, to
// the end or of as many records as are given.
type logOp struct {
	isAppend bool
	toEnd    bool
	place    int64 // -1: unknown
	list     []model.Record
}

// logModel is the append log for porcupine.
func logModel() porcupine.Model {
	return porcupine.Model{
		Init: func() any { return &logNode{} },
		Step: func(state, input, _ any) (bool, any) {
			log, op := state.(*logNode), input.(logOp)
			if op.isAppend {
				if op.place >= 0 && op.place != log.length {
					return false, log
				}
				rec := &op.list[0]
				hash := model.Mix(log.hash^rec.Subject()^uint64(rec.Value.Num)<<32, hashA)
				return op.place != -2, &logNode{log, *rec, log.length + 1, hash}
			}
			last := op.place + int64(len(op.list))
			if op.place < 0 || log.length < last || op.toEnd && log.length > last {
				return false, log
			}
			at := log
			for at.length > last {
				at = at.before
			}
			for i := len(op.list) - 1; i >= 0; i-- {
				if at.rec != op.list[i] {
					return false, log
				}
				at = at.before
			}
			return true, log
		},
		Equal: func(a, b any) bool { return a.(*logNode).equal(b.(*logNode)) },
		Hash:  func(state any) uint64 { return state.(*logNode).hash },
	}
}

// logOperations are the operations of a partition of a history, for porcupine.
func logOperations(h *model.History, part int64) (list []porcupine.Operation) {
	const after = 1 << 40
	add := func(from, until int64, op logOp) {
		list = append(list, porcupine.Operation{Input: op, Call: from, Return: until})
	}
	for i, c := range h.Calls {
		if c.Service != model.External || c.Req.Seq != part {
			continue
		}
		recs := []model.Record{c.Req.Record}
		switch {
		case c.Req.Kind == model.Read && c.Outcome == model.Done:
			add(c.Invoked, c.Answered, logOp{toEnd: true, place: c.Req.Cursor, list: c.Ans.Records})
		case c.Req.Kind != model.Write:
		case c.Outcome == model.Unknown:
			add(c.Invoked, after, logOp{isAppend: true, place: -1, list: recs})
		case c.Outcome == model.DoneBefore:
			add(c.Invoked, c.Answered, logOp{place: c.Ans.Seq, list: recs})
		case c.Outcome == model.Done:
			place := c.Ans.Seq
			if place < 0 {
				place = -2
			}
			add(c.Invoked, c.Answered, logOp{isAppend: true, place: place, list: recs})
		}
		for _, s := range h.Servings {
			if s.Copy && int(s.Call) == i && c.Req.Kind == model.Write {
				add(c.Invoked, after, logOp{isAppend: true, place: -1, list: recs})
			}
		}
	}
	for _, o := range h.Observations {
		if int64(o.Part) == part {
			add(o.N, o.N, logOp{place: o.Seq, list: []model.Record{o.Out}})
		}
	}
	final := logOp{toEnd: true}
	from, until := int64(after-1), int64(after-1)
	for _, o := range h.Final {
		if int64(o.Part) != part {
			continue
		}
		if len(final.list) == 0 {
			final.place, from = o.Seq, o.N
		}
		until, final.list = o.N, append(final.list, o.Out)
	}
	if final.place != 0 {
		final.place = -1 // it begins with a hole
	}
	if h.End.Reason == model.Quiescent || len(h.Final) > 0 {
		add(from, until, final)
	}
	return list
}

// logHolds is what porcupine thinks of all partitions.
func logHolds(h *model.History, parts int) bool {
	for part := range int64(parts) {
		if !porcupine.CheckOperations(logModel(), logOperations(h, part)) {
			return false
		}
	}
	return true
}
