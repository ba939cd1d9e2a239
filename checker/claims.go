package checker

import (
	"math"
	"slices"
	"strings"

	"github.com/oncesim/oncesim/model"
)

// claims are the applications that tasks claim, replayed: each step is taken again on the state
// that the task can have had, which is what its own earlier steps in this life made of what the
// store returned, or of nothing.
type claims struct {
	done     bool
	list     []claim    // of each application
	emitted  []emission // what the steps emit, claim by claim
	lives    []int32    // by process: its newest life, plus one
	previous []int32    // by life: the life of the process before it, plus one
	hint     []int32    // by process: the life looked up last, plus one
	touched  table      // (life, key) → memory
	near     []int32    // by key: the memory asked for last, plus one
	memories []memory
	calls    []stateCall // of each call
	call     int         // calls and servings before these have been replayed
	serving  int
	until    int64 // nothing is left to be replayed before this event

	unmatched int  // visible records that no valid claim emits
	foreign   bool // perhaps a state was stored that no claimed step made
}

// claim is one application, recomputed. A version of a state is named by the claim that made it,
// plus one; 0 is the empty state.
type claim struct {
	op      int32
	slot    int32 // of the step; noSlot: not valid
	from    int32 // the claim that emitted its input, when it was made, plus one; 0: none
	next    int32 // the claim of the same step before this one, plus one
	out     int32 // in emitted
	outs    int32
	base    int32  // the version that the step started from
	cell    int32  // the state that it changes; -1: none
	folded  bool   // its step is in the final state
	covered bool   // all that it emits became visible
	needed  bool   // something visible, or the final state, rests on it
	aside   bool   // the record was set aside, although its step emits something
	again   bool   // the step is claimed again later
	repeats bool   // at most once: a step is repeated on its branch
	way     uint32 // the tasks by which its input came, and its own; 0: not known yet
	nonce   uint64
	value   model.Value
}

// alien is the version of a value that no replayed step made.
const alien = -1

// emission is one record that a replayed step emits.
type emission struct {
	slot  int32
	key   string
	value model.Value
}

// held is a state value and where it comes from.
type held struct {
	version int32
	at      int64 // event
	value   model.Value
}

// replay recomputes all claims, once a subject. Claims, calls and servings are in event order, so
// that one pass over the three does.
func (j *Judge) replay() {
	c := &j.claims
	if c.done {
		return
	}
	c.done = true
	c.list, c.emitted, c.memories = c.list[:0], c.emitted[:0], c.memories[:0]
	c.touched.reset()
	c.near, c.foreign = c.near[:0], false
	c.calls, c.call, c.serving, c.until = c.calls[:0], 0, 0, math.MinInt64
	c.list = slices.Grow(c.list, len(j.h.Applications))
	c.calls = slices.Grow(c.calls, len(j.h.Calls))
	j.indexLives()
	for i := range j.h.Applications {
		a := &j.h.Applications[i]
		j.serveUntil(a.N)
		j.claim(a)
	}
	j.serveUntil(math.MaxInt64)
	j.keepLastLives()
	j.keepNewest()
}

// indexLives links the lives of each process.
func (j *Judge) indexLives() {
	c := &j.claims
	c.lives, c.hint, c.previous = c.lives[:0], c.hint[:0], c.previous[:0]
	for range j.plan.job.Tasks {
		c.lives, c.hint = append(c.lives, 0), append(c.hint, 0)
	}
	for i := range j.h.Lives {
		proc := j.h.Lives[i].Proc
		c.previous = append(c.previous, c.lives[proc])
		c.lives[proc] = int32(i + 1)
	}
}

// noLife stands for no life.
const noLife = -1

// life is the number of a process's life under an attempt, or noLife.
func (j *Judge) life(proc model.ProcID, attempt int32) int32 {
	c := &j.claims
	if proc < 0 || int(proc) >= len(c.lives) {
		return noLife
	}
	if hint := c.hint[proc]; hint > 0 && j.h.Lives[hint-1].Attempt == attempt {
		return hint - 1
	}
	for l := c.lives[proc]; l > 0; l = c.previous[l-1] {
		if j.h.Lives[l-1].Attempt == attempt {
			c.hint[proc] = l
			return l - 1
		}
	}
	return noLife
}

