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

// fold takes two words into the first chain, where every bit of both moves it.
func (t *tracer) fold(x, y uint64) {
	t.a = model.Mix(t.a^x^traceK1, y^t.b^traceK2)
	t.b += t.a
}

// text takes a string into the hash.
func (t *tracer) text(s string) { t.fold(uint64(len(s)), model.HashText(s)) }

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
	number  int64 // of a timer: its token; of an application: operator and outputs
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
	t.fold(uint64(w.now), uint64(kind)|uint64(h.outcome)<<8|uint64(uint8(h.service))<<16|who<<32)
	t.fold(uint64(h.cause), attempt|uint64(uint32(h.to))<<32)
	t.fold(uint64(h.number), uint64(len(h.detail)))
	if h.detail != "" {
		t.text(h.detail)
	}
	if h.msg != nil {
		t.message(kind, h.msg)
	}
	if h.ans != nil {
		t.answer(kind, h.ans)
	}
	if w.opts.Trace {
		w.keep(kind, h)
	}
	return t.n
}

// message hashes a message. Its key and text are hashed when it is made and when it arrives in the
// outside world; in between the world carries it and cannot change it.
func (t *tracer) message(kind model.EntryKind, m *model.Message) {
	r := &m.Record
	t.fold(uint64(m.Kind)|uint64(uint16(m.Channel))<<8|uint64(uint32(m.Attempt))<<32,
		uint64(uint32(m.Try))|uint64(uint32(r.Op))<<32)
	t.fold(uint64(m.Seq), uint64(m.N))
	t.fold(uint64(m.Cursor), uint64(m.Token))
	t.fold(uint64(uint32(r.ID.Part)), uint64(r.ID.Offset))
	t.fold(uint64(r.Path), uint64(r.Value.Num))
	switch kind {
	case model.EntrySend, model.EntryInvoke, model.EntryApply, model.EntryObserve:
		t.text(r.Key)
		t.text(r.Value.Text)
	}
}

// answer hashes what a service says; the records that it hands out are hashed when it says it.
func (t *tracer) answer(kind model.EntryKind, a *model.Answer) {
	flags := uint64(a.Outcome)
	if a.End {
		flags |= 1 << 8
	}
	if a.Found {
		flags |= 1 << 9
	}
	t.fold(flags, uint64(a.Seq))
	t.fold(uint64(a.N), uint64(a.Wait))
	t.fold(uint64(a.Value.Num), uint64(len(a.Records)))
	if kind != model.EntryServe {
		return
	}
	t.text(a.Value.Text)
	for i := range a.Records {
		r := &a.Records[i]
		t.fold(uint64(uint32(r.ID.Part))|uint64(uint32(r.Op))<<32, uint64(r.ID.Offset))
		t.fold(uint64(r.Path), uint64(r.Value.Num))
		t.text(r.Key)
		t.text(r.Value.Text)
	}
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
	case model.EntryLose, model.EntryDelay, model.EntryDouble:
		if !h.isCall {
			e.To = h.to
		}
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
