package faults

import "github.com/oncesim/oncesim/model"

// ReorderWithin is how long a message waits to be overtaken when the line does not say, in virtual
// ns; then it arrives all the same. Such a fault has For == 0; its rule has this.
const ReorderWithin int64 = 20_000_000

// reorder makes two neighbours on a channel change places.
var reorder = Spec{
	Name:    "reorder",
	Says:    "a message arrives just after the next one of its kind, or late if none comes",
	Syntax:  []string{"reorder " + messageSyntax + " [within DURATION]"},
	Example: "reorder data 2 from op/0 to sink/0",
	Actions: []model.Action{model.ReorderMessages},
	parse: func(p *parser) Fault {
		f := Fault{Action: model.ReorderMessages}
		kind, _ := p.acceptMessage()
		if kind == model.NoKind {
			p.fail("unknown message", "")
		}
		p.message(kind, &f)
		if p.accept("within") {
			f.For = p.positiveDuration()
		}
		return f
	},
	print: func(f Fault) string {
		if f.For == 0 {
			return "reorder " + f.message()
		}
		return "reorder " + f.message() + " within " + FormatDuration(f.For)
	},
}
