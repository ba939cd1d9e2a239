package oracle

import (
	"fmt"
	"slices"

	"github.com/oncesim/oncesim/model"
)

// answer is how a bounded search ends.
type answer uint8

const (
	nothing answer = iota
	found
	gaveUp
)

// triesMax is how many steps one search takes at most.
const triesMax = 1 << 14

// fitting says whether what is visible is that of an execution. It counts its steps down in left.
type fitting func(x *execution, finals map[slot]*version, left *int) bool

// fit is what exactly-once asks of outputs: in a table by key that they come in their order, though
// some may be skipped; else that they are all there.
func (r *run) fit() fitting {
	if r.isKeyed() {
		return r.fitsFeed
	}
	return r.fits
}

// search looks for a legal execution that fits what is visible and, unless finals is nil, has these
// final states.
func (r *run) search(finals map[slot]*version, fit fitting) answer {
	left := triesMax
	for i := range r.legal.executions {
		x := &r.legal.executions[i]
		if x.isGuess {
			continue
		}
		if finals != nil && (len(r.misfits(x, finals)) > 0 || r.hasStrangers(x, finals)) {
			continue
		}
		if fit(x, finals, &left) {
			return found
		}
	}
	if left < 0 {
		return gaveUp
	}
	return nothing
}

// fits reports whether each task that feeds the sink can take its inputs in an order that gives
// what is visible of it, and whether nothing else is visible.
func (r *run) fits(x *execution, finals map[slot]*version, left *int) bool {
	rest := 0
	for _, part := range r.shown {
		rest += len(part)
	}
	for proc := range x.in {
		if x.in[proc] == nil {
			continue
		}
		m := r.merge(&r.o.job.Tasks[proc], x.in[proc])
		m.finals, m.left = finals, left
		rest -= len(m.shown)
		if !m.from(0) {
			return false
		}
	}
	return rest == 0
}

// merge is the search for an order in which one task takes its inputs.
type merge struct {
	task     *model.Task
	channels [][]model.Record // what is left of its input channels
	shown    []model.Record   // what is visible of it
	finals   map[slot]*version
	states   map[string]model.Value
	choices  *choices
	left     *int            // steps that may still be taken
	failed   map[string]bool // not nil: what is visible does not matter. Where it was in vain
}

// gives reports whether each task that feeds the sink can take its inputs in an order that leaves
// the final states under all its keys, whatever it shows. It counts its steps down in left.
func (r *run) gives(x *execution, by *choices, finals map[slot]*version, left *int) bool {
	if len(r.misfits(x, finals)) > 0 || r.hasStrangers(x, finals) {
		return false
	}
	for proc := range x.in {
		task := &r.o.job.Tasks[proc]
		if x.in[proc] == nil || task.Operator.Kind < model.NonCommutative {
			continue // no order matters to its states
		}
		m := &merge{task: task, channels: slices.Clone(x.in[proc]), finals: finals,
			states: map[string]model.Value{}, choices: by, left: left, failed: map[string]bool{}}
		if !m.from(0) {
			return false
		}
	}
	return true
}

func (r *run) merge(task *model.Task, channels [][]model.Record) *merge {
	m := &merge{task: task, states: map[string]model.Value{}, choices: r.possible}
	m.channels = append(m.channels, channels...)
	sink := &r.o.job.Tasks[task.Out[0].Peer]
	for _, s := range r.shown[sink.Part] {
		if s.rec.Op == task.Op {
			m.shown = append(m.shown, s.rec)
		}
	}
	return m
}

// from reports whether what is left of the channels can be taken such that it gives what is
// visible from a place on.
func (m *merge) from(place int) bool {
	if *m.left--; *m.left < 0 {
		return false
	}
	if m.failed != nil {
		here := m.where()
		if m.failed[here] {
			return false
		}
		m.failed[here] = true // or it is found, and nobody asks again
	}
	isDone := true
	for c, channel := range m.channels {
		if len(channel) == 0 {
			continue
		}
		isDone = false
		rec := &channel[0]
		before, isOld := m.states[rec.Key]
		nonces := m.choices.of(m.task, rec)
		for i := range options(nonces) {
			after := before
			outs := take(m.task, rec, nonceAt(nonces, i), &after)
			if m.failed != nil {
				outs = nil
			}
			if !begins(m.shown[place:], outs) {
				continue
			}
			m.channels[c], m.states[rec.Key] = channel[1:], after
			if m.from(place + len(outs)) {
				return true
			}
			m.channels[c], m.states[rec.Key] = channel, before
			if !isOld {
				delete(m.states, rec.Key)
			}
		}
	}
	return isDone && place == len(m.shown) && m.isFinal()
}

// where names what is left of the channels, and the states.
func (m *merge) where() string {
	at := fmt.Sprint(m.states) // in the order of keys
	for _, channel := range m.channels {
		at = fmt.Sprint(at, " ", len(channel))
	}
	return at
}

// begins reports whether shown begins with outs.
func begins(shown, outs []model.Record) bool {
	if len(shown) < len(outs) {
		return false
	}
	for i := range outs {
		if shown[i] != outs[i] {
			return false
		}
	}
	return true
}

// isFinal reports whether the states are the final ones.
func (m *merge) isFinal() bool {
	if m.finals == nil || m.task.Operator.Kind == model.Stateless {
		return true
	}
	for key, value := range m.states {
		if valueOf(m.finals[slot{m.task.Op, key}]) != value {
			return false
		}
	}
	return true
}
