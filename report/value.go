package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/oncesim/oncesim/model"
)

// tellValue tells of a value, an order or a state that no legal run gives: which record was
// repeated or lost, and where that shows.
func (s *story) tellValue(a *model.Anomaly, l *ledger) {
	if s.tellTampered(s.keysOf(a)) {
		s.sayShown(a)
		return
	}
	if s.t.hasCheckpoints() {
		s.tellSides(a, l)
		return
	}
	root := s.root(a, l)
	if root == nil {
		s.tellLate(a)
		return
	}
	s.about, s.record = root.id, s.c.recordName(root.id)
	if list := s.repeats(root.id); len(list) > 1 {
		s.tellTwice(list, s.verb(list[0]))
	} else {
		s.tellLoss()
	}
	s.sentences = s.sentences[:min(len(s.sentences), sentencesMax)]
	s.sayShown(a)
}

// tellLate tells why a write came when it did, where nothing was lost or done twice.
func (s *story) tellLate(a *model.Anomaly) {
	if s.tellZombieState(s.keysOf(a)) {
		s.sayShown(a)
		return
	}
	for _, n := range a.Events {
		if !s.t.has(n) {
			continue
		}
		if put := s.overwritten(s.t.at(n)); put != nil {
			s.say("%s.", capital(s.describe(put)))
			s.sayOverwritten(put)
			return
		}
		if !isServe(s.t.at(n), model.Write) {
			continue
		}
		if turn := s.t.lastTurn(n); turn != nil && s.whyLate(s.t.at(n)) == "" {
			s.explain(turn)
			s.sentences = s.sentences[:min(len(s.sentences), sentencesMax-1)]
			s.say("So it was only at %s that %s wrote %s.", s.at(n), s.t.name(s.t.at(n).Proc),
				s.record)
			return
		}
	}
	s.sayEvents(a)
}

// overwritten is the put that an older one replaces at e, or nil.
func (s *story) overwritten(e *model.Entry) *model.Entry {
	if !isServe(e, model.Put) {
		return nil
	}
	return s.t.findLast(0, e.N-1, func(put *model.Entry) bool {
		return isServe(put, model.Put) && put.Msg.Record.Op == e.Msg.Record.Op &&
			put.Msg.Record.Key == e.Msg.Record.Key && isOf(put, e) && s.isOlder(e, put)
	})
}

// sayShown says where an anomaly shows: the event of its certificate that services or readers saw.
// Where something older was shown again, it is the last of them.
func (s *story) sayShown(a *model.Anomaly) {
	events := a.Events[:]
	if a.Kind == model.Regression {
		events = slices.Clone(events)
		slices.Reverse(events)
	}
	for _, n := range events {
		if !s.t.has(n) || slices.Contains(s.cited, n) || len(s.sentences) == 0 {
			continue
		}
		text := s.describe(s.t.at(n))
		if len(s.sentences) < sentencesMax {
			s.say("%s.", capital(text))
			return
		}
		last := &s.sentences[len(s.sentences)-1]
		*last = strings.TrimSuffix(*last, ".") + ", and " + text + "."
		return
	}
}

// repeats are the first two of something about a record that was done twice: the step of an
// operator with state, else any step or write; nil: nothing was.
func (s *story) repeats(id model.ID) []int64 {
	if list := s.firstTwo(func(e *model.Entry) bool {
		task := s.t.task(e.Proc)
		return e.Msg.Record.ID == id && e.Kind == model.EntryApply && task != nil &&
			task.Operator.Kind != model.Stateless
	}); list != nil {
		return list
	}
	return s.firstTwo(func(e *model.Entry) bool {
		return e.Msg.Record.ID == id && (e.Kind == model.EntryApply || isServe(e, model.Write))
	})
}

