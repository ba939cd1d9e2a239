package defects

import "github.com/oncesim/oncesim/model"

var commitOnRead = Defect{
	Name: "commit-on-read", Kind: &EarlyAck, Modes: []string{"at-least-once", "acker"},
	Says:     "the offset is committed when records are read, not when they are processed",
	Origin:   "fluent/fluent-bit#2051",
	Property: "at-least-once",
	Shown: Case{Topology: "pipeline", Records: 3,
		Plan: []string{"crash source/0 after offset-commit 1"}},
	Process: of(model.Source, meddling{
		heard: func(m *meddler, ev *model.Event, s *model.Script) bool {
			if isAnswer(ev, model.Fetch) && ev.Ans.N > 0 {
				s.CallUntilDone(model.InputLog, model.Message{Kind: model.OffsetCommit,
					Seq: ev.Ans.Seq + ev.Ans.N, Record: ev.Msg.Record})
			}
			return true
		},
		said: forward,
	}),
}

// forward leaves out commits that would move the position back: those of the mode come after the
// ones that a defect makes too early.
func forward(m *meddler, list []model.Effect) []model.Effect {
	for i := range list {
		switch e := &list[i]; {
		case !is(e, model.OffsetCommit):
		case e.Msg.Seq <= m.ahead:
			*e = m.instead(*e, model.Done)
		default:
			m.ahead = e.Msg.Seq
		}
	}
	return list
}

// commitCurrent has the right moment and the wrong position. n is the position behind what was
// read.
var commitCurrent = Defect{
	Name: "commit-current-position", Kind: &EarlyAck,
	Modes:    replayModes,
	Says:     "an acknowledgement has the source commit where it is now, not what was acknowledged",
	Origin:   "apache/flink-cdc#2538",
	Property: "at-least-once",
	Shown: Case{Topology: "pipeline", Records: 3, Set: oneByOne,
		Plan: []string{"crash source/0 after offset-commit 2"}},
	Process: of(model.Source, meddling{
		heard: func(m *meddler, ev *model.Event, _ *model.Script) bool {
			if isAnswer(ev, model.Fetch) {
				m.n = ev.Ans.Seq + ev.Ans.N
			}
			return true
		},
		said: each(func(m *meddler, e *model.Effect) {
			if is(e, model.OffsetCommit) {
				e.Msg.Seq = m.n
			}
		}),
	}),
}

// oneByOne has a source wait for each record to be done, and commit behind each.
var oneByOne = []model.ParamValue{{Name: "window", Value: 1}, {Name: "commit-every", Value: 1}}

// commitTimer is the token of the timer of commitByTimer; those of the modes are -1 and 0.
const commitTimer = -7

// commitByTimer has a timer commit. n is the position behind what was read.
var commitByTimer = Defect{
	Name: "commit-by-timer", Kind: &EarlyAck, IsKindOnly: true,
	Modes:    replayModes,
	Says:     "a timer commits what was read, and waits for nobody",
	Origin:   "risingwavelabs/risingwave#15141",
	Property: "at-least-once",
	Shown: Case{Topology: "pipeline", Records: 1,
		Plan: []string{"crash op/0 before effect 1", "crash source/0 after offset-commit 1"}},
	Process: of(model.Source, meddling{
		heard: func(m *meddler, ev *model.Event, s *model.Script) bool {
			switch {
			case isAnswer(ev, model.Fetch):
				m.n = ev.Ans.Seq + ev.Ans.N
				if ev.Ans.N > 0 {
					s.After(10_000_000, commitTimer)
				}
			case ev.Kind == model.TimerFired && ev.Token == commitTimer:
				s.CallUntilDone(model.InputLog, commitOf(m.task, m.n))
				return false
			}
			return true
		},
		said: forward,
	}),
}

// commitOf is the request that the position of a source becomes seq.
func commitOf(task *model.Task, seq int64) model.Message {
	return model.Message{Kind: model.OffsetCommit, Seq: seq,
		Record: model.Record{ID: model.ID{Part: task.Part, Offset: -1}}}
}

