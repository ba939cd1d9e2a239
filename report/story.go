package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/oncesim/oncesim/model"
)

// sentencesMax is how long a story is at most.
const sentencesMax = 4

// story is why something happened: a few sentences, and the events that they cite.
type story struct {
	c         *Case
	t         *tape
	about     model.ID // the record that it is about
	record    string   // its name
	sentences []string
	cited     []int64
}

// at names an event and remembers that it was cited.
func (s *story) at(n int64) string {
	if !slices.Contains(s.cited, n) {
		s.cited = append(s.cited, n)
	}
	return fmt.Sprintf("event %d", n)
}

func (s *story) say(format string, args ...any) {
	s.sentences = append(s.sentences, fmt.Sprintf(format, args...))
}

// sayNotEmpty adds a sentence if there is one.
func (s *story) sayNotEmpty(sentence string) {
	if sentence != "" {
		s.sentences = append(s.sentences, sentence)
	}
}

// text is the story as a paragraph.
func (s *story) text() string { return strings.Join(s.sentences, " ") }

// newStory tells why a run violates what it violates. Without an anomaly it has no sentences.
func newStory(c *Case, t *tape, l *ledger) *story {
	_, a := c.primary()
	if a == nil || len(t.entries) == 0 {
		return &story{c: c, t: t, about: l.focus()}
	}
	s := &story{c: c, t: t, about: a.Record.ID, record: c.anomalyName(a)}
	if a.Kind == model.Stuck {
		s.record = c.recordName(s.about)
		if !t.mode.Commits || !c.Result.Subject.Input.Has(s.about) {
			s.about = l.focus() // of the diagram; the anomaly names no record
		}
	}
	s.tell(a, l)
	if len(s.sentences) == 0 {
		s.sayEvents(a)
	}
	if len(s.sentences) < 2 {
		s.sayFaults()
	}
	s.sentences = s.sentences[:min(len(s.sentences), sentencesMax)]
	return s
}

// tell picks the kind of story that an anomaly needs.
func (s *story) tell(a *model.Anomaly, l *ledger) {
	switch a.Kind {
	case model.Duplicate, model.Revised:
		if list := s.shown(s.writes(a.Record)); len(list) > 1 {
			s.tellTwice(list, "wrote")
		} else {
			s.tellTwice(s.deliveries(a.Record), "took")
		}
	case model.StateDuplicate:
		if list := s.applications(a.Record); !s.t.hasCheckpoints() || !s.tellStateTwice(list) {
			s.tellTwice(list, "applied")
		}
	case model.DirtyRead, model.EarlyRead:
		s.tellEarly(a)
	case model.TornRead, model.FracturedRead, model.Torn, model.Conflict:
		s.tellApart(a)
	case model.PrematureCommit:
		s.tellPremature(a)
	case model.Hanging:
		s.tellHanging(a)
	case model.InconsistentCut, model.Unbalanced:
		s.tellCut(a)
	case model.Loss:
		s.tellLoss()
	case model.StateLoss:
		s.tellStateLoss(a.Record)
	case model.Stuck:
		s.tellStuck()
	case model.ZombieWrite:
		s.tellZombie(a)
	case model.OffsetRegression, model.PointerRegression:
		s.sayEvents(a)
	default:
		s.tellValue(a, l)
	}
}

// writes are the servings of writes of one output that took effect, in order.
func (s *story) writes(rec model.Record) []int64 {
	return s.all(func(e *model.Entry) bool {
		return e.Kind == model.EntryServe && tookEffect(e) && wrote(&e.Msg, rec)
	})
}

// deliveries are where a record was handed to sinks, in order.
func (s *story) deliveries(rec model.Record) []int64 {
	return s.all(func(e *model.Entry) bool {
		task := s.t.task(e.Proc)
		return e.Kind == model.EntryDeliver && e.Msg.Kind == model.Data && task != nil &&
			task.Role == model.Sink && e.Msg.Record.Same(rec)
	})
}

// applications are the applications of the step that an anomaly names, in order. It may name the
// input of the step or what the step emits; with neither, any operator with state counts.
func (s *story) applications(rec model.Record) []int64 {
	if list := s.steps(rec); len(list) > 1 {
		return list
	}
	return s.under(rec.Key, s.all(func(e *model.Entry) bool {
		task := s.t.task(e.Proc)
		return e.Kind == model.EntryApply && e.Msg.Record.ID == rec.ID && task != nil &&
			(task.Op == rec.Op || rec.Op == 0 && task.Operator.Kind != model.Stateless)
	}))
}

// under are the applications under a key, or all if none is.
func (s *story) under(key string, list []int64) []int64 {
	var some []int64
	for _, n := range list {
		if s.t.at(n).Msg.Record.Key == key {
			some = append(some, n)
		}
	}
	if some == nil {
		return list
	}
	return some
}

