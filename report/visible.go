package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/oncesim/oncesim/model"
)

// wrote reports whether a request puts a record into the external system.
func wrote(m *model.Message, rec model.Record) bool {
	switch m.Kind {
	case model.Write:
		return m.Record.Same(rec)
	case model.WriteBatch:
		return slices.ContainsFunc(m.Parts, rec.Same)
	}
	return false
}

// shown are those of some servings of writes that readers of committed data see, or all where
// fewer than two are.
func (s *story) shown(list []int64) []int64 {
	var some []int64
	for _, n := range list {
		if x := s.t.txnOf(s.t.at(n)); x == nil || x.committed != 0 {
			some = append(some, n)
		}
	}
	if len(some) < 2 {
		return list
	}
	return some
}

// whyHidden is a sentence on a transaction that kept the record from readers for good, or "".
func (s *story) whyHidden(written *model.Entry) string {
	x := s.t.txnOf(written)
	switch {
	case x == nil:
		return ""
	case x.committed != 0:
		return s.whyWaits(x)
	}
	text := fmt.Sprintf("%s wrote %s at %s into transaction %s, which %s", s.t.name(written.Proc),
		s.record, s.at(written.N), x, s.fate(x, s.t.end()))
	switch {
	case x.forgotten != 0:
	case x.isUndecided(s.t.end()):
		text += fmt.Sprintf(" when the run ended at %s", s.at(s.t.end()))
		if x.prepared == 0 {
			return text + "." + s.whyTooLate(written)
		}
	case x.refused != 0 && x.overdue != 0:
		text += fmt.Sprintf(", before the commit came at %s", s.at(x.refused))
	case x.refused != 0:
		text += fmt.Sprintf("; the commit at %s changed nothing", s.at(x.refused))
	}
	return text + "." + s.whyLateEnd(x)
}

// whyLateEnd is a sentence on what kept the owner of a transaction from ending it in time, with a
// space before it, or "".
func (s *story) whyLateEnd(x *txn) string {
	if x.overdue == 0 {
		return ""
	}
	e := s.t.findLast(x.begun, x.overdue, func(e *model.Entry) bool {
		isStop := e.Kind == model.EntryPause || isDeath(e)
		return isStop && e.Proc == x.proc && e.Attempt == x.attempt && e.At < x.deadline
	})
	if order := s.restoredPast(x); order != nil {
		return fmt.Sprintf(" %s was restored at %s, and nobody asked for the commit.",
			capital(s.t.checkpointName(order.Msg.Seq)), s.at(order.N))
	}
	if e == nil {
		return s.whyUnreached(x)
	}
	return " " + capital(s.describe(e)) + "."
}

// restoredPast is the first order to begin from a checkpoint that has a transaction as prepared, if
// nobody asked for its commit after that; nil: it is not so.
func (s *story) restoredPast(x *txn) *model.Entry {
	order := s.t.find(x.prepared, s.t.end(), func(e *model.Entry) bool {
		return e.Kind == model.EntryDeliver && e.Msg.Kind == model.Restore && e.Proc == x.proc &&
			e.Attempt > x.attempt && e.Msg.Seq >= x.checkpoint
	})
	if order == nil || x.prepared == 0 || s.t.find(order.N, s.t.end(), func(e *model.Entry) bool {
		return e.Kind == model.EntryInvoke && e.Msg.Kind == model.CommitTxn &&
			(e.Msg.Token == x.id || e.Msg.Flags&model.Whole != 0)
	}) != nil {
		return nil
	}
	return order
}

