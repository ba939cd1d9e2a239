package search

import (
	"cmp"
	"iter"
	"slices"

	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/scenarios"
)

// Count is how often a property was judged each way.
type Count struct{ Holds, Violated, Undecided int64 }

// add counts one judgement.
func (c *Count) add(result model.Result) {
	switch result {
	case model.Holds:
		c.Holds++
	case model.Violated:
		c.Violated++
	default:
		c.Undecided++
	}
}

// merge adds what another count of the same property counted.
func (c *Count) merge(other Count) {
	c.Holds += other.Holds
	c.Violated += other.Violated
	c.Undecided += other.Undecided
}

// Result is the verdict over all runs: violated if any run was, else unknown if any was.
func (c Count) Result() model.Result {
	switch {
	case c.Violated > 0:
		return model.Violated
	case c.Undecided > 0 || c.Holds == 0:
		return model.Undecided
	}
	return model.Holds
}

// Witness is a run that shows something: everything that it takes to run it again.
type Witness struct {
	Seed   uint64
	Rules  []model.Rule
	Events int64
	Reason string // an unknown verdict: why
}

// compare orders witnesses: fewer faults, then fewer events, then the smaller seed, then the rules.
// The order is total, so that the smallest does not depend on who finds it first.
func (w *Witness) compare(rules []model.Rule, events int64, seed uint64) int {
	return cmp.Or(
		cmp.Compare(len(w.Rules), len(rules)),
		cmp.Compare(w.Events, events),
		cmp.Compare(w.Seed, seed),
		slices.CompareFunc(w.Rules, rules, compareRules))
}

func compareRules(a, b model.Rule) int {
	return cmp.Or(cmp.Compare(a.Proc, b.Proc), cmp.Compare(a.Scope, b.Scope),
		cmp.Compare(a.Call, b.Call), cmp.Compare(a.N, b.N), cmp.Compare(a.Point, b.Point),
		cmp.Compare(a.Action, b.Action), cmp.Compare(a.Life, b.Life), a.Record.Compare(b.Record),
		cmp.Compare(a.At, b.At), cmp.Compare(a.For, b.For), cmp.Compare(a.Peer, b.Peer),
		cmp.Compare(a.Service, b.Service),
		cmp.Compare(a.Checkpoint, b.Checkpoint))
}

// Tally is what many runs of one cell came to.
type Tally struct {
	Runs      int64
	Reached   int64 // runs in which every fault of the plan struck
	Counts    []Count
	Alone     []int64                     // per property: violations in runs with at most one fault
	Anomalies map[model.AnomalyKind]int64 // runs that showed it
	Witnesses map[model.AnomalyKind]*Witness
	Unknown   []*Witness // per property: the smallest run with an unknown verdict
	Hash      uint64     // of all runs, independent of their order
}

func newTally(properties int) *Tally {
	return &Tally{Counts: make([]Count, properties), Alone: make([]int64, properties),
		Unknown:   make([]*Witness, properties),
		Anomalies: map[model.AnomalyKind]int64{}, Witnesses: map[model.AnomalyKind]*Witness{}}
}

// add counts one run.
func (t *Tally) add(seed uint64, rules []model.Rule, res *scenarios.Result) {
	h := res.Subject.History
	t.Runs++
	t.Hash += model.Mix(h.End.Hash, seed^0x9e3779b97f4a7c15)
	struck := 0
	for _, n := range h.Reached {
		if n != 0 {
			struck++
		}
	}
	if struck == len(rules) {
		t.Reached++
	}
	for i := range res.Verdicts {
		result := res.Verdicts[i].Result
		t.Counts[i].add(result)
		if result == model.Violated && len(rules) < 2 {
			t.Alone[i]++
		}
	}
	for kind := range kindsIn(res.Verdicts) {
		t.Anomalies[kind]++
	}
	t.witness(seed, rules, res)
}

// kindsIn yields each kind of anomaly that verdicts show, once.
func kindsIn(verdicts []model.Verdict) iter.Seq[model.AnomalyKind] {
	return func(yield func(model.AnomalyKind) bool) {
		var seen [64]bool
		for i := range verdicts {
			for a := range verdicts[i].Anomalies {
				kind := verdicts[i].Anomalies[a].Kind
				if !seen[kind] && !yield(kind) {
					return
				}
				seen[kind] = true
			}
		}
	}
}

// witness keeps a run for what it shows, where it is smaller than those that showed it before.
func (t *Tally) witness(seed uint64, rules []model.Rule, res *scenarios.Result) {
	events := res.Subject.History.End.N
	for i := range res.Verdicts {
		v := &res.Verdicts[i]
		if v.Result == model.Undecided {
			t.Unknown[i] = smallest(t.Unknown[i], seed, rules, events, v.Reason)
		}
	}
	for kind := range kindsIn(res.Verdicts) {
		t.Witnesses[kind] = smallest(t.Witnesses[kind], seed, rules, events, "")
	}
}

// smallest keeps old or takes the new run, whichever is the smaller witness.
func smallest(old *Witness, seed uint64, rules []model.Rule, events int64, why string) *Witness {
	if old != nil && old.compare(rules, events, seed) <= 0 {
		return old
	}
	w := &Witness{Seed: seed, Events: events, Reason: why}
	w.Rules = append(w.Rules, rules...)
	return w
}

// Merge adds what another tally of the same cell counted.
func (t *Tally) Merge(other *Tally) {
	t.Runs += other.Runs
	t.Reached += other.Reached
	t.Hash += other.Hash
	for i := range other.Counts {
		t.Counts[i].merge(other.Counts[i])
		t.Alone[i] += other.Alone[i]
		if w := other.Unknown[i]; w != nil {
			t.Unknown[i] = smallest(t.Unknown[i], w.Seed, w.Rules, w.Events, w.Reason)
		}
	}
	for _, kind := range model.Anomalies() {
		if n := other.Anomalies[kind]; n > 0 {
			w := other.Witnesses[kind]
			t.Anomalies[kind] += n
			t.Witnesses[kind] = smallest(t.Witnesses[kind], w.Seed, w.Rules, w.Events, "")
		}
	}
}
