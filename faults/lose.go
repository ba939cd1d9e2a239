package faults

import "github.com/oncesim/oncesim/model"

// lose takes away one half of a call. Its caller cannot tell which: without an answer the outcome
// is unknown, whether the service applied the request or never saw it.
var lose = Spec{
	Name: "lose",
	Says: "the request of a call never arrives, or it is applied and the answer never arrives",
	Syntax: []string{
		"lose request of KIND N from PROCESS",
		"lose answer of KIND N from PROCESS",
	},
	Example: "lose answer of write 2 from sink/0",
	Actions: []model.Action{model.LoseRequest, model.LoseAnswer},
	parse: func(p *parser) Fault {
		f := Fault{Action: model.LoseRequest}
		if p.oneOf("unknown half of a call", "request", "answer") == "answer" {
			f.Action = model.LoseAnswer
		}
		p.expect("of")
		p.call(&f)
		p.expect("from")
		f.Proc = p.process()
		return f
	},
	print: func(f Fault) string {
		return f.Action.String() + " of " + f.call() + " from " + f.Proc
	},
}
