package faults

import "github.com/oncesim/oncesim/model"

// partition cuts two parties off from each other, in both directions. What leaves one for the other
// meanwhile is lost; what was under way when it began still arrives.
var partition = Spec{
	Name: "partition",
	Says: "nothing that leaves one side for the other gets through for a while, either way",
	Syntax: []string{
		"partition PROCESS | SERVICE for DURATION at [answer of] KIND N",
		"partition PROCESS | PROCESS for DURATION at MESSAGE N",
		"partition PROCESS | PROCESS|SERVICE for DURATION at DURATION",
	},
	Example: "partition op/0 | store for 40ms at put 2",
	Actions: []model.Action{model.CutLink},
	parse: func(p *parser) Fault {
		f := Fault{Action: model.CutLink, Proc: p.process()}
		p.expect("|")
		service, ok := p.acceptService()
		if f.Service = service; !ok {
			if p.peek().text == f.Proc {
				p.fail("unexpected", "another process such as op/1")
			}
			f.Peer = p.process()
		}
		p.expect("for")
		f.For = p.positiveDuration()
		p.begins(&f)
		return f
	},
	print: func(f Fault) string {
		return "partition " + f.Proc + " | " + f.Peer + f.Service + " for " +
			FormatDuration(f.For) + " " + f.begins()
	},
}
