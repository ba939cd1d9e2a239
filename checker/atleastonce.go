package checker

import "github.com/oncesim/oncesim/model"

// atLeastOnce is ALO, coverage: nothing is missing.
func atLeastOnce() Property {
	return Property{
		Name: "at-least-once",
		Says: "each input has an application all of whose outputs became visible, through every " +
			"operator on the way; an input that is dropped on purpose is covered by being " +
			"applied, and an output to a table by key by a later one that became visible " +
			"under its key",
		Source: "Hwang et al., High-Availability Algorithms for Distributed Stream Processing, " +
			"ICDE 2005 (rollback recovery)",
		Anomalies: []model.AnomalyKind{model.Loss},
		Check:     checkAtLeastOnce,
	}
}

func checkAtLeastOnce(j *Judge) (model.Result, string) {
	if j.plan.ambiguous {
		return model.Undecided, reasonAmbiguous
	}
	j.coverAll()
	late := false
	for part := range int32(j.plan.parts) {
		records := j.s.Input.Parts[part].Records
		for i := range records {
			if j.isReached(&records[i]) {
				continue
			}
			if late = !j.completed; !late {
				j.reportLoss(&records[i])
			}
		}
	}
	if late {
		return model.Undecided, j.unfinished()
	}
	return j.conclude("")
}

// coverAll marks the claims of all operators, the last ones first.
func (j *Judge) coverAll() {
	j.look()
	j.replay()
	for op := j.plan.ops; op > 0; op-- {
		j.cover(op)
	}
}

// cover marks the claims of an operator all of whose outputs became visible. The operators that
// read from it have been marked before.
func (j *Judge) cover(op int32) {
	c := &j.claims
	for i := range c.list {
		me := &c.list[i]
		if me.op != op || me.slot == noSlot {
			continue
		}
		me.covered = !me.aside
		for n := range me.outs {
			if !j.arrives(op, int32(i), n) {
				me.covered = false
				break
			}
		}
	}
}

// arrives reports whether output n of a claim became visible, or was taken up by covered claims. In
// a table by key it is enough that something that may come later became visible under its key.
func (j *Judge) arrives(op, claim, n int32) bool {
	e := &j.claims.emitted[j.claims.list[claim].out+n]
	app := &j.h.Applications[claim]
	in := &app.In
	if j.plan.stages[op].terminal {
		if first := j.nodes[e.slot].first; j.seen.matched && first > 0 &&
			j.seen.entries[first-1].claim == claim+1 || j.wasShown(e) {
			return true
		}
		out := model.Record{ID: in.ID, Path: in.Path.Child(int(n)), Op: op, Key: e.key,
			Value: e.value}
		return j.isSuperseded(j.plan.sinks[app.Proc], &out)
	}
	for _, next := range j.plan.stages[op].next {
		if !j.isTaken(claim, e, j.slot(in.ID, next, in.Path.Child(int(n)))) {
			return false
		}
	}
	return true
}

// isTaken reports whether a covered claim of a step took up an emission of a claim, or of none: -1.
func (j *Judge) isTaken(claim int32, e *emission, slot int32) bool {
	for i := j.nodes[slot].claim; i > 0; i = j.claims.list[i-1].next {
		c := &j.claims.list[i-1]
		if c.covered && (c.from == claim+1 || e.is(&j.h.Applications[i-1].In)) {
			return true
		}
	}
	return false
}

// isReached reports whether each operator that reads the input has a covered claim of a record.
func (j *Judge) isReached(rec *model.Record) bool {
	for _, op := range j.plan.heads[rec.ID.Part] {
		e := emission{key: rec.Key, value: rec.Value}
		if !j.isTaken(-1, &e, j.slot(rec.ID, op, 0)) {
			return false
		}
	}
	return true
}
