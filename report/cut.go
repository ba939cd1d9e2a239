package report

import (
	"fmt"

	"github.com/oncesim/oncesim/model"
)

// whyAhead is a sentence on why a task's part of a checkpoint has the record in it although the
// checkpoint's offsets are before it, so that a restart applies it twice; or "".
func (s *story) whyAhead(checkpoint int64) string {
	return s.atCut(checkpoint, func(got, barrier *model.Entry, upload *model.Call) string {
		applied := s.appliedOf(got)
		switch {
		case got.Cause < barrier.Cause || applied == nil || applied.N > s.cutAt(upload, checkpoint):
			return ""
		case got.N < barrier.N:
			return fmt.Sprintf("%s left %s behind the barrier of %s and reached %s at %s, before "+
				"the barrier (%s): the part of %s that %s uploaded has it.", s.record,
				s.t.name(got.To), s.t.cutName(checkpoint), s.t.name(got.Proc), s.at(got.N),
				s.at(barrier.N), s.t.cutName(checkpoint), s.t.name(got.Proc))
		case applied.N > s.sentAt(upload, checkpoint):
			return fmt.Sprintf("%s sent the barrier of %s on at %s, and what it uploaded was a "+
				"view of live state: it applied %s, which came behind the barrier, at %s, and the "+
				"upload at %s has that.", s.t.name(got.Proc), s.t.cutName(checkpoint),
				s.at(s.sentAt(upload, checkpoint)), s.record, s.at(applied.N), s.at(upload.Served))
		}
		return fmt.Sprintf("%s had the barrier of %s from %s at %s and did not wait: it applied "+
			"%s, which came behind it, at %s, and uploaded its part with that at %s.",
			s.t.name(got.Proc), s.t.cutName(checkpoint), s.t.name(got.To), s.at(barrier.N),
			s.record, s.at(applied.N), s.at(upload.Served))
	})
}

// cutAt is the event at which a task took the state that it uploaded: when it sent the barrier on,
// or, where a snapshot is a view of live state, at the upload.
func (s *story) cutAt(upload *model.Call, checkpoint int64) int64 {
	for _, p := range s.t.job.Params {
		if p.Name == "aliased" && p.Value == 1 {
			return upload.Invoked
		}
	}
	return s.sentAt(upload, checkpoint)
}

// sentAt is the event at which a task sent a barrier on, or the upload if it sends none.
func (s *story) sentAt(upload *model.Call, checkpoint int64) int64 {
	sent := s.t.find(0, upload.Invoked, func(e *model.Entry) bool {
		return e.Kind == model.EntrySend && e.Msg.Kind == model.Barrier && e.Proc == upload.Proc &&
			e.Attempt == upload.Attempt && e.Msg.Seq == checkpoint
	})
	if sent == nil {
		return upload.Invoked
	}
	return sent.N
}

// whyLeftOut is a sentence on why a task's part of a checkpoint lacks the record although the
// checkpoint's offsets are behind it, so that a restart loses it; or "".
func (s *story) whyLeftOut(checkpoint int64) string {
	return s.atCut(checkpoint, func(got, barrier *model.Entry, upload *model.Call) string {
		switch {
		case got.Cause > barrier.Cause || s.holds(upload, got):
			return ""
		case got.N > barrier.N:
			return fmt.Sprintf("%s left %s before the barrier of %s and reached %s at %s, behind "+
				"it (%s): no part of the checkpoint has it.", s.record, s.t.name(got.To),
				s.t.cutName(checkpoint), s.t.name(got.Proc), s.at(got.N), s.at(barrier.N))
		}
		first := s.t.find(0, barrier.N, func(e *model.Entry) bool {
			return e.Kind == model.EntrySend && e.Msg.Kind == model.Barrier && isOf(e, got) &&
				e.Msg.Seq == checkpoint
		})
		if first == nil || first.N > got.N {
			return s.whyOvertaken(checkpoint, got, barrier, s.sentAt(upload, checkpoint))
		}
		return fmt.Sprintf("%s took its part of %s at the first barrier (%s). %s came at %s, "+
			"before the barrier of its own channel (%s): it was in flight, and the part does not "+
			"keep it.",
			s.t.name(got.Proc), s.t.cutName(checkpoint), s.at(first.Cause), s.record, s.at(got.N),
			s.at(barrier.N))
	})
}

// whyOvertaken is a sentence on a record that waited before an operator when a barrier passed it,
// if it was applied after the barrier was sent on, or never; or "".
func (s *story) whyOvertaken(checkpoint int64, got, barrier *model.Entry,
	sent int64) string {
	applied := s.appliedOf(got)
	isOperator := s.t.job.Tasks[got.Proc].Role == model.Operate
	if !isOperator || applied != nil && applied.N < sent {
		return ""
	}
	return fmt.Sprintf("%s waited before %s (%s) when the barrier of %s came (%s) and overtook "+
		"it: it was in flight, and the part does not keep it.", s.record, s.t.name(got.Proc),
		s.at(got.N), s.t.cutName(checkpoint), s.at(barrier.N))
}

