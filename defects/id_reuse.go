package defects

import (
	"slices"

	"github.com/oncesim/oncesim/model"
)

// commitByID commits before it looks for what is open, and names no epoch.
var commitByID = Defect{
	Name: "commit-by-id", Kind: &IDReuse, Modes: []string{"two-phase-commit"},
	Says: "a restore commits by id what its checkpoint has prepared, when the id is used for " +
		"what came after it",
	Origin:   "apache/flink#5053 (FLINK-8132)",
	Property: "at-most-once",
	Shown: Case{Topology: "pipeline", Records: 7, Set: everyMillisecond, Plan: []string{
		"refuse call upload 1 of op/0", "crash coordinator/0 before completion 2"}},
	Set: []model.ParamValue{{Name: "pool", Value: idsMost}, {Name: "epochs"}},
	Process: takesTurns(meddling{
		heard: func(m *meddler, ev *model.Event, s *model.Script) bool {
			if !isAnswer(ev, model.Download) || !ev.Ans.Found {
				return true
			}
			for _, rec := range ev.Ans.Records[:ev.Ans.N] {
				s.CallUntilDone(model.External, model.Message{Kind: model.CommitTxn,
					Flags: model.Fenced, Seq: rec.Value.Num, Channel: int16(m.task.Part),
					Token:  rec.ID.Offset,
					Record: model.Record{ID: model.ID{Part: m.task.Part, Offset: -1}}})
			}
			return true
		},
	}),
}

var abortSkipsReusedID = Defect{
	Name: "abort-skips-reused-id", Kind: &IDReuse, Modes: []string{"two-phase-commit"},
	Says: "a restore does not abort what is open under an id that its checkpoint knows, and " +
		"where ids have no epochs what comes next under it is committed with it",
	Origin:   "apache/flink-connector-kafka#314 (FLINK-40626)",
	Property: "at-most-once",
	Shown: Case{Topology: "pipeline", Records: 10, Set: everyMillisecond, Plan: []string{
		"refuse call upload 2 of op/0", "crash coordinator/0 before completion 3"}},
	Set:     []model.ParamValue{{Name: "pool", Value: idsMost}, {Name: "epochs"}},
	Process: takesTurns(passesOverKnownIDs),
}

var restoreForgetsToAbort = Defect{
	Name: "restore-forgets-to-abort", Kind: &IDReuse, Modes: []string{"two-phase-commit"},
	Says: "a restore does not look for transactions that its checkpoint lacks, and readers wait " +
		"for them for good",
	Origin:   "StarRocks/starrocks-connector-for-apache-flink#271",
	Property: "at-least-once",
	Shown: Case{Topology: "pipeline", Records: 1,
		Plan: []string{"crash sink/0 after write 1"}},
	Set: []model.ParamValue{{Name: "abort-lingering"}},
}

// Who probes takes the first id that was never used for the end of those that were.
var probingStopsAtGap = Defect{
	Name: "probing-stops-at-gap", Kind: &IDReuse, Modes: []string{"two-phase-commit"},
	Says: "an aborted checkpoint leaves a gap in the ids of transactions, and a restore that " +
		"looks for what is left open takes it for the end",
	Origin:   "apache/flink#17019 (FLINK-23854)",
	Property: "at-least-once",
	Shown: Case{Topology: "pipeline", Records: 2, Set: everyMillisecond,
		Plan: []string{"refuse call upload 1 of op/0", "crash sink/0 after write 2"}},
	Set: []model.ParamValue{{Name: "abort-lingering", Value: 2}},
	Process: of(model.Sink, meddling{
		heard: func(m *meddler, ev *model.Event, _ *model.Script) bool {
			if isMessage(ev, model.Cancel) {
				m.n += 4
			}
			return true
		},
		said: each(func(m *meddler, e *model.Effect) {
			switch {
			case is(e, model.BeginTxn):
				e.Msg.Token += m.n
			case is(e, model.Upload):
				e.Msg.Parts = slices.Clone(e.Msg.Parts)
				for i := range e.Msg.Parts[:e.Msg.N] {
					if e.Msg.Parts[i].Path == 0 { // how many ids are taken
						e.Msg.Parts[i].ID.Offset += m.n
					}
				}
			}
		}),
	}),
}

