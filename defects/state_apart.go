package defects

import (
	"strings"

	"github.com/oncesim/oncesim/model"
)

// putOf is the state of an update, as a write of its own.
func putOf(update *model.Effect) model.Effect {
	var s model.Script
	s.CallUntilDone(model.StateStore, model.Message{Kind: model.Put, Record: update.Msg.Record})
	return s.Effects[0]
}

// apart has the state of an update written by itself, before or after the rest of it.
func apart(isAfter bool) meddling {
	return meddling{
		heard: func(_ *meddler, ev *model.Event, _ *model.Script) bool {
			return !isAnswer(ev, model.Put)
		},
		said: func(_ *meddler, list []model.Effect) []model.Effect {
			for i := range list {
				if !is(&list[i], model.Update) || list[i].Msg.Flags&model.WithState == 0 {
					continue
				}
				put, update := putOf(&list[i]), list[i]
				update.Msg.Flags &^= model.WithState
				if isAfter {
					put, update = update, put
				}
				out := append([]model.Effect{put, update}, list[i+1:]...)
				return append(list[:i:i], out...)
			}
			return list
		},
	}
}

var stateBeforeUpdate = Defect{
	Name: "state-before-id", Kind: &StateApart, IsKindOnly: true, Modes: []string{"dedup"},
	Says:   "state reaches the disk before what makes it final, and a restart does not wipe it",
	Origin: "apache/kafka#22548 (KAFKA-20685)", Property: "exactly-once-state",
	Shown:   Case{Topology: "lottery", Records: 1, Plan: []string{"crash bonus/0 after put 1"}},
	Process: of(model.Operate, apart(false)),
}

var stateAfterUpdate = Defect{
	Name: "state-after-id", Kind: &StateApart, IsKindOnly: true, Modes: []string{"dedup"},
	Says:   "an input is known before the state that it makes is durable",
	Origin: "apache/kafka#12540", Property: "exactly-once-state",
	Shown:   Case{Topology: "lottery", Records: 1, Plan: []string{"crash bonus/0 after update 1"}},
	Process: of(model.Operate, apart(true)),
}

// movedSuffix is what the address of a key has besides in a later life.
const movedSuffix = "/moved"

var stateAtOldAddress = Defect{
	Name: "state-under-other-address", Kind: &StateApart, IsKindOnly: true,
	Modes:    []string{"dedup"},
	Says:     "a restart looks for state under an address that is no longer its own",
	Origin:   "apache/spark#26156 (SPARK-29438)",
	Property: "exactly-once-state",
	Shown: Case{Topology: "transfers", Records: 2,
		Plan: []string{"crash ledger/0 after effect 4"}},
	Process: of(model.Operate, meddling{
		heard: func(_ *meddler, ev *model.Event, _ *model.Script) bool {
			if isAnswer(ev, model.Get) {
				ev.Msg.Record.Key = strings.TrimSuffix(ev.Msg.Record.Key, movedSuffix)
			}
			return true
		},
		said: each(func(m *meddler, e *model.Effect) {
			if is(e, model.Get) && m.self.Life > 1 {
				e.Msg.Record.Key += movedSuffix
			}
		}),
	}),
}

var standbyLags = Defect{
	Name: "standby-lags", Kind: &StateApart, IsKindOnly: true, Modes: []string{"dedup"},
	Says:     "state is read from a standby that lacks the last change",
	Origin:   "apache/kafka#12540",
	Property: "exactly-once-state",
	Shown: Case{Topology: "transfers", Records: 2,
		Plan: []string{"crash ledger/0 after effect 4"}},
	Service: only(model.StateStore, func(s behind) model.Service { return &standby{behind: s} }),
}

// standby is a state store whose readers see all but the last change. before is what that has
// replaced, or no record.
type standby struct {
	behind
	before []model.Record
}

// Reset implements model.Service.
func (s *standby) Reset() {
	s.Service.Reset()
	s.before = s.before[:0]
}

// Serve implements model.Service.
func (s *standby) Serve(now int64, req *model.Message, ans *model.Answer) {
	isChange := req.Kind == model.Put || req.Kind == model.Update &&
		req.Flags&model.WithState != 0
	old := req.Record
	if isChange {
		var was model.Answer
		s.Service.Serve(now, &model.Message{Kind: model.Get, Record: req.Record}, &was)
		old.Value = was.Value
	}
	s.Service.Serve(now, req, ans)
	switch {
	case isChange && ans.Outcome == model.Done:
		s.before = append(s.before[:0], old)
	case req.Kind == model.Get && len(s.before) > 0 && s.before[0].Op == req.Record.Op &&
		s.before[0].Key == req.Record.Key:
		ans.Value = s.before[0].Value
	}
}

// State implements model.Service.
func (s *standby) State(c *model.Codec) {
	s.Service.State(c)
	model.Slice(c, &s.before, c.Record)
}
