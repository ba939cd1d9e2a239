package defects

import "github.com/oncesim/oncesim/model"

var decisionNotFenced = Defect{
	Name: "decision-not-fenced", Kind: &Zombie, Modes: []string{"two-phase-commit"},
	Says: "a coordinator that was replaced goes on to decide, and the store does not know that " +
		"it was",
	Origin:     "apache/iceberg#17551",
	IsKindOnly: true,
	Property:   "at-least-once",
	Shown: Case{Topology: "pipeline", Records: 2, Set: everyMillisecond,
		Plan: []string{"pause coordinator/0 before completion 1 for 55ms"}},
	Set: []model.ParamValue{{Name: "fencing", Value: 1}},
}

var logNotFenced = Defect{
	Name: "log-not-fenced", Kind: &Zombie, Modes: []string{"two-phase-commit"},
	Says: "a sink that was replaced begins a transaction under an id of its own, and nobody ends " +
		"it",
	Origin:     "databricks/iceberg-kafka-connect#200",
	IsKindOnly: true,
	Property:   "at-least-once",
	Shown: Case{Topology: "pipeline", Records: 4, Seed: 3,
		Plan: []string{"pause sink/0 before begin-txn 1 for 55ms"}},
	Set: []model.ParamValue{{Name: "fencing", Value: 2}},
}

var listsBeforeFence = Defect{
	Name: "lists-before-fence", Kind: &Zombie, Modes: []string{"two-phase-commit"},
	Says: "a restore looks for what is undecided before it has shut out the sink that it " +
		"replaces",
	Origin:     "MaterializeInc/materialize#23286",
	IsKindOnly: true,
	Property:   "at-least-once",
	Shown: Case{Topology: "pipeline", Records: 4,
		Plan: []string{"pause sink/0 before begin-txn 1 for 51ms"}},
	Service: before(model.External, front{
		ask: func(_ *front, req *model.Message, _ *model.Answer) bool {
			switch req.Kind {
			case model.ListTxns, model.AbortTxn, model.CommitTxn:
				req.Flags &^= model.Fenced
			}
			return true
		},
	}),
}

var strangersAreHeard = Defect{
	Name: "strangers-are-heard", Kind: &Zombie,
	Modes:      []string{"two-phase-commit", "snapshot-wal", "snapshot"},
	Says:       "a task takes up what a task that was replaced sends it",
	Origin:     "rabbitmq/rabbitmq-server#12366",
	IsKindOnly: true,
	Property:   "exactly-once-state",
	Shown: Case{Topology: "page-views", Records: 4,
		Plan: []string{"pause source/0 before effect 1 for 55ms"}},
	Process: func(_ *model.Job, task *model.Task, p model.Process) model.Process {
		if task.Role != model.Operate && task.Role != model.Sink {
			return p
		}
		return meddle(task, p, meddling{
			heard: func(m *meddler, ev *model.Event, _ *model.Script) bool {
				if isMessage(ev, model.Data) {
					ev.Msg.Attempt = m.self.Attempt
				}
				return true
			},
		})
	},
}
