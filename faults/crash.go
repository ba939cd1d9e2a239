package faults

import "github.com/oncesim/oncesim/model"

// crash is the death of a process, or an outage of a service. Requests that the process had sent
// still arrive; their answers, and messages to it, find nobody. The service forgets nothing and
// comes back; requests that arrive meanwhile are lost, and answers that it had sent still arrive.
var crash = Spec{
	Name: "crash",
	Says: "the process dies and the supervisor restarts it; or a service is down for a while",
	Syntax: append(syntax("crash PROCESS", ""),
		"crash SERVICE for DURATION at KIND N of PROCESS",
		"crash SERVICE for DURATION at DURATION"),
	Example: "crash sink/0 before ack of write 2",
	Actions: []model.Action{model.Crash, model.CrashService},
	parse: func(p *parser) Fault {
		if service, ok := p.acceptService(); ok {
			f := Fault{Action: model.CrashService, Service: service}
			p.expect("for")
			f.For = p.positiveDuration()
			p.begins(&f)
			return f
		}
		f := Fault{Action: model.Crash, Proc: p.process()}
		p.point(&f)
		return f
	},
	print: func(f Fault) string {
		if f.Action == model.CrashService {
			return "crash " + f.Service + " for " + FormatDuration(f.For) + " " + f.begins()
		}
		return "crash " + f.Proc + " " + f.point()
	},
}
