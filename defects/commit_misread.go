package defects

import "github.com/oncesim/oncesim/model"

var refusedCommitIsDone = Defect{
	Name: "refused-commit-is-done", Kind: &CommitMisread,
	Modes:      gatedModes,
	Says:       "a commit that was refused is logged, and taken to be done",
	Origin:     "apache/seatunnel#11569",
	IsKindOnly: true,
	Property:   "at-least-once",
	Shown: Case{Topology: "pipeline", Records: 1,
		Plan: []string{"refuse call commit-txn 1 of sink/0"}},
	Process: of(model.Sink, meddling{
		heard: func(_ *meddler, ev *model.Event, _ *model.Script) bool {
			if _, ok := committedBy(&ev.Msg); ok && ev.Kind == model.Answered &&
				ev.Ans.Outcome == model.Refused {
				ev.Ans.Outcome = model.Done
			}
			return true
		},
	}),
}

var unknownCommitIsDone = Defect{
	Name: "unknown-commit-is-done", Kind: &CommitMisread,
	Modes: gatedModes,
	Says: "a commit whose outcome is unknown is not tried again, and what it was for is " +
		"forgotten",
	Origin:     "apache/flink#16945 (FLINK-23896)",
	IsKindOnly: true,
	Property:   "at-least-once",
	Shown: Case{Topology: "pipeline", Records: 1,
		Plan: []string{"lose request of commit-txn 1 from sink/0"}},
	Process: of(model.Sink, meddling{said: each(func(_ *meddler, e *model.Effect) {
		if _, ok := committed(e); ok {
			e.UntilDone = false
		}
	})}),
}

var unknownCommitIsAborted = Defect{
	Name: "unknown-commit-is-aborted", Kind: &CommitMisread, Modes: []string{"two-phase-commit"},
	Says:       "a commit whose outcome is unknown is taken to have failed, and is rolled back",
	Origin:     "apache/iceberg#4904",
	IsKindOnly: true,
	Property:   "at-least-once",
	Shown: Case{Topology: "pipeline", Records: 1,
		Plan: []string{"lose request of commit-txn 1 from sink/0"}},
	Process: of(model.Sink, meddling{
		heard: func(_ *meddler, ev *model.Event, s *model.Script) bool {
			if isAnswer(ev, model.CommitTxn) &&
				ev.Ans.Outcome == model.Unknown {
				abort := ev.Msg
				abort.Kind = model.AbortTxn
				s.CallUntilDone(model.External, abort)
			}
			return true
		},
		said: hopeful(model.CommitTxn),
	}),
}

var countLostAtRetry = Defect{
	Name: "count-lost-at-retry", Kind: &CommitMisread, Modes: []string{"two-phase-commit"},
	Says: "a retry makes the sink forget how much it has written, and that its next write is " +
		"there already is taken for success",
	Origin:     "apache/beam#26520",
	IsKindOnly: true,
	Property:   "at-least-once",
	Shown: Case{Topology: "pipeline", Records: 2,
		Plan: []string{"lose request of write 1 from sink/0"}},
	Process: of(model.Sink, meddling{
		heard: func(m *meddler, ev *model.Event, _ *model.Script) bool {
			if isAnswer(ev, model.Write) && ev.Msg.Try > 0 {
				m.n = ev.Msg.Cursor + 1
			}
			return true
		},
		said: each(func(m *meddler, e *model.Effect) {
			switch {
			case is(e, model.BeginTxn):
				m.n = 0
			case is(e, model.Write):
				e.Msg.Cursor -= m.n
			}
		}),
	}),
}
