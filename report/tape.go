package report

import (
	"slices"

	"github.com/oncesim/oncesim/model"
)

// tape is a trace with its links in both directions. Event n is entries[n-1].
type tape struct {
	job     *model.Job
	mode    *model.Mode
	hist    *model.History
	entries []model.Entry
	fate    []int64 // of a Send: the Deliver or Drop at its other end, or the Lose on its way
	origin  []int64 // of a Send that repeats another: the transmission before, or the tree before
	call    []int32 // of an Invoke, Serve or Answer: the call in the history plus one
	txns    []*txn  // of the external log, in the order of their begin
	txnAt   map[int64]*txn
}

func newTape(c *Case) *tape {
	s := &c.Result.Subject
	t := &tape{job: s.Job, mode: s.Mode, hist: s.History, entries: c.Result.Trace}
	t.fate = make([]int64, len(t.entries)+1)
	t.origin = make([]int64, len(t.entries)+1)
	t.call = make([]int32, len(t.entries)+1)
	t.linkMessages()
	for i := range t.hist.Calls {
		call := &t.hist.Calls[i]
		if !t.has(call.Invoked) {
			continue
		}
		t.call[call.Invoked] = int32(i + 1)
		for _, n := range []int64{call.Served, call.Answered} {
			if t.has(n) {
				t.call[n] = int32(i + 1)
			}
		}
	}
	for i := range t.hist.Servings {
		if s := &t.hist.Servings[i]; t.has(s.N) {
			t.call[s.N] = s.Call + 1
		}
	}
	t.findTxns()
	return t
}

// linkMessages notes where messages ended, and which repeat which.
func (t *tape) linkMessages() {
	type message struct {
		from, to model.ProcID
		attempt  int32
		kind     model.Kind
		seq      int64
	}
	// A source that begins a record anew numbers it anew.
	type root struct {
		from, to model.ProcID
		attempt  int32
		channel  int16
		id       model.ID
	}
	last := map[message]int64{}
	roots := map[root]int64{}
	for i := range t.entries {
		e := &t.entries[i]
		switch e.Kind {
		case model.EntryDeliver, model.EntryDrop:
			t.fate[e.Cause] = e.N
		case model.EntryLose:
			if isMessage(e) {
				t.fate[e.Cause] = e.N
			}
		case model.EntrySend:
			m := message{e.Proc, e.To, e.Attempt, e.Msg.Kind, e.Msg.Seq}
			if e.Msg.Try > 0 {
				t.origin[e.N] = last[m]
			}
			last[m] = e.N
			if e.Msg.Kind == model.Data && e.Msg.Record.Op == 0 {
				r := root{e.Proc, e.To, e.Attempt, e.Msg.Channel, e.Msg.Record.ID}
				if t.origin[e.N] == 0 {
					t.origin[e.N] = roots[r]
				}
				roots[r] = e.N
			}
		}
	}
}

// before is the event that n has its content from: of a repeated message the transmission before,
// else the cause.
func (t *tape) before(n int64) int64 {
	if t.origin[n] != 0 {
		return t.origin[n]
	}
	return t.at(n).Cause
}

// has reports whether n is the number of an event.
func (t *tape) has(n int64) bool { return n > 0 && n <= int64(len(t.entries)) }

// at is event n, which must be one.
func (t *tape) at(n int64) *model.Entry { return &t.entries[n-1] }

// callOf is the call that an event belongs to, or nil.
func (t *tape) callOf(n int64) *model.Call {
	if i := t.call[n]; i > 0 {
		return &t.hist.Calls[i-1]
	}
	return nil
}

// cause is the event that brought e about, or nil.
func (t *tape) cause(e *model.Entry) *model.Entry {
	if !t.has(e.Cause) {
		return nil
	}
	return t.at(e.Cause)
}

// name is the name of a process, "the reader" for nobody.
func (t *tape) name(p model.ProcID) string {
	if p < 0 || int(p) >= len(t.job.Tasks) {
		return "the reader"
	}
	return t.job.Tasks[p].Name
}