// claim replays one application and appends it.
func (j *Judge) claim(a *model.Application) {
	c := &j.claims
	c.list = append(c.list, claim{op: a.Op, slot: noSlot, cell: -1, out: int32(len(c.emitted))})
	life := j.life(a.Proc, a.Attempt)
	random := j.isRandom(a.Op)
	from, isInput := j.origin(a)
	if !isInput || random && life == noLife {
		return
	}
	me := &c.list[len(c.list)-1]
	me.from = from
	if random {
		me.nonce = j.h.Lives[life].Nonce
	}
	var state model.Value
	memory := int32(-1)
	if j.plan.stages[a.Op].stateful {
		memory = j.memory(life, a.Op, j.key(&a.In))
		m := &c.memories[memory]
		me.base, me.cell, state = m.held.version, m.cell, m.held.value
	}
	if !j.retake(a, me, state) {
		me.cell = -1
		return
	}
	if strings.HasPrefix(a.Dropped, setAside) {
		me.cell = -1
	} else if memory >= 0 {
		c.memories[memory].held = held{int32(len(c.list)), a.N, me.value}
	}
	me.slot = j.slot(a.In.ID, a.Op, a.In.Path)
	n := &j.nodes[me.slot]
	if n.claim > 0 {
		c.list[n.claim-1].again = true
	}
	me.next, n.claim = n.claim, int32(len(c.list))
	n.claims++
}

// isRandom reports whether an operator is not deterministic: its steps depend on the nonce of the
// life that takes them.
func (j *Judge) isRandom(op int32) bool {
	return op >= 1 && op <= j.plan.ops &&
		j.plan.stages[op].operator.Kind == model.NonDeterministic
}

// setAside begins what a claim says of a record that went to a dead letter queue: it is a claim of
// nothing, without outputs and without a change of state.
const setAside = "set aside: "

// retake takes the step of a claim again, with the nonce of the life that claims it; it reports
// whether the step emits as many records as the task says.
func (j *Judge) retake(a *model.Application, me *claim, state model.Value) bool {
	c := &j.claims
	value, records := state, []model.Record(nil)
	if j.plan.stages[a.Op].stateful {
		value, records = j.step(0, a.Op, &a.In, state, me.nonce)
	} else {
		records, _ = j.pure(0, a.Op, j.slot(a.In.ID, a.Op, a.In.Path), &a.In)
	}
	if strings.HasPrefix(a.Dropped, setAside) {
		me.aside, me.value = len(records) > 0, state
		return a.Outputs == 0
	}
	if len(records) != int(a.Outputs) {
		return false
	}
	for i := range records {
		r := &records[i]
		c.emitted = append(c.emitted, emission{slot: j.slot(r.ID, r.Op, r.Path), key: r.Key,
			value: r.Value})
	}
	me.outs, me.value = a.Outputs, value
	return true
}

// origin reports whether a claim's record is an input of its operator: a record of the input as it
// is, or what an earlier valid claim emits. Then from is the latest such claim, plus one.
func (j *Judge) origin(a *model.Application) (from int32, isInput bool) {
	if a.Op < 1 || a.Op > j.plan.ops || !j.s.Input.Has(a.In.ID) ||
		a.Proc < 0 || int(a.Proc) >= len(j.plan.job.Tasks) {
		return 0, false
	}
	l := j.plan.of(a.Op, a.In.ID.Part)
	if l.ways == 0 || l.parent != a.In.Op || j.plan.job.Tasks[a.Proc].Op != a.Op {
		return 0, false
	}
	if a.In.Op == 0 {
		rec := j.s.Input.At(a.In.ID)
		return 0, a.In.Path == 0 && rec.Key == a.In.Key && rec.Value == a.In.Value
	}
	from = j.emitter(&a.In)
	return from, from > 0
}

// parent is the emitter of the input of a valid claim, by all claims; 0: it is a record of the
// input.
func (j *Judge) parent(claim int32) int32 {
	from := j.claims.list[claim].from
	if from == 0 || !j.claims.list[from-1].again {
		return from
	}
	return j.emitter(&j.h.Applications[claim].In)
}

// emitter is the latest valid claim that emits a record as it is, plus one, or 0.
func (j *Judge) emitter(rec *model.Record) int32 {
	step := j.slot(rec.ID, rec.Op, rec.Path>>model.PathBits)
	for i := j.nodes[step].claim; i > 0; i = j.claims.list[i-1].next {
		if j.emits(i, rec) {
			return i
		}
	}
	return 0
}

// emits reports whether a claim, given plus one, emits a record as it is.
func (j *Judge) emits(claim int32, rec *model.Record) bool {
	c, ordinal := &j.claims.list[claim-1], int32(rec.Path&(1<<model.PathBits-1))
	return ordinal < c.outs && j.claims.emitted[c.out+ordinal].is(rec)
}

// is reports whether e has the key and the value of a record with the same identity.
func (e *emission) is(rec *model.Record) bool {
	return e.key == rec.Key && e.value == rec.Value
}
