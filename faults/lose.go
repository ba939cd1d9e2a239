package faults

import "github.com/oncesim/oncesim/model"

// lose takes away one half of a call, or a message between two processes. The caller cannot tell
// which half: without an answer the outcome is unknown, whether the service applied the request or
// never saw it. The sender of a message learns nothing at all, unless its mode waits to be told.
var lose = Spec{
	Name: "lose",
	Says: "a request never arrives, or it is applied and its answer does not; or a message is lost",
	Syntax: []string{
		"lose request of KIND N from PROCESS",
		"lose answer of KIND N from PROCESS",
		"lose " + messageSyntax,
	},
	Example: "lose answer of write 2 from sink/0",
	Actions: []model.Action{model.LoseRequest, model.LoseAnswer, model.LoseMessage},
	parse: func(p *parser) Fault {
		if kind, ok := p.acceptMessage(); ok {
			f := Fault{Action: model.LoseMessage}
			p.message(kind, &f)
			return f
		}
		f := Fault{Action: model.LoseRequest}
		if p.oneOf("unknown target", "request", "answer") == "answer" {
			f.Action = model.LoseAnswer
		}
		p.expect("of")
		p.call(&f)
		p.expect("from")
		f.Proc = p.process()
		return f
	},
	print: func(f Fault) string {
		if f.Action == model.LoseMessage {
			return "lose " + f.message()
		}
		return f.Action.String() + " of " + f.call() + " from " + f.Proc
	},
}
