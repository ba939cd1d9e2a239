package defects

import "github.com/oncesim/oncesim/model"

// markBeforeWrite: kept has, for each channel, the highest number that was seen.
var markBeforeWrite = Defect{
	Name: "mark-before-write", Kind: &DedupFirst, Modes: []string{"dedup", "dedup-weak"},
	Says: "the highest number is raised before its output is kept: where that fails, the retry " +
		"is taken for a duplicate",
	Origin:   "apache/pulsar#5218",
	Property: "at-least-once",
	Shown: Case{Topology: "pipeline", Records: 1,
		Plan: []string{"refuse call write 1 of sink/0"}},
	Process: of(model.Sink, meddling{
		heard: func(m *meddler, ev *model.Event, s *model.Script) bool {
			if ev.Kind != model.Delivered {
				return true
			}
			i := 0
			for i < len(m.kept) && m.kept[i].Msg.Channel != ev.Msg.Channel {
				i++
			}
			switch {
			case i == len(m.kept):
				m.kept = append(m.kept, model.Effect{Msg: ev.Msg})
			case ev.Msg.Seq <= m.kept[i].Msg.Seq:
				s.Send(ackOf(m.task, &ev.Msg))
				return false
			}
			m.kept[i].Msg = ev.Msg
			return true
		},
	}),
}

// suppressKnown marks an input in the row of the task behind its state and before its outputs, and
// looks there before it takes one. kept is the input in hand.
var suppressKnown = Defect{
	Name: "suppress-repeated-update", Kind: &DedupFirst, IsKindOnly: true,
	Modes:    resendingModes,
	Says:     "an update that is in the state already is not passed on, though it never was",
	Origin:   "apache/kafka#10360 (KAFKA-12508)",
	Property: "at-least-once",
	Shown:    Case{Topology: "pipeline", Records: 1, Plan: []string{"crash op/0 after mark 1"}},
	Process: of(model.Operate, meddling{
		heard: func(m *meddler, ev *model.Event, s *model.Script) bool {
			switch {
			case isMessage(ev, model.Data):
				m.kept = append(m.kept[:0], model.Effect{Msg: ev.Msg})
				s.CallUntilDone(model.StateStore, rowOf(m.task, model.LoadIDs, &ev.Msg))
			case isAnswer(ev, model.LoadIDs):
				return !suppresses(m, ev, s)
			case isAnswer(ev, model.Mark):
			default:
				return true
			}
			return false
		},
		said: func(m *meddler, list []model.Effect) []model.Effect {
			for i := range list {
				if !is(&list[i], model.Data) || list[i].Msg.Try > 0 {
					continue
				}
				var s model.Script
				s.CallUntilDone(model.StateStore, rowOf(m.task, model.Mark, &m.kept[0].Msg))
				out := append(s.Effects, list[i:]...)
				return append(list[:i:i], out...)
			}
			return list
		},
	}),
}

// suppresses reports whether the input in hand is in the catalog, and acknowledges it then. If it
// is not, the event becomes its delivery.
func suppresses(m *meddler, ev *model.Event, s *model.Script) bool {
	in := &m.kept[0].Msg
	for i := range ev.Ans.Records {
		if r := &ev.Ans.Records[i]; r.ID == in.Record.ID && r.Path == in.Record.Path {
			s.Send(ackOf(m.task, in))
			return true
		}
	}
	*ev = model.Event{Kind: model.Delivered, From: m.task.In[in.Channel].Peer, Msg: *in}
	return false
}

// rowOf is a request about the row of a task and an input.
func rowOf(task *model.Task, kind model.Kind, in *model.Message) model.Message {
	return model.Message{Kind: kind, Channel: in.Channel, Seq: in.Seq, N: 1000,
		Token: int64(task.Proc), Record: model.Record{ID: in.Record.ID, Path: in.Record.Path,
			Op: in.Record.Op}}
}

var catalogInPart = Defect{
	Name: "load-catalog-in-part", Kind: &DedupFirst, Modes: []string{"dedup"},
	Says:     "a restart takes inputs before it has loaded all that it knows of earlier ones",
	Origin:   "apache/pulsar#25954",
	Property: "exactly-once-state",
	Shown: Case{Topology: "lottery", Records: 4,
		Plan: []string{"crash bonus/0 after update 3"}},
	Process: of(model.Operate, meddling{
		heard: answers(model.LoadIDs, func(ans *model.Answer) {
			if ans.N--; ans.N < 0 {
				ans.N = 0
				return
			}
			ans.Seq, ans.Records = -1, ans.Records[:ans.N]
			if ans.N > 0 {
				ans.Seq = ans.Records[ans.N-1].Value.Num
			}
		}),
	}),
}
