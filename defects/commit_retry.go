package defects

import "github.com/oncesim/oncesim/model"

var retryUnknownWrite = Defect{
	Name: "retry-unknown-write", Kind: &CommitRetry, Modes: []string{"at-most-once"},
	Says:     "a write that has no answer in time is sent again, under no key",
	Origin:   "google/adk-python#6465",
	Property: "at-most-once",
	Shown: Case{Topology: "pipeline", Records: 1,
		Plan: []string{"lose answer of write 1 from sink/0"}},
	Process: of(model.Sink, meddling{
		said: each(func(_ *meddler, e *model.Effect) {
			if is(e, model.Write) {
				e.UntilDone = true
			}
		}),
	}),
}

// retryWholeBatch: kept is the batch. n is 1 while it is being written again.
var retryWholeBatch = Defect{
	Name: "retry-whole-batch", Kind: &CommitRetry, Modes: []string{"at-most-once"},
	Says:     "where one write of a batch is refused, all of the batch is written again",
	Origin:   "redpanda-data/connect#4387",
	Property: "at-most-once",
	Shown: Case{Topology: "pipeline", Records: 2,
		Plan: []string{"refuse call write 2 of sink/0"}},
	Process: of(model.Sink, meddling{
		heard: func(m *meddler, ev *model.Event, s *model.Script) bool {
			if m.n = 0; ev.Kind == model.Answered && ev.Ans.Outcome == model.Refused {
				m.n = 1
				s.Effects = append(s.Effects, m.kept...)
				m.kept = m.kept[:0]
			}
			return true
		},
		said: func(m *meddler, list []model.Effect) []model.Effect {
			if m.n == 0 && len(m.kept) == batchMost {
				m.kept = m.kept[:0]
			}
			if m.n == 0 {
				m.kept = append(m.kept, list...)
			}
			return list
		},
	}),
}

// batchMost is how many writes retryWholeBatch puts in a batch.
const batchMost = 4

// streamsMost is more than the channels that a sink has.
const streamsMost = 100

// existsIsConflict goes with a log that knows a write by its stream and number alone. A stream is
// a producer.
var existsIsConflict = Defect{
	Name: "exists-is-conflict", Kind: &CommitRetry, Modes: []string{"dedup"},
	Says:     "a retry that is there already is taken for a conflict, and written to a new stream",
	Origin:   "apache/seatunnel#11561",
	Property: "at-most-once",
	Shown: Case{Topology: "pipeline", Records: 1,
		Plan: []string{"lose answer of write 1 from sink/0"}},
	Process: of(model.Sink, meddling{
		heard: func(_ *meddler, ev *model.Event, s *model.Script) bool {
			if ev.Kind != model.Answered || ev.Ans.Outcome != model.DoneBefore {
				return true
			}
			again := ev.Msg
			again.Channel, again.Cursor, again.Try = again.Channel+streamsMost, -1, 0
			s.CallUntilDone(model.External, again)
			return false
		},
	}),
	Service: instead(knownByNumber),
}
