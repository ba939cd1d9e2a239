package checker

import "github.com/oncesim/oncesim/model"

// group links the items of an operator to the cells that they meet and to what is visible of
// their steps. The operator's inputs must depend on no order.
func (j *Judge) group(op int32) {
	f := &j.finder
	if f.grouped&(1<<op) != 0 {
		return
	}
	f.grouped |= 1 << op
	f.strays &^= 1 << op
	for i := range j.states.cells {
		if c := &j.states.cells[i]; c.op == op {
			c.first, c.last, c.items = 0, 0, 0
		}
	}
	list := j.flow.lists[op]
	for i := range list {
		it := &list[i]
		j.nodes[j.slot(it.rec.ID, op, it.rec.Path)].item = int32(i + 1)
		it.cell = j.states.cell(op, j.key(it.rec))
		c := &j.states.cells[it.cell]
		it.next, it.shown, it.final = 0, 0, 0
		if c.first == 0 {
			c.first = int32(i + 1)
		} else {
			list[c.last-1].next = int32(i + 1)
		}
		c.last = int32(i + 1)
		c.items++
	}
	for i := range j.seen.entries {
		j.attach(op, int32(i))
	}
}

// attach links an entry to the item of op whose step it shows, if op is the only operator with
// state on its way, and if the entry counts.
func (j *Judge) attach(op, i int32) {
	e, rec := &j.seen.entries[i], &j.seen.list[i].Out
	if e.slot == noSlot || !j.isThrough(op, rec) {
		return
	}
	step := j.stepSlot(rec, op)
	j.nodes[step].passed = true
	n := j.nodes[step].item
	if !j.isOwn(op, rec) {
		return
	}
	if j.isStray(op, i, n) {
		j.finder.strays |= 1 << op
	}
	if n == 0 || j.counted(e.slot) != i+1 {
		return
	}
	it := &j.flow.lists[op][n-1]
	e.later = 0
	if j.plan.stages[op].straight&(1<<rec.Op) != 0 {
		way := int32(len(j.plan.job.Tasks)) + rec.Op // beside those of the tasks
		e.chann, e.rank = j.channel(it.chann, way)+1, n
	}
	if it.shown == 0 {
		it.shown = i + 1
	} else {
		j.seen.entries[it.final-1].later = i + 1
	}
	it.final = i + 1
}

// isThrough reports whether a visible record came through an operator.
func (j *Judge) isThrough(op int32, rec *model.Record) bool {
	at := rec.Op
	for at > op {
		at = j.plan.of(at, rec.ID.Part).parent
	}
	return at == op
}

// isOwn reports whether op is the only operator with state on the way to a visible record.
func (j *Judge) isOwn(op int32, rec *model.Record) bool {
	l := j.plan.of(rec.Op, rec.ID.Part)
	return l.owner == op && l.folds == 1
}

// findCell searches for an order of the inputs under one key.
func (j *Judge) findCell(op, cell int32, q query) model.Result {
	j.open(op, q)
	list := j.flow.lists[op]
	for i := j.states.cells[cell].first; i > 0; i = list[i-1].next {
		j.add(i - 1)
	}
	return j.find()
}

// findTask searches for an order of all inputs of one task.
func (j *Judge) findTask(op, task int32, q query) model.Result {
	j.open(op, q)
	for i := range j.flow.lists[op] {
		if j.flow.lists[op][i].task == task {
			j.add(int32(i))
		}
	}
	return j.find()
}

func (j *Judge) open(op int32, q query) {
	f := &j.finder
	f.query, f.op, f.spent = q, op, false
	f.tabled = q.ordered && j.s.Shape == model.Keys
	f.once = j.plan.stages[op].operator.Kind == model.Commutative && !q.skip
	f.round++
	f.lanes, f.tails, f.cells = f.lanes[:0], f.tails[:0], f.cells[:0]
	f.marks = marks{}
	for i := range f.orders {
		f.orders[i] = f.orders[i][:0]
	}
	f.taken, f.nonces, f.sum = f.taken[:0], f.nonces[:0], 0
	f.known.reset()
	f.deepest = failure{depth: -1}
}

// add makes an item part of the search; items of one channel are added in order.
func (j *Judge) add(i int32) {
	f := &j.finder
	list := j.flow.lists[f.op]
	it := &list[i]
	it.lane = 0
	ch := &j.flow.chans[it.chann]
	if ch.round != f.round {
		ch.round, ch.lane = f.round, int32(len(f.lanes))
		f.lanes, f.tails = append(f.lanes, i+1), append(f.tails, i+1)
	} else {
		list[f.tails[ch.lane]-1].lane = i + 1
		f.tails[ch.lane] = i + 1
	}
	for e := it.shown; e > 0; e = j.seen.entries[e-1].later {
		if f.tabled {
			j.demand(e)
			continue
		}
		if op := j.seen.list[e-1].Out.Op; j.isInOrder(op) && !f.has(op, i) {
			f.orders[op] = append(f.orders[op], uint64(e)<<32|uint64(i))
		}
	}
	c := &j.states.cells[it.cell]
	if c.round != f.round {
		c.round, c.current = f.round, model.Value{}
		f.cells = append(f.cells, it.cell)
	}
}

// isInOrder reports whether the search demands that what a terminal operator shows was shown in the
// order of the steps.
func (j *Judge) isInOrder(terminal int32) bool {
	return j.finder.ordered && j.plan.stages[j.finder.op].straight&(1<<terminal) != 0
}

// has reports whether an item is the last one added to an order.
func (f *finder) has(terminal, item int32) bool {
	order := f.orders[terminal]
	return len(order) > 0 && int32(order[len(order)-1]) == item
}

// produce appends to made what becomes visible of one step of a task, and to parts where: what it
// emits itself, or what operators without state make of that.
func (j *Judge) produce(level int, task int32, rec *model.Record, state model.Value,
	nonce uint64) model.Value {
	me := &j.plan.job.Tasks[task]
	value, records := state, []model.Record(nil)
	if j.plan.stages[me.Op].stateful {
		value, records = j.step(level, me.Op, rec, state, nonce)
	} else {
		records, _ = j.pure(level, me.Op, j.slot(rec.ID, me.Op, rec.Path), rec)
	}
	for i := range records {
		for route := range me.Routes {
			next := j.receiver(me, route, &records[i])
			switch {
			case next.Role == model.Sink:
				j.finder.made = append(j.finder.made, records[i])
				j.finder.parts = append(j.finder.parts, next.Part)
			case !j.plan.stages[next.Op].stateful:
				j.produce(level+1, int32(next.Proc), &records[i], model.Value{}, 0)
			}
		}
	}
	return value
}
