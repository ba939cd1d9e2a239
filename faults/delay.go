package faults

import "github.com/oncesim/oncesim/model"

// delay holds a request or a message up on its way. The caller may have given up, or been replaced,
// when the service applies it.
var delay = Spec{
	Name: "delay",
	Says: "a request or a message arrives later than it would, and may be overtaken",
	Syntax: []string{
		"delay call KIND N of PROCESS by DURATION",
		"delay " + messageSyntax + " by DURATION",
	},
	Example: "delay call put 2 of op/1 by 300ms",
	Actions: []model.Action{model.DelayRequest, model.DelayMessage},
	parse: func(p *parser) Fault {
		f := Fault{Action: model.DelayRequest}
		p.callOrMessage(&f, model.DelayMessage)
		p.expect("by")
		f.For = p.positiveDuration()
		return f
	},
	print: func(f Fault) string {
		return "delay " + f.callOrMessage() + " by " + FormatDuration(f.For)
	},
}
