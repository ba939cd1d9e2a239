package defects

import (
	"slices"

	"github.com/oncesim/oncesim/model"
)

var positionIsLastRead = Defect{
	Name: "position-is-last-read", Kind: &SourceState, Modes: checkpointModes,
	Says:     "the position in a snapshot is that of the last record read, not of the next",
	Origin:   "risingwavelabs/risingwave#5192",
	Property: "exactly-once-state",
	Shown: Case{Topology: "transfers", Records: 1,
		Plan: []string{"crash coordinator/0 after completion 1"}},
	Process: of(model.Source, meddling{said: each(func(_ *meddler, e *model.Effect) {
		moveUploaded(e, func(offset int64) int64 { return max(offset-1, 0) })
	})}),
}

// moveUploaded edits the position that a source uploads.
func moveUploaded(e *model.Effect, edit func(offset int64) int64) {
	if is(e, model.Upload) && len(e.Msg.Parts) > 0 {
		e.Msg.Parts = slices.Clone(e.Msg.Parts)
		e.Msg.Parts[0].ID.Offset = edit(e.Msg.Parts[0].ID.Offset)
	}
}

// moveRestored edits the position that a source begins from.
func moveRestored(edit func(offset int64) int64) func(*meddler, *model.Event,
	*model.Script) bool {
	return answers(model.Download, func(ans *model.Answer) {
		if len(ans.Records) > 0 {
			ans.Records = slices.Clone(ans.Records)
			ans.Records[0].ID.Offset = edit(ans.Records[0].ID.Offset)
		}
	})
}

var positionUnderAnotherName = Defect{
	Name: "position-under-another-name", Kind: &SourceState, IsKindOnly: true,
	Modes: checkpointModes,
	Says: "the position is stored under a name that a restart does not look for, and reading " +
		"begins again",
	Origin:   "SAP-archive/kafka-connect-sap#25",
	Property: "exactly-once-state",
	Shown: Case{Topology: "transfers", Records: 1,
		Plan: []string{"crash coordinator/0 after completion 1"}},
	Process: of(model.Source, meddling{heard: answers(model.Download, func(ans *model.Answer) {
		ans.Records, ans.N = nil, 0
	})}),
}

// group is how many records share a position.
const group = 2

var positionIsATimestamp = Defect{
	Name: "position-is-a-timestamp", Kind: &SourceState, Modes: checkpointModes,
	Says:     "several records share a position, and a restart skips those left of a group",
	Origin:   "Aiven-Open/jdbc-connector-for-apache-kafka#258",
	Property: "at-least-once",
	Shown: Case{Topology: "pipeline", Records: 2,
		Set:  everyMillisecond,
		Plan: []string{"crash source/0 after effect 3 of checkpoint 1"}},
	Process: of(model.Source, meddling{heard: moveRestored(func(offset int64) int64 {
		return (offset + group - 1) / group * group
	})}),
}

var positionIsAnEntry = Defect{
	Name: "position-is-an-entry", Kind: &SourceState, Modes: checkpointModes, IsKindOnly: true,
	Says:     "several records are one entry, and a restart begins the entry again",
	Origin:   "risingwavelabs/risingwave#22486",
	Property: "exactly-once-state",
	Shown: Case{Topology: "transfers", Records: 1,
		Plan: []string{"crash coordinator/0 after completion 1"}},
	Process: of(model.Source, meddling{heard: moveRestored(func(offset int64) int64 {
		return offset / group * group
	})}),
}

var positionReadLate = Defect{
	Name: "position-read-late", Kind: &SourceState, Modes: checkpointModes, IsKindOnly: true,
	Says:     "the position is read some time after the barriers are sent",
	Origin:   "apache/flink#20275 (FLINK-28606)",
	Property: "exactly-once-state",
	Shown: Case{Topology: "transfers", Records: 2,
		Set:  everyMillisecond,
		Plan: []string{"crash ledger/0 after effect 3 of checkpoint 1"}},
	Process: of(model.Source, meddling{heard: hearsPosition, said: later(model.Upload)}),
}

// hearsPosition keeps in n where the source is, and lets go of what it has put off.
func hearsPosition(m *meddler, ev *model.Event, s *model.Script) bool {
	switch {
	case isAnswer(ev, model.Fetch):
		m.n = ev.Ans.Seq + ev.Ans.N
	case isAnswer(ev, model.Download) && len(ev.Ans.Records) > 0:
		m.n = ev.Ans.Records[0].ID.Offset
	case isDue(ev):
		for i := range m.kept {
			moveUploaded(&m.kept[i], func(int64) int64 { return m.n })
		}
		m.release(s)
		return false
	}
	return true
}

var barrierSentLate = Defect{
	Name: "barrier-sent-late", Kind: &SourceState, Modes: checkpointModes, IsKindOnly: true,
	Says:     "the barriers are sent some time after the position is read",
	Origin:   "apache/flink#12234 (FLINK-16986)",
	Property: "exactly-once-state",
	Shown: Case{Mode: "two-phase-commit", Topology: "transfers", Records: 2,
		Set:  everyMillisecond,
		Plan: []string{"crash coordinator/0 after completion 1"}},
	Process: of(model.Source, meddling{
		heard: letGo,
		said:  later(model.Barrier),
	}),
}

