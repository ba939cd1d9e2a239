package sim

import (
	"fmt"

	"github.com/oncesim/oncesim/model"
)

type status uint8

const (
	up status = iota + 1
	paused
	dead
)

// instance is one life of a process: the state machine, the script that it is in the middle of,
// and the events that wait for it.
type instance struct {
	index   int32
	slot    int32
	life    int32 // index in History.Lives
	self    model.Self
	proc    model.Process
	status  status
	script  model.Script
	next    int // script.Effects[next] comes next
	spare   model.Script
	cause   int64 // the event being handled
	waiting int32 // the blocking call, or nobody
	held    int32 // the blocking call whose outcome waits for the end of a pause, or nobody
	counted bool  // rules have counted the next effect already
	armed   int32 // and these are anchored later in it
	parked  bool  // a pause struck before this transmission left
	leaving parked
	inbox   []int32
	head    int
	lastTo  []int64 // per process, then per service: when the last message on that channel arrives
}

// parked is a transmission that leaves when its life resumes.
type parked struct {
	service model.ServiceID
	req     model.Message
	state   callState
	counted bool // rules have counted it
}

// newInstance takes a life from the pool for a slot.
func (w *World) newInstance(p model.ProcID) *instance {
	if w.live == len(w.insts) {
		w.insts = append(w.insts, &instance{
			index:  int32(w.live),
			script: model.Script{Memory: &w.memory},
			spare:  model.Script{Memory: &w.memory},
			lastTo: make([]int64, len(w.slots)+int(model.ServiceEnd)),
		})
	}
	in := w.insts[w.live]
	w.live++
	sl := &w.slots[p]
	if sl.used == len(sl.pool) {
		sl.pool = append(sl.pool, w.mode.New(w.job, sl.task))
	}
	in.slot, in.proc = int32(p), sl.pool[sl.used]
	sl.used++
	in.status, in.waiting, in.held, in.counted, in.parked = up, nobody, nobody, false, false
	in.script.Effects, in.next, in.cause = in.script.Effects[:0], 0, 0
	in.inbox, in.head = in.inbox[:0], 0
	clear(in.lastTo)
	return in
}

// bear begins a life of process p under the current attempt and returns the event at which it
// began. From then on it receives messages; open lets it act.
func (w *World) bear(p model.ProcID, cause int64) (began int64) {
	in := w.newInstance(p)
	sl := &w.slots[p]
	if old := sl.current; old != nobody {
		panic(fmt.Sprintf("sim: %s is born while %d is current", sl.task.Name, old))
	}
	sl.current, sl.newest = in.index, in.index
	w.hist.Extent.Lives[p]++
	in.self = model.Self{Proc: p, Attempt: w.attempt, Life: w.hist.Extent.Lives[p],
		Nonce: w.nonce(sl)}
	in.life = int32(len(w.hist.Lives))
	began = w.note(model.EntryStart, happening{in: in, cause: cause})
	in.cause = began
	w.hist.Lives = append(w.hist.Lives, model.Life{Proc: p, Attempt: in.self.Attempt,
		Life: in.self.Life, Began: began, Nonce: in.self.Nonce})
	return began
}

// nonce draws what a life of an operator that is not deterministic decides by.
func (w *World) nonce(sl *slot) uint64 {
	if op := sl.task.Operator; op == nil || op.Kind != model.NonDeterministic {
		return 0
	}
	return w.draw(model.DrawOperator, sl.subject, uint64(w.attempt), 0)
}

// open lets a life act for the first time.
func (w *World) open(in *instance) {
	in.proc.Start(in.self, &in.script)
	w.advance(in)
}

// openAll lets all current lives act, in the order of their processes: all are born before the
// first of them sends anything.
func (w *World) openAll() {
	for i := range w.slots {
		if current := w.slots[i].current; current != nobody {
			w.open(w.insts[current])
		}
	}
}

// arrive brings a message or timer to its life: it is handled, waits in the inbox, or finds
// nobody.
func (w *World) arrive(slot int32) {
	it := &w.queue.slab[slot].item
	if it.inst == nobody || w.insts[it.inst].status == dead {
		w.drop(slot)
		return
	}
	in := w.insts[it.inst]
	isIdle := in.status == up && in.waiting == nobody && len(in.inbox)+len(in.script.Effects) == 0
	if isIdle {
		w.handle(in, slot)
	} else {
		in.inbox = append(in.inbox, slot)
	}
	w.advance(in)
}

// drop discards an event that finds nobody; only messages are worth telling.
func (w *World) drop(slot int32) {
	it := &w.queue.slab[slot].item
	if it.kind == itemDeliver {
		h := happening{to: it.proc, msg: &w.queue.arrivals[slot].Msg, cause: it.cause}
		if it.inst != nobody {
			h.in = w.insts[it.inst]
		}
		w.note(model.EntryDrop, h)
	}
	w.queue.free(slot)
}

// advance carries on with a life until it waits, pauses, dies or has nothing to do.
func (w *World) advance(in *instance) {
	for in.status == up && in.waiting == nobody {
		if in.next < len(in.script.Effects) {
			w.carryOut(in)
			continue
		}
		in.script.Effects, in.next = in.script.Effects[:0], 0
		if in.head == len(in.inbox) {
			in.inbox, in.head = in.inbox[:0], 0
			return
		}
		slot := in.inbox[in.head]
		in.head++
		w.handle(in, slot)
	}
}

