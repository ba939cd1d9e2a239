package sim

import (
	"fmt"

	"github.com/oncesim/oncesim/model"
)

// Ordered drives a world by choices where World.Run drives it by virtual time: what can happen next
// is a list, and whoever explores takes one of them, goes on from there, and undoes it to take
// another. Processes, services and the rules of lives, calls and restarts are those of the world.
//
// What can happen, and what is bounded:
//
//   - Channels are first in first out, of messages between two lives and of requests of a life to
//     a service; the head of each can arrive. Answers overtake each other. A process that waits
//     for an answer takes nothing else before it.
//   - Whoever is asked for, a restart included, can come at any time: no latency is drawn.
//   - A crash, as long as Budget.Crashes lasts, is part of the step in which it happens: before
//     each numbered effect, right after it, while a request is on its way, and after a service has
//     applied it. A life that stands still meets with nothing new, so that there are no others.
//   - A record of the input arrives when whoever has been told that there is none asks again,
//     which can be at any time. So it waits neither for time nor for anything else.
//   - Time stands still. Where only timers are left the one that is due first is next, for
//     nothing; those that are due together, in any order. The one that is due first can also fire
//     while other things could happen, which uses up Budget.Timers, or Budget.Lulls where all that
//     could happen is that input arrives. So timers keep their order, and messages, or the input,
//     may take longer than any of them as often as the budget says.
//   - Readers poll after every request that the external system has served, the finest view that
//     there is.
//   - Nothing else fails, and calls have no deadline.
//
// Undo restores what the step changed, from encodings that are kept in a stack. Only the last step
// taken can be undone.
type Ordered struct {
	w       *World
	budget  Budget
	left    Budget
	known   *Known
	items   []waiting
	msgs    []model.Message // of items that are messages
	calls   []int64         // by life: how many it has made
	limit   int64
	nodes   []node // by process
	stores  [model.ServiceEnd]node
	past    chains
	learned Known
	made    made
	arrived []int64 // by partition: how many records can be read
	asker   []int32 // by partition: who was told that there is nothing new, plus one
	waits   bool    // the step takes such an answer
	isOver  bool    // a process fails on one record for ever
	frames  []frame
	depth   int
	scratch scratch
	rule    [1]model.Rule
	// IsTransplanting replaces every process and service by a new one restored from its encoding
	// before every step. Nothing may change by that: the self-test of encoding and restoring.
	IsTransplanting bool
}

// Budget is how much may happen that need not.
type Budget struct {
	Crashes int
	Victims uint64 // whom they may strike, a bit for each process; 0: everybody
	Timers  int    // timers that fire although something else could happen
	Lulls   int    // timers that fire while nothing could happen but that input arrives
}

// ChoiceKind says what a choice does.
type ChoiceKind uint8

// The kinds of choice.
const (
	Open    ChoiceKind = iota + 1 // the run begins: every process lives its first life
	Deliver                       // the first message of a channel arrives
	Serve                         // the first request of a life arrives at its service
	Receive                       // an answer arrives
	Restart                       // the supervisor restarts what died
	Arrive                        // input arrives, and whoever waits for it asks for it
	Fire                          // a timer is due
)

// Choice is one step. Two choices at one state differ in what is exported.
type Choice struct {
	Kind     ChoiceKind
	Proc     model.ProcID // whose step it is; Serve: who asked
	Life     int32
	From     model.ProcID // Deliver: the sender
	FromLife int32
	Service  model.ServiceID // Serve, Receive
	What     model.Kind      // of the message or request
	Number   int64           // Serve, Receive: which call of its life; Arrive, Fire: the token
	Due      int64           // Arrive, Fire: virtual ns
	Crash    model.Point     // 0: none
	Victim   model.ProcID    // Crash: who
	Effect   int64           // Crash: at which of its effects, over all lives
	item     int
}

// node is the encoding of one process or service: what it is known by, and where it is kept.
type node struct {
	sum
	from, to             int // in scratch.bytes
	effectFrom, effectTo int // in scratch.effects: what is left of the script
}

