package defects

import (
	"fmt"
	"slices"

	"github.com/oncesim/oncesim/model"
)

// meddling is what a meddler does. Each function is optional.
type meddling struct {
	// heard is told of an event before the process is, and may change it, or add effects. false:
	// the process is not told of it.
	heard func(m *meddler, ev *model.Event, s *model.Script) bool
	// said is given the effects of one step and returns what is to be done in their place. The
	// list is its own, and so is each effect in it; m.instead makes what replaces a request.
	said func(m *meddler, list []model.Effect) []model.Effect
}

// meddler stands in front of a process.
//
//	self        of the life
//	n           a number that the defect keeps; 0 when a life begins
//	ahead       the highest offset that was committed in this life, see forward
//	kept        effects that the defect keeps for later; none when a life begins
//	made        requests replaced in this life: the number that each one carries
//	replaced    those whose answers have not come
type meddler struct {
	model.Process
	task     *model.Task
	does     meddling
	self     model.Self
	n        int64
	ahead    int64
	kept     []model.Effect
	made     int64
	replaced []replaced
	list     []model.Effect
	isAsIs   bool // within a step: what was released is not meddled with again
}

// replaced is a request in whose place another was made.
type replaced struct {
	number  int64
	req     model.Message
	outcome model.Outcome // what the process is told
}

// meddle puts a meddler in front of the process of a task.
func meddle(task *model.Task, p model.Process, does meddling) model.Process {
	return &meddler{Process: p, task: task, does: does}
}

// Start implements model.Process.
func (m *meddler) Start(self model.Self, s *model.Script) {
	m.self, m.n, m.ahead = self, 0, 0
	m.kept, m.made, m.replaced = m.kept[:0], 0, m.replaced[:0]
	from := len(s.Effects)
	m.Process.Start(self, s)
	m.rewrite(s, from)
}

// Step implements model.Process.
func (m *meddler) Step(ev *model.Event, s *model.Script) {
	from := len(s.Effects)
	m.restore(ev)
	if m.does.heard == nil || m.does.heard(m, ev, s) {
		m.Process.Step(ev, s)
	}
	m.rewrite(s, from)
}

// restore turns the answer to a request that was made in place of another into the answer to that
// one.
func (m *meddler) restore(ev *model.Event) {
	if ev.Kind != model.Answered || ev.Msg.Token >= 0 {
		return
	}
	for i, r := range m.replaced {
		if r.number == -ev.Msg.Token {
			ev.Msg, ev.Ans = r.req, model.Answer{Outcome: r.outcome}
			m.replaced = slices.Delete(m.replaced, i, i+1)
			return
		}
	}
	panic(fmt.Sprintf("defects: answer to %+v, which was made in place of nothing", ev.Msg))
}

// rewrite has the effects of one step replaced.
func (m *meddler) rewrite(s *model.Script, from int) {
	if m.does.said == nil || len(s.Effects) == from || m.isAsIs {
		m.isAsIs = false
		return
	}
	m.list = append(m.list[:0], s.Effects[from:]...)
	s.Effects = append(s.Effects[:from], m.does.said(m, m.list)...)
}

// putOff keeps an effect, to be done some time later: putOffTime after the first that is kept a
// timer fires, and whoever hears of it releases them.
func (m *meddler) putOff(list []model.Effect, e model.Effect) []model.Effect {
	m.kept = append(m.kept, e)
	if len(m.kept) > 1 {
		return list
	}
	return append(list, model.Effect{Kind: model.EffectAfter, To: model.Nobody,
		Service: model.Nobody, Delay: putOffTime, Token: putOffToken})
}

// putOffToken is the token of that timer, which no process has.
const (
	putOffToken = -1 << 40
	putOffTime  = 3_000_000
)

// isDue reports whether an event is the end of that time.
func isDue(ev *model.Event) bool {
	return ev.Kind == model.TimerFired && ev.Token == putOffToken
}

// letGo releases what was put off when its time is over.
func letGo(m *meddler, ev *model.Event, s *model.Script) bool {
	if isDue(ev) {
		m.release(s)
		return false
	}
	return true
}

// later puts off messages or requests of a kind.
func later(kind model.Kind) func(*meddler, []model.Effect) []model.Effect {
	return spread(func(m *meddler, e *model.Effect, out []model.Effect) []model.Effect {
		if is(e, kind) {
			return m.putOff(out, *e)
		}
		return append(out, *e)
	})
}

// release has what is kept done, as it is. The process is to hear nothing of the event.
func (m *meddler) release(s *model.Script) {
	s.Effects = append(s.Effects, m.kept...)
	m.kept, m.isAsIs = m.kept[:0], true
}

// instead is a request that changes nothing, in place of one whose outcome its process is told to
// be what is given.
func (m *meddler) instead(e model.Effect, outcome model.Outcome) model.Effect {
	m.made++
	m.replaced = append(m.replaced, replaced{number: m.made, req: e.Msg, outcome: outcome})
	e.Msg, e.UntilDone = m.harmless(e.Service), true
	e.Msg.Token = -m.made
	return e
}

