package checker

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/model"
)

// bigPlay is a run of n records in two partitions in which nothing fails; if rewinds is set, the
// task dies now and then between its step and the put, which a mode survives.
func bigPlay(t testing.TB, spec, mode string, n int, rewinds bool) *play {
	var parts []model.Partition
	for range 2 {
		part := model.Partition{Every: 1}
		for i := range n / 2 {
			part.Records = append(part.Records, model.Record{Key: fmt.Sprintf("k%d", i%17),
				Value: model.Value{Num: int64(i % 3)}})
		}
		parts = append(parts, part)
	}
	p := newPlay(t, spec, mode, model.NewInput(parts))
	for i := range n {
		id := model.ID{Part: int32(i % 2), Offset: int64(i / 2)}
		if rewinds && i%19 == 0 {
			p.clause(fmt.Sprintf("apply %d:%d", id.Part, id.Offset))
			p.crash("s1/0")
		}
		for op := range p.s.Job.Topology.Stages {
			p.clause(fmt.Sprintf("take %d:%d at %d", id.Part, id.Offset, op+1))
		}
		if i%50 == 0 {
			p.clause("see")
		}
	}
	for part := range parts {
		p.clause(fmt.Sprintf("fetch %d", part))
		p.clause(fmt.Sprintf("commit %d=%d", part, n/2))
	}
	p.finish()
	return p
}

// bigSnapPlay is a run of n records in two partitions with a checkpoint now and then, at times with
// a record in flight, and a restart from it. What is written waits for a checkpoint in a
// transaction.
func bigSnapPlay(t testing.TB, spec string, n int) *play {
	in := strings.Repeat(" a1 b2 c1", n/6)
	p := newPlay(t, spec, "snap", parseInput(in+"|"+in))
	ops := len(p.s.Job.Topology.Stages)
	take := func(i int) (name string) {
		name = fmt.Sprintf("%d:%d", i%2, i/2)
		for op := range ops {
			p.clause(fmt.Sprintf("apply %s at %d", name, op+1))
		}
		p.clause(fmt.Sprintf("add %d %s", i/10+1, name))
		return name
	}
	for i := range n {
		if i%10 == 0 {
			p.clause(fmt.Sprintf("begin %d", i/10+1))
		}
		if i%10 != 9 {
			take(i)
			continue
		}
		id, flight := i/10+1, ""
		if i%20 == 9 {
			flight = fmt.Sprintf(" in %d:%d", i%2, i/2)
		} else {
			take(i)
		}
		p.clause(fmt.Sprintf("prepare %d %d", id, id))
		p.clause(fmt.Sprintf("mark %d %d %d", id, i/2+1, i/2+1))
		for op := range ops {
			words := fmt.Sprintf("part %d", id)
			if op == 0 {
				words += flight
			}
			p.clause(fmt.Sprintf("%s at %d", words, op+1))
		}
		p.clause(fmt.Sprintf("done %d", id))
		if flight != "" {
			p.clause(fmt.Sprintf("restart %d", id))
			take(i)
		}
		p.clause(fmt.Sprintf("decide %d commit", id))
		p.clause("see")
	}
	p.clause("fetch 0")
	p.clause("fetch 1")
	p.finish()
	return p
}

// TestPassingAllocatesNothing holds a reused Judge to its promise, for histories of several
// sizes in turn.
func TestPassingAllocatesNothing(t *testing.T) {
	plays := []*play{
		bigPlay(t, "double", "volatile", 100, false),
		bigPlay(t, "sum", "through+commits", 400, true),
		bigPlay(t, "roll", "through", 300, true),
		bigPlay(t, "pair", "volatile", 100, false),
		bigPlay(t, "sum*", "through", 200, false),
		bigPlay(t, "double>sum", "through", 100, false),
		bigPlay(t, "roll", "through+rows+update", 200, true),
		bigPlay(t, "roll", "through+keys", 200, true),
		bigPlay(t, "sum>roll", "volatile+keys", 200, false),
		bigPlay(t, "rekey", "volatile+keys", 200, false),
		bigPlay(t, "noise", "through+update", 200, true),
		bigPlay(t, "noise", "volatile+keys", 200, false),
	}
	for _, spec := range []string{"sum", "roll", "double>sum", "pay>sum", "noise"} {
		plays = append(plays, bigSnapPlay(t, spec, 120))
	}
	j, props := NewJudge(), All()
	for _, p := range plays {
		for _, v := range j.Judge(p.s, props) {
			require.Equal(t, model.Holds, v.Result, "%s of %s: %v", v.Property,
				p.s.Job.Topology.Name, v.Anomalies)
		}
		run := func() { j.Judge(p.s, props) }
		require.Zero(t, testing.AllocsPerRun(10, run), p.s.Job.Topology.Name)
	}
	require.Zero(t, testing.AllocsPerRun(10, func() { j.Judge(plays[1].s, props) }))
}

