package search

import (
	"github.com/oncesim/oncesim/faults"
	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/scenarios"
	"github.com/oncesim/oncesim/sim"
)

// dropMissed drops the faults that the original did not reach. Where what is to be kept goes with
// them, they may be missed from then on.
func (k *shrinker) dropMissed(missed []int) {
	if len(missed) > 0 && !k.try(k.best.without(missed)) {
		k.mayMiss = true
	}
}

// dropFaults drops all faults that it can, first many at a time.
func (k *shrinker) dropFaults() {
	k.drop(len(k.best.s.Faults), 1, func() int { return len(k.best.s.Faults) },
		func(from, to int) bool { return k.try(k.withoutFaults(from, to)) })
}

// drop goes through a list of things from its end, in pieces that get smaller and smaller down to
// a least size, and drops each piece that it can. It takes some 2k log(n) tries to find k things
// that are needed.
func (k *shrinker) drop(piece, least int, length func() int, try func(from, to int) bool) {
	for ; piece >= least; piece /= 2 {
		for to := length(); to > 0 && !k.isCut; {
			from := max(to-piece, 0)
			try(from, to)
			to = min(from, length()) // more than the piece may be gone
		}
	}
}

func (k *shrinker) withoutFaults(from, to int) candidate {
	var list []int
	for i := from; i < to; i++ {
		list = append(list, i)
	}
	return k.best.without(list)
}

// withFault is the smallest so far with another fault in the place of one.
func (k *shrinker) withFault(i int, f faults.Fault) candidate {
	return k.with(func(s *scenarios.Scenario) { s.Faults[i] = f })
}

// weakenFaults moves each fault to the earliest anchor that will do, and makes it as weak as it
// can.
func (k *shrinker) weakenFaults() {
	for i := 0; i < len(k.best.s.Faults); i++ {
		n := len(k.best.s.Faults)
		for nth := range dialsOf(k.best.s.Faults[i]) {
			if n == len(k.best.s.Faults) { // a fault that went with a step has moved the others
				k.turn(i, nth)
			}
		}
		for n == len(k.best.s.Faults) && k.tryAny(i, weaker(k.best.s.Faults[i])) {
		}
	}
}

// tryAny tries some faults in the place of one, up to the first that will do.
func (k *shrinker) tryAny(i int, list []faults.Fault) (isTaken bool) {
	for _, f := range list {
		if k.try(k.withFault(i, f)) {
			return true
		}
	}
	return false
}

// faultSteps yields every deletion of one fault, and every single weakening.
func (k *shrinker) faultSteps(yield func(candidate) bool) bool {
	for i, f := range k.best.s.Faults {
		if !yield(k.withoutFaults(i, i+1)) {
			return false
		}
		for _, d := range dialsOf(f) {
			if d.above > 0 && !yield(k.withFault(i, d.set(f, d.above-1))) {
				return false
			}
		}
		for _, w := range weaker(f) {
			if !yield(k.withFault(i, w)) {
				return false
			}
		}
	}
	return true
}

// dial is a number in a fault that can be made smaller: it takes the values from 0 to above-1, and
// stands at above.
type dial struct {
	above int64
	set   func(f faults.Fault, v int64) faults.Fault
}

// turn turns a dial of a fault as far down as it finds a way, by halving.
func (k *shrinker) turn(i, nth int) {
	n := len(k.best.s.Faults)
	d := dialsOf(k.best.s.Faults[i])[nth]
	lost, kept := int64(-1), d.above
	for kept-lost > 1 {
		at := (lost + kept) / 2
		if lost < 0 {
			at = 0
		}
		if k.try(k.withFault(i, d.set(k.best.s.Faults[i], at))) {
			kept = at
		} else {
			lost = at
		}
		if len(k.best.s.Faults) != n {
			return
		}
	}
}