// harmless is a request to a service that changes nothing and uses no Token.
func (m *meddler) harmless(id model.ServiceID) model.Message {
	nobody := model.Record{ID: model.ID{Part: m.task.Part, Offset: -1}}
	switch id {
	case model.InputLog:
		return model.Message{Kind: model.Position, Record: nobody}
	case model.StateStore:
		return model.Message{Kind: model.Newest, Record: nobody}
	}
	return model.Message{Kind: model.Read, Seq: int64(m.task.Part), Record: nobody}
}

// State implements model.Process.
func (m *meddler) State(c *model.Codec) {
	m.Process.State(c)
	c.Int32((*int32)(&m.self.Proc))
	c.Int32(&m.self.Attempt)
	c.Int32(&m.self.Life)
	nonce := int64(m.self.Nonce)
	c.Int64(&nonce)
	m.self.Nonce = uint64(nonce)
	c.Int64(&m.n)
	c.Int64(&m.ahead)
	model.Slice(c, &m.kept, func(e *model.Effect) { effect(c, e) })
	c.Int64(&m.made)
	model.Slice(c, &m.replaced, func(r *replaced) {
		c.Int64(&r.number)
		c.Message(&r.req)
		outcome := int32(r.outcome)
		c.Int32(&outcome)
		r.outcome = model.Outcome(outcome)
	})
}

// effect encodes or restores an effect.
func effect(c *model.Codec, e *model.Effect) {
	kind, service := int32(e.Kind), int32(e.Service)
	c.Int32(&kind)
	c.Bool(&e.UntilDone)
	c.Int32((*int32)(&e.To))
	c.Int32(&service)
	c.Int64(&e.Delay)
	c.Int64(&e.Token)
	c.Int32(&e.Outputs)
	c.Text(&e.Reason)
	c.Message(&e.Msg)
	e.Kind, e.Service = model.EffectKind(kind), model.ServiceID(service)
}

// is reports whether an effect is a message or a request of a kind.
func is(e *model.Effect, kind model.Kind) bool {
	return e.Kind.IsNumbered() && e.Msg.Kind == kind
}

// isAnswer reports whether an event is the answer to a request of a kind.
func isAnswer(ev *model.Event, kind model.Kind) bool {
	return ev.Kind == model.Answered && ev.Msg.Kind == kind
}

// isMessage reports whether an event brings a message of a kind.
func isMessage(ev *model.Event, kind model.Kind) bool {
	return ev.Kind == model.Delivered && ev.Msg.Kind == kind
}

// each edits effects one by one.
func each(edit func(m *meddler, e *model.Effect)) func(*meddler, []model.Effect) []model.Effect {
	return func(m *meddler, list []model.Effect) []model.Effect {
		for i := range list {
			edit(m, &list[i])
		}
		return list
	}
}

// spread puts any number of effects in the place of each one: edit appends them.
func spread(edit func(m *meddler, e *model.Effect, out []model.Effect) []model.Effect) func(
	*meddler, []model.Effect) []model.Effect {
	return func(m *meddler, list []model.Effect) []model.Effect {
		out := make([]model.Effect, 0, len(list)+1)
		for i := range list {
			out = edit(m, &list[i], out)
		}
		return out
	}
}

// without leaves out messages and requests that are chosen; requests are answered as done.
func without(isChosen func(m *meddler, e *model.Effect) bool) func(*meddler,
	[]model.Effect) []model.Effect {
	return spread(func(m *meddler, e *model.Effect, out []model.Effect) []model.Effect {
		switch {
		case !e.Kind.IsNumbered() || !isChosen(m, e):
			return append(out, *e)
		case e.Kind != model.EffectSend:
			return append(out, m.instead(*e, model.Done))
		}
		return out
	})
}

// hopeful has requests of a kind not sent again while their outcome is unknown.
func hopeful(kind model.Kind) func(*meddler, []model.Effect) []model.Effect {
	return each(func(_ *meddler, e *model.Effect) {
		if is(e, kind) {
			e.UntilDone = false
		}
	})
}

// answers edits the answers to requests of a kind before the process hears of them.
func answers(kind model.Kind, edit func(ans *model.Answer)) func(*meddler, *model.Event,
	*model.Script) bool {
	return func(_ *meddler, ev *model.Event, _ *model.Script) bool {
		if isAnswer(ev, kind) {
			edit(&ev.Ans)
		}
		return true
	}
}

// refusedAsDone takes a refusal for success.
func refusedAsDone(ans *model.Answer) {
	if ans.Outcome == model.Refused {
		ans.Outcome = model.Done
	}
}

// of has the tasks of a role meddled with, and leaves the others as they are.
func of(role model.Role, does meddling) func(*model.Job, *model.Task,
	model.Process) model.Process {
	return func(_ *model.Job, task *model.Task, p model.Process) model.Process {
		if task.Role != role {
			return p
		}
		return meddle(task, p, does)
	}
}
