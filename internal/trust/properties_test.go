package trust

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/oncesim/oncesim/faults"
	"github.com/oncesim/oncesim/internal/oracle"
	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/scenarios"
	"github.com/oncesim/oncesim/search"
)

// The properties of this file are about any scenario: what is drawn is the job, its operators,
// input, mode, parameters, seed and faults, and rapid makes smaller what fails. A failure shows the
// scenario as a file. What is drawn is the same each time, but with -trust.full.

// judged are those of some properties that a run violates, and those that are open.
func judged(verdicts []model.Verdict, names []string) (violated, unknown []string) {
	for i := range verdicts {
		switch v := &verdicts[i]; {
		case !slices.Contains(names, v.Property):
		case v.Result == model.Violated:
			violated = append(violated, v.Property)
		case v.Result == model.Undecided:
			unknown = append(unknown, v.Property)
		}
	}
	return violated, unknown
}

// inside has the white box judge a run that was made with a trace.
func inside(res *scenarios.Result) *oracle.Report {
	s := res.Subject
	return oracle.Judge(s.Job, s.Mode, s.Input, s.Shape, res.Trace, s.History)
}

// share is how many of some number of things came out in some way.
type share struct{ n, of int }

func (s *share) count(is bool) {
	s.of++
	if is {
		s.n++
	}
}

// isAtMost requires that it is at most so many per cent.
func (s *share) isAtMost(t *testing.T, percent int, what string) {
	t.Helper()
	t.Logf("%s: %d of %d", what, s.n, s.of)
	require.LessOrEqual(t, 100*s.n, percent*s.of, "%s: %d of %d", what, s.n, s.of)
}

// Of a run whose faults are all of its envelope, nothing that a mode claims is violated.
func TestProperties_ModesKeepTheirClaims(t *testing.T) {
	lib := drawnLibrary()
	d := draft{lib: lib, modes: lib.Modes, kind: model.NonDeterministic}
	var open, struck share
	check(t, 300, 6_000, func(rt *rapid.T) {
		x := d.draw(rt)
		res := x.run(rt, scenarios.Options{})
		reached := res.Subject.History.Reached
		require.Empty(rt, search.Unclaimed(lib, x.s, reached), "%s", x.file())
		claims := x.s.Claims()
		violated, unknown := judged(res.Verdicts, claims)
		require.Empty(rt, violated, "%s claims %v\n%s", x.s.Mode.Name, claims, x.file())
		open.count(len(unknown) > 0)
		struck.count(slices.ContainsFunc(reached, func(n int64) bool { return n != 0 }))
	})
	open.isAtMost(t, 10, "runs with something claimed unknown")
	require.Greater(t, 2*struck.n, struck.of, "runs that a fault struck")
}

// legal is what a run without faults is.
var legal = []string{"exactly-once", "exactly-once-state", "progress"}

// excuses say which modes and parameters do harm by themselves, without any fault.
var excuses = []struct {
	why   string
	is    func(s *scenarios.Scenario) bool
	rules []string // properties that they rule out
}{
	{"none begins at the end of what has arrived, at its first start as well",
		func(s *scenarios.Scenario) bool { return s.Mode.Name == "none" },
		[]string{"exactly-once", "exactly-once-state"}},
	{"a stop with a savepoint is a restart: what a restart rests on was taken away",
		func(s *scenarios.Scenario) bool { return param(s, "stop-at") != 0 && len(s.Unlike()) > 0 },
		legal},
	{"what waits in a savepoint is written row by row before the stop, and again behind it",
		func(s *scenarios.Scenario) bool {
			return s.Mode.Name == "snapshot-wal-split" && param(s, "stop-at") != 0
		}, []string{"exactly-once"}},
	{"live state writes into a snapshot that was taken already",
		func(s *scenarios.Scenario) bool { return param(s, "aliased") == 1 },
		[]string{"exactly-once-state"}},
	{"barriers that hold nothing back cut nothing, and what is in flight is in no snapshot",
		func(s *scenarios.Scenario) bool { return param(s, "alignment")%2 == 1 },
		[]string{"exactly-once-state"}},
	{"the next transaction of an id aborts one that waits for its commit",
		func(s *scenarios.Scenario) bool { return isSet(s, "pool", 1) }, legal},
	{"who does not wait for as long as it takes repeats what was only slow",
		func(s *scenarios.Scenario) bool { return s.Mode.Param("timeout") != nil },
		[]string{"exactly-once", "exactly-once-state"}},
	{"what was not committed when its checkpoint was complete never is",
		func(s *scenarios.Scenario) bool { return isSet(s, "commit-all", 0) },
		[]string{"progress"}},
}

