package sim

import "github.com/oncesim/oncesim/model"

// outage is a time in which what a rule strikes does not get through: what leaves a process for its
// other side, or back, or what arrives at a service.
type outage struct {
	rule  int32
	until int64 // virtual ns; what leaves or arrives then gets through
}

// begin has a rule begin that strikes for a while, or from now on. It is reached with the first
// thing that it strikes, which may be never.
func (w *World) begin(i int32) {
	r := &w.rules[i]
	w.match[i].fired = true
	w.limit = max(w.limit, w.now+r.For+w.cfg.DrainTime)
	switch r.Action {
	case model.CutLink, model.CrashService:
		w.outages = append(w.outages, outage{rule: i, until: w.now + r.For})
	case model.TruncateInput:
		unwrap(w.services[model.InputLog]).(*inputLog).truncate(r.Record)
		if p := &w.pasts[model.InputLog]; p.isKept {
			unwrap(p.service).(*inputLog).truncate(r.Record)
		}
	}
}

// isCut reports whether a partition keeps a process from its other side now: another process or,
// with peer Nobody, a service. The event that tells of it comes next.
func (w *World) isCut(p, peer model.ProcID, service model.ServiceID) bool {
	for _, o := range w.outages {
		r := &w.rules[o.rule]
		if r.Action != model.CutLink || w.now >= o.until || !separates(r, p, peer, service) {
			continue
		}
		w.strikesNext(o.rule)
		return true
	}
	return false
}

// separates reports whether two parties are the sides of a partition. It knows no direction.
func separates(r *model.Rule, p, peer model.ProcID, service model.ServiceID) bool {
	if r.Peer == model.Nobody {
		return peer == model.Nobody && r.Proc == p && r.Service == service
	}
	return r.Proc == p && r.Peer == peer || r.Proc == peer && r.Peer == p
}

// isDown reports whether a service is down now. The event that tells of it comes next.
func (w *World) isDown(service model.ServiceID) bool {
	for _, o := range w.outages {
		r := &w.rules[o.rule]
		if r.Action == model.CrashService && r.Service == service && w.now < o.until {
			w.strikesNext(o.rule)
			return true
		}
	}
	return false
}

// strikesNext marks a rule that has begun as reached, at the event that comes next.
func (w *World) strikesNext(i int32) {
	if w.hist.Reached[i] == 0 {
		w.hist.Reached[i] = w.trace.n + 1
	}
}

// beginAtRequest has those rules of a chain begin that begin as a request arrives.
func (w *World) beginAtRequest(chain int32) {
	for i := chain; i != nobody; i = w.match[i].next {
		if w.rules[i].Action.HitsService() && !w.match[i].fired {
			w.begin(i)
		}
	}
}

// beginAtAnswer has those rules of a chain begin that begin as an answer leaves.
func (w *World) beginAtAnswer(chain int32) {
	for i := chain; i != nobody; i = w.match[i].next {
		if w.rules[i].Action == model.CutLink && !w.match[i].fired {
			w.begin(i)
		}
	}
}

// skipped marks the truncations as reached that a fetch, served next, ran into.
func (w *World) skipped(req *model.Message) {
	for i := range w.rules {
		r := &w.rules[i]
		if r.Action == model.TruncateInput && w.match[i].fired &&
			r.Record.Part == req.Record.ID.Part && r.Record.Offset > req.Seq {
			w.strikesNext(int32(i))
		}
	}
}

// poison marks a record that a task is about to handle, if that is to fail.
func (w *World) poison(in *instance, msg *model.Message) {
	for _, i := range w.poisons {
		r := &w.rules[i]
		if msg.Kind == model.Data && r.Proc == in.self.Proc && r.Record == msg.Record.ID {
			msg.Flags |= model.Poisoned
			if !w.match[i].fired {
				w.fired(i)
			}
		}
	}
}
