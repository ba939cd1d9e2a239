package checker

import "github.com/oncesim/oncesim/model"

// seen is what readers saw, by identity. Of a table by key it is all that was shown: what the table
// holds in the end is the last of each row. What follows another value of the same identity in its
// row, in a table of either kind, replaces that.
type seen struct {
	done    bool
	list    []model.Observation // Final of a completed run, else what was seen so far
	table   []model.Observation // memory for a list of its own, of tables
	past    []past
	rows    rows
	entries []entry     // of each in the list
	parts   []shownPart // by partition
	fake    int         // entries that no input and no operator accounts for
	repeats int         // entries beyond the first of their identity
	matched bool        // entries have been matched with claims
	kept    int         // entries counted: not read a second time
	stays   bool        // it is known that nothing that was shown has vanished
}

// shownPart is what is visible of one partition. Links are to entries, plus one.
type shownPart struct {
	below       int64 // places below this one have been counted
	first, last int32
	cursor      int32
}

// entry is one visible record.
type entry struct {
	slot  int32 // noSlot: no identity of a visible record
	next  int32 // the next entry of the same identity, plus one
	claim int32 // a valid claim that emits it, plus one
	twice bool  // the reader saw the same place before; it counts once, and this one has no slot
	along int32 // the next entry of the same partition, plus one
	chann int32 // the channel that orders it, plus one; 0: not known
	rank  int32 // on that channel
	later int32 // search: the next entry of the same step, plus one
	row   int32 // table by key: its row
	below int32 // table by key: the next entry of its row, plus one
	round int32 // search: in which it takes part
	out   int32 // flow: the output that it shows, plus one
	given int32 // search: what orders give of it, plus one
}

// look counts what is visible, once a subject.
func (j *Judge) look() {
	s := &j.seen
	if s.done {
		return
	}
	s.done = true
	s.list = j.h.Observations
	switch {
	case j.s.Shape == model.Keys, j.s.Shape == model.Rows && !j.completed:
		s.table = append(s.table[:0], j.h.Observations...)
		s.list = s.table
	case j.completed:
		s.list = j.h.Final
	}
	s.entries, s.parts, s.past = s.entries[:0], s.parts[:0], s.past[:0]
	s.rows.reset()
	s.fake, s.repeats, s.kept, s.matched, s.stays = 0, 0, 0, false, false
	for i := range s.list {
		s.entries = append(s.entries, entry{slot: noSlot})
		if j.isNew(int32(i), &s.list[i]) {
			j.count(int32(i), &s.list[i])
		} else {
			s.entries[i].twice = true
		}
	}
	if j.s.Shape == model.Keys && j.completed {
		j.countFinal()
	}
	if j.s.Shape != model.Log {
		j.remember()
	}
}

// isNew reports whether an observation is neither read a second time nor replaces what its row
// held.
func (j *Judge) isNew(i int32, o *model.Observation) bool {
	s := &j.seen
	if !s.advance(i, o) {
		if j.s.Shape == model.Rows {
			s.replace(s.place(o.Part, o.Seq), o)
		}
		return false
	}
	if j.s.Shape != model.Keys {
		return true
	}
	n := s.rows.number(o, j.key(&o.Out))
	if r := &s.rows.list[n]; s.replace(r.last-1, o) {
		return false
	}
	s.link(i, n)
	return true
}

func (j *Judge) count(i int32, o *model.Observation) {
	s := &j.seen
	s.kept++
	slot := j.shownSlot(&o.Out)
	s.entries[i].slot = slot
	if slot == noSlot {
		s.fake++
		return
	}
	n := &j.nodes[slot]
	if n.times > 0 {
		s.entries[n.last-1].next = i + 1
		s.repeats++
	} else {
		n.first = i + 1
	}
	n.last = i + 1
	n.times++
}

