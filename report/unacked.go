package report

import (
	"fmt"

	"github.com/oncesim/oncesim/model"
)

// whyUnacked is a sentence on why a message was not acknowledged before an event, or "". It
// follows the message from hop to hop.
func (s *story) whyUnacked(send *model.Entry, before int64) string {
	receiver := s.t.name(send.To)
	fate := s.t.fate[send.N]
	if fate == 0 || fate > before {
		return s.whyWaiting(send, before)
	}
	got := s.t.at(fate)
	switch got.Kind {
	case model.EntryDrop:
		return s.whyDropped(got)
	case model.EntryLose:
		return s.whyLost(got)
	}
	if end := s.t.find(fate, before, func(e *model.Entry) bool {
		return isDeath(e) && isOf(e, got)
	}); end != nil && s.ackOf(send, got, end.N) == nil {
		return fmt.Sprintf("%s %s before it had acknowledged %s to %s.", receiver, s.died(end),
			s.record, s.t.name(send.Proc))
	}
	if ack := s.ackOf(send, got, before); ack != nil {
		return s.whyAckIgnored(ack, before)
	}
	return s.whyHeld(got, before)
}

// whyHeld is whyUnacked of a message that was delivered and whose receiver lives.
func (s *story) whyHeld(got *model.Entry, before int64) string {
	if why := s.whyPaused(s.t.name(got.Proc), got.N, before); why != "" {
		return why
	}
	for n := got.N + 1; n < before; n++ {
		e := s.t.at(n)
		if !isOf(e, got) || e.Msg.Record.ID != s.about {
			continue
		}
		why := ""
		switch {
		case e.Kind == model.EntryInvoke && s.isOpen(n, before):
			why = s.whyUnanswered(n, before)
		case e.Kind == model.EntryServe:
			why = s.whyVoid(e)
		case e.Kind == model.EntrySend && e.Msg.Kind == model.Data:
			why = s.whyUnacked(e, before)
		}
		if why != "" {
			return why
		}
	}
	return ""
}

// isOpen reports whether a call had no good answer by an event.
func (s *story) isOpen(invoked, before int64) bool {
	call := s.t.callOf(invoked)
	return call.Answered == 0 || call.Answered > before || call.Outcome == model.Unknown
}

// ackOf is the acknowledgement of a message that its receiver sent before an event, or nil.
func (s *story) ackOf(send, got *model.Entry, before int64) *model.Entry {
	return s.t.find(got.N, before, func(e *model.Entry) bool {
		return e.Kind == model.EntrySend && e.Msg.Kind == model.Ack && isOf(e, got) &&
			e.To == send.Proc && e.Msg.Seq == send.Msg.Seq && e.Msg.Token == int64(send.Attempt)
	})
}

// whyAckIgnored says where an acknowledgement was when its receiver gave up.
func (s *story) whyAckIgnored(ack *model.Entry, before int64) string {
	fate := s.t.fate[ack.N]
	switch {
	case fate == 0 || fate > before:
		return fmt.Sprintf("The acknowledgement was sent at %s and was still on its way.",
			s.at(ack.N))
	case s.t.at(fate).Kind == model.EntryDrop:
		return s.whyDropped(s.t.at(fate))
	case s.t.at(fate).Kind == model.EntryLose:
		return s.whyLost(s.t.at(fate))
	}
	return ""
}

// whyLost says that the network took a message.
func (s *story) whyLost(lost *model.Entry) string {
	what := s.messageOf(lost)
	if lost.Detail == byPartition {
		return fmt.Sprintf("A partition between %s and %s took %s at %s.", s.t.name(lost.Proc),
			s.t.name(lost.To), what, s.at(lost.N))
	}
	return capital(fmt.Sprintf("the network lost %s between %s and %s at %s.", what,
		s.t.name(lost.Proc), s.t.name(lost.To), s.at(lost.N)))
}

// whyWaiting says why a message had not been handled by an event.
func (s *story) whyWaiting(send *model.Entry, before int64) string {
	receiver := s.t.name(send.To)
	if held := s.t.find(send.N, before, func(e *model.Entry) bool {
		return e.Kind == model.EntryDelay && e.Cause == send.N
	}); held != nil {
		return fmt.Sprintf("The network held %s up on its way to %s from %s on.", s.record,
			receiver, s.at(held.N))
	}
	if why := s.whyPaused(receiver, 0, before); why != "" {
		return why
	}
	busy := s.t.findLast(0, before, func(e *model.Entry) bool {
		return e.Kind == model.EntryInvoke && e.Proc == send.To && s.isOpen(e.N, before)
	})
	if busy == nil {
		return ""
	}
	return s.whyUnanswered(busy.N, before)
}

// whyDropped says why a message found nobody.
func (s *story) whyDropped(drop *model.Entry) string {
	death := s.t.findLast(0, drop.N, func(e *model.Entry) bool {
		return isDeath(e) && e.Proc == drop.To
	})
	if death == nil {
		return fmt.Sprintf("%s was not there when %s came at %s.", s.t.name(drop.To),
			s.messageOf(drop), s.at(drop.N))
	}
	return fmt.Sprintf("%s %s, and %s found nobody there at %s.", s.t.name(drop.To), s.died(death),
		s.messageOf(drop), s.at(drop.N))
}
