package checker

import (
	"slices"

	"github.com/oncesim/oncesim/model"
)

// demand is what a search demands of what is visible.
type demand uint8

const (
	nothing demand = iota
	subset         // of each step, what is visible is among what it emits
	exactly        // of each step, what is visible is what it emits
)

// query says what a search is for: an order of some inputs of an operator, first in first out on
// every channel, under which the operator explains what is visible and its state in the end.
type query struct {
	outputs demand
	ordered bool // what is visible was shown in the order of the steps
	state   bool // the state in the end is the one that counts
	skip    bool // a step of which nothing came may be left out
	resets  int  // how often the state may be emptied on the way
}

// stepsSpare is what a search may take besides trying one order of everything.
const stepsSpare = 1 << 6

// finder is a depth-first search over how far each channel has been taken and the states that
// result. Positions and states seen before are cut off by a 128-bit fingerprint.
type finder struct {
	left  int // operator steps that the property may still take
	quota int // that this search may: a quarter of what is left, so that one key does not take all
	spent bool

	query
	lasts   bool // of a table by key only what it holds in the end counts
	tabled  bool // the search demands that the rows of a table by key go forward
	op      int32
	round   int32
	grouped uint64 // operators whose items are linked to cells and entries, by bit
	strays  uint64 // those of them that something is visible of that does not belong there
	lanes   []int32
	tails   []int32
	cells   []int32
	orders  [model.HopsMax + 1][]uint64 // by terminal operator: entry<<32 | item, by first entry
	marks   marks
	taken   []int32
	nonces  []uint64 // of the lives that took the steps
	sum     uint64   // fingerprint of the states
	once    bool     // all orders give the same state: one will do
	known   table
	made    []model.Record
	parts   []int32 // of the sink, where these become visible
	deepest failure
	// A goal that shows again what has been shown, and its item; both plus one, 0: there is none.
	again, repeated int32
	given           []given // of the entries under the key that is asked about
	wanting         int     // so many of them have not been given
}

// marks say how far the entries of each terminal operator have been explained.
type marks [model.HopsMax + 1]struct {
	next int32 // in its order
	last int32 // the last entry of the steps taken, plus one
}

// failure is where a branch of a search ended. The deepest one names the anomaly.
type failure struct {
	why      why
	depth    int
	item     int32
	entry    int32
	expected model.Value
}

type why uint8

const (
	unknown why = iota
	missing     // the step emits something that is not visible
	extra       // something is visible that the step does not emit
	differs     // it emits another value
	swapped     // it was shown too early or too late
	stale       // the row holds something else in the end
	remains     // the state in the end is another
)

func (j *Judge) find() model.Result {
	f := &j.finder
	for _, order := range f.orders {
		slices.Sort(order)
	}
	f.open(len(j.flow.lists[f.op]))
	return f.close(j.explore(f.resets))
}

// open sets steps aside for one search among a number of inputs: a part of what is left, and
// always enough to try one order.
func (f *finder) open(inputs int) {
	f.quota = max(f.left/4, 2*inputs+stepsSpare)
	f.left -= f.quota
}

// close gives back what a search did not spend, and says what it came to.
func (f *finder) close(found bool) model.Result {
	f.left += max(f.quota, 0)
	switch {
	case found:
		return model.Holds
	case f.spent:
		return model.Undecided
	}
	return model.Violated
}

// explore reports whether what is left in the lanes can be taken in some order.
func (j *Judge) explore(resets int) bool {
	f := &j.finder
	if j.isEnd() {
		return true
	}
	if j.isOver(resets) {
		return false
	}
	for lane := range f.lanes {
		if f.lanes[lane] == 0 {
			continue
		}
		if j.takeFirst(lane, resets) || f.skip && j.skip(lane, resets) {
			return true
		}
	}
	return resets > 0 && j.empty(resets)
}

