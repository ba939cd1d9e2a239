package oracle

import (
	"slices"

	"github.com/oncesim/oncesim/model"
)

// row is one row of a table by key as an execution must bring it out: what was shown there, in
// order, or only what is there in the end.
type row struct {
	key   string
	shown []model.Record
}

// fitsFeed reports whether an execution explains what a table by key has shown: under each key some
// of its outputs in their order, the last one among them.
func (r *run) fitsFeed(x *execution, finals map[slot]*version, left *int) bool {
	return r.fitsRows(x, finals, true, left)
}

// fitsEnd reports whether an execution leaves a table by key as it is: each row is the last output
// under its key.
func (r *run) fitsEnd(x *execution, finals map[slot]*version, left *int) bool {
	return r.fitsRows(x, finals, false, left)
}

func (r *run) fitsRows(x *execution, finals map[slot]*version, isFeed bool, left *int) bool {
	rest := 0
	for i := range r.tables {
		rest += len(r.tables[i].rows)
	}
	for proc := range x.in {
		if x.in[proc] == nil {
			continue
		}
		task := &r.o.job.Tasks[proc]
		rows := r.rowsOf(task, isFeed)
		for _, share := range x.shares(task) {
			s := r.rowSearch(task, &share, rows)
			s.merge.finals, s.merge.left = finals, left
			rest -= len(s.rows)
			if !s.from() {
				return false
			}
		}
	}
	return rest == 0
}

// rowsOf lists the rows that a task feeds.
func (r *run) rowsOf(task *model.Task, isFeed bool) []row {
	t := &r.tables[r.o.job.Tasks[task.Out[0].Peer].Part]
	var rows []row
	for _, s := range t.rows {
		if s.rec.Op == task.Op {
			rows = append(rows, row{s.rec.Key, []model.Record{s.rec}})
		}
	}
	for i := range rows {
		if isFeed {
			rows[i].shown = t.history(rowOf(&rows[i].shown[0]))
		}
	}
	return rows
}

// history is everything that a row has been, in order.
func (t *table) history(at rowKey) []model.Record {
	var list []model.Record
	for i := range t.feed {
		if t.keyOf(&t.feed[i].rec) == at {
			list = append(list, t.feed[i].rec)
		}
	}
	return list
}

// share is a part of what a task reads whose outputs meet nothing else in any row.
type share struct {
	isAll    bool // every key
	key      string
	channels [][]model.Record
}

// shares splits what a task reads: by key, if what it emits keeps its key.
func (x *execution) shares(task *model.Task) []share {
	if !x.keepsKeys(task.Op) {
		return []share{{isAll: true, channels: x.in[task.Proc]}}
	}
	var list []share
	for _, key := range keysOf(x.in[task.Proc]) {
		list = append(list, share{key: key, channels: under(key, x.in[task.Proc])})
	}
	return list
}

// keepsKeys reports whether all that an operator emits has the key of its input.
func (x *execution) keepsKeys(op int32) bool {
	for i := range x.groups {
		g := &x.groups[i]
		if g.slot.op != op {
			continue
		}
		for j := range g.outcomes {
			for k := range g.outcomes[j].outs {
				if g.outcomes[j].outs[k].Key != g.slot.key {
					return false
				}
			}
		}
	}
	return true
}

// rowSearch is the search for an order in which a task takes a share of its inputs such that rows
// come out. Rows that are not asked for do not matter if it isPartial; else there must be none.
type rowSearch struct {
	merge     *merge
	rows      []row
	at        []progress // of each row
	isPartial bool
}

// progress is how far a row has come: so many of what it has shown came out, and nothing after the
// last of them.
type progress struct {
	place  int
	isLast bool
}

func (r *run) rowSearch(task *model.Task, share *share, rows []row) *rowSearch {
	s := &rowSearch{merge: &merge{task: task, states: map[string]model.Value{},
		choices: r.possible, channels: slices.Clone(share.channels)}}
	for _, row := range rows {
		if share.isAll || row.key == share.key {
			s.rows = append(s.rows, row)
		}
	}
	s.at = make([]progress, len(s.rows))
	return s
}

