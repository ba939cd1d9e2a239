package oracle

import (
	"slices"

	"github.com/oncesim/oncesim/model"
)

// progress asks whether every source has come to the end of its partition, and the committed
// offset with it, and whether every transaction is decided.
func (r *run) progress(v *verdict) {
	switch r.end {
	case model.EventBound:
		v.leave("the budget of events is spent")
		return
	case model.TimeBound, model.RestartLoop:
		v.add(model.Stuck, model.Record{}, int64(len(r.trace)))
		r.hanging(v)
		return
	}
	r.hanging(v)
	for part := range r.o.input.Parts {
		length := int64(len(r.o.input.Parts[part].Records))
		if !r.isToldEnd(int32(part)) || r.o.mode.Commits && r.furthest[part] < length {
			v.add(model.Stuck, model.Record{ID: model.ID{Part: int32(part), Offset: length}}, 0)
		}
	}
}

// isToldEnd reports whether a life that lives in the end has been told that a partition ends: that
// of its source, or of whoever tells sources what to read.
func (r *run) isToldEnd(part int32) bool {
	return slices.ContainsFunc(r.current, func(l *life) bool {
		return l != nil && !l.ended && slices.Contains(l.toldEnd, part)
	})
}

// mechanism reports what was found on the way.
func (r *run) mechanism(v *verdict) { v.findings = r.found }

// fencing looks for a durable write of a life that has a successor.
func (r *run) fencing(e *model.Entry) {
	if r.lifeOf(e).successor != 0 {
		r.found = append(r.found, Finding{Kind: model.ZombieWrite, Record: e.Msg.Record,
			Event: e.N})
	}
}

// committed moves the offset of a partition.
func (r *run) committed(e *model.Entry) {
	offset := &r.offset[e.Msg.Record.ID.Part]
	if e.Msg.Seq < *offset {
		r.found = append(r.found, Finding{Kind: model.OffsetRegression, Record: e.Msg.Record,
			Event: e.N})
	}
	*offset = e.Msg.Seq
	furthest := &r.furthest[e.Msg.Record.ID.Part]
	*furthest = max(*furthest, e.Msg.Seq)
}
