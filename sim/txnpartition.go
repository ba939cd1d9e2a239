package sim

import (
	"slices"

	"github.com/oncesim/oncesim/model"
)

// txnState is how far a transaction has come.
type txnState uint8

const (
	txnOpen txnState = iota + 1
	txnPrepared
	txnCommitted
	txnAborted
)

// txn is one transaction of a partition.
type txn struct {
	state      txnState
	id         int64 // transactional id
	epoch      int64 // from 1, of the id
	attempt    int32 // that began it
	checkpoint int64 // for which it was prepared
	records    int64 // how many it holds
	deadline   int64
}

func (t *txn) isUndecided() bool { return t.state <= txnPrepared }

// txnPartition is a partition of the transactional log. Entries are only ever added, and so is what
// readers see of them: an entry is shown when it and all before it are decided.
//
//	fence         the highest attempt that asked with a fence
//	entries       the log
//	owners[i]     the transaction of an entry: an index in txns, or noTxn
//	txns          all transactions, in the order of their begin
//	undecided     those that are, in that order
//	latest[id]    the transaction begun last under an id
//	stable        entries before it are decided: the last stable offset
//	shown,places  the committed entries before it, and their offsets
type txnPartition struct {
	fence     int32
	entries   []model.Record
	owners    []int32
	txns      []txn
	undecided []int32
	latest    map[int64]int32
	stable    int
	shown     []model.Record
	places    []int64
}

// noTxn stands for an entry that was written outside any transaction.
const noTxn = int32(-1)

func (p *txnPartition) reset() {
	p.fence, p.stable = 0, 0
	p.entries, p.owners, p.txns = p.entries[:0], p.owners[:0], p.txns[:0]
	p.undecided, p.shown, p.places = p.undecided[:0], p.shown[:0], p.places[:0]
	clear(p.latest)
}

// read answers with what is shown, from a cursor on: it counts what was shown before.
func (p *txnPartition) read(committed bool, req *model.Message, ans *model.Answer) {
	ans.Seq = req.Cursor
	if committed {
		ans.Records, ans.Places = p.shown[req.Cursor:], p.places[req.Cursor:]
	} else {
		ans.Records = p.entries[req.Cursor:]
	}
	ans.N = int64(len(ans.Records))
}

// init takes an id over: what is undecided under it is aborted, and its next transaction has an
// epoch that none had before. An attempt does so once for an id; when it is asked again that is a
// copy, or comes late, and must not abort what the attempt has begun since.
func (p *txnPartition) init(req *model.Message, ans *model.Answer) {
	epoch := int64(1)
	if index, known := p.latest[req.Token]; known {
		before := &p.txns[index]
		if before.attempt == req.Attempt {
			ans.Outcome, ans.Seq = model.DoneBefore, before.epoch
			return
		}
		epoch = before.epoch + 1
		p.decideOne(before, txnAborted)
	}
	p.latest[req.Token] = int32(len(p.txns))
	p.txns = append(p.txns, txn{state: txnAborted, id: req.Token, epoch: epoch,
		attempt: req.Attempt, deadline: never})
	ans.Seq = epoch
}

// begin begins a transaction; the answer's Seq is its epoch. A caller that names the epoch, and
// repeats itself, has its first request answered again.
func (p *txnPartition) begin(req *model.Message, deadline int64, ans *model.Answer) {
	epoch := int64(1)
	if index, known := p.latest[req.Token]; known {
		before := &p.txns[index]
		epoch = before.epoch + 1
		if req.N == before.epoch && before.isUndecided() && before.attempt == req.Attempt {
			ans.Outcome, ans.Seq = model.DoneBefore, before.epoch
			return
		}
		if req.N == 0 || req.N == epoch {
			p.decideOne(before, txnAborted)
		}
	}
	if req.N != 0 && req.N != epoch {
		ans.Outcome = model.Stale
		return
	}
	index := int32(len(p.txns))
	p.txns = append(p.txns, txn{state: txnOpen, id: req.Token, epoch: epoch,
		attempt: req.Attempt, deadline: deadline})
	p.undecided, p.latest[req.Token] = append(p.undecided, index), index
	ans.Seq = epoch
}

// find returns the transaction that a request is about, or nil if its epoch is not the last one.
func (p *txnPartition) find(req *model.Message) *txn {
	index, known := p.latest[req.Token]
	if !known || req.N != 0 && req.N != p.txns[index].epoch {
		return nil
	}
	return &p.txns[index]
}

// write appends a record to a transaction, or outside any.
func (p *txnPartition) write(req *model.Message, ans *model.Answer) {
	ans.Seq = int64(len(p.entries))
	switch {
	case req.Kind == model.WriteBatch:
		for i := range req.Parts {
			p.add(&req.Parts[i], noTxn)
		}
	case req.Token == 0:
		p.add(&req.Record, noTxn)
	default:
		p.writeIn(p.find(req), req, ans)
	}
	p.settle()
}