// find returns the first anomaly of a kind in the verdict of a property.
func find(t *testing.T, verdicts []model.Verdict, property string, kind model.AnomalyKind) (
	a model.Anomaly) {
	for _, v := range verdicts {
		for _, a := range v.Anomalies {
			if v.Property == property && a.Kind == kind {
				return a
			}
		}
	}
	require.Failf(t, "no such anomaly", "%s of %s", kind, property)
	return a
}

// eventOf is the number of the n-th serving of a kind, from 0.
func eventOf(p *play, kind model.Kind, n int) int64 {
	for _, s := range p.h.Servings {
		if p.h.Calls[s.Call].Req.Kind == kind {
			if n == 0 {
				return s.N
			}
			n--
		}
	}
	panic(kind.String())
}

// TestCertificates looks at what anomalies cite: in event order, both sides of what went wrong.
func TestCertificates(t *testing.T) {
	j := NewJudge()
	p := stage(t, "double", "volatile", "in a1; take 0:0; write 0:0=5")
	a := find(t, j.Judge(p.s, All()), "exactly-once", model.Duplicate)
	require.Equal(t, [4]int64{eventOf(p, model.Write, 0), eventOf(p, model.Write, 1),
		p.h.Final[0].N, p.h.Final[1].N}, a.Events)
	require.Equal(t, "once", a.Expected.String())
	require.Equal(t, "2 times, values 2 and 5", a.Observed.String())

	p = stage(t, "double", "volatile", "in a1; fetch 0; commit 0=1; apply 0:0; crash")
	a = find(t, j.Judge(p.s, All()), "at-least-once", model.Loss)
	require.Equal(t, [4]int64{eventOf(p, model.Fetch, 0), eventOf(p, model.OffsetCommit, 0),
		p.h.Applications[0].N, p.h.Lives[1].Ended}, a.Events)
	require.Equal(t, p.s.Input.Parts[0].Records[0], a.Record)

	p = stage(t, "double", "volatile", "in a1; fetch 0; commit 0=1; crash source/0")
	a = find(t, j.Judge(p.s, All()), "at-least-once", model.Loss)
	require.Equal(t, [4]int64{eventOf(p, model.Fetch, 0), eventOf(p, model.OffsetCommit, 0),
		p.h.Lives[0].Ended}, a.Events)

	p = stage(t, "sum", "through", "in a1; take 0:0; crash; apply 0:0; put 0:0")
	a = find(t, j.Judge(p.s, All()), "exactly-once-state", model.StateDuplicate)
	require.Equal(t, [4]int64{p.h.Applications[0].N, p.h.Applications[1].N}, a.Events)
	require.Equal(t, "2 times", a.Observed.String())
	require.Equal(t, "a", a.Record.Key)

	p = stage(t, "roll", "volatile", "in a1 a2; take 0:0; crash; take 0:1")
	a = find(t, j.Judge(p.s, All()), "exactly-once", model.WrongValue)
	require.Equal(t, "value 12", a.Expected.String())
	require.Equal(t, "value 2", a.Observed.String())
}

