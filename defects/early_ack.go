package defects

import "github.com/oncesim/oncesim/model"

var commitOnRead = Defect{
	Name: "commit-on-read", Kind: &EarlyAck, Modes: []string{"at-least-once", "acker"},
	Says:     "the offset is committed when records are read, not when they are processed",
	Origin:   "fluent/fluent-bit#2051",
	Property: "at-least-once",
	Shown: Case{Topology: "pipeline", Records: 3,
		Plan: []string{"crash source/0 after offset-commit 1"}},
	Process: of(model.Source, meddling{
		heard: func(m *meddler, ev *model.Event, s *model.Script) bool {
			if ev.Kind == model.Answered && ev.Msg.Kind == model.Fetch && ev.Ans.N > 0 {
				s.CallUntilDone(model.InputLog, model.Message{Kind: model.OffsetCommit,
					Seq: ev.Ans.Seq + ev.Ans.N, Record: ev.Msg.Record})
			}
			return true
		},
	}),
}
