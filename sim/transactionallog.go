package sim

import (
	"fmt"

	"github.com/oncesim/oncesim/model"
)

// TransactionalLog is the external sink of two-phase commit, as a reader of committed data sees it:
// in the order of the log, up to the last stable offset, without what was aborted.
//
// Kafka's rules: the last stable offset is the first one of the oldest undecided transaction
// (ProducerStateManager.firstUnstableOffset), also for what was written outside any transaction; a
// transactional id that is initialised again aborts what is open under it and opens nothing
// (TransactionCoordinator, handleInitProducerId; a repeated request is known, as in KIP-360), and
// each transaction has an epoch of its own (KIP-890); what is undecided when its time is over is
// aborted (abortTimedOutTransactions). That goes for what is prepared as well: to
// Kafka a transaction that is flushed and waits for its checkpoint is one like any other.
var TransactionalLog = model.SinkSpec{
	Name:  "transactional-log",
	Says:  "a partitioned log with transactions: readers see what is committed",
	Shape: model.Log, Transactional: true,
	New: func(partitions int) model.Service { return newTransactionalLog(partitions, true) },
}

// TransactionalLogUncommitted is the same log as a reader of uncommitted data sees it: every entry,
// as soon as it is written, and for good.
var TransactionalLogUncommitted = model.SinkSpec{
	Name:  "transactional-log-uncommitted",
	Says:  "the transactional log to a reader that does not wait for the commit",
	Shape: model.Log, Transactional: true,
	New: func(partitions int) model.Service { return newTransactionalLog(partitions, false) },
}

// transactionalLog is a partitioned log.
//
//	readCommitted  readers see committed entries only
//	due            no transaction is past its time until after then
//	listed         what callers were handed of lists, one after the other
type transactionalLog struct {
	parts         []txnPartition
	readCommitted bool
	due           int64
	listed        []model.Record
}

// never is when the transactions without a timeout are past their time.
const never = 1<<63 - 1

func newTransactionalLog(partitions int, readCommitted bool) *transactionalLog {
	l := &transactionalLog{parts: make([]txnPartition, partitions), readCommitted: readCommitted,
		due: never}
	for i := range l.parts {
		l.parts[i].latest = map[int64]int32{}
	}
	return l
}

// Reset implements model.Service.
func (l *transactionalLog) Reset() {
	l.due, l.listed = never, l.listed[:0]
	for i := range l.parts {
		l.parts[i].reset()
	}
}

// Serve implements model.Service. Before anything else, what is past its time is aborted.
func (l *transactionalLog) Serve(now int64, req *model.Message, ans *model.Answer) {
	if now > l.due {
		l.abortOverdue(now)
	}
	if req.Flags&model.Fenced != 0 && !l.admits(req) {
		ans.Outcome = model.Refused
		return
	}
	switch req.Kind {
	case model.Read:
		l.parts[req.Seq].read(l.readCommitted, req, ans)
	case model.Write, model.WriteBatch:
		l.parts[req.Seq].write(req, ans)
	case model.BeginTxn:
		l.begin(now, req, ans)
	case model.ListTxns:
		l.list(req, ans)
	case model.InitTxn:
		l.parts[req.Channel].init(req, ans)
	case model.CommitTxn:
		if req.Flags&model.Whole != 0 {
			l.commitAll(req, ans)
			return
		}
		l.parts[req.Channel].end(req, ans)
	case model.PrepareTxn, model.AbortTxn:
		l.parts[req.Channel].end(req, ans)
	default:
		panic(fmt.Sprintf("sim: the transactional log does not serve %s", req.Kind))
	}
}

// nextDue implements timed.
func (l *transactionalLog) nextDue() int64 { return l.due }

// admits raises the fence of the partitions that a request is about to its attempt, and reports
// false, and raises none, if that is below one of them.
func (l *transactionalLog) admits(req *model.Message) bool {
	parts := l.parts
	switch {
	case req.Kind == model.Write || req.Kind == model.WriteBatch || req.Kind == model.Read:
		parts = parts[req.Seq : req.Seq+1]
	case req.Flags&model.Whole == 0:
		parts = parts[req.Channel : req.Channel+1]
	}
	for i := range parts {
		if req.Attempt < parts[i].fence {
			return false
		}
	}
	for i := range parts {
		parts[i].fence = req.Attempt
	}
	return true
}

// begin begins a transaction; the answer's Seq is its epoch.
func (l *transactionalLog) begin(now int64, req *model.Message, ans *model.Answer) {
	if req.Token == 0 || req.Cursor < 0 {
		panic(fmt.Sprintf("sim: transaction %d with timeout %d", req.Token, req.Cursor))
	}
	deadline := int64(never)
	if req.Cursor > 0 {
		deadline = now + req.Cursor
	}
	l.due = min(l.due, deadline)
	l.parts[req.Channel].begin(req, deadline, ans)
}

// abortOverdue aborts the undecided transactions whose time is over, and finds out which is next.
func (l *transactionalLog) abortOverdue(now int64) {
	l.due = never
	for i := range l.parts {
		p := &l.parts[i]
		p.decide(txnAborted, func(t *txn) bool { return now > t.deadline })
		for _, index := range p.undecided {
			l.due = min(l.due, p.txns[index].deadline)
		}
	}
}

// commitAll decides what is prepared for a checkpoint, or an earlier one, in all partitions at
// once: of each checkpoint all is committed, or, where a part of it is gone, the rest aborted. The
// answer's N is how many transactions were given up like that.
func (l *transactionalLog) commitAll(req *model.Message, ans *model.Answer) {
	isPrepared := func(t *txn) bool { return t.state == txnPrepared && t.checkpoint <= req.Seq }
	lost, made := 0, 0
	for i := range l.parts {
		lost += l.parts[i].decide(txnAborted, func(t *txn) bool {
			return isPrepared(t) && l.hasAborted(t.checkpoint)
		})
	}
	for i := range l.parts {
		made += l.parts[i].decide(txnCommitted, isPrepared)
	}
	ans.N = int64(lost)
	switch {
	case lost+made > 0:
	case l.hasAborted(req.Seq):
		ans.Outcome = model.Stale
	default:
		ans.Outcome = model.DoneBefore
	}
}

// hasAborted reports whether a transaction that was prepared for a checkpoint has been aborted.
func (l *transactionalLog) hasAborted(checkpoint int64) bool {
	for i := range l.parts {
		if l.parts[i].hasAborted(checkpoint) {
			return true
		}
	}
	return false
}

// list answers with the undecided transactions of a partition, in the order of their begin.
func (l *transactionalLog) list(req *model.Message, ans *model.Answer) {
	p, from := &l.parts[req.Channel], len(l.listed)
	for _, index := range p.undecided {
		t := &p.txns[index]
		rec := model.Record{ID: model.ID{Part: int32(req.Channel), Offset: t.id},
			Path: model.Path(t.epoch)}
		if t.state == txnPrepared {
			rec.Op, rec.Value.Num = 1, t.checkpoint
		}
		l.listed = append(l.listed, rec)
	}
	ans.Records = l.listed[from:len(l.listed):len(l.listed)]
	ans.N = int64(len(ans.Records))
}

// State implements model.Service.
func (l *transactionalLog) State(c *model.Codec) {
	if c.IsDecoding() {
		l.listed = nil // whoever was handed some of it keeps it
	}
	c.Int64(&l.due)
	for i := range l.parts {
		l.parts[i].state(c)
	}
}
