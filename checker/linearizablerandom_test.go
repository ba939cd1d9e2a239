package checker

import (
	"cmp"
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/model"
)

var goldenFull = flag.Bool("golden.full", false, "judge five times as many random histories")

// linearSeeds is how many random histories are judged twice.
func linearSeeds() uint64 {
	if *goldenFull {
		return 100_000
	}
	return fewer(14_000, 0)
}

// linearOp is an operation of a random history: a clause of a linearStory. A true history applies
// it at its point.
type linearOp struct {
	verb, what  string
	place       int64
	from, until int64 // until 0: unknown
	point       int64 // 0: never applied
	mark        string
}

func (o linearOp) String() string {
	place, until := fmt.Sprint(o.place), ""
	if o.verb == "get" && o.place == 0 {
		place = "-"
	}
	if o.until > 0 {
		until = fmt.Sprint(o.until)
	}
	return strings.TrimSpace(fmt.Sprintf("%s %s %s %d-%s %s", o.verb, o.what, place, o.from, until,
		o.mark))
}

// randomOps draws operations with intervals, and points in them, in the order of the points.
func randomOps(d *draws, verbs []string, letters string) []linearOp {
	var list []linearOp
	for range 2 + d.below(9) {
		i := d.below(int64(len(letters)))
		op := linearOp{verb: verbs[d.below(int64(len(verbs)))], what: letters[i : i+1],
			from: 1 + d.below(20)}
		op.point = op.from + d.below(5)
		op.until = op.point + d.below(5)
		if op.verb == "see" {
			op.point, op.until = op.from, op.from
		}
		list = append(list, op)
	}
	slices.SortStableFunc(list, func(a, b linearOp) int { return cmp.Compare(a.point, b.point) })
	return list
}

// lie changes an operation into what need not be true.
func (d *draws) lie(op *linearOp) {
	switch d.below(4) {
	case 0:
		op.place += d.below(3) - 1
	case 1:
		op.from = max(1, op.from-d.below(6))
	case 2:
		if op.until > 0 && op.verb != "see" {
			op.until = op.from + d.below(3)
		}
	case 3:
		op.mark = ""
	}
}

// randomLog draws a story of a log, in which up to six operations lie.
func randomLog(d *draws) string {
	verbs := []string{"write", "write", "write", "see", "read"}
	letters := "xxy"[:1+d.below(3)]
	var log string
	var ops []linearOp
	for _, op := range randomOps(d, verbs[:3+d.below(3)], letters) {
		switch op.verb {
		case "write":
			op.place = int64(len(log))
			log += op.what
			switch d.below(8) {
			case 0, 1, 2:
				op.until = 0 // applied, and nobody knows
			case 3:
				log, op.until = log[:len(log)-1], 0 // not applied
			case 4:
				log += op.what
				op.mark = "+copy"
			case 5:
				log, op.mark = log[:len(log)-1], "+refused"
			case 6:
				if at := strings.Index(log[:len(log)-1], op.what); at >= 0 {
					log, op.place, op.mark = log[:len(log)-1], int64(at), "+before"
				}
			}
		case "see":
			if log == "" {
				continue
			}
			op.place = d.below(int64(len(log)))
			op.what = log[op.place : op.place+1]
		case "read":
			op.place = d.below(int64(len(log) + 1))
			op.what = "(" + log[op.place:] + ")"
		}
		ops = append(ops, op)
	}
	for range d.below(7) {
		if len(ops) > 0 {
			d.lie(&ops[d.below(int64(len(ops)))])
		}
	}
	return d.tell(ops, log)
}

// tell ends the story of a log, with a final read or without.
func (d *draws) tell(ops []linearOp, log string) string {
	end := "cut"
	if d.below(3) > 0 {
		end = ""
		if d.oneIn(6) {
			log = log[:max(0, len(log)-1)]
		}
		if log != "" {
			end = fmt.Sprintf("final %s 0 100-", log)
		}
	}
	var clauses []string
	for _, op := range ops {
		clauses = append(clauses, op.String())
	}
	return strings.Join(append(clauses, end), "; ")
}

// TestLinearizableLogAgreesWithPorcupine judges random histories of a log twice.
func TestLinearizableLogAgreesWithPorcupine(t *testing.T) {
	var judged [2]int
	for seed := range linearSeeds() {
		story := randomLog(&draws{seed: seed})
		s := linearStory(t, story)
		v := Linearizable(s, 0)[model.External]
		require.NotEqual(t, model.Undecided, v.Result, story)
		holds := logHolds(s.History, 1)
		require.Equal(t, holds, v.Result == model.Holds, "%d: %s: %s", seed, story, v.Reason)
		requireGuess(t, s.History, story)
		if holds {
			judged[0]++
		} else {
			judged[1]++
		}
	}
	t.Logf("%d linearizable, %d not", judged[0], judged[1])
	require.Greater(t, min(judged[0], judged[1]), enough(2_800))
}

