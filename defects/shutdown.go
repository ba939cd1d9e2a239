package defects

import (
	"slices"

	"github.com/oncesim/oncesim/model"
)

var savepointHoldsNothing = Defect{
	Name: "savepoint-holds-nothing", Kind: &Shutdown, IsKindOnly: true,
	Modes: gatedModes,
	Says: "the part of a savepoint lacks what is to be committed, which the stop is " +
		"expected to do anyway",
	Origin:   "apache/beam#26884",
	Property: "at-least-once",
	Shown: Case{Topology: "pipeline", Records: 1,
		Plan: []string{"crash coordinator/0 after completion 1"}},
	Set: []model.ParamValue{{Name: "stop-at", Value: 1}},
	Process: of(model.Sink, meddling{
		heard: func(m *meddler, ev *model.Event, _ *model.Script) bool {
			if isMessage(ev, model.Barrier) {
				m.n = int64(ev.Msg.Flags & model.Idle)
			}
			return true
		},
		said: each(func(m *meddler, e *model.Effect) {
			if is(e, model.Upload) && m.n != 0 {
				e.Msg.Parts, e.Msg.N = nil, 0
			}
		}),
	}),
}

var stopGoesBack = Defect{
	Name: "stop-goes-back", Kind: &Shutdown, Modes: gatedModes,
	Says: "a failure after a savepoint, and before the job has stopped with it, goes back to the " +
		"checkpoint before",
	Origin:   "apache/flink#19198 (FLINK-26783)",
	Property: "at-most-once",
	Shown: Case{Topology: "pipeline", Records: 1,
		Plan: []string{"crash sink/0 after commit-txn 1"}},
	Set: []model.ParamValue{{Name: "stop-at", Value: 1},
		{Name: "savepoint-restores", Value: 0}},
}

var idleIsTheEnd = Defect{
	Name: "idle-is-the-end", Kind: &Shutdown, Modes: gatedModes,
	IsKindOnly: true,
	Says: "a source that has caught up is taken for one that has ended, and no checkpoint " +
		"follows",
	Origin:   "apache/paimon#3345",
	Property: "at-least-once",
	Shown: Case{Mode: "two-phase-commit", Topology: "accounts-four", Records: 1,
		Set: everyMillisecond},
	Process: of(model.Source, meddling{
		heard: func(m *meddler, ev *model.Event, _ *model.Script) bool {
			if isAnswer(ev, model.Fetch) {
				m.n = ev.Ans.N
			}
			return true
		},
		said: each(func(m *meddler, e *model.Effect) {
			if is(e, model.Upload) && m.n == 0 {
				e.Msg.Flags |= model.Idle
			}
		}),
	}),
}

// The write at the stop has no id; that of the restore has one, and finds nothing.
var lastBatchHasNoID = Defect{
	Name: "last-batch-has-no-id", Kind: &Shutdown, IsKindOnly: true,
	Modes:    []string{"snapshot-wal"},
	Says:     "what a savepoint holds is written again by the run that begins with it",
	Origin:   "apache/paimon#3699",
	Property: "at-most-once",
	Shown:    Case{Topology: "pipeline", Records: 1},
	Set:      []model.ParamValue{{Name: "stop-at", Value: 1}},
	Process: of(model.Sink, meddling{
		heard: func(m *meddler, ev *model.Event, _ *model.Script) bool {
			if isMessage(ev, model.Complete) &&
				ev.Msg.Flags&model.Idle != 0 {
				m.n = ev.Msg.Seq
			}
			return true
		},
		said: each(func(m *meddler, e *model.Effect) {
			if is(e, model.WriteBatch) && e.Msg.Token == m.n {
				e.Msg.Token = 0
			}
		}),
	}),
}

// The reader hands out lines, and the last of what it has read waits in its buffer for what
// follows.
var bufferIsBehindPosition = Defect{
	Name: "buffer-is-behind-position", Kind: &Shutdown, Modes: checkpointModes,
	Says:     "the position counts what is read and still in the buffer, which a stop drops",
	Origin:   "fluent/fluent-bit#11265",
	Property: "exactly-once-state",
	Shown: Case{Mode: "two-phase-commit", Topology: "running-average", Records: 1,
		Set: everyMillisecond},
	Set: []model.ParamValue{{Name: "stop-at", Value: 1}},
	Process: of(model.Source, meddling{
		heard: letGo,
		said: func(m *meddler, list []model.Effect) []model.Effect {
			last := -1
			for i := range list {
				if is(&list[i], model.Data) {
					last = i
				}
			}
			if last < 0 {
				return list
			}
			rest := append(slices.Clone(m.kept), list[:last]...)
			m.kept = m.kept[:0]
			return append(m.putOff(rest, list[last]), list[last+1:]...)
		},
	}),
}
