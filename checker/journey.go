package checker

import "github.com/oncesim/oncesim/model"

// journeys say what happened to records on the way, for certificates. They are worked out only
// when something is violated.
type journeys struct {
	done   bool
	stops  []stop  // by input record
	writes table   // (partition, place) → number in places
	places []int64 // the serving that made the entry
	passed []int64 // by partition: offsets below this are committed
}

// stop is how far an input record came.
type stop struct {
	fetched int64 // the last serving that handed it out
	by      int32 // the call that it answered, plus one
	passed  int64 // the first offset commit beyond it
}

// travel follows all records through the servings.
func (j *Judge) travel() {
	t := &j.journeys
	if t.done {
		return
	}
	t.done = true
	j.indexLives()
	t.stops, t.places, t.passed = t.stops[:0], t.places[:0], t.passed[:0]
	t.writes.reset()
	for range j.s.Input.Total() {
		t.stops = append(t.stops, stop{})
	}
	for range j.plan.parts {
		t.passed = append(t.passed, 0)
	}
	for i := range j.h.Servings {
		j.arrive(&j.h.Servings[i])
	}
}

func (j *Judge) arrive(s *model.Serving) {
	t := &j.journeys
	call := &j.h.Calls[s.Call]
	part := call.Req.Record.ID.Part
	switch call.Req.Kind {
	case model.Fetch:
		for n := range s.Ans.N {
			if id := (model.ID{Part: part, Offset: s.Ans.Seq + n}); j.s.Input.Has(id) {
				at := &t.stops[j.s.Input.Index(id)]
				at.fetched, at.by = s.N, s.Call+1
			}
		}
	case model.OffsetCommit:
		for part >= 0 && int(part) < len(t.passed) && t.passed[part] < call.Req.Seq {
			if id := (model.ID{Part: part, Offset: t.passed[part]}); j.s.Input.Has(id) {
				t.stops[j.s.Input.Index(id)].passed = s.N
			}
			t.passed[part]++
		}
	case model.Write:
		n, fresh := t.writes.number(uint64(call.Req.Seq), uint64(s.Ans.Seq))
		if fresh {
			t.places = append(t.places, 0)
		}
		t.places[n] = s.N
	}
}

// writeOf is the serving that made an entry of the sink, or 0.
func (j *Judge) writeOf(part int32, seq int64) int64 {
	j.travel()
	if n := j.journeys.writes.find(uint64(part), uint64(seq)); n >= 0 {
		return j.journeys.places[n]
	}
	return 0
}

// citeLoss cites what took an input record: the serving that handed it out, the offset commit that
// left it behind, the last claim of it, and the end of the life that had it last.
func (j *Judge) citeLoss(a *model.Anomaly, id model.ID, claim int32) {
	j.travel()
	at := &j.journeys.stops[j.s.Input.Index(id)]
	a.Cite(at.fetched)
	a.Cite(at.passed)
	life := int32(-1)
	if claim > 0 {
		app := &j.h.Applications[claim-1]
		a.Cite(app.N)
		life = j.life(app.Proc, app.Attempt)
	} else if at.by > 0 {
		call := &j.h.Calls[at.by-1]
		life = j.life(call.Proc, call.Attempt)
	}
	if life >= 0 {
		a.Cite(j.h.Lives[life].Ended)
	}
}

// reportLoss reports that an input record has no application all of whose outputs are visible.
func (j *Judge) reportLoss(rec *model.Record) {
	j.replay()
	a := model.Anomaly{Kind: model.Loss, Record: *rec, Expected: model.Fact{Times: 1}}
	claim := int32(0)
	for op := int32(1); op <= j.plan.ops && claim == 0; op++ {
		if l := j.plan.of(op, rec.ID.Part); l.depth == 1 {
			claim = j.nodes[j.slot(rec.ID, op, 0)].claim
		}
	}
	j.citeLoss(&a, rec.ID, claim)
	j.Report(a)
}
