package faults

import (
	"fmt"

	"github.com/oncesim/oncesim/model"
)

// Places is the list of all rules that put one fault of an action somewhere in a run:
//
//   - Crash and Pause: before and after each numbered effect, then during, before the ack of and
//     after each transmission of a call;
//   - what strikes messages: each message on each channel between two processes;
//   - the others: each transmission of a call.
//
// They are in the order of processes, then effects, then kinds of call or receivers and kinds of
// message, then ordinals, then points. Nothing is held in memory but the extent, and At takes any
// of them, so that a search can be split and resumed by number.
//
// Some neighbours come to the same: what is after one effect is often before the next. They are
// all listed, since which ones do depends on the mode; runs with one hash need no second look.
type Places struct {
	Action model.Action
	For    int64         // for the actions that need it; 0: as of a line that does not say
	Extent *model.Extent // of a run under the same scenario, with the faults that come before
	From   *model.Extent // leave out what is counted here: it has happened before; nil: nothing

	beyond bool // half as many again of everything: see Draw
}

// Len is the number of places.
func (s Places) Len() int64 {
	n := int64(0)
	for p := range s.Extent.Effects {
		n += s.count(p)
	}
	return n
}

// At is the i-th place, 0 ≤ i < Len.
func (s Places) At(i int64) model.Rule {
	rest := i
	for p := range s.Extent.Effects {
		n := s.count(p)
		if rest < n {
			return s.at(p, rest)
		}
		rest -= n
	}
	panic(fmt.Sprintf("faults: place %d of %d", i, s.Len()))
}

// Each calls yield with every place in order, until it returns false. It is an iter.Seq, and it
// allocates nothing.
func (s Places) Each(yield func(model.Rule) bool) {
	for p := range s.Extent.Effects {
		for i := range s.count(p) {
			if !yield(s.at(p, i)) {
				return
			}
		}
	}
}

// The points of an effect and of a call at which a process can be hit. That before a call is the
// one before its effect.
const (
	effectPoints = 2
	callPoints   = 3
)

// count is the number of places in process p.
func (s Places) count(p int) int64 {
	calls := int64(0)
	if s.Action.HitsMessage() {
		for i := range s.sent(p) {
			_, n := s.messages(p, i)
			calls += n
		}
		return calls
	}
	for k := range s.Extent.Calls[p] {
		_, n := s.calls(p, model.Kind(k))
		calls += n
	}
	if !hitsProcess(s.Action) {
		return calls
	}
	_, effects := s.effects(p)
	return effectPoints*effects + callPoints*calls
}

// at is the i-th place in process p.
func (s Places) at(p int, i int64) model.Rule {
	rule := model.Rule{Action: s.Action, Proc: model.ProcID(p), For: ruleFor(s.Action, s.For)}
	if hitsProcess(s.Action) {
		first, n := s.effects(p)
		if i < effectPoints*n {
			rule.Scope, rule.N = model.EveryEffect, first+i/effectPoints
			rule.Point = [...]model.Point{model.Before, model.After}[i%effectPoints]
			return rule
		}
		i -= effectPoints * n
		rule.Point = [...]model.Point{model.During, model.BeforeAck, model.After}[i%callPoints]
		i /= callPoints
	}
	if s.Action.HitsMessage() {
		return s.atMessage(rule, p, i)
	}
	rule.Scope = model.CallOfKind
	for k := range s.Extent.Calls[p] {
		first, n := s.calls(p, model.Kind(k))
		if i < n {
			rule.Call, rule.N = model.Kind(k), first+i
			return rule
		}
		i -= n
	}
	panic(fmt.Sprintf("faults: place %d too many in process %d", i, p))
}

// atMessage is the i-th place among the messages that process p sends.
func (s Places) atMessage(rule model.Rule, p int, i int64) model.Rule {
	rule.Scope = model.MessageOnChannel
	for k := range s.sent(p) {
		first, n := s.messages(p, k)
		if i < n {
			rule.Peer, rule.Call = model.MessageAt(k)
			rule.N = first + i
			return rule
		}
		i -= n
	}
	panic(fmt.Sprintf("faults: place %d too many in process %d", i, p))
}

// sent counts the messages that process p sends, by model.MessageIndex.
func (s Places) sent(p int) []int64 {
	if p >= len(s.Extent.Messages) {
		return nil // an extent that somebody made by hand
	}
	return s.Extent.Messages[p]
}

// messages is the first ordinal of a message that process p sends, and how many there are from it
// on.
func (s Places) messages(p, index int) (first, n int64) {
	if s.From == nil {
		return s.span(0, s.Extent.Messages[p][index])
	}
	return s.span(s.From.Messages[p][index], s.Extent.Messages[p][index])
}

// effects is the first ordinal of an effect of process p, and how many there are from it on.
func (s Places) effects(p int) (first, n int64) {
	if s.From == nil {
		return s.span(0, s.Extent.Effects[p])
	}
	return s.span(s.From.Effects[p], s.Extent.Effects[p])
}

// calls is the same for transmissions of kind k.
func (s Places) calls(p int, k model.Kind) (first, n int64) {
	switch {
	case !k.IsCall():
		return 1, 0
	case s.From == nil:
		return s.span(0, s.Extent.Calls[p][k])
	}
	return s.span(s.From.Calls[p][k], s.Extent.Calls[p][k])
}

func (s Places) span(from, to int64) (first, n int64) {
	if s.beyond {
		to += (to + 1) / 2
	}
	return from + 1, max(to-from, 0)
}

// hitsProcess reports whether the action strikes a process and not one of its calls.
func hitsProcess(a model.Action) bool { return a == model.Crash || a == model.Pause }
