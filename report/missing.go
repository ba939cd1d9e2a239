package report

import (
	"fmt"

	"github.com/oncesim/oncesim/model"
)

// tellLoss tells why nothing, or not everything, came of the record: where its position was
// passed, where it was last seen, and why it does not come again.
func (s *story) tellLoss() {
	fetched := s.t.findLast(0, s.t.end(), func(e *model.Entry) bool { return isFetch(e, s.about) })
	if fetched == nil {
		s.tellNeverRead()
		return
	}
	broken := s.breach(fetched)
	if commit := s.t.find(0, s.t.end(), func(e *model.Entry) bool {
		return covers(e, s.about)
	}); commit != nil {
		s.say("The offset behind %s was committed at %s.", s.record, s.at(commit.N))
	}
	if broken == "" {
		broken = fmt.Sprintf("It was read at %s, and nothing visible came of it.", s.at(fetched.N))
	}
	s.sentences = append(s.sentences, broken)
	s.sayNeverAgain(fetched)
}

// tellNeverRead tells of a record that no source has read.
func (s *story) tellNeverRead() {
	skip := s.t.find(0, s.t.end(), func(e *model.Entry) bool {
		return isPosition(e, s.about.Part) && e.Ans.Seq > s.about.Offset
	})
	if skip == nil {
		s.say("No source has read %s before the run ended at %s (%s).", s.record,
			s.at(s.t.end()), s.t.hist.End.Reason)
		return
	}
	who := s.t.name(skip.Proc)
	if death := s.t.findLast(0, skip.N, func(e *model.Entry) bool {
		return (isDeath(e) || e.Kind == model.EntryPause) && e.Proc == skip.Proc
	}); death != nil {
		s.say("%s before it had read %s.", s.describe(death), s.record)
	} else if late := s.t.findLast(0, skip.N, func(e *model.Entry) bool {
		return e.Kind == model.EntryAnswer && e.Outcome == model.Unknown && isOf(e, skip)
	}); late != nil {
		s.sayNotEmpty(s.whyUnanswered(late.Cause, late.N))
	}
	where := "the end of what had arrived"
	if skip.Msg.Kind == model.Position {
		where = "the committed offset"
	}
	s.say("Attempt %d of %s began at %s, offset %d (%s), which is behind %s; nobody reads it.",
		skip.Attempt, who, where, skip.Ans.Seq, s.at(skip.N), s.record)
}

// breach is a sentence on where the last trail of the record ends, or "".
func (s *story) breach(fetched *model.Entry) string {
	last := s.t.findLast(0, s.t.end(), func(e *model.Entry) bool {
		return e.Kind == model.EntrySend && e.Msg.Kind == model.Data &&
			e.Msg.Record.Op == 0 && e.Msg.Record.ID == s.about
	})
	if last == nil || last.N < fetched.N && !isOf(last, fetched) {
		return s.heldBy(fetched, fetched, "read it at")
	}
	return s.follow(last)
}

// follow is a sentence on where the trail of a message ends without an effect, or "" where it
// does not.
func (s *story) follow(send *model.Entry) string {
	fate := s.t.fate[send.N]
	if fate == 0 {
		return fmt.Sprintf("%s sent %s to %s at %s, which had not taken it when the run ended.",
			s.t.name(send.Proc), s.record, s.t.name(send.To), s.at(send.N))
	}
	got := s.t.at(fate)
	switch got.Kind {
	case model.EntryDrop:
		return s.whyDropped(got)
	case model.EntryLose:
		return s.whyLost(got)
	}
	if task := s.t.task(got.Proc); task != nil && task.Role == model.Sink {
		return s.followWrite(got)
	}
	applied := s.t.find(got.N, s.t.end(), func(e *model.Entry) bool {
		return e.Kind == model.EntryApply && isOf(e, got) && e.Msg.Record.Same(got.Msg.Record)
	})
	if applied == nil {
		return s.heldBy(got, got, "had taken it at")
	}
	return s.followOutputs(applied)
}

// followOutputs follows what a step emitted to the first output that did not arrive.
func (s *story) followOutputs(applied *model.Entry) string {
	task := s.t.task(applied.Proc)
	sent, want := int32(0), s.outputs(applied)*int32(len(task.Routes))
	upTo := s.nextStep(applied)
	for n := applied.N + 1; n <= upTo; n++ {
		e := s.t.at(n)
		if e.Kind != model.EntrySend || e.Msg.Kind != model.Data || !isOf(e, applied) ||
			e.Msg.Record.ID != s.about || e.Msg.Record.Op != task.Op {
			continue
		}
		sent++
		if why := s.follow(e); why != "" {
			return why
		}
	}
	if sent < want {
		return s.heldBy(applied, applied, "had applied it at")
	}
	return ""
}

// nextStep is the event before which everything sent belongs to an application.
func (s *story) nextStep(applied *model.Entry) int64 {
	next := s.t.find(applied.N, s.t.end(), func(e *model.Entry) bool {
		return e.Kind == model.EntryApply && isOf(e, applied)
	})
	if next == nil {
		return s.t.end()
	}
	return next.N
}

// outputs is how many records an application says that it emitted.
func (s *story) outputs(applied *model.Entry) int32 {
	for i := range s.t.hist.Applications {
		if a := &s.t.hist.Applications[i]; a.N == applied.N {
			return a.Outputs
		}
	}
	return 0
}