// TestCertificatesOfWhatBelongsTogether looks at how many of how many they say were seen, or
// committed, and at which events.
func TestCertificatesOfWhatBelongsTogether(t *testing.T) {
	const three = "in a1 c2 a3; apply 0:0; apply 0:1; apply 0:2; begin 7; begin 8/1 50; " +
		"add 7 0:0 0:2; add 8 0:1; prepare 7 1; prepare 8 1; decide 7 commit; "
	for _, c := range []struct {
		mode, story, property, expected, observed string
		kind                                      model.AnomalyKind
		seen                                      []int // the observations that are cited
	}{
		{"volatile", "see; decide 8 commit; see", "global-visibility", "3 times", "2 times",
			model.FracturedRead, []int{0, 2}},
		{"volatile", "see; decide 8 abort", "global-visibility", "3 times", "2 times", model.Torn,
			[]int{0}},
		{"volatile", "decide 8 abort", "agreement", "2 times", "once", model.Conflict, nil},
		{"volatile", "wait 60; see", "agreement", "2 times", "once", model.Conflict, nil},
		{"volatile+dirty", "decide 8 commit; begin 9; add 9 0:0; see; add 9 0:2; " +
			"decide 9 commit; see", "atomic-visibility", "2 times", "once", model.TornRead,
			[]int{2, 4}},
	} {
		p := stage(t, "double*", c.mode, three+c.story)
		a := find(t, NewJudge().Judge(p.s, All()), c.property, c.kind)
		require.Equal(t, c.expected, a.Expected.String(), c.story)
		require.Equal(t, c.observed, a.Observed.String(), c.story)
		for _, i := range c.seen {
			require.Contains(t, a.Events, p.h.Observations[i].N, c.story)
		}
	}
}

// TestOneAnomalyARecordAndKind repeats a record many times over.
func TestOneAnomalyARecordAndKind(t *testing.T) {
	p := stage(t, "double", "volatile", "in a1 a2; take 0:0; take 0:1; write 0:0; write 0:0; "+
		"write 0:1; write 0:0")
	got := show(NewJudge().Judge(p.s, All()))
	require.Equal(t, "duplicate 0:0, duplicate 0:1", got["exactly-once"])
	require.Equal(t, "regression 0:0", got["order"])
}

// TestFabricated shows what no input and no operator accounts for.
func TestFabricated(t *testing.T) {
	p := stage(t, "double>double", "volatile", "in a1; take 0:0; take 0:0 at 2")
	for i, rec := range []model.Record{
		{ID: model.ID{Offset: 1}, Op: 2},                 // no such input
		{ID: model.ID{Part: 5}, Op: 2},                   // no such partition
		{ID: model.ID{Part: 1}, Op: 2},                   // the first that there is not
		{ID: model.ID{Part: -1}, Op: 2},                  // nor is there one before the first
		{ID: model.ID{Offset: -1}, Op: 2},                // nor an input before the first
		{ID: model.ID{}, Op: -1},                         // nor an operator
		{ID: model.ID{}, Op: 3},                          // the first operator that there is not
		{ID: model.ID{}, Op: 1},                          // an operator that feeds no sink
		{ID: model.ID{}, Op: 9},                          // no such operator
		{ID: model.ID{}, Op: 2, Path: 1, Key: "a"},       // a second output
		{ID: model.ID{}, Op: 2, Path: 1 << 12, Key: "a"}, // of a second output
		{ID: model.ID{}, Op: 2, Path: 1 << 24, Key: "a"}, // of a hop that is not there
	} {
		h := *p.h
		h.Final = append(h.Final[:1:1], model.Observation{N: 99, Seq: 1, Out: rec})
		s := p.s
		s.History = &h
		verdicts := NewJudge().Judge(s, All())
		for _, property := range []string{"at-most-once", "replay-explained", "exactly-once"} {
			a := find(t, verdicts, property, model.Phantom)
			require.Equal(t, rec, a.Record, "%d %s", i, property)
		}
	}
}