// steps are the applications of exactly the step that has a record for its input or output.
func (s *story) steps(rec model.Record) []int64 {
	return s.under(rec.Key, s.all(func(e *model.Entry) bool {
		in, task := &e.Msg.Record, s.t.task(e.Proc)
		return e.Kind == model.EntryApply && (in.Same(rec) || task != nil && task.Op == rec.Op &&
			in.ID == rec.ID && in.Path == rec.Path>>model.PathBits)
	}))
}

func (s *story) all(want func(e *model.Entry) bool) []int64 {
	var list []int64
	for i := range s.t.entries {
		if e := &s.t.entries[i]; want(e) {
			list = append(list, e.N)
		}
	}
	return list
}

// tellTwice tells why something was done twice.
func (s *story) tellTwice(list []int64, did string) {
	if len(list) < 2 {
		return
	}
	first, second := list[0], list[1]
	turn := s.t.turning(first, second)
	if turn == nil {
		if turn = s.t.turning(second, first); turn != nil {
			s.tellOvertaken(turn, first, second, did)
			return
		}
	}
	s.say("%s %s %s at %s.", s.t.name(s.t.at(first).Proc), did, s.record, s.at(first))
	switch {
	case turn == nil:
		s.sayFaults()
	case turn.kind == doubled:
		s.sayDoubled(turn, "that request")
		fate := "were applied"
		if isMessage(s.t.at(turn.at)) {
			fate = "arrived"
		}
		s.say("Both copies %s: %s %s it a second time%s.", fate, s.at(second), did,
			s.instead(first, second))
		return
	default:
		s.explain(turn)
	}
	s.sentences = s.sentences[:min(len(s.sentences), sentencesMax-1)]
	s.say("So %s %s it a second time%s%s.", s.at(second), did, s.instead(first, second),
		s.whyUnknown(first, second))
	s.sayNotEmpty(s.whyBothSeen(first))
}

// whyBothSeen is a sentence on a transaction that was not committed and whose output readers see
// all the same, or "".
func (s *story) whyBothSeen(first int64) string {
	x := s.t.txnOf(s.t.at(first))
	if x == nil || x.committed != 0 || x.isUndecided(s.t.end()) {
		return ""
	}
	return fmt.Sprintf("Transaction %s, which has the first, %s; this reader does not wait for "+
		"the decision, and sees both.", x, s.fate(x, s.t.end()))
}

// instead says with which other value something was written again, or "".
func (s *story) instead(first, second int64) string {
	a, b := s.t.at(first), s.t.at(second)
	if a.Msg.Kind != model.Write || a.Msg.Record.Value == b.Msg.Record.Value {
		return ""
	}
	return fmt.Sprintf(", with value %s instead of %s", b.Msg.Record.Value, a.Msg.Record.Value)
}

// tellOvertaken tells of a repetition that came first: what it repeats was late.
func (s *story) tellOvertaken(turn *turn, first, second int64, did string) {
	s.explain(turn)
	s.sentences = s.sentences[:min(len(s.sentences), sentencesMax-1)]
	late := "which came of the original"
	if turn.kind == restarted {
		late = "which came of the old attempt"
	}
	s.say("So %s %s %s, and %s, %s, %s it a second time.", s.at(first), did, s.record, s.at(second),
		late, did)
}

// sayEvents cites the certificate of an anomaly, and of requests why they were late.
func (s *story) sayEvents(a *model.Anomaly) {
	isExplained := false
	for _, n := range a.Events {
		if !s.t.has(n) || len(s.sentences) >= sentencesMax-1 {
			continue
		}
		e := s.t.at(n)
		if e.Kind == model.EntryObserve && len(s.sentences) > 0 {
			continue // what was written tells more
		}
		s.say("%s.", capital(s.describe(e)))
		if why := s.whyLate(e); why != "" {
			isExplained = true
			s.sentences = append(s.sentences, why)
		}
	}
	if !isExplained {
		s.sayFaults()
	}
}

// whyLate is a sentence on why a request was served late or twice, or "".
func (s *story) whyLate(served *model.Entry) string {
	if served.Kind != model.EntryServe {
		return ""
	}
	if e := s.t.cause(served); e != nil && e.Kind == model.EntryDouble {
		return fmt.Sprintf("It is the second copy of a request that the network doubled at %s.",
			s.at(e.N))
	}
	if held := s.heldUp(served); held != "" {
		return fmt.Sprintf("Its request came late%s.", strings.TrimSuffix(held, ","))
	}
	if life := s.t.life(served); life != nil && life.Replaced != 0 && life.Replaced < served.N {
		if pause := s.pauseOf(life); pause != nil {
			return fmt.Sprintf("Its attempt %d had stood still from %s on, and been replaced at "+
				"%s.", life.Attempt, s.at(pause.N), s.at(life.Replaced))
		}
	}
	return s.whyHeldUp(served)
}