// whyUnreached is a sentence on an outage that kept the end of a transaction from the log, with a
// space before it, or "".
func (s *story) whyUnreached(x *txn) string {
	e := s.t.find(x.begun, x.overdue, func(e *model.Entry) bool {
		return e.Kind == model.EntryLose && e.Service == model.External && e.Proc == x.proc &&
			e.Attempt == x.attempt && isTxnKind(e.Msg.Kind) && e.Msg.Token == x.id
	})
	if e == nil {
		return ""
	}
	text := strings.TrimSuffix(s.whyLostHalf(e), ".")
	for i, f := range s.c.Scenario.Faults {
		isIt := f.Action == model.CrashService && f.Service == model.ServiceNames[model.External]
		if isIt && e.Detail == byOutage && s.t.hist.Reached[i] != 0 {
			text += fmt.Sprintf(", for %s", duration(f.For))
		}
	}
	return " " + text + "."
}

// whyTooLate is what kept a record from a transaction that a checkpoint would have decided: it was
// held up on its way, and no checkpoint came after it. It has a space before it.
func (s *story) whyTooLate(written *model.Entry) string {
	held := s.t.findLast(0, written.N, func(e *model.Entry) bool {
		return e.Kind == model.EntryDelay && isMessage(e) && isAbout(e, s.about)
	})
	text := ""
	if held != nil {
		text = " " + s.whatStruck(held)
	}
	if s.t.find(written.N, s.t.end(), func(e *model.Entry) bool {
		return isServe(e, model.NextCheckpoint)
	}) == nil {
		text += " No checkpoint was begun after that which would have decided it."
	}
	return text
}

// whyWaits is a sentence on an undecided transaction that hides a committed one behind it, or "".
func (s *story) whyWaits(x *txn) string {
	for _, before := range s.t.txns {
		if before.part == x.part && before.begun < x.begun && before.isUndecided(s.t.end()) {
			return fmt.Sprintf("%s committed transaction %s, which holds %s, at %s, but "+
				"transaction %s, begun before it at %s, was never ended: readers of committed "+
				"data wait at it.%s",
				s.t.name(x.proc), x, s.record, s.at(x.committed), before, s.at(before.begun),
				s.whyZombie(before))
		}
	}
	return ""
}

// whyZombie is a sentence on an attempt that began a transaction after it had been replaced, with
// a space before it, or "".
func (s *story) whyZombie(x *txn) string {
	life := s.t.life(s.t.at(x.begun))
	if life == nil || life.Replaced == 0 || life.Replaced > x.begun {
		return ""
	}
	return fmt.Sprintf(" Attempt %d of %s, which began it, was a zombie by then: it had been "+
		"replaced at %s.", x.attempt, s.t.name(x.proc), s.at(life.Replaced))
}

// tellEarly tells of a reader that saw what a transaction held before it was committed, or although
// it never was.
func (s *story) tellEarly(a *model.Anomaly) {
	seen := s.seenAt(a)
	if seen == nil {
		s.sayEvents(a)
		return
	}
	written := s.t.findLast(0, seen.N, func(e *model.Entry) bool {
		return isServe(e, model.Write) && tookEffect(e) && e.Msg.Record.Same(seen.Msg.Record) &&
			s.t.txnOf(e) != nil
	})
	if written == nil {
		s.sayEvents(a)
		return
	}
	x := s.t.txnOf(written)
	s.say("%s wrote %s at %s into transaction %s.", s.t.name(written.Proc), s.record,
		s.at(written.N), x)
	s.say("A reader saw it at %s, when the transaction %s.", s.at(seen.N), s.fate(x, seen.N))
	if x.isUndecided(seen.N) && !x.isUndecided(s.t.end()) {
		s.say("Later it %s.", s.fate(x, s.t.end()))
	}
	if again := s.t.find(seen.N, s.t.end(), func(e *model.Entry) bool {
		return isServe(e, model.Write) && tookEffect(e) && e.Msg.Record.Same(seen.Msg.Record)
	}); again != nil {
		s.say("%s wrote %s again at %s.", s.t.name(again.Proc), s.record, s.at(again.N))
	}
}

// seenAt is the observation that an anomaly cites, or nil.
func (s *story) seenAt(a *model.Anomaly) *model.Entry {
	for _, n := range a.Events {
		if s.t.has(n) && s.t.at(n).Kind == model.EntryObserve {
			return s.t.at(n)
		}
	}
	return nil
}

