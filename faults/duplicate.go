package faults

import "github.com/oncesim/oncesim/model"

// DuplicateAfter is how much later the second copy of a request arrives when the line does not
// say, in virtual ns. Such a fault has For == 0; its rule has this.
const DuplicateAfter int64 = 1_000_000

// duplicate is a network that delivers a request twice. It is not the caller's repetition: that
// is a call of its own, with a transmission number by which a service can know it.
var duplicate = Spec{
	Name:    "duplicate",
	Says:    "a second copy of a request reaches the service after the first",
	Syntax:  []string{"duplicate call KIND N of PROCESS [by DURATION]"},
	Example: "duplicate call write 2 of sink/0 by 20ms",
	Actions: []model.Action{model.DuplicateRequest},
	parse: func(p *parser) Fault {
		f := Fault{Action: model.DuplicateRequest}
		p.callOf(&f)
		if p.accept("by") {
			f.For = p.positiveDuration()
		}
		return f
	},
	print: func(f Fault) string {
		if f.For == 0 {
			return "duplicate " + f.callOf()
		}
		return "duplicate " + f.callOf() + " by " + FormatDuration(f.For)
	},
}