// atCut asks for a sentence on each way that the record took to a task which uploaded a part of a
// checkpoint: where it was handled, where the barrier of its channel was, and the upload.
func (s *story) atCut(checkpoint int64,
	why func(got, barrier *model.Entry, upload *model.Call) string) string {
	for i := range s.t.job.Tasks {
		task := &s.t.job.Tasks[i]
		up := s.t.uploaded(task.Proc, checkpoint, s.t.end())
		if task.Role == model.Source || up == nil || checkpoint == 0 {
			continue
		}
		for n := int64(1); n < up.N; n++ {
			got := s.t.at(n)
			if got.Kind != model.EntryDeliver || got.Msg.Kind != model.Data || !isOf(got, up) ||
				got.Msg.Record.ID != s.about {
				continue
			}
			barrier := s.t.find(0, up.N, func(e *model.Entry) bool {
				return e.Kind == model.EntryDeliver && e.Msg.Kind == model.Barrier && isOf(e, up) &&
					e.Msg.Seq == checkpoint && e.Msg.Channel == got.Msg.Channel
			})
			if barrier == nil {
				continue
			}
			if text := why(got, barrier, s.t.callOf(up.N)); text != "" {
				return text
			}
		}
	}
	return ""
}

// appliedOf is the application that a delivery led to, or nil.
func (s *story) appliedOf(got *model.Entry) *model.Entry {
	return s.t.find(got.N, s.t.end(), func(e *model.Entry) bool {
		return e.Kind == model.EntryApply && isOf(e, got) && e.Msg.Record.Same(got.Msg.Record)
	})
}

// holds reports whether an upload has a delivered record among those in flight.
func (s *story) holds(upload *model.Call, got *model.Entry) bool {
	for i := upload.Req.N; i < int64(len(upload.Req.Parts)); i++ {
		if upload.Req.Parts[i].Same(got.Msg.Record) {
			return true
		}
	}
	return false
}

// tellStateTwice tells how a record came to be in the state twice: what a checkpoint has of it, and
// why it was applied again. It reports false where the trace does not show that.
func (s *story) tellStateTwice(list []int64) bool {
	if len(list) < 2 {
		return false
	}
	second := s.t.at(list[len(list)-1])
	order := s.t.restored(second.Proc, second.Attempt)
	if order == nil || order.Msg.Seq == 0 {
		return false
	}
	up := s.t.uploaded(second.Proc, order.Msg.Seq, order.N)
	if up == nil {
		return false
	}
	first := s.t.findLast(0, up.N, func(e *model.Entry) bool {
		return e.Kind == model.EntryApply && isOf(e, up) && e.Msg.Record.Same(second.Msg.Record)
	})
	why := s.whyAhead(order.Msg.Seq)
	if first == nil || why == "" {
		return false
	}
	s.sentences = append(s.sentences, why)
	s.explainJobRestart(s.t.find(0, order.N, func(e *model.Entry) bool {
		return e.Kind == model.EntryStart && isOf(e, order)
	}))
	s.say("So %s applied it a second time, at %s.", s.t.name(second.Proc), s.at(second.N))
	return true
}

// tellCut tells of a checkpoint that is the state of no cut: that it was completed, and the first
// record that is on the wrong side of it.
func (s *story) tellCut(a *model.Anomaly) {
	checkpoint := a.Record.ID.Offset
	if done := s.t.completion(checkpoint, s.t.end()+1); done != nil {
		s.say("%s completed %s at %s.", s.t.name(done.Proc), s.t.cutName(checkpoint), s.at(done.N))
	}
	for i := range s.t.entries {
		e := &s.t.entries[i]
		if e.Kind != model.EntryDeliver || e.Msg.Kind != model.Data || e.Msg.Record.Op != 0 {
			continue
		}
		s.about, s.record = e.Msg.Record.ID, s.c.recordName(e.Msg.Record.ID)
		for _, why := range []string{s.whyAhead(checkpoint), s.whyLeftOut(checkpoint)} {
			if why != "" {
				s.sentences = append(s.sentences, why)
				return
			}
		}
	}
	s.sayFaults()
}

// tellRolledBack tells of a record that an operator applied and that a restart took back: from
// which checkpoint the job went on, and why that lacks it.
func (s *story) tellRolledBack(applied *model.Entry) {
	if _, order := s.lastRestart(); order != nil && order.N > applied.N {
		s.say("%s applied %s at %s, and kept the result in memory.", s.t.name(applied.Proc),
			s.record, s.at(applied.N))
		s.sayNotEmpty(s.whyLeftOut(order.Msg.Seq))
		if s.sayBehind() {
			return
		}
		s.say("The job began again from %s (%s), and nothing applied it after that.",
			s.t.checkpointName(order.Msg.Seq), s.at(order.N))
		return
	}
	s.say("%s applied %s at %s, and kept the result in memory.", s.t.name(applied.Proc), s.record,
		s.at(applied.N))
}