// from reports whether what is left of the channels can be taken such that the rows come out.
func (s *rowSearch) from() bool {
	m := s.merge
	if *m.left--; *m.left < 0 {
		return false
	}
	isDone := true
	for c, channel := range m.channels {
		if len(channel) == 0 {
			continue
		}
		isDone = false
		nonces := m.choices.of(m.task, &channel[0])
		for i := range options(nonces) {
			if s.take(c, nonceAt(nonces, i)) {
				return true
			}
		}
	}
	return isDone && s.isOut() && m.isFinal()
}

// take takes the first record of a channel, goes on behind it and puts everything back.
func (s *rowSearch) take(c int, nonce uint64) bool {
	m := s.merge
	channel, before := m.channels[c], slices.Clone(s.at)
	rec := &channel[0]
	state, isOld := m.states[rec.Key]
	after := state
	ok := s.emit(take(m.task, rec, nonce, &after))
	if ok {
		m.channels[c], m.states[rec.Key] = channel[1:], after
		ok = s.from()
		m.channels[c], m.states[rec.Key] = channel, state
		if !isOld {
			delete(m.states, rec.Key)
		}
	}
	copy(s.at, before)
	return ok
}

// emit moves the rows on by what a step emits, and reports whether they still can come out.
func (s *rowSearch) emit(outs []model.Record) bool {
	for i := range outs {
		at := slices.IndexFunc(s.rows, func(row row) bool { return row.key == outs[i].Key })
		if at < 0 {
			if !s.isPartial {
				return false
			}
			continue
		}
		shown, p := s.rows[at].shown, &s.at[at]
		if p.isLast = p.place < len(shown) && shown[p.place] == outs[i]; p.isLast {
			p.place++
			continue
		}
		if slices.ContainsFunc(shown, outs[i].Same) {
			return false // too early, too late, or with another value
		}
	}
	return true
}

// isOut reports whether all rows have come out.
func (s *rowSearch) isOut() bool {
	for i, p := range s.at {
		if p.place < len(s.rows[i].shown) || !p.isLast {
			return false
		}
	}
	return true
}

// canEnd asks whether some execution, whatever else it does, has the record of a row as the last
// output under its key.
func (r *run) canEnd(s *visible, sink int) answer {
	left := triesMax
	for i := range r.legal.executions {
		x := &r.legal.executions[i]
		for proc := range x.in {
			task := &r.o.job.Tasks[proc]
			if x.in[proc] == nil || task.Op != s.rec.Op ||
				r.o.job.Tasks[task.Out[0].Peer].Part != int32(sink) {
				continue
			}
			for _, share := range x.shares(task) {
				if !share.isAll && share.key != s.rec.Key {
					continue
				}
				look := r.rowSearch(task, &share, []row{{s.rec.Key, []model.Record{s.rec}}})
				look.isPartial, look.merge.left = true, &left
				if look.from() {
					return found
				}
			}
		}
	}
	if left < 0 {
		return gaveUp
	}
	return nothing
}

// stale looks for rows of a table by key that no execution leaves so.
func (r *run) stale(v *verdict) {
	for sink := range r.tables {
		for i := range r.tables[sink].rows {
			if s := &r.tables[sink].rows[i]; r.canEnd(s, sink) == nothing {
				v.addAtEnd(model.WrongValue, s.rec, s.n)
			}
		}
	}
}

// hasRow reports whether a table by key has a row that a record could be in.
func (r *run) hasRow(rec *model.Record) bool {
	for i := range r.tables {
		if _, ok := r.tables[i].at[rowOf(rec)]; ok {
			return true
		}
	}
	return false
}

// compareRows looks for one legal execution that leaves the states and, as the last output under
// each key, the rows of a table by key. If there is none it names the rows that none leaves so.
func (r *run) compareRows(v *verdict, states map[slot]*version) {
	if v.reason != "" || !r.canRead(v) || !r.canCompare(v) {
		return
	}
	switch r.search(states, r.fitsEnd) {
	case found:
		return
	case gaveUp:
		v.leave("too many ways to merge what is visible")
		return
	}
	isState := len(v.findings)+len(v.atEnd) > 0
	v.optional = isState || r.o.isChained
	r.stale(v)
	v.optional = true
	if len(v.findings)+len(v.atEnd) == 0 {
		v.addAtEnd(model.WrongValue, model.Record{}, 0)
	}
	v.optional = false
	v.tolerated = append(v.tolerated, model.WrongValue, model.Loss, model.Phantom)
	if r.o.stateful {
		v.tolerated = append(v.tolerated, model.Divergence)
	}
}
