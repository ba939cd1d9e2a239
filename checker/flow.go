package checker

import "github.com/oncesim/oncesim/model"

// flow is one failure-free execution, worked out operator by operator: what reaches each operator
// over which channel, what it emits, and what becomes visible of it.
//
// Only the order in which stateful operators take their inputs is free. It is handed in as a
// witness, found in the claims or by a search, and checked here: complete, each input once, first
// in first out on every channel. Operators without state are transparent: what they emit keeps
// the order of the channel that it came by. In which order they merge channels is found out only
// where all else is right, see merges.
type flow struct {
	done  bool
	from  source
	found bool // the witness was found by a search, not in the claims

	lists [][]item       // by operator: its inputs; those of one channel are in order
	made  []model.Record // what items are of that are neither input nor remembered
	lanes table          // (channel, task) → number in chans
	near  [64]nearby     // the channels asked for last
	chans []channel
	order []int32    // the witness: items of one operator
	taken [][]int32  // by operator: witnesses found by searches
	drawn [][]uint64 // the nonce of each step of these
	lost  []model.ID // input records without state on their way, of which something is missing
	wrong []mistake  // entries without state on their way that are not what is expected
	swaps int        // entries that were shown before others that precede them on their channel
	rank  int32      // of the output that is expected next

	rows   precedence // of a table by key
	merges merges

	whole   bool // each stateful operator has a complete and legal witness
	matched int  // entries that the flow explains
	visible bool // what is visible is exactly what the flow emits, in order
	state   bool // the state is the one that counts
}

// mistake is an entry that should have had another value, or been in another partition.
type mistake struct {
	entry    int32
	expected model.Value
}

// item is an input of an operator, and where it comes in.
type item struct {
	rec   *model.Record
	task  int32
	chann int32  // one for each way of channels from a partition, or from a stateful task, to here
	cell  int32  // the state it meets; -1: none or not known yet
	nonce uint64 // of the life that takes its step in the witness
	merge int32  // the last step on its way of a task that merges channels, plus one

	next  int32 // search: the next item of the same cell, plus one
	lane  int32 // search: the next item of the same channel, plus one
	shown int32 // search: the first visible entry of its step, plus one
	final int32 // search: the last one, plus one
}

// channel is a virtual channel: a path of tasks without state.
type channel struct {
	from  int32 // the channel that it goes on, or -1
	task  int32 // through which it goes
	item  int32 // the last item taken from it, plus one
	entry int32 // the last entry shown of it, plus one
	out   int32 // the last output of it, plus one
	lane  int32 // search: its lane, plus one
	round int32 // search: in which that is so
}

// fold works out the execution whose witness is in the claims: the steps in the provenance of the
// final state, in the order in which they were claimed.
func (j *Judge) fold(from source) *flow {
	f := &j.flow
	if j.plan.stateful {
		j.trace(from)
	}
	if f.done && f.from == from && !f.found {
		return f
	}
	f.done, f.from, f.found = true, from, false
	j.run()
	return f
}

// refold works out the execution whose witnesses have been found by searches.
func (j *Judge) refold() *flow {
	j.flow.found = true
	j.run()
	return &j.flow
}

func (j *Judge) run() {
	f := &j.flow
	j.look()
	j.clearFlow()
	for part := range int32(j.plan.parts) {
		records := j.s.Input.Parts[part].Records
		source := &j.plan.job.Tasks[part]
		channel := j.channel(-1, part)
		for i := range records {
			j.route(source, &records[i], channel, 0)
		}
	}
	for op := int32(1); op <= j.plan.ops; op++ {
		j.pass(op)
	}
	f.visible = f.whole && f.matched == j.seen.kept && len(f.lost) == 0 && f.swaps == 0
	if j.s.Shape == model.Keys {
		f.visible = f.whole && j.completed && j.seen.fake == 0 && j.fits(false)
	}
	f.state = f.whole
	for i := range j.states.cells {
		c := &j.states.cells[i]
		f.state = f.state && c.current == c.final(f.from).value
	}
}

func (j *Judge) clearFlow() {
	f := &j.flow
	for len(f.lists) < int(j.plan.ops)+1 {
		f.lists, f.taken = append(f.lists, nil), append(f.taken, nil)
		f.drawn = append(f.drawn, nil)
	}
	for op := range f.lists {
		f.lists[op] = f.lists[op][:0]
	}
	f.lanes.reset()
	f.near = [len(f.near)]nearby{}
	f.made = f.made[:0]
	f.chans, f.lost, f.wrong = f.chans[:0], f.lost[:0], f.wrong[:0]
	f.swaps, f.rank = 0, 0
	f.whole, f.matched = true, 0
	f.rows.outs = f.rows.outs[:0]
	f.merges.reset()
	j.finder.grouped = 0
	for i := range j.seen.entries {
		j.seen.entries[i].chann = 0
	}
	for i := range j.nodes {
		j.nodes[i].item, j.nodes[i].expected, j.nodes[i].passed = 0, false, false
	}
	for i := range j.states.cells {
		j.states.cells[i].current = model.Value{}
	}
}

// channel numbers the channel from a channel, or from the beginning (-1), through a task.
func (j *Judge) channel(from, task int32) int32 {
	f := &j.flow
	near := &f.near[uint32(from*7+task)%uint32(len(f.near))]
	if near.from == from && near.task == task && near.next > 0 {
		return near.next - 1
	}
	n, fresh := f.lanes.number(uint64(uint32(from)), uint64(task))
	if fresh {
		f.chans = append(f.chans, channel{from: from, task: task})
	}
	*near = nearby{from, task, n + 1}
	return n
}