var commitWhenSent = Defect{
	Name: "commit-when-sent", Kind: &EarlyAck,
	Modes:    replayModes,
	Says:     "the offset is committed when a record is in the queue of the next task",
	Origin:   "IBMStreams/streamsx.kafka#76",
	Property: "at-least-once",
	Shown: Case{Topology: "pipeline", Records: 1,
		Plan: []string{"lose data 1 from source/0 to op/0",
			"crash source/0 after offset-commit 1"}},
	Process: of(model.Source, meddling{
		said: func(m *meddler, list []model.Effect) []model.Effect {
			end := int64(-1)
			for i := range list {
				if is(&list[i], model.Data) && list[i].Msg.Try == 0 {
					end = max(end, list[i].Msg.Record.ID.Offset+1)
				}
			}
			if end < 0 {
				return forward(m, list)
			}
			var s model.Script
			s.CallUntilDone(model.InputLog, commitOf(m.task, end))
			return forward(m, append(list, s.Effects...))
		},
	}),
}

// ackOnArrival keeps what it has acknowledged in memory, as if that were durable.
var ackOnArrival = Defect{
	Name: "ack-on-arrival", Kind: &EarlyAck, IsKindOnly: true,
	Modes: []string{"at-least-once", "idempotent", "idempotent-by-key", "dedup", "dedup-weak",
		"dedup-id-last"},
	Says:     "an operator acknowledges an input when it comes, before anything is made of it",
	Origin:   "apache/kafka#3872 (KAFKA-5716)",
	Property: "at-least-once",
	Shown: Case{Topology: "pipeline", Records: 1,
		Plan: []string{"crash op/0 after effect 1"}},
	Process: of(model.Operate, meddling{
		heard: func(m *meddler, ev *model.Event, s *model.Script) bool {
			if isMessage(ev, model.Data) {
				s.Send(ackOf(m.task, &ev.Msg))
			}
			return true
		},
	}),
}

// ackOf is the acknowledgement of a Data message that came to a task, and whom it is for.
func ackOf(task *model.Task, m *model.Message) (model.ProcID, model.Message) {
	in := task.In[m.Channel]
	return in.Peer, model.Message{Kind: model.Ack, Channel: in.Back, Seq: m.Seq, Try: m.Try,
		Token: int64(m.Attempt), Record: model.Record{ID: m.Record.ID, Path: m.Record.Path,
			Op: m.Record.Op}}
}

var ackBeforeWrite = Defect{
	Name: "ack-before-write", Kind: &EarlyAck,
	Modes:    []string{"at-least-once", "acker", "idempotent"},
	Says:     "the sink acknowledges an output and writes it afterwards",
	Origin:   "vectordotdev/vector#13714",
	Property: "at-least-once",
	Shown: Case{Topology: "pipeline", Records: 1,
		Plan: []string{"crash sink/0 before write 1"}},
	Process: of(model.Sink, meddling{
		said: func(_ *meddler, list []model.Effect) []model.Effect {
			if len(list) == 2 && is(&list[0], model.Write) && is(&list[1], model.Ack) {
				list[0], list[1] = list[1], list[0]
			}
			return list
		},
	}),
}

var unknownIsDone = Defect{
	Name: "unknown-is-done", Kind: &EarlyAck,
	Modes:    replayModes,
	Says:     "a write that has no answer in time counts as done",
	Origin:   "hazelcast/hazelcast-jet#611",
	Property: "at-least-once",
	Shown: Case{Topology: "pipeline", Records: 1,
		Plan: []string{"lose request of write 1 from sink/0"}},
	Process: of(model.Sink, meddling{
		said: hopeful(model.Write),
	}),
}

// clearOutboxEarly has an update say that all rows before its own can go.
var clearOutboxEarly = Defect{
	Name: "clear-outbox-when-sent", Kind: &EarlyAck, IsKindOnly: true, Modes: []string{"dedup"},
	Says:     "outputs leave the durable outbox when they are sent, not when they are acknowledged",
	Origin:   "redpanda-data/connect#4009",
	Property: "at-least-once",
	Shown: Case{Topology: "pipeline", Records: 2, Plan: []string{
		"lose data 1 from op/0 to sink/0", "crash op/0 after update 2"}},
	Process: of(model.Operate, meddling{
		said: each(func(_ *meddler, e *model.Effect) {
			if is(e, model.Update) {
				e.Msg.Cursor = 1 << 40
			}
		}),
	}),
}
