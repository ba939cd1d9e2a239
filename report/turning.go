package report

import (
	"fmt"

	"github.com/oncesim/oncesim/model"
)

// turnKind says why a thing was done again.
type turnKind uint8

const (
	doubled    turnKind = iota + 1 // the network delivered a request or a message twice
	unanswered                     // a caller had no answer and asked again
	resent                         // a sender had no acknowledgement and sent again
	restarted                      // a successor began again
	redone                         // a tuple tree was not finished in time and begun anew
)

// turn is the event at which the way to the one of two occurrences leaves that to the other.
type turn struct {
	kind     turnKind
	at       int64
	original int64 // what is done again: an event on the way to the other
}

// turning follows the causes of an event back to why it repeats another; nil: they do not tell.
// The links nearest to the event come first, and one counts only if what it repeats is on the way
// to the other event.
func (t *tape) turning(other, n int64) *turn {
	before := t.chain(other)
	for ; t.has(n); n = t.before(n) {
		if turn := t.turnAt(t.at(n), before); turn != nil {
			return turn
		}
	}
	return nil
}

// lastTurn is the nearest reason why an event came late or again; nil: it has none.
func (t *tape) lastTurn(n int64) *turn {
	for ; t.has(n); n = t.before(n) {
		e := t.at(n)
		switch {
		case e.Kind == model.EntryDouble:
			return &turn{doubled, n, e.Cause}
		case e.Kind == model.EntryAnswer && e.Outcome == model.Unknown:
			return &turn{unanswered, n, e.Cause}
		case t.origin[n] != 0:
			return &turn{t.repetition(e), n, t.origin[n]}
		case e.Kind == model.EntryStart && e.Attempt > 1:
			return &turn{restarted, n, 0}
		}
	}
	return nil
}

func (t *tape) turnAt(e *model.Entry, before map[int64]bool) *turn {
	switch e.Kind {
	case model.EntryDouble:
		if before[e.Cause] {
			return &turn{doubled, e.N, e.Cause}
		}
	case model.EntryAnswer:
		if e.Outcome == model.Unknown && before[e.Cause] {
			return &turn{unanswered, e.N, e.Cause}
		}
	case model.EntrySend:
		if first := t.origin[e.N]; first != 0 && before[first] && !before[e.N] {
			return &turn{t.repetition(e), e.N, first}
		}
	case model.EntryStart:
		if before[e.N] {
			return nil
		}
		if n := t.earlierLife(e, before); n != 0 {
			return &turn{restarted, e.N, n}
		}
	}
	return nil
}

// repetition says how a message comes to repeat another: as its next transmission, or under a new
// tree.
func (t *tape) repetition(e *model.Entry) turnKind {
	if e.Msg.Try == 0 {
		return redone
	}
	return resent
}

// earlierLife is an event in a set of another life of the process that starts at e, or 0.
func (t *tape) earlierLife(e *model.Entry, set map[int64]bool) int64 {
	found := int64(0)
	for n := range set {
		o := t.at(n)
		if o.Proc == e.Proc && o.Attempt < e.Attempt && n > found {
			found = n
		}
	}
	return found
}

// explain says what happened at a turn.
func (s *story) explain(t *turn) {
	switch t.kind {
	case doubled:
		s.sayDoubled(t, "a request")
	case unanswered:
		s.explainUnanswered(t)
	case resent:
		s.explainResent(t)
	case restarted:
		s.explainRestart(t)
	case redone:
		s.explainRedone(t)
	}
}

// sayDoubled says what the network doubled: a message by its ends, a request as given.
func (s *story) sayDoubled(t *turn, request string) {
	e := s.t.at(t.at)
	switch e.Msg.Kind {
	case model.Data:
		request = fmt.Sprintf("the message from %s to %s", s.t.name(e.Proc), s.t.name(e.To))
	case model.Ack:
		request = fmt.Sprintf("the acknowledgement from %s to %s", s.t.name(e.Proc), s.t.name(e.To))
	default:
		if e.Msg.Kind.IsMessage() {
			request = fmt.Sprintf("%s from %s to %s", s.t.noticeOf(&e.Msg), s.t.name(e.Proc),
				s.t.name(e.To))
		}
	}
	s.say("The network doubled %s at %s.", request, s.at(t.at))
}

func (s *story) explainUnanswered(t *turn) {
	e := s.t.at(t.at)
	who, kind := s.t.name(e.Proc), e.Msg.Kind
	why := s.whyUnanswered(t.original, t.at)
	if why == "" {
		why = "No answer came in time."
	}
	s.sentences = append(s.sentences, why)
	s.say("At %s %s gave up waiting, not knowing whether the %s had been applied, and sent it "+
		"again.", s.at(t.at), who, kind)
}

// whyUnanswered is a sentence on what became of a request or its answer, or "".
func (s *story) whyUnanswered(invoked, upTo int64) string {
	call := s.t.callOf(invoked)
	if call == nil {
		return ""
	}
	who := s.t.name(call.Proc)
	kind := call.Req.Kind
	e := s.t.find(invoked, s.t.end(), func(e *model.Entry) bool {
		isHit := e.Kind == model.EntryLose || e.Kind == model.EntryDelay
		return isHit && (e.Cause == invoked || call.Served != 0 && e.Cause == call.Served)
	})
	switch {
	case e == nil:
		return s.whyPaused(who, invoked, upTo)
	case e.Kind == model.EntryDelay:
		return fmt.Sprintf("A %s of %s was held up on its way at %s.", kind, who, s.at(e.N))
	}
	return s.whyLostHalf(e)
}

