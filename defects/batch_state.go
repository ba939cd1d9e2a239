package defects

import "github.com/oncesim/oncesim/model"

var stateOfFirstRun = Defect{
	Name: "state-of-first-run", Kind: &StateApart, Modes: []string{"micro-batch"}, IsKindOnly: true,
	Says:     "a batch that runs again begins with the state that its first run has left",
	Origin:   "apache/spark#16980 (SPARK-19645)",
	Property: "exactly-once-state",
	Shown: Case{Topology: "transfers", Records: 1,
		Plan: []string{"crash sink/0 after effect 1"}},
	Service: before(model.StateStore, front{
		ask: func(f *front, req *model.Message, ans *model.Answer) bool {
			switch req.Kind {
			case model.Discard:
				return false
			case model.Download:
				req.Seq = 0
			}
			return true
		},
	}),
}
