package oracle

import "github.com/oncesim/oncesim/model"

// coverage is whether all that a step emitted became visible.
type coverage uint8

const (
	unknown coverage = iota
	covered
	uncovered
)

// isCovered reports whether every output of a step arrived on every route, and so on down to the
// sink.
func (r *run) isCovered(a *application) bool {
	if a.coverage == unknown {
		a.coverage = covered
		if a.withholds {
			a.coverage = uncovered
		}
		for i := range a.outs {
			if !r.hasArrived(a.task, &a.outs[i], a) {
				a.coverage = uncovered
				break
			}
		}
	}
	return a.coverage == covered
}

// hasArrived reports whether, on every route of a task, one of the transmissions of a record ended
// in a step that is covered, or in a write, whichever step emitted it: what comes of a record does
// not depend on that. In a table by key it need not, if there is something newer. The step is nil
// for a source.
func (r *run) hasArrived(task *model.Task, rec *model.Record, by *application) bool {
	for _, route := range task.Routes {
		out := task.Out[route.Pick(task.Subtask, rec)]
		ok := false
		for _, n := range r.sends[*rec] {
			s := r.entry(n)
			ok = ok || s.To == out.Peer && s.Msg.Channel == out.There && r.isFinished(n)
		}
		if to := &r.o.job.Tasks[out.Peer]; !ok && r.isKeyed() && to.Role == model.Sink {
			ok = r.isSuperseded(by, rec, to.Part)
		}
		if !ok {
			return false
		}
	}
	return true
}

// isFinished follows one transmission, in all its copies.
func (r *run) isFinished(sent int64) bool {
	for n := r.nodes[sent].delivery; n != 0; n = r.nodes[n].earlier {
		if r.isCarried(n) || r.isKnown(n) {
			return true
		}
	}
	return false
}

// isKnown reports whether a task that keeps a catalog of its inputs has carried another delivery of
// the same record. What it recognises it does not take up again.
func (r *run) isKnown(n int64) bool {
	e := r.entry(n)
	if !r.knows[e.Proc] {
		return false
	}
	for l := r.current[e.Proc]; l != nil; l = l.older {
		for _, other := range l.deliveries {
			if other != n && r.entry(other).Msg.Record.Same(e.Msg.Record) && r.isCarried(other) {
				return true
			}
		}
	}
	return false
}

// isCarried follows one delivery.
func (r *run) isCarried(n int64) bool {
	if r.o.job.Tasks[r.entry(n).Proc].Role == model.Sink {
		return r.nodes[n].written
	}
	for a := r.nodes[n].app; a != nil; a = a.before {
		if r.isCovered(a) {
			return true
		}
	}
	return false
}

// atLeastOnce looks for inputs that were not carried through.
func (r *run) atLeastOnce(v *verdict) {
	if !r.canRead(v) {
		return
	}
	for i := range r.o.input.Total() {
		if r.isLost(i) {
			v.addAtEnd(model.Loss, *r.o.input.ByIndex(i), 0)
		}
	}
}

// isLost reports whether, on some route from the source, an input was not carried through.
func (r *run) isLost(index int) bool {
	rec := r.o.input.ByIndex(index)
	source := &r.o.job.Tasks[rec.ID.Part] // sources come first, in partition order
	return !r.hasArrived(source, rec, nil)
}

// canRead leaves the verdict open where identities are not unique, or where the external system
// does not hold what it accepted.
func (r *run) canRead(v *verdict) bool {
	switch {
	case r.legal.isAmbiguous:
		v.leave("two routes give two records the same identity")
	case !r.honest:
		v.leave("the external system shows something else than it accepted")
	default:
		return true
	}
	return false
}
