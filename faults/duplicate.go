package faults

import "github.com/oncesim/oncesim/model"

// DuplicateAfter is how much later the second copy arrives when the line does not say, in virtual
// ns. Such a fault has For == 0; its rule has this.
const DuplicateAfter int64 = 1_000_000

// duplicate is a network that delivers a request or a message twice. It is not the caller's
// repetition: that is a call of its own, with a transmission number by which a service can know it.
var duplicate = Spec{
	Name: "duplicate",
	Says: "a second copy of a request or a message arrives after the first",
	Syntax: []string{
		"duplicate call KIND N of PROCESS [by DURATION]",
		"duplicate " + messageSyntax + " [by DURATION]",
	},
	Example: "duplicate call write 2 of sink/0 by 20ms",
	Actions: []model.Action{model.DuplicateRequest, model.DuplicateMessage},
	parse: func(p *parser) Fault {
		f := Fault{Action: model.DuplicateRequest}
		p.callOrMessage(&f, model.DuplicateMessage)
		if p.accept("by") {
			f.For = p.positiveDuration()
		}
		return f
	},
	print: func(f Fault) string {
		if f.For == 0 {
			return "duplicate " + f.callOrMessage()
		}
		return "duplicate " + f.callOrMessage() + " by " + FormatDuration(f.For)
	},
}
