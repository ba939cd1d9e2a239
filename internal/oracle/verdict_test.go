package oracle_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/oncesim/oncesim/internal/oracle"
	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/semantics"
	"github.com/oncesim/oncesim/sim"
)

// story is one run and what it breaks, known by reasoning about the protocol: the properties not
// named hold.
type story struct {
	name  string
	mode  *model.Mode
	top   *model.Topology
	every int64
	in    string
	rules []model.Rule
	want  string
}

const (
	sourceTask = 0 // of a chain with one partition and one operator
	opTask     = 1
	sinkTask   = 2
	ms         = 1_000_000
)

// quiet are stories without faults.
var quiet = []story{
	{name: "none, stateless", mode: &semantics.None, top: chain(1, 1, &double),
		every: quick, in: "a1 b2 a3"},
	{name: "none, stateful: memory is what it keeps", mode: &semantics.None,
		top: chain(2, 2, &odd, &digits), every: quick, in: "a1 b2 c3|a5 b7"},
	{name: "at most once, two partitions", mode: &semantics.AtMostOnce,
		top: chain(2, 2, &odd, &digits), every: quick, in: "a1 b2 c3|a5 b7"},
	{name: "at least once, two partitions", mode: &semantics.AtLeastOnce,
		top: chain(2, 2, &odd, &digits), every: quick, in: "a1 b2 c3|a5 b7"},
	{name: "several outputs", mode: &semantics.AtLeastOnce, top: chain(1, 2, &repeat, &count),
		every: quick, in: "a2 b0 a3"},
	{name: "fork", mode: &semantics.AtLeastOnce, top: fork(&double, &count), every: quick,
		in: "a1 a2"},
	{name: "no input at all", mode: &semantics.AtLeastOnce, top: chain(2, 1, &count),
		every: quick, in: "|"},
}

// position: what is committed before or after its effects.
var position = []story{
	{name: "at most once: the source dies behind its commit", mode: &semantics.AtMostOnce,
		top: chain(1, 1, &count), every: slow, in: "a1 a2",
		rules: []model.Rule{crash(sourceTask, model.After, model.OffsetCommit, 1)},
		want: "at-least-once loss; exactly-once loss state-loss wrong-value; " +
			"exactly-once-state state-loss; effectively-once state-loss"},
	{name: "at least once: the source dies with its commit on the way",
		mode: &semantics.AtLeastOnce,
		top:  chain(1, 1, &double), every: quick, in: "a1 a2",
		rules: []model.Rule{crash(sourceTask, model.During, model.OffsetCommit, 1)}},
	{name: "at least once: it dies with the commit unsent", mode: &semantics.AtLeastOnce,
		top: chain(1, 1, &double), every: quick, in: "a1 a2",
		rules: []model.Rule{crash(sourceTask, model.Before, model.OffsetCommit, 1)},
		want:  "at-most-once duplicate; exactly-once duplicate; order regression"},
	{name: "a late commit moves the offset back", mode: &semantics.AtLeastOnce,
		top: chain(1, 1, &double), every: slow, in: "a1 a2 a3 a4 a5",
		rules: []model.Rule{atCall(model.DelayRequest, sourceTask, 0, model.OffsetCommit, 1,
			60*ms)},
		want: "mechanism offset-regression"},
}

