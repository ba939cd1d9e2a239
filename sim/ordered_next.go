package sim

import (
	"slices"

	"github.com/oncesim/oncesim/model"
)

// Next appends steps that suffice: every run from here ends as one that takes one of them first
// ends, or so that nobody can tell the difference. Without knowledge they are all Choices.
//
// Where it can, it picks one process, all of whose next steps are a persistent set (Godefroid,
// Partial-Order Methods for the Verification of Concurrent Systems, 1996): whatever others do
// before, the process finds the same and they find the same of it. That keeps every end of a run,
// also where states are not entered twice, since the choice depends on nothing but the state.
//
//   - A process that waits for an answer has one next step: that its request is served, or that the
//     answer arrives. An idle one has the heads of its channels, where none of those that ever send
//     to it could start a new one, no answer is outstanding, and none of its timers may fire.
//   - Serving is apart from what others do if nobody else has ever asked for the same objects, and
//     no life that is over has requests at the service.
//   - Messages and requests go behind others on their channel, and what a process claims is its
//     own. So a step commutes with all that others do, but for four things. What it claims and
//     asks for is about the input record as well where steps repeat. A timer that it sets may be
//     due before others, which matters if timers may fire early. A message finds nobody while its
//     receiver is down, which matters where that is restarted alone. And a restart of the job ends
//     all lives.
//   - A step that a restart of the job would undo without a trace may be taken first even so: it
//     has only sent messages, and asked for what changes nothing. The run in which the restart
//     comes first ends in the same way.
func (o *Ordered) Next(list []Choice) []Choice {
	from := len(list)
	list = o.Choices(list)
	if o.known == nil || len(list) <= from+1 {
		return list
	}
	isQuiet := o.isQuiet()
	for p := range o.w.slots {
		in := o.current(model.ProcID(p))
		if in == nil {
			continue
		}
		to := len(list)
		if list = o.stepsOf(in, list, isQuiet); len(list) == to {
			continue
		}
		if o.areApart(list[to:], isQuiet) {
			return append(list[:from], list[to:]...)
		}
		list = list[:to]
	}
	return list
}

// isQuiet reports whether no life will end any more.
func (o *Ordered) isQuiet() bool {
	if o.left.Crashes > 0 || o.known.fails {
		return false
	}
	for i := range o.w.slots {
		if o.w.slots[i].current == nobody {
			return false
		}
	}
	return true
}

// stepsOf appends all next steps of a life, or nothing if some may still come up.
func (o *Ordered) stepsOf(in *instance, list []Choice, isQuiet bool) []Choice {
	if in.waiting != nobody {
		for i := range o.items {
			it := &o.items[i]
			isIt := (it.kind == itemServe || it.kind == itemAnswer) && it.call == in.waiting
			if isIt && o.canHappen(i) && (it.kind == itemAnswer || o.isOwn(it, isQuiet)) {
				return append(list, o.choice(i))
			}
		}
		return list
	}
	if !isQuiet && o.w.scope == model.RestartTask {
		return list // the next life of a sender has a channel of its own
	}
	from, senders := len(list), uint64(0)
	for i := range o.items {
		it := &o.items[i]
		switch {
		case it.inst != in.index || it.kind == 0:
		case it.kind == itemServe, it.kind == itemTimer && !it.isAsked && o.left.Timers > 0:
			return list[:from]
		case it.kind == itemSuspect || !o.canHappen(i):
		default:
			list = append(list, o.choice(i))
			if it.kind == itemDeliver && o.w.slots[it.from].current == it.sender {
				senders |= 1 << it.from
			}
		}
	}
	isLull := o.left.Lulls > 0 && !slices.ContainsFunc(list[from:], func(c Choice) bool {
		return c.Kind != Arrive
	})
	if isLull || o.known.sendTo(in.slot)&^senders != 0 {
		return list[:from] // a timer may come first, or somebody who has sent nothing yet
	}
	return list
}

// isOwn reports whether the request of a life that waits for its answer can be served apart from
// what others do.
func (o *Ordered) isOwn(it *waiting, isQuiet bool) bool {
	w := o.w
	call := &w.hist.Calls[it.call]
	if call.Service == model.External && o.past.base.hasTime && o.left.Timers > 0 {
		return false
	}
	if call.Req.Kind.IsDurable() && !isQuiet && w.scope == model.RestartJob {
		return false
	}
	o.scratch.about = o.past.about(&call.Req, o.scratch.about[:0])
	for _, object := range o.scratch.about {
		if !o.known.isOnly(call.Proc, object) {
			return false
		}
	}
	for i := range o.items {
		other := &o.items[i]
		if other.kind == itemServe && w.insts[other.inst].status == dead &&
			w.hist.Calls[other.call].Service == call.Service {
			return false
		}
	}
	return true
}

// areApart reports whether steps of one process commute with what others may do. It tries them.
func (o *Ordered) areApart(steps []Choice, isQuiet bool) bool {
	for i := range steps {
		if steps[i].Kind == Serve {
			continue
		}
		if steps[i].Kind == Arrive && !o.arrivesApart(steps[i].Proc) {
			return false
		}
		o.Take(&steps[i])
		apart := o.isApart(isQuiet)
		o.Undo()
		if !apart {
			return false
		}
	}
	return true
}

// arrivesApart reports whether nobody else has ever asked for the partitions of which a process is
// to see more.
func (o *Ordered) arrivesApart(p model.ProcID) bool {
	for part, asker := range o.asker {
		if asker == int32(p)+1 && !o.known.isOnly(p, o.past.base.inputs+part) {
			return false
		}
	}
	return true
}

// isApart is areApart of the step taken last.
func (o *Ordered) isApart(isQuiet bool) bool {
	f, h := &o.frames[o.depth-1], &o.w.hist
	isJob := o.w.scope == model.RestartJob
	claims := len(h.Applications) - f.applications
	switch {
	case o.made.timers != f.made.timers && f.left.Timers > 0:
		return false
	case claims > 0 && (o.known.repeats || !isQuiet && isJob):
		return false
	case !isQuiet && !isJob && o.made.messages != f.made.messages:
		return false
	}
	if h.Lives[f.one.life].Ended != 0 {
		return false
	}
	for i := range h.Calls[f.mark.calls:] {
		call := &h.Calls[f.mark.calls+i]
		if call.Service == model.External && call.Req.Kind.IsDurable() && o.known.repeats ||
			!isQuiet && isJob && !isHarmless(&call.Req) {
			return false
		}
	}
	return true
}

// isHarmless reports whether a request has no effect but its answer.
func isHarmless(req *model.Message) bool {
	return !req.Kind.IsDurable() && req.Flags&model.Fenced == 0 &&
		req.Kind.Service() != model.External
}

// made counts what was made in the run so far.
type made struct{ messages, timers int }
