package checker

import "github.com/oncesim/oncesim/model"

// consider says what of a table by key counts: all that it has shown, or only what it holds in the
// end. Of other sinks everything counts.
func (j *Judge) consider(lasts bool) {
	if f := &j.finder; f.lasts != lasts {
		f.lasts, f.grouped = lasts, 0
	}
}

// counted is the entry of a record that counts, plus one, or 0. Of repeated entries it is the
// first.
func (j *Judge) counted(slot int32) int32 {
	n := &j.nodes[slot]
	if !j.finder.lasts || n.last == 0 {
		return n.first
	}
	if j.seen.rows.list[j.seen.entries[n.last-1].row].final == n.last {
		return n.last
	}
	return 0
}

// demand makes an entry part of a search that demands that rows go forward.
func (j *Judge) demand(e int32) {
	f, s := &j.finder, &j.seen
	if !j.isInOrder(s.list[e-1].Out.Op) {
		return
	}
	s.entries[e-1].round = f.round
	r := &s.rows.list[s.entries[e-1].row]
	if r.round != f.round {
		r.round, r.next, r.ends = f.round, e, false
	}
	r.next = min(r.next, e)
	r.ends = r.ends || r.final == e
}

// isPassing reports whether an output may go unseen: its row does not yet hold what it holds in the
// end.
func (j *Judge) isPassing(item int32, out *model.Record, part int32) bool {
	f := &j.finder
	n := j.row(part, out)
	if n < 0 || j.seen.rows.list[n].final == 0 {
		return false
	}
	r := &j.seen.rows.list[n]
	if r.round == f.round && r.ends && r.next == 0 && j.isInOrder(out.Op) {
		f.fail(failure{why: stale, item: item, entry: r.final - 1, expected: out.Value})
		return false
	}
	return true
}

// isNextOfRow reports whether an entry is the one that its row must show next, and goes on to the
// one after it.
func (j *Judge) isNextOfRow(item, e int32) bool {
	f, s := &j.finder, &j.seen
	r := &s.rows.list[s.entries[e-1].row]
	if r.next != e {
		f.fail(failure{why: swapped, item: item, entry: e - 1})
		return false
	}
	r.next = s.entries[e-1].below
	for r.next > 0 && s.entries[r.next-1].round != f.round {
		r.next = s.entries[r.next-1].below
	}
	return true
}

// unread takes back what the step of an item has explained.
func (j *Judge) unread(item int32, before *marks) {
	f, s := &j.finder, &j.seen
	f.marks = *before
	if !f.tabled {
		return
	}
	for e := j.flow.lists[f.op][item].shown; e > 0; e = s.entries[e-1].later {
		r := &s.rows.list[s.entries[e-1].row]
		if s.entries[e-1].round == f.round && (r.next == 0 || e < r.next) {
			r.next = e
		}
	}
}

// onlyLast is what a row must hold in the end by the search made last, if there was but one order
// to try and the row is that of the key tried.
func (j *Judge) onlyLast(row *model.Record, part int32) (v model.Value, ok bool) {
	f := &j.finder
	if len(f.lanes) != 1 || len(f.cells) != 1 || j.isRandom(f.op) ||
		row.Key != j.recall.keys.list[j.states.cells[f.cells[0]].key] {
		return v, false
	}
	state := model.Value{}
	for i := f.lanes[0]; i > 0; i = j.flow.lists[f.op][i-1].lane {
		it := &j.flow.lists[f.op][i-1]
		f.made, f.parts = f.made[:0], f.parts[:0]
		state = j.produce(1, it.task, it.rec, state, 0)
		for n := range f.made {
			if m := &f.made[n]; m.Op == row.Op && m.Key == row.Key && f.parts[n] == part {
				v, ok = m.Value, true
			}
		}
	}
	return v, ok
}

// reportStale reports that a row holds what must have been replaced.
func (j *Judge) reportStale(entry int32) {
	o := &j.seen.list[entry]
	fact := model.Fact{Times: -1}
	fact.Value, fact.HasValue = j.onlyLast(&o.Out, o.Part)
	j.reportEntry(model.WrongValue, entry, fact)
}