// isEnd reports whether everything is taken and the state is as demanded.
func (j *Judge) isEnd() bool {
	f := &j.finder
	for _, item := range f.lanes {
		if item > 0 {
			return false
		}
	}
	if !f.state {
		return true
	}
	for _, i := range f.cells {
		if c := &j.states.cells[i]; c.current != c.final(j.states.from).value {
			f.fail(failure{why: remains, item: c.first - 1, expected: c.current})
			return false
		}
	}
	return true
}

// isOver reports whether the branch need not be looked at: it has been, or the budget is spent.
func (j *Judge) isOver(resets int) bool {
	f := &j.finder
	if f.spent || f.once && f.deepest.why == remains {
		return true
	}
	place := uint64(resets)
	for lane, item := range f.lanes {
		place += model.Mix(uint64(item)^hashA, uint64(lane)^hashB)
	}
	_, fresh := f.known.number(place, f.sum)
	return !fresh
}

// takeFirst takes the first item of a lane. The step of an operator that is not deterministic is
// that of one of the lives that claim to have taken it; if there is none, it cannot be taken.
func (j *Judge) takeFirst(lane, resets int) bool {
	f := &j.finder
	if !j.isRandom(f.op) {
		return j.take(lane, resets, 0)
	}
	i := f.lanes[lane] - 1
	rec := j.flow.lists[f.op][i].rec
	first := j.nodes[j.slot(rec.ID, f.op, rec.Path)].claim
	isTaken := false
	for n := first; n > 0; n = j.claims.list[n-1].next {
		c := &j.claims.list[n-1]
		if c.aside {
			continue
		}
		isTaken = true
		if !j.isTried(first, n) && j.take(lane, resets, c.nonce) {
			return true
		}
	}
	if !isTaken {
		f.fail(failure{why: missing, item: i})
	}
	return false
}

// isTried reports whether a claim before n, from first on, is of a life with the same nonce.
func (j *Judge) isTried(first, n int32) bool {
	for i := first; i != n; i = j.claims.list[i-1].next {
		c := &j.claims.list[i-1]
		if !c.aside && c.nonce == j.claims.list[n-1].nonce {
			return true
		}
	}
	return false
}

// take takes the first item of a lane in a life with a nonce and goes on from there.
func (j *Judge) take(lane, resets int, nonce uint64) bool {
	f := &j.finder
	i := f.lanes[lane] - 1
	it := &j.flow.lists[f.op][i]
	if !f.pay() {
		return false
	}
	if f.ordered && !f.tabled && !j.isNext(i) {
		return false
	}
	cell := &j.states.cells[it.cell]
	before, marks := cell.current, f.marks
	f.made, f.parts = f.made[:0], f.parts[:0]
	after := j.produce(1, it.task, it.rec, before, nonce)
	if f.outputs != nothing && !j.explains(i) {
		j.unread(i, &marks)
		return false
	}
	f.change(it.cell, cell, after)
	f.lanes[lane] = it.lane
	f.taken, f.nonces = append(f.taken, i), append(f.nonces, nonce)
	if j.explore(resets) {
		return true
	}
	f.lanes[lane] = i + 1
	f.taken, f.nonces = f.taken[:len(f.taken)-1], f.nonces[:len(f.nonces)-1]
	j.unread(i, &marks)
	f.change(it.cell, &j.states.cells[it.cell], before)
	return false
}

// isNext reports whether nothing that was shown before the outputs of an item's step is still to
// be explained.
func (j *Judge) isNext(i int32) bool {
	f := &j.finder
	for e := j.flow.lists[f.op][i].shown; e > 0; e = j.seen.entries[e-1].later {
		op := j.seen.list[e-1].Out.Op
		if j.isInOrder(op) && int32(f.orders[op][f.marks[op].next]) != i {
			f.fail(failure{why: swapped, item: i, entry: e - 1})
			return false
		}
	}
	return true
}

