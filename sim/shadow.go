package sim

import "github.com/oncesim/oncesim/model"

// past is a service as it was before its last change: a second one that is told of each change
// when the next one comes. It is kept in runs with a rule that has something read from it.
type past struct {
	isKept  bool
	service model.Service // lags one change behind
	change  model.Message // the one that it has not been told of; Kind NoKind: none
	at      int64         // when that was
	isTorn  bool          // it was torn
	ans     model.Answer
}

// keepPast begins to remember what a service was, from when it was new.
func (w *World) keepPast(id model.ServiceID) {
	p := &w.pasts[id]
	if p.service == nil {
		p.service = w.newService(id)
	}
	p.service.Reset()
	p.isKept, p.change, p.at = true, model.Message{}, 0
}

// remember takes notice of a request that a service has served. Those that were applied and are of
// a kind that can be forgotten are changes, be it that they wrote what was there already.
func (w *World) remember(id model.ServiceID, req *model.Message, outcome model.Outcome,
	isTorn bool) {
	p := &w.pasts[id]
	if !p.isKept || outcome != model.Done || !model.ForgetRequest.Fits(req.Kind) {
		return
	}
	if p.change.Kind != model.NoKind {
		p.ans = model.Answer{Outcome: model.Done}
		p.service.Serve(p.at, &p.change, &p.ans)
		if p.isTorn {
			tearAt(p.service, &p.change)
		}
	}
	p.change, p.at, p.isTorn = *req, w.now, isTorn
	p.change.Flags &^= model.Fenced // it was let in once: the past needs no fence
}

// treatment is what a rule makes of the serving of one request: its action, or 0.
type treatment struct {
	action model.Action
	rule   int32
}

// treat returns the first rule of a chain that changes how a request is served.
func (w *World) treat(chain int32) treatment {
	for i := chain; i != nobody; i = w.match[i].next {
		switch a := w.rules[i].Action; a {
		case model.RefuseRequest, model.ForgetRequest, model.StaleRead, model.TearRequest:
			return treatment{action: a, rule: i}
		}
	}
	return treatment{}
}

// What the trace says of how a request was served.
const (
	forgotten = "forgotten"
	stale     = "stale"
	torn      = "torn"
)

// serveAs has a service answer as a rule makes it, and says so in a word for the trace. What it is
// to forget it does in its shadow, a second service that has become what the first is, and a stale
// answer is that of its past: neither changes it. What is torn it has done, and is left with less.
func (w *World) serveAs(t treatment, id model.ServiceID, req *model.Message,
	ans *model.Answer) (detail string) {
	w.match[t.rule].fired = true
	w.strikesNext(t.rule)
	w.limit = max(w.limit, w.now+w.cfg.DrainTime)
	now := w.now
	switch t.action {
	case model.RefuseRequest:
		ans.Outcome = model.Refused
		return ""
	case model.ForgetRequest:
		detail = forgotten
		w.codec.Reset()
		w.services[id].State(&w.codec)
		w.shadow(id, &w.codec)
		w.shadows[id].Serve(now, req, ans)
	case model.TearRequest:
		if w.services[id].Serve(now, req, ans); ans.Outcome == model.Done {
			detail = torn
			tearAt(w.services[id], req)
		}
		w.remember(id, req, ans.Outcome, detail == torn)
	case model.StaleRead:
		detail = stale
		now = w.pasts[id].at // later, more transactions would be past their time
		if req.Kind == model.Latest || req.Kind == model.Fetch {
			now = w.beforeArrival(req.Record.ID.Part)
		}
		asked := *req
		asked.Flags &^= model.Fenced
		w.pasts[id].service.Serve(now, &asked, ans)
	}
	ans.Records = w.memory.Keep(ans.Records)
	return detail
}

// tearAt leaves half of an upload that a service has just served.
func tearAt(s model.Service, req *model.Message) { unwrap(s).(*store).checkpoints.tear(req) }

// shadow makes the shadow of a service what is encoded.
func (w *World) shadow(id model.ServiceID, state *model.Codec) {
	if w.shadows[id] == nil {
		w.shadows[id] = w.newService(id)
	}
	w.shadows[id].Reset()
	state.Rewind()
	w.shadows[id].State(state)
}

// beforeArrival is the time just before the newest record of a partition arrived: an arrival is a
// change of the log as well.
func (w *World) beforeArrival(part int32) int64 {
	arrived := unwrap(w.services[model.InputLog]).(*inputLog).lastArrival(w.now, part)
	return max(arrived-1, 0)
}
