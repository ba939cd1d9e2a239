package sim

import "github.com/oncesim/oncesim/model"

// tracer numbers the events of a run, hashes each of them and every draw, and keeps them where
// the full trace is wanted.
//
// The hash is a chain of 64x64 to 128 bit products. What is known of one event is multiplied in
// pairs that do not wait for each other, each with constants of its own; their sum takes one step
// in the chain.
type tracer struct {
	n       int64
	draws   int64
	a, b    uint64
	entries []model.Entry
}

const (
	traceK0  = 0x9e3779b97f4a7c15
	traceK1  = 0xbf58476d1ce4e5b9
	traceK2  = 0x94d049bb133111eb
	traceK3  = 0xd6e8feb86659fd93
	traceK4  = 0xa0761d6478bd642f
	traceK5  = 0xe7037ed1a0b428db
	traceK6  = 0x8ebc6af09c88c6e3
	traceK7  = 0x589965cc75374cc3
	traceK8  = 0x1d8e4e27c47d124f
	traceK9  = 0xeb44accab455d165
	traceK10 = 0xc3a5c85c97cb3127
	traceK11 = 0xb492b66fbe98f273
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

// fold takes two words into the chain, where every bit of both moves it.
func (t *tracer) fold(x, y uint64) {
	t.a = model.Mix(t.a^x^traceK1, y^t.b^traceK2)
	t.b += t.a
}

// event takes when, why, what and to whom something happened into the hash, and what is known of
// the message that it is about.
func (t *tracer) event(now, cause int64, what, whom, words uint64) {
	t.fold(model.Mix(uint64(now)^traceK0, what^traceK3)+words,
		model.Mix(uint64(cause)^traceK4, whom^traceK5))
}

// text takes a string into the hash.
func (t *tracer) text(s string) { t.fold(uint64(len(s)), model.HashText(s)) }

// texts takes what a record holds of text into the hash; mostly it is none.
func (t *tracer) texts(r *model.Record) {
	if r.Key != "" || r.Value.Text != "" {
		t.fold(model.HashText(r.Key), model.HashText(r.Value.Text))
	}
}

// happening is what there is to tell of one event; zero fields are not told.
type happening struct {
	in      *instance // whose event it is, or nil
	to      model.ProcID
	service model.ServiceID
	isCall  bool
	msg     *model.Message
	words   uint64 // of msg, where they are known
	ans     *model.Answer
	outcome model.Outcome
	cause   int64
	number  int64 // of a timer: its token; of an application: operator and outputs
	detail  string
}

// note numbers, hashes and perhaps keeps one event, and returns its number.
func (w *World) note(kind model.EntryKind, h happening) int64 { return w.enter(kind, &h) }

// enter is note; it takes a pointer so that note, which is inlined, copies nothing.
func (w *World) enter(kind model.EntryKind, h *happening) int64 {
	t := &w.trace
	t.n++
	if w.opts.Unhashed {
		return t.n
	}
	who, attempt := uint64(0), uint64(0)
	if h.in != nil {
		who, attempt = uint64(h.in.slot)+1, uint64(h.in.self.Attempt)
	}
	if h.msg != nil && h.words == 0 {
		h.words = words(h.msg)
	}
	t.event(w.now, h.cause, uint64(kind)|uint64(h.outcome)<<8|uint64(uint8(h.service))<<16|who<<32,
		attempt|uint64(uint32(h.to))<<32, h.words)
	if h.number != 0 || h.detail != "" {
		t.fold(uint64(h.number), model.HashText(h.detail))
	}
	if h.msg != nil {
		t.content(kind, h.msg)
	}
	if h.ans != nil {
		t.answer(kind, h.ans)
	}
	if w.opts.Trace {
		w.keep(kind, h)
	}
	return t.n
}

// noteMessage is note of a message that a life sends or takes: most of what happens. The words of
// the message are known.
func (w *World) noteMessage(kind model.EntryKind, in *instance, to model.ProcID,
	msg *model.Message, words uint64, cause int64) int64 {
	if w.opts.Trace || w.opts.Unhashed {
		return w.note(kind, happening{in: in, to: to, msg: msg, words: words, cause: cause})
	}
	t := &w.trace
	t.n++
	t.event(w.now, cause, uint64(kind)|(uint64(in.slot)+1)<<32,
		uint64(in.self.Attempt)|uint64(uint32(to))<<32, words)
	t.content(kind, msg)
	return t.n
}

// words is words of a request, to be worked out once for all of its events.
func (w *World) words(m *model.Message) uint64 {
	if w.opts.Unhashed {
		return 0
	}
	return words(m)
}

// words hashes a message without its texts and parts.
func words(m *model.Message) uint64 {
	r := &m.Record
	what := uint64(m.Kind) | uint64(uint16(m.Channel))<<8 | uint64(m.Flags)<<24 |
		uint64(uint32(m.Attempt))<<32
	return model.Mix(what^traceK6, (uint64(uint32(m.Try))|uint64(uint32(r.Op))<<32)^traceK7) +
		model.Mix(uint64(m.Seq)^traceK8, uint64(m.N)^traceK9) +
		model.Mix(uint64(m.Cursor)^traceK10, uint64(m.Token)^traceK11) +
		model.Mix(uint64(uint32(r.ID.Part))^traceK5, uint64(r.ID.Offset)^traceK6) +
		model.Mix(uint64(r.Path)^traceK7, uint64(r.Value.Num)^traceK8)
}

// content hashes the texts and parts of a message when it is made and when it arrives in the
// outside world; in between the world carries them and cannot change them. Mostly there are none.
func (t *tracer) content(kind model.EntryKind, m *model.Message) {
	if len(m.Record.Key)+len(m.Record.Value.Text)+len(m.Parts) > 0 {
		t.made(kind, m)
	}
}

func (t *tracer) made(kind model.EntryKind, m *model.Message) {
	switch kind {
	case model.EntrySend, model.EntryInvoke, model.EntryApply, model.EntryObserve:
		t.texts(&m.Record)
		t.records(m.Parts)
	}
}

// records hashes a list of records, unless it is empty.
func (t *tracer) records(list []model.Record) {
	if len(list) > 0 {
		t.fold(uint64(len(list)), traceK3)
	}
	for i := range list {
		r := &list[i]
		t.fold(uint64(uint32(r.ID.Part))|uint64(uint32(r.Op))<<32, uint64(r.ID.Offset))
		t.fold(uint64(r.Path), uint64(r.Value.Num))
		t.texts(r)
	}
}

// answer hashes what a service says; the records that it hands out are hashed when it says it.
func (t *tracer) answer(kind model.EntryKind, a *model.Answer) {
	t.fold(answerFlags(a), uint64(a.Seq))
	t.fold(uint64(a.N), uint64(a.Wait))
	t.fold(uint64(a.Value.Num), uint64(len(a.Records)))
	if kind != model.EntryServe {
		return
	}
	t.text(a.Value.Text)
	t.records(a.Records)
	for _, place := range a.Places { // one for each record
		t.fold(uint64(place), 0)
	}
}

// answerFlags packs what an answer says in bits.
func answerFlags(a *model.Answer) uint64 {
	flags := uint64(a.Outcome)
	if a.End {
		flags |= 1 << 8
	}
	if a.Found {
		flags |= 1 << 9
	}
	return flags
}

func (w *World) keep(kind model.EntryKind, h *happening) {
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
