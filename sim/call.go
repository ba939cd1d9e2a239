package sim

import "github.com/oncesim/oncesim/model"

// callState is what the world knows of one transmission beside its entry in the history, which has
// the same index.
type callState struct {
	inst     int32
	chain    int32 // rules armed on it
	deadline int64
	blocking bool
	repeat   bool          // send again while unknown
	settled  bool          // the caller's outcome is decided
	outcome  model.Outcome // and is this; the caller knows it when it is told
	timed    bool          // a timeout is scheduled
	known    bool          // the outcome has been told in the trace
	net      network
	words    uint64 // of the request, for the trace
	about    uint64 // what its draws are about
}

// invoke sends the request of an effect and, for a blocking call, makes the life wait.
func (w *World) invoke(in *instance, e *model.Effect, chain int32) {
	e.Msg.Attempt = in.self.Attempt
	blocking := e.Kind == model.EffectCall
	st := callState{inst: in.index, chain: chain, blocking: blocking,
		repeat: blocking && e.UntilDone}
	w.transmit(in, e.Service, &e.Msg, &st)
}

// transmit sends one transmission of a request, unless a fault strikes before it leaves.
func (w *World) transmit(in *instance, service model.ServiceID, req *model.Message,
	st *callState) {
	st.net = w.reachCall(in, req.Kind, st)
	switch in.status {
	case up:
		w.leave(in, service, req, st)
	case paused:
		in.parked, in.leaving = true, parked{service: service, req: *req, state: *st, counted: true}
	}
}

// leave lets a transmission go.
func (w *World) leave(in *instance, service model.ServiceID, req *model.Message, st *callState) {
	index := int32(len(w.calls))
	st.deadline = w.now + w.cfg.CallTimeout
	st.words = w.words(req)
	st.about = req.Record.Subject() ^ uint64(req.Seq)<<8
	*extend(&w.calls) = *st
	call := extend(&w.hist.Calls)
	call.Proc, call.Attempt, call.Service = in.self.Proc, in.self.Attempt, service
	call.Outcome, call.Served, call.Answered = model.Pending, 0, 0
	call.Req, call.Ans = *req, model.Answer{}
	call.Invoked = w.note(model.EntryInvoke, happening{in: in, service: service, isCall: true,
		msg: &call.Req, words: st.words, cause: in.cause})
	if st.blocking {
		in.waiting = index
	}
	w.route(in, index)
	w.fireChain(st.chain, model.During, in)
}

// network is what faults do to one transmission on its way.
type network struct {
	lose       bool
	loseAnswer bool
	double     bool
	delay      int64
	later      int64 // how much later the copy arrives
}

// route schedules the arrival of a request. The timeout is scheduled only when it is clear that
// no answer will come in time, so that a healthy call costs two events and not three.
func (w *World) route(in *instance, index int32) {
	call, st := &w.hist.Calls[index], &w.calls[index]
	req, net := &call.Req, st.net
	subject := w.slots[in.slot].subject ^ w.svcHash[call.Service]<<1 ^ uint64(req.Kind)
	draw := w.draw(model.DrawRequestLatency, subject, st.about,
		uint64(in.self.Life)<<32|uint64(req.Try))
	at := w.now + within(draw, w.cfg.Request)
	last := &in.lastTo[len(w.slots)+int(call.Service)]
	if net.delay == 0 {
		at = max(at, *last+1)
		*last = at
	} else {
		at += net.delay
		w.note(model.EntryDelay, happening{in: in, service: call.Service, isCall: true, msg: req,
			cause: call.Invoked})
	}
	lost := ""
	switch {
	case net.lose:
		lost = "request"
	case len(w.outages) > 0 && w.isCut(in.self.Proc, model.Nobody, call.Service):
		lost = "partition"
	}
	if lost != "" {
		w.loseHalf(index, call.Invoked, lost)
		return
	}
	w.schedule(at, draw, item{kind: itemServe, call: index, cause: call.Invoked})
	if at > st.deadline {
		w.expire(index)
	}
	if net.double {
		n := w.note(model.EntryDouble, happening{in: in, service: call.Service, isCall: true,
			msg: req, cause: call.Invoked})
		w.schedule(at+net.later, draw,
			item{kind: itemServe, call: index, copy: true, cause: n})
	}
}

