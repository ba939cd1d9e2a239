package oracle_test

import (
	"flag"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/oncesim/oncesim/internal/oracle"
	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/semantics"
)

var deep = flag.Bool("oracle.deep", false,
	"compare the judges under more seeds and parameters, and under pairs of faults")

// place is a small job on a small input.
type place struct {
	name  string
	top   *model.Topology
	every int64
	in    string
}

var places = []place{
	{"stateless", chain(1, 1, &double), quick, "a1 b2 a3"},
	{"one partition", chain(1, 1, &count), quick, "a1 b2 a3 a4"},
	{"one partition, slow", chain(1, 1, &digits), slow, "a1 b2 a3 a4"},
	{"two partitions", chain(2, 1, &digits), quick, "a1 a2|a3 b4"},
	{"two partitions, slow", chain(2, 1, &digits), slow, "a1 a2 a3|a4 a5"},
	{"all the same", chain(2, 1, &count), slow, "a1 a1 a1|a1 b1"},
	{"no effect on the state", chain(2, 1, &count), quick, "a0 b1|a1 a0"},
	{"two stages", chain(2, 2, &odd, &digits), quick, "a1 b2 c3|a5 b7"},
	{"two stages, slow", chain(2, 2, &odd, &digits), slow, "a1 b2 c3|a5 b7"},
	{"two stages, one key", chain(2, 2, &odd, &count), medium, "a1 b1|c1 d1"},
	{"two states", chain(2, 1, &digits, &count), quick, "a1 a2|a3"},
	{"several outputs", chain(2, 2, &repeat, &digits), quick, "a2 b0|a3"},
	{"outputs depend on state", chain(2, 1, &record), quick, "a1 a3|a2"},
	{"outputs depend on state, slow", chain(2, 1, &record), slow, "a1 a3|a2 a4"},
	{"outputs and values depend on state", chain(1, 1, &tens), quick, "a4 a7 a5 a8 a9"},
	{"outputs and values depend on state, two ways", chain(2, 1, &tens), slow, "a4 a7 a9|a5 a8"},
	{"state in front", chain(2, 1, &digits, &double), quick, "a1 a2|a3"},
	{"state in front, slow", chain(1, 1, &record, &repeat), slow, "a1 a3 a2 a4"},
	{"fork of states", fork(&digits, &count), slow, "a1 b2 a3"},
	{"three partitions", chain(3, 1, &digits), quick, "a1 a2|a3|a4"},
	{"two ways", rekeyed(&odd, &digits), quick, "a1 b3 c5 a7"},
	{"fork", fork(&double, &count), quick, "a1 b2 a3"},
}

// strikes are the single faults, to be put everywhere.
var strikes = []model.Rule{
	{Action: model.Crash},
	{Action: model.Pause, For: 20 * ms},
	{Action: model.Pause, For: 80 * ms},
	{Action: model.LoseRequest},
	{Action: model.LoseAnswer},
	{Action: model.DelayRequest, For: 60 * ms},
	{Action: model.DuplicateRequest, For: ms},
	{Action: model.DuplicateRequest, For: 60 * ms},
	{Action: model.LoseMessage},
	{Action: model.DelayMessage, For: 60 * ms},
	{Action: model.DuplicateMessage, For: ms},
	{Action: model.DuplicateMessage, For: 60 * ms},
	{Action: model.ReorderMessages, For: 20 * ms},
}

// some are the places of a fault that are tried: one in three, all with -oracle.deep, or one in
// twenty under the race detector.
func some(fault model.Rule, x *model.Extent) (list []model.Rule) {
	share := 3
	switch {
	case underRace:
		share = 20
	case *deep:
		share = 1
	}
	for i, rule := range everywhere(fault, x) {
		if (i+int(fault.Action))%share == 0 {
			list = append(list, rule)
		}
	}
	return list
}

// everywhere lists the places of a fault in a run of some extent.
func everywhere(fault model.Rule, x *model.Extent) []model.Rule {
	var list []model.Rule
	for p := range x.Effects {
		fault.Proc = model.ProcID(p)
		if fault.Action == model.Crash || fault.Action == model.Pause {
			for n := range x.Effects[p] {
				for point := model.Before; point <= model.After; point++ {
					list = append(list, atEffect(fault.Action, fault.Proc, point, n+1, fault.For))
				}
			}
			continue
		}
		if fault.Action.HitsMessage() {
			for index, n := range x.Messages[p] {
				fault.Scope = model.MessageOnChannel
				fault.Peer, fault.Call = model.MessageAt(index)
				for i := range n {
					fault.N = i + 1
					list = append(list, fault)
				}
			}
			continue
		}
		for kind, n := range x.Calls[p] {
			if !fault.Action.Fits(model.Kind(kind)) {
				continue
			}
			for i := range n {
				list = append(list,
					atCall(fault.Action, fault.Proc, 0, model.Kind(kind), i+1, fault.For))
			}
		}
	}
	return list
}