// state: where it lives and what happens to it between put and send.
var state = []story{
	{name: "at most once: the operator dies behind its put", mode: &semantics.AtMostOnce,
		top: chain(1, 1, &count), every: slow, in: "a1 a2",
		rules: []model.Rule{crash(opTask, model.After, model.Put, 1)},
		want:  "at-least-once loss; exactly-once loss"},
	{name: "at most once: the operator dies before its put", mode: &semantics.AtMostOnce,
		top: chain(1, 1, &count), every: slow, in: "a1 a2",
		rules: []model.Rule{atEffect(model.Crash, opTask, model.Before, 2, 0)},
		want: "at-least-once loss; exactly-once loss state-loss wrong-value; " +
			"exactly-once-state state-loss; effectively-once state-loss"},
	{name: "at least once: the operator dies behind its put", mode: &semantics.AtLeastOnce,
		top: chain(1, 1, &count), every: slow, in: "a1",
		rules: []model.Rule{crash(opTask, model.After, model.Put, 1)},
		want: "at-most-once no-subsequence state-duplicate; exactly-once wrong-value " +
			"state-duplicate; exactly-once-state state-duplicate; " +
			"effectively-once state-duplicate"},
	{name: "a maximum does not mind", mode: &semantics.AtLeastOnce,
		top: chain(1, 1, &record), every: slow, in: "a1 a2",
		rules: []model.Rule{crash(opTask, model.BeforeAck, model.Put, 2)},
		want:  "exactly-once loss"},
	{name: "none: the operator dies between two records", mode: &semantics.None,
		top: chain(1, 1, &count), every: slow, in: "a1 a2",
		rules: []model.Rule{atEffect(model.Crash, opTask, model.After, 1, 0)},
		want: "exactly-once wrong-value state-loss; exactly-once-state state-loss; " +
			"effectively-once state-loss"},
	{name: "a late put takes the state back", mode: &semantics.AtMostOnce,
		top: chain(1, 1, &count), every: slow, in: "a1 a2",
		rules: []model.Rule{atCall(model.DelayRequest, opTask, 0, model.Put, 1, 60*ms)},
		want: "at-most-once no-subsequence; exactly-once state-loss; " +
			"exactly-once-state state-loss; effectively-once state-loss"},
}

// output: what becomes visible how often, and in which order.
var output = []story{
	{name: "at least once: the sink dies behind its write", mode: &semantics.AtLeastOnce,
		top: chain(1, 1, &count), every: slow, in: "a1",
		rules: []model.Rule{crash(sinkTask, model.After, model.Write, 1)},
		want:  "at-most-once duplicate; exactly-once duplicate"},
	{name: "at least once: the answer to a write is lost", mode: &semantics.AtLeastOnce,
		top: chain(1, 1, &double), every: quick, in: "a1 a2",
		rules: []model.Rule{atCall(model.LoseAnswer, sinkTask, 0, model.Write, 1, 0)},
		want:  "at-most-once duplicate; exactly-once duplicate"},
	{name: "at most once: a write is lost", mode: &semantics.AtMostOnce,
		top: chain(1, 1, &double), every: quick, in: "a1 a2",
		rules: []model.Rule{atCall(model.LoseRequest, sinkTask, 0, model.Write, 1, 0)},
		want:  "at-least-once loss; exactly-once loss"},
	{name: "at most once: a late write", mode: &semantics.AtMostOnce,
		top: chain(1, 1, &double), every: quick, in: "a1 a2",
		rules: []model.Rule{atCall(model.DelayRequest, sinkTask, 0, model.Write, 1, 60*ms)},
		want:  "exactly-once reorder; order reorder"},
	{name: "at most once: a late write under another key", mode: &semantics.AtMostOnce,
		top: chain(1, 1, &double), every: quick, in: "a1 b2",
		rules: []model.Rule{atCall(model.DelayRequest, sinkTask, 0, model.Write, 1, 60*ms)},
		want:  "exactly-once reorder"},
	{name: "at most once: a write is doubled", mode: &semantics.AtMostOnce,
		top: chain(1, 1, &double), every: quick, in: "a1 a2",
		rules: []model.Rule{atCall(model.DuplicateRequest, sinkTask, 0, model.Write, 1, 60*ms)},
		want:  "at-most-once duplicate; exactly-once duplicate; order regression"},
	{name: "at least once: a zombie does what its successor has done",
		mode: &semantics.AtLeastOnce, top: chain(1, 1, &count), every: slow, in: "a1 a2 a3",
		rules: []model.Rule{atCall(model.Pause, opTask, model.Before, model.Put, 2, 120*ms)},
		want: "at-most-once duplicate; exactly-once duplicate; order regression; " +
			"mechanism zombie-write"},
	{name: "at least once: what a replaced operator has stored is folded in again",
		mode: &semantics.AtLeastOnce, top: chain(1, 1, &count), every: slow, in: "a1 a2",
		rules: []model.Rule{atCall(model.Pause, opTask, model.After, model.Put, 2, 80*ms)},
		want: "at-most-once duplicate state-duplicate; " +
			"exactly-once duplicate state-duplicate revised; " +
			"exactly-once-state state-duplicate; effectively-once state-duplicate; " +
			"no-revision revised"},
}