// isSet reports whether a mode has a parameter, and with some value.
func isSet(s *scenarios.Scenario, name string, value int64) bool {
	return s.Mode.Param(name) != nil && param(s, name) == value
}

// param is the value of a parameter, or 0.
func param(s *scenarios.Scenario, name string) int64 {
	for _, v := range s.Job().Params {
		if v.Name == name {
			return v.Value
		}
	}
	return 0
}

// excusesOf are the numbers of those that let a scenario violate a property.
func excusesOf(s *scenarios.Scenario, property string) (list []int) {
	for i, e := range excuses {
		if slices.Contains(e.rules, property) && e.is(s) {
			list = append(list, i)
		}
	}
	return list
}

// Without faults every mode shows what a run without failures shows, whatever its parameters: both
// judges say so, but where excuses has a reason.
func TestProperties_WithoutFaultsAllModesAreExact(t *testing.T) {
	lib := drawnLibrary()
	d := draft{lib: lib, modes: lib.Modes, kind: model.NonDeterministic, isFree: true, isCalm: true}
	var open share
	needed := make([]int, len(excuses))
	check(t, 200, 4_000, func(rt *rapid.T) {
		x := d.draw(rt)
		res := x.run(rt, scenarios.Options{Trace: true})
		report := inside(&res)
		require.Empty(rt, differ(report, &res), "%s", x.file())
		violated, unknown := judged(res.Verdicts, legal)
		open.count(len(unknown) > 0)
		for _, name := range legal {
			result, kinds := report.Verdict(name)
			if result != model.Violated && !slices.Contains(violated, name) {
				continue
			}
			by := excusesOf(x.s, name)
			require.NotEmpty(rt, by, "%s is violated, %v\n%s", name, kinds, x.file())
			if len(by) == 1 {
				needed[by[0]]++
			}
		}
	})
	open.isAtMost(t, 15, "runs with something unknown")
	for i, n := range needed {
		t.Logf("the only excuse %d times: %s", n, excuses[i].why)
	}
}

// wild is whatever can be drawn: any fault, any parameter and any sink.
func wild(lib *scenarios.Library) draft {
	return draft{lib: lib, modes: lib.Modes, kind: model.NonDeterministic, isFree: true,
		isWild: true}
}

// end is how the run of a trial ends, with its hash.
func (x *trial) end(rt rapid.TB) model.End {
	res := x.run(rt, scenarios.Options{})
	return res.Subject.History.End
}

// A scenario has one run: in a new world, and in one that has run something else meanwhile.
func TestProperties_AScenarioHasOneRun(t *testing.T) {
	lib := drawnLibrary()
	check(t, 150, 2_000, func(rt *rapid.T) {
		x := wild(lib).draw(rt)
		first := x.end(rt)
		x.runner.Run(x.s.Seed+1, nil, scenarios.Options{})
		require.Equal(rt, first, x.end(rt), "a world that was used before\n%s", x.file())
		again := x.with(rt, func(*scenarios.Scenario) {})
		require.Equal(rt, first, again.end(rt), "a new world\n%s", x.file())
	})
}

// isCrowded reports whether two faults of a plan are about one thing that a process does, or strike
// at one time. A service that is told to refuse a request and to answer it as it was before does
// what comes first in the plan.
func isCrowded(plan faults.Plan) bool {
	for i, f := range plan {
		if slices.ContainsFunc(plan[:i], func(g faults.Fault) bool {
			isTime := f.Point == model.AtTime && g.Point == model.AtTime
			return isTime && f.At == g.At || !isTime && f.Proc == g.Proc && f.Scope == g.Scope &&
				f.Call == g.Call && f.N == g.N
		}) {
			return true
		}
	}
	return false
}

