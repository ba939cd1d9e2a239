package checker

import "github.com/oncesim/oncesim/model"

// together searches for an order of all inputs of each task, after each key has been explained by
// itself. Different keys commute, but channels and what is visible tie their orders together.
func (j *Judge) together(q query) (model.Result, string) {
	for op := int32(1); op <= j.plan.ops; op++ {
		if !j.plan.stages[op].stateful {
			continue
		}
		j.flow.taken[op], j.flow.drawn[op] = j.flow.taken[op][:0], j.flow.drawn[op][:0]
		for i := range j.plan.job.Tasks {
			if j.plan.job.Tasks[i].Op != op {
				continue
			}
			switch j.findTask(op, int32(i), q) {
			case model.Violated:
				j.nameJoint(op)
				return model.Violated, ""
			case model.Undecided:
				return model.Undecided, reasonBudget
			}
			j.flow.taken[op] = append(j.flow.taken[op], j.finder.taken...)
			j.flow.drawn[op] = append(j.flow.drawn[op], j.finder.nonces...)
		}
	}
	f := j.refold()
	visible := f.visible
	if j.finder.lasts {
		visible = j.fits(true)
	}
	if f.state && (q.outputs == nothing || visible) {
		return model.Holds, ""
	}
	return model.Undecided, reasonJoint
}

// nameJoint reports why a task has no order although each of its keys has one.
func (j *Judge) nameJoint(op int32) {
	f := &j.finder.deepest
	it := &j.flow.lists[op][f.item]
	if j.finder.outputs != nothing && j.finder.lasts {
		j.nameFinal(op, it)
		return
	}
	switch f.why {
	case stale:
		j.reportStale(f.entry)
	case remains:
		kind := model.WrongState
		if j.finder.outputs != nothing {
			kind = model.Divergence
		}
		j.reportCell(kind, it.cell, f.fact())
	case missing:
		j.reportLoss(j.s.Input.At(it.rec.ID))
	case extra:
		j.reportEntry(model.Phantom, f.entry, f.fact())
	case differs:
		j.reportEntry(model.WrongValue, f.entry, f.fact())
	case swapped:
		j.reportEntry(j.backward(), f.entry, f.fact())
	}
}

// fact is what the search would have had to see.
func (f *failure) fact() model.Fact {
	fact := model.Fact{Times: -1}
	if f.why == differs || f.why == remains {
		fact.Value, fact.HasValue = f.expected, true
	}
	if f.why == extra {
		fact.Times = 0
	}
	return fact
}

// reportUnknownKey reports a state under a key that no input has.
func (j *Judge) reportUnknownKey(kind model.AnomalyKind, cell int32) bool {
	c := &j.states.cells[cell]
	if c.first > 0 || c.final(j.states.from).value == (model.Value{}) {
		return false
	}
	j.reportCell(kind, cell, model.Fact{Times: -1})
	return true
}

// reportNotFolded reports the inputs under a key that are not in its state.
func (j *Judge) reportNotFolded(op, cell int32) (found bool) {
	list := j.flow.lists[op]
	for i := j.states.cells[cell].first; i > 0; i = list[i-1].next {
		rec := list[i-1].rec
		n := &j.nodes[j.slot(rec.ID, op, rec.Path)]
		if n.folded > 0 {
			continue
		}
		a := j.stateAnomaly(model.StateLoss, op, rec)
		a.Expected.Times, a.Observed.Times = 1, 0
		j.citeLoss(&a, rec.ID, n.claim)
		j.Report(a)
		found = true
	}
	return found
}

// reportFoldedTwice reports the inputs under a key that are in its state more than once.
func (j *Judge) reportFoldedTwice(op, cell int32) (found bool) {
	list := j.flow.lists[op]
	for i := j.states.cells[cell].first; i > 0; i = list[i-1].next {
		rec := list[i-1].rec
		if j.nodes[j.slot(rec.ID, op, rec.Path)].folded > 1 {
			j.reportTwice(op, rec)
			found = true
		}
	}
	return found
}

func (j *Judge) reportTwice(op int32, rec *model.Record) {
	n := &j.nodes[j.slot(rec.ID, op, rec.Path)]
	a := j.stateAnomaly(model.StateDuplicate, op, rec)
	a.Expected.Times, a.Observed.Times = 1, int64(n.folded)
	for c := n.claim; c > 0; c = j.claims.list[c-1].next {
		if j.claims.list[c-1].folded {
			a.Cite(j.h.Applications[c-1].N)
		}
	}
	j.Report(a)
}

// nameBeyond adds to a violation what the provenance says of operators that are beyond the search:
// which inputs are in their states more than once. It proves nothing by itself, since the values
// of their inputs depend on orders.
func (j *Judge) nameBeyond() {
	if j.Reported() == 0 || !j.plan.beyond {
		return
	}
	for i := range j.claims.list {
		c, app := &j.claims.list[i], &j.h.Applications[i]
		if c.folded && j.nodes[c.slot].folded > 1 && !j.plan.stages[app.Op].alone {
			j.reportTwice(app.Op, &app.In)
		}
	}
}

// stateAnomaly is an anomaly of the state of an operator: its record names the input as puts do.
func (j *Judge) stateAnomaly(kind model.AnomalyKind, op int32, rec *model.Record) model.Anomaly {
	return model.Anomaly{Kind: kind,
		Record: model.Record{ID: rec.ID, Path: rec.Path, Op: op, Key: rec.Key, Value: rec.Value}}
}

// reportCell reports a state. Its record names the first input under the key.
func (j *Judge) reportCell(kind model.AnomalyKind, cell int32, expected model.Fact) {
	c := &j.states.cells[cell]
	held := c.final(j.states.from)
	a := model.Anomaly{Kind: kind, Expected: expected,
		Record:   model.Record{Op: c.op, Key: j.recall.keys.list[c.key]},
		Observed: model.Fact{Times: -1, Value: held.value, HasValue: true}}
	if c.first > 0 {
		rec := j.flow.lists[c.op][c.first-1].rec
		a.Record.ID, a.Record.Path = rec.ID, rec.Path
	}
	a.Cite(held.at)
	j.Report(a)
}