// firstTwo are the first two events of one kind and identity among those wanted, or nil.
func (s *story) firstTwo(want func(e *model.Entry) bool) []int64 {
	type thing struct {
		kind model.EntryKind
		name stepName
	}
	seen := map[thing]int64{}
	for i := range s.t.entries {
		e := &s.t.entries[i]
		if !want(e) {
			continue
		}
		rec := &e.Msg.Record
		it := thing{e.Kind, stepName{rec.Op, rec.ID, rec.Path}}
		if first := seen[it]; first != 0 {
			return []int64{first, e.N}
		}
		seen[it] = e.N
	}
	return nil
}

func (s *story) verb(n int64) string {
	if s.t.at(n).Kind == model.EntryApply {
		return "applied"
	}
	return "wrote"
}

// root is the account of the record whose loss or repetition is behind an anomaly of a value: the
// record itself, or the first one that was applied under the same key and is affected.
func (s *story) root(a *model.Anomaly, l *ledger) *account {
	if own := l.of(a.Record.ID); own != nil && l.isAffected(own) &&
		(own.isDoubled || s.isGone(own, l)) {
		return own
	}
	keys := s.keysOf(a)
	var first *account
	for i := range s.t.entries {
		e := &s.t.entries[i]
		if e.Kind != model.EntryApply || !keys[e.Msg.Record.Key] {
			continue
		}
		if other := l.of(e.Msg.Record.ID); other != nil && (other.isDoubled || s.isGone(other, l)) {
			first = other
			break
		}
	}
	return first
}

// isGone reports whether nothing came of a record of which something should have come. That it is
// not visible says nothing in a table by key, where others write over it.
func (s *story) isGone(a *account, l *ledger) bool {
	isHidden := a.Visible == 0 && s.c.Result.Subject.Shape != model.Keys || a.Written == 0
	return isHidden && a.dropped == "" && l.isAffected(a)
}

// keysOf are the keys under which the record of an anomaly was applied.
func (s *story) keysOf(a *model.Anomaly) map[string]bool {
	keys := map[string]bool{}
	if a.Record.Key != "" {
		keys[a.Record.Key] = true
	}
	for i := range s.t.entries {
		e := &s.t.entries[i]
		if e.Kind == model.EntryApply && e.Msg.Record.ID == a.Record.ID {
			if task := s.t.task(e.Proc); task != nil && task.Operator.Kind != model.Stateless {
				keys[e.Msg.Record.Key] = true
			}
		}
	}
	return keys
}

// tellStuck tells what there is to see of a run that made no progress: what a process failed on
// again and again, or else how often one was started and where the trail of the record ends.
func (s *story) tellStuck() {
	if f := s.worstFailure(); f != nil {
		s.sayFailure(f)
	} else if commit := s.forgottenCommit(); commit != nil {
		s.sentences = append(s.sentences, s.whyVoid(commit))
		s.say("So offset %d was not committed before the run ended at %s (%s), and nobody "+
			"commits it again.", commit.Msg.Seq, s.at(s.t.end()), s.t.hist.End.Reason)
		return
	} else {
		s.sayRestarts()
		if fetched := s.t.findLast(0, s.t.end(), func(e *model.Entry) bool {
			return s.t.isFetch(e, s.about)
		}); fetched != nil && s.t.mode.Commits {
			s.sayNotEmpty(s.breach(fetched))
		}
	}
	_, a := s.c.primary()
	if !s.t.mode.Commits {
		s.say("No attempt of the job came to its end before the run was cut off at %s (%s).",
			s.at(s.t.end()), s.t.hist.End.Reason)
		return
	}
	if !s.c.Result.Subject.Input.Has(a.Record.ID) {
		s.say("The input was drained, and still the run did not end by itself: it was cut off at "+
			"%s (%s).", s.at(s.t.end()), s.t.hist.End.Reason)
		return
	}
	s.say("The committed offset of %s was %d and not %d when the run ended at %s (%s).",
		s.c.anomalyName(a), a.Observed.Value.Num, a.Expected.Value.Num, s.at(s.t.end()),
		s.t.hist.End.Reason)
}

