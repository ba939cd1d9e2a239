package checker

import "github.com/oncesim/oncesim/model"

// order is ORD, strict: under one key of one partition what is shown never goes back.
func order() Property {
	return Property{
		Name: "order",
		Says: "of one operator, under one key of one partition of the sink, first occurrences " +
			"are in the order in which the records of one source partition came along one way of " +
			"tasks, and nothing is shown again after something newer",
		Source:    "jepsen.tests.kafka, nonmonotonic-send and nonmonotonic-poll",
		Anomalies: []model.AnomalyKind{model.Reorder, model.Regression},
		Check:     checkOrder,
	}
}

// streams are what is shown of one operator under one key of one partition.
type streams struct {
	index   table   // (partition, operator and key) → stream
	newest  []int32 // of each stream: the entry whose first occurrence is the latest, plus one
	byPart  table   // (stream, source partition, way) → highest
	highest []int32 // the furthest entry that came by one way, plus one
}

func checkOrder(j *Judge) (model.Result, string) {
	if j.plan.ambiguous {
		return model.Undecided, reasonAmbiguous
	}
	j.look()
	if j.plan.parallel {
		j.replay()
	}
	s := &j.streams
	j.shownKeys.reset()
	s.index.reset()
	s.byPart.reset()
	s.newest, s.highest = s.newest[:0], s.highest[:0]
	for i := range j.seen.entries {
		e := &j.seen.entries[i]
		if e.slot >= 0 && !e.twice {
			j.follow(int32(i), e)
		}
	}
	return j.conclude("")
}

// follow appends an entry to its stream.
func (j *Judge) follow(i int32, e *entry) {
	s, o := &j.streams, &j.seen.list[i]
	key := uint64(uint32(j.shownKeys.number(o.Out.Key)))
	stream, fresh := s.index.number(uint64(o.Part)<<32|uint64(uint32(o.Out.Op)), key)
	if fresh {
		s.newest = append(s.newest, 0)
	}
	first := j.nodes[e.slot].first
	if first != i+1 {
		if newest := s.newest[stream]; newest > first {
			j.reportBack(model.Regression, i, newest-1)
		}
		return
	}
	s.newest[stream] = i + 1
	way := uint64(j.way(&o.Out))<<32 | uint64(uint32(o.Out.ID.Part))
	lane, fresh := s.byPart.number(uint64(stream), way)
	if fresh {
		s.highest = append(s.highest, i+1)
		return
	}
	if high := s.highest[lane]; isBefore(&o.Out, &j.seen.list[high-1].Out) {
		j.reportBack(model.Reorder, i, high-1)
		return
	}
	s.highest[lane] = i + 1
}

func isBefore(a, b *model.Record) bool {
	return a.ID.Offset < b.ID.Offset || a.ID.Offset == b.ID.Offset && a.Path < b.Path
}

// way tells apart the tasks by which a record came. Channels are first in first out, but nothing
// orders two of them; where no tasks run side by side there is one way.
func (j *Judge) way(rec *model.Record) uint32 {
	if !j.plan.parallel {
		return 0
	}
	way := uint64(0)
	for at := *rec; at.Op > 0; {
		claim := j.emitter(&at)
		if claim == 0 {
			break
		}
		app := &j.h.Applications[claim-1]
		way = model.Mix(way^hashA, uint64(app.Proc)^hashB)
		at = app.In
	}
	return uint32(way)
}

// reportBack reports that entry i was shown after a newer one.
func (j *Judge) reportBack(kind model.AnomalyKind, i, newer int32) {
	o := &j.seen.list[i]
	a := model.Anomaly{Kind: kind, Record: o.Out,
		Expected: model.Fact{Times: -1},
		Observed: model.Fact{Times: -1, Value: o.Out.Value, HasValue: true}}
	j.citeEntry(&a, newer)
	j.citeEntry(&a, i)
	j.Report(a)
}
