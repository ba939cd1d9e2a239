package search

import (
	"cmp"
	"slices"

	"github.com/oncesim/oncesim/faults"
	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/scenarios"
)

// shrinkFacts is what a trace says of the faults of a run.
type shrinkFacts struct {
	restated [][]faults.Fault // of each fault: other anchors that may mean the same event
	counted  [][]model.ID     // of each fault: what the events were about that its ordinal counts
}

// about is the record that a message is about; nothing where it is about none.
func about(m *model.Message) model.ID {
	switch m.Kind {
	case model.Data, model.Ack, model.Get, model.Put, model.Write, model.Update, model.Mark:
		return m.Record.ID
	}
	return nothing
}

// nothing is the position of no record.
var nothing = model.ID{Part: -1}

// look runs the smallest so far once more, with a trace, unless that was done; facts are nil where
// the run is too long.
func (k *shrinker) look() *shrinkFacts {
	if k.best.facts != nil || k.best.events > TracedMax {
		return k.best.facts
	}
	res, ok := k.execute(k.best.s, true)
	if !ok {
		return nil
	}
	rules, err := k.best.s.Faults.Compile(res.Subject.Job)
	if err != nil {
		panic(err) // it was compiled for the run
	}
	facts := &shrinkFacts{}
	for i := range rules {
		at := res.Subject.History.Reached[i]
		w := witnessOf(&rules[i], res.Trace, at)
		facts.restated = append(facts.restated, w.restate(k.best.s.Faults[i], &res, at))
		facts.counted = append(facts.counted, w.counted)
	}
	k.best.facts = facts
	return facts
}

// follow is a candidate without lines, with the ordinals of its anchors smaller by how many of the
// events that they count were about those lines; none where that changes nothing.
func (k *shrinker) follow(plain candidate, from, to int) candidate {
	facts := k.look()
	if facts == nil {
		return candidate{}
	}
	c, isMoved, parts := plain.without(nil), false, k.best.s.Topology.Partitions()
	for i := range c.s.Faults {
		for _, id := range facts.counted[i] {
			line := int(id.Offset)*parts + int(id.Part)
			if id != nothing && line >= from && line < to {
				c.s.Faults[i].N--
				isMoved = true
			}
		}
	}
	if !isMoved {
		return candidate{}
	}
	return c
}

// eyewitness is what a trace says of a process up to the event at which a fault struck it.
type eyewitness struct {
	rule    *model.Rule
	effects []*model.Entry // numbered ones of the process, before the fault
	calls   map[model.Kind]int64
	last    *model.Entry // the latest effect or transmission, or nil
	taken   model.ID     // the record that it was handed last
	counted []model.ID   // what the events were about that the ordinal of the fault counts
}

// witnessOf reads a trace up to the event at which the rule was reached; 0: it was not.
func witnessOf(r *model.Rule, trace []model.Entry, at int64) *eyewitness {
	w := &eyewitness{rule: r, calls: map[model.Kind]int64{}, taken: nothing}
	for i := range trace {
		if e := &trace[i]; (at == 0 || e.N < at) && e.Proc == r.Proc {
			w.see(e)
		}
	}
	return w
}

// see takes an event of the process into account.
func (w *eyewitness) see(e *model.Entry) {
	isEffect := e.Kind == model.EntrySend
	switch e.Kind {
	case model.EntryDeliver:
		if id := about(&e.Msg); id != nothing && e.Msg.Kind == model.Data {
			w.taken = id
		}
	case model.EntryInvoke:
		w.calls[e.Msg.Kind]++
		isEffect = e.Msg.Try == 0
	}
	if isEffect {
		w.effects = append(w.effects, e)
	}
	if isEffect || e.Kind == model.EntryInvoke {
		w.last = e
		if w.isCounted(e, isEffect) && int64(len(w.counted)) < w.rule.N-1 {
			w.counted = append(w.counted, about(&e.Msg))
		}
	}
}

// isCounted reports whether the ordinal of the rule counts an event.
func (w *eyewitness) isCounted(e *model.Entry, isEffect bool) bool {
	switch w.rule.Scope {
	case model.EveryEffect:
		return isEffect
	case model.CallOfKind:
		return e.Kind == model.EntryInvoke && e.Msg.Kind == w.rule.Call
	case model.MessageOnChannel:
		return e.Kind == model.EntrySend && e.Msg.Kind == w.rule.Call && e.To == w.rule.Peer
	}
	return false
}

// firstStruck is the rule of a time anchored at the first thing that it struck, at event at of a
// trace: a message, a request, or the answer to one. ok is false where there is no such thing.
func firstStruck(r model.Rule, trace []model.Entry, at int64) (anchored model.Rule, ok bool) {
	if at == 0 || r.Point != model.AtTime {
		return r, false
	}
	r.Point, r.At = 0, 0
	e := &trace[at-1]
	for e.Kind == model.EntryLose || e.Kind == model.EntryServe {
		if e.Cause == 0 {
			return r, false
		}
		if e = &trace[e.Cause-1]; e.Kind == model.EntryServe && r.Action == model.CutLink {
			r.Point = model.BeforeAck
		}
	}
	r.Proc, r.Call, r.N = e.Proc, e.Msg.Kind, ordinalOf(trace[:e.N])
	switch {
	case e.Kind == model.EntryInvoke:
		r.Scope = model.CallOfKind
	case e.Kind == model.EntrySend:
		r.Scope, r.Peer = model.MessageOnChannel, e.To
	default:
		return r, false
	}
	return r, e.Proc >= 0
}

