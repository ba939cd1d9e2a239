package sim

import "github.com/oncesim/oncesim/model"

// tracer numbers the events of a run, hashes each of them and every draw, and keeps them where
// the full trace is wanted. The hash is two independent chains of 64x64 to 128 bit products.
type tracer struct {
	n       int64
	draws   int64
	a, b    uint64
	entries []model.Entry
}

const (
	traceK0 = 0x9e3779b97f4a7c15
	traceK1 = 0xbf58476d1ce4e5b9
	traceK2 = 0x94d049bb133111eb
	traceK3 = 0xd6e8feb86659fd93
)

func (t *tracer) reset(seed uint64) {
	t.n, t.draws, t.entries = 0, 0, t.entries[:0]
	t.a, t.b = seed^traceK0, seed^traceK1
}

func (t *tracer) drew(r uint64) {
	t.draws++
	t.b = model.Mix(t.b^r, traceK2)
}

// sum is the hash of everything so far.
func (t *tracer) sum() uint64 { return model.Mix(t.a^traceK3, t.b^traceK0) }

// happening is what there is to tell of one event; zero fields are not told.
type happening struct {
	in      *instance // whose event it is, or nil
	to      model.ProcID
	service model.ServiceID
	isCall  bool
	msg     *model.Message
	ans     *model.Answer
	outcome model.Outcome
	cause   int64
	detail  string
}

// note numbers, hashes and perhaps keeps one event, and returns its number.
func (w *World) note(kind model.EntryKind, h happening) int64 {
	t := &w.trace
	t.n++
	who, attempt := uint64(0), uint64(0)
	if h.in != nil {
		who, attempt = uint64(h.in.slot)+1, uint64(h.in.self.Attempt)
	}
	head := uint64(kind) | uint64(h.outcome)<<8 | who<<16 | uint64(uint16(h.to))<<32 |
		uint64(uint8(h.service))<<48
	t.a = model.Mix(t.a^uint64(w.now), head^traceK2)
	t.b = model.Mix(t.b^uint64(h.cause), attempt^traceK3)
	if m := h.msg; m != nil {
		t.a = model.Mix(t.a^uint64(m.Seq), m.Record.Subject()^uint64(m.Kind)<<56^traceK1)
		t.b = model.Mix(t.b^uint64(m.Record.Value.Num)^uint64(m.Try)<<32,
			uint64(m.N)^uint64(m.Attempt)<<40^traceK0)
		if kind == model.EntryInvoke || kind == model.EntrySend {
			t.a = model.Mix(t.a^model.HashText(m.Record.Key),
				model.HashText(m.Record.Value.Text)^traceK3)
		}
	}
	if a := h.ans; a != nil {
		t.b = model.Mix(t.b^uint64(a.Seq), uint64(a.N)^uint64(a.Value.Num)<<20^traceK2)
	}
	if w.opts.Trace {
		w.keep(kind, h)
	}
	return t.n
}

func (w *World) keep(kind model.EntryKind, h happening) {
	e := model.Entry{N: w.trace.n, At: w.now, Cause: h.cause, Kind: kind, Proc: model.Nobody,
		To: model.Nobody, Service: model.Nobody, Outcome: h.outcome, Detail: h.detail}
	if h.in != nil {
		e.Proc, e.Attempt = h.in.self.Proc, h.in.self.Attempt
	}
	switch kind {
	case model.EntrySend, model.EntryDeliver, model.EntryDrop:
		e.To = h.to
	}
	if h.isCall {
		e.Service = h.service
	}
	if h.msg != nil {
		e.Msg = *h.msg
	}
	if h.ans != nil {
		e.Ans = *h.ans
	}
	w.trace.entries = append(w.trace.entries, e)
}
