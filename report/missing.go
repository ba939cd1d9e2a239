package report

import (
	"fmt"

	"github.com/oncesim/oncesim/model"
)

// tellLoss tells why nothing, or not everything, came of the record: where its position was
// passed, where it was last seen, and why it does not come again.
func (s *story) tellLoss() {
	fetched := s.t.findLast(0, s.t.end(), func(e *model.Entry) bool {
		return s.t.isFetch(e, s.about)
	})
	if fetched == nil {
		s.tellNeverRead()
		return
	}
	broken := s.breach(fetched)
	s.sayFinishedEarly()
	if commit := s.t.find(0, s.t.end(), func(e *model.Entry) bool {
		return covers(e, s.about)
	}); commit != nil {
		s.say("The offset behind %s was committed at %s.", s.record, s.at(commit.N))
	}
	if broken == "" && s.tellSilent() {
		return
	}
	if _, order := s.lastRestart(); broken == "" && order != nil && s.t.hasCheckpoints() {
		broken = s.whyLeftOut(order.Msg.Seq)
	}
	if broken == "" {
		broken = fmt.Sprintf("It was read at %s, and nothing visible came of it.", s.at(fetched.N))
	}
	s.sentences = append(s.sentences, broken)
	if _, order := s.lastRestart(); order != nil && s.t.hasCheckpoints() {
		if why := s.whyLeftOut(order.Msg.Seq); why != broken {
			s.sayNotEmpty(why)
		}
	}
	s.sayNeverAgain(fetched)
}

// tellSilent tells of a record to which an operator was applied that emitted nothing: it said that
// it drops it, or the state that it found, which depends on what came before, asked for nothing. It
// reports false if there is none.
func (s *story) tellSilent() bool {
	applied := s.t.findLast(0, s.t.end(), func(e *model.Entry) bool {
		return e.Kind == model.EntryApply && e.Msg.Record.ID == s.about && s.outputs(e) == 0
	})
	if applied == nil {
		return false
	}
	if why := s.application(applied).Dropped; why != "" {
		s.say("%s dropped %s at %s (%s).", s.t.name(applied.Proc), s.record, s.at(applied.N), why)
		return true
	}
	if turn := s.t.lastTurn(applied.N); turn != nil {
		s.explain(turn)
		s.sentences = s.sentences[:min(len(s.sentences), sentencesMax-1)]
	} else {
		s.sayNotEmpty(s.whyHeldUp(applied))
	}
	s.say("%s applied %s at %s, and from the state that it had by then it emitted nothing.",
		s.t.name(applied.Proc), s.record, s.at(applied.N))
	return true
}