// forgottenCommit is the last commit of an offset in the partition of the record, if the input log
// forgot it, or nil.
func (s *story) forgottenCommit() *model.Entry {
	last := s.t.findLast(0, s.t.end(), func(e *model.Entry) bool {
		return isServe(e, model.OffsetCommit) && e.Msg.Record.ID.Part == s.about.Part
	})
	if last == nil || last.Detail != isForgotten {
		return nil
	}
	return last
}

// sayFailure says what a process failed on in every life, and makes the story one of that record.
func (s *story) sayFailure(f *failure) {
	on := ""
	if s.c.Result.Subject.Input.Has(f.id) {
		s.about, s.record = f.id, s.c.recordName(f.id)
		on = " on " + s.record
	}
	s.say("%s failed%s in %d lives (%s), first at %s and last at %s.", s.t.name(f.proc), on,
		f.times, f.reason, s.at(f.first), s.at(f.last))
	if on != "" {
		s.say("Each successor was given it again, and nothing behind it got through.")
	}
}

// sayRestarts says which process was started most often, if any was again and again.
func (s *story) sayRestarts() {
	restarts, worst := int32(0), (*model.Life)(nil)
	for i := range s.t.hist.Lives {
		if l := &s.t.hist.Lives[i]; l.Life > restarts {
			restarts, worst = l.Life, l
		}
	}
	if worst != nil && restarts > 2 {
		s.say("%s was started %d times, the last time at %s.", s.t.name(worst.Proc), restarts,
			s.at(worst.Began))
	}
}

// tellZombieState tells of an attempt that had been replaced and wrote state under one of some
// keys; it reports false if there is none.
func (s *story) tellZombieState(keys map[string]bool) bool {
	set := s.t.find(0, s.t.end(), func(e *model.Entry) bool {
		if !setsState(e) || !tookEffect(e) || !keys[e.Msg.Record.Key] {
			return false
		}
		life := s.t.life(e)
		return life != nil && life.Replaced != 0 && life.Replaced < e.N
	})
	if set == nil {
		return false
	}
	s.sayReplaced(set)
	text := fmt.Sprintf("The old attempt %d went on: %s", set.Attempt, s.describe(set))
	if before := s.lastSet(set); before != nil && !isOf(before, set) {
		text += fmt.Sprintf(", over %s of attempt %d", before.Msg.Record.Value, before.Attempt)
	}
	s.sentences = append(s.sentences, text+".")
	return true
}

// sayReplaced says how a life that did something came to be replaced before.
func (s *story) sayReplaced(e *model.Entry) {
	life := s.t.life(e)
	if pause := s.pauseOf(life); pause != nil {
		s.say("%s stood still from %s on and was taken for dead.", s.t.name(e.Proc), s.at(pause.N))
	}
	s.say("Its successor began at %s.", s.at(life.Replaced))
}

// tellZombie tells of a write by an attempt that had been replaced.
func (s *story) tellZombie(a *model.Anomaly) {
	for _, n := range a.Events {
		if !s.t.has(n) || s.t.at(n).Kind != model.EntryServe {
			continue
		}
		write := s.t.at(n)
		life := s.t.life(write)
		if life == nil || life.Replaced == 0 {
			continue
		}
		s.sayReplaced(write)
		s.say("The old attempt %d went on and %s: the service took it, at %s.", write.Attempt,
			s.served(write), s.at(n))
		return
	}
}

// focus is the record that a diagram is about where nothing is violated: the first that is
// affected, the one that a fault struck at, or the first of all.
func (l *ledger) focus() model.ID {
	if list := l.affected(); len(list) > 0 {
		return list[0].id
	}
	for _, n := range l.t.hist.Reached {
		for i := 0; i < 8 && l.t.has(n); i++ {
			e := l.t.at(n)
			if l.input.Has(e.Msg.Record.ID) {
				return e.Msg.Record.ID
			}
			n = e.Cause
		}
	}
	return model.ID{}
}