// tellApart tells of transactions, or batches, that belong together and did not become visible
// together: what became of each.
func (s *story) tellApart(a *model.Anomaly) {
	checkpoint := s.checkpointOf(a)
	said := 0
	for _, x := range s.t.txns {
		if x.checkpoint == checkpoint && checkpoint != 0 && said < sentencesMax-1 {
			fate := s.fate(x, s.t.end())
			if x.isUndecided(s.t.end()) && x.forgotten == 0 {
				fate = "was not decided"
			}
			s.say("Transaction %s of %s, prepared for %s at %s, %s.", x, s.t.name(x.proc),
				s.t.cutName(checkpoint), s.at(x.prepared), fate)
			said++
		}
	}
	for i := range s.t.entries {
		e := &s.t.entries[i]
		if isServe(e, model.WriteBatch) && tookEffect(e) && e.Msg.Token == checkpoint &&
			checkpoint != 0 && said < sentencesMax-1 {
			s.say("%s wrote its part of %s at %s.", s.t.name(e.Proc), s.t.cutName(checkpoint),
				s.at(e.N))
			said++
		}
	}
	if said == 0 {
		s.sayEvents(a)
		return
	}
	if seen := s.seenAt(a); seen != nil {
		s.say("A reader that came at %s saw one part without another.", s.at(seen.N))
	}
}

// tellPremature tells of a commit that came before it was decided: what was committed, and what
// became of its checkpoint.
func (s *story) tellPremature(a *model.Anomaly) {
	e := s.t.at(a.Events[0])
	cut := s.t.cutName(a.Record.ID.Offset)
	what := "its part of " + cut
	switch x := s.t.txnOf(e); {
	case x != nil && x.prepared == 0:
		what = fmt.Sprintf("transaction %s, which was not prepared,", x)
	case x != nil:
		what = fmt.Sprintf("transaction %s of %s", x, cut)
	}
	s.say("%s committed %s at %s, and nobody had decided that it is to be.", s.t.name(e.Proc), what,
		s.at(e.N))
	if decided := a.Events[1]; decided != 0 {
		s.say("%s was completed later, at %s.", s.t.cutName(s.t.at(decided).Msg.Seq), s.at(decided))
	} else {
		s.say("%s was not completed after that.", cut)
	}
}

// checkpointOf is the checkpoint that an anomaly of visibility is about: it names it, or an output
// whose transaction was prepared for it; 0: the trace does not tell.
func (s *story) checkpointOf(a *model.Anomaly) int64 {
	if a.Record.ID.Part < 0 {
		return a.Record.ID.Offset
	}
	for i := range s.t.entries {
		e := &s.t.entries[i]
		if e.Kind != model.EntryServe || !wrote(&e.Msg, a.Record) {
			continue
		}
		switch x := s.t.txnOf(e); {
		case x != nil && x.checkpoint != 0:
			return x.checkpoint
		case e.Msg.Kind == model.WriteBatch:
			return e.Msg.Token
		}
	}
	return 0
}

// tellHanging tells of a transaction that nobody ends.
func (s *story) tellHanging(a *model.Anomaly) {
	x := s.hanging(a)
	if x == nil {
		s.sayEvents(a)
		return
	}
	text := fmt.Sprintf("%s began transaction %s at %s", s.t.name(x.proc), x, s.at(x.begun))
	if x.prepared != 0 {
		text += fmt.Sprintf(" and prepared it for %s at %s", s.t.cutName(x.checkpoint),
			s.at(x.prepared))
	}
	s.say("%s.", text)
	owner := s.t.at(x.begun)
	if end := s.t.find(x.begun, s.t.end(), func(e *model.Entry) bool {
		return isDeath(e) && isOf(e, owner)
	}); end != nil {
		s.say("%s %s with the transaction undecided.", s.t.name(x.proc), s.died(end))
		s.sayNextLife(end)
	}
	s.say("No request ended it before the run ended at %s, and readers of committed data wait at "+
		"it.", s.at(s.t.end()))
}

