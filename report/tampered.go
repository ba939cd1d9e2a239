package report

import (
	"fmt"

	"github.com/oncesim/oncesim/model"
)

// What the detail of a trace entry says of a fault: what took half of a call or a message, or how
// a service dealt with a request.
const (
	byPartition = "partition"
	byOutage    = "outage"
	isForgotten = "forgotten"
	isStale     = "stale"
	isTorn      = "torn"
)

// tookEffect reports whether e is a request that changed its service for good.
func tookEffect(e *model.Entry) bool {
	return e.Kind == model.EntryServe && e.Outcome == model.Done && e.Detail != isForgotten
}

// isAnswerLost reports whether what e took of a call is its answer.
func (t *tape) isAnswerLost(e *model.Entry) bool {
	cause := t.cause(e)
	return cause != nil && cause.Kind == model.EntryServe
}

// whyLostHalf is a sentence on what took the request or the answer of a call.
func (s *story) whyLostHalf(lost *model.Entry) string {
	who, kind := s.t.name(lost.Proc), lost.Msg.Kind
	service := model.ServiceNames[lost.Service]
	switch isAnswer := s.t.isAnswerLost(lost); {
	case lost.Detail == byOutage:
		return fmt.Sprintf("The service %s was down when a %s of %s came at %s.", service, kind,
			who, s.at(lost.N))
	case lost.Detail == byPartition && isAnswer:
		return fmt.Sprintf("A partition kept the answer to a %s of %s from it at %s.", kind, who,
			s.at(lost.N))
	case lost.Detail == byPartition:
		return fmt.Sprintf("A partition kept a %s of %s from %s at %s.", kind, who, service,
			s.at(lost.N))
	case isAnswer:
		return fmt.Sprintf("The answer to a %s of %s was lost at %s.", kind, who, s.at(lost.N))
	}
	return fmt.Sprintf("A %s of %s was lost on its way at %s.", kind, who, s.at(lost.N))
}

// whyVoid is a sentence on why a request that was served left nothing, or "".
func (s *story) whyVoid(served *model.Entry) string {
	who, kind := s.t.name(served.Proc), served.Msg.Kind
	service := model.ServiceNames[served.Service]
	switch {
	case served.Outcome == model.Refused:
		return fmt.Sprintf("The service %s refused the %s of %s at %s.", service, kind, who,
			s.at(served.N))
	case served.Detail == isForgotten:
		return fmt.Sprintf("The service %s acknowledged the %s of %s at %s and forgot it: it is "+
			"gone.", service, kind, who, s.at(served.N))
	}
	return ""
}

// setsState reports whether e is a request that writes keyed state.
func setsState(e *model.Entry) bool {
	return isServe(e, model.Put) ||
		isServe(e, model.Update) && e.Msg.Flags&model.WithState != 0
}

// lastSet is the last state written under the key of a request before it, or nil.
func (s *story) lastSet(before *model.Entry) *model.Entry {
	return s.t.findLast(0, before.N-1, func(e *model.Entry) bool {
		return setsState(e) && tookEffect(e) && e.Msg.Record.Op == before.Msg.Record.Op &&
			e.Msg.Record.Key == before.Msg.Record.Key
	})
}

// tellTampered tells of state that a service forgot, or answered with as it had been, under one of
// some keys; it reports false if there is none.
func (s *story) tellTampered(keys map[string]bool) bool {
	e := s.t.find(0, s.t.end(), func(e *model.Entry) bool {
		return keys[e.Msg.Record.Key] && (s.isMissed(e) || s.isMisread(e))
	})
	if e == nil {
		return false
	}
	if e.Detail == isStale {
		s.sentences = append(s.sentences, s.staleGet(e))
		return true
	}
	s.about, s.record = e.Msg.Record.ID, s.c.recordName(e.Msg.Record.ID)
	s.say("%s applied %s, and the state became %s.", s.t.name(e.Proc), s.record,
		e.Msg.Record.Value)
	s.sentences = append(s.sentences, s.whyVoid(e))
	s.sayReadAfter(e)
	return true
}

// isMissed reports whether e is state that was forgotten and that its writer did not write over
// before anybody read it.
func (s *story) isMissed(e *model.Entry) bool {
	if e.Detail != isForgotten || !setsState(e) {
		return false
	}
	next := s.t.find(e.N, s.t.end(), func(o *model.Entry) bool {
		return o.Msg.Record.Op == e.Msg.Record.Op && o.Msg.Record.Key == e.Msg.Record.Key &&
			(setsState(o) && tookEffect(o) || isServe(o, model.Get))
	})
	return next == nil || isServe(next, model.Get) || !isOf(next, e)
}

// isMisread reports whether e is a stale answer that differs from what it should have been.
func (s *story) isMisread(e *model.Entry) bool {
	if e.Detail != isStale || !isServe(e, model.Get) {
		return false
	}
	set := s.lastSet(e)
	return set != nil && set.Msg.Record.Value != e.Ans.Value
}

// sayReadAfter says who read the state under a key again after it had been forgotten.
func (s *story) sayReadAfter(forgotten *model.Entry) {
	get := s.t.find(forgotten.N, s.t.end(), func(e *model.Entry) bool {
		return isServe(e, model.Get) && e.Msg.Record.Op == forgotten.Msg.Record.Op &&
			e.Msg.Record.Key == forgotten.Msg.Record.Key
	})
	if get != nil {
		s.say("Attempt %d of %s read %s under %q at %s and went on from that.", get.Attempt,
			s.t.name(get.Proc), found(get), get.Msg.Record.Key, s.at(get.N))
	}
}

