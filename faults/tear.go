package faults

import "github.com/oncesim/oncesim/model"

// tear is a file that ends early: the disk was full, or the rest was in a cache that is gone. The
// caller is told that all of it is there.
var tear = Spec{
	Name:    "tear",
	Says:    "a service acknowledges a request that is made of parts, and keeps half of them",
	Syntax:  []string{"tear call KIND N of PROCESS"},
	Example: "tear call upload 2 of count/0",
	Actions: []model.Action{model.TearRequest},
	parse: func(p *parser) Fault {
		f := Fault{Action: model.TearRequest}
		p.callOf(&f)
		return f
	},
	print: func(f Fault) string { return "tear " + f.callOf() },
}