// TestWrongPartition shows an output in a partition of the sink where it does not belong.
func TestWrongPartition(t *testing.T) {
	for _, spec := range []string{"double*", "sum*"} {
		p := stage(t, spec, "volatile", "in a1 c2; take 0:0; take 0:1")
		p.h.Final[0].Part, p.h.Final[0].Seq = 1, 1
		p.h.Final[0], p.h.Final[1] = p.h.Final[1], p.h.Final[0]
		got := show(NewJudge().Judge(p.s, All()))
		for _, property := range []string{"exactly-once", "at-most-once", "replay-explained"} {
			require.Equal(t, "phantom 0:0", got[property], "%s of %s", property, spec)
		}
		require.Equal(t, "holds", got["at-least-once"])

		p.h.Final[0].Part, p.h.Final[0].Seq = -1, 0 // there is no such partition
		p.h.Final[1].Part, p.h.Final[1].Seq = -1, 0
		got = show(NewJudge().Judge(p.s, All()))
		for _, property := range []string{"exactly-once", "at-most-once", "replay-explained"} {
			require.Equal(t, "phantom 0:0, phantom 0:1", got[property], "%s of %s", property, spec)
		}
		require.Equal(t, "holds", got["at-least-once"])
	}
}

// TestKeyOfNoInput stores a state under a key that nobody asked for.
func TestKeyOfNoInput(t *testing.T) {
	p := stage(t, "sum", "through", "in a1; take 0:0")
	rec := model.Record{Op: 1, Key: "z", Value: model.Value{Num: 1}}
	p.call(p.lives["s1/0"], model.StateStore, model.Message{Kind: model.Put, Record: rec},
		model.Answer{Outcome: model.Done})
	verdicts := NewJudge().Judge(p.s, All())
	for _, property := range []string{"exactly-once-state", "effectively-once", "exactly-once"} {
		require.Equal(t, "z", find(t, verdicts, property, model.WrongState).Record.Key)
	}
	require.Equal(t, "z", find(t, verdicts, "at-most-once", model.NoSubsequence).Record.Key)
	require.Equal(t, "z", find(t, verdicts, "replay-explained", model.Unexplained).Record.Key)
}

// TestStaleStore answers a get with an older value than was stored last: the step that is based
// on it leaves out what came between.
func TestStaleStore(t *testing.T) {
	p := newPlay(t, "sum", "through", parseInput("a1 a2 a4"))
	p.clause("take 0:0")
	stale := p.store["1 a"]
	p.clause("take 0:1")
	p.store["1 a"] = stale
	p.crash("s1/0")
	p.clause("take 0:2")
	p.finish()
	got := show(NewJudge().Judge(p.s, All()))
	require.Equal(t, "state-loss 0:1", got["exactly-once-state"])
	require.Equal(t, "holds", got["replay-explained"])
	require.Equal(t, "no-subsequence 0:2", got["at-most-once"])
}

// TestRefusedPutChangesNothing and neither does one that had been applied before.
func TestRefusedPutChangesNothing(t *testing.T) {
	for _, outcome := range []model.Outcome{model.Refused, model.DoneBefore} {
		p := stage(t, "sum", "through", "in a1; take 0:0; put 0:0=9")
		last := &p.h.Servings[len(p.h.Servings)-1]
		last.Ans.Outcome = outcome
		got := show(NewJudge().Judge(p.s, All()))
		require.Equal(t, "holds", got["exactly-once-state"], outcome)
		require.Equal(t, "holds", got["replay-explained"], outcome)
	}
}

// TestFalseClaims does not believe claims that are no steps: of another task, of a record that is
// not in the input as claimed, with another number of outputs.
func TestFalseClaims(t *testing.T) {
	for name, spoil := range map[string]func(*model.Application){
		"operator": func(a *model.Application) { a.Op = 2 },
		"task":     func(a *model.Application) { a.Proc = 0 },
		"nobody":   func(a *model.Application) { a.Proc = model.Nobody },
		"beyond":   func(a *model.Application) { a.Proc += 100 },
		"sink":     func(a *model.Application) { a.Proc++ },
		"next":     func(a *model.Application) { a.Proc += 2 },
		"value":    func(a *model.Application) { a.In.Value.Num++ },
		"key":      func(a *model.Application) { a.In.Key = "z" },
		"offset":   func(a *model.Application) { a.In.ID.Offset = 7 },
		"hop":      func(a *model.Application) { a.In.Op = 1 },
		"path":     func(a *model.Application) { a.In.Path = 1 },
		"outputs":  func(a *model.Application) { a.Outputs = 0 },
	} {
		p := stage(t, "double", "volatile", "in a1; take 0:0")
		spoil(&p.h.Applications[0])
		got := show(NewJudge().Judge(p.s, All()))
		require.Equal(t, "loss 0:0", got["at-least-once"], name)
		require.Equal(t, "phantom 0:0", got["replay-explained"], name)
		require.Equal(t, "holds", got["exactly-once"], name)
	}
}