// staleGet is a sentence on what a stale answer said and what it should have said.
func (s *story) staleGet(get *model.Entry) string {
	text := fmt.Sprintf("Attempt %d of %s read %s under %q at %s, as it was before the last "+
		"change of the store", get.Attempt, s.t.name(get.Proc), found(get), get.Msg.Record.Key,
		s.at(get.N))
	if s.isMisread(get) {
		set := s.lastSet(get)
		text += fmt.Sprintf(": it had been %s since %s", set.Msg.Record.Value, s.at(set.N))
	}
	return text + "."
}

// found is what a request to read state was told.
func found(get *model.Entry) string {
	if !get.Ans.Found {
		return "nothing"
	}
	return get.Ans.Value.String()
}

// whyNotInOutbox is a sentence on a life that was told of its outbox as it was before an output of
// an application was in it, or "".
func (s *story) whyNotInOutbox(applied *model.Entry) string {
	load := s.t.find(applied.N, s.t.end(), func(e *model.Entry) bool {
		return isServe(e, model.LoadOutbox) && e.Detail == isStale && e.Proc == applied.Proc
	})
	if load == nil {
		return ""
	}
	return fmt.Sprintf("Attempt %d of %s read its outbox at %s as it was before the last change, "+
		"without what came of %s.", load.Attempt, s.t.name(load.Proc), s.at(load.N), s.record)
}

// whyUnknown is a clause on why a task did something again although it had written the id of its
// input, or "".
func (s *story) whyUnknown(first, second int64) string {
	again := s.t.at(second)
	isID := func(e *model.Entry) bool {
		return (isServe(e, model.Mark) || isServe(e, model.Update)) && tookEffect(e) &&
			e.Proc == again.Proc
	}
	id := s.t.find(first, second, func(e *model.Entry) bool {
		return isID(e) && e.Msg.Record.ID == again.Msg.Record.ID
	})
	if id == nil {
		return ""
	}
	if load := s.t.find(id.N, second, func(e *model.Entry) bool {
		return isServe(e, model.LoadIDs) && e.Detail == isStale && e.Proc == again.Proc
	}); load != nil {
		return fmt.Sprintf(", for it had been told at %s which inputs are taken up, as it was "+
			"before the id was written at %s", s.at(load.N), s.at(id.N))
	}
	later := int64(0)
	for n := id.N + 1; n < second; n++ {
		if e := s.t.at(n); isID(e) && e.Msg.Channel == id.Msg.Channel {
			later++
		}
	}
	if later < id.Msg.N {
		return ""
	}
	return fmt.Sprintf(", for its id, written at %s, had left the catalog, which keeps the latest "+
		"%d", s.at(id.N), id.Msg.N)
}

// skippedBy is the first fetch after an event that wanted the record and was given what comes
// behind it, because the input log no longer had it; nil: there is none.
func (s *story) skippedBy(after int64) *model.Entry {
	return s.t.find(after, s.t.end(), func(e *model.Entry) bool {
		return isServe(e, model.Fetch) && e.Msg.Record.ID.Part == s.about.Part &&
			e.Msg.Seq <= s.about.Offset && s.about.Offset < e.Ans.Seq
	})
}

// sayTruncated says that a fetch found the record gone.
func (s *story) sayTruncated(fetch *model.Entry, again string) {
	s.say("%s asked for %s%s at %s, but the input log had lost all records before offset %d.",
		s.t.name(fetch.Proc), s.record, again, s.at(fetch.N), fetch.Ans.Seq)
	s.say("Nobody can read it any more.")
}

// failure is what a process gave up on, again and again.
type failure struct {
	proc        model.ProcID
	id          model.ID
	reason      string
	times       int
	first, last int64
}

// worstFailure is the failure that was repeated most often, or nil if none was repeated.
func (s *story) worstFailure() *failure {
	var list []failure
	for i := range s.t.entries {
		e := &s.t.entries[i]
		if e.Kind != model.EntryGiveUp {
			continue
		}
		f := failure{proc: e.Proc, id: s.t.gaveUpOn(e), reason: e.Detail, first: e.N}
		at := 0
		for at < len(list) && (list[at].proc != f.proc || list[at].id != f.id ||
			list[at].reason != f.reason) {
			at++
		}
		if at == len(list) {
			list = append(list, f)
		}
		list[at].times++
		list[at].last = e.N
	}
	var worst *failure
	for i := range list {
		if f := &list[i]; f.times > 1 && (worst == nil || f.times > worst.times) {
			worst = f
		}
	}
	return worst
}

// gaveUpOn is the record that a process had in hand when it gave up; an offset below 0: none. A
// source gives up on requests that are about no record.
func (t *tape) gaveUpOn(e *model.Entry) model.ID {
	if task := t.task(e.Proc); task == nil || task.Role == model.Source {
		return model.ID{Offset: -1}
	}
	for n := e.Cause; t.has(n); n = t.at(n).Cause {
		c := t.at(n)
		if c.Msg.Kind == model.Data || c.Msg.Kind.Service() == model.StateStore ||
			c.Msg.Kind == model.Write {
			return c.Msg.Record.ID
		}
		if c.Kind == model.EntryStart || c.Kind == model.EntryTimer {
			break
		}
	}
	return model.ID{Offset: -1}
}
