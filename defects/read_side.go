package defects

import (
	"slices"

	"github.com/oncesim/oncesim/model"
)

var readerGetsUndecided = Defect{
	Name: "reader-gets-undecided", Kind: &ReadSide, Modes: []string{"two-phase-commit"},
	Says:       "a fetch is not cut at the first undecided entry, and readers get what is open",
	Origin:     "streamnative/kop#1283",
	IsKindOnly: true,
	Property:   "atomic-visibility",
	Shown: Case{Topology: "pipeline", Records: 1,
		Plan: []string{"crash coordinator/0 before completion 1"}},
	Service: readBy(func(_ *readPart, e *readEntry) fate {
		if e.state == txnAborted {
			return skipped
		}
		return shown
	}),
}

var readerGetsAborted = Defect{
	Name: "reader-gets-aborted", Kind: &ReadSide, Modes: []string{"two-phase-commit"},
	Says:       "readers wait until an entry is decided, and get what was aborted with the rest",
	Origin:     "segmentio/kafka-go#1332",
	IsKindOnly: true,
	Property:   "at-most-once",
	Shown: Case{Topology: "pipeline", Records: 1,
		Plan: []string{"crash coordinator/0 before completion 1"}},
	Service: readBy(func(_ *readPart, e *readEntry) fate {
		if e.state == txnUndecided {
			return awaited
		}
		return shown
	}),
}

// The life of a sink is the producer: its attempt is in front of its transactional ids.
var filterEndsAtCommit = Defect{
	Name: "filter-ends-at-commit", Kind: &ReadSide, Modes: []string{"two-phase-commit"},
	Says: "readers take the commit of a producer's earlier transaction for the end of the one " +
		"that it aborts, and get that",
	Origin:   "kafka4beam/brod#659",
	Property: "at-most-once",
	Shown: Case{Topology: "pipeline", Records: 3, Set: everyMillisecond,
		Plan: []string{"crash coordinator/0 before completion 2"}},
	Service: readBy(func(p *readPart, e *readEntry) fate {
		switch {
		case e.state == txnUndecided:
			return awaited
		case e.state == txnCommitted || p.hasCommitted(e.txn>>32):
			return shown
		}
		return skipped
	}),
}

var beginNotKnownYet = Defect{
	Name: "begin-not-known-yet", Kind: &ReadSide, Modes: []string{"two-phase-commit"},
	Says: "where no transaction is known to be open, readers get all that is there, and a begin " +
		"is known with the second write",
	Origin:   "redpanda-data/redpanda#10671",
	Property: "atomic-visibility",
	Shown: Case{Topology: "pipeline", Records: 1,
		Plan: []string{"crash coordinator/0 before completion 1"}},
	Service: readBy(func(p *readPart, e *readEntry) fate {
		switch {
		case e.state == txnCommitted || e.state == txnUndecided && p.entriesOf(e.txn) == 1:
			return shown
		case e.state == txnUndecided:
			return awaited
		}
		return skipped
	}),
}

var readerPassesUndecided = Defect{
	Name: "reader-passes-undecided", Kind: &ReadSide, Modes: []string{"two-phase-commit"},
	Says: "a reader goes on behind what is decided, and what was undecided before it is never " +
		"read",
	Origin:     "ThreeDotsLabs/watermill#311",
	IsKindOnly: true,
	Property:   "at-least-once",
	Shown: Case{Topology: "pipeline", Records: 3, Set: everyMillisecond,
		Plan: []string{"crash coordinator/0 after completion 1",
			"lose request of commit-txn 1 from sink/0"}},
	Service: readBy(func(p *readPart, e *readEntry) fate {
		switch {
		case e.state == txnCommitted:
			return shown
		case e.state == txnUndecided && !p.isDecidedBehind():
			return awaited
		}
		return skipped
	}),
}

// fate is what a reader does with the next entry of a log.
type fate uint8

const (
	shown   fate = iota // it gets it
	skipped             // it goes on without it
	awaited             // it stops there for now
)

// The states of the transaction of an entry.
const (
	txnUndecided = iota
	txnCommitted
	txnAborted
)

// readEntry is an entry of a partition: a record, its transaction and the state of that.
type readEntry struct {
	rec   model.Record
	txn   int64 // transactional id
	state int64
}

// readPart is a partition as its readers are to see it.
//
//	entries  the log
//	next     the entry that comes next
//	got      what they have got, and where it is
type readPart struct {
	entries []readEntry
	next    int64
	got     []model.Record
	places  []int64
}

