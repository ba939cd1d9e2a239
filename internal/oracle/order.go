package oracle

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/oncesim/oncesim/model"
)

// order compares each entry with what was shown before it.
func (r *run) order(v *verdict) {
	if !r.canRead(v) {
		return
	}
	if r.isKeyed() {
		r.goesBack(v)
		return
	}
	r.reorders(v, true, model.Reorder)
	r.regressions(v)
}

// goesBack looks for what takes a row of a table by key back, whether it has been there before or
// comes late.
func (r *run) goesBack(v *verdict) {
	r.reorders(v, true, model.Regression)
	r.regressions(v)
}

// line is what must stay in order: the entries of one partition of the sink that come from one
// operator and, where these matter, have one key or went one way from one source partition.
type line struct {
	sink   int
	op     int32
	key    string
	source int32
	way    string
}

// way names the tasks that an entry went through. Only on one way do channels keep the order.
func (r *run) way(s *visible) string {
	var way []byte
	for a := s.by; a != nil && a.delivered != 0; a = r.above(a).by {
		way = fmt.Appendf(way, "%d ", a.task.Proc)
	}
	return string(way)
}

// reorders looks for identities that appear for the first time after a later one that went the same
// way, under one key or under any, and reports them as a kind.
func (r *run) reorders(v *verdict, byKey bool, kind model.AnomalyKind) {
	newest := map[line]model.Record{}
	r.firsts(func(sink int, s *visible) {
		on := line{sink: sink, op: s.rec.Op, source: s.rec.ID.Part, way: r.way(s)}
		if byKey {
			on.key = s.rec.Key
		}
		last, ok := newest[on]
		if ok && isBefore(&s.rec, &last) {
			v.add(kind, s.rec, s.n)
			return
		}
		newest[on] = s.rec
	})
}

// firsts visits the first showing of each identity in each partition.
func (r *run) firsts(visit func(sink int, s *visible)) {
	for sink, part := range r.shown {
		before := map[ident]bool{}
		for i := range part {
			if id := identOf(&part[i].rec); !before[id] {
				before[id] = true
				visit(sink, &part[i])
			}
		}
	}
}

// lasts visits the last showing of each identity in each partition, the latest first.
func (r *run) lasts(visit func(sink int, s *visible)) {
	for sink, part := range r.shown {
		after := map[ident]bool{}
		for i := len(part) - 1; i >= 0; i-- {
			if id := identOf(&part[i].rec); !after[id] {
				after[id] = true
				visit(sink, &part[i])
			}
		}
	}
}

// regressions looks for identities that come again after one that first appeared later.
func (r *run) regressions(v *verdict) {
	for sink, part := range r.shown {
		seen := map[line]map[ident]int{}
		for i := range part {
			on := line{sink: sink, op: part[i].rec.Op, key: part[i].rec.Key}
			if seen[on] == nil {
				seen[on] = map[ident]int{}
			}
			id := identOf(&part[i].rec)
			place, isRepeat := seen[on][id]
			switch {
			case !isRepeat:
				seen[on][id] = len(seen[on])
			case place < len(seen[on])-1:
				v.add(model.Regression, part[i].rec, part[i].n)
			}
		}
	}
}

// isBefore reports whether a comes before b in their source partition; outputs of one input are in
// the order of their paths.
func isBefore(a, b *model.Record) bool {
	if a.ID.Offset != b.ID.Offset {
		return a.ID.Offset < b.ID.Offset
	}
	return a.Path < b.Path
}

// noRevision looks for identities that show two contents, and for entries that are gone.
func (r *run) noRevision(v *verdict) {
	if !r.canRead(v) {
		return
	}
	r.revisions(v)
}

func (r *run) revisions(v *verdict) {
	for i := range r.tables {
		r.tables[i].revisions(v)
	}
	if r.o.shape != model.Log {
		return
	}
	for _, all := range r.index {
		for i := range all {
			if all[i].rec != all[0].rec {
				v.add(model.Revised, all[i].rec, all[i].n)
				break
			}
		}
	}
	for _, e := range r.seen {
		if !r.isStillThere(e) {
			v.add(model.Revised, e.Msg.Record, e.N)
		}
	}
}

// revisions looks for identities that a table has shown with two contents.
func (t *table) revisions(v *verdict) {
	first := map[ident]model.Record{}
	isNamed := map[ident]bool{}
	for _, s := range t.feed {
		id := identOf(&s.rec)
		if was, ok := first[id]; !ok {
			first[id] = s.rec
		} else if was != s.rec && !isNamed[id] {
			isNamed[id] = true
			v.add(model.Revised, s.rec, s.n)
		}
	}
}

func (r *run) isStillThere(e *model.Entry) bool {
	for _, part := range r.shown {
		i, ok := slices.BinarySearchFunc(part, e.Msg.Seq,
			func(s visible, place int64) int { return cmp.Compare(s.place, place) })
		if ok && part[i].rec == e.Msg.Record {
			return true
		}
	}
	return false
}
