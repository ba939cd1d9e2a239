package faults

import (
	"fmt"
	"slices"

	"github.com/oncesim/oncesim/model"
)

// Places is the list of all rules that put one fault of an action somewhere in a run:
//
//   - Crash and Pause: before and after each numbered effect, then during, before the ack of and
//     after each transmission of a call;
//   - what strikes messages: each message on each channel between two processes;
//   - CutLink: from each request, from each answer and from each message on;
//   - CrashService: from each request on;
//   - TruncateInput: before each offset of a partition, from each fetch of its source on;
//   - PoisonRecord: each input record that the process has applied;
//   - the others: each transmission of a call that they fit.
//
// Kinds leaves out what is of another kind, for all but Crash and Pause.
//
// A partition or an outage makes a difference with the first thing that it loses, so that these
// places are all that there are, for a given duration.
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
	Kinds  []model.Kind  // of the messages and requests that are struck; nil: all
	Extent *model.Extent // of a run under the same scenario, with the faults that come before
	From   *model.Extent // leave out what is counted here: it has happened before; nil: nothing

	beyond bool // half as many again of everything: see Places.Draw
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
	cutPoints    = 2 // a partition can begin with a request and with its answer
)

// count is the number of places in process p.
func (s Places) count(p int) int64 {
	a := s.Action
	switch {
	case hitsProcess(a):
		_, effects := s.effects(p)
		return effectPoints*effects + callPoints*s.allCalls(p)
	case a.HitsMessage():
		return s.allMessages(p)
	case a == model.CutLink:
		return cutPoints*s.allCalls(p) + s.allMessages(p)
	case a == model.TruncateInput:
		return s.offsets(p) * s.allCalls(p)
	case a == model.PoisonRecord:
		return s.applied(p)
	}
	return s.allCalls(p)
}

// allCalls is the number of transmissions in process p.
func (s Places) allCalls(p int) (sum int64) {
	for k := range s.Extent.Calls[p] {
		_, n := s.calls(p, model.Kind(k))
		sum += n
	}
	return sum
}

// allMessages is the number of messages that process p sends.
func (s Places) allMessages(p int) (sum int64) {
	for i := range s.sent(p) {
		_, n := s.messages(p, i)
		sum += n
	}
	return sum
}

// at is the i-th place in process p.
func (s Places) at(p int, i int64) model.Rule {
	rule := model.Rule{Action: s.Action, Proc: model.ProcID(p), For: ruleFor(s.Action, s.For)}
	switch {
	case hitsProcess(s.Action):
		return s.atProcess(rule, p, i)
	case s.Action.HitsMessage():
		return s.atMessage(rule, p, i)
	case s.Action == model.CutLink:
		return s.atCut(rule, p, i)
	case s.Action == model.TruncateInput:
		offsets := s.offsets(p)
		rule.Record = model.ID{Part: int32(p), Offset: 1 + i%offsets}
		return s.atCall(rule, p, i/offsets)
	case s.Action == model.PoisonRecord:
		rule.Scope, rule.Record = model.RecordEffect, s.Extent.Seen[p][i]
		return rule
	}
	return s.atCall(rule, p, i)
}

// atProcess is the i-th place at which process p is hit.
func (s Places) atProcess(rule model.Rule, p int, i int64) model.Rule {
	first, n := s.effects(p)
	if i < effectPoints*n {
		rule.Scope, rule.N = model.EveryEffect, first+i/effectPoints
		rule.Point = [...]model.Point{model.Before, model.After}[i%effectPoints]
		return rule
	}
	i -= effectPoints * n
	rule.Point = [...]model.Point{model.During, model.BeforeAck, model.After}[i%callPoints]
	return s.atCall(rule, p, i/callPoints)
}

// atCut is the i-th place at which a partition between process p and another side begins.
func (s Places) atCut(rule model.Rule, p int, i int64) model.Rule {
	calls := cutPoints * s.allCalls(p)
	if i >= calls {
		return s.atMessage(rule, p, i-calls)
	}
	rule.Peer = model.Nobody
	rule.Point = [...]model.Point{0, model.BeforeAck}[i%cutPoints]
	return s.atCall(rule, p, i/cutPoints)
}

// atCall is the i-th place among the transmissions of process p.
func (s Places) atCall(rule model.Rule, p int, i int64) model.Rule {
	rule.Scope = model.CallOfKind
	for k := range s.Extent.Calls[p] {
		first, n := s.calls(p, model.Kind(k))
		if i < n {
			rule.Call, rule.N = model.Kind(k), first+i
			if s.Action == model.CutLink || s.Action == model.CrashService {
				rule.Service = rule.Call.Service()
			}
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
	count := s.Extent.Messages[p][index]
	if count == 0 || !s.takesMessage(index) {
		return 1, 0
	}
	if s.From == nil {
		return s.span(0, count)
	}
	return s.span(s.From.Messages[p][index], count)
}

// takesMessage reports whether messages with an index are of one of Kinds.
func (s Places) takesMessage(index int) bool {
	_, kind := model.MessageAt(index)
	return s.takes(kind)
}

// takes reports whether a message or a request of kind k is of one of Kinds.
func (s Places) takes(k model.Kind) bool {
	return s.Kinds == nil || hitsProcess(s.Action) || slices.Contains(s.Kinds, k)
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
	count := s.Extent.Calls[p][k]
	if count == 0 || !k.IsCall() || !s.Action.Fits(k) || !s.takes(k) {
		return 1, 0
	}
	if s.From == nil {
		return s.span(0, count)
	}
	return s.span(s.From.Calls[p][k], count)
}

// offsets is the number of offsets before which the partition of process p can be truncated. The
// sources come first among the processes, in the order of their partitions.
func (s Places) offsets(p int) int64 {
	if p >= len(s.Extent.Input) {
		return 0
	}
	return s.Extent.Input[p]
}

// applied is how many records process p has applied. It knows no From: what was applied before is
// applied again after a failure, and others take its place.
func (s Places) applied(p int) int64 {
	if p >= len(s.Extent.Seen) {
		return 0 // an extent that somebody made by hand
	}
	return int64(len(s.Extent.Seen[p]))
}

func (s Places) span(from, to int64) (first, n int64) {
	if s.beyond {
		to += (to + 1) / 2
	}
	return from + 1, max(to-from, 0)
}

// hitsProcess reports whether the action strikes a process and not one of its calls.
func hitsProcess(a model.Action) bool { return a == model.Crash || a == model.Pause }
