package defects

import (
	"slices"

	"github.com/oncesim/oncesim/model"
)

// commitHighest: n is the position behind the highest offset that was acknowledged.
var commitHighest = Defect{
	Name: "commit-highest-acknowledged", Kind: &Redelivery,
	Modes:    []string{"at-least-once", "acker", "idempotent"},
	Says:     "a later record that is done moves the position past an earlier one that is not",
	Origin:   "ozontech/file.d#178",
	Property: "at-least-once",
	Shown: Case{Topology: "pipeline", Records: 2, Plan: []string{
		"lose data 1 from source/0 to op/0", "crash source/0 after offset-commit 1"}},
	Process: of(model.Source, meddling{
		heard: func(m *meddler, ev *model.Event, s *model.Script) bool {
			if end := ev.Msg.Record.ID.Offset + 1; ev.Kind == model.Delivered && end > m.n {
				m.n = end
				s.CallUntilDone(model.InputLog, commitOf(m.task, end))
			}
			return true
		},
		said: each(func(m *meddler, e *model.Effect) {
			if is(e, model.OffsetCommit) {
				e.Msg.Seq = max(e.Msg.Seq, m.n)
			}
		}),
	}),
}

// resumeBehind: n is 1 when a life has read its first records.
var resumeBehind = Defect{
	Name: "resume-behind-position", Kind: &Redelivery, IsKindOnly: true,
	Modes:    replayModes,
	Says:     "a restart takes the committed position for that of a record that is done",
	Origin:   "debezium/debezium#781 (DBZ-1128)",
	Property: "at-least-once",
	Shown: Case{Topology: "pipeline", Records: 3, Set: oneByOne,
		Plan: []string{"crash source/0 after offset-commit 2"}},
	Process: of(model.Source, meddling{
		heard: func(m *meddler, ev *model.Event, _ *model.Script) bool {
			if !isAnswer(ev, model.Fetch) || ev.Ans.N == 0 {
				return true
			}
			if m.n++; m.n == 1 && m.self.Life > 1 && ev.Msg.Seq > 0 {
				ev.Ans.Records = ev.Ans.Records[1:]
				ev.Ans.Seq, ev.Ans.N = ev.Ans.Seq+1, ev.Ans.N-1
			}
			return true
		},
	}),
}

var commitRefusalIgnored = Defect{
	Name: "ignore-refused-commit", Kind: &Redelivery, IsKindOnly: true,
	Modes:    []string{"at-most-once"},
	Says:     "a source hands out a batch whose offset commit was refused",
	Origin:   "ClickHouse/ClickHouse#7259",
	Property: "at-most-once",
	Shown: Case{Topology: "pipeline", Records: 1, Plan: []string{
		"refuse call offset-commit 1 of source/0", "crash source/0 at 20ms"}},
	Process: of(model.Source, meddling{
		heard: answers(model.OffsetCommit, func(ans *model.Answer) { ans.Outcome = model.Done }),
	}),
}

// commitWhenDry keeps the last commit that was asked for. n is 1 where the input has run dry.
var commitWhenDry = Defect{
	Name: "commit-when-input-is-dry", Kind: &Redelivery, IsKindOnly: true,
	Modes:    []string{"at-most-once"},
	Says:     "the offset is committed when there is nothing to read, for all that was handed out",
	Origin:   "ClickHouse/ClickHouse#6414",
	Property: "at-most-once",
	Shown: Case{Topology: "pipeline", Records: 2,
		Plan: []string{"crash source/0 after effect 5"}},
	Process: of(model.Source, meddling{
		heard: func(m *meddler, ev *model.Event, s *model.Script) bool {
			if !isAnswer(ev, model.Fetch) {
				return true
			}
			if m.n = 0; ev.Ans.N == 0 || ev.Ans.End {
				m.n = 1
				s.Effects = append(s.Effects, m.kept...)
				m.kept = m.kept[:0]
			}
			return true
		},
		said: func(m *meddler, list []model.Effect) []model.Effect {
			for i := range list {
				if is(&list[i], model.OffsetCommit) && m.n == 0 {
					m.kept = append(m.kept[:0], list[i])
					list[i] = m.instead(list[i], model.Done)
				}
			}
			return list
		},
	}),
}