// loseHalf loses the request or the answer of a call, which is then never answered.
func (w *World) loseHalf(index int32, cause int64, detail string) {
	call := &w.hist.Calls[index]
	w.note(model.EntryLose, happening{in: w.insts[w.calls[index].inst], service: call.Service,
		isCall: true, msg: &call.Req, cause: cause, detail: detail})
	w.expire(index)
}

// expire schedules the timeout of a call, once.
func (w *World) expire(index int32) {
	st := &w.calls[index]
	if st.timed || st.settled {
		return
	}
	st.timed = true
	w.schedule(max(st.deadline, w.now), 0, item{kind: itemTimeout, call: index})
}

// arriveAt brings a request to its service, which serves it unless it is down. Faults that change
// how a request is served strike the first copy of it.
func (w *World) arriveAt(index int32, isCopy bool, cause int64) {
	call, chain := &w.hist.Calls[index], w.calls[index].chain
	if isCopy {
		chain = nobody
	}
	if chain != nobody {
		w.beginAtRequest(chain)
	}
	if len(w.outages) > 0 && w.isDown(call.Service) {
		w.loseHalf(index, cause, "outage")
		return
	}
	w.serve(index, isCopy, w.treat(chain), cause)
}

// serve applies a request at its service, atomically, and sends the answer.
func (w *World) serve(index int32, isCopy bool, as treatment, cause int64) {
	call, st := &w.hist.Calls[index], &w.calls[index]
	in := w.insts[st.inst]
	ans, detail := &call.Ans, "" // as empty as it was made
	if isCopy {
		ans = &w.answer // means nothing to the caller
		*ans = model.Answer{}
	}
	ans.Outcome = model.Done
	if as.action == 0 {
		w.services[call.Service].Serve(w.now, &call.Req, ans)
		w.remember(call.Service, &call.Req, ans.Outcome, false)
	} else {
		detail = w.serveAs(as, call.Service, &call.Req, ans)
	}
	if call.Req.Kind == model.Fetch && ans.Seq > call.Req.Seq {
		w.skipped(&call.Req)
	}
	n := w.note(model.EntryServe, happening{in: in, service: call.Service, isCall: true,
		msg: &call.Req, words: st.words, ans: ans, outcome: ans.Outcome, cause: cause,
		detail: detail})
	s := extend(&w.hist.Servings)
	s.N, s.At, s.Call, s.Copy = n, w.now, index, isCopy
	s.Forgotten, s.Torn, s.Ans = detail == forgotten, detail == torn, *ans
	if call.Service == model.External {
		w.scheduleRead()
	}
	if isCopy {
		return
	}
	call.Served = n
	isAwaited := !st.settled
	if isAwaited && in.status != dead {
		w.beginAtAnswer(st.chain)
	}
	w.reply(in, index, n)
	if isAwaited {
		w.fireChain(st.chain, model.BeforeAck, in)
	}
}

// reply schedules the arrival of the answer, unless it is lost or cannot be in time.
func (w *World) reply(in *instance, index int32, cause int64) {
	call, st := &w.hist.Calls[index], &w.calls[index]
	lost := ""
	switch {
	case st.net.loseAnswer:
		lost = "answer"
	case len(w.outages) > 0 && w.isCut(in.self.Proc, model.Nobody, call.Service):
		lost = "partition"
	}
	if lost != "" {
		w.loseHalf(index, cause, lost)
		return
	}
	subject := w.slots[in.slot].subject ^ w.svcHash[call.Service]<<1 ^ uint64(call.Req.Kind)
	draw := w.draw(model.DrawAnswerLatency, subject, st.about,
		uint64(in.self.Life)<<32|uint64(call.Req.Try))
	at := w.now + within(draw, w.cfg.Answer)
	if at > st.deadline {
		w.expire(index)
	}
	w.schedule(at, draw, item{kind: itemAnswer, inst: st.inst, call: index, cause: cause})
}

