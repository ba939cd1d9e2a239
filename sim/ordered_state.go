package sim

import (
	"slices"

	"github.com/oncesim/oncesim/model"
)

// frame is what a step may change, as it was before. What only grows is kept as a length; processes
// and services are kept as encodings, of which a step makes those that it changed anew. Of lives a
// step changes that of its process, unless it is a restart, which may change all.
type frame struct {
	mark
	left           Budget
	made           made
	items          []waiting
	calls          []int64
	nodes          []node
	stores         [model.ServiceEnd]node
	effects        []int64
	next           []int64
	arrived        []int64
	asker          []int32
	pastTotal      sum
	pastLog        int
	now, number    int64
	attempt        int32
	isOver         bool
	live           int
	one            lifeMark // the life of its process
	all            []lifeMark
	call           callMark // what it is about
	chunks, last   int      // of the memory
	bytes, scripts int      // of the scratch
	final, msgs    int
	slots          []slotMark // a restart
}

// mark is how long the lists of a history are.
type mark struct{ lives, calls, servings, applications, observations int }

// slotMark is a slot as it was.
type slotMark struct {
	current, newest int32
	fails, used     int
	failedOn        model.Record
	begun           int32
}

// lifeMark is a life as it was, and its place.
type lifeMark struct {
	index   int32 // nobody: there is none
	self    model.Self
	proc    model.Process
	slot    int32
	waiting int32
	status  status
	cause   int64
	life    int32
	ended   int64
	how     model.LifeEnd
	reason  string
	place   slotMark
}

// callMark is a call as it was.
type callMark struct {
	index            int32 // nobody: there is none
	outcome          model.Outcome
	served, answered int64
	ans              model.Answer
	state            callState
}

func (o *Ordered) mark() mark {
	h := &o.w.hist
	return mark{len(h.Lives), len(h.Calls), len(h.Servings), len(h.Applications),
		len(h.Observations)}
}

// push keeps what the step that comes may change; nil: the end of the run.
func (o *Ordered) push(c *Choice) {
	if o.depth == len(o.frames) {
		o.frames = append(o.frames, frame{})
	}
	f, w := &o.frames[o.depth], o.w
	o.depth++
	f.mark, f.left, f.now, f.number, f.attempt = o.mark(), o.left, w.now, w.trace.n, w.attempt
	f.made, f.isOver, f.stores, f.final = o.made, o.isOver, o.stores, len(w.hist.Final)
	f.arrived, f.asker = append(f.arrived[:0], o.arrived...), append(f.asker[:0], o.asker...)
	f.items, f.calls = append(f.items[:0], o.items...), append(f.calls[:0], o.calls...)
	f.nodes = append(f.nodes[:0], o.nodes...)
	f.pastTotal, f.pastLog = o.past.total, len(o.past.log)
	f.effects = append(f.effects[:0], w.hist.Extent.Effects...)
	f.next = append(f.next[:0], w.reader.next...)
	f.bytes, f.scripts, f.msgs = len(o.scratch.bytes), len(o.scratch.effects), len(o.msgs)
	f.chunks, f.last = w.memory.Mark()
	f.live, f.one.index, f.call.index = w.live, nobody, nobody
	f.all, f.slots = f.all[:0], f.slots[:0]
	if c == nil {
		return
	}
	it := &o.items[c.item]
	if it.kind == itemServe || it.kind == itemAnswer {
		call := &w.hist.Calls[it.call]
		f.call = callMark{it.call, call.Outcome, call.Served, call.Answered, call.Ans,
			w.calls[it.call]}
	}
	if c.Kind != Open && c.Kind != Restart {
		f.one = o.lifeMark(it.inst)
		return
	}
	for i := range w.live {
		f.all = append(f.all, o.lifeMark(int32(i)))
	}
	for i := range w.slots {
		f.slots = append(f.slots, o.slotMark(int32(i)))
	}
}

func (o *Ordered) slotMark(i int32) slotMark {
	s := &o.w.slots[i]
	return slotMark{s.current, s.newest, s.fails, s.used, s.failedOn, o.w.hist.Extent.Lives[i]}
}

func (o *Ordered) restoreSlot(i int32, m *slotMark) {
	s := &o.w.slots[i]
	s.current, s.newest, s.fails, s.used, s.failedOn = m.current, m.newest, m.fails, m.used,
		m.failedOn
	o.w.hist.Extent.Lives[i] = m.begun
}

func (o *Ordered) lifeMark(index int32) lifeMark {
	in := o.w.insts[index]
	life := &o.w.hist.Lives[in.life]
	return lifeMark{index, in.self, in.proc, in.slot, in.waiting, in.status, in.cause, in.life,
		life.Ended, life.How, life.Reason, o.slotMark(in.slot)}
}

func (o *Ordered) restoreLife(m *lifeMark) {
	in, life := o.w.insts[m.index], &o.w.hist.Lives[m.life]
	in.self, in.proc, in.slot, in.life = m.self, m.proc, m.slot, m.life
	in.waiting, in.status, in.cause = m.waiting, m.status, m.cause
	in.held, in.counted, in.parked, in.armed = nobody, false, false, nobody
	in.inbox, in.head = in.inbox[:0], 0
	life.Ended, life.How, life.Reason = m.ended, m.how, m.reason
}