// extent copies what a run offers to anchor faults at.
func extent(h *model.History) *model.Extent {
	x := &model.Extent{}
	x.Reset(len(h.Extent.Effects))
	for p := range x.Effects {
		x.Effects[p] = h.Extent.Effects[p]
		copy(x.Calls[p], h.Extent.Calls[p])
		copy(x.Messages[p], h.Extent.Messages[p])
	}
	return x
}

// comparison counts what two judges say of many runs. Of each disagreement it keeps the witness
// with the fewest events.
type comparison struct {
	runs      int
	undecided int
	seen      map[model.AnomalyKind]int
	witness   map[string]string
	events    map[string]int64
}

func newComparison() *comparison {
	return &comparison{seen: map[model.AnomalyKind]int{}, witness: map[string]string{},
		events: map[string]int64{}}
}

func (c *comparison) run(at string, b *bench, seed uint64, rules ...model.Rule) {
	report := b.run(seed, rules...)
	verdicts := b.check()
	c.runs++
	c.undecided += oracle.Undecided(report, verdicts)
	for _, name := range names {
		_, kinds := report.Verdict(name)
		for _, kind := range kinds {
			c.seen[kind]++
		}
	}
	for i := range verdicts {
		if oracle.Disagreement(report, verdicts[i:i+1]) == "" {
			continue
		}
		ours, kinds := report.Verdict(verdicts[i].Property)
		key := fmt.Sprintf("%s, %s: the checker says %s%s, the oracle %s%v", b.mode.Name,
			verdicts[i].Property, verdicts[i].Result, kindsOf(&verdicts[i]), ours, kinds)
		if n, ok := c.events[key]; !ok || b.last.End.N < n {
			c.events[key] = b.last.End.N
			c.witness[key] = fmt.Sprintf("%s, seed %d, rules %+v\n%+v\n%s%s", at, seed, rules,
				verdicts[i].Anomalies, report, b.trace())
		}
	}
}

func kindsOf(v *model.Verdict) string {
	var words []string
	for i := range v.Anomalies {
		words = append(words, v.Anomalies[i].Kind.String())
	}
	return fmt.Sprint(words)
}

func (c *comparison) report(t *testing.T) {
	for key, witness := range c.witness {
		t.Errorf("%s\n%s", key, witness)
	}
	t.Logf("%d runs, %d verdicts left undecided", c.runs, c.undecided)
}

// Both judges say the same of every run with one fault, wherever it strikes.
func TestAgreement(t *testing.T) {
	c := newComparison()
	seeds, sets := uint64(1), [][]model.ParamValue{nil}
	if *deep {
		seeds = 3
		sets = append(sets, []model.ParamValue{{Name: "commit-every", Value: 1},
			{Name: "batch", Value: 2}})
	}
	for _, at := range places {
		for _, mode := range modes(false) {
			for _, set := range sets {
				b := newBench(t, mode, at.top, records(at.every, at.in), set...)
				for seed := uint64(1); seed <= seeds; seed++ {
					c.run(at.name, b, seed)
					x := extent(b.last)
					for _, fault := range strikes {
						for _, rule := range some(fault, x) {
							c.run(at.name, b, seed, rule)
						}
					}
				}
			}
		}
	}
	c.report(t)
	if underRace {
		return // too few runs to show everything
	}
	for _, kind := range model.Anomalies() {
		switch kind {
		case model.Phantom, model.Unexplained, model.Divergence, model.Stuck:
			// It takes a defect: to make something up, to show one execution and store another,
			// or to stop.
		case model.Conflict, model.Torn, model.TornRead, model.DirtyRead, model.EarlyRead,
			model.Hanging, model.Unbalanced, model.InconsistentCut, model.PointerRegression,
			model.FracturedRead, model.PrematureCommit:
			// It takes checkpoints, batches or transactions.
		default:
			assert.NotZero(t, c.seen[kind], "no run shows %s", kind)
		}
	}
}

// everyStrike compares the judges under every single fault of a list.
func (c *comparison) everyStrike(at string, b *bench, faults []model.Rule) {
	c.run(at, b, 1)
	x := extent(b.last)
	for _, fault := range faults {
		for _, rule := range some(fault, x) {
			c.run(at, b, 1, rule)
		}
	}
}