var poolOfOne = Defect{
	Name: "pool-of-one", Kind: &IDReuse, Modes: []string{"two-phase-commit"},
	Says: "a sink has one transactional id, and what waits for its checkpoint is aborted by the " +
		"begin of the next",
	Origin:     "apache/flink#4239 (FLINK-6988)",
	IsKindOnly: true,
	Property:   "at-least-once",
	Shown:      Case{Topology: "pipeline", Records: 4, Set: everyMillisecond},
	Set:        []model.ParamValue{{Name: "pool", Value: 1}},
}

// The log keeps ids apart by partition, where brokers share them: an abort goes to all partitions.
var sinksShareIDs = Defect{
	Name: "sinks-share-ids", Kind: &IDReuse, Modes: []string{"two-phase-commit"},
	Says: "two sinks take the same transactional ids, and what one of them has left open is " +
		"aborted with what the other has prepared",
	Origin:     "apache/flink#4955 (FLINK-7978)",
	IsKindOnly: true,
	Property:   "at-least-once",
	Shown: Case{Topology: "page-views", Records: 40, Seed: 20, Set: everyMillisecond,
		Plan: []string{"crash coordinator/0 after completion 4"}},
	Process: func(job *model.Job, task *model.Task, p model.Process) model.Process {
		if task.Role != model.Sink {
			return p
		}
		return meddle(task, p, meddling{said: spread(func(_ *meddler, e *model.Effect,
			out []model.Effect) []model.Effect {
			for part := range int16(job.SinkPart) {
				if is(e, model.AbortTxn) && part != e.Msg.Channel {
					other := *e
					other.Msg.Channel = part
					out = append(out, other)
				}
			}
			return append(out, *e)
		})})
	},
}

// The store counts from the completed checkpoint on. What front.n holds is the id given out last.
var checkpointIDsComeAgain = Defect{
	Name: "checkpoint-ids-come-again", Kind: &IDReuse,
	Modes: []string{"two-phase-commit", "snapshot-wal", "snapshot-upsert", "snapshot-first-wins",
		"snapshot"},
	Says: "a restart counts checkpoints from the completed one on, and what the one under way " +
		"has left passes for a part of the next",
	Origin:     "WallarooLabs/wally#3060",
	IsKindOnly: true,
	Property:   "exactly-once-state",
	Shown: Case{Topology: "page-views", Records: 3, Set: everyMillisecond,
		Plan: []string{"crash source/0 after effect 6"}},
	Service: before(model.StateStore, front{
		tell: func(f *front, req *model.Message, ans *model.Answer) {
			switch {
			case ans.Outcome == model.Refused:
			case req.Kind == model.Newest:
				f.n = ans.Seq
			case req.Kind == model.NextCheckpoint:
				f.n++
				ans.Seq = f.n
			}
		},
	}),
}

// idsMost is how many transactional ids a sink takes in turn: enough that none is wanted while what
// it stands for waits for its checkpoint, as it is with poolOfOne.
const idsMost = 3

// takesTurns meddles with sinks that take idsMost ids in turn. In its first life a sink knows how
// often it has begun each: where it would not, it names the epoch, so that no begin that comes late
// aborts what was begun since, as it does with lateBeginAborts.
func takesTurns(does meddling) func(*model.Job, *model.Task, model.Process) model.Process {
	return func(_ *model.Job, task *model.Task, p model.Process) model.Process {
		if task.Role != model.Sink {
			return p
		}
		return meddle(task, meddle(task, p, meddling{said: each(func(m *meddler, e *model.Effect) {
			if is(e, model.BeginTxn) && e.Msg.N == 0 && m.self.Life == 1 {
				e.Msg.N = m.n/idsMost + 1
				m.n++
			}
		})}), does)
	}
}

// passesOverKnownIDs leaves those transactions out of the list to abort whose ids are in the
// checkpoint. The effects that it keeps are never carried out: each holds one of these ids.
var passesOverKnownIDs = meddling{
	heard: func(m *meddler, ev *model.Event, _ *model.Script) bool {
		switch {
		case ev.Kind != model.Answered:
		case ev.Msg.Kind == model.Download && ev.Ans.Found:
			for _, rec := range ev.Ans.Records[:ev.Ans.N] {
				m.kept = append(m.kept, model.Effect{Kind: model.EffectAfter,
					Token: rec.ID.Offset})
			}
		case ev.Msg.Kind == model.ListTxns:
			ev.Ans.Records = slices.DeleteFunc(slices.Clone(ev.Ans.Records),
				func(rec model.Record) bool {
					return slices.ContainsFunc(m.kept, func(e model.Effect) bool {
						return e.Token == rec.ID.Offset
					})
				})
			ev.Ans.N = int64(len(ev.Ans.Records))
		}
		return true
	},
}