// ordinalOf counts what is like the last entry of a trace: of its process, kind and channel.
func ordinalOf(trace []model.Entry) (n int64) {
	e := &trace[len(trace)-1]
	for i := range trace {
		o := &trace[i]
		if o.Kind == e.Kind && o.Proc == e.Proc && o.Msg.Kind == e.Msg.Kind && o.To == e.To {
			n++
		}
	}
	return n
}

// anchorRank says how soon an anchor loses its meaning when something else changes: the lower, the
// later. The first call of a kind reads best of all.
func anchorRank(f faults.Fault) int {
	switch {
	case f.Point == model.AtTime:
		return 5
	case f.Scope == model.EveryEffect:
		return 4
	case f.Scope == model.StartEffect:
		return 3
	case f.Scope == model.CallOfKind && f.N > 1:
		return 2
	case f.Scope == model.RecordEffect, f.Scope == model.CheckpointEffect:
		return 1
	}
	return 0
}

// restate lists anchors that may mean the event at which a fault struck and that keep this meaning
// better than its own, best first.
func (w *eyewitness) restate(f faults.Fault, res *scenarios.Result, at int64) []faults.Fault {
	var list []model.Rule
	if f.Action == model.Crash || f.Action == model.Pause {
		list = slices.Concat(w.callAnchors(res), w.recordAnchors(), w.checkpointAnchors())
	} else if r, ok := firstStruck(*w.rule, res.Trace, at); ok {
		list = append(list, r)
	}
	var better []faults.Fault
	for _, r := range list {
		if g := faults.FromRule(res.Subject.Job, r); anchorRank(g) < anchorRank(f) {
			better = append(better, g)
		}
	}
	slices.SortStableFunc(better, func(a, b faults.Fault) int {
		return cmp.Compare(anchorRank(a), anchorRank(b))
	})
	return better
}

// anchor is the rule at another anchor.
func (w *eyewitness) anchor(scope model.Scope, point model.Point, n int64) model.Rule {
	r := *w.rule
	r.Scope, r.Point, r.N = scope, point, n
	r.At, r.Life, r.Call, r.Record, r.Checkpoint = 0, 0, 0, model.ID{}, 0
	return r
}

// within are the points in or behind the latest effect.
func (w *eyewitness) within() []model.Point {
	switch {
	case w.last == nil:
		return nil
	case w.last.Kind == model.EntrySend:
		return []model.Point{model.After}
	}
	return []model.Point{model.After, model.BeforeAck, model.During}
}

// callAnchors are within the latest call, and before the next one of each kind.
func (w *eyewitness) callAnchors(res *scenarios.Result) []model.Rule {
	var list []model.Rule
	add := func(point model.Point, kind model.Kind, n int64) {
		r := w.anchor(model.CallOfKind, point, n)
		r.Call = kind
		list = append(list, r)
	}
	if w.last != nil && w.last.Kind == model.EntryInvoke {
		for _, point := range w.within() {
			add(point, w.last.Msg.Kind, w.calls[w.last.Msg.Kind])
		}
	}
	made := res.Subject.History.Extent.Calls[w.rule.Proc]
	for _, kind := range model.Kinds() {
		if kind.IsCall() && made[kind] > w.calls[kind] {
			add(model.Before, kind, w.calls[kind]+1)
		}
	}
	return list
}

// recordAnchors are within the latest effect about a record, and before the next one about it or
// about the record that the process was handed last.
func (w *eyewitness) recordAnchors() []model.Rule {
	var list []model.Rule
	add := func(point model.Point, id model.ID, n int64) {
		r := w.anchor(model.RecordEffect, point, n)
		r.Record = id
		list = append(list, r)
	}
	ids := []model.ID{w.taken}
	if w.last != nil {
		if id := about(&w.last.Msg); id != nothing {
			for _, point := range w.within() {
				add(point, id, w.effectsOn(id))
			}
			ids = append(ids, id)
		}
	}
	for _, id := range ids {
		if id != nothing {
			add(model.Before, id, w.effectsOn(id)+1)
		}
	}
	return list
}

// effectsOn counts the effects whose message names a record, as rules count them.
func (w *eyewitness) effectsOn(id model.ID) (n int64) {
	for _, e := range w.effects {
		if e.Msg.Record.ID == id {
			n++
		}
	}
	return n
}

// checkpointAnchors are within the latest effect about a checkpoint, and before the next one.
func (w *eyewitness) checkpointAnchors() []model.Rule {
	if w.last == nil || w.last.Msg.Checkpoint() < 1 {
		return nil
	}
	id, n := w.last.Msg.Checkpoint(), int64(0)
	for _, e := range w.effects {
		if e.Msg.Checkpoint() == id {
			n++
		}
	}
	var list []model.Rule
	for _, point := range append(w.within(), model.Before) {
		r := w.anchor(model.CheckpointEffect, point, n)
		r.Checkpoint = id
		if point == model.Before {
			r.N++
		}
		list = append(list, r)
	}
	return list
}

// restateFaults gives faults better anchors, as long as it finds one.
func (k *shrinker) restateFaults() { k.exhaust(k.restateSteps) }

// restateSteps yields every better anchor of each fault. One that was no time must mean the very
// same run.
func (k *shrinker) restateSteps(yield func(candidate) bool) bool {
	isAny := slices.ContainsFunc(k.best.s.Faults, func(f faults.Fault) bool {
		return anchorRank(f) > 0
	})
	if !isAny {
		return true
	}
	facts := k.look()
	if facts == nil {
		return true
	}
	for i, f := range k.best.s.Faults {
		for _, g := range facts.restated[i] {
			c := k.withFault(i, g)
			c.isSame = f.Point != model.AtTime
			if !yield(c) {
				return false
			}
		}
	}
	return true
}
