package checker

import (
	"math"
	"slices"

	"github.com/oncesim/oncesim/model"
)

// stateCall is a call to the state store: what its life knew of the key, and for a put the version
// that it writes. Of an upload memory is its number.
type stateCall struct{ memory, version int32 }

// memory is the state under one key as one life knows it.
type memory struct {
	life, cell int32
	op         int32
	origin     int32 // the version that the life began from, if it was told
	held       held
}

// memory is the number of what a life knows of a key. A life that never asked the store knows the
// empty state.
func (j *Judge) memory(life, op, key int32) int32 {
	c := &j.claims
	near := at(&c.near, key)
	if n := *near; n > 0 && c.memories[n-1].life == life && c.memories[n-1].op == op {
		return n - 1
	}
	n, fresh := c.touched.number(uint64(uint32(life))<<32|uint64(op), uint64(key))
	if fresh {
		c.memories = append(c.memories,
			memory{life: life, op: op, cell: j.states.cell(op, key)})
	}
	*near = n + 1
	return n
}

// serveUntil replays the calls invoked, and the servings made, before event n.
func (j *Judge) serveUntil(n int64) {
	if n > j.claims.until && j.plan.stateful {
		j.serve(n)
	}
}

// serve is serveUntil where there is something to replay.
func (j *Judge) serve(n int64) {
	c, calls, servings := &j.claims, j.h.Calls, j.h.Servings
	call, serving := int64(math.MaxInt64), int64(math.MaxInt64)
	if c.call < len(calls) {
		call = calls[c.call].Invoked
	}
	if c.serving < len(servings) {
		serving = servings[c.serving].N
	}
	for min(call, serving) < n {
		if call < serving {
			j.invoked(&calls[c.call])
			c.call++
			call = math.MaxInt64
			if c.call < len(calls) {
				call = calls[c.call].Invoked
			}
			continue
		}
		if c.serving == j.survey.next {
			j.surveyNext()
		}
		j.served(&servings[c.serving])
		c.serving++
		serving = math.MaxInt64
		if c.serving < len(servings) {
			serving = servings[c.serving].N
		}
	}
	c.until = min(call, serving)
}

// setsState reports whether a request gives the state under the key of its record a value: a put,
// or an update that carries state.
func setsState(req *model.Message) bool {
	return req.Kind == model.Put ||
		req.Kind == model.Update && req.Flags&model.WithState != 0
}

// invoked looks up what the caller of the state store knows of the key. A put writes the version
// that its life made of the record under the key, if the value is the same; so does an update. It
// is the latest one, unless the request is a repetition.
func (j *Judge) invoked(call *model.Call) {
	c := &j.claims
	rec := &call.Req.Record
	if call.Req.Kind == model.Upload {
		c.calls = append(c.calls, stateCall{j.uploading(int32(len(c.calls))), alien})
		return
	}
	isOfState := setsState(&call.Req) || call.Req.Kind == model.Get
	if !isOfState || rec.Op < 1 || rec.Op > j.plan.ops {
		c.calls = append(c.calls, stateCall{-1, alien})
		return
	}
	known := j.memory(j.life(call.Proc, call.Attempt), rec.Op, j.key(rec))
	version := int32(alien)
	if setsState(&call.Req) {
		version = j.written(&c.memories[known].held, rec)
	}
	c.calls = append(c.calls, stateCall{known, version})
}

// written is the version that a put writes.
func (j *Judge) written(known *held, put *model.Record) int32 {
	if known.version <= 0 {
		return alien
	}
	me := &j.h.Applications[known.version-1]
	for version := known.version; version > 0; version = j.claims.list[version-1].base {
		made, by := &j.claims.list[version-1], &j.h.Applications[version-1]
		if by.Proc != me.Proc || by.Attempt != me.Attempt {
			break
		}
		if by.In.ID == put.ID && by.In.Path == put.Path && made.value == put.Value {
			return version
		}
	}
	return alien
}

// served replays one serving of the state store.
func (j *Judge) served(s *model.Serving) {
	if int(s.Call) >= len(j.claims.calls) {
		j.claims.foreign = true
		return
	}
	at := j.claims.calls[s.Call]
	if kind := j.h.Calls[s.Call].Req.Kind; kind >= model.NextCheckpoint {
		j.stored(s, at.memory)
		return
	}
	if at.memory < 0 {
		j.claims.foreign = j.claims.foreign || setsState(&j.h.Calls[s.Call].Req)
		return
	}
	known := &j.claims.memories[at.memory]
	cell := &j.states.cells[known.cell]
	call := &j.h.Calls[s.Call]
	if setsState(&call.Req) {
		j.claims.foreign = j.claims.foreign || at.version == alien
		if !isEffect(s) {
			return
		}
		cell.backend, cell.written = held{at.version, s.N, call.Req.Record.Value}, true
	} else if !s.Copy && isApplied(&s.Ans) && isKnown(call) {
		known.held = j.returned(cell, call, s.N)
	}
}

// isApplied reports whether a service says with this answer that it did what it was asked for.
func isApplied(ans *model.Answer) bool {
	switch ans.Outcome {
	case model.Refused, model.DoneBefore, model.Stale:
		return false
	}
	return true
}

// isEffect reports whether a serving left something: it was applied and not forgotten.
func isEffect(s *model.Serving) bool { return !s.Forgotten && isApplied(&s.Ans) }

// returned traces what a get returned to a version: the one that the store holds, or an older one
// where the store is stale or forgets. What is empty and was never put is the empty state.
func (j *Judge) returned(cell *cell, call *model.Call, n int64) held {
	if !call.Ans.Found {
		return held{at: n}
	}
	if cell.written && cell.backend.value == call.Ans.Value {
		return held{cell.backend.version, n, call.Ans.Value}
	}
	rec := &call.Req.Record
	for i := range slices.Backward(j.h.Servings[:j.claims.serving]) {
		s := &j.h.Servings[i]
		put := &j.h.Calls[s.Call].Req
		if setsState(put) && put.Record.Op == rec.Op && put.Record.Key == rec.Key &&
			put.Record.Value == call.Ans.Value && isEffect(s) {
			return held{j.claims.calls[s.Call].version, n, call.Ans.Value}
		}
	}
	if call.Ans.Value == (model.Value{}) {
		return held{at: n}
	}
	return held{alien, n, call.Ans.Value}
}

// keepLastLives hands the memory of the last life of each task to the states: it is what a mode
// that keeps state in memory has in the end.
func (j *Judge) keepLastLives() {
	for i := range j.claims.memories {
		m := &j.claims.memories[i]
		if m.life != noLife && j.claims.lives[j.h.Lives[m.life].Proc] == m.life+1 {
			j.states.cells[m.cell].memory = m.held
		}
	}
}