// Undo undoes the last step.
func (o *Ordered) Undo() {
	o.depth--
	f, w := &o.frames[o.depth], o.w
	o.left, w.now, w.trace.n, w.attempt = f.left, f.now, f.number, f.attempt
	o.made, o.isOver = f.made, f.isOver
	copy(o.arrived, f.arrived)
	copy(o.asker, f.asker)
	o.items, o.calls = append(o.items[:0], f.items...), append(o.calls[:0], f.calls...)
	o.past.undo(f.pastLog, f.pastTotal)
	o.msgs = o.msgs[:f.msgs]
	o.undoHistory(f)
	w.memory.Cut(f.chunks, f.last)
	o.undoLives(f)
	for i := range o.stores {
		if f.stores[i] != o.stores[i] {
			o.stores[i] = f.stores[i]
			o.restoreService(model.ServiceID(i))
		}
	}
	o.scratch.bytes = o.scratch.bytes[:f.bytes]
	o.scratch.effects = o.scratch.effects[:f.scripts]
}

func (o *Ordered) undoHistory(f *frame) {
	h, w := &o.w.hist, o.w
	h.Lives = h.Lives[:f.lives]
	h.Calls, h.Servings = h.Calls[:f.mark.calls], h.Servings[:f.servings]
	h.Applications = h.Applications[:f.applications]
	h.Observations = h.Observations[:f.observations]
	h.Final = h.Final[:f.final]
	copy(h.Extent.Effects, f.effects)
	copy(w.reader.next, f.next)
	w.calls = w.calls[:f.mark.calls]
	if m := &f.call; m.index != nobody {
		call := &h.Calls[m.index]
		call.Outcome, call.Served, call.Answered, call.Ans = m.outcome, m.served, m.answered, m.ans
		w.calls[m.index] = m.state
	}
}

// undoLives restores lives, and the processes that have changed.
func (o *Ordered) undoLives(f *frame) {
	w := o.w
	w.live = f.live
	for i := range f.slots {
		o.restoreSlot(int32(i), &f.slots[i])
	}
	for i := range f.all {
		o.restoreLife(&f.all[i])
	}
	if f.one.index != nobody {
		o.restoreSlot(f.one.slot, &f.one.place)
		o.restoreLife(&f.one)
	}
	for i := range o.nodes {
		if o.nodes[i] == f.nodes[i] {
			continue
		}
		o.nodes[i] = f.nodes[i]
		if in := o.current(model.ProcID(i)); in != nil {
			o.restoreProcess(in, &o.nodes[i])
		}
	}
}

// restoreProcess gives a life the process and the script that are kept in a node.
func (o *Ordered) restoreProcess(in *instance, n *node) {
	s := &o.scratch
	s.restore.Restore(s.bytes[n.from:n.to])
	in.proc.State(&s.restore)
	if left := s.restore.Left(); left != 0 {
		panic("sim: a process restores less than it has encoded")
	}
	in.script.Effects, in.next = append(in.script.Effects[:0],
		s.effects[n.effectFrom:n.effectTo]...), 0
}

func (o *Ordered) restoreService(id model.ServiceID) {
	s, n := &o.scratch, &o.stores[id]
	s.restore.Restore(s.bytes[n.from:n.to])
	o.w.services[id].State(&s.restore)
	if left := s.restore.Left(); left != 0 {
		panic("sim: a service restores less than it has encoded")
	}
}

// encodeChanged encodes what a step has changed: the process whose step it was, or all after a
// restart of the job, or the service.
func (o *Ordered) encodeChanged(c *Choice) {
	switch c.Kind {
	case Open:
		for i := range o.nodes {
			o.encode(i)
		}
	case Restart:
		for i := range o.nodes {
			if o.w.scope == model.RestartJob || i == int(c.Proc) {
				o.encode(i)
			}
		}
	case Serve:
		o.encodeService(c.Service)
		if c.Crash != 0 {
			o.encode(int(c.Proc))
		}
	default:
		o.encode(int(c.Proc))
	}
}

// encode encodes a process: its life, its state, and what is left of its script.
func (o *Ordered) encode(slot int) {
	s, n := &o.scratch, &o.nodes[slot]
	n.from, n.effectFrom = len(s.bytes), len(s.effects)
	n.sum = sumOf(0)
	sl := &o.w.slots[slot]
	n.sum.add(uint64(sl.fails), uint64(o.w.hist.Extent.Lives[slot]))
	if sl.fails > 0 {
		n.record(&sl.failedOn)
	}
	if in := o.current(model.ProcID(slot)); in != nil {
		s.encode.Reset()
		in.proc.State(&s.encode)
		s.bytes = append(s.bytes, s.encode.Bytes()...)
		n.bytes(s.encode.Bytes())
		in.script.Effects = slices.Delete(in.script.Effects, 0, in.next)
		in.next = 0
		s.effects = append(s.effects, in.script.Effects...)
		n.sum.add(uint64(in.self.Attempt)<<32|uint64(in.self.Life), in.self.Nonce)
		isBlocked := uint64(0)
		if in.waiting != nobody {
			isBlocked = 1
		}
		n.sum.add(isBlocked, uint64(len(in.script.Effects)))
		for i := range in.script.Effects {
			n.effect(&in.script.Effects[i])
		}
	}
	n.to, n.effectTo = len(s.bytes), len(s.effects)
}

func (o *Ordered) encodeService(id model.ServiceID) {
	s, n := &o.scratch, &o.stores[id]
	s.encode.Reset()
	o.w.services[id].State(&s.encode)
	n.from = len(s.bytes)
	s.bytes = append(s.bytes, s.encode.Bytes()...)
	n.to = len(s.bytes)
	n.sum = sumOf(0)
	n.bytes(s.encode.Bytes())
}
