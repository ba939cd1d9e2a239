package checker

import "github.com/oncesim/oncesim/model"

// past is what a table showed and what has been replaced: a value of an identity that is visible,
// or has been, with other values only.
type past struct {
	seen int32 // in History.Observations
	next int32 // the one of the same identity before it, plus one
}

// rows are the rows of a table by key.
type rows struct {
	index table // (partition and operator, key) → row
	list  []row
	lanes table   // (row, source partition and way) → furthest
	far   []int32 // the entry of a row that is furthest on one way, plus one
	known bool    // lanes have been worked out
}

// row is a row of a table by key. Links are entries, plus one.
type row struct {
	first, last int32 // in the order shown
	final       int32 // what it holds in the end; 0: nothing, or the run is not completed
	lanes       int32 // how many ways what it has shown came by
	round       int32 // search: in which it takes part
	next        int32 // search: what is to be explained next
	ends        bool  // search: what it holds in the end is among what is to be explained
	count       int32 // flow: outputs of the row not yet placed
	held        int32 // flow: the output that it holds in the end, plus one
}

func (r *rows) reset() {
	r.index.reset()
	r.lanes.reset()
	r.list, r.far, r.known = r.list[:0], r.far[:0], false
}

// number returns the row of an observation, under a key of a number, and makes it if it is new.
func (r *rows) number(o *model.Observation, key int32) int32 {
	n, fresh := r.index.number(uint64(uint32(o.Part))<<32|uint64(uint32(o.Out.Op)), uint64(key))
	if fresh {
		r.list = append(r.list, row{})
	}
	return n
}

// row returns the row that an output is written to in a partition, or -1 where nothing was shown.
func (j *Judge) row(part int32, out *model.Record) int32 {
	return j.seen.rows.index.find(uint64(uint32(part))<<32|uint64(uint32(out.Op)),
		uint64(j.key(out)))
}

// replace gives entry i the value of an observation if that is of the same identity.
func (s *seen) replace(i int32, o *model.Observation) bool {
	if i < 0 || !s.list[i].Out.Same(o.Out) {
		return false
	}
	s.list[i] = *o
	return true
}

// link appends an entry to a row.
func (s *seen) link(i, n int32) {
	r := &s.rows.list[n]
	s.entries[i].row, s.entries[i].below = n, 0
	if r.first == 0 {
		r.first = i + 1
	} else {
		s.entries[r.last-1].below = i + 1
	}
	r.last = i + 1
}

// countFinal finds out what each row of a table by key holds in the end. The feed should have shown
// it; what it has not counts as shown last, in place of another value of its identity.
func (j *Judge) countFinal() {
	s := &j.seen
	for i := range j.h.Final {
		o := &j.h.Final[i]
		n := s.rows.number(o, j.key(&o.Out))
		last := s.rows.list[n].last
		isShown := last > 0 && isSame(&s.list[last-1].Out, &o.Out)
		if !isShown && !s.replace(last-1, o) {
			at := int32(len(s.table))
			s.table = append(s.table, *o)
			s.list = s.table
			s.entries = append(s.entries, entry{slot: noSlot})
			s.link(at, n)
			j.count(at, &s.list[at])
		}
		s.rows.list[n].final = s.rows.list[n].last
	}
}

// remember keeps the values that were shown of an identity and are not among its entries.
func (j *Judge) remember() {
	s := &j.seen
	for i := range j.h.Observations {
		out := &j.h.Observations[i].Out
		slot := j.shownSlot(out)
		if slot == noSlot || j.isEntry(slot, out) {
			continue
		}
		s.past = append(s.past, past{int32(i), j.nodes[slot].past})
		j.nodes[slot].past = int32(len(s.past))
	}
}

// isEntry reports whether a record is visible as it is.
func (j *Judge) isEntry(slot int32, out *model.Record) bool {
	for i := j.nodes[slot].first; i > 0; i = j.seen.entries[i-1].next {
		if isSame(&j.seen.list[i-1].Out, out) {
			return true
		}
	}
	return false
}

// wasShown reports whether an emission is visible, or has been.
func (j *Judge) wasShown(e *emission) bool {
	s := &j.seen
	for i := j.nodes[e.slot].first; i > 0; i = s.entries[i-1].next {
		if e.is(&s.list[i-1].Out) {
			return true
		}
	}
	for i := j.nodes[e.slot].past; i > 0; i = s.past[i-1].next {
		if e.is(&j.h.Observations[s.past[i-1].seen].Out) {
			return true
		}
	}
	return false
}

// isSuperseded reports whether a table by key showed, under the key of an output, another one that
// may come later in some execution: on another way, or further on the same.
func (j *Judge) isSuperseded(part int32, out *model.Record) bool {
	if j.s.Shape != model.Keys {
		return false
	}
	s := &j.seen
	n := j.row(part, out)
	if n < 0 {
		return false
	}
	j.spread()
	lane := s.rows.lanes.find(uint64(n), j.lane(out))
	if lane < 0 {
		return s.rows.list[n].lanes > 0
	}
	return s.rows.list[n].lanes > 1 || isBefore(out, &s.list[s.rows.far[lane]-1].Out)
}

// lane names the source partition of an output and the tasks by which it came.
func (j *Judge) lane(out *model.Record) uint64 {
	return uint64(j.way(out))<<32 | uint64(uint32(out.ID.Part))
}

// laneOf is the lane of an entry.
func (j *Judge) laneOf(i int32) uint64 {
	claim, out := j.seen.entries[i].claim, &j.seen.list[i].Out
	if claim == 0 || !j.seen.matched || !j.plan.parallel {
		return j.lane(out)
	}
	return uint64(j.wayOf(claim))<<32 | uint64(uint32(out.ID.Part))
}

// spread finds what each row showed furthest on each way, once a subject.
func (j *Judge) spread() {
	s := &j.seen
	if s.rows.known {
		return
	}
	s.rows.known = true
	for i := range s.entries {
		e, out := &s.entries[i], &s.list[i].Out
		if e.slot == noSlot {
			continue
		}
		n, fresh := s.rows.lanes.number(uint64(e.row), j.laneOf(int32(i)))
		if fresh {
			s.rows.far = append(s.rows.far, int32(i+1))
			s.rows.list[e.row].lanes++
		} else if isBefore(&s.list[s.rows.far[n]-1].Out, out) {
			s.rows.far[n] = int32(i + 1)
		}
	}
}