// nearby is the channel from a channel through a task, plus one.
type nearby struct{ from, task, next int32 }

// route sends a record along every route of a task, behind a step that merged channels. The record
// stays where it is.
func (j *Judge) route(task *model.Task, rec *model.Record, chann, merge int32) {
	for route := range task.Routes {
		next := j.receiver(task, route, rec)
		if next.Role == model.Sink {
			j.expect(rec, chann, merge, next.Part)
			continue
		}
		it := item{rec: rec, task: int32(next.Proc), chann: j.channel(chann, int32(next.Proc)),
			cell: -1, merge: merge}
		if next.Op == 1 && j.plan.single {
			j.pour(1, &it) // its outputs come in the order of its inputs: no need to keep these
			continue
		}
		j.flow.lists[next.Op] = append(j.flow.lists[next.Op], it)
	}
}

// pour routes what an operator without state emits on an item.
func (j *Judge) pour(op int32, it *item) {
	records, isKept := j.pure(0, op, j.slot(it.rec.ID, op, it.rec.Path), it.rec)
	j.emit(op, it, records, isKept, it.chann, j.merged(op, it))
}

// pass takes all inputs of an operator and routes what it emits.
func (j *Judge) pass(op int32) {
	f := &j.flow
	list := f.lists[op]
	if !j.plan.stages[op].stateful {
		for i := range list {
			j.pour(op, &list[i])
		}
		return
	}
	if !j.witness(op) {
		f.whole = false
		return
	}
	for at, i := range f.order {
		f.merges.taken = f.mark(f.merges.taken, int32(at), list[i].merge, list[i].chann, 0)
		cell := &j.states.cells[list[i].cell]
		value, records := j.step(0, op, list[i].rec, cell.current, list[i].nonce)
		cell.current = value
		j.emit(op, &list[i], records, false, j.channel(-1, list[i].task), 0)
	}
}

// emit routes what the step on an item emits. Records that are not kept are copied, unless they
// become visible at once.
func (j *Judge) emit(op int32, it *item, records []model.Record, isKept bool, chann, merge int32) {
	task, f := &j.plan.job.Tasks[it.task], &j.flow
	if !isKept && !j.plan.stages[op].terminal {
		from := len(f.made)
		f.made = append(f.made, records...)
		records = f.made[from:]
	}
	for i := range records {
		j.route(task, &records[i], chann, merge)
	}
}

// expect looks for an output among what is visible.
func (j *Judge) expect(out *model.Record, chann, merge, part int32) {
	slot := j.slot(out.ID, out.Op, out.Path)
	n := &j.nodes[slot]
	if merge > 0 && n.first > 0 {
		j.show(n.first-1, merge, chann, part)
	}
	if j.s.Shape == model.Keys {
		j.expectRow(out, chann, merge, part)
		return
	}
	f := &j.flow
	n.expected = true
	pure := j.plan.of(out.Op, out.ID.Part).owner == 0
	if n.times == 0 {
		f.matched--
		if pure {
			f.lost = append(f.lost, out.ID)
		}
		return
	}
	right := true
	for i := n.first; i > 0; i = j.seen.entries[i-1].next {
		o := &j.seen.list[i-1]
		if o.Out.Value == out.Value && o.Out.Key == out.Key && o.Part == part {
			continue
		}
		right = right && i != n.first
		if pure {
			f.wrong = append(f.wrong, mistake{i - 1, out.Value})
		}
	}
	if !right {
		return
	}
	if pure {
		f.rank++
		j.seen.entries[n.first-1].chann, j.seen.entries[n.first-1].rank = chann+1, f.rank
	}
	if n.first < f.chans[chann].entry {
		f.swaps++
	}
	f.chans[chann].entry = max(f.chans[chann].entry, n.first)
	f.matched++
}

// witness fills f.order for an operator; it reports whether the order is complete and legal.
func (j *Judge) witness(op int32) bool {
	f := &j.flow
	f.order = f.order[:0]
	if f.found {
		if len(f.taken[op]) != len(f.lists[op]) {
			return false
		}
		f.order = append(f.order, f.taken[op]...)
	} else if !j.claimed(op) {
		return false
	}
	for at, i := range f.order {
		it := &f.lists[op][i]
		if f.found {
			it.nonce = f.drawn[op][at]
			it.cell = j.states.cell(op, j.key(it.rec))
		}
		if i < f.chans[it.chann].item {
			return false
		}
		f.chans[it.chann].item = i + 1
	}
	return true
}

// claimed takes the order of an operator from the claims: those in the provenance of the final
// state, if they are each of its inputs once.
func (j *Judge) claimed(op int32) bool {
	f := &j.flow
	list := f.lists[op]
	for i := range list {
		rec := list[i].rec
		j.nodes[j.slot(rec.ID, op, rec.Path)].item = int32(i + 1)
	}
	for i := range j.claims.list {
		c, app := &j.claims.list[i], &j.h.Applications[i]
		if !c.folded || app.Op != op {
			continue
		}
		n := j.nodes[c.slot]
		if n.item == 0 || n.folded != 1 || int32(app.Proc) != list[n.item-1].task ||
			app.In.Key != list[n.item-1].rec.Key || app.In.Value != list[n.item-1].rec.Value {
			return false
		}
		list[n.item-1].cell, list[n.item-1].nonce = c.cell, c.nonce
		f.order = append(f.order, n.item-1)
	}
	return len(f.order) == len(list)
}
