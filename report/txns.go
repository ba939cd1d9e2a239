package report

import (
	"fmt"

	"github.com/oncesim/oncesim/model"
)

// txnName is the identity of a transaction: where it is, under which id, and which one of that id.
type txnName struct{ part, id, epoch int64 }

// txn is what the trace says of one transaction of the external log.
type txn struct {
	txnName
	proc       model.ProcID // who began it
	attempt    int32
	checkpoint int64 // for which it was prepared
	deadline   int64 // virtual ns; 0: none
	begun      int64 // events, here and below; 0: it never came to that
	prepared   int64
	committed  int64
	aborted    int64 // a request aborted it
	superseded int64 // its id was taken over, or another one was begun under it
	overdue    int64 // the first event of the external log, or the last of all, after its time
	forgotten  int64 // the first commit that was acknowledged and is gone
	refused    int64 // the first commit that was refused, or found it over
}

// isUndecided reports whether nobody and nothing had ended the transaction by an event.
func (x *txn) isUndecided(by int64) bool {
	for _, n := range []int64{x.committed, x.aborted, x.superseded, x.overdue} {
		if n != 0 && n <= by {
			return false
		}
	}
	return true
}

// String is the id as the log's user makes it: an attempt and a number within it, or a number of a
// pool, with the epoch.
func (x txnName) String() string {
	switch {
	case x.id >= 1<<32 && x.epoch <= 1:
		return fmt.Sprintf("%d.%d", x.id>>32, x.id&(1<<32-1))
	case x.id >= 1<<32:
		return fmt.Sprintf("%d.%d/%d", x.id>>32, x.id&(1<<32-1), x.epoch)
	case x.epoch == 0:
		return fmt.Sprint(x.id)
	}
	return fmt.Sprintf("%d/%d", x.id, x.epoch)
}

// isTxnKind reports whether a request of a kind is about transactions and nothing else.
func isTxnKind(k model.Kind) bool {
	switch k {
	case model.BeginTxn, model.PrepareTxn, model.CommitTxn, model.AbortTxn:
		return true
	}
	return false
}

// findTxns follows the transactions through the trace. The reading in the end finds aborted what is
// past its time by then, also where it reads nothing.
func (t *tape) findTxns() {
	t.txnAt = map[int64]*txn{}
	for i := range t.entries {
		e := &t.entries[i]
		isRead := e.Kind == model.EntryObserve || e.Kind == model.EntryEnd
		if !isRead && (e.Kind != model.EntryServe || e.Service != model.External) {
			continue
		}
		t.expire(e)
		switch {
		case isRead:
		case e.Msg.Kind == model.InitTxn && tookEffect(e):
			t.supersede(e)
		case e.Msg.Kind == model.BeginTxn && tookEffect(e):
			t.begin(e)
		case isTxnKind(e.Msg.Kind), e.Msg.Kind == model.Write:
			t.follow(e)
		}
	}
}

// expire notes which transactions the log aborts before it serves e.
func (t *tape) expire(e *model.Entry) {
	for _, x := range t.txns {
		if x.deadline > 0 && x.deadline < e.At && x.isUndecided(e.N) {
			x.overdue = e.N
		}
	}
}

func (t *tape) begin(e *model.Entry) {
	x := &txn{txnName: txnName{int64(e.Msg.Channel), e.Msg.Token, e.Ans.Seq}, proc: e.Proc,
		attempt: e.Attempt, begun: e.N}
	if e.Msg.Cursor > 0 {
		x.deadline = e.At + e.Msg.Cursor
	}
	t.supersede(e)
	t.txns = append(t.txns, x)
	t.txnAt[e.N] = x
}

// supersede notes what is undecided under an id that is taken over, or has another transaction.
func (t *tape) supersede(e *model.Entry) {
	for _, old := range t.txns {
		if old.part == int64(e.Msg.Channel) && old.id == e.Msg.Token && old.isUndecided(e.N) {
			old.superseded = e.N
		}
	}
}

// follow takes a request that is about a transaction, or all of a checkpoint.
func (t *tape) follow(e *model.Entry) {
	if e.Msg.Kind == model.CommitTxn && e.Msg.Flags&model.Whole != 0 {
		if tookEffect(e) {
			t.followWhole(e)
		}
		return
	}
	part := int64(e.Msg.Channel)
	if e.Msg.Kind == model.Write {
		part = e.Msg.Seq
	}
	x := t.newest(part, e.Msg.Token, e.Msg.N)
	if x == nil {
		return
	}
	t.txnAt[e.N] = x
	switch {
	case e.Msg.Kind == model.CommitTxn && x.refused == 0 &&
		(e.Outcome == model.Refused || e.Outcome == model.Stale):
		x.refused = e.N
	case e.Msg.Kind == model.CommitTxn && e.Detail == isForgotten && x.forgotten == 0:
		x.forgotten = e.N
	case !tookEffect(e):
	case e.Msg.Kind == model.PrepareTxn:
		x.prepared, x.checkpoint = e.N, e.Msg.Seq
	case e.Msg.Kind == model.CommitTxn:
		x.committed = e.N
	case e.Msg.Kind == model.AbortTxn:
		x.aborted = e.N
	}
}