// whyHeldUp is a sentence on where a message was held up on the way to an event, or "".
func (s *story) whyHeldUp(e *model.Entry) string {
	for ; e != nil; e = s.t.cause(e) {
		if e.Kind != model.EntrySend || !s.t.has(e.N+1) {
			continue
		}
		if held := s.t.at(e.N + 1); held.Kind == model.EntryDelay && held.Cause == e.N {
			return fmt.Sprintf("The network had held it up between %s and %s since %s.",
				s.t.name(e.Proc), s.t.name(e.To), s.at(held.N))
		}
	}
	return ""
}

// heldUp is a clause on where a request was held up before it was served, or "".
func (s *story) heldUp(served *model.Entry) string {
	call := s.t.callOf(served.N)
	if call == nil {
		return ""
	}
	held := s.t.find(call.Invoked, served.N, func(e *model.Entry) bool {
		return e.Kind == model.EntryDelay && e.Cause == call.Invoked
	})
	if held == nil {
		return ""
	}
	return fmt.Sprintf(", held up on its way since %s,", s.at(held.N))
}

// sayFaults cites the faults that struck.
func (s *story) sayFaults() {
	for i, f := range s.c.Scenario.Faults {
		if i >= len(s.t.hist.Reached) || len(s.sentences) >= sentencesMax {
			return
		}
		if n := s.struck(s.t.hist.Reached[i]); s.t.has(n) && !slices.Contains(s.cited, n) {
			if why := s.whatStruck(s.t.at(n)); why != "" {
				s.sentences = append(s.sentences, why)
				continue
			}
			s.say("%s is where the plan has: %s.", capital(s.at(n)), f)
		}
	}
}

// whatStruck is a sentence on what a fault did at an event, or "".
func (s *story) whatStruck(e *model.Entry) string {
	switch {
	case e.Kind == model.EntryCrash || e.Kind == model.EntryPause:
		return capital(s.describe(e)) + "."
	case e.Kind == model.EntryLose && isMessage(e):
		return s.whyLost(e)
	case e.Kind == model.EntryLose:
		return s.whyLostHalf(e)
	case e.Kind == model.EntryDelay && isMessage(e):
		until := ""
		if e.Detail != "" {
			until = " " + e.Detail
		}
		return fmt.Sprintf("The network held %s up between %s and %s from %s on%s.",
			s.messageOf(e), s.t.name(e.Proc), s.t.name(e.To), s.at(e.N), until)
	case e.Kind == model.EntryDelay:
		return fmt.Sprintf("A %s of %s was held up on its way at %s.", e.Msg.Kind,
			s.t.name(e.Proc), s.at(e.N))
	case e.Kind == model.EntryServe && e.Detail == isStale && isServe(e, model.Get):
		return s.staleGet(e)
	case e.Kind == model.EntryServe:
		return s.whyVoid(e)
	}
	return ""
}

// messageOf names a message: its record, or the acknowledgement of it.
func (s *story) messageOf(e *model.Entry) string {
	what := s.recordOr(e.Msg.Record.ID)
	switch {
	case e.Msg.Kind == model.Ack:
		return "the acknowledgement of " + what
	case e.Msg.Kind.IsMessage() && e.Msg.Kind != model.Data:
		return s.t.noticeOf(&e.Msg)
	}
	return what
}

// struck is the event that shows a fault which was reached at event n: what the network did to a
// request, where it did something.
func (s *story) struck(n int64) int64 {
	e := s.t.find(n, n+2, func(e *model.Entry) bool {
		switch e.Kind {
		case model.EntryLose, model.EntryDelay, model.EntryDouble:
			return e.Cause == n
		}
		return false
	})
	if e == nil {
		return n
	}
	return e.N
}

