package checker

import "github.com/oncesim/oncesim/model"

// given is what the orders of all inputs under a key give of one entry.
type given struct {
	isSo     bool        // some order gives what it shows
	isOther  bool        // some order gives its identity with something else
	expected model.Value // the first such value
}

// nameValues reports the entries under a key that show what no order of its inputs gives, whatever
// else is wrong: another value than any order does, or something of an identity that none emits.
func (j *Judge) nameValues(op, cell int32) {
	if j.isRandom(op) || j.s.Shape == model.Keys {
		return // a choice, or what a row was in between, need not have come of one of these
	}
	f, list := &j.finder, j.flow.lists[op]
	j.open(op, query{})
	f.given, f.wanting = f.given[:0], 0
	for i := j.states.cells[cell].first; i > 0; i = list[i-1].next {
		j.add(i - 1)
		for e := list[i-1].shown; e > 0; e = j.seen.entries[e-1].later {
			f.given = append(f.given, given{})
			j.seen.entries[e-1].given = int32(len(f.given))
			f.wanting++
		}
	}
	f.quota = max(f.left/4, 2*len(list)+stepsSpare)
	f.left -= f.quota
	j.giveAll(cell)
	f.left += max(f.quota, 0)
	if f.spent || f.wanting == 0 {
		return
	}
	for i := j.states.cells[cell].first; i > 0; i = list[i-1].next {
		for e := list[i-1].shown; e > 0; e = j.seen.entries[e-1].later {
			j.reportGiven(e-1, &f.given[j.seen.entries[e-1].given-1])
		}
	}
}

func (j *Judge) reportGiven(entry int32, g *given) {
	switch {
	case g.isSo:
	case g.isOther:
		j.reportEntry(model.WrongValue, entry,
			model.Fact{Times: -1, Value: g.expected, HasValue: true})
	default:
		j.reportEntry(model.Phantom, entry, model.Fact{})
	}
}

// giveAll takes what is left in the lanes in every order and notes what that gives, until every
// entry has been given.
func (j *Judge) giveAll(cell int32) {
	f := &j.finder
	if f.wanting == 0 || j.isOver(0) {
		return
	}
	for lane, first := range f.lanes {
		if first == 0 || !f.pay() {
			continue
		}
		it, before := &j.flow.lists[f.op][first-1], j.states.cells[cell].current
		f.made, f.parts = f.made[:0], f.parts[:0]
		after := j.produce(1, it.task, it.rec, before, 0)
		j.give(it)
		f.lanes[lane] = it.lane
		f.change(cell, &j.states.cells[cell], after)
		j.giveAll(cell)
		f.change(cell, &j.states.cells[cell], before)
		f.lanes[lane] = first
	}
}

// give compares what was made of an item with what is visible of it.
func (j *Judge) give(it *item) {
	f := &j.finder
	for e := it.shown; e > 0; e = j.seen.entries[e-1].later {
		g, out := &f.given[j.seen.entries[e-1].given-1], &j.seen.list[e-1].Out
		for i := range f.made {
			switch m := &f.made[i]; {
			case g.isSo || !m.Same(*out):
			case *m == *out:
				g.isSo = true
				f.wanting--
			case !g.isOther:
				g.isOther, g.expected = true, m.Value
			}
		}
	}
}