// commitsOvertake keeps a commit until the next one is under way, and has it come behind that one.
// n is 1 at the end of the input, where commits come in their order.
var commitsOvertake = Defect{
	Name: "commits-overtake", Kind: &Redelivery, Modes: []string{"at-most-once"},
	Says:     "of two offset commits sent back to back the older one comes last",
	Origin:   "segmentio/kafka-go#439",
	Property: "at-most-once",
	Shown: Case{Topology: "pipeline", Records: 3,
		Plan: []string{"crash source/0 after effect 5"}},
	Process: of(model.Source, meddling{
		heard: func(m *meddler, ev *model.Event, _ *model.Script) bool {
			if isAnswer(ev, model.Fetch) && ev.Ans.End {
				m.n = 1
			}
			return true
		},
		said: func(m *meddler, list []model.Effect) []model.Effect {
			out := make([]model.Effect, 0, len(list)+1)
			for _, e := range list {
				switch {
				case !is(&e, model.OffsetCommit):
					out = append(out, e)
				case m.n == 1:
					out = append(append(out, m.kept...), e)
					m.kept = m.kept[:0]
				case len(m.kept) > 0:
					out = append(append(out, e), m.kept...)
					m.kept = m.kept[:0]
				default:
					m.kept = append(m.kept, e)
					out = append(out, m.instead(e, model.Done))
				}
			}
			return out
		},
	}),
}

// ackOneSettlesAll: an output goes along every route under a number of its own, one after the
// other.
var ackOneSettlesAll = Defect{
	Name: "one-ack-settles-all-copies", Kind: &Redelivery, IsKindOnly: true,
	Modes:    resendingModes,
	Says:     "the acknowledgement of one receiver counts for all to whom an output was sent",
	Origin:   "vectordotdev/vector#6911",
	Property: "at-least-once",
	Shown: Case{Topology: "fan-out", Records: 1,
		Plan: []string{"lose data 1 from split/0 to double/0"}},
	Process: of(model.Operate, meddling{
		heard: func(m *meddler, ev *model.Event, s *model.Script) bool {
			if !isMessage(ev, model.Ack) {
				return true
			}
			copies := int64(len(m.task.Routes))
			other := *ev
			for i := range copies {
				other.Msg.Seq = ev.Msg.Seq - ev.Msg.Seq%copies + i
				m.Process.Step(&other, s)
			}
			return false
		},
	}),
}

// gaveUp is the token of the timer at whose due a message has been given up: this one less its
// number.
const gaveUp = -100

var giveUpAfterRetry = Defect{
	Name: "give-up-after-one-retry", Kind: &Redelivery,
	Modes:    resendingModes,
	Says:     "what is not acknowledged after one retry is dropped, and counts as done",
	Origin:   "fluent/fluent-bit#2412",
	Property: "at-least-once",
	Shown: Case{Topology: "pipeline", Records: 1,
		Plan: []string{"partition source/0 | op/0 for 200ms at data 1"}},
	Process: of(model.Source, meddling{
		heard: func(m *meddler, ev *model.Event, s *model.Script) bool {
			if ev.Kind != model.TimerFired || ev.Token > gaveUp {
				return true
			}
			m.Process.Step(&model.Event{Kind: model.Delivered, From: model.Nobody,
				Msg: model.Message{Kind: model.Ack, Seq: gaveUp - ev.Token,
					Token: int64(m.self.Attempt)}}, s)
			return false
		},
		said: each(func(_ *meddler, e *model.Effect) {
			if is(e, model.Data) && e.Msg.Try == 2 {
				*e = model.Effect{Kind: model.EffectAfter, To: model.Nobody,
					Service: model.Nobody, Delay: 1, Token: gaveUp - e.Msg.Seq}
			}
		}),
	}),
}

