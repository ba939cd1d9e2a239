package defects

import (
	"slices"

	"github.com/oncesim/oncesim/model"
)

var commitAtBarrier = Defect{
	Name: "commit-at-barrier", Kind: &CommitHandoff,
	Modes:      gatedModes,
	Says:       "output is made visible when the sink takes its part, and not when all have",
	Origin:     "apache/iceberg#10765",
	IsKindOnly: true,
	Property:   "at-most-once",
	Shown: Case{Topology: "pipeline", Records: 1,
		Plan: []string{"crash coordinator/0 before completion 1"}},
	Process: sinks(func(m *meddler, e *model.Effect, out []model.Effect) []model.Effect {
		return append(append(out, *e), secondPhase(m, e)...)
	}),
}

var commitAtNextRecord = Defect{
	Name: "commit-at-next-record", Kind: &CommitHandoff,
	Modes:    gatedModes,
	Says:     "what a snapshot holds is made visible with the next record, complete or not",
	Origin:   "StarRocks/starrocks-connector-for-apache-flink#115",
	Property: "at-most-once",
	Shown: Case{Topology: "pipeline", Records: 3, Set: everyMillisecond,
		Plan: []string{"crash coordinator/0 before completion 1"}},
	Process: of(model.Sink, meddling{
		heard: func(m *meddler, ev *model.Event, s *model.Script) bool {
			if isMessage(ev, model.Data) {
				s.Effects = append(s.Effects, m.kept...)
				m.kept = m.kept[:0]
			}
			return true
		},
		said: each(func(m *meddler, e *model.Effect) {
			m.kept = append(m.kept, secondPhase(m, e)...)
		}),
	}),
}

var pendingNotInState = Defect{
	Name: "pending-not-in-state", Kind: &CommitHandoff,
	Modes:      gatedModes,
	Says:       "the sink's part of a checkpoint lacks what waits for its completion",
	Origin:     "apache/hudi#19215",
	IsKindOnly: true,
	Property:   "at-least-once",
	Shown: Case{Topology: "pipeline", Records: 1,
		Plan: []string{"crash coordinator/0 after completion 1"}},
	Process: of(model.Sink, meddling{said: each(func(_ *meddler, e *model.Effect) {
		if is(e, model.Upload) {
			e.Msg.Parts, e.Msg.N = e.Msg.Parts[e.Msg.N:], 0
		}
	})}),
}

var olderPendingForgotten = Defect{
	Name: "older-pending-forgotten", Kind: &CommitHandoff,
	Modes: gatedModes,
	Says: "a completion ends what waits for its checkpoint, and what waits for older ones is " +
		"forgotten",
	Origin:     "apache/flink#25456 (FLINK-36379)",
	IsKindOnly: true,
	Property:   "at-least-once",
	Shown: Case{Topology: "pipeline", Records: 3, Set: everyMillisecond,
		Plan: []string{"lose complete 1 from coordinator/0 to sink/0"}},
	Process: of(model.Sink, meddling{
		heard: func(m *meddler, ev *model.Event, _ *model.Script) bool {
			if isMessage(ev, model.Complete) {
				m.n = ev.Msg.Seq
			}
			return true
		},
		said: without(func(m *meddler, e *model.Effect) bool {
			checkpoint, ok := committed(e)
			return ok && checkpoint < m.n
		}),
	}),
}

var abortedOutputDropped = Defect{
	Name: "aborted-output-dropped", Kind: &CommitHandoff,
	Modes: gatedModes,
	Says: "what was prepared for a checkpoint is thrown away when that is aborted, and the next " +
		"one does not make up for it",
	Origin:     "apache/flink#3729 (FLINK-6315)",
	IsKindOnly: true,
	Property:   "at-least-once",
	Shown: Case{Topology: "pipeline", Records: 1,
		Plan: []string{"refuse call upload 1 of sink/0"}},
	Process: of(model.Sink, meddling{
		heard: func(m *meddler, ev *model.Event, _ *model.Script) bool {
			if isMessage(ev, model.Cancel) {
				m.kept = append(m.kept, model.Effect{Kind: model.EffectSend, Msg: ev.Msg})
			}
			return true
		},
		said: each(func(m *meddler, e *model.Effect) {
			checkpoint, ok := committed(e)
			for i := range m.kept {
				switch {
				case !ok || m.kept[i].Msg.Seq != checkpoint:
				case e.Msg.Kind == model.CommitTxn:
					e.Msg.Kind = model.AbortTxn
				case e.Msg.Kind == model.WriteBatch:
					*e = m.instead(*e, model.Done)
				}
			}
		}),
	}),
}

