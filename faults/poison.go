package faults

import "github.com/oncesim/oncesim/model"

// poison is a record on which the operator fails, the next time as well.
var poison = Spec{
	Name:    "poison",
	Says:    "applying the operator to a record, or to what became of it, fails every time",
	Syntax:  []string{"poison record RECORD at PROCESS"},
	Example: "poison record 7 at op/0",
	Actions: []model.Action{model.PoisonRecord},
	parse: func(p *parser) Fault {
		p.expect("record")
		f := Fault{Action: model.PoisonRecord, Scope: model.RecordEffect, Record: p.record()}
		p.expect("at")
		f.Proc = p.process()
		return f
	},
	print: func(f Fault) string { return "poison record " + f.Record.String() + " at " + f.Proc },
}