// They say the same before every external system, whether it suits the mode or not.
func TestAgreementBeforeSinks(t *testing.T) {
	c := newComparison()
	for i, at := range places {
		for j, mode := range modes(false) {
			for k, sink := range sinks {
				if sink.Name == mode.Sink || (i+j+k)%8 > 0 && !*deep {
					continue
				}
				b := newBenchAt(t, mode, sink, at.top, records(at.every, at.in))
				c.everyStrike(at.name+", "+sink.Name, b, strikes)
			}
		}
	}
	c.report(t)
}

// choicePlaces are jobs with operators that are not deterministic.
var choicePlaces = []place{
	{"one partition", chain(1, 1, &lottery), quick, "a1 b2 a3"},
	{"one partition, slow", chain(1, 1, &lottery), slow, "a1 b2 a3"},
	{"two partitions", chain(2, 1, &lottery), quick, "a1 a2|a3 b4"},
	{"some are dropped", chain(1, 1, &coin), quick, "a1 b2 a3"},
	{"some are dropped before others", chain(2, 1, &coin, &count), quick, "a1 b2|a3"},
	{"one choice overwrites another", chain(1, 1, &draw), slow, "a1 a2"},
}

// They say the same where operators are not deterministic.
func TestAgreementOnChoices(t *testing.T) {
	c := newComparison()
	for i, at := range choicePlaces {
		for j, mode := range modes(false) {
			for k, sink := range sinks {
				if sink.Name != mode.Sink && (i+j+k)%8 > 0 && !*deep {
					continue
				}
				b := newBenchAt(t, mode, sink, at.top, records(at.every, at.in))
				c.everyStrike(at.name+", "+sink.Name, b, strikes)
			}
		}
	}
	c.report(t)
	assert.True(t, underRace || c.seen[model.Divergence] > 0,
		"state and output are always of one choice")
}

// They say the same where services refuse, forget or answer what was, and where a record cannot be
// handled and is set aside.
func TestAgreementOnServices(t *testing.T) {
	c := newComparison()
	for _, at := range places {
		for _, mode := range modes(false) {
			b := newBench(t, mode, at.top, records(at.every, at.in),
				model.ParamValue{Name: "dead-letter", Value: 1})
			c.everyStrike(at.name, b, []model.Rule{{Action: model.RefuseRequest},
				{Action: model.ForgetRequest}, {Action: model.StaleRead}})
			for p := range b.job.Tasks {
				for offset := range int64(2) {
					c.run(at.name, b, 1, poison(model.ProcID(p), offset))
				}
			}
		}
	}
	c.report(t)
}

// They say the same of runs with a fault and a crash. All pairs are too many for every day: a
// keyed draw picks some.
func TestAgreementOnPairs(t *testing.T) {
	c := newComparison()
	share := int64(1500)
	if *deep {
		share = 10
	}
	for i, at := range places {
		for _, mode := range modes(false) {
			b := newBench(t, mode, at.top, records(at.every, at.in))
			b.run(1)
			x := extent(b.last)
			for _, fault := range strikes {
				for j, first := range some(fault, x) {
					for k, second := range everywhere(model.Rule{Action: model.Crash}, x) {
						pick := model.Draw(1, model.DrawPlan, uint64(i), uint64(j), uint64(k))
						if model.Below(pick, share) == 0 {
							c.run(at.name, b, 1, first, second)
						}
					}
				}
			}
		}
	}
	c.report(t)
}

// A verdict that is undecided agrees with any; two that are decided must be equal.
func TestDisagreement(t *testing.T) {
	b := newBench(t, &semantics.AtLeastOnce, chain(1, 1, &count), records(slow, "a1"))
	report := b.run(1, crash(sinkTask, model.After, model.Write, 1))
	duplicate := model.Anomaly{Kind: model.Duplicate}
	loss := model.Anomaly{Kind: model.Loss}
	for _, s := range []struct {
		verdict model.Verdict
		agrees  bool
	}{
		{model.Verdict{Property: "at-most-once", Result: model.Violated,
			Anomalies: []model.Anomaly{duplicate, duplicate}}, true},
		{model.Verdict{Property: "at-most-once", Result: model.Violated,
			Anomalies: []model.Anomaly{duplicate, loss}}, false},
		{model.Verdict{Property: "at-most-once", Result: model.Violated}, false},
		{model.Verdict{Property: "at-most-once", Result: model.Holds}, false},
		{model.Verdict{Property: "at-most-once"}, true},
		{model.Verdict{Property: "at-least-once", Result: model.Holds}, true},
		{model.Verdict{Property: "of somebody else", Result: model.Violated}, true},
	} {
		why := oracle.Disagreement(report, []model.Verdict{s.verdict})
		assert.Equal(t, s.agrees, why == "", "%+v: %s", s.verdict, why)
		assert.Equal(t, !s.agrees, strings.HasPrefix(why, "at-most-once: the checker says"))
	}
}