// sayNextLife says from where the job went on after a life that was one of its last.
func (s *story) sayNextLife(end *model.Entry) {
	order := s.t.restored(end.Proc, end.Attempt+1)
	if order == nil {
		return
	}
	s.say("Its next attempt began from %s at %s and did not end it.",
		s.t.checkpointName(order.Msg.Seq), s.at(order.N))
}

// hanging is the transaction that an anomaly names by its partition and id, or the first that is
// undecided in the end; nil: there is none.
func (s *story) hanging(a *model.Anomaly) *txn {
	var first *txn
	for _, x := range s.t.txns {
		if !x.isUndecided(s.t.end()) {
			continue
		}
		if x.part == int64(a.Record.ID.Part) && x.id == a.Record.ID.Offset {
			return x
		}
		if first == nil {
			first = x
		}
	}
	return first
}

// told is what a barrier or a notice told whom, as a clause.
func (s *story) told(e *model.Entry) string {
	what := s.t.noticeOf(&e.Msg)
	from, to := e.Proc, e.To
	if e.Kind == model.EntryDeliver {
		from, to = e.To, e.Proc
		return fmt.Sprintf("%s reached %s from %s at %s", what, s.t.name(to), s.t.name(from),
			s.at(e.N))
	}
	return fmt.Sprintf("%s sent %s to %s at %s", s.t.name(from), what, s.t.name(to), s.at(e.N))
}

// coordinated says what a request about checkpoints, transactions or batches asked for, or "".
func (s *story) coordinated(e *model.Entry) string {
	who, cut := s.t.name(e.Proc), s.t.cutName(e.Msg.Seq)
	switch e.Msg.Kind {
	case model.NextCheckpoint:
		return who + " took the id of a checkpoint"
	case model.Upload:
		return fmt.Sprintf("%s uploaded its part of %s", who, cut)
	case model.Completion:
		return fmt.Sprintf("%s made %s the completed one", who, cut)
	case model.Newest, model.NewestBatch:
		return who + " asked where to begin"
	case model.Download:
		return fmt.Sprintf("%s read its part of %s", who, s.t.checkpointName(e.Msg.Seq))
	case model.Discard:
		return fmt.Sprintf("%s dropped the parts of %s", who, cut)
	case model.PlanBatch:
		return fmt.Sprintf("%s wrote down what batch %d reads", who, e.Msg.Seq)
	case model.FinishBatch:
		return fmt.Sprintf("%s wrote down that batch %d is finished", who, e.Msg.Seq)
	case model.WriteBatch:
		return fmt.Sprintf("%s wrote %s of %s", who, Several(len(e.Msg.Parts), "record"),
			s.t.cutName(e.Msg.Token))
	case model.InitTxn:
		return fmt.Sprintf("%s initialised transactional id %d", who, e.Msg.Token)
	case model.CommitTxn:
		if e.Msg.Flags&model.Whole != 0 {
			return fmt.Sprintf("%s committed everything that was prepared up to %s", who, cut)
		}
	}
	verbs := map[model.Kind]string{model.BeginTxn: "began", model.PrepareTxn: "prepared",
		model.CommitTxn: "committed", model.AbortTxn: "aborted"}
	if verb := verbs[e.Msg.Kind]; verb != "" {
		return fmt.Sprintf("%s %s transaction %s", who, verb, s.t.txnName(e))
	}
	return ""
}

// isWaiting reports whether the record was committed and waits behind a transaction that was not
// ended: it is not read again because it need not be.
func (s *story) isWaiting() bool {
	for i := range s.t.entries {
		e := &s.t.entries[i]
		if isServe(e, model.Write) && tookEffect(e) && isAbout(e, s.about) {
			if x := s.t.txnOf(e); x != nil && x.committed != 0 {
				return true
			}
		}
	}
	return false
}
