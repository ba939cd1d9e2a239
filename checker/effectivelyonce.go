package checker

import (
	"slices"

	"github.com/oncesim/oncesim/model"
)

// effectivelyOnce is EO: the committed effect is as if each input had been processed once.
//
// What counts is the state that the mode keeps: that of the durable backend, or, in a mode that has
// none, what is in memory in the end. Such a mode has nothing to restart from, and the first crash
// shows it; until then nothing has been counted twice or missed. Without operators that keep state
// there is nothing to count.
func effectivelyOnce() Property {
	return Property{
		Name: "effectively-once",
		Says: "the state that the mode keeps, in its durable backend if it has one, is in the " +
			"end that of one failure-free execution, however often records were processed; in a " +
			"table by key each row holds in the end the last output of the same execution",
		Source: "Akidau et al., MillWheel, VLDB 2013; docs of Apache Heron, delivery semantics " +
			"(effectively-once)",
		Anomalies: []model.AnomalyKind{model.StateLoss, model.WrongValue, model.WrongState,
			model.StateDuplicate},
		Check: func(j *Judge) (model.Result, string) {
			result, reason := j.judgeState(j.home())
			if j.s.Shape != model.Keys || result == model.Violated {
				return result, reason
			}
			return j.judgeTable(reason)
		},
	}
}

// judgeTable judges what a table by key holds in the end, together with the state. A reason is why
// the state alone is undecided.
func (j *Judge) judgeTable(reason string) (model.Result, string) {
	switch {
	case j.plan.ambiguous:
		return model.Undecided, reasonAmbiguous
	case !j.completed:
		return model.Undecided, j.unfinished()
	}
	f := j.fold(j.home())
	if f.state && j.fits(true) {
		return j.joint(model.Holds, "", asHeld)
	}
	j.consider(true)
	j.reportHeldPure()
	j.reportMissingRows()
	q := query{outputs: exactly, ordered: true, state: true}
	reason = max(reason, j.explainHeld(q))
	if reason == "" && j.Reported() == 0 && !j.plan.stateful {
		j.reportKnot(model.WrongValue)
	}
	if reason != "" || j.Reported() > 0 {
		return j.conclude(reason)
	}
	result, reason := j.together(q)
	return j.joint(result, reason, asHeld)
}

// explainHeld searches for an explanation of what the table holds in the end, key by key of the
// state.
func (j *Judge) explainHeld(q query) (reason string) {
	for op := int32(1); op <= j.plan.ops; op++ {
		switch {
		case !j.plan.stages[op].stateful:
			continue
		case !j.plan.stages[op].alone:
			reason = reasonBeyond
			continue
		}
		j.group(op)
		for i := range j.states.cells {
			c := &j.states.cells[i]
			if c.op != op || c.first == 0 {
				continue
			}
			switch j.findCell(op, int32(i), q) {
			case model.Violated:
				j.nameHeld(op, int32(i))
			case model.Undecided:
				reason = max(reason, reasonBudget)
			}
		}
	}
	return reason
}

// nameHeld reports what is wrong with the rows of a key that no one order explains: where the
// search gets stuck without regard to the state, and if it does not, a row that comes of another
// execution than the state.
func (j *Judge) nameHeld(op, cell int32) {
	if j.findCell(op, cell, query{outputs: exactly, ordered: true}) == model.Violated {
		j.nameFinal(op, &j.flow.lists[op][j.finder.deepest.item])
		return
	}
	list := j.flow.lists[op]
	for i := j.states.cells[cell].first; i > 0; i = list[i-1].next {
		if list[i-1].shown > 0 {
			j.reportEntry(model.WrongValue, list[i-1].shown-1, model.Fact{Times: -1})
			return
		}
	}
	j.reportMissing(list[j.states.cells[cell].first-1].rec, op, model.Fact{Times: -1})
}

// nameFinal reports where the search made last, for what the table holds in the end, got stuck.
func (j *Judge) nameFinal(op int32, it *item) {
	switch f := &j.finder.deepest; f.why {
	case stale:
		j.reportStale(f.entry)
	case differs, extra, swapped:
		j.reportEntry(model.WrongValue, f.entry, f.fact())
	default:
		j.reportMissing(it.rec, op, model.Fact{Times: -1})
	}
}

// reportMissing reports that the table holds nothing under a key that a step on an input writes to,
// or nothing that goes with the state.
func (j *Judge) reportMissing(in *model.Record, op int32, expected model.Fact) {
	a := model.Anomaly{Kind: model.WrongValue, Record: *in, Expected: expected,
		Observed: model.Fact{Times: 0}}
	a.Record.Op = op
	j.Report(a)
}

// reportHeldPure reports rows that hold what nothing writes to them, or what an operator without
// state on its whole way does not write last.
func (j *Judge) reportHeldPure() {
	s := &j.seen
	for i := range s.rows.list {
		r := &s.rows.list[i]
		if r.final == 0 {
			continue
		}
		e, rec := &s.entries[r.final-1], &s.list[r.final-1].Out
		switch {
		case e.slot != noSlot && j.plan.of(rec.Op, rec.ID.Part).owner != 0:
		case e.slot == noSlot || e.chann == 0:
			j.reportEntry(model.WrongValue, r.final-1, j.lastPure(int32(i)))
		default:
			j.reportStaleRow(int32(i), j.flow.rows.outs)
		}
	}
}

// lastPure is what must be written last to a row by operators without state, if only one channel
// leads to it.
func (j *Judge) lastPure(row int32) model.Fact {
	fact, chann := model.Fact{Times: -1}, int32(-1)
	for i := range j.flow.rows.outs {
		out := &j.flow.rows.outs[i]
		if out.row != row {
			continue
		}
		if chann >= 0 && chann != out.chann ||
			j.plan.of(out.rec.Op, out.rec.ID.Part).owner != 0 {
			return model.Fact{Times: -1}
		}
		fact.Value, fact.HasValue, chann = out.rec.Value, true, out.chann
	}
	return fact
}

// reportMissingRows reports rows that operators without state write to and that the table does not
// have, or no longer.
func (j *Judge) reportMissingRows() {
	outs := j.flow.rows.outs
	for i := range outs {
		out := &outs[i]
		isPure := j.plan.of(out.rec.Op, out.rec.ID.Part).owner == 0
		if !isPure || out.row >= 0 && j.seen.rows.list[out.row].final > 0 {
			continue
		}
		isLast := !slices.ContainsFunc(outs[i+1:], func(o output) bool {
			return o.part == out.part && o.rec.Op == out.rec.Op && o.rec.Key == out.rec.Key
		})
		if isLast {
			j.reportMissing(&out.rec, out.rec.Op, model.Fact{Times: 1})
		}
	}
}
