package faults

import "github.com/oncesim/oncesim/model"

// stale is an answer from a replica that lags behind by one change of its service. For the records
// of the input, an arrival is a change.
var stale = Spec{
	Name:    "stale",
	Says:    "a service answers a request to read as it was before its last change",
	Syntax:  []string{"stale call KIND N of PROCESS"},
	Example: "stale call get 2 of count/0",
	Actions: []model.Action{model.StaleRead},
	parse: func(p *parser) Fault {
		f := Fault{Action: model.StaleRead}
		p.callOf(&f)
		return f
	},
	print: func(f Fault) string { return "stale " + f.callOf() },
}