var cancelCommits = Defect{
	Name: "cancel-commits", Kind: &CommitHandoff,
	Modes:      gatedModes,
	Says:       "the notice that a checkpoint was aborted makes its output visible",
	Origin:     "apache/iceberg#11008",
	IsKindOnly: true,
	Property:   "agreement",
	Shown: Case{Topology: "pipeline", Records: 1, Plan: []string{
		"refuse call upload 1 of sink/0", "crash sink/0 before upload 2"}},
	Process: of(model.Sink, meddling{
		heard: func(_ *meddler, ev *model.Event, _ *model.Script) bool {
			if isMessage(ev, model.Cancel) {
				ev.Msg.Kind = model.Complete
			}
			return true
		},
	}),
}

var restoreForgetsToCommit = Defect{
	Name: "restore-forgets-to-commit", Kind: &CommitHandoff,
	Modes:      []string{"two-phase-commit"},
	Says:       "a restore takes what is prepared to be committed, and commits nothing",
	Origin:     "apache/flink#13363 (FLINK-19166)",
	IsKindOnly: true,
	Property:   "at-least-once",
	Shown: Case{Topology: "pipeline", Records: 1,
		Plan: []string{"crash coordinator/0 after completion 1"}},
	Set: []model.ParamValue{{Name: "recommit"}},
}

var restoreAbortsPrepared = Defect{
	Name: "restore-aborts-prepared", Kind: &CommitHandoff,
	Modes:    []string{"two-phase-commit"},
	Says:     "a restore aborts whatever is undecided, and then commits what is not there",
	Origin:   "ArroyoSystems/arroyo#224",
	Property: "at-least-once",
	Shown: Case{Topology: "pipeline", Records: 1,
		Plan: []string{"crash coordinator/0 after completion 1"}},
	Process: of(model.Sink, meddling{
		heard: func(m *meddler, ev *model.Event, s *model.Script) bool {
			if !isAnswer(ev, model.ListTxns) {
				return true
			}
			for _, rec := range ev.Ans.Records {
				abort := ev.Msg
				abort.Kind, abort.Token = model.AbortTxn, rec.ID.Offset
				s.CallUntilDone(model.External, abort)
			}
			return true
		},
	}),
}

var noticeBeforeDecision = Defect{
	Name: "notice-before-decision", Kind: &CommitHandoff,
	Modes:      gatedModes,
	Says:       "tasks are told of a completed checkpoint before it is the one to restore",
	Origin:     "apache/flink#6704 (FLINK-10354)",
	IsKindOnly: true,
	Property:   "at-most-once",
	Shown: Case{Topology: "pipeline", Records: 1,
		Plan: []string{"crash coordinator/0 before completion 1"}},
	Process: func(job *model.Job, task *model.Task, p model.Process) model.Process {
		if task.Role != model.Extra {
			return p
		}
		return meddle(task, p, meddling{said: spread(func(_ *meddler, e *model.Effect,
			out []model.Effect) []model.Effect {
			for i := range job.Tasks {
				if is(e, model.Completion) && job.Tasks[i].Role == model.Sink {
					out = append(out, model.Effect{Kind: model.EffectSend, Service: model.Nobody,
						To: job.Tasks[i].Proc, Msg: model.Message{Kind: model.Complete,
							Channel: noChannel, Seq: e.Msg.Seq, Record: e.Msg.Record}})
				}
			}
			return append(out, *e)
		})})
	},
}

var completeOneShort = Defect{
	Name: "complete-one-short", Kind: &CommitHandoff,
	Modes:      gatedModes,
	Says:       "a checkpoint is completed although a task has not said that its part is there",
	Origin:     "apache/flink#17536 (FLINK-24530)",
	IsKindOnly: true,
	Property:   "exactly-once",
	Shown: Case{Topology: "pipeline", Records: 3,
		Set:  fallsBack,
		Plan: []string{"crash op/0 before upload 2"}},
	Process: func(job *model.Job, task *model.Task, p model.Process) model.Process {
		if task.Role != model.Extra {
			return p
		}
		return meddle(task, p, meddling{
			heard: func(m *meddler, ev *model.Event, s *model.Script) bool {
				if !isMessage(ev, model.Acknowledge) ||
					ev.Msg.Seq == m.n {
					return true
				}
				m.n = ev.Msg.Seq
				for i := range job.Tasks {
					if job.Tasks[i].Role == model.Operate {
						vote := *ev
						vote.From = job.Tasks[i].Proc
						m.Process.Step(&vote, s)
						break
					}
				}
				return true
			},
		})
	},
}

