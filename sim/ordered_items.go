package sim

import (
	"fmt"

	"github.com/oncesim/oncesim/model"
)

// waiting is something that can happen, once it is its turn.
type waiting struct {
	item
	sender  int32 // itemDeliver: the life that sent it
	msg     int32 // itemDeliver: in Ordered.msgs
	at      int64 // itemTimer: when it is due
	number  int64 // itemServe, itemAnswer: which call of its life
	effect  int64 // itemServe, itemAnswer: of which effect of its process
	isAsked bool  // itemTimer: it waits for input
	sum           // of what it brings
}

// add takes what the world would queue.
func (o *Ordered) add(at int64, slot int32) {
	w := o.w
	it := waiting{item: w.queue.slab[slot].item, at: at}
	switch it.kind {
	case itemDeliver:
		o.made.messages++
		if it.inst == nobody {
			w.drop(slot)
			return
		}
		it.sender = w.slots[it.from].current
		it.msg = int32(len(o.msgs))
		msg := &w.queue.arrivals[slot].Msg
		o.msgs = append(o.msgs, *msg)
		it.sum = sumOf(itemDeliver)
		it.message(msg)
		o.learned.senders[it.proc] |= 1 << it.from
	case itemServe:
		it.inst = w.calls[it.call].inst
		for int(it.inst) >= len(o.calls) {
			o.calls = append(o.calls, 0)
		}
		o.calls[it.inst]++
		it.number = o.calls[it.inst]
		it.effect = w.hist.Extent.Effects[w.insts[it.inst].slot]
		it.sum = sumOf(itemServe)
		it.message(&w.hist.Calls[it.call].Req)
	case itemTimer:
		it.isAsked = o.waits
		if !o.waits {
			o.made.timers++
		}
	case itemAnswer, itemSuspect:
	default:
		panic(fmt.Sprintf("sim: ordered: item of kind %d", it.kind))
	}
	o.items = append(o.items, it)
	w.queue.free(slot)
}

// isBehind reports whether an earlier item is in front of item i on its channel.
func (o *Ordered) isBehind(i int) bool {
	it := &o.items[i]
	for k := range o.items[:i] {
		if o.items[k].isAhead(it, o.w) {
			return true
		}
	}
	return false
}

// isAhead reports whether two items are on one channel.
func (it *waiting) isAhead(other *waiting, w *World) bool {
	if it.kind != other.kind || it.inst != other.inst {
		return false
	}
	switch it.kind {
	case itemDeliver:
		return it.sender == other.sender
	case itemServe:
		return w.hist.Calls[it.call].Service == w.hist.Calls[other.call].Service
	}
	return false
}

// canHappen reports whether an item other than a timer that waits for its time can happen now.
func (o *Ordered) canHappen(i int) bool {
	it := &o.items[i]
	w := o.w
	switch it.kind {
	case itemDeliver:
		return w.insts[it.inst].waiting == nobody && !o.isBehind(i)
	case itemServe:
		return !o.isBehind(i)
	case itemAnswer:
		busy := w.insts[it.inst].waiting
		return busy == nobody || busy == it.call
	case itemTimer:
		return it.isAsked && w.insts[it.inst].waiting == nobody
	}
	return true // the beginning, a restart
}

// isBusy reports whether anything can happen but timers and the arrival of input, and whether that
// can.
func (o *Ordered) isBusy() (isBusy, isAwaiting bool) {
	for i := range o.items {
		switch {
		case !o.canHappen(i):
		case o.items[i].kind == itemTimer:
			isAwaiting = true
		default:
			isBusy = true
		}
	}
	return isBusy, isAwaiting
}

// Choices appends what can happen next to a list: nothing where the run is over. The order is that
// in which it came to be.
func (o *Ordered) Choices(list []Choice) []Choice {
	if o.isOver {
		return list
	}
	isBusy := false
	from := len(list)
	for i := range o.items {
		if o.canHappen(i) {
			list = append(list, o.choice(i))
			isBusy = isBusy || o.items[i].kind != itemTimer
		}
	}
	if len(list) == from || o.left.Timers > 0 || !isBusy && o.left.Lulls > 0 {
		list = o.timers(list)
	}
	return list
}