// describe says in a clause what an event was.
func (s *story) describe(e *model.Entry) string {
	who := s.t.name(e.Proc)
	switch e.Kind {
	case model.EntryServe:
		return fmt.Sprintf("at %s %s", s.at(e.N), s.served(e))
	case model.EntryInvoke:
		return fmt.Sprintf("%s asked for its %s at %s", who, e.Msg.Kind, s.at(e.N))
	case model.EntryObserve:
		return fmt.Sprintf("%s is where a reader saw %s with value %s", s.at(e.N),
			s.c.recordName(e.Msg.Record.ID), e.Msg.Record.Value)
	case model.EntryApply:
		return fmt.Sprintf("%s applied %s at %s", who, s.c.recordName(e.Msg.Record.ID), s.at(e.N))
	case model.EntrySend, model.EntryDeliver:
		if _, isNotice := notices[e.Msg.Kind]; isNotice {
			return s.told(e)
		}
	case model.EntryStart:
		return fmt.Sprintf("attempt %d of %s began at %s", e.Attempt, who, s.at(e.N))
	case model.EntryCrash:
		return fmt.Sprintf("%s crashed at %s", who, s.at(e.N))
	case model.EntryGiveUp, model.EntryCancel:
		return who + " " + s.died(e)
	case model.EntryPause:
		return fmt.Sprintf("%s stood still from %s on", who, s.at(e.N))
	case model.EntryResume:
		return fmt.Sprintf("%s went on at %s", who, s.at(e.N))
	case model.EntryEnd:
		return fmt.Sprintf("the run ended at %s (%s)", s.at(e.N), e.Detail)
	}
	return fmt.Sprintf("%s of %s is %s", e.Kind, who, s.at(e.N))
}

// served says what a request did at its service.
func (s *story) served(e *model.Entry) string {
	text := s.did(e)
	switch {
	case e.Outcome == model.Refused:
		return text + ", which was refused"
	case e.Outcome == model.DoneBefore:
		return text + ", which was known already"
	case e.Outcome == model.Stale && isTxnKind(e.Msg.Kind):
		return text + ", which was over already"
	case e.Outcome == model.Stale:
		return text + ", which was too old and changed nothing"
	case e.Detail == isForgotten:
		return text + ", which was acknowledged and is gone"
	case e.Detail == isTorn:
		return text + ", of which half was kept"
	case e.Detail == isStale:
		return text + ", as it was before the last change"
	case e.Msg.Kind == model.Write:
		return text + s.over(e)
	}
	return text
}

// did says what a request asked for.
func (s *story) did(e *model.Entry) string {
	who, rec := s.t.name(e.Proc), &e.Msg.Record
	switch e.Msg.Kind {
	case model.Write:
		return fmt.Sprintf("%s wrote %s with value %s", who, s.recordOr(rec.ID), rec.Value)
	case model.Put:
		return fmt.Sprintf("%s put %s under %q for %s", who, rec.Value, rec.Key, s.recordOr(rec.ID))
	case model.Get:
		return fmt.Sprintf("%s read %s under %q", who, found(e), rec.Key)
	case model.OffsetCommit:
		return fmt.Sprintf("%s committed offset %d of %s", who, e.Msg.Seq,
			s.t.job.Topology.PartitionName(rec.ID.Part))
	case model.Update:
		if e.Msg.Flags&model.WithState != 0 {
			return fmt.Sprintf("%s wrote its row for %s, with %s under %q", who,
				s.recordOr(rec.ID), rec.Value, rec.Key)
		}
		return fmt.Sprintf("%s wrote its row for %s", who, s.recordOr(rec.ID))
	case model.Mark:
		if rec.ID.Offset < 0 {
			return fmt.Sprintf("%s marked the rows of checkpoint %d as written", who, e.Msg.Seq)
		}
		return fmt.Sprintf("%s wrote the id of %s", who, s.recordOr(rec.ID))
	case model.LoadIDs:
		return who + " read which inputs it had taken up"
	case model.LoadOutbox:
		return who + " read its outbox"
	}
	if text := s.coordinated(e); text != "" {
		return text
	}
	return fmt.Sprintf("%s had its %s served", who, e.Msg.Kind)
}

// over says what a write to a table replaced, or "".
func (s *story) over(write *model.Entry) string {
	shape, rec := s.c.Result.Subject.Shape, &write.Msg.Record
	before := s.t.findLast(0, write.N-1, func(e *model.Entry) bool {
		other := &e.Msg.Record
		isRow := shape == model.Rows && other.Same(*rec) ||
			shape == model.Keys && other.Op == rec.Op && other.Key == rec.Key
		return isRow && isServe(e, model.Write) && tookEffect(e)
	})
	switch {
	case before == nil:
		return ""
	case shape == model.Keys && !before.Msg.Record.Same(*rec):
		return fmt.Sprintf(" over %s of %s", before.Msg.Record.Value,
			s.recordOr(before.Msg.Record.ID))
	}
	return fmt.Sprintf(" over %s", before.Msg.Record.Value)
}

func (s *story) recordOr(id model.ID) string {
	if id.Offset < 0 {
		return "no record"
	}
	return s.c.recordName(id)
}

// capital begins a sentence. Names of processes stay as they are.
func capital(text string) string {
	for _, word := range []string{"event ", "the ", "at ", "attempt ", "checkpoint ",
		"transaction "} {
		if strings.HasPrefix(text, word) {
			return strings.ToUpper(text[:1]) + text[1:]
		}
	}
	return text
}
