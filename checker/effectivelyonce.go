package checker

import "github.com/oncesim/oncesim/model"

// effectivelyOnce is EO: the committed effect is as if each input had been processed once.
//
// What counts is the state that the mode keeps: that of the durable backend, or, in a mode that has
// none, what is in memory in the end. Such a mode has nothing to restart from, and the first crash
// shows it; until then nothing has been counted twice or missed. Without operators that keep state
// there is nothing to count.
func effectivelyOnce() Property {
	return Property{
		Name: "effectively-once",
		Says: "the state that the mode keeps, in its durable backend if it has one, is in the " +
			"end that of one failure-free execution, however often records were processed",
		Source: "Akidau et al., MillWheel, VLDB 2013; docs of Apache Heron, delivery semantics " +
			"(effectively-once)",
		Anomalies: []model.AnomalyKind{model.StateLoss, model.WrongState, model.StateDuplicate},
		Check: func(j *Judge) (model.Result, string) {
			return j.judgeState(j.home())
		},
	}
}