// scratch is memory that grows with each step and shrinks with each undo.
type scratch struct {
	encode, restore model.Codec
	bytes           []byte
	effects         []model.Effect
	about           []int
}

// NewOrdered makes a driver of a world, under a seed, which decides only about what operators draw.
// The job has at most ProcessesMax processes. What it knows of the job, by which steps are told
// that need no alternative, it shares with other drivers of the same job; nil: every step has
// alternatives.
func NewOrdered(w *World, seed uint64, budget Budget, known *Known, opts Options) *Ordered {
	if len(w.slots) > ProcessesMax {
		panic(fmt.Sprintf("sim: %d processes, of at most %d", len(w.slots), ProcessesMax))
	}
	o := &Ordered{w: w, budget: budget, known: known}
	w.reset(seed, nil, opts)
	w.ordered, w.queue.isFull = o, true
	o.begin()
	return o
}

// begin begins the run.
func (o *Ordered) begin() {
	w := o.w
	o.left = o.budget
	o.arrived, o.asker = make([]int64, len(w.input.Parts)), make([]int32, len(w.input.Parts))
	o.limit = w.now + w.cfg.DrainTime*int64(1+o.budget.Crashes)
	w.limit = o.limit
	w.match = append(w.match[:0], ruleState{next: nobody})
	w.rules = o.rule[:]
	o.past.open(w)
	o.learned = newKnown(o.past.base.end)
	o.nodes = make([]node, len(w.slots))
	o.items = append(o.items, waiting{})
	for i := range w.services {
		o.encodeService(model.ServiceID(i))
	}
}

// Take takes a choice. It reports false where the effect that a crash is to strike is not part of
// the step: then it must be undone.
func (o *Ordered) Take(c *Choice) bool {
	o.push(c)
	it := o.items[c.item]
	o.items = append(o.items[:c.item], o.items[c.item+1:]...)
	if o.IsTransplanting {
		o.transplant()
	}
	before := o.mark()
	o.arm(c, &it)
	o.happen(c, &it)
	o.remember(before, &it)
	isStruck := c.Crash == 0 || o.w.match[0].fired
	o.disarm(c)
	o.clean()
	o.encodeChanged(c)
	return isStruck
}

// happen lets an item happen.
func (o *Ordered) happen(c *Choice, it *waiting) {
	w := o.w
	switch it.kind {
	case 0:
		for i := range w.slots {
			w.bear(model.ProcID(i), 0)
		}
		w.openAll()
	case itemServe:
		o.serve(it)
	case itemSuspect:
		w.suspect(w.insts[it.inst])
	default:
		o.prepare(c, it)
		in := w.insts[it.inst]
		clear(in.lastTo)
		slot := w.queue.grab()
		w.queue.slab[slot].item = it.item
		if it.kind == itemDeliver {
			w.queue.arrivals[slot].Msg = o.msgs[it.msg]
		}
		w.dispatch(slot)
	}
	o.waits = false
	o.isOver = o.isOver || w.limit == w.now // a process fails for ever
	w.limit = o.limit
}

// prepare does what the world's time would do as a step begins. A timer that is due moves it on; it
// costs something where there are alternatives. One that waits for input has some arrive.
func (o *Ordered) prepare(c *Choice, it *waiting) {
	switch c.Kind {
	case Receive:
		call := &o.w.hist.Calls[it.call]
		o.waits = call.Req.Kind == model.Fetch && call.Ans.Wait > 0
	case Fire:
		o.w.now = max(o.w.now, it.at)
		isBusy, isAwaiting := o.isBusy()
		switch {
		case !isBusy && isAwaiting && o.left.Lulls > 0:
			o.left.Lulls--
		case isBusy || isAwaiting:
			o.left.Timers--
		}
	case Arrive:
		for part, asker := range o.asker {
			if asker == o.w.insts[it.inst].slot+1 {
				o.arrived[part]++
				o.asker[part] = 0
			}
		}
	}
}

