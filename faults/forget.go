package faults

import "github.com/oncesim/oncesim/model"

// forget is a service that acknowledges before what it was told is durable, and loses it: a leader
// that fails before it has replicated. The caller is told that all is well.
var forget = Spec{
	Name:    "forget",
	Says:    "a service acknowledges a request that changes something, and loses the change",
	Syntax:  []string{"forget call KIND N of PROCESS"},
	Example: "forget call write 2 of sink/0",
	Actions: []model.Action{model.ForgetRequest},
	parse: func(p *parser) Fault {
		f := Fault{Action: model.ForgetRequest}
		p.callOf(&f)
		return f
	},
	print: func(f Fault) string { return "forget " + f.callOf() },
}