// tellNeverRead tells of a record that no source has read.
func (s *story) tellNeverRead() {
	if fetch := s.skippedBy(0); fetch != nil {
		if death := s.t.findLast(0, fetch.N, func(e *model.Entry) bool {
			return isDeath(e) && e.Proc == fetch.Proc
		}); death != nil {
			s.say("%s %s before it had read %s.", s.t.name(fetch.Proc), s.died(death), s.record)
		}
		s.sayTruncated(fetch, "")
		return
	}
	skip := s.t.find(0, s.t.end(), func(e *model.Entry) bool {
		return s.t.isPosition(e, s.about.Part) && e.Ans.Seq > s.about.Offset
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
		return s.followWrite(send, got)
	}
	applied := s.t.find(got.N, s.t.end(), func(e *model.Entry) bool {
		return e.Kind == model.EntryApply && isOf(e, got) && e.Msg.Record.Same(got.Msg.Record)
	})
	if applied == nil {
		return s.followKnown(send, got)
	}
	return s.followOutputs(applied)
}

// followKnown follows a record that a task acknowledged without a step, as one that it had taken
// up before.
func (s *story) followKnown(send, got *model.Entry) string {
	if s.t.find(got.N, s.t.end(), func(e *model.Entry) bool {
		return e.Kind == model.EntrySend && e.Msg.Kind == model.Ack && e.Proc == got.Proc &&
			e.To == send.Proc && e.Msg.Record.ID == got.Msg.Record.ID &&
			e.Msg.Record.Path == got.Msg.Record.Path
	}) == nil {
		return s.heldBy(got, got, "had taken it at")
	}
	if applied := s.t.findLast(0, got.N, func(e *model.Entry) bool {
		return e.Kind == model.EntryApply && e.Proc == got.Proc &&
			e.Msg.Record.Same(got.Msg.Record)
	}); applied != nil {
		if why := s.followOutputs(applied); why != "" {
			return why
		}
	}
	if why := s.whyKnown(got); why != "" {
		return why
	}
	return fmt.Sprintf("%s took %s for known at %s and acknowledged it.", s.t.name(got.Proc),
		s.record, s.at(got.N))
}

// followOutputs follows what a step emitted, each output in its last transmission by whatever life
// of the task, to the first that did not arrive.
func (s *story) followOutputs(applied *model.Entry) string {
	type way struct {
		to   model.ProcID
		path model.Path
		by   int16
	}
	task := s.t.task(applied.Proc)
	last := map[way]*model.Entry{}
	var ways []way
	for n := applied.N + 1; n <= s.t.end(); n++ {
		e := s.t.at(n)
		rec := &e.Msg.Record
		if e.Kind != model.EntrySend || e.Msg.Kind != model.Data || e.Proc != applied.Proc ||
			rec.ID != s.about || rec.Op != task.Op ||
			rec.Path>>model.PathBits != applied.Msg.Record.Path {
			continue
		}
		w := way{e.To, rec.Path, e.Msg.Channel}
		if last[w] == nil {
			ways = append(ways, w)
		}
		last[w] = e
	}
	for _, w := range ways {
		if why := s.follow(last[w]); why != "" {
			return why
		}
	}
	if len(ways) < int(s.outputs(applied))*len(task.Routes) {
		if why := s.whyNotInOutbox(applied); why != "" {
			return why
		}
		return s.heldBy(applied, applied, "had applied it at")
	}
	return ""
}

// outputs is how many records an application says that it emitted.
func (s *story) outputs(applied *model.Entry) int32 { return s.application(applied).Outputs }

// application is what the history has of an application.
func (s *story) application(applied *model.Entry) *model.Application {
	for i := range s.t.hist.Applications {
		if a := &s.t.hist.Applications[i]; a.N == applied.N {
			return a
		}
	}
	panic(fmt.Sprintf("report: the history has no application at event %d", applied.N))
}

// followWrite follows a record at the sink.
func (s *story) followWrite(send, got *model.Entry) string {
	var invoked, void *model.Entry
	for n := got.N + 1; n <= s.t.end(); n++ {
		e := s.t.at(n)
		if e.Kind != model.EntryInvoke || !isOf(e, got) || !wrote(&e.Msg, got.Msg.Record) {
			continue
		}
		invoked, void = e, nil
		if served := s.t.callOf(n).Served; served != 0 {
			if void = s.t.at(served); s.whyVoid(void) == "" {
				return s.whyHidden(void)
			}
		}
	}
	switch {
	case invoked == nil:
		return s.followKnown(send, got)
	case void != nil:
		return s.whyVoid(void)
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

// whyKnown is a sentence on a life that wrote the id of a record and ended before anything else of
// it was durable, so that its successor takes the record for known; or "".
func (s *story) whyKnown(got *model.Entry) string {
	rec := &got.Msg.Record
	mark := s.t.find(0, s.t.end(), func(e *model.Entry) bool {
		return isServe(e, model.Mark) && tookEffect(e) && e.Proc == got.Proc &&
			e.Msg.Record.ID == rec.ID && e.Msg.Record.Path == rec.Path
	})
	if mark == nil {
		return ""
	}
	end := s.t.find(0, s.t.end(), func(e *model.Entry) bool {
		return isDeath(e) && isOf(e, mark)
	})
	life := s.t.life(mark)
	who := s.t.name(got.Proc)
	switch {
	case end != nil:
		return fmt.Sprintf("%s %s with the id of %s written (%s) and nothing else of it durable: "+
			"its successor takes it for known.", who, s.died(end), s.record, s.at(mark.N))
	case life != nil && life.Replaced != 0:
		return fmt.Sprintf("%s wrote the id of %s at %s and was replaced at %s: its successor "+
			"takes it for known.", who, s.record, s.at(mark.N), s.at(life.Replaced))
	}
	return ""
}

// sayNeverAgain says why the record does not come again.
func (s *story) sayNeverAgain(fetched *model.Entry) {
	if fetch := s.skippedBy(fetched.N); fetch != nil {
		s.sayTruncated(fetch, " again")
		return
	}
	if s.t.hasCheckpoints() && (s.sayBehind() || s.isWaiting()) {
		return
	}
	again := s.t.find(fetched.N, s.t.end(), func(e *model.Entry) bool {
		return s.t.isPosition(e, s.about.Part) && e.Ans.Seq > s.about.Offset
	})
	if again == nil {
		s.sayLoneRestart(fetched)
		return
	}
	s.say("The next attempt of %s began behind it, at offset %d (%s): nobody reads it again.",
		s.t.name(again.Proc), again.Ans.Seq, s.at(again.N))
}

// sayLoneRestart says that the source went on, where a task that had the record began again alone
// or where nothing began again.
func (s *story) sayLoneRestart(fetched *model.Entry) {
	start := s.t.find(fetched.N, s.t.end(), func(e *model.Entry) bool {
		return e.Kind == model.EntryStart && e.Attempt > 1
	})
	if start == nil || !s.t.hasCheckpoints() || s.t.isJobRestart(start) {
		s.say("The source has moved on, and nobody reads it again.")
		return
	}
	s.say("Only %s began again, at %s: the source was not taken back to the checkpoint and went "+
		"on behind %s.", s.t.name(start.Proc), s.at(start.N), s.record)
}

// tellStateLoss tells why a record is missing from the state.
func (s *story) tellStateLoss(rec model.Record) {
	applied := s.steps(rec)
	if len(applied) == 0 {
		applied = s.applications(rec)
	}
	if len(applied) == 0 {
		s.tellLoss()
		return
	}
	last := s.t.at(applied[len(applied)-1])
	if s.t.hasCheckpoints() {
		s.tellRolledBack(last)
		return
	}
	who := s.t.name(last.Proc)
	put := s.putOf(last)
	end := s.t.find(last.N, s.t.end(), func(e *model.Entry) bool {
		return isDeath(e) && isOf(e, last)
	})
	switch {
	case put != nil && !tookEffect(put):
		s.say("%s applied %s at %s.", who, s.record, s.at(last.N))
		s.sayNotEmpty(s.whyVoid(put))
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
		return setsState(e) && isOf(e, applied) &&
			e.Msg.Record.ID == applied.Msg.Record.ID &&
			e.Msg.Record.Path == applied.Msg.Record.Path &&
			e.Msg.Record.Key == applied.Msg.Record.Key
	})
}

// sayOverwritten says who put another value over one without having read it: another attempt, or a
// request that was sent before.
func (s *story) sayOverwritten(put *model.Entry) {
	over := s.t.find(put.N, s.t.end(), func(e *model.Entry) bool {
		return setsState(e) && tookEffect(e) && e.Msg.Record.Op == put.Msg.Record.Op &&
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
	switch {
	case get != nil && get.Detail == isStale:
		s.sentences = append(s.sentences, s.staleGet(get))
	case get != nil:
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
