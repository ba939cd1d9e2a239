package faults

import "github.com/oncesim/oncesim/model"

// refuse is a service that says no: a full disk, a quota, a participant that votes against. The
// caller learns it, and nothing has changed.
var refuse = Spec{
	Name:    "refuse",
	Says:    "a service answers that it refuses a request, and does nothing",
	Syntax:  []string{"refuse call KIND N of PROCESS"},
	Example: "refuse call put 3 of count/0",
	Actions: []model.Action{model.RefuseRequest},
	parse: func(p *parser) Fault {
		f := Fault{Action: model.RefuseRequest}
		p.callOf(&f)
		return f
	},
	print: func(f Fault) string { return "refuse " + f.callOf() },
}