// followWhole takes a commit of all up to a checkpoint: where a part of one was aborted, the rest
// of it is too.
func (t *tape) followWhole(e *model.Entry) {
	gone := map[int64]bool{}
	for _, x := range t.txns {
		if x.prepared != 0 && x.committed == 0 && !x.isUndecided(e.N) {
			gone[x.checkpoint] = true
		}
	}
	for _, x := range t.txns {
		switch {
		case x.prepared == 0 || x.checkpoint > e.Msg.Seq || !x.isUndecided(e.N):
		case gone[x.checkpoint]:
			x.aborted = e.N
		default:
			x.committed = e.N
		}
	}
}

// newest is the transaction begun last under an id, or nil; with an epoch other than 0 it must be
// that one.
func (t *tape) newest(part, id, epoch int64) *txn {
	for i := len(t.txns) - 1; i >= 0; i-- {
		if x := t.txns[i]; x.part == part && x.id == id {
			if epoch != 0 && epoch != x.epoch {
				return nil
			}
			return x
		}
	}
	return nil
}

// txnOf is the transaction that an event is about, by the request that it belongs to, or nil.
func (t *tape) txnOf(e *model.Entry) *txn {
	if x := t.txnAt[e.N]; x != nil {
		return x
	}
	call := t.callOf(e.N)
	if call == nil || call.Served == 0 {
		return nil
	}
	return t.txnAt[call.Served]
}

// txnName is how a transaction that an event is about is written, or "": of a request that was not
// served, by what it says.
func (t *tape) txnName(e *model.Entry) string {
	isWrite := e.Msg.Kind == model.Write && len(t.txns) > 0 && e.Msg.Token != 0
	if !isWrite && !isTxnKind(e.Msg.Kind) || e.Msg.Flags&model.Whole != 0 {
		return ""
	}
	if x := t.txnOf(e); x != nil {
		return x.String()
	}
	return txnName{id: e.Msg.Token, epoch: e.Msg.N}.String()
}

// txn names a transaction: "transaction 1.2 of sink/0".
func (s *story) txn(x *txn) string {
	return fmt.Sprintf("transaction %s of %s", x, s.t.name(x.proc))
}

// fate is a clause on how a transaction ended by an event: "was aborted at event 7 by attempt 2".
func (s *story) fate(x *txn, by int64) string {
	is := func(n int64) bool { return n != 0 && n <= by }
	switch {
	case is(x.committed):
		return "was committed at " + s.at(x.committed) + s.strayed(x, x.committed)
	case is(x.aborted) && s.t.at(x.aborted).Msg.Kind == model.CommitTxn:
		return fmt.Sprintf("was given up at %s, since another transaction of %s was aborted",
			s.at(x.aborted), s.t.cutName(x.checkpoint))
	case is(x.aborted):
		return fmt.Sprintf("was aborted by attempt %d of %s at %s%s", s.t.at(x.aborted).Attempt,
			s.t.name(s.t.at(x.aborted).Proc), s.at(x.aborted), s.strayed(x, x.aborted))
	case is(x.superseded) && s.t.at(x.superseded).Msg.Kind == model.InitTxn:
		return "was aborted when its id was initialised at " + s.at(x.superseded)
	case is(x.superseded):
		return "was aborted when another one was begun under its id at " + s.at(x.superseded)
	case is(x.overdue):
		return fmt.Sprintf("was aborted by the log at %s, after %s", clock(x.deadline),
			duration(x.deadline-s.t.at(x.begun).At))
	case is(x.forgotten):
		return fmt.Sprintf("was not committed: the log acknowledged the commit at %s and forgot it",
			s.at(x.forgotten))
	case is(x.prepared):
		return "was prepared at " + s.at(x.prepared) + " and not decided"
	}
	return "was open"
}

// strayed is a clause on a request that ended a transaction and was sent before that was begun, or
// "": it came late, and found the next one under its id.
func (s *story) strayed(x *txn, ended int64) string {
	call := s.t.callOf(ended)
	if call == nil || call.Invoked >= x.begun || call.Req.Flags&model.Whole != 0 {
		return ""
	}
	return fmt.Sprintf(" by a request that was sent at %s%s for the transaction before it under "+
		"that id", s.at(call.Invoked), s.heldUp(s.t.at(ended)))
}

// whyOver is a sentence on the transaction that a life gave up on because a late request had ended
// it, or "".
func (s *story) whyOver(end *model.Entry) string {
	if end == nil || end.Kind != model.EntryGiveUp {
		return ""
	}
	last := s.t.findLast(0, end.N, func(e *model.Entry) bool {
		return e.Kind == model.EntryServe && isOf(e, end)
	})
	if last == nil || last.Outcome != model.Stale {
		return ""
	}
	x := s.t.txnOf(last)
	if x == nil || s.strayed(x, max(x.committed, x.aborted)) == "" {
		return ""
	}
	return capital(fmt.Sprintf("%s %s.", s.txn(x), s.fate(x, end.N)))
}
