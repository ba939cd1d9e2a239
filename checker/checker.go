package checker

import "github.com/oncesim/oncesim/model"

// Subject is what is judged: a history, and what it is a history of.
type Subject struct {
	Job     *model.Job
	Mode    *model.Mode
	Input   *model.Input
	Shape   model.SinkShape
	History *model.History
}

// Property is one promise that a history keeps or breaks.
type Property struct {
	Name      string
	Says      string // the definition, in one sentence
	Source    string
	Anomalies []model.AnomalyKind // what a violation can be
	// Check judges the subject of j and reports what it finds there. It returns Holds, Violated
	// (after at least one j.Report) or Undecided with the reason.
	Check func(j *Judge) (model.Result, string)
}
