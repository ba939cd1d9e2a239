package report

import (
	"fmt"

	"github.com/oncesim/oncesim/model"
)

// explainRedone says why a source began the tree of a record anew.
func (s *story) explainRedone(t *turn) {
	original, again := s.t.at(t.original), s.t.at(t.at)
	s.sentences = append(s.sentences, s.whyUnfinished(original, again))
	s.say("%s did not know the tree to be finished and began %s anew at %s.",
		s.t.name(again.Proc), s.record, s.at(again.N))
}

// whyUnfinished is a sentence on why the tree that a message is the root of was not known to be
// finished when its source began another.
func (s *story) whyUnfinished(root, again *model.Entry) string {
	isOfTree := func(e *model.Entry) bool {
		return isMessage(e) && e.Msg.Seq == root.Msg.Seq && e.Msg.Record.ID == root.Msg.Record.ID
	}
	for n := root.N + 1; n < again.N; n++ {
		e := s.t.at(n)
		why := ""
		switch {
		case e.Kind == model.EntryLose && isOfTree(e):
			why = s.whyLost(e)
		case e.Kind == model.EntryDrop && isOfTree(e):
			why = s.whyDropped(e)
		case e.Kind == model.EntryDelay && isOfTree(e):
			why = fmt.Sprintf("The network held a message of its tree up between %s and %s from "+
				"%s on.", s.t.name(e.Proc), s.t.name(e.To), s.at(n))
		case isDeath(e):
			why = s.whyForgotten(root, e, isOfTree)
		case e.Kind == model.EntryInvoke && isAbout(e, s.about) && s.isOpen(n, again.N):
			why = s.whyUnanswered(n, again.N)
		case e.Kind == model.EntryPause:
			why = fmt.Sprintf("%s stood still from %s on.", s.t.name(e.Proc), s.at(n))
		}
		if why != "" {
			return why
		}
	}
	return s.whySlow(root, again)
}

// whyForgotten is a sentence on a life that ended and left a tree unfinished, or "".
func (s *story) whyForgotten(root, end *model.Entry, isOfTree func(*model.Entry) bool) string {
	task := s.t.task(end.Proc)
	open := 0
	for n := root.N + 1; n < end.N; n++ {
		switch e := s.t.at(n); {
		case !isOfTree(e) || !isOf(e, end):
		case e.Kind == model.EntryDeliver:
			open++
		case e.Kind == model.EntrySend && e.Msg.Kind == model.Ack:
			open--
		}
	}
	switch {
	case open <= 0 || task == nil:
		return ""
	case task.Role == model.Extra:
		return fmt.Sprintf("%s %s, and with it went what it knew of the tree of %s.", task.Name,
			s.died(end), s.record)
	}
	return fmt.Sprintf("%s %s before it had acknowledged %s.", task.Name, s.died(end), s.record)
}

// sayFinishedEarly says that a tree of the record was taken for finished before any sink had
// acknowledged its part of it.
func (s *story) sayFinishedEarly() {
	isAck := func(e *model.Entry, role model.Role) bool {
		task := s.t.task(e.Proc)
		return e.Kind == model.EntrySend && e.Msg.Kind == model.Ack && task != nil &&
			task.Role == role && e.Msg.Record.ID == s.about
	}
	word := s.t.find(0, s.t.end(), func(e *model.Entry) bool { return isAck(e, model.Extra) })
	if word == nil || s.t.find(0, word.N, func(e *model.Entry) bool {
		return isAck(e, model.Sink) && e.Msg.Seq == word.Msg.Seq
	}) != nil {
		return
	}
	s.say("%s took the tree of %s for finished at %s, when no sink had acknowledged it.",
		s.t.name(word.Proc), s.record, s.at(word.N))
}

// whySlow says that a tree took too long although nothing went wrong with it.
func (s *story) whySlow(root, again *model.Entry) string {
	text := fmt.Sprintf("Nothing of it had failed, but its tree was under way for %s",
		duration(again.At-root.At))
	for _, p := range s.t.job.Params {
		if p.Name == "timeout" {
			text += fmt.Sprintf(" and the timeout is %s", duration(p.Value))
		}
	}
	finished := s.t.find(again.N, s.t.end(), func(e *model.Entry) bool {
		return e.Kind == model.EntryDeliver && e.Msg.Kind == model.Ack && isOf(e, root) &&
			e.Msg.Seq == root.Msg.Seq
	})
	if finished != nil {
		text += fmt.Sprintf(": the word that it was finished came at %s", s.at(finished.N))
	}
	return text + "."
}
