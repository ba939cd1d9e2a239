package sim

import (
	"math"

	"github.com/oncesim/oncesim/model"
)

// ruleState counts the matches of one rule, unless it is one for every effect: those the process
// counts. Rules armed on one effect or call form a chain.
type ruleState struct {
	seen  int64
	fired bool
	next  int32
}

// arm takes the rules of a run and files them under their processes.
func (w *World) arm(rules []model.Rule) {
	w.rules = append(w.rules[:0], rules...)
	w.match = w.match[:0]
	for i := range rules {
		rules[i].Validate()
		w.match = append(w.match, ruleState{next: nobody})
		w.hist.Reached = append(w.hist.Reached, 0)
		switch {
		case rules[i].Point == model.AtTime:
			w.schedule(rules[i].At, uint64(i), item{kind: itemFault, rule: int32(i)})
			w.limit = max(w.limit, rules[i].At+w.cfg.DrainTime)
			continue
		case rules[i].Action == model.PoisonRecord:
			w.poisons = append(w.poisons, int32(i))
			continue
		case rules[i].Action == model.StaleRead:
			w.keepPast(rules[i].Call.Service())
		}
		sl := &w.slots[rules[i].Proc]
		switch rules[i].Scope {
		case model.CallOfKind:
			sl.callRules = append(sl.callRules, int32(i))
		case model.MessageOnChannel:
			sl.messageRules = append(sl.messageRules, int32(i))
		default:
			sl.watch(int32(i), &rules[i])
		}
	}
}

// watch has a rule count effects of the process, from now on.
func (sl *slot) watch(i int32, r *model.Rule) {
	sl.rules = append(sl.rules, i)
	if r.Scope == model.EveryEffect {
		sl.due = min(sl.due, r.N)
	} else {
		sl.isPicky = true
	}
}

// forgetRules leaves no rule that counts effects of the process.
func (sl *slot) forgetRules() { sl.rules, sl.due, sl.isPicky = sl.rules[:0], math.MaxInt64, false }

// reach counts a numbered effect that is about to be carried out, fires rules anchored before it
// and returns the chain of those anchored later in it.
func (w *World) reach(in *instance, e *model.Effect) (chain int32) {
	chain = nobody
	if in.counted {
		return in.armed
	}
	in.counted = true
	n := &w.hist.Extent.Effects[in.slot]
	*n++
	if sl := &w.slots[in.slot]; *n == sl.due || sl.isPicky {
		chain = w.matchEffect(in, e, *n)
	}
	in.armed = chain
	w.fireChain(chain, model.Before, in)
	return chain
}

// matchEffect returns the chain of the rules that are anchored at the n-th effect of a process.
func (w *World) matchEffect(in *instance, e *model.Effect, n int64) (chain int32) {
	chain = nobody
	sl := &w.slots[in.slot]
	sl.due = math.MaxInt64
	for _, i := range sl.rules {
		r, m := &w.rules[i], &w.match[i]
		isThere := false
		switch {
		case r.Scope == model.EveryEffect:
			if isThere = r.N == n; r.N > n {
				sl.due = min(sl.due, r.N)
			}
		case !m.fired && counts(r, in, e):
			m.seen++
			isThere = m.seen == r.N
		}
		if isThere {
			m.next, chain = chain, i
		}
	}
	return chain
}

// counts reports whether a rule that counts some effects counts this one.
func counts(r *model.Rule, in *instance, e *model.Effect) bool {
	switch r.Scope {
	case model.RecordEffect:
		return e.Msg.Record.ID == r.Record
	case model.StartEffect:
		return in.self.Life == r.Life
	case model.CheckpointEffect:
		return e.Msg.Checkpoint() == r.Checkpoint
	}
	return false
}

// reachCall counts a transmission that is about to leave and applies the rules anchored at it.
func (w *World) reachCall(in *instance, kind model.Kind, st *callState) (net network) {
	p := in.self.Proc
	w.hist.Extent.Calls[p][kind]++
	for _, i := range w.slots[p].callRules {
		r, m := &w.rules[i], &w.match[i]
		if m.fired || r.Call != kind {
			continue
		}
		m.seen++
		if m.seen != r.N {
			continue
		}
		switch r.Action {
		case model.LoseRequest:
			net.lose = true
		case model.LoseAnswer:
			net.loseAnswer = true
		case model.DelayRequest:
			net.delay = r.For
		case model.DuplicateRequest:
			net.double, net.later = true, max(r.For, 1)
		default:
			if r.Action == model.CutLink && r.Point == 0 {
				w.begin(i)
			} else {
				m.next, st.chain = st.chain, i
			}
			continue
		}
		w.fired(i)
	}
	w.fireChain(st.chain, model.Before, in)
	return net
}

// hit is what faults do to one message on its way.
type hit struct {
	lose    bool
	double  bool
	delay   int64
	later   int64 // how much later the copy arrives
	reorder int64 // how long the message waits for the next one to overtake it; 0: it does not
}

// reachMessage counts a message that is about to leave against the rules of its sender, and adds
// to h what they do to it.
func (w *World) reachMessage(in *instance, e *model.Effect, h *hit) {
	for _, i := range w.slots[in.slot].messageRules {
		r, m := &w.rules[i], &w.match[i]
		if m.fired || r.Peer != e.To || r.Call != e.Msg.Kind {
			continue
		}
		m.seen++
		if m.seen != r.N {
			continue
		}
		switch r.Action {
		case model.LoseMessage:
			h.lose = true
		case model.DelayMessage:
			h.delay = r.For
		case model.DuplicateMessage:
			h.double, h.later = true, max(r.For, 1)
		case model.ReorderMessages:
			h.reorder = r.For
		case model.CutLink:
			w.begin(i)
			continue
		}
		w.fired(i)
	}
}

// fireChain fires the rules of a chain that are anchored at a point. Most chains are empty.
func (w *World) fireChain(chain int32, point model.Point, in *instance) {
	if chain != nobody {
		w.fireFrom(chain, point, in)
	}
}

func (w *World) fireFrom(chain int32, point model.Point, in *instance) {
	for i := chain; i != nobody; i = w.match[i].next {
		r, m := &w.rules[i], &w.match[i]
		if m.fired || r.Point != point || in.status == dead {
			continue
		}
		w.strike(i, in)
	}
}

// fireAtTime has the rule of a time begin or strike the current life of a process; one that finds
// it down is not reached.
func (w *World) fireAtTime(i int32) {
	if a := w.rules[i].Action; a != model.Crash && a != model.Pause {
		w.begin(i)
		return
	}
	current := w.slots[w.rules[i].Proc].current
	if current != nobody {
		w.strike(i, w.insts[current])
	}
}

// strike crashes or pauses a life, unless it is only to be known that it would.
func (w *World) strike(i int32, in *instance) {
	r := &w.rules[i]
	if int(i) >= len(w.rules)-w.opts.Probes {
		w.match[i].fired, w.hist.Reached[i] = true, w.trace.n+1
		return
	}
	if r.Action == model.Pause && in.status == paused {
		return // it stands still already: the rule is not reached
	}
	w.fired(i)
	if r.Action == model.Pause {
		w.hist.Reached[i] = w.pause(in, r.For)
		return
	}
	w.hist.Reached[i] = w.end(in, model.Crashed, "", in.cause)
}

// fired marks a rule as reached, at the event that comes next, and gives the job time to recover.
func (w *World) fired(i int32) {
	w.match[i].fired = true
	w.hist.Reached[i] = w.trace.n + 1
	w.limit = max(w.limit, w.now+w.rules[i].For+w.cfg.DrainTime)
}
