package checker

import (
	"math"

	"github.com/oncesim/oncesim/model"
)

// stateCall is a call to the state store: what its life knew of the key, and for a put the version
// that it writes.
type stateCall struct{ memory, version int32 }

// memory is the state under one key as one life knows it.
type memory struct {
	life, cell int32
	held       held
}

// memory is the number of what a life knows of a key. A life that never asked the store knows the
// empty state.
func (j *Judge) memory(life, op int32, key string) int32 {
	c := &j.claims
	k := j.states.keys.number(key)
	n, fresh := c.touched.number(uint64(uint32(life))<<32|uint64(op), uint64(k))
	if fresh {
		c.memories = append(c.memories, memory{life: life, cell: j.states.cell(op, k)})
	}
	return n
}

// serveUntil replays the calls invoked, and the servings made, before event n.
func (j *Judge) serveUntil(n int64) {
	c := &j.claims
	if !j.plan.stateful {
		return
	}
	for {
		call, serving := int64(math.MaxInt64), int64(math.MaxInt64)
		if c.call < len(j.h.Calls) {
			call = j.h.Calls[c.call].Invoked
		}
		if c.serving < len(j.h.Servings) {
			serving = j.h.Servings[c.serving].N
		}
		switch {
		case min(call, serving) >= n:
			return
		case call < serving:
			j.invoked(int32(c.call))
			c.call++
		default:
			j.served(&j.h.Servings[c.serving])
			c.serving++
		}
	}
}

// invoked looks up what the caller of the state store knows of the key. A put writes the version
// that its life made last under the key, if record and value are the same.
func (j *Judge) invoked(i int32) {
	c := &j.claims
	call := &j.h.Calls[i]
	rec := &call.Req.Record
	is := call.Req.Kind == model.Put || call.Req.Kind == model.Get
	if !is || rec.Op < 1 || rec.Op > j.plan.ops {
		c.calls = append(c.calls, stateCall{-1, alien})
		return
	}
	known := j.memory(j.life(call.Proc, call.Attempt), rec.Op, rec.Key)
	version := int32(alien)
	if call.Req.Kind == model.Put {
		version = j.written(&c.memories[known].held, rec)
	}
	c.calls = append(c.calls, stateCall{known, version})
}

// written is the version that a put writes. The value of an operator that is not deterministic is
// learnt here.
func (j *Judge) written(known *held, put *model.Record) int32 {
	if known.version <= 0 {
		return alien
	}
	made, by := &j.claims.list[known.version-1], &j.h.Applications[known.version-1]
	if j.plan.stages[put.Op].operator.Kind == model.NonDeterministic {
		made.value, known.value = put.Value, put.Value
	}
	if by.In.ID == put.ID && by.In.Path == put.Path && made.value == put.Value {
		return known.version
	}
	return alien
}

// served replays one serving of the state store.
func (j *Judge) served(s *model.Serving) {
	if int(s.Call) >= len(j.claims.calls) || !isApplied(&s.Ans) {
		return
	}
	at := j.claims.calls[s.Call]
	if at.memory < 0 {
		return
	}
	known := &j.claims.memories[at.memory]
	cell := &j.states.cells[known.cell]
	call := &j.h.Calls[s.Call]
	if call.Req.Kind == model.Put {
		cell.backend, cell.written = held{at.version, s.N, call.Req.Record.Value}, true
	} else if !s.Copy && (call.Outcome == model.Done || call.Outcome == model.DoneBefore) {
		known.held = j.returned(cell, call, s.N)
	}
}

// isApplied reports whether a service changed something when it gave this answer.
func isApplied(ans *model.Answer) bool {
	return ans.Outcome != model.Refused && ans.Outcome != model.DoneBefore
}

// returned traces what a get returned to a version: the one that the store holds, or an older one
// where the store is stale or forgets.
func (j *Judge) returned(cell *cell, call *model.Call, n int64) held {
	if !call.Ans.Found {
		return held{at: n}
	}
	if cell.written && cell.backend.value == call.Ans.Value {
		return held{cell.backend.version, n, call.Ans.Value}
	}
	rec := &call.Req.Record
	for i := j.claims.serving - 1; i >= 0; i-- {
		s := &j.h.Servings[i]
		put := &j.h.Calls[s.Call].Req
		if put.Kind == model.Put && put.Record.Op == rec.Op && put.Record.Key == rec.Key &&
			put.Record.Value == call.Ans.Value && isApplied(&s.Ans) {
			return held{j.claims.calls[s.Call].version, n, call.Ans.Value}
		}
	}
	return held{alien, n, call.Ans.Value}
}

// keepLastLives hands the memory of the last life of each task to the states: it is what a mode
// that keeps state in memory has in the end.
func (j *Judge) keepLastLives() {
	for i := range j.claims.memories {
		m := &j.claims.memories[i]
		if m.life >= 0 && j.claims.lives[j.h.Lives[m.life].Proc] == m.life+1 {
			j.states.cells[m.cell].memory = m.held
		}
	}
}