// serve has a request arrive at its service, and readers poll. To the input log it is as late as it
// must be for the records that have arrived.
func (o *Ordered) serve(it *waiting) {
	w := o.w
	call := &w.hist.Calls[it.call]
	now, part := w.now, call.Req.Record.ID.Part
	w.calls[it.call].deadline = never
	if call.Service == model.InputLog {
		w.now = o.arrived[part] * w.input.Parts[part].Every
	}
	w.arriveAt(it.call, false, it.cause)
	w.now = now
	switch {
	case call.Service == model.External:
		w.read()
	case call.Req.Kind == model.Fetch && call.Ans.Wait > 0:
		o.asker[part] = w.insts[it.inst].slot + 1
	}
}

// arm makes a rule of the crash that a choice has, for the length of its step.
func (o *Ordered) arm(c *Choice, it *waiting) {
	w := o.w
	w.hist.Reached = append(w.hist.Reached[:0], 0)
	w.match[0] = ruleState{next: nobody}
	if c.Crash == 0 {
		return
	}
	o.rule[0] = model.Rule{Action: model.Crash, Proc: c.Victim, Point: c.Crash,
		Scope: model.EveryEffect, N: c.Effect}
	if c.Effect <= w.hist.Extent.Effects[c.Victim] { // it has been reached, and is a call
		w.calls[it.call].chain = 0
		return
	}
	w.slots[c.Victim].watch(0, &o.rule[0])
}

// disarm forgets the rule.
func (o *Ordered) disarm(c *Choice) {
	if c.Crash == 0 {
		return
	}
	w := o.w
	if w.match[0].fired {
		o.left.Crashes--
	}
	w.slots[c.Victim].forgetRules()
	for i := range w.insts[:w.live] {
		w.insts[i].armed = nobody
	}
	for i := range w.calls {
		w.calls[i].chain = nobody
	}
}

// Finish ends the run, which must have come to where Choices is empty, and returns its history. It
// is valid until the next step or Undo. Undo undoes it like a step.
func (o *Ordered) Finish() *model.History {
	o.push(nil)
	w := o.w
	o.stores[model.External].from = -1 // it is not what is encoded: Undo restores it
	reason := model.Quiescent
	switch {
	case o.isOver:
		reason = model.RestartLoop
	case len(o.items) > 0:
		reason = model.TimeBound
	default:
		w.outlast()
	}
	w.readFinal()
	n := w.note(model.EntryEnd, happening{detail: reason.String()})
	w.hist.End = model.End{Reason: reason, N: n, At: w.now, Hash: w.trace.sum(),
		Draws: w.trace.draws}
	w.hist.Reached = w.hist.Reached[:0] // there are no rules
	w.hist.Extent.Input = w.hist.Extent.Input[:0]
	for i := range w.hist.Extent.Seen {
		w.hist.Extent.Seen[i] = w.hist.Extent.Seen[i][:0]
	}
	w.survey()
	return &w.hist
}

// Effects is how many numbered effects a process has carried out, over all lives.
func (o *Ordered) Effects(p model.ProcID) int64 { return o.w.hist.Extent.Effects[p] }

// Left is what is left of the budget.
func (o *Ordered) Left() Budget { return o.left }

// current is the life of a process, or nil.
func (o *Ordered) current(p model.ProcID) *instance {
	current := o.w.slots[p].current
	if current == nobody {
		return nil
	}
	return o.w.insts[current]
}

// transplant replaces what holds state by what is restored from its encoding.
func (o *Ordered) transplant() {
	w := o.w
	for i := range w.slots {
		if in := o.current(model.ProcID(i)); in != nil {
			in.proc = w.mode.New(w.job, w.slots[i].task)
			o.restoreProcess(in, &o.nodes[i])
		}
	}
	for i := range w.services {
		w.services[i] = w.newService(model.ServiceID(i))
		o.restoreService(model.ServiceID(i))
	}
}

// String names the kind.
func (k ChoiceKind) String() string {
	names := [...]string{"", "open", "deliver", "serve", "receive", "restart", "arrive", "fire"}
	if int(k) >= len(names) {
		panic(fmt.Sprintf("sim: choice of kind %d", uint8(k)))
	}
	return names[k]
}