// whyPaused is a sentence on a process that stood still between two events, or "".
func (s *story) whyPaused(who string, from, upTo int64) string {
	e := s.t.find(from, upTo, func(e *model.Entry) bool {
		return e.Kind == model.EntryPause && s.t.name(e.Proc) == who
	})
	if e == nil {
		return ""
	}
	return fmt.Sprintf("%s stood still from %s on.", who, s.at(e.N))
}

func (s *story) explainResent(t *turn) {
	e := s.t.at(t.at)
	if why := s.whyUnacked(s.t.at(t.original), t.at); why != "" {
		s.sentences = append(s.sentences, why)
	}
	s.say("%s had no acknowledgement and sent it to %s again at %s.", s.t.name(e.Proc),
		s.t.name(e.To), s.at(t.at))
}

// died says how a life ended.
func (s *story) died(e *model.Entry) string {
	switch e.Kind {
	case model.EntryGiveUp:
		on := ""
		if id := s.t.gaveUpOn(e); id != s.about && id.Offset >= 0 {
			on = " on " + s.c.recordName(id)
		}
		return fmt.Sprintf("gave up%s at %s (%s)", on, s.at(e.N), e.Detail)
	case model.EntryCancel:
		return fmt.Sprintf("was cancelled at %s (%s)", s.at(e.N), e.Detail)
	}
	return "crashed at " + s.at(e.N)
}

// explainRestart says why a process began again, and from where.
func (s *story) explainRestart(t *turn) {
	start := s.t.at(t.at)
	if s.t.isJobRestart(start) {
		if source := s.t.sourceOf(s.about.Part); source != nil {
			if order := s.t.restored(source.Proc, start.Attempt); order != nil {
				s.sayNotEmpty(s.whyAhead(order.Msg.Seq))
			}
		}
		s.explainJobRestart(start)
		return
	}
	who := s.t.name(start.Proc)
	old := s.replacedBy(start)
	death := s.t.cause(start)
	switch {
	case death != nil && isDeath(death):
		s.say("%s %s%s.", who, s.died(death), s.uncommitted(start.Proc, death.N))
	case old != nil && s.pauseOf(old) != nil:
		s.say("%s stood still from %s on, was taken for dead, and had a successor from %s on.", who,
			s.at(s.pauseOf(old).N), s.at(t.at))
	default:
		s.say("%s began again at %s.", who, s.at(t.at))
	}
	s.sayReread(start)
}

// sayReread says from where a successor read, if it is a source.
func (s *story) sayReread(start *model.Entry) {
	task := s.t.task(start.Proc)
	if task == nil || task.Role != model.Source {
		s.say("Its successor did it again.")
		return
	}
	from := s.t.find(start.N, s.t.end(), func(e *model.Entry) bool {
		return s.t.isPosition(e, task.Part) && isOf(e, start)
	})
	if from == nil {
		return
	}
	s.say("Its successor began at offset %d (%s)%s and read %s again.", from.Ans.Seq, s.at(from.N),
		s.takenBack(from), s.record)
}

// takenBack is a clause on the commit that took the offset back before a source asked for it, or
// "".
func (s *story) takenBack(position *model.Entry) string {
	asked := position.N
	if call := s.t.callOf(asked); call != nil && call.Served != 0 {
		asked = call.Served
	}
	last := s.t.findLast(0, asked, func(e *model.Entry) bool {
		return isServe(e, model.OffsetCommit) && e.Msg.Record.ID.Part == s.about.Part
	})
	switch {
	case last != nil && last.Detail == isForgotten:
		return fmt.Sprintf(", since the commit of %d at %s was acknowledged and forgotten,",
			last.Msg.Seq, s.at(last.N))
	case last != nil && s.t.has(asked) && s.t.at(asked).Detail == isStale:
		return fmt.Sprintf(", a stale answer, for %d had been committed at %s,", last.Msg.Seq,
			s.at(last.N))
	}
	if last == nil || last.Msg.Seq > s.about.Offset {
		return ""
	}
	covering := s.t.find(0, last.N, func(e *model.Entry) bool { return covers(e, s.about) })
	if covering == nil {
		return ""
	}
	return fmt.Sprintf(", to which a late commit had taken it back at %s,", s.at(last.N))
}

// uncommitted says that a source had not committed behind the record when it died.
func (s *story) uncommitted(p model.ProcID, before int64) string {
	task := s.t.task(p)
	if task == nil || task.Role != model.Source || !s.t.mode.Commits {
		return ""
	}
	commit := s.t.find(0, s.t.end(), func(e *model.Entry) bool { return covers(e, s.about) })
	if commit == nil || commit.N > before {
		return fmt.Sprintf(" before the offset behind %s was committed", s.record)
	}
	return ""
}

// replacedBy is the life that a starting one replaced while it lived, or nil.
func (s *story) replacedBy(start *model.Entry) *model.Life {
	for i := range s.t.hist.Lives {
		l := &s.t.hist.Lives[i]
		if l.Proc == start.Proc && l.Replaced == start.N {
			return l
		}
	}
	return nil
}

// pauseOf is the last pause of a life before it was replaced, or nil.
func (s *story) pauseOf(l *model.Life) *model.Entry {
	return s.t.findLast(l.Began, l.Replaced, func(e *model.Entry) bool {
		return e.Kind == model.EntryPause && e.Proc == l.Proc && e.Attempt == l.Attempt
	})
}