var startIsNotResolved = Defect{
	Name: "start-is-not-resolved", Kind: &SourceState, Modes: checkpointModes,
	Says: "a snapshot before the first record has no position, and its restore begins with the " +
		"latest",
	Origin:   "apache/flink-connector-kafka#192 (FLINK-38453)",
	Property: "exactly-once-state",
	Shown: Case{Mode: "two-phase-commit", Topology: "accounts-four", Records: 1,
		Set:  everyMillisecond,
		Plan: []string{"crash source/0 after effect 4 of checkpoint 1"}},
	Process: of(model.Source, meddling{
		heard: func(m *meddler, ev *model.Event, s *model.Script) bool {
			switch {
			case ev.Kind != model.Answered:
			case ev.Msg.Kind == model.Download && len(ev.Ans.Records) > 0 &&
				ev.Ans.Records[0].ID.Offset == 0:
				s.CallUntilDone(model.InputLog, model.Message{Kind: model.Latest,
					Cursor: ev.Msg.Seq, Record: ev.Msg.Record})
				return false
			case ev.Msg.Kind == model.Latest:
				rec := model.Record{ID: model.ID{Part: m.task.Part, Offset: ev.Ans.Seq}}
				ev.Msg.Kind, ev.Msg.Seq = model.Download, ev.Msg.Cursor
				ev.Ans = model.Answer{Outcome: model.Done, Found: true, N: 1,
					Records: []model.Record{rec}}
			}
			return true
		},
	}),
}

// An empty part stands for a source that was given no partition.
var partitionInNoPart = Defect{
	Name: "partition-in-no-part", Kind: &SourceState, Modes: checkpointModes,
	Says: "a snapshot between a restore and the first fetch behind it lacks the partition, and " +
		"nobody reads it from then on",
	Origin:   "apache/flink-connector-kafka#295 (FLINK-40469)",
	Property: "exactly-once-state",
	Shown: Case{Topology: "accounts-four", Records: 2,
		Set:  everyMillisecond,
		Plan: []string{"crash coordinator/0 after completion 5"}},
	Process: of(model.Source, meddling{heard: isAssigned, said: each(lacksPartition)}),
}

// What n says of a source.
const (
	assigned   = iota // it has its partition
	discovers         // it was restored, and waits for it
	unassigned        // it was restored without one
)

func isAssigned(m *meddler, ev *model.Event, _ *model.Script) bool {
	switch {
	case ev.Kind != model.Answered:
	case ev.Msg.Kind == model.Download && ev.Ans.Found:
		if m.n = discovers; ev.Ans.N == 0 {
			m.n = unassigned
		}
	case ev.Msg.Kind == model.Fetch && m.n == unassigned:
		ev.Ans = model.Answer{Outcome: model.Done, Seq: ev.Msg.Seq, End: true}
	case ev.Msg.Kind == model.Fetch && ev.Ans.N > 0:
		m.n = assigned
	}
	return true
}

func lacksPartition(m *meddler, e *model.Effect) {
	if is(e, model.Upload) && m.n != assigned {
		e.Msg.Parts, e.Msg.N = nil, 0
	}
}

var partitionReadTwice = Defect{
	Name: "partition-read-twice", Kind: &SourceState, Modes: checkpointModes,
	Says:     "after a restore a partition is in the state of one reader and assigned to another",
	Origin:   "apache/beam#34890",
	Property: "exactly-once-state",
	Shown: Case{Topology: "transfers", Records: 4,
		Set:  everyMillisecond,
		Plan: []string{"crash source/0 after effect 3 of checkpoint 1"}},
	Process: of(model.Source, meddling{
		heard: func(m *meddler, ev *model.Event, _ *model.Script) bool {
			if isAnswer(ev, model.Download) {
				m.n = 1
			}
			return true
		},
		said: func(m *meddler, list []model.Effect) []model.Effect {
			var all []model.Effect
			for i := range list {
				if all = append(all, list[i]); m.n == 1 && is(&list[i], model.Data) {
					all = append(all, list[i])
				}
			}
			return all
		},
	}),
}

// endForgotten reads up to the latest record in a batch that is run again.
var endForgotten = Defect{
	Name: "end-forgotten", Kind: &SourceState, IsKindOnly: true, Modes: []string{"micro-batch"},
	Says:     "a reader that is started again reads past the end that its task was set",
	Origin:   "apache/druid#4177",
	Property: "at-most-once",
	Shown: Case{Topology: "pipeline", Records: 2,
		Plan: []string{"crash driver/0 after plan-batch 1"}},
	Process: of(model.Source, meddling{
		heard: func(m *meddler, ev *model.Event, s *model.Script) bool {
			switch {
			case isMessage(ev, model.Trigger) && m.self.Life > 1 &&
				ev.Msg.Attempt == m.self.Attempt && ev.Msg.Seq > m.n:
				m.n = ev.Msg.Seq
				m.kept = append(m.kept, model.Effect{To: ev.From, Msg: ev.Msg})
				s.CallUntilDone(model.InputLog, model.Message{Kind: model.Latest,
					Record: model.Record{ID: model.ID{Part: m.task.Part, Offset: -1}}})
				return false
			case isAnswer(ev, model.Latest):
				trigger := model.Event{Kind: model.Delivered, From: m.kept[0].To,
					Msg: m.kept[0].Msg}
				trigger.Msg.N = max(trigger.Msg.N, ev.Ans.Seq)
				m.kept, *ev = m.kept[:0], trigger
			}
			return true
		},
	}),
}