// handle lets the process take one event from its inbox. A message is handed over where it lies:
// nothing takes its slot before the process has answered.
func (w *World) handle(in *instance, slot int32) {
	it := &w.queue.slab[slot].item
	ev := &w.event
	switch it.kind {
	case itemDeliver:
		ev = &w.queue.arrivals[slot]
		ev.Kind, ev.From = model.Delivered, it.from
		if it.token == 0 || len(w.poisons) > 0 {
			w.poison(in, &ev.Msg)
			it.token = int64(w.words(&ev.Msg))
		}
		in.cause = w.noteMessage(model.EntryDeliver, in, it.from, &ev.Msg, uint64(it.token),
			it.cause)
	case itemTimer:
		*ev = model.Event{Kind: model.TimerFired, Token: it.token}
		in.cause = w.note(model.EntryTimer, happening{in: in, cause: it.cause, number: it.token})
	case itemAnswer:
		call := it.call
		w.queue.free(slot)
		w.settle(in, call)
		return
	default:
		panic(fmt.Sprintf("sim: item of kind %d in an inbox", it.kind))
	}
	w.queue.free(slot)
	w.step(in, ev)
}

// step hands an event to the process; its effects go behind what is left of the script.
func (w *World) step(in *instance, ev *model.Event) {
	if w.opts.Transplant {
		w.transplant(in)
	}
	in.proc.Step(ev, &in.script)
}

// stepAnswered hands an outcome to the process; its effects go before what is left of the script.
func (w *World) stepAnswered(in *instance) {
	if w.opts.Transplant {
		w.transplant(in)
	}
	in.spare.Effects = in.spare.Effects[:0]
	in.proc.Step(&w.event, &in.spare)
	if len(in.spare.Effects) == 0 {
		return
	}
	in.spare.Effects = append(in.spare.Effects, in.script.Effects[in.next:]...)
	in.script, in.spare = in.spare, in.script
	in.next = 0
}

// transplant replaces the process object by a new one restored from its encoding.
func (w *World) transplant(in *instance) {
	w.codec.Reset()
	in.proc.State(&w.codec)
	w.codec.Rewind()
	in.proc = w.mode.New(w.job, w.slots[in.slot].task)
	in.proc.State(&w.codec)
	if left := w.codec.Left(); left != 0 {
		panic(fmt.Sprintf("sim: %s restores all but %d bytes", w.slots[in.slot].task.Name, left))
	}
}

// carryOut does the next effect of a script, unless a fault strikes first.
func (w *World) carryOut(in *instance) {
	e := &in.script.Effects[in.next]
	chain := nobody
	if e.Kind.IsNumbered() {
		chain = w.reach(in, e)
		if in.status != up {
			return
		}
	}
	in.next++
	in.counted = false
	switch e.Kind {
	case model.EffectSend:
		w.send(in, e)
		w.fireChain(chain, model.After, in)
	case model.EffectCall, model.EffectBegin:
		w.invoke(in, e, chain)
	case model.EffectAfter:
		w.schedule(w.now+e.Delay, w.slots[in.slot].subject,
			item{kind: itemTimer, inst: in.index, cause: in.cause, token: e.Token})
	case model.EffectApplied:
		w.applied(in, e)
	case model.EffectFail:
		w.failed(in, e)
	default:
		panic(fmt.Sprintf("sim: effect of kind %d", e.Kind))
	}
}

// send puts a message on the channel to the life that is current now. FIFO holds for a channel
// between two lives: a later message never arrives earlier.
func (w *World) send(in *instance, e *model.Effect) {
	e.Msg.Attempt = in.self.Attempt
	w.hist.Extent.Messages[in.slot][model.MessageIndex(e.To, e.Msg.Kind)]++
	from, to := &w.slots[in.slot], &w.slots[e.To]
	isFree := len(from.messageRules)+len(w.swaps)+len(w.outages) == 0
	var struck hit
	if !isFree {
		w.reachMessage(in, e, &struck)
	}
	words := w.words(&e.Msg)
	cause := w.noteMessage(model.EntrySend, in, e.To, &e.Msg, words, in.cause)
	subject := from.subject ^ to.subject<<1 ^ uint64(e.Msg.Kind)
	draw := w.draw(model.DrawChannelLatency, subject, e.Msg.Record.Subject()^uint64(e.Msg.Seq)<<8,
		uint64(in.self.Life)<<32|uint64(e.Msg.Try))
	at := w.now + within(draw, w.cfg.Channel)
	if !isFree {
		w.carry(in, e, at, draw, struck, cause)
		return
	}
	at = max(at, in.lastTo[e.To]+1)
	in.lastTo[e.To] = at
	slot := w.queue.grab()
	w.queue.arrivals[slot].Msg = e.Msg
	it := &w.queue.slab[slot].item // field by field: a literal would be made elsewhere and copied
	it.kind, it.proc, it.from, it.inst = itemDeliver, e.To, in.self.Proc, to.current
	it.cause, it.token = cause, int64(words)
	w.enqueue(at, classEvent, draw, slot)
}

func (w *World) applied(in *instance, e *model.Effect) {
	n := w.note(model.EntryApply,
		happening{in: in, msg: &e.Msg, cause: in.cause, detail: e.Reason,
			number: e.Token<<32 | int64(e.Outputs)})
	a := extend(&w.hist.Applications)
	a.N, a.At, a.Proc, a.Attempt, a.Op = n, w.now, in.self.Proc, in.self.Attempt, int32(e.Token)
	a.In, a.Outputs, a.Dropped = e.Msg.Record, e.Outputs, e.Reason
}
