package sim

import "github.com/oncesim/oncesim/model"

// swap is a message that waits until the next one on its channel has overtaken it, or until it has
// waited long enough.
type swap struct {
	tie  uint64
	it   item
	msg  model.Message
	done bool
}

// carry puts a message on its channel as faults will have it. What is delayed or reordered comes
// later than it would in the order of its channel, and holds up nothing behind it.
func (w *World) carry(in *instance, e *model.Effect, at int64, tie uint64, h hit, cause int64) {
	struck := happening{in: in, to: e.To, msg: &e.Msg, cause: cause}
	switch {
	case h.lose:
		struck.detail = "message"
	case len(w.outages) > 0 && w.isCut(in.self.Proc, e.To, model.Nobody):
		struck.detail = "partition"
	}
	if struck.detail != "" {
		w.note(model.EntryLose, struck)
		return
	}
	at = max(at, in.lastTo[e.To]+1)
	it := item{kind: itemDeliver, proc: e.To, from: in.self.Proc, inst: w.slots[e.To].current,
		cause: cause}
	switch {
	case h.reorder > 0:
		struck.detail = "until overtaken"
		w.note(model.EntryDelay, struck)
		w.hold(at+h.delay+h.reorder, tie, it, &e.Msg)
		at += h.delay
	case h.delay > 0:
		at += h.delay
		w.note(model.EntryDelay, struck)
		w.deliver(at, tie, it, &e.Msg)
	default:
		w.deliver(at, tie, it, &e.Msg)
		in.lastTo[e.To] = w.overtake(at, e, in)
	}
	if h.double {
		it.cause = w.note(model.EntryDouble, struck)
		w.deliver(at+h.later, tie, it, &e.Msg)
	}
}

// hold keeps a message back until it is overtaken, at the longest until a time.
func (w *World) hold(until int64, tie uint64, it item, msg *model.Message) {
	w.swaps = append(w.swaps, swap{tie: tie, it: it, msg: *msg})
	w.schedule(until, tie, item{kind: itemRelease, call: int32(len(w.swaps) - 1)})
}

// overtake lets go of what waits for a message such as this, which arrives at a time: what was
// sent last comes first, so that two neighbours change places and no others. It returns when the
// last of them arrives.
func (w *World) overtake(at int64, by *model.Effect, in *instance) (last int64) {
	for i := len(w.swaps) - 1; i >= 0; i-- {
		s := &w.swaps[i]
		if s.done || s.it.proc != by.To || s.it.from != in.self.Proc ||
			s.msg.Kind != by.Msg.Kind {
			continue
		}
		s.done = true
		at++
		w.deliver(at, s.tie, s.it, &s.msg)
	}
	return at
}

// release lets a message go that nothing has overtaken.
func (w *World) release(i int32) {
	s := &w.swaps[i]
	if s.done {
		return
	}
	s.done = true
	w.deliver(w.now, s.tie, s.it, &s.msg)
}