// answerArrived brings an answer to its caller: it settles the call, or comes too late, or finds
// nobody.
func (w *World) answerArrived(slot int32) {
	it := &w.queue.slab[slot].item
	index := it.call
	call, st := &w.hist.Calls[index], &w.calls[index]
	in := w.insts[st.inst]
	if st.settled || in.status == dead {
		w.note(model.EntryLate, happening{in: in, service: call.Service, isCall: true,
			msg: &call.Req, words: st.words, cause: it.cause})
		w.queue.free(slot)
		return
	}
	st.settled, st.outcome = true, call.Ans.Outcome
	if !st.blocking {
		in.inbox = append(in.inbox, slot)
		w.advance(in)
		return
	}
	w.queue.free(slot)
	w.settleBlocking(in, index)
}

// timedOut settles a call without an answer.
func (w *World) timedOut(index int32) {
	st := &w.calls[index]
	in := w.insts[st.inst]
	if st.settled || in.status == dead {
		return
	}
	st.settled, st.outcome = true, model.Unknown
	if !st.blocking {
		slot := w.queue.grab()
		w.queue.slab[slot].item = item{kind: itemAnswer, inst: st.inst, call: index}
		in.inbox = append(in.inbox, slot)
		w.advance(in)
		return
	}
	w.settleBlocking(in, index)
}

// settleBlocking lets a waiting life go on, now or when it resumes.
func (w *World) settleBlocking(in *instance, index int32) {
	if in.status == paused {
		in.held = index
		return
	}
	w.settle(in, index)
	w.advance(in)
}

// settle makes an outcome known to its caller, or sends the request again.
func (w *World) settle(in *instance, index int32) {
	call, st := &w.hist.Calls[index], &w.calls[index]
	w.tell(in, call, st)
	if call.Outcome == model.Unknown && st.repeat {
		w.repeat(in, call, st)
		return
	}
	w.fireChain(st.chain, model.After, in)
	switch {
	case in.status == dead:
		return
	case in.status == paused:
		in.held = index
		return
	}
	if st.blocking {
		in.waiting = nobody
	}
	ev := &w.event
	ev.Kind, ev.From, ev.Token, ev.Msg = model.Answered, model.Nobody, 0, call.Req
	if call.Outcome != model.Unknown {
		ev.Ans = call.Ans
	} else {
		ev.Ans = model.Answer{Outcome: model.Unknown}
	}
	w.stepAnswered(in)
}

// tell notes the outcome of a call, once.
func (w *World) tell(in *instance, call *model.Call, st *callState) {
	if st.known {
		return
	}
	st.known, call.Outcome = true, st.outcome
	cause := call.Served
	if call.Outcome == model.Unknown {
		cause = call.Invoked
	}
	call.Answered = w.note(model.EntryAnswer, happening{in: in, service: call.Service,
		isCall: true, msg: &call.Req, words: st.words, ans: &call.Ans, outcome: call.Outcome,
		cause: cause})
	in.cause = call.Answered
}

// repeat sends a request again. Rules anchored at the effect go on to the next transmission. Those
// anchored at this very one end with it: after it they strike now, before its ack never.
func (w *World) repeat(in *instance, call *model.Call, st *callState) {
	chain := nobody
	for i := st.chain; i != nobody; {
		next := w.match[i].next
		if w.rules[i].Scope != model.CallOfKind {
			w.match[i].next, chain = chain, i
		} else if w.rules[i].Point == model.After && in.status == up {
			w.strike(i, in)
		}
		i = next
	}
	if in.status == dead {
		return
	}
	in.waiting = nobody
	req, again := call.Req, callState{inst: in.index, chain: chain, blocking: true, repeat: true}
	req.Try++
	if in.status == paused {
		in.parked, in.leaving = true, parked{service: call.Service, req: req, state: again}
		return
	}
	w.transmit(in, call.Service, &req, &again)
}