func TestVerdicts(t *testing.T) {
	for _, group := range [][]story{quiet, position, state, output} {
		for _, s := range group {
			t.Run(s.name, func(t *testing.T) {
				b := newBench(t, s.mode, s.top, records(s.every, s.in))
				report := b.run(1, s.rules...)
				for i, n := range b.last.Reached {
					assert.NotZero(t, n, "fault %d strikes nothing", i)
				}
				if got := broken(report); !assert.Equal(t, sorted(s.want), got) {
					t.Log("\n" + report.String() + b.trace())
				}
			})
		}
	}
}

// Records of one partition that go two ways may meet in any order: without a fault nothing breaks,
// however the latencies are drawn.
func TestVerdictsOnTwoWays(t *testing.T) {
	b := newBench(t, &semantics.AtLeastOnce, rekeyed(&odd, &digits), records(quick,
		"a1 b3 c5 d7 e9"))
	orders := map[string]bool{}
	for seed := uint64(1); seed <= 9; seed++ {
		assert.Empty(t, broken(b.run(seed)), "seed %d", seed)
		shown := ""
		for _, o := range b.last.Final {
			shown += o.Out.Value.String() + " "
		}
		orders[shown] = true
	}
	assert.Greater(t, len(orders), 1, "the order never differs: the test shows nothing")
}

// names are the properties in the order of the stories.
var names = []string{"at-most-once", "at-least-once", "replay-explained", "exactly-once-state",
	"exactly-once", "effectively-once", "order", "no-revision", "progress", "mechanism",
	"atomic-visibility", "global-visibility", "agreement", "conserved"}

// broken lists what does not hold, and with which anomalies.
func broken(r *oracle.Report) string { return brokenAmong(r, names) }

func brokenAmong(r *oracle.Report, names []string) string {
	var list []string
	for _, name := range names {
		result, kinds := r.Verdict(name)
		switch result {
		case model.Undecided:
			list = append(list, name+" unknown")
		case model.Violated:
			line := name
			for _, kind := range kinds {
				line += " " + kind.String()
			}
			list = append(list, line)
		}
	}
	return strings.Join(list, "; ")
}

// sorted brings a want into the order of broken.
func sorted(want string) string {
	var list []string
	for _, name := range names {
		for _, part := range strings.Split(want, ";") {
			words := strings.Fields(part)
			if len(words) == 0 || words[0] != name {
				continue
			}
			line := name
			if len(words) == 2 && words[1] == "unknown" {
				line += " unknown"
			}
			for _, kind := range model.Anomalies() {
				for _, word := range words[1:] {
					if word == kind.String() {
						line += " " + word
					}
				}
			}
			list = append(list, line)
		}
	}
	return strings.Join(list, "; ")
}

// A run that is cut off proves no loss, only what has happened already.
func TestVerdictsWhenCutOff(t *testing.T) {
	b := newBench(t, &semantics.AtMostOnce, chain(1, 1, &count), records(slow, "a1 a2"))
	b.enter(&sim.AppendLog, sim.Config{EventsMax: 40})
	assert.Equal(t, "at-least-once unknown; exactly-once-state unknown; exactly-once unknown; "+
		"effectively-once unknown; progress unknown", broken(b.run(1)))

	b = newBench(t, &semantics.AtMostOnce, chain(1, 1, &count), records(quick, "a1 a2"))
	b.enter(&sim.AppendLog, sim.Config{DrainTime: 1})
	report := b.run(1)
	assert.Equal(t, model.TimeBound, b.last.End.Reason)
	assert.Equal(t, "at-least-once unknown; exactly-once-state unknown; exactly-once unknown; "+
		"effectively-once unknown; progress stuck", broken(report))
}