// txnReader stands in front of a transactional log and answers readers in its place, by a rule of
// its own. What is decided it sees by the list of the log, before each request and behind it: the
// log also decides by itself, when a transaction is past its time or its id is used again.
type txnReader struct {
	behind
	rule  func(p *readPart, e *readEntry) fate
	parts []readPart
}

// readBy has readers of the external system get what a rule says.
func readBy(rule func(*readPart, *readEntry) fate) func(model.ServiceID,
	model.Service) model.Service {
	return only(model.External, func(s behind) model.Service {
		return &txnReader{behind: s, rule: rule}
	})
}

// Reset implements model.Service.
func (r *txnReader) Reset() {
	r.Service.Reset()
	r.parts = nil
}

// Serve implements model.Service.
func (r *txnReader) Serve(now int64, req *model.Message, ans *model.Answer) {
	r.look(now, txnAborted)
	if req.Kind == model.Read { // whose cursor counts what these readers have got
		r.read(req, ans)
		return
	}
	r.Service.Serve(now, req, ans)
	switch {
	case ans.Outcome != model.Done:
	case req.Kind == model.Write:
		p := r.part(req.Seq)
		p.entries = append(p.entries, readEntry{rec: req.Record, txn: req.Token})
	case req.Kind == model.BeginTxn: // the one before it under its id is aborted by that
		r.part(int64(req.Channel)).decide(txnAborted, func(txn int64) bool {
			return txn == req.Token
		})
	case req.Kind == model.CommitTxn:
		r.look(now, txnCommitted)
	default:
		r.look(now, txnAborted)
	}
}

// look takes what was undecided and is not on the list of the log to be decided as is said.
func (r *txnReader) look(now, state int64) {
	for i := range r.parts {
		if !r.parts[i].isWaiting() {
			continue
		}
		var ans model.Answer
		r.Service.Serve(now, &model.Message{Kind: model.ListTxns, Channel: int16(i)}, &ans)
		r.parts[i].decide(state, func(txn int64) bool {
			return !slices.ContainsFunc(ans.Records, func(rec model.Record) bool {
				return rec.ID.Offset == txn
			})
		})
	}
}

// part is a partition of that number.
func (r *txnReader) part(n int64) *readPart {
	for int64(len(r.parts)) <= n {
		r.parts = append(r.parts, readPart{})
	}
	return &r.parts[n]
}

// read answers with what readers get, from a cursor on.
func (r *txnReader) read(req *model.Message, ans *model.Answer) {
	p := r.part(req.Seq)
	for ; p.next < int64(len(p.entries)); p.next++ {
		e := &p.entries[p.next]
		fate := r.rule(p, e)
		if fate == awaited {
			break
		}
		if fate == shown {
			p.got, p.places = append(p.got, e.rec), append(p.places, p.next)
		}
	}
	ans.Seq, ans.Records, ans.Places = req.Cursor, p.got[req.Cursor:], p.places[req.Cursor:]
	ans.N = int64(len(ans.Records))
}

// decide decides those undecided transactions that are chosen.
func (p *readPart) decide(state int64, isChosen func(txn int64) bool) {
	for i := range p.entries {
		if e := &p.entries[i]; e.state == txnUndecided && isChosen(e.txn) {
			e.state = state
		}
	}
}

// isWaiting reports whether anything is undecided.
func (p *readPart) isWaiting() bool {
	return slices.ContainsFunc(p.entries, func(e readEntry) bool { return e.state == txnUndecided })
}

// hasCommitted reports whether a transaction of an attempt is committed.
func (p *readPart) hasCommitted(attempt int64) bool {
	for i := range p.entries {
		if e := &p.entries[i]; e.txn>>32 == attempt && e.state == txnCommitted {
			return true
		}
	}
	return false
}

// entriesOf is how many entries a transaction has.
func (p *readPart) entriesOf(txn int64) (n int) {
	for i := range p.entries {
		if p.entries[i].txn == txn {
			n++
		}
	}
	return n
}

// isDecidedBehind reports whether anything behind the next entry is decided.
func (p *readPart) isDecidedBehind() bool {
	for _, e := range p.entries[p.next:] {
		if e.state != txnUndecided {
			return true
		}
	}
	return false
}

// State implements model.Service. What readers were handed they keep: what is restored is new.
func (r *txnReader) State(c *model.Codec) {
	r.Service.State(c)
	if c.IsDecoding() {
		r.parts = nil
	}
	model.Slice(c, &r.parts, func(p *readPart) {
		model.Slice(c, &p.entries, func(e *readEntry) {
			c.Record(&e.rec)
			c.Int64(&e.txn)
			c.Int64(&e.state)
		})
		c.Int64(&p.next)
		model.Slice(c, &p.got, c.Record)
		model.Slice(c, &p.places, c.Int64)
	})
}
