package oracle

import (
	"fmt"

	"github.com/oncesim/oncesim/model"
)

// order compares each entry with what was shown before it.
func (r *run) order(v *verdict) {
	if !r.canRead(v) {
		return
	}
	r.reorders(v, true)
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
// way, under one key or under any.
func (r *run) reorders(v *verdict, byKey bool) {
	newest := map[line]model.Record{}
	r.firsts(func(sink int, s *visible) {
		on := line{sink: sink, op: s.rec.Op, source: s.rec.ID.Part, way: r.way(s)}
		if byKey {
			on.key = s.rec.Key
		}
		last, ok := newest[on]
		if ok && isBefore(&s.rec, &last) {
			v.add(model.Reorder, s.rec, s.n)
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

func (r *run) isStillThere(e *model.Entry) bool {
	for _, part := range r.shown {
		if place := e.Msg.Seq; place < int64(len(part)) && part[place].rec == e.Msg.Record {
			return true
		}
	}
	return false
}
