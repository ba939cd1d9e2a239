package defects

import (
	"slices"

	"github.com/oncesim/oncesim/model"
)

var refusedIsDone = Defect{
	Name: "refused-is-done", Kind: &FlushError,
	Modes: slices.Concat(replayModes, []string{"snapshot", "snapshot-first-wins",
		"snapshot-upsert", "two-phase-commit"}),
	Says: "a write that was refused is logged, and neither a commit of the position nor a " +
		"snapshot asks for it",
	Origin:     "vectordotdev/vector#24543, apache/doris-flink-connector#624",
	IsKindOnly: true,
	Property:   "at-least-once",
	Shown: Case{Topology: "pipeline", Records: 1,
		Plan: []string{"refuse call write 1 of sink/0"}},
	Process: of(model.Sink, meddling{heard: answers(model.Write, refusedAsDone)}),
}

var prepareFailureAcknowledged = Defect{
	Name: "prepare-failure-acknowledged", Kind: &FlushError, Modes: []string{"two-phase-commit"},
	Says: "a transaction that cannot be prepared is rolled back, and the sink's part of the " +
		"checkpoint is there all the same",
	Origin:   "apache/seatunnel#10574",
	Property: "at-least-once",
	Shown: Case{Topology: "pipeline", Records: 1,
		Plan: []string{"refuse call prepare-txn 1 of sink/0"}},
	Process: of(model.Sink, meddling{
		heard: func(_ *meddler, ev *model.Event, s *model.Script) bool {
			if isAnswer(ev, model.PrepareTxn) &&
				ev.Ans.Outcome == model.Refused {
				ev.Ans.Outcome = model.Done
				abort := ev.Msg
				abort.Kind = model.AbortTxn
				s.CallUntilDone(model.External, abort)
			}
			return true
		},
	}),
}

// What meddler.n holds is the transaction in which a write has failed.
var commitRollsBack = Defect{
	Name: "commit-rolls-back", Kind: &FlushError, Modes: []string{"two-phase-commit"},
	Says: "that a write has failed is found when the checkpoint is complete, and its whole " +
		"transaction is rolled back",
	Origin:   "apache/hudi#18051",
	Property: "at-least-once",
	Shown: Case{Topology: "pipeline", Records: 2,
		Plan: []string{"refuse call write 2 of sink/0"}},
	Process: of(model.Sink, meddling{
		heard: func(m *meddler, ev *model.Event, _ *model.Script) bool {
			if isAnswer(ev, model.Write) &&
				ev.Ans.Outcome == model.Refused {
				ev.Ans.Outcome, m.n = model.Done, ev.Msg.Token
			}
			return true
		},
		said: each(func(m *meddler, e *model.Effect) {
			switch {
			case is(e, model.CommitTxn) && e.Msg.Token == m.n:
				e.Msg.Kind = model.AbortTxn
			case is(e, model.Write) && e.Msg.Token == m.n: // the batch goes on without it
				*e = m.instead(*e, model.Done)
			}
		}),
	}),
}

var acknowledgeBeforeUpload = Defect{
	Name: "acknowledge-before-upload", Kind: &FlushError,
	Modes:      gatedModes,
	Says:       "a task says that its part of a checkpoint is there when the upload of it begins",
	Origin:     "apache/flink#5492 (FLINK-5728)",
	IsKindOnly: true,
	Property:   "exactly-once",
	Shown: Case{Topology: "pipeline", Records: 2, Set: fallsBack,
		Plan: []string{"crash op/0 before upload 2"}},
	Process: func(job *model.Job, task *model.Task, p model.Process) model.Process {
		coordinator := model.ProcID(len(job.Tasks) - 1)
		if task.Role != model.Operate {
			return p
		}
		return meddle(task, p, meddling{said: spread(func(_ *meddler, e *model.Effect,
			out []model.Effect) []model.Effect {
			if is(e, model.Upload) {
				out = append(out, model.Effect{Kind: model.EffectSend, Service: model.Nobody,
					To: coordinator, Msg: model.Message{Kind: model.Acknowledge,
						Flags: e.Msg.Flags & model.Idle, Channel: noChannel, Seq: e.Msg.Seq,
						Record: model.Record{ID: model.ID{Offset: -1}}}})
			}
			return append(out, *e)
		})})
	},
}

var emptyPartNotKept = Defect{
	Name: "empty-part-not-kept", Kind: &FlushError,
	Modes: gatedModes,
	Says: "a part with nothing in it is acknowledged and not stored, and a restore does not find " +
		"it",
	Origin:     "risingwavelabs/risingwave#26492",
	IsKindOnly: true,
	Property:   "at-most-once",
	Shown: Case{Topology: "page-views", Records: 4, Set: fallsBack,
		Plan: []string{"crash coordinator/0 after effect 25"}},
	Process: of(model.Sink, meddling{said: without(func(_ *meddler, e *model.Effect) bool {
		return is(e, model.Upload) && len(e.Msg.Parts) == 0
	})}),
}

// fallsBack has a restart that does not find all parts of a checkpoint go back to the one before.
var fallsBack = append([]model.ParamValue{{Name: "fall-back", Value: 1}}, everyMillisecond...)
