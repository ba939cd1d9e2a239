package semantics

import "github.com/oncesim/oncesim/model"

// failRefused reports whether ev is the answer of a service that refused a request. If so it ends
// the life: what is left of the script is not carried out, and the next life begins from what is
// durable. The sinks of modes that may lose go on after a refused write instead.
func failRefused(s *model.Script, ev *model.Event) bool {
	if ev.Kind != model.Answered || ev.Ans.Outcome != model.Refused {
		return false
	}
	s.Fail(ev.Msg.Kind.String() + " refused")
	return true
}