// A fault that was not reached was not there, and the order in which faults are listed says
// nothing where they do not meet. A fault at a time is waited for, and the job is given time to
// recover from it: when it strikes nothing the last event of the run has another time, and nothing
// else is different; a run that never comes to its end goes on longer.
func TestProperties_UnreachedFaultsAreNotThere(t *testing.T) {
	lib := drawnLibrary()
	var some share
	check(t, 180, 2_000, func(rt *rapid.T) {
		x := wild(lib).draw(rt)
		res := x.run(rt, scenarios.Options{})
		first, isWaited := res.Subject.History.End, false
		verdicts, reached := outcome(res.Verdicts), slices.Clone(res.Subject.History.Reached)
		some.count(slices.Contains(reached, 0))
		without := x.with(rt, func(s *scenarios.Scenario) {
			s.Faults = nil
			for i, n := range reached {
				if n != 0 {
					s.Faults = append(s.Faults, x.s.Faults[i])
				} else if x.s.Faults[i].Point == model.AtTime {
					isWaited = true
				}
			}
		})
		res = without.run(rt, scenarios.Options{})
		last := res.Subject.History.End
		if isWaited && last.Reason == model.Quiescent {
			last.At, last.Hash = first.At, first.Hash
		} else if isWaited {
			last = first
		}
		require.Equal(rt, first, last, "with the faults that were reached alone\n%s", x.file())
		require.Equal(rt, verdicts, outcome(res.Verdicts), "%s", x.file())
		if isCrowded(x.s.Faults) {
			return
		}
		turned := x.with(rt, func(s *scenarios.Scenario) { slices.Reverse(s.Faults) })
		require.Equal(rt, first, turned.end(rt), "with its faults in reverse\n%s", x.file())
	})
	require.Greater(t, 10*some.n, some.of, "runs with a fault that was not reached")
}

// A scenario that is written to a file is read back, and has the same run.
func TestProperties_FilesReadBack(t *testing.T) {
	lib := drawnLibrary()
	check(t, 150, 1_000, func(rt *rapid.T) {
		x := wild(lib).draw(rt)
		text := scenarios.Format(lib, x.s)
		s, err := scenarios.Parse(lib, "drawn.sim", text)
		require.NoError(rt, err, "%s", x.file())
		again := newTrial(rt, lib, s)
		require.Equal(rt, string(text), string(scenarios.Format(lib, s)))
		require.Equal(rt, x.end(rt), again.end(rt), "%s", x.file())
	})
}

// What guarantees forbid, in the terms of model: of outputs, of state, and of transactions.
var (
	repeats   = []model.AnomalyKind{model.Duplicate, model.StateDuplicate, model.Phantom}
	losses    = []model.AnomalyKind{model.Loss, model.Phantom}
	misstates = []model.AnomalyKind{model.Loss, model.Phantom, model.StateLoss,
		model.StateDuplicate, model.WrongState}
	misshows = []model.AnomalyKind{model.Loss, model.Phantom, model.Duplicate}
	whatever = append([]model.AnomalyKind{model.Duplicate, model.WrongValue, model.Revised,
		model.Divergence, model.Unexplained, model.NoSubsequence, model.Reorder, model.Regression,
		model.DirtyRead, model.EarlyRead, model.Torn, model.Conflict,
		model.PrematureCommit}, misstates...)
)

// stronger are pairs of modes of which the second forbids what the first may show, in jobs of some
// kind at the most. It is about what the guarantees mean, and knows nothing of Mode.Claims.
var stronger = []pair{
	{"at-least-once", "none", model.NonDeterministic, repeats},
	{"at-least-once", "at-most-once", model.NonDeterministic, repeats},
	{"at-most-once", "at-least-once", model.NonDeterministic, losses},
	{"none", "at-least-once", model.NonDeterministic, losses},
	{"at-most-once", "acker", model.NonDeterministic, losses},
	{"at-most-once", "idempotent", model.NonDeterministic, losses},
	{"at-least-once", "idempotent", model.Stateless, misshows},
	{"at-most-once", "idempotent-by-key", model.NonDeterministic, losses},
	{"dedup-id-first", "dedup-id-last", model.NonDeterministic, losses},
	{"dedup-id-last", "dedup-id-first", model.NonDeterministic, repeats},
	{"dedup-id-last", "dedup", model.NonDeterministic, whatever},
	{"at-most-once", "dedup", model.NonDeterministic, whatever},
	{"at-least-once", "dedup", model.NonDeterministic, whatever},
	{"at-most-once", "snapshot", model.NonDeterministic, misstates},
	{"at-least-once", "snapshot", model.NonDeterministic, misstates},
	{"at-least-once", "independent-snapshots", model.NonDeterministic, misstates},
	{"at-least-once", "snapshot-upsert", model.NonDeterministic, misstates},
	{"at-least-once", "snapshot-upsert", model.Stateless, misshows},
	{"snapshot", "snapshot-upsert", model.Stateless, misshows},
	{"snapshot", "snapshot-wal", model.NonDeterministic, whatever},
	{"snapshot-wal-split", "snapshot-wal", model.NonDeterministic, whatever},
	{"snapshot", "two-phase-commit", model.NonDeterministic, whatever},
	{"at-least-once", "two-phase-commit", model.NonDeterministic, whatever},
	{"micro-batch-plain", "micro-batch", model.NonCommutative, whatever},
	{"at-least-once", "micro-batch", model.NonCommutative, whatever},
}