// TestReaderStartsOver reads places twice: an entry counts once, and must be the same.
func TestReaderStartsOver(t *testing.T) {
	p := stage(t, "double", "volatile", "in a1 a2; take 0:0; take 0:1; see; cut")
	p.h.Observations = append(p.h.Observations, p.h.Observations...)
	got := show(NewJudge().Judge(p.s, All()))
	require.Equal(t, "holds", got["at-most-once"])
	require.Equal(t, "holds", got["no-revision"])
	require.Equal(t, "holds", got["order"])
	p.h.Observations[2].Out.Value.Num++
	require.Equal(t, "revised 0:0", show(NewJudge().Judge(p.s, All()))["no-revision"])
}

// TestDoubledGet: a life adopts the answer that it got, not what a second copy of its request
// found later.
func TestDoubledGet(t *testing.T) {
	p := stage(t, "sum", "through", "in a1 a2; take 0:0; take 0:1")
	for i, s := range p.h.Servings {
		if p.h.Calls[s.Call].Req.Kind == model.Get {
			s.Copy, s.N = true, p.h.Applications[1].N-1
			p.h.Servings = slices.Insert(p.h.Servings, i+3, s)
			break
		}
	}
	for _, v := range NewJudge().Judge(p.s, All()) {
		if v.Property != "progress" {
			require.Equal(t, model.Holds, v.Result, v.Property)
		}
	}
}

// TestEndMustBeHeard: an end that was told to nobody, or to a zombie, is not reached.
func TestEndMustBeHeard(t *testing.T) {
	p := stage(t, "double", "volatile", "in a1; take 0:0; fetch 0")
	last := &p.h.Calls[len(p.h.Calls)-1]
	last.Outcome = model.Unknown
	require.Equal(t, "stuck 0:0", show(NewJudge().Judge(p.s, All()))["progress"])

	p = stage(t, "double", "volatile", "in a1; take 0:0; fork source/0; fetch 0")
	require.Equal(t, "holds", show(NewJudge().Judge(p.s, All()))["progress"])
	last = &p.h.Calls[len(p.h.Calls)-1]
	last.Attempt = p.lives["old source/0"].attempt
	require.Equal(t, "stuck 0:0", show(NewJudge().Judge(p.s, All()))["progress"])
}

// TestCallsOfNobody: calls and lives that belong to no task of the job are looked at by no property
// that asks who made them; what the service served of them counts.
func TestCallsOfNobody(t *testing.T) {
	for _, proc := range []model.ProcID{model.Nobody, 3, 99} {
		p := stage(t, "sum", "through+commits", "in a1 a2; take 0:0; put 0:0=9; commit 0=1; "+
			"fetch 0; write 0:0")
		require.Len(t, p.s.Job.Tasks, 3)
		for i := range p.h.Calls {
			p.h.Calls[i].Proc = proc
		}
		got := show(NewJudge().Judge(p.s, All()))
		require.Equal(t, "wrong-state 0:0", got["exactly-once-state"], proc)
		require.Equal(t, "no-subsequence 0:0, duplicate 0:0", got["at-most-once"], proc)
		require.Equal(t, "stuck 0:1", got["progress"], proc)
		require.Equal(t, "holds", got["mechanism"], proc)
	}
}

// TestStepsAreRecalled: an operator without state is asked once for each record, however often runs
// on one input are judged, and again for a record that is not the one it was asked for.
func TestStepsAreRecalled(t *testing.T) {
	steps := 0
	counted := *double
	counted.Step = func(in model.Record, state model.Value, out *model.Outputs) model.Value {
		steps++
		return double.Step(in, state, out)
	}
	p := bigPlay(t, "double>double", "volatile", 60, true)
	for i := range p.s.Job.Topology.Stages {
		p.s.Job.Topology.Stages[i].Operator = &counted
	}
	j := NewJudge()
	for round := range 3 {
		for _, v := range j.Judge(p.s, All()) {
			require.Equal(t, model.Holds, v.Result, v.Property)
		}
		require.Equal(t, 120, steps, round)
	}
}