// timers appends those timers that are due first.
func (o *Ordered) timers(list []Choice) []Choice {
	first := o.limit + 1
	for i := range o.items {
		if it := &o.items[i]; it.kind == itemTimer && !it.isAsked {
			first = min(first, max(it.at, o.w.now))
		}
	}
	for i := range o.items {
		it := &o.items[i]
		isIdle := it.kind == itemTimer && !it.isAsked && o.w.insts[it.inst].waiting == nobody
		if isIdle && max(it.at, o.w.now) == first {
			list = append(list, o.choice(i))
		}
	}
	return list
}

// choice is the choice of an item.
func (o *Ordered) choice(i int) Choice {
	it, w := &o.items[i], o.w
	c := Choice{item: i, Proc: model.Nobody, From: model.Nobody, Service: model.Nobody,
		Victim: model.Nobody}
	if it.kind == 0 {
		c.Kind = Open
		return c
	}
	in := w.insts[it.inst]
	c.Proc, c.Life = in.self.Proc, in.self.Life
	switch it.kind {
	case itemDeliver:
		c.Kind, c.From, c.What = Deliver, it.from, o.msgs[it.msg].Kind
		c.FromLife = w.insts[it.sender].self.Life
	case itemServe, itemAnswer:
		c.Kind, c.Number = Serve, it.number
		if it.kind == itemAnswer {
			c.Kind = Receive
		}
		call := &w.hist.Calls[it.call]
		c.Service, c.What = call.Service, call.Req.Kind
	case itemTimer:
		c.Kind, c.Number, c.Due = Fire, it.token, it.at
		if it.isAsked {
			c.Kind = Arrive
		}
	default:
		c.Kind = Restart
	}
	return c
}

// Crashes appends the crashes that a choice can have, at the effects that the processes carried out
// in its step, which was taken last and not undone. Some may not be part of it: Take tells.
func (o *Ordered) Crashes(c *Choice, list []Choice) []Choice {
	f := &o.frames[o.depth-1]
	add := func(p model.ProcID, effect int64, point model.Point) {
		if o.budget.Victims != 0 && o.budget.Victims>>p&1 == 0 {
			return
		}
		crash := *c
		crash.Victim, crash.Effect, crash.Crash = p, effect, point
		list = append(list, crash)
	}
	if f.left.Crashes == 0 {
		return list
	}
	switch it := &f.items[c.item]; {
	case it.kind == itemServe && o.w.insts[it.inst].status != dead:
		add(c.Proc, it.effect, model.BeforeAck)
	case it.kind == itemAnswer:
		add(c.Proc, it.effect, model.After)
	}
	for p, before := range f.effects {
		for n := before + 1; n <= o.w.hist.Extent.Effects[p]; n++ {
			add(model.ProcID(p), n, model.Before)
			add(model.ProcID(p), n, model.During)
			add(model.ProcID(p), n, model.After)
		}
	}
	return list
}

// clean drops what is on its way to a life that is over, and what such a life has asked for and
// that has no effect but its answer: it would find nobody.
func (o *Ordered) clean() {
	w := o.w
	left := o.items[:0]
	for i := range o.items {
		it := &o.items[i]
		isTo := it.kind == itemDeliver || it.kind == itemAnswer || it.kind == itemTimer
		if it.kind == itemServe && isHarmless(&w.hist.Calls[it.call].Req) {
			isTo = true
		}
		if isTo && w.insts[it.inst].status == dead {
			continue
		}
		left = append(left, *it)
	}
	o.items = left
	for part, asker := range o.asker {
		if asker != 0 && w.slots[asker-1].current == nobody {
			o.asker[part] = 0
		}
	}
}

// Find is a choice of another driver of the same job, or of this one before, as it is here; ok is
// false where it cannot happen.
func (o *Ordered) Find(c Choice) (here Choice, ok bool) {
	c.item = 0
	for _, here := range o.Choices(nil) {
		here.Crash, here.Victim, here.Effect = c.Crash, c.Victim, c.Effect
		same := here
		if same.item = 0; same == c {
			return here, true
		}
	}
	return Choice{}, false
}