// dialsOf lists what of a fault can be made smaller: what its anchor counts, and how long it takes.
func dialsOf(f faults.Fault) []dial {
	dials := []dial{durations(f)}
	add := func(above int64, set func(f *faults.Fault, v int64)) {
		dials = append(dials, dial{above, func(f faults.Fault, v int64) faults.Fault {
			set(&f, v)
			return f
		}})
	}
	switch {
	case f.Point == model.AtTime:
		ms := (f.At + millisecond - 1) / millisecond // what is no whole millisecond becomes one
		add(ms, func(f *faults.Fault, v int64) { f.At = v * millisecond })
	case f.N > 0:
		add(f.N-1, func(f *faults.Fault, v int64) { f.N = v + 1 })
	}
	switch {
	case f.Action == model.TruncateInput:
		add(f.Record.Offset-1, func(f *faults.Fault, v int64) { f.Record.Offset = v + 1 })
	case f.Scope == model.RecordEffect:
		add(f.Record.Offset, func(f *faults.Fault, v int64) { f.Record.Offset = v })
	case f.Scope == model.StartEffect:
		add(int64(f.Life)-1, func(f *faults.Fault, v int64) { f.Life = int32(v) + 1 })
	case f.Scope == model.CheckpointEffect:
		add(f.Checkpoint-1, func(f *faults.Fault, v int64) { f.Checkpoint = v + 1 })
	}
	return dials
}

const millisecond = 1_000_000

// durations is the dial of how long a fault takes: first what its line need not say, then 1, 2 and
// 5 times powers of ten milliseconds, then the whole milliseconds of what it is.
func durations(f faults.Fault) dial {
	var values []int64
	if f.For > 0 && takesDefault(f.Action) {
		values = append(values, 0)
	}
	for unit := int64(millisecond); unit < f.For; unit *= 10 {
		for _, ns := range []int64{unit, 2 * unit, 5 * unit} {
			if ns < f.For {
				values = append(values, ns)
			}
		}
	}
	whole := f.For / millisecond * millisecond
	if n := len(values); whole < f.For && n > 0 && values[n-1] < whole {
		values = append(values, whole)
	}
	return dial{int64(len(values)), func(f faults.Fault, v int64) faults.Fault {
		f.For = values[v]
		return f
	}}
}

// takesDefault reports whether a line need not say how long a fault of an action takes.
func takesDefault(a model.Action) bool {
	switch a {
	case model.DuplicateRequest, model.DuplicateMessage, model.ReorderMessages:
		return true
	}
	return false
}

// weakness orders the points at which a process can be struck, weakest first. Between two effects
// it is easier to follow than within a call: most of all where a service has done something of
// which its caller does not know.
var weakness = []model.Point{model.After, model.Before, model.During, model.BeforeAck}

// weaker lists the faults that are a step weaker than one in kind: at a weaker point, or of a
// weaker action, in the same place.
func weaker(f faults.Fault) []faults.Fault {
	var list []faults.Fault
	if f.Action == model.Crash || f.Action == model.Pause {
		list = weakerPoints(f)
	}
	one := f // of all that f strikes it strikes the first
	one.Service, one.Point, one.For = "", 0, 0
	become := func(actions ...model.Action) {
		for _, a := range actions {
			one.Action = a
			list = append(list, one)
		}
	}
	switch {
	case f.Action == model.Pause && f.For > sim.SuspectAfter:
		one.Point = f.Point
		become(model.Crash)
	case f.Action == model.DelayRequest:
		become(model.LoseRequest)
	case f.Action == model.DelayMessage:
		become(model.LoseMessage)
	case f.Point == model.AtTime:
	case f.Action == model.CrashService:
		become(model.LoseRequest, model.RefuseRequest)
	case f.Action == model.CutLink && f.Scope == model.MessageOnChannel:
		become(model.LoseMessage)
	case f.Action == model.CutLink && f.Point == model.BeforeAck:
		become(model.LoseAnswer)
	case f.Action == model.CutLink:
		become(model.LoseRequest)
	}
	if f.Action == model.CutLink && f.Point == model.BeforeAck {
		f.Point = 0
		list = append(list, f)
	}
	return list
}

// weakerPoints is a fault at each of the points that are weaker than its own.
func weakerPoints(f faults.Fault) []faults.Fault {
	var list []faults.Fault
	for _, p := range weakness {
		if p == f.Point {
			return list
		}
		at := f
		at.Point = p
		list = append(list, at)
	}
	return nil // it strikes at a time
}