// An effect that is kept stands for a task that has voted, in To, on the checkpoint of its message.
var voteCountedTwice = Defect{
	Name: "vote-counted-twice", Kind: &CommitHandoff,
	Modes: gatedModes,
	Says: "votes on a checkpoint are counted, and not who they are of: one that comes twice " +
		"stands for one that is missing",
	Origin:     "apache/flink#25685 (FLINK-36788)",
	IsKindOnly: true,
	Property:   "exactly-once",
	Shown: Case{Topology: "pipeline", Records: 3, Set: fallsBack, Plan: []string{
		"duplicate acknowledge 2 from source/0 to coordinator/0", "crash op/0 before upload 2"}},
	Process: func(job *model.Job, task *model.Task, p model.Process) model.Process {
		if task.Role != model.Extra {
			return p
		}
		return meddle(task, p, meddling{
			heard: func(m *meddler, ev *model.Event, _ *model.Script) bool {
				if !isMessage(ev, model.Acknowledge) {
					return true
				}
				hasVoted := func(of model.ProcID) bool {
					return slices.ContainsFunc(m.kept, func(vote model.Effect) bool {
						return vote.To == of && vote.Msg.Seq == ev.Msg.Seq
					})
				}
				for i := 0; hasVoted(ev.From) && i < len(job.Tasks); i++ {
					if job.Tasks[i].Role != model.Extra {
						ev.From = job.Tasks[i].Proc
					}
				}
				m.kept = append(m.kept, model.Effect{Kind: model.EffectSend, To: ev.From,
					Service: model.Nobody, Msg: ev.Msg})
				return true
			},
		})
	},
}

var mergedOutOfOrder = Defect{
	Name: "merged-out-of-order", Kind: &CommitHandoff,
	Modes:      []string{"snapshot-wal"},
	Says:       "what an older checkpoint has left is written behind what the completed one holds",
	Origin:     "apache/iceberg#10526",
	IsKindOnly: true,
	Property:   "exactly-once",
	Shown: Case{Topology: "pipeline", Records: 3, Set: everyMillisecond,
		Plan: []string{"lose complete 1 from coordinator/0 to sink/0"}},
	Process: of(model.Sink, meddling{
		said: func(_ *meddler, list []model.Effect) []model.Effect {
			var batches []int
			for i := range list {
				if is(&list[i], model.WriteBatch) {
					batches = append(batches, i)
				}
			}
			for i, j := 0, len(batches)-1; i < j; i, j = i+1, j-1 {
				a, b := batches[i], batches[j]
				list[a], list[b] = list[b], list[a]
			}
			return list
		},
	}),
}

// noChannel is the channel of what coordinator and tasks tell each other.
const noChannel = -1

// sinks has what sinks do replaced effect by effect.
func sinks(edit func(*meddler, *model.Effect, []model.Effect) []model.Effect) func(*model.Job,
	*model.Task, model.Process) model.Process {
	return of(model.Sink, meddling{said: spread(edit)})
}

// committed is the checkpoint whose output an effect makes visible.
func committed(e *model.Effect) (checkpoint int64, ok bool) {
	if !e.Kind.IsNumbered() {
		return 0, false
	}
	return committedBy(&e.Msg)
}

// secondPhase makes visible what an effect of a sink prepares: a transaction, or what a part of a
// checkpoint holds of a log written ahead.
func secondPhase(m *meddler, e *model.Effect) (list []model.Effect) {
	commit := model.Effect{Kind: model.EffectCall, UntilDone: true, To: model.Nobody,
		Service: model.External}
	switch {
	case is(e, model.PrepareTxn):
		commit.Msg = e.Msg
		commit.Msg.Kind = model.CommitTxn
		return append(list, commit)
	case !is(e, model.Upload):
		return nil
	}
	rows := e.Msg.Parts[:e.Msg.N]
	for from := 0; from < len(rows) && isHead(&rows[from]); { // else it is of a transaction
		to := from + 1 + int(rows[from].Path)
		commit.Msg = model.Message{Kind: model.WriteBatch, Seq: int64(m.task.Part),
			Token: rows[from].ID.Offset, Parts: rows[from+1 : to],
			Record: model.Record{ID: model.ID{Part: m.task.Part, Offset: -1}}}
		list = append(list, commit)
		from = to
	}
	return list
}

// isHead reports whether a record of a part says how many rows of a log written ahead follow. Of a
// sink with transactions it is one of these, or, where it probes, how many ids it has taken.
func isHead(rec *model.Record) bool { return rec.Value.Num == 0 && rec.Path > 0 }
