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
	index   table // (partition, operator and key) → stream
	list    []stream
	near    []int32 // by key: the stream asked for last, plus one
	byPart  table   // (stream, source partition, way) → highest
	highest []int32 // the furthest entry that came by one way, plus one
}

// stream is what is shown of one operator under one key of one partition.
type stream struct {
	name   uint64 // the partition and the operator
	newest int32  // the entry whose first occurrence is the latest, plus one
	way    uint64 // of the entry that came last
	lane   int32  // of that way, plus one
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
	s.index.reset()
	s.byPart.reset()
	s.list, s.near, s.highest = s.list[:0], s.near[:0], s.highest[:0]
	for i := range j.seen.entries {
		e := &j.seen.entries[i]
		if e.slot != noSlot {
			j.follow(int32(i), e)
		}
	}
	return j.conclude("")
}

// follow appends an entry to its stream.
func (j *Judge) follow(i int32, e *entry) {
	s, o := &j.streams, &j.seen.list[i]
	n := s.stream(uint64(o.Part)<<32|uint64(uint32(o.Out.Op)), j.key(&o.Out))
	me := &s.list[n]
	first := j.nodes[e.slot].first
	if first != i+1 {
		if me.newest > first {
			j.reportBack(model.Regression, i, me.newest-1)
		}
		return
	}
	me.newest = i + 1
	way := j.laneOf(i)
	if me.lane == 0 || me.way != way {
		lane, fresh := s.byPart.number(uint64(n), way)
		me.way, me.lane = way, lane+1
		if fresh {
			s.highest = append(s.highest, i+1)
			return
		}
	}
	lane := me.lane - 1
	if high := s.highest[lane]; isBefore(&o.Out, &j.seen.list[high-1].Out) {
		j.reportBack(j.backward(), i, high-1)
		return
	}
	s.highest[lane] = i + 1
}

// stream numbers the stream of a partition and an operator under a key.
func (s *streams) stream(name uint64, key int32) int32 {
	near := at(&s.near, key)
	if n := *near; n > 0 && s.list[n-1].name == name {
		return n - 1
	}
	n, fresh := s.index.number(name, uint64(key))
	if fresh {
		s.list = append(s.list, stream{name: name})
	}
	*near = n + 1
	return n
}

// backward is what it is called that something is shown after what came later: in a table by key
// the row goes back, even if it shows the older output for the first time.
func (j *Judge) backward() model.AnomalyKind {
	if j.s.Shape == model.Keys {
		return model.Regression
	}
	return model.Reorder
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
	return j.wayOf(j.emitter(rec))
}

// wayOf is the way of what a claim emits; 0 stands for no claim.
func (j *Judge) wayOf(claim int32) uint32 {
	if claim == 0 {
		return 0
	}
	c := &j.claims.list[claim-1]
	if c.way == 0 {
		before, proc := j.wayOf(j.parent(claim-1)), j.h.Applications[claim-1].Proc
		c.way = uint32(model.Mix(uint64(before)^hashA, uint64(proc)^hashB)) | 1
	}
	return c.way
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
