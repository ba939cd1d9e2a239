package checker

import (
	"slices"

	"github.com/oncesim/oncesim/model"
)

// journeys say what happened to records on the way, for certificates. They are worked out only
// when something is violated.
type journeys struct {
	done   bool
	stops  []stop  // by input record
	asked  int     // for how many entries the write has been looked up
	writes table   // (partition, place), of tables (identity, value) → number in places
	places []int64 // the serving that made the entry
	passed []int64 // by partition: offsets below this are committed
}

// asksMax is for how many entries the writes are searched through. For more they are indexed.
const asksMax = 8

func (t *journeys) begin() { t.done, t.asked = false, 0 }

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
	t.stops, t.passed = t.stops[:0], t.passed[:0]
	for range j.s.Input.Total() {
		t.stops = append(t.stops, stop{})
	}
	for range j.plan.parts {
		t.passed = append(t.passed, 0)
	}
	j.surveyAll()
	for _, i := range j.survey.takings {
		j.arrive(&j.h.Servings[i])
	}
}

// arrive follows records through a serving that took something from the input log.
func (j *Judge) arrive(s *model.Serving) {
	t := &j.journeys
	call := &j.h.Calls[s.Call]
	part := call.Req.Record.ID.Part
	if call.Req.Kind == model.Fetch {
		for n := range s.Ans.N {
			if id := (model.ID{Part: part, Offset: s.Ans.Seq + n}); j.s.Input.Has(id) {
				at := &t.stops[j.s.Input.Index(id)]
				at.fetched, at.by = s.N, s.Call+1
			}
		}
		return
	}
	for part >= 0 && int(part) < len(t.passed) && t.passed[part] < call.Req.Seq {
		if id := (model.ID{Part: part, Offset: t.passed[part]}); j.s.Input.Has(id) {
			t.stops[j.s.Input.Index(id)].passed = s.N
		}
		t.passed[part]++
	}
}

// indexWrites numbers the entries of the sink.
func (j *Judge) indexWrites() {
	t := &j.journeys
	t.writes.reset()
	t.places = t.places[:0]
	for i := range j.survey.writes {
		w := &j.survey.writes[i]
		s := &j.h.Servings[w.serving]
		n, fresh := t.writes.number(j.entryName(w.part, w.seq, j.wrote(w)))
		if fresh {
			t.places = append(t.places, s.N)
		}
		if j.s.Shape == model.Log {
			t.places[n] = s.N
		}
	}
}

// entryName names an entry of the sink in two words: by its place, or where a place holds several
// values in turn, by what it is.
func (j *Judge) entryName(part, seq int64, out *model.Record) (a, b uint64) {
	if j.s.Shape == model.Log {
		return uint64(part), uint64(seq)
	}
	a = model.Mix(out.Subject()^uint64(part)<<48, uint64(out.Path)^uint64(out.Op)<<56)
	b = model.Mix(model.HashText(out.Value.Text)^hashA, uint64(out.Value.Num)^hashB)
	return a, b ^ model.HashText(out.Key)
}

// writeOf is the serving that made an entry of the sink, the first of those that wrote this value,
// or 0.
func (j *Judge) writeOf(o *model.Observation) int64 {
	j.surveyAll()
	t := &j.journeys
	t.asked++
	if t.asked <= asksMax && j.s.Shape == model.Log {
		for i := range slices.Backward(j.survey.writes) {
			if w := &j.survey.writes[i]; w.part == int64(o.Part) && w.seq == o.Seq {
				return j.h.Servings[w.serving].N
			}
		}
		return 0
	}
	if t.asked == asksMax+1 || j.s.Shape != model.Log && t.asked == 1 {
		j.indexWrites()
	}
	a, b := j.entryName(int64(o.Part), o.Seq, &o.Out)
	if n := t.writes.find(a, b); n >= 0 {
		return t.places[n]
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
	if life != noLife {
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