// advance reports whether entry i is of a place not read before, and remembers it.
func (s *seen) advance(i int32, o *model.Observation) bool {
	if o.Part < 0 {
		return true
	}
	for int(o.Part) >= len(s.parts) {
		s.parts = append(s.parts, shownPart{})
	}
	part := &s.parts[o.Part]
	if o.Seq < part.below {
		return false
	}
	part.below = o.Seq + 1
	if part.first == 0 {
		part.first = i + 1
	} else {
		s.entries[part.last-1].along = i + 1
	}
	part.last = i + 1
	return true
}

// place is the entry at a place of a partition, or -1. It goes on from the place asked for last.
func (s *seen) place(part int32, seq int64) int32 {
	if part < 0 || int(part) >= len(s.parts) {
		return -1
	}
	p := &s.parts[part]
	if p.cursor == 0 || s.list[p.cursor-1].Seq > seq {
		p.cursor = p.first
	}
	for p.cursor > 0 && s.list[p.cursor-1].Seq < seq {
		p.cursor = s.entries[p.cursor-1].along
	}
	if p.cursor == 0 || s.list[p.cursor-1].Seq != seq {
		return -1
	}
	return p.cursor - 1
}

// shownSlot is the slot of a record that a terminal operator may emit, or noSlot.
func (j *Judge) shownSlot(rec *model.Record) int32 {
	slot := j.slot(rec.ID, rec.Op, rec.Path)
	if slot == noSlot || !j.plan.stages[rec.Op].terminal ||
		j.plan.of(rec.Op, rec.ID.Part).ways == 0 {
		return noSlot
	}
	return slot
}

// stepSlot is the slot of the step of operator op on the way to a visible record. Each hop after
// op has its own ordinal in the path, and so has op.
func (j *Judge) stepSlot(rec *model.Record, op int32) int32 {
	hops := j.plan.of(rec.Op, rec.ID.Part).depth - j.plan.of(op, rec.ID.Part).depth + 1
	return j.slot(rec.ID, op, rec.Path>>(model.PathBits*hops))
}

// reportFakes reports what is visible and of no input or of no operator that feeds the sink.
func (j *Judge) reportFakes() {
	if j.seen.fake == 0 {
		return
	}
	for i := range j.seen.entries {
		if e := &j.seen.entries[i]; e.slot == noSlot && !e.twice {
			j.reportEntry(model.Phantom, int32(i), model.Fact{})
		}
	}
}

// reportRepeats reports what is visible more than once. A row of a table by key that shows it again
// goes back.
func (j *Judge) reportRepeats() {
	if j.seen.repeats == 0 {
		return
	}
	for i := range j.seen.entries {
		e := &j.seen.entries[i]
		if e.slot == noSlot || j.nodes[e.slot].first != int32(i+1) || j.nodes[e.slot].times == 1 {
			continue
		}
		first := &j.seen.list[i]
		a := model.Anomaly{Kind: model.Duplicate, Record: first.Out,
			Expected: model.Fact{Times: 1},
			Observed: model.Fact{Times: int64(j.nodes[e.slot].times)}}
		second := &j.seen.list[e.next-1]
		if j.s.Shape == model.Keys && e.row == j.seen.entries[e.next-1].row {
			a.Kind = model.Regression
		}
		a.Observed.Value, a.Observed.HasValue = first.Out.Value, true
		if second.Out.Value != first.Out.Value {
			a.Observed.Other, a.Observed.HasOther = second.Out.Value, true
		}
		j.citeEntry(&a, int32(i))
		j.citeEntry(&a, e.next-1)
		j.Report(a)
	}
}

// reportEntry reports an anomaly of one visible entry.
func (j *Judge) reportEntry(kind model.AnomalyKind, i int32, expected model.Fact) {
	o := &j.seen.list[i]
	a := model.Anomaly{Kind: kind, Record: o.Out, Expected: expected,
		Observed: model.Fact{Times: -1, Value: o.Out.Value, HasValue: true}}
	if kind == model.Phantom {
		a.Observed.Times = 1
	}
	j.citeEntry(&a, i)
	j.Report(a)
}

// citeEntry cites the write that made an entry, and the observation of it.
func (j *Judge) citeEntry(a *model.Anomaly, i int32) {
	o := &j.seen.list[i]
	a.Cite(j.writeOf(o))
	a.Cite(o.N)
}