// writeIn appends a record to a transaction that is open, in the order of its numbers.
func (p *txnPartition) writeIn(t *txn, req *model.Message, ans *model.Answer) {
	owner := p.latest[req.Token]
	switch {
	case t == nil || t.state != txnOpen || req.Cursor > t.records:
		ans.Outcome, ans.Seq = model.Stale, 0
	case req.Cursor >= 0 && req.Cursor < t.records:
		ans.Outcome, ans.Seq = model.DoneBefore, p.offset(owner, req.Cursor)
	default:
		t.records++
		p.add(&req.Record, owner)
	}
}

// offset is where the n-th record of a transaction is.
func (p *txnPartition) offset(owner int32, n int64) int64 {
	at := int64(0)
	for ; p.owners[at] != owner || n > 0; at++ {
		if p.owners[at] == owner {
			n--
		}
	}
	return at
}

func (p *txnPartition) add(rec *model.Record, owner int32) {
	p.entries, p.owners = append(p.entries, *rec), append(p.owners, owner)
}

// end prepares, commits or aborts a transaction, where its state lets it.
func (p *txnPartition) end(req *model.Message, ans *model.Answer) {
	t := p.find(req)
	switch {
	case t == nil:
		ans.Outcome = model.Stale
	case req.Kind == model.PrepareTxn:
		p.prepare(t, req.Seq, ans)
	case req.Kind == model.CommitTxn:
		p.endAs(t, txnCommitted, ans)
	default:
		p.endAs(t, txnAborted, ans)
	}
}

func (*txnPartition) prepare(t *txn, checkpoint int64, ans *model.Answer) {
	switch {
	case t.state == txnOpen:
		t.state, t.checkpoint = txnPrepared, checkpoint
	case t.state == txnPrepared && t.checkpoint == checkpoint:
		ans.Outcome = model.DoneBefore
	default:
		ans.Outcome = model.Stale
	}
}

func (p *txnPartition) endAs(t *txn, state txnState, ans *model.Answer) {
	switch {
	case t.isUndecided():
		p.decideOne(t, state)
	case t.state == state:
		ans.Outcome = model.DoneBefore
	default:
		ans.Outcome = model.Stale
	}
}

// decideOne decides a transaction, unless it is decided.
func (p *txnPartition) decideOne(t *txn, state txnState) {
	p.decide(state, func(other *txn) bool { return other == t })
}

// decide decides those undecided transactions that are chosen, and returns how many they are.
func (p *txnPartition) decide(state txnState, isChosen func(*txn) bool) (n int) {
	left := p.undecided[:0]
	for _, index := range p.undecided {
		t := &p.txns[index]
		if !isChosen(t) {
			left = append(left, index)
			continue
		}
		t.state = state
		n++
	}
	p.undecided = left
	p.settle()
	return n
}

// hasAborted reports whether a transaction that was prepared for a checkpoint has been aborted.
func (p *txnPartition) hasAborted(checkpoint int64) bool {
	return slices.ContainsFunc(p.txns, func(t txn) bool {
		return t.state == txnAborted && t.checkpoint == checkpoint
	})
}

// settle moves the last stable offset up to the first entry that is undecided.
func (p *txnPartition) settle() {
	for ; p.stable < len(p.entries); p.stable++ {
		state := txnCommitted
		if owner := p.owners[p.stable]; owner != noTxn {
			state = p.txns[owner].state
		}
		switch state {
		case txnOpen, txnPrepared:
			return
		case txnCommitted:
			p.shown = append(p.shown, p.entries[p.stable])
			p.places = append(p.places, int64(p.stable))
		}
	}
}

func (p *txnPartition) state(c *model.Codec) {
	c.Int32(&p.fence)
	model.Slice(c, &p.entries, c.Record)
	model.Slice(c, &p.owners, c.Int32)
	model.Slice(c, &p.txns, func(t *txn) {
		state := int32(t.state)
		c.Int32(&state)
		t.state = txnState(state)
		c.Int64(&t.id)
		c.Int64(&t.epoch)
		c.Int32(&t.attempt)
		c.Int64(&t.checkpoint)
		c.Int64(&t.records)
		c.Int64(&t.deadline)
	})
	if !c.IsDecoding() {
		return
	}
	p.undecided, p.stable, p.shown, p.places = p.undecided[:0], 0, p.shown[:0], p.places[:0]
	clear(p.latest)
	for i := range p.txns {
		p.latest[p.txns[i].id] = int32(i)
		if p.txns[i].isUndecided() {
			p.undecided = append(p.undecided, int32(i))
		}
	}
	p.settle()
}
