package checker

import "github.com/oncesim/oncesim/model"

// The reasons for Undecided.
const (
	reasonAmbiguous = "records reach an operator by two routes: an identity names two records"
	reasonBeyond    = "no claimed order explains it, and operators with state that follow one " +
		"another are beyond the search"
	reasonDraws = "an operator draws anew for what a checkpoint has in flight, and no claim says " +
		"what"
	reasonJoint  = "each task can be explained, but the orders found were not shown to fit together"
	reasonBudget = "the search spent its budget of operator steps"
	reasonZombie = "a replaced attempt kept running: its steps interleave with its successor's"
	reasonEvents = "the budget of events was spent before the run ended"
	reasonTime   = "the run did not come to its end in time: what is missing may be late"
	reasonOpen   = "the run did not come to its end"
)

// unfinished is the reason for Undecided of a run that is not completed.
func (j *Judge) unfinished() string {
	switch j.h.End.Reason {
	case model.EventBound:
		return reasonEvents
	case model.TimeBound, model.RestartLoop:
		return reasonTime
	}
	return reasonOpen
}

// conclude is Violated if anything was reported, Undecided if there is a reason, and else Holds.
func (j *Judge) conclude(reason string) (model.Result, string) {
	switch {
	case j.Reported() > 0:
		return model.Violated, ""
	case reason != "":
		return model.Undecided, reason
	}
	return model.Holds, ""
}