// TestTable numbers pairs and texts over several rounds.
func TestTable(t *testing.T) {
	var pairs table
	var words texts
	for round := range uint64(4) {
		pairs.reset()
		words.reset()
		require.EqualValues(t, -1, pairs.find(1, round))
		for i := range uint64(300) {
			n, fresh := pairs.number(i%100, round)
			require.EqualValues(t, i%100, n)
			require.Equal(t, i < 100, fresh)
			require.EqualValues(t, i%100, words.number(fmt.Sprint(i%100)))
		}
		require.Equal(t, 100, pairs.len())
		require.EqualValues(t, 7, pairs.find(7, round))
		require.EqualValues(t, -1, pairs.find(7, round+1))
	}

	var late table // its rounds begin anew, and nothing of an old one comes back
	late.reset()
	late.number(7, 0)
	late.round = math.MaxUint32
	late.reset()
	for i := range uint64(100) {
		n, fresh := late.number(i, 0)
		require.EqualValues(t, i, n)
		require.True(t, fresh)
		require.EqualValues(t, -1, late.find(i, 3))
	}
}

// TestKeysAreForgotten stores states under ever new keys: a judge keeps no more than twice as many
// as there are slots for records, and those of the subject.
func TestKeysAreForgotten(t *testing.T) {
	p := stage(t, "sum", "through", "in a1 b2; take 0:0; take 0:1; put 0:0")
	last := &p.h.Calls[len(p.h.Calls)-1].Req.Record
	j, slots, most := NewJudge(), 4, 0
	for i := range 100 {
		last.Key = fmt.Sprint(i)
		v := verdictOf(j.Judge(p.s, All()), "exactly-once-state")
		require.Equal(t, last.Key, v.Anomalies[0].Record.Key)
		require.LessOrEqual(t, len(j.recall.keys.list), 2*slots+1)
		most = max(most, len(j.recall.keys.list))
	}
	require.Equal(t, 2*slots+1, most)
}

// everything names all that a verdict says.
func everything(verdicts []model.Verdict) (all []string) {
	for _, v := range verdicts {
		all = append(all, fmt.Sprintf("%s %s %q %v", v.Property, v.Result, v.Reason, v.Anomalies))
	}
	return all
}

// TestReuseLeavesNoTrace: a verdict depends on nothing that was judged before, not on the other
// properties asked for, and not on their order, although all of them share what they work out.
func TestReuseLeavesNoTrace(t *testing.T) {
	reused, props := NewJudge(), All()
	backwards := slices.Clone(props)
	slices.Reverse(backwards)
	specs := []string{"sum", "roll", "odd", "pair", "double>roll", "sum>roll", "roll>double",
		"roll@rows", "noise@rows", "odd@keys", "rekey@keys", "noise@keys", "roll>rekey@keys"}
	for seed := range fewer(2_000, 0) {
		p, story := randomPlay(t, seed, specs)
		want := everything(NewJudge().Judge(p.s, props))
		require.Equal(t, want, everything(reused.Judge(p.s, props)), story)
		reversed := everything(reused.Judge(p.s, backwards))
		slices.Reverse(reversed)
		require.Equal(t, want, reversed, story)
		for i := range props {
			require.Equal(t, want[i:i+1], everything(reused.Judge(p.s, props[i:i+1])), story)
		}
	}
}

