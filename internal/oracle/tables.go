package oracle

import "github.com/oncesim/oncesim/model"

// table is one partition of an external system that keeps rows.
type table struct {
	byKey bool
	rows  []visible // as they are, in the order in which they were first inserted
	feed  []visible // every write that changed something
	at    map[rowKey]int
	read  int // so many changes, and rows in the end, were read
}

// rowKey is what a row is found by: an identity or, in a table by key, an operator and a key.
type rowKey struct {
	id  ident
	key string
}

func newTables(o *Oracle) []table {
	if o.shape == model.Log {
		return nil
	}
	tables := make([]table, o.job.SinkPart)
	for i := range tables {
		tables[i] = table{byKey: o.shape == model.Keys, at: map[rowKey]int{}}
	}
	return tables
}

func (t *table) keyOf(rec *model.Record) rowKey {
	if t.byKey {
		return rowOf(rec)
	}
	return rowKey{id: identOf(rec)}
}

// rowOf is the row of a record in a table by key.
func rowOf(rec *model.Record) rowKey { return rowKey{ident{op: rec.Op}, rec.Key} }

// write carries out a write that was accepted. One that changes nothing leaves no trace.
func (t *table) write(s visible) {
	key := t.keyOf(&s.rec)
	i, ok := t.at[key]
	switch {
	case !ok:
		t.at[key] = len(t.rows)
		t.rows = append(t.rows, s)
	case t.rows[i].rec == s.rec:
		return
	default:
		t.rows[i] = s
	}
	t.feed = append(t.feed, s)
}

// isFeed reports whether readers saw, in a partition, the changes of its table one by one.
func (t *table) isFeed(part int, seen []*model.Entry) bool {
	rest := t.feed
	for _, e := range seen {
		if e.Msg.N != int64(part) {
			continue
		}
		if len(rest) == 0 || rest[0].rec != e.Msg.Record {
			return false
		}
		rest = rest[1:]
	}
	return len(rest) == 0
}

// isInVain reports whether a write changed nothing because the external system says that it has it.
// One that was stale is none: what is newer by its version need not be newer in truth.
func isInVain(o model.Outcome) bool { return o == model.DoneBefore }

// readTables takes what is visible from the tables: the rows or, in a table by key, everything that
// ever was a row.
func (r *run) readTables() {
	for i := range r.tables {
		r.shown[i] = r.tables[i].rows
		if r.tables[i].byKey {
			r.shown[i] = r.tables[i].feed
		}
	}
}

// held is what a partition of the external system holds in the end.
func (r *run) held(part int) []visible {
	if r.o.shape == model.Log {
		return r.shown[part]
	}
	return r.tables[part].rows
}

// isKeyed reports whether a later output of a key takes the place of an earlier one.
func (r *run) isKeyed() bool { return r.o.shape == model.Keys }

// comebacks looks in a table by key for identities that are shown again after something else.
func (r *run) comebacks(v *verdict) {
	for _, part := range r.shown {
		last := map[rowKey]ident{}
		seen := map[ident]bool{}
		for i := range part {
			row, id := rowOf(&part[i].rec), identOf(&part[i].rec)
			if seen[id] && last[row] != id {
				v.add(model.Regression, part[i].rec, part[i].n)
			}
			seen[id], last[row] = true, id
		}
	}
}

// isSuperseded reports whether the row of an output shows it, or has shown one that some order puts
// behind it.
func (r *run) isSuperseded(by *application, rec *model.Record, sink int32) bool {
	way := r.way(&visible{by: by})
	for i := range r.shown[sink] {
		s := &r.shown[sink][i]
		if rowOf(&s.rec) != rowOf(rec) {
			continue
		}
		isOnWay := s.rec.ID.Part == rec.ID.Part && r.way(s) == way
		if s.rec.Same(*rec) || !isOnWay || !isBefore(&s.rec, rec) {
			return true
		}
	}
	return false
}