var timerNotSetAgain = Defect{
	Name: "no-timer-after-restart", Kind: &Redelivery, IsKindOnly: true,
	Modes:    replayModes,
	Says:     "a source that was restarted sends nothing again",
	Origin:   "apache/storm#5869 (STORM-2087)",
	Property: "at-least-once",
	Shown: Case{Topology: "pipeline", Records: 1, Plan: []string{
		"crash source/0 after position 1", "lose data 1 from source/0 to op/0"}},
	Process: of(model.Source, meddling{
		said: func(m *meddler, list []model.Effect) []model.Effect {
			kept := list[:0]
			for _, e := range list {
				if e.Kind != model.EffectAfter || e.Token != 0 || m.self.Life == 1 {
					kept = append(kept, e)
				}
			}
			return kept
		},
	}),
}

// fanOutUnanchored: an edge of number 0 is no edge.
var fanOutUnanchored = Defect{
	Name: "unanchored-fan-out", Kind: &Redelivery, IsKindOnly: true, Modes: []string{"acker"},
	Says:     "of the outputs of a step only the first belongs to the tree of its input",
	Origin:   "apache/storm#7062 (STORM-3280)",
	Property: "at-least-once",
	Shown: Case{Topology: "fan-out", Records: 1,
		Plan: []string{"lose data 1 from split/0 to double/0"}},
	Process: of(model.Operate, meddling{
		said: func(_ *meddler, list []model.Effect) []model.Effect {
			var loose, sent int64
			for i := range list {
				e := &list[i]
				switch {
				case is(e, model.Ack):
					e.Msg.Token ^= loose
				case is(e, model.Data) && sent > 0:
					loose ^= e.Msg.Token
					e.Msg.Token = 0
				case is(e, model.Data):
					sent++
				}
			}
			return list
		},
	}),
}

// ackBeforeEmit tells the acker of an input first, and then of what was made of it: in between
// its tree is finished.
var ackBeforeEmit = Defect{
	Name: "ack-before-emit", Kind: &Redelivery, Modes: []string{"acker"},
	Says:     "an operator acknowledges an input and emits its outputs later, into a finished tree",
	Origin:   "apache/storm#7062 (STORM-3280)",
	Property: "at-least-once",
	Shown: Case{Topology: "pipeline", Records: 1,
		Plan: []string{"lose data 1 from op/0 to sink/0"}},
	Process: of(model.Operate, meddling{
		said: func(_ *meddler, list []model.Effect) []model.Effect {
			var out int64
			for i := range list {
				switch e := list[i]; {
				case is(&e, model.Data):
					out ^= e.Msg.Token
				case is(&e, model.Ack) && out != 0:
					e.Msg.Token ^= out
					list[i].Msg.Token = out
					return slices.Insert(list, 0, e)
				}
			}
			return list
		},
	}),
}

var retryOvertaken = Defect{
	Name: "retry-is-overtaken", Kind: &Redelivery, IsKindOnly: true, Modes: []string{"dedup"},
	Says:     "what comes behind a message that is sent again is taken before it",
	Origin:   "apache/pulsar#10762",
	Property: "order",
	Shown: Case{Topology: "pipeline", Records: 4,
		Plan: []string{"lose data 3 from source/0 to op/0"}},
	Set: []model.ParamValue{{Name: "in-order", Value: 0}},
}

var edgesCollide = Defect{
	Name: "edge-ids-collide", Kind: &Redelivery, IsKindOnly: true, Modes: []string{"acker"},
	Says:     "edge ids are so short that those of one tree cancel each other out",
	Origin:   "apache/storm#3859 (STORM-17)",
	Property: "at-least-once",
	Shown: Case{Topology: "fan-out", Records: 1,
		Plan: []string{"lose data 1 from double/0 to sink/0"}},
	Set: []model.ParamValue{{Name: "id-bits", Value: 2}},
}

var outboxNotResent = Defect{
	Name: "outbox-not-sent-again", Kind: &Redelivery, Modes: []string{"dedup"},
	Says:     "a restart finds what was not acknowledged, and nobody sends it again",
	Origin:   "apache/pulsar#446",
	Property: "at-least-once",
	Shown: Case{Topology: "pipeline", Records: 1,
		Plan: []string{"crash op/0 after update 1"}},
	Process: of(model.Operate, meddling{
		heard: answers(model.LoadOutbox, func(ans *model.Answer) {
			ans.Seq, ans.N, ans.Records = ans.Seq+ans.N, 0, nil
		}),
	}),
}
