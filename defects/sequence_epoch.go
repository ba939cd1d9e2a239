package defects

import "github.com/oncesim/oncesim/model"

// numbersBeginAgain: n is the number in the outbox that a life sends as 0.
var numbersBeginAgain = Defect{
	Name: "numbers-begin-again", Kind: &SequenceEpoch, IsKindOnly: true, Modes: []string{"dedup"},
	Says:     "a restarted task numbers its outputs from 0 on, below what its receiver has seen",
	Origin:   "ThreeDotsLabs/watermill#576",
	Property: "at-least-once",
	Shown: Case{Topology: "fan-out", Records: 4,
		Plan: []string{"crash split/0 after effect 16"}},
	Process: of(model.Operate, meddling{
		heard: func(m *meddler, ev *model.Event, _ *model.Script) bool {
			switch {
			case isAnswer(ev, model.LoadOutbox):
				m.n = ev.Ans.Seq
			case isMessage(ev, model.Ack):
				ev.Msg.Seq += m.n
			}
			return true
		},
		said: each(func(m *meddler, e *model.Effect) {
			if is(e, model.Data) {
				e.Msg.Seq -= m.n
				e.Msg.Cursor = max(e.Msg.Cursor-m.n, -1)
			}
		}),
	}),
}

// epochNumbers is how many numbers an epoch of resendInNewEpoch has. A log takes the epoch of a
// write from its number.
const epochNumbers = 1_000_000_000

// resendInNewEpoch goes with a log that knows a write by its producer's number alone.
var resendInNewEpoch = Defect{
	Name: "send-again-in-new-epoch", Kind: &SequenceEpoch, IsKindOnly: true,
	Modes:    []string{"dedup"},
	Says:     "what may have been written is sent again under a new epoch, in which it is new",
	Origin:   "confluentinc/librdkafka#4953",
	Property: "at-most-once",
	Shown: Case{Topology: "pipeline", Records: 1,
		Plan: []string{"crash op/0 at 12ms"}},
	Process: of(model.Operate, meddling{
		heard: func(_ *meddler, ev *model.Event, _ *model.Script) bool {
			if isMessage(ev, model.Ack) {
				ev.Msg.Seq %= epochNumbers
			}
			return true
		},
		said: each(func(m *meddler, e *model.Effect) {
			if !is(e, model.Data) {
				return
			}
			epoch := int64(m.self.Life-1) * epochNumbers
			if e.Msg.Seq += epoch; e.Msg.Cursor >= 0 {
				e.Msg.Cursor += epoch
			}
		}),
	}),
	Service: instead(knownByNumber),
}

// knownByNumber is how a log knows writes that goes by numbers alone.
func knownByNumber(old *entry, _ int64, req *model.Message) bool {
	return old.channel == req.Channel && old.number == req.Token
}

var versionWithoutLife = Defect{
	Name: "version-begins-again", Kind: &SequenceEpoch, IsKindOnly: true,
	Modes:    []string{"idempotent-by-key"},
	Says:     "versions begin again with a life of the sender, and newer rows give way to older",
	Origin:   "confluentinc/kafka-connect-elasticsearch#142",
	Property: "at-least-once",
	Shown: Case{Topology: "transfers", Records: 2,
		Plan: []string{"crash ledger/0 after effect 4"}},
	Process: of(model.Sink, meddling{
		said: each(func(_ *meddler, e *model.Effect) {
			if is(e, model.Write) {
				e.Msg.Token &= 1<<32 - 1
			}
		}),
	}),
}

// twoByTwo has a source commit behind each record that is done.
var twoByTwo = []model.ParamValue{{Name: "window", Value: 2}, {Name: "commit-every", Value: 1}}

// treesBeginAgain takes a tree of before the crash that is finished just after it.
var treesBeginAgain = Defect{
	Name: "trees-begin-again", Kind: &SequenceEpoch, IsKindOnly: true, Modes: []string{"acker"},
	Says:     "a restarted source gives its trees the numbers of those before, which finish them",
	Origin:   "apache/storm#3859 (STORM-17)",
	Property: "at-least-once",
	Shown: Case{Topology: "pipeline", Records: 3, Set: twoByTwo, Plan: []string{
		"crash source/0 after offset-commit 1", "delay ack 2 from sink/0 to acker/0 by 9600us",
		"lose data 4 from source/0 to op/0"}},
	Process: of(model.Source, meddling{
		heard: func(m *meddler, ev *model.Event, _ *model.Script) bool {
			if ev.Kind == model.Delivered {
				ev.Msg.Seq |= int64(m.self.Attempt) << 32
			}
			return true
		},
		said: each(func(_ *meddler, e *model.Effect) {
			if is(e, model.Data) || is(e, model.Ack) {
				e.Msg.Seq &= 1<<32 - 1
			}
		}),
	}),
}

var gapNotSeen = Defect{
	Name: "gap-not-seen", Kind: &SequenceEpoch, IsKindOnly: true,
	Modes:    []string{"dedup", "dedup-weak"},
	Says:     "a receiver takes any higher number, and what was missing is then too low",
	Origin:   "apache/pulsar#6273",
	Property: "at-least-once",
	Shown: Case{Topology: "pipeline", Records: 2,
		Plan: []string{"lose data 1 from source/0 to op/0"}},
	Process: of(model.Operate, meddling{
		heard: func(_ *meddler, ev *model.Event, _ *model.Script) bool {
			if isMessage(ev, model.Data) {
				ev.Msg.Cursor = -1
			}
			return true
		},
	}),
}
