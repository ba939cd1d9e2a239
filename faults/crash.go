package faults

import "github.com/oncesim/oncesim/model"

// crash is the death of a process. Requests that it had sent still arrive; their answers, and
// messages to it, find nobody.
var crash = Spec{
	Name:    "crash",
	Says:    "the process dies; the supervisor restarts it under the next attempt",
	Syntax:  syntax("crash PROCESS", ""),
	Example: "crash sink/0 before ack of write 2",
	Actions: []model.Action{model.Crash},
	parse: func(p *parser) Fault {
		f := Fault{Action: model.Crash, Proc: p.process()}
		p.point(&f)
		return f
	},
	print: func(f Fault) string { return "crash " + f.Proc + " " + f.point() },
}
