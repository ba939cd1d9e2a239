package defects

import "github.com/oncesim/oncesim/model"

var planComesLast = Defect{
	Name: "plan-comes-last", Kind: &ReplayDiffers, Modes: []string{"micro-batch"}, IsKindOnly: true,
	Says:     "what a batch reads is written down when it has run, and a rerun reads more",
	Origin:   "apache/beam#7991 (BEAM-6751)",
	Property: "at-least-once",
	Shown: Case{Topology: "pipeline", Records: 2,
		Plan: []string{"crash op/0 after effect 1 of checkpoint 1"}},
	Process: of(model.Extra, meddling{
		heard: func(m *meddler, ev *model.Event, _ *model.Script) bool {
			return !isAnswer(ev, model.PlanBatch) ||
				ev.Msg.Cursor != putLater
		},
		said: func(m *meddler, list []model.Effect) []model.Effect {
			var rest []model.Effect
			for _, e := range list {
				switch {
				case is(&e, model.PlanBatch):
					m.kept = append(m.kept[:0], e)
					m.kept[0].Msg.Cursor = putLater
					e = m.instead(e, model.Done)
				case is(&e, model.FinishBatch):
					rest = append(rest, m.kept...)
					m.kept = m.kept[:0]
				}
				rest = append(rest, e)
			}
			return rest
		},
	}),
}

// putLater marks the request that the driver knows nothing of.
const putLater = 1

var planOfAnother = Defect{
	Name: "plan-of-another", Kind: &ReplayDiffers, IsKindOnly: true, Modes: []string{"micro-batch"},
	Says:     "a batch that another run has planned is run with the ends of one's own plan",
	Origin:   "apache/spark#25965 (SPARK-26425)",
	Property: "at-most-once",
	Shown: Case{Topology: "pipeline", Records: 2,
		Plan: []string{"pause driver/0 before plan-batch 1 for 51ms",
			"crash driver/0 after finish-batch 1"}},
	Set: []model.ParamValue{{Name: "fencing", Value: 0}},
	Process: of(model.Extra, meddling{heard: answers(model.PlanBatch, func(ans *model.Answer) {
		if ans.Outcome == model.Stale {
			ans.Outcome = model.Done
		}
	})}),
}
