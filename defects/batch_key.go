package defects

import "github.com/oncesim/oncesim/model"

var batchIDsBeginAgain = Defect{
	Name: "batch-ids-begin-again", Kind: &CommitKey, IsKindOnly: true,
	Modes:    []string{"micro-batch"},
	Says:     "batches are numbered from one again after a restart, under the same name",
	Origin:   "apache/paimon#9667",
	Property: "at-least-once",
	Shown: Case{Topology: "pipeline", Records: 2,
		Plan: []string{"crash source/0 after effect 1 of checkpoint 1"}},
	Process: of(model.Sink, meddling{
		heard: func(m *meddler, ev *model.Event, _ *model.Script) bool {
			if isAnswer(ev, model.WriteBatch) {
				ev.Msg.Token = ev.Msg.Cursor
			}
			return true
		},
		said: each(func(m *meddler, e *model.Effect) {
			if is(e, model.WriteBatch) {
				m.n++
				e.Msg.Cursor, e.Msg.Token = e.Msg.Token, m.n
			}
		}),
	}),
}