// role is the task of a process, or nil.
func (t *tape) task(p model.ProcID) *model.Task {
	if p < 0 || int(p) >= len(t.job.Tasks) {
		return nil
	}
	return &t.job.Tasks[p]
}

// life is the life whose event e is, or nil.
func (t *tape) life(e *model.Entry) *model.Life {
	for i := range t.hist.Lives {
		if l := &t.hist.Lives[i]; l.Proc == e.Proc && l.Attempt == e.Attempt {
			return l
		}
	}
	return nil
}

// find returns the first event after a number, up to another, that is wanted; nil: there is none.
func (t *tape) find(after, upTo int64, want func(e *model.Entry) bool) *model.Entry {
	for n := max(after+1, 1); n <= min(upTo, int64(len(t.entries))); n++ {
		if e := t.at(n); want(e) {
			return e
		}
	}
	return nil
}

// findLast is find from the other end.
func (t *tape) findLast(after, upTo int64, want func(e *model.Entry) bool) *model.Entry {
	for n := min(upTo, int64(len(t.entries))); n > max(after, 0); n-- {
		if e := t.at(n); want(e) {
			return e
		}
	}
	return nil
}

// end is the number of the last event.
func (t *tape) end() int64 { return int64(len(t.entries)) }

// chain is the set of events that led to event n, itself included.
func (t *tape) chain(n int64) map[int64]bool {
	set := map[int64]bool{}
	for ; t.has(n) && !set[n]; n = t.before(n) {
		set[n] = true
	}
	return set
}

// isOf reports whether two events are of one life.
func isOf(e, other *model.Entry) bool {
	return e.Proc == other.Proc && e.Attempt == other.Attempt
}

// isDeath reports whether e ends a life.
func isDeath(e *model.Entry) bool {
	switch e.Kind {
	case model.EntryCrash, model.EntryGiveUp, model.EntryCancel:
		return true
	}
	return false
}

// isAbout reports whether an event is about one input record: its message, what operators made of
// it, and requests on its behalf.
func isAbout(e *model.Entry, id model.ID) bool {
	switch e.Msg.Kind {
	case model.Data, model.Ack, model.Get, model.Put, model.Write, model.Read, model.Update,
		model.Mark:
		return e.Msg.Record.ID == id
	case model.WriteBatch:
		return slices.ContainsFunc(e.Msg.Parts, func(r model.Record) bool { return r.ID == id })
	case model.NoKind:
		return e.Kind == model.EntryApply && e.Msg.Record.ID == id
	}
	return false
}

// isServe reports whether e is the application of a request of a kind by its service.
func isServe(e *model.Entry, kind model.Kind) bool {
	return e.Kind == model.EntryServe && e.Msg.Kind == kind
}

// covers reports whether e commits an offset behind a record.
func covers(e *model.Entry, id model.ID) bool {
	return isServe(e, model.OffsetCommit) && tookEffect(e) && e.Msg.Record.ID.Part == id.Part &&
		e.Msg.Seq > id.Offset
}

// isFetch reports whether e brings a source a batch with a record.
func (t *tape) isFetch(e *model.Entry, id model.ID) bool {
	return t.isOfSource(e) && e.Kind == model.EntryAnswer && e.Msg.Kind == model.Fetch &&
		e.Outcome != model.Unknown &&
		e.Msg.Record.ID.Part == id.Part && e.Ans.Seq <= id.Offset && id.Offset < e.Ans.Seq+e.Ans.N
}

// isPosition reports whether e tells a source where to begin in a partition.
func (t *tape) isPosition(e *model.Entry, part int32) bool {
	return t.isOfSource(e) && e.Kind == model.EntryAnswer && e.Outcome != model.Unknown &&
		(e.Msg.Kind == model.Position || e.Msg.Kind == model.Latest) &&
		e.Msg.Record.ID.Part == part
}