type pair struct {
	weak, strong string
	kind         model.OperatorKind
	never        []model.AnomalyKind
}

// shows are the forbidden kinds that verdicts have. Exactly-once blames by one execution, which a
// run need not have that repeats or loses something by its guarantee: behind a state that holds an
// input twice it calls lost what no execution shows. It counts where the guarantee is that there
// is one.
func (p pair) shows(verdicts []model.Verdict) []model.AnomalyKind {
	return shown(slices.DeleteFunc(slices.Clone(verdicts), func(v model.Verdict) bool {
		return v.Property == "exactly-once" && !slices.Contains(p.never, model.Divergence)
	}), p.never)
}

// shown are those of some kinds of anomaly that verdicts have, in the order of kinds.
func shown(verdicts []model.Verdict, kinds []model.AnomalyKind) (list []model.AnomalyKind) {
	for _, k := range kinds {
		if slices.ContainsFunc(verdicts, func(v model.Verdict) bool { return v.Has(k) }) {
			list = append(list, k)
		}
	}
	return list
}

// Under faults that both tolerate, a stronger mode never shows what its guarantee forbids. The
// weaker one does, under the same faults where it has what they strike.
func TestProperties_StrongerModesShowLess(t *testing.T) {
	lib := drawnLibrary()
	weaker := make([]share, len(stronger))
	check(t, 300, 4_000, func(rt *rapid.T) {
		i := rapid.IntRange(0, len(stronger)-1).Draw(rt, "pair")
		p := stronger[i]
		weak, err := lib.FindMode(p.weak)
		require.NoError(rt, err)
		strong, err := lib.FindMode(p.strong)
		require.NoError(rt, err)
		x := draft{lib: lib, modes: []*model.Mode{strong}, also: weak, kind: p.kind}.draw(rt)
		res := x.run(rt, scenarios.Options{})
		require.Empty(rt, p.shows(res.Verdicts), "%s after %s\n%s", p.strong, p.weak, x.file())
		job := x.s.UnderMode(weak).Job()
		other := x.with(rt, func(s *scenarios.Scenario) {
			*s = *s.UnderMode(weak)
			s.Faults = slices.DeleteFunc(slices.Clone(x.s.Faults), func(f faults.Fault) bool {
				_, err := faults.Plan{f}.Compile(job)
				return err != nil
			})
		})
		res = other.run(rt, scenarios.Options{})
		weaker[i].count(len(p.shows(res.Verdicts)) > 0)
	})
	for i, p := range stronger {
		t.Logf("%s shows what %s does not in %d of %d", p.weak, p.strong, weaker[i].n, weaker[i].of)
		isRare := p.weak == "snapshot-wal-split" // only between rows and mark
		require.True(t, weaker[i].n > 0 || !*full || isRare, "%s is as strong as %s", p.weak,
			p.strong)
	}
}

// outcome is what is compared of verdicts: the properties, the results, and the kinds of anomaly.
func outcome(verdicts []model.Verdict) (list []string) {
	for i := range verdicts {
		v := &verdicts[i]
		list = append(list, fmt.Sprint(v.Property, " ", v.Result, " ",
			shown(verdicts[i:i+1], model.Anomalies())))
	}
	return list
}

// renamed is another name for a key, that goes to the same tasks and has the same place among all
// others.
func renamed(key string, salt int) string {
	route := func(key string) [2]int64 {
		return [2]int64{model.Below(model.HashText(key), 2),
			model.Below(model.HashText(key+"+"), 2)}
	}
	for n := salt; ; n++ {
		if name := fmt.Sprint(key, n); route(name) == route(key) {
			return name
		}
	}
}