// TestMoreOfTheSame changes a history in a way whose effect on the verdicts is known: to repeat
// an entry takes exactly-once and at-most-once away and nothing else; to take the last entry away
// takes coverage away, and never at-most-once; to end before the end leaves what needs the end
// undecided.
func TestMoreOfTheSame(t *testing.T) {
	j, props := NewJudge(), All()
	result := func(p *play) map[string]model.Result {
		results := map[string]model.Result{}
		for _, v := range j.Judge(p.s, props) {
			results[v.Property] = v.Result
		}
		return results
	}
	for seed := range fewer(2_000, 0) {
		p, story := randomPlay(t, seed, []string{"sum", "roll", "double", "double>roll"})
		before, n := result(p), len(p.h.Final)
		if n == 0 || len(p.h.Observations) > 0 {
			continue
		}
		again := p.h.Final[n-1]
		again.N, again.Seq = again.N+1, again.Seq+1
		p.h.Final = append(p.h.Final, again)
		after := result(p)
		require.Equal(t, model.Violated, after["exactly-once"], story)
		require.Equal(t, model.Violated, after["at-most-once"], story)
		require.Equal(t, before["at-least-once"], after["at-least-once"], story)
		require.Equal(t, before["exactly-once-state"], after["exactly-once-state"], story)
		require.Equal(t, before["order"], after["order"], story)

		p.h.Final = p.h.Final[:n-1]
		after = result(p)
		if before["exactly-once"] == model.Holds {
			require.Equal(t, model.Violated, after["exactly-once"], story)
			require.Equal(t, model.Violated, after["at-least-once"], story)
		}
		if before["at-most-once"] == model.Holds {
			require.Equal(t, model.Holds, after["at-most-once"], story)
		}

		p.h.Observations, p.h.Final = p.h.Final, nil
		p.h.End.Reason = model.EventBound
		after = result(p)
		require.NotEqual(t, model.Holds, after["exactly-once"], story)
		require.NotEqual(t, model.Violated, after["at-least-once"], story)
		require.NotEqual(t, model.Violated, after["exactly-once-state"], story)
		require.Equal(t, model.Holds, after["agreement"], story) // there is nothing to decide
	}
}

// TestBudget leaves undecided what the search may not look at: of forty inputs on two channels one
// is missing from the state, and there are too many orders of the others to say that none gives
// the same value. What needs no order is still said.
func TestBudget(t *testing.T) {
	var parts [2]string
	story := ""
	for i := range 40 {
		parts[i%2] += fmt.Sprintf(" a%d", i%10)
		if i != 11 {
			story += fmt.Sprintf("; take %d:%d", i%2, i/2)
		}
	}
	p := stage(t, "hash", "through", "in"+parts[0]+" | "+parts[1]+story)
	j := NewJudge()
	j.StepsMax = 1 << 12
	verdicts := j.Judge(p.s, All())
	got := show(verdicts)
	require.Equal(t, "unknown", got["exactly-once-state"])
	require.Equal(t, "loss 1:5", got["at-least-once"])
	for _, v := range verdicts {
		if v.Property == "exactly-once-state" {
			require.Equal(t, reasonBudget, v.Reason)
		}
	}
}

// TestOneOrderIsAlwaysTried: with one channel there is one order, and its length does not matter.
// A maximum that takes an input twice is what it is when it takes it once.
func TestOneOrderIsAlwaysTried(t *testing.T) {
	for _, n := range []int{30, 300, 3000} {
		in, story := "", ""
		for i := range n {
			in += fmt.Sprintf(" a%d", i+1)
			story += fmt.Sprintf("; take 0:%d", i)
			if i == 9 {
				story += fmt.Sprintf("; take 0:%d", i)
			}
		}
		p := stage(t, "max", "through", "in"+in+story)
		j := NewJudge()
		j.StepsMax = 1 << 10
		got := show(j.Judge(p.s, All()))
		require.Equal(t, "holds", got["exactly-once-state"], "%d records", n)
	}
}

