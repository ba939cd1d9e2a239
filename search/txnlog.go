package search

import (
	"slices"

	"github.com/oncesim/oncesim/model"
)

// txnLog follows a transactional log as far as it takes to say when a record can be seen by a
// reader of committed data: once it and all before it in its partition are decided (Kafka's last
// stable offset).
type txnLog struct {
	parts map[int64]*txnPart
}

// txnPart is a partition: its transactions, the newest of each id and those that are undecided, and
// the entries that are hidden.
type txnPart struct {
	latest    map[int64]*txn
	undecided []*txn
	hidden    []hiddenEntry
	gone      map[int64]bool // the checkpoints that a part was prepared for and aborted
}

type hiddenEntry struct {
	id  model.ID
	txn *txn // nil: written outside any
}

// txn is one transaction.
type txn struct {
	id, epoch, checkpoint int64
	deadline              int64 // 0: none
	isPrepared            bool
	isDone, isGood        bool // decided, committed
}

func newTxnLog() *txnLog { return &txnLog{parts: map[int64]*txnPart{}} }

// partOf is the partition that a request is about.
func partOf(req *model.Message) int64 {
	if req.Kind == model.Write || req.Kind == model.WriteBatch {
		return req.Seq
	}
	return int64(req.Channel)
}

// holds reports whether a write is hidden when it is served: it belongs to a transaction, or stands
// behind one that is undecided.
func (l *txnLog) holds(req *model.Message) bool {
	p := l.parts[partOf(req)]
	return p != nil && (p.find(req) != nil || len(p.hidden) > 0)
}

// find is the transaction that a request is about, or nil: the newest of its id, if it has the
// epoch.
func (p *txnPart) find(req *model.Message) *txn {
	if p == nil {
		return nil
	}
	t := p.latest[req.Token]
	if t == nil || req.N != 0 && req.N != t.epoch {
		return nil
	}
	return t
}

// decide decides the undecided transactions that are chosen.
func (p *txnPart) decide(at int64, isGood bool, isChosen func(*txn) bool,
	visible func(model.ID, int64)) {
	p.undecided = slices.DeleteFunc(p.undecided, func(t *txn) bool {
		if !isChosen(t) {
			return false
		}
		t.isDone, t.isGood = true, isGood
		if !isGood && t.isPrepared {
			p.gone[t.checkpoint] = true
		}
		return true
	})
	p.settle(at, visible)
}

// serve takes a request that was served; visible is told what can be seen from when on.
func (l *txnLog) serve(s *model.Serving, req *model.Message, visible func(model.ID, int64)) {
	if req.Kind.Service() != model.External {
		return
	}
	l.abortOverdue(s.At, visible)
	if s.Ans.Outcome != model.Done {
		return
	}
	p := l.parts[partOf(req)]
	switch req.Kind {
	case model.InitTxn:
		if p != nil {
			p.decide(s.At, false, func(t *txn) bool { return t.id == req.Token }, visible)
		}
	case model.BeginTxn:
		l.begin(s, req, visible)
	case model.Write:
		if l.holds(req) {
			p.hidden = append(p.hidden, hiddenEntry{req.Record.ID, p.find(req)})
		}
	case model.WriteBatch:
		if l.holds(req) {
			for i := range req.Parts {
				p.hidden = append(p.hidden, hiddenEntry{id: req.Parts[i].ID})
			}
		}
	case model.PrepareTxn:
		if t := p.find(req); t != nil {
			t.isPrepared, t.checkpoint = true, req.Seq
		}
	case model.CommitTxn, model.AbortTxn:
		l.end(s.At, req, visible)
	}
}

// begin begins a transaction; what is undecided under its id is aborted by that.
func (l *txnLog) begin(s *model.Serving, req *model.Message, visible func(model.ID, int64)) {
	p := l.parts[partOf(req)]
	if p == nil {
		p = &txnPart{latest: map[int64]*txn{}, gone: map[int64]bool{}}
		l.parts[partOf(req)] = p
	}
	p.decide(s.At, false, func(t *txn) bool { return t.id == req.Token }, visible)
	t := &txn{id: req.Token, epoch: s.Ans.Seq}
	if req.Cursor > 0 {
		t.deadline = s.At + req.Cursor
	}
	p.latest[t.id], p.undecided = t, append(p.undecided, t)
}

// end decides the transaction that a request is about, or all that it is about.
func (l *txnLog) end(at int64, req *model.Message, visible func(model.ID, int64)) {
	isGood := req.Kind == model.CommitTxn
	if req.Flags&model.Whole == 0 {
		p := l.parts[partOf(req)]
		if about := p.find(req); about != nil {
			p.decide(at, isGood, func(t *txn) bool { return t == about }, visible)
		}
		return
	}
	for _, isGood := range []bool{false, true} {
		for _, p := range l.parts {
			p.decide(at, isGood, func(t *txn) bool {
				return t.isPrepared && t.checkpoint <= req.Seq && isGood != l.isGone(t.checkpoint)
			}, visible)
		}
	}
}

// isGone reports whether a part of a checkpoint was aborted, so that the rest is to be.
func (l *txnLog) isGone(checkpoint int64) bool {
	for _, p := range l.parts {
		if p.gone[checkpoint] {
			return true
		}
	}
	return false
}

// abortOverdue aborts what is undecided past its time. Whoever reads after that finds it aborted.
func (l *txnLog) abortOverdue(now int64, visible func(model.ID, int64)) {
	for _, p := range l.parts {
		for _, t := range slices.Clone(p.undecided) {
			if t.deadline > 0 && t.deadline < now {
				p.decide(t.deadline, false, func(o *txn) bool { return o == t }, visible)
			}
		}
	}
}

// settle shows the entries up to the first one that is undecided.
func (p *txnPart) settle(at int64, visible func(model.ID, int64)) {
	for len(p.hidden) > 0 {
		e := &p.hidden[0]
		switch {
		case e.txn == nil || e.txn.isDone && e.txn.isGood:
			visible(e.id, at)
		case !e.txn.isDone:
			return
		}
		p.hidden = p.hidden[1:]
	}
}