// randomRegister draws a story of one register, mostly true.
func randomRegister(d *draws) string {
	values := []string{"1", "12", "123", "12345678"}[d.below(4)]
	var held int64
	var ops []string
	list := randomOps(d, []string{"put", "put", "get", "get", "get"}, values)
	lies := int(d.below(int64(2 * len(list))))
	for i, op := range list {
		if op.verb == "put" {
			op.place = int64(op.what[0] - '0')
			old := held
			held = op.place
			switch d.below(6) {
			case 0, 1:
				op.until = 0
			case 2:
				held, op.until = old, 0
			case 3:
				op.mark = "+copy"
			case 4:
				held, op.mark = old, []string{"+refused", "+before"}[d.below(2)]
			}
		} else if op.place = held; d.oneIn(8) {
			op.place = d.below(5)
		}
		if i == lies {
			d.lie(&op)
			op.place = max(op.place, 0)
		}
		op.what = "a"
		ops = append(ops, op.String())
	}
	return strings.Join(ops, "; ")
}

// registerHolds is what porcupine thinks of one register when nothing is left out or shortened, of
// the answers up to an event.
func registerHolds(h *model.History, until int64) bool {
	const after = 1 << 40
	type op struct {
		isWrite bool
		value   model.Value
		found   bool
	}
	var list []porcupine.Operation
	add := func(end int64, c *model.Call, op op) {
		list = append(list, porcupine.Operation{Input: op, Call: c.Invoked, Return: end})
	}
	for i := range h.Calls {
		c := &h.Calls[i]
		known := c.Answered != 0 && c.Answered <= until
		switch {
		case c.Invoked > until:
		case c.Req.Kind == model.Get && known:
			add(c.Answered, c, op{false, c.Ans.Value, c.Ans.Found})
		case c.Req.Kind == model.Put && known && c.Outcome == model.Done:
			add(c.Answered, c, op{true, c.Req.Record.Value, true})
		case c.Req.Kind == model.Put && c.Outcome != model.Refused &&
			c.Outcome != model.DoneBefore:
			add(after, c, op{true, c.Req.Record.Value, true})
		}
	}
	for _, s := range h.Servings {
		if c := &h.Calls[s.Call]; c.Invoked <= until {
			add(after, c, op{true, c.Req.Record.Value, true})
		}
	}
	return porcupine.CheckOperations(porcupine.Model{
		Init: func() any { return op{isWrite: true} },
		Step: func(state, input, _ any) (bool, any) {
			held, in := state.(op), input.(op)
			if in.isWrite {
				return true, in
			}
			return held.found == in.found && (!in.found || held.value == in.value), held
		},
	}, list)
}

// TestLinearizableRegisterAgreesWithPorcupine judges random histories of a register with and
// without what spares the search work, and looks whether the call that is cited is the first that
// cannot be explained.
func TestLinearizableRegisterAgreesWithPorcupine(t *testing.T) {
	var judged [2]int
	for seed := range linearSeeds() {
		story := randomRegister(&draws{seed: seed})
		s := linearStory(t, story)
		v := Linearizable(s, 0)[model.StateStore]
		require.NotEqual(t, model.Undecided, v.Result, story)
		holds := registerHolds(s.History, 1<<30)
		require.Equal(t, holds, v.Result == model.Holds, "%d: %s: %s", seed, story, v.Reason)
		if holds {
			judged[0]++
			continue
		}
		judged[1]++
		answered := v.Anomalies[0].Events[1]
		if answered == 0 { // invoked and answered at one event
			answered = v.Anomalies[0].Events[0]
		}
		require.False(t, registerHolds(s.History, answered), "%d: %s", seed, story)
		require.True(t, registerHolds(s.History, answered-1), "%d: %s", seed, story)
	}
	t.Logf("%d linearizable, %d not", judged[0], judged[1])
	require.Greater(t, min(judged[0], judged[1]), enough(2_800))
}

// TestLinearizableOfPlays judges the histories by which the properties are tested, of runs with
// crashes, zombies and repetitions: the services are linearizable whatever the tasks do. It stops
// being true when entries change places, go or change unseen.
func TestLinearizableOfPlays(t *testing.T) {
	specs := []string{"sum", "odd", "pair", "double>roll", "odd>double", "sum>roll"}
	rejected := 0
	for seed := range fewer(3_000, 0) {
		p, story := randomPlay(t, seed, specs)
		require.True(t, logHolds(p.h, p.s.Job.SinkPart), story)
		for _, v := range Linearizable(p.s, 0) {
			require.Equal(t, model.Holds, v.Result, "%s: %s", story, v.Reason)
		}
		if len(p.sinks[p.last]) < 2 || p.h.End.Reason != model.Quiescent {
			continue
		}
		spec, told, _ := strings.Cut(story, ", ")
		mode, told, _ := strings.Cut(told, ": ")
		for _, harm := range []string{"swap", "vanish", "alter 7777"} {
			harmed := stage(t, spec, mode, told+"; "+harm)
			holds := logHolds(harmed.h, harmed.s.Job.SinkPart)
			v := Linearizable(harmed.s, 0)[model.External]
			require.Equal(t, holds, v.Result == model.Holds, "%s; %s", story, harm)
			require.False(t, holds && harm != "swap", "%s; %s", story, harm)
			if !holds {
				rejected++
			}
		}
	}
	require.Greater(t, rejected, enough(3_000))
}

// TestLinearizableIsRepeatable judges one subject again and again: verdicts, reasons and
// certificates are the same.
func TestLinearizableIsRepeatable(t *testing.T) {
	for seed := range uint64(300) {
		d := &draws{seed: seed}
		s := linearStory(t, randomLog(d)+"; "+randomRegister(d))
		for _, steps := range []int{3, 0} {
			first := Linearizable(s, steps)
			for range 3 {
				require.Equal(t, first, Linearizable(s, steps))
			}
		}
	}
}
