package checker

import "github.com/oncesim/oncesim/model"

// output is what an execution writes to a row of a table by key.
type output struct {
	rec   model.Record
	part  int32
	chann int32
	row   int32 // -1: nothing of it was shown
	entry int32 // that shows it, plus one; 0: none that counts
	next  int32 // the next output on its channel, plus one
	waits int32 // outputs that must come before and have not been placed
}

// precedence is what an execution writes to a table by key. It explains what the table showed if
// the outputs have an order, first in first out on every channel, in which each row shows what it
// has shown, and what it holds in the end comes last.
type precedence struct {
	outs  []output
	queue []int32
}

// expectRow enters an output, and looks for it among what is visible.
func (j *Judge) expectRow(out *model.Record, chann, merge, part int32) {
	f, s := &j.flow, &j.seen
	slot := j.slot(out.ID, out.Op, out.Path)
	n := &j.nodes[slot]
	n.expected = true
	me := output{rec: *out, part: part, chann: chann, row: j.row(part, out)}
	f.rows.outs = append(f.rows.outs, me)
	at := int32(len(f.rows.outs))
	if merge > 0 && me.row >= 0 {
		j.hold(out, me.row, merge, chann, part)
	}
	if last := f.chans[chann].out; last > 0 {
		f.rows.outs[last-1].next = at
	}
	f.chans[chann].out = at
	if j.plan.of(out.Op, out.ID.Part).owner != 0 {
		return
	}
	for i := n.first; i > 0; i = s.entries[i-1].next {
		o := &s.list[i-1]
		if o.Out.Value != out.Value || o.Out.Key != out.Key || o.Part != part {
			f.wrong = append(f.wrong, mistake{i - 1, out.Value})
			continue
		}
		s.entries[i-1].chann, s.entries[i-1].rank = chann+1, at
	}
	if n.first == 0 && !j.isSuperseded(part, out) {
		f.lost = append(f.lost, out.ID)
	}
}

// showing is the entry that shows an output and counts, plus one: all that it showed, or only what
// its row holds in the end. It is 0 where there is none, and ok is false where it is another value.
func (j *Judge) showing(out *output, lasts bool) (entry int32, ok bool) {
	s := &j.seen
	if out.row < 0 {
		return 0, false
	}
	entry = j.nodes[j.slot(out.rec.ID, out.rec.Op, out.rec.Path)].first
	if lasts {
		entry = s.rows.list[out.row].final
		if entry == 0 || !s.list[entry-1].Out.Same(out.rec) {
			return 0, entry != 0
		}
	}
	if entry == 0 {
		return 0, true
	}
	return entry, s.entries[entry-1].row == out.row && s.list[entry-1].Out.Value == out.rec.Value
}

// fits reports whether the outputs of the flow explain what a table by key showed, or only what it
// holds in the end.
func (j *Judge) fits(lasts bool) bool {
	s, p := &j.seen, &j.flow.rows
	for i := range s.rows.list {
		s.rows.list[i].count, s.rows.list[i].held = 0, 0
		if s.rows.list[i].final == 0 {
			return false
		}
	}
	shown := 0
	for i := range p.outs {
		out := &p.outs[i]
		entry, ok := j.showing(out, lasts)
		if !ok {
			return false
		}
		out.entry = entry
		r := &s.rows.list[out.row]
		r.count++
		if entry == 0 {
			continue
		}
		shown++
		s.entries[entry-1].out = int32(i + 1)
		if entry == r.final {
			r.held = int32(i + 1)
		}
	}
	want := s.kept
	if lasts {
		want = len(s.rows.list)
	}
	return shown == want && (lasts || s.repeats == 0) && j.isAcyclic(lasts)
}

// isAcyclic places the outputs one after the other and reports whether all could be placed.
func (j *Judge) isAcyclic(lasts bool) bool {
	s, p := &j.seen, &j.flow.rows
	for i := range p.outs {
		p.outs[i].waits = 0
	}
	for i := range p.outs {
		out := &p.outs[i]
		if out.next > 0 {
			p.outs[out.next-1].waits++
		}
		if out.entry > 0 && !lasts && s.entries[out.entry-1].below > 0 {
			p.outs[s.entries[s.entries[out.entry-1].below-1].out-1].waits++
		}
		if r := &s.rows.list[out.row]; r.held == int32(i+1) {
			out.waits += r.count - 1
		}
	}
	p.queue = p.queue[:0]
	for i := range p.outs {
		if p.outs[i].waits == 0 {
			p.queue = append(p.queue, int32(i))
		}
	}
	for at := 0; at < len(p.queue); at++ {
		out := &p.outs[p.queue[at]]
		p.release(out.next)
		if out.entry > 0 && !lasts && s.entries[out.entry-1].below > 0 {
			p.release(s.entries[s.entries[out.entry-1].below-1].out)
		}
		if held := s.rows.list[out.row].held; held != p.queue[at]+1 {
			p.release(held)
		}
	}
	return len(p.queue) == len(p.outs)
}

// release says that an output, plus one, has one less to wait for.
func (p *precedence) release(out int32) {
	if out == 0 {
		return
	}
	if p.outs[out-1].waits--; p.outs[out-1].waits == 0 {
		p.queue = append(p.queue, out-1)
	}
}

// reportRowSwaps reports what a row showed after something that came later on the same channel.
func (j *Judge) reportRowSwaps() {
	s := &j.streams
	s.byPart.reset()
	s.highest = s.highest[:0]
	for i := range j.seen.entries {
		e := &j.seen.entries[i]
		if e.chann == 0 || e.twice {
			continue
		}
		lane, fresh := s.byPart.number(uint64(e.row), uint64(e.chann))
		if fresh {
			s.highest = append(s.highest, int32(i+1))
			continue
		}
		if j.isLate(e, int32(i), s.highest[lane]-1) {
			j.reportEntry(model.Regression, int32(i), model.Fact{Times: -1})
			continue
		}
		s.highest[lane] = int32(i + 1)
	}
}

// reportStalePure reports the rows of operators without state that hold in the end what came before
// another output of the row on the same channel.
func (j *Judge) reportStalePure() {
	s, outs := &j.seen, j.flow.rows.outs
	for i := range s.rows.list {
		if r := &s.rows.list[i]; r.final > 0 && s.entries[r.final-1].chann > 0 {
			j.reportStaleRow(int32(i), outs)
		}
	}
}

func (j *Judge) reportStaleRow(n int32, outs []output) {
	final := j.seen.rows.list[n].final - 1
	e := &j.seen.entries[final]
	isStale, isOne := false, true
	var last model.Value
	for k := range outs {
		out := &outs[k]
		if out.row != n {
			continue
		}
		isOne = isOne && out.chann+1 == e.chann
		isStale = isStale || out.chann+1 == e.chann && int32(k+1) > e.rank
		last = out.rec.Value
	}
	if isStale {
		j.reportEntry(model.WrongValue, final, model.Fact{Times: -1, Value: last, HasValue: isOne})
	}
}

// reportKnot reports one of the outputs that wait for each other, where each row by itself has an
// order and all together have none.
func (j *Judge) reportKnot(kind model.AnomalyKind) {
	for i := range j.flow.rows.outs {
		if out := &j.flow.rows.outs[i]; out.waits > 0 && out.entry > 0 {
			j.reportEntry(kind, out.entry-1, model.Fact{Times: -1})
			return
		}
	}
}
