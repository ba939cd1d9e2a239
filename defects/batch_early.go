package defects

import "github.com/oncesim/oncesim/model"

var doneWhenHandedOver = Defect{
	Name: "done-when-handed-over", Kind: &EarlyAck, Modes: []string{"micro-batch"},
	Says:     "a batch counts as done when it is handed to a writer that works by itself",
	Origin:   "Azure/azure-kusto-spark#151",
	Property: "at-least-once",
	Shown: Case{Topology: "pipeline", Records: 1,
		Plan: []string{"crash sink/0 after effect 1 of checkpoint 1"}},
	Process: of(model.Sink, meddling{
		heard: func(m *meddler, ev *model.Event, s *model.Script) bool {
			switch {
			case isDue(ev):
				m.release(s)
				return false
			case isAnswer(ev, model.WriteBatch):
				return ev.Msg.Cursor == handedOver
			}
			return true
		},
		said: func(m *meddler, list []model.Effect) []model.Effect {
			var rest []model.Effect
			for _, e := range list {
				if is(&e, model.WriteBatch) {
					rest = m.putOff(rest, e)
					e = m.instead(e, model.Done)
					m.replaced[len(m.replaced)-1].req.Cursor = handedOver
				}
				rest = append(rest, e)
			}
			return rest
		},
	}),
}

// handedOver marks the request that a sink believes was done.
const handedOver = 1

var firstSpeaksForAll = Defect{
	Name: "first-speaks-for-all", Kind: &EarlyAck, Modes: []string{"micro-batch"},
	IsKindOnly: true,
	Says:       "a batch is finished when one partition is written",
	Origin:     "Altinity/clickhouse-sink-connector#1471",
	Property:   "at-least-once",
	Shown: Case{Topology: "page-views", Records: 1,
		Plan: []string{"crash sink/0 before effect 2"}},
	Process: func(job *model.Job, task *model.Task, p model.Process) model.Process {
		if task.Role != model.Extra {
			return p
		}
		return meddle(task, p, meddling{
			heard: func(m *meddler, ev *model.Event, s *model.Script) bool {
				if !isMessage(ev, model.Acknowledge) ||
					job.Tasks[ev.From].Role != model.Sink {
					return true
				}
				for i := range job.Tasks {
					if job.Tasks[i].Role == model.Sink {
						same := *ev
						same.From = job.Tasks[i].Proc
						m.Process.Step(&same, s)
					}
				}
				return false
			},
		})
	},
}