// TestAmbiguous: in a diamond the two outputs of one step cannot be told apart.
func TestAmbiguous(t *testing.T) {
	topology := &model.Topology{Name: "diamond", Inputs: []model.InputSpec{{Name: "in"}},
		Stages: []model.Stage{{Name: "l", Operator: double, From: []string{"in"}},
			{Name: "r", Operator: double, From: []string{"in"}},
			{Name: "join", Operator: double, From: []string{"l", "r"}}}}
	s := Subject{Job: model.NewJob(topology, nil), Mode: &model.Mode{}, Input: parseInput("a1"),
		History: &model.History{End: model.End{Reason: model.Quiescent}}}
	for _, v := range NewJudge().Judge(s, All()) {
		switch v.Property {
		case "progress", "mechanism", "exactly-once-state", "effectively-once",
			"atomic-visibility", "global-visibility", "agreement", "conserved":
		default:
			require.Equal(t, reasonAmbiguous, v.Reason, v.Property)
		}
	}
	topology.Stages[2].Operator, s.Shape = sum, model.Keys
	s.Job = model.NewJob(topology, nil)
	for _, property := range []string{"exactly-once-state", "effectively-once"} {
		v := verdictOf(NewJudge().Judge(s, All()), property)
		require.Equal(t, model.Undecided, v.Result, property)
		require.Equal(t, reasonAmbiguous, v.Reason, property)
	}
	topology.Stages[2].Operator = double
	s.Job = model.NewJob(topology, nil)
	v := verdictOf(NewJudge().Judge(s, All()), "effectively-once")
	require.Equal(t, reasonAmbiguous, v.Reason)
}

// TestNotDeterministic takes the step of a life with its nonce: another value is none that any life
// can have come to.
func TestNotDeterministic(t *testing.T) {
	p := stage(t, "noise", "through", "in a1 a2; take 0:0; crash; take 0:1")
	for _, property := range []string{"at-most-once", "at-least-once", "replay-explained",
		"exactly-once-state", "exactly-once", "effectively-once"} {
		require.Equal(t, "holds", show(NewJudge().Judge(p.s, All()))[property], property)
	}
}

// TestHelpers looks at what a property of an outsider can ask for.
func TestHelpers(t *testing.T) {
	p := stage(t, "sum", "through", "in a1 a2; take 0:0; crash; take 0:0; write 0:0")
	first, second := *p.s.Input.ByIndex(0), *p.s.Input.ByIndex(1)
	mine := Property{Name: "mine", Check: func(j *Judge) (model.Result, string) {
		require.Equal(t, p.h, j.Subject().History)
		require.True(t, j.Completed())
		require.Equal(t, 3, j.Visible(model.Record{ID: first.ID, Op: 1}))
		require.Equal(t, 0, j.Visible(model.Record{ID: second.ID, Op: 1}))
		require.Equal(t, 0, j.Visible(model.Record{ID: model.ID{Part: 4}, Op: 1}))
		require.Equal(t, 2, j.Applications(1, first))
		require.Equal(t, 0, j.Applications(1, second))
		require.Equal(t, 0, j.Applications(7, second))
		require.Equal(t, 2, j.Folded(1, first))
		require.Equal(t, 0, j.Folded(-1, first))
		a := model.Anomaly{Kind: model.Loss, Record: second, Events: [4]int64{9, 4}}
		j.Report(a)
		j.Report(model.Anomaly{Kind: model.Stuck})
		j.Report(a)
		require.Equal(t, 3, j.Reported())
		return model.Violated, ""
	}}
	v := NewJudge().Judge(p.s, []Property{mine})[0]
	require.Equal(t, "mine", v.Property)
	require.Len(t, v.Anomalies, 2)
	require.Equal(t, model.Loss, v.Anomalies[0].Kind)
	require.Equal(t, [4]int64{4, 9}, v.Anomalies[0].Events)
}

func BenchmarkJudge(b *testing.B) {
	for _, c := range []struct {
		spec, mode string
		n          int
	}{{"double", "volatile", 20}, {"double", "volatile", 10_000}, {"sum", "through", 20},
		{"sum", "through", 10_000}} {
		p := bigPlay(b, c.spec, c.mode, c.n, false)
		for _, props := range append([][]Property{All()}, split(All())...) {
			name := "all"
			if len(props) == 1 {
				name = props[0].Name
			}
			b.Run(fmt.Sprintf("%s/%d/%s", c.spec, c.n, name), func(b *testing.B) {
				j := NewJudge()
				j.Judge(p.s, props)
				b.ReportAllocs()
				for b.Loop() {
					j.Judge(p.s, props)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*c.n), "ns/record")
			})
		}
	}
}

func split(props []Property) (single [][]Property) {
	for i := range props {
		single = append(single, props[i:i+1])
	}
	return single
}