// pay counts a step; it reports whether the budget allows it.
func (f *finder) pay() bool {
	f.quota--
	f.spent = f.spent || f.quota < 0
	return !f.spent
}

// skip leaves out the first item of a lane.
func (j *Judge) skip(lane, resets int) bool {
	f := &j.finder
	item := f.lanes[lane]
	it := &j.flow.lists[f.op][item-1]
	if j.nodes[j.slot(it.rec.ID, f.op, it.rec.Path)].passed || !f.pay() {
		return false
	}
	f.lanes[lane] = it.lane
	if j.explore(resets) {
		return true
	}
	f.lanes[lane] = item
	return false
}

// empty empties the states, as a restart does where state is in memory.
func (j *Judge) empty(resets int) bool {
	f := &j.finder
	if f.sum == 0 || len(f.cells) != 1 {
		return false
	}
	cell := &j.states.cells[f.cells[0]]
	before := cell.current
	f.change(f.cells[0], cell, model.Value{})
	if j.explore(resets - 1) {
		return true
	}
	f.change(f.cells[0], cell, before)
	return false
}

// change gives a cell a value and keeps the fingerprint in step: it is 0 while all are empty.
func (f *finder) change(n int32, c *cell, v model.Value) {
	f.sum += fingerprint(n, v) - fingerprint(n, c.current)
	c.current = v
}

func fingerprint(cell int32, v model.Value) uint64 {
	return model.Mix(model.HashText(v.Text)^uint64(cell), uint64(v.Num)^hashB)
}

// fail remembers the failure that was reached last on the longest way.
func (f *finder) fail(why failure) {
	why.depth = len(f.taken)
	if why.depth > f.deepest.depth {
		f.deepest = why
	}
}

// explains reports whether what was made explains what is visible of an item's step.
func (j *Judge) explains(i int32) bool {
	f := &j.finder
	found := 0
	for n := range f.made {
		m := &f.made[n]
		first := j.counted(j.slot(m.ID, m.Op, m.Path))
		if first == 0 && (f.outputs == subset || f.tabled && j.isPassing(i, m, f.parts[n])) {
			continue
		}
		if first == 0 {
			f.fail(failure{why: missing, item: i})
			return false
		}
		found++
		if o := &j.seen.list[first-1].Out; (o.Value != m.Value || o.Key != m.Key) &&
			!j.isRepeated(first, m) {
			f.fail(failure{why: differs, item: i, entry: first - 1, expected: m.Value})
			return false
		}
		if !j.isInOrder(m.Op) {
			continue
		}
		if f.tabled {
			if !j.isNextOfRow(i, first) {
				return false
			}
			continue
		}
		mark := &f.marks[m.Op]
		if first < mark.last {
			f.fail(failure{why: swapped, item: i, entry: first - 1})
			return false
		}
		mark.last = first
		if order := f.orders[m.Op]; int(mark.next) < len(order) && int32(order[mark.next]) == i {
			mark.next++
		}
	}
	return j.isAll(i, found)
}

// isRepeated reports whether a later entry of the same identity shows what the step of an operator
// that is not deterministic emits: of several attempts that are visible, any may be the one.
func (j *Judge) isRepeated(first int32, m *model.Record) bool {
	f := &j.finder
	return !f.tabled && j.isRandom(f.op) && j.isEntry(j.seen.entries[first-1].slot, m)
}

// isAll reports whether the entries found are all that is visible of an item's step.
func (j *Judge) isAll(i int32, found int) bool {
	f := &j.finder
	for e := j.flow.lists[f.op][i].shown; e > 0; e = j.seen.entries[e-1].later {
		found--
	}
	if found >= 0 {
		return true
	}
	for e := j.flow.lists[f.op][i].shown; e > 0; e = j.seen.entries[e-1].later {
		if !slices.ContainsFunc(f.made, j.seen.list[e-1].Out.Same) {
			f.fail(failure{why: extra, item: i, entry: e - 1})
		}
	}
	return false
}