// Keys are names: what goes the same ways comes to the same, at the same times. The place of a key
// among all others is kept as well, since state is written in the order of keys and a torn upload
// keeps the first half.
func TestProperties_KeysAreNames(t *testing.T) {
	lib := drawnLibrary()
	check(t, 150, 2_000, func(rt *rapid.T) {
		x := wild(lib).draw(rt)
		salt := rapid.IntRange(0, 1000).Draw(rt, "salt")
		other := x.with(rt, func(s *scenarios.Scenario) {
			for i, line := range s.Input.Lines {
				if key, number, ok := strings.Cut(line, "="); ok {
					s.Input.Lines[i] = renamed(key, salt) + "=" + number
				}
			}
		})
		one := x.run(rt, scenarios.Options{})
		two := other.run(rt, scenarios.Options{})
		require.Equal(rt, outcome(one.Verdicts), outcome(two.Verdicts), "%s\n%s", x.file(),
			other.file())
		a, b := one.Subject.History.End, two.Subject.History.End
		a.Hash, b.Hash = 0, 0
		require.Equal(rt, a, b, "%s\n%s", x.file(), other.file())
	})
}

// sparse is an arrival interval in which everything that a record and a fault bring about is over
// long before the next record. It is a multiple of how often readers poll.
const sparse = 20_000 * ms

// Time has no place in which it begins. That is no symmetry of all scenarios: intervals of
// checkpoints and batches are counted from the start of the job, which a scenario cannot move, and
// latencies do not grow with arrival intervals. But modes without a clock of their own do nothing
// between one record and the next once everything is quiet, and faults are anchored at events. So
// where records are that far apart, it does not matter how far. Only a run that is stuck has more
// events: it is cut off at a time that is counted from one interval behind the last arrival.
func TestProperties_QuietTimeDoesNotMatter(t *testing.T) {
	lib := drawnLibrary()
	d := wild(lib)
	d.modes = slices.DeleteFunc(slices.Clone(lib.Modes), func(m *model.Mode) bool {
		return m.Param("interval") != nil
	})
	check(t, 150, 2_000, func(rt *rapid.T) {
		x := d.draw(rt)
		every := func(ns int64) *trial {
			return x.with(rt, func(s *scenarios.Scenario) {
				s.Input.Every = ns
				s.Faults = slices.DeleteFunc(s.Faults, func(f faults.Fault) bool {
					return f.Point == model.AtTime
				})
			})
		}
		one, two := every(sparse), every(3*sparse)
		a, b := one.run(rt, scenarios.Options{}), two.run(rt, scenarios.Options{})
		require.Equal(rt, outcome(a.Verdicts), outcome(b.Verdicts), "%s", one.file())
		end, other := a.Subject.History.End, b.Subject.History.End
		require.Equal(rt, end.Reason, other.Reason, "%s", one.file())
		if end.Reason == model.Quiescent {
			require.Equal(rt, end.N, other.N, "%s", one.file())
		}
	})
}

// differ says what one judge calls violated and the other calls right.
func differ(report *oracle.Report, res *scenarios.Result) (list []string) {
	for i := range res.Verdicts {
		v := &res.Verdicts[i]
		result, kinds := report.Verdict(v.Property)
		isOpen := result == model.Undecided || v.Result == model.Undecided
		if !isOpen && result != v.Result {
			list = append(list, fmt.Sprintf("%s: from the outside %s %v, from the inside %s %v",
				v.Property, v.Result, shown(res.Verdicts[i:i+1], model.Anomalies()), result, kinds))
		}
	}
	return list
}

// Whatever fails, and whatever is set: what one judge calls violated the other does not call right.
func TestProperties_JudgesAgree(t *testing.T) {
	lib := drawnLibrary()
	var open, blamed share
	check(t, 100, 2_000, func(rt *rapid.T) {
		x := wild(lib).draw(rt)
		res := x.run(rt, scenarios.Options{Trace: true})
		report := inside(&res)
		require.Empty(rt, differ(report, &res), "%s", x.file())
		open.n += oracle.Undecided(report, res.Verdicts)
		open.of += len(res.Verdicts)
		blamed.count(oracle.Disagreement(report, res.Verdicts) != "")
	})
	open.isAtMost(t, 10, "properties of which a judge could not say")
	blamed.isAtMost(t, 2, "runs in which the judges blame something else")
}
