package faults

import "github.com/oncesim/oncesim/model"

// pause makes a process stand still. It loses nothing; but a supervisor that takes it for dead
// starts a successor, and the process that resumes is then a zombie.
var pause = Spec{
	Name:    "pause",
	Says:    "the process stands still for a while, then goes on: a zombie, if it was replaced",
	Syntax:  syntax("pause PROCESS", "for DURATION"),
	Example: "pause source/0 at record input/0:7 for 80ms",
	Actions: []model.Action{model.Pause},
	parse: func(p *parser) Fault {
		f := Fault{Action: model.Pause, Proc: p.process()}
		p.point(&f)
		p.expect("for")
		f.For = p.positiveDuration()
		return f
	},
	print: func(f Fault) string {
		return "pause " + f.Proc + " " + f.point() + " for " + FormatDuration(f.For)
	},
}
