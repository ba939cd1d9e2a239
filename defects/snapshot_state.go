package defects

import "github.com/oncesim/oncesim/model"

var stateOfANeighbour = Defect{
	Name: "state-of-a-neighbour", Kind: &StateApart,
	Modes: []string{"snapshot", "snapshot-upsert", "two-phase-commit", "snapshot-wal",
		"micro-batch"},
	Says:     "state is addressed by the number of a task, and a restart numbers tasks otherwise",
	Origin:   "apache/spark#26156 (SPARK-29438)",
	Property: "exactly-once-state",
	Shown: Case{Topology: "accounts", Records: 2,
		Set:  everyMillisecond,
		Plan: []string{"crash coordinator/0 after completion 1"}},
	Process: func(job *model.Job, task *model.Task, p model.Process) model.Process {
		if task.Role != model.Operate {
			return p
		}
		return meddle(task, p, meddling{said: each(func(_ *meddler, e *model.Effect) {
			if is(e, model.Download) {
				e.Msg.Token = int64(neighbour(job, task))
			}
		})})
	},
}

// neighbour is the next task of a stage; the last has the first.
func neighbour(job *model.Job, task *model.Task) model.ProcID {
	next := task.Proc + 1
	if job.Tasks[next].Role == task.Role && job.Tasks[next].Stage == task.Stage {
		return next
	}
	return task.Proc - model.ProcID(task.Subtask)
}