// followWrite follows a record at the sink.
func (s *story) followWrite(got *model.Entry) string {
	invoked := s.t.find(got.N, s.t.end(), func(e *model.Entry) bool {
		return e.Kind == model.EntryInvoke && e.Msg.Kind == model.Write && isOf(e, got) &&
			e.Msg.Record.Same(got.Msg.Record)
	})
	if invoked == nil {
		return s.heldBy(got, got, "had taken it at")
	}
	if s.t.callOf(invoked.N).Served != 0 {
		return ""
	}
	if why := s.whyUnanswered(invoked.N, s.t.end()); why != "" {
		return why
	}
	return s.heldBy(got, invoked, "had asked for the write at")
}

// heldBy is a sentence on the end of a life that had the record in hand.
func (s *story) heldBy(of, since *model.Entry, had string) string {
	who := s.t.name(of.Proc)
	if end := s.t.find(since.N, s.t.end(), func(e *model.Entry) bool {
		return isDeath(e) && isOf(e, of)
	}); end != nil {
		return fmt.Sprintf("%s %s %s and %s with it in hand.", who, had, s.at(since.N), s.died(end))
	}
	if open := s.t.findLast(since.N, s.t.end(), func(e *model.Entry) bool {
		return e.Kind == model.EntryInvoke && isOf(e, of) && s.isOpen(e.N, s.t.end())
	}); open != nil {
		if why := s.whyUnanswered(open.N, s.t.end()); why != "" {
			return why
		}
	}
	return fmt.Sprintf("%s %s %s, and that is where its trail ends.", who, had, s.at(since.N))
}

// sayNeverAgain says why the record does not come again.
func (s *story) sayNeverAgain(fetched *model.Entry) {
	again := s.t.find(fetched.N, s.t.end(), func(e *model.Entry) bool {
		return isPosition(e, s.about.Part) && e.Ans.Seq > s.about.Offset
	})
	if again == nil {
		s.say("The source has moved on, and nobody reads it again.")
		return
	}
	s.say("The next attempt of %s began behind it, at offset %d (%s): nobody reads it again.",
		s.t.name(again.Proc), again.Ans.Seq, s.at(again.N))
}

// tellStateLoss tells why a record is missing from the state.
func (s *story) tellStateLoss(rec model.Record) {
	applied := s.applications(rec)
	if len(applied) == 0 {
		s.tellLoss()
		return
	}
	last := s.t.at(applied[len(applied)-1])
	who := s.t.name(last.Proc)
	put := s.putOf(last)
	end := s.t.find(last.N, s.t.end(), func(e *model.Entry) bool {
		return isDeath(e) && isOf(e, last)
	})
	switch {
	case put != nil:
		s.say("%s applied %s at %s and put the result at %s.", who, s.record, s.at(last.N),
			s.at(put.N))
		s.sayOverwritten(put)
	case end != nil && s.t.mode.State == model.Volatile:
		s.say("%s applied %s at %s and kept the result in memory only.", who, s.record,
			s.at(last.N))
		s.say("%s %s, and its successor began with empty state.", who, s.died(end))
	case end != nil:
		s.say("%s applied %s at %s.", who, s.record, s.at(last.N))
		s.say("%s %s before the result was in the store.", who, s.died(end))
	case s.t.mode.State == model.Volatile:
		s.say("%s applied %s at %s and kept the result in memory, as this mode does.", who,
			s.record, s.at(last.N))
		s.say("The store has none of it, and a restart would begin with empty state.")
	default:
		s.say("%s applied %s at %s, and the result never reached the store.", who, s.record,
			s.at(last.N))
	}
}

// putOf is the serving of the put that an application led to, or nil.
func (s *story) putOf(applied *model.Entry) *model.Entry {
	return s.t.find(applied.N, s.t.end(), func(e *model.Entry) bool {
		return isServe(e, model.Put) && isOf(e, applied) &&
			e.Msg.Record.ID == applied.Msg.Record.ID &&
			e.Msg.Record.Key == applied.Msg.Record.Key
	})
}

// sayOverwritten says who put another value over one without having read it: another attempt, or a
// request that was sent before.
func (s *story) sayOverwritten(put *model.Entry) {
	over := s.t.find(put.N, s.t.end(), func(e *model.Entry) bool {
		return isServe(e, model.Put) && e.Msg.Record.Op == put.Msg.Record.Op &&
			e.Msg.Record.Key == put.Msg.Record.Key && (!isOf(e, put) || s.isOlder(e, put))
	})
	if over == nil {
		return
	}
	if isOf(over, put) {
		s.say("An older put of %s%s overwrote the result with one that lacks it, at %s.",
			s.t.name(over.Proc), s.heldUp(over), s.at(over.N))
		return
	}
	get := s.t.findLast(0, over.N, func(e *model.Entry) bool {
		return isServe(e, model.Get) && isOf(e, over) && e.Msg.Record.Key == put.Msg.Record.Key
	})
	if get != nil {
		s.say("Attempt %d of %s had read the state under %q at %s, before that.", over.Attempt,
			s.t.name(over.Proc), put.Msg.Record.Key, s.at(get.N))
	}
	s.say("Its own put at %s overwrote the result with one that lacks it.", s.at(over.N))
}

// isOlder reports whether the request served at e was sent before that served at other.
func (s *story) isOlder(e, other *model.Entry) bool {
	a, b := s.t.callOf(e.N), s.t.callOf(other.N)
	return a != nil && b != nil && a.Invoked < b.Invoked
}
