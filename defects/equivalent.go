package defects

import "github.com/oncesim/oncesim/model"

// Equivalents lists changes that look like defects and cannot be seen from outside: whatever
// strikes, nothing that a mode claims is broken. Why says what makes up for them. They are not in
// All: no run can be expected to catch them.
func Equivalents() []*Defect {
	return []*Defect{
		{Name: "upload-not-fenced", Kind: &Zombie,
			Modes: []string{"snapshot", "two-phase-commit", "snapshot-wal"},
			Says:  "a part of a checkpoint is taken from an attempt that was replaced",
			Why: "ids of checkpoints never come again, and a checkpoint of an attempt that is " +
				"over is never completed: its parts are read by nobody",
			Service: before(model.StateStore, front{
				ask: func(_ *front, req *model.Message, _ *model.Answer) bool {
					if req.Kind == model.Upload {
						req.Flags &^= model.Fenced
					}
					return true
				},
			}),
		},
		{Name: "abort-twice", Kind: &CommitRetry, Modes: []string{"two-phase-commit"},
			Says: "a restore aborts what its checkpoint does not know, and then aborts it again",
			Why:  "a transaction that is aborted is aborted already: the log answers so",
			Process: of(model.Sink, meddling{said: func(_ *meddler,
				list []model.Effect) []model.Effect {
				var twice []model.Effect
				for _, e := range list {
					if twice = append(twice, e); is(&e, model.AbortTxn) {
						twice = append(twice, e)
					}
				}
				return twice
			}}),
		},
	}
}
