package oracle

import (
	"slices"

	"github.com/oncesim/oncesim/model"
)

// reading is what the external system does that requests and answers do not tell: whether readers
// wait for commits, and whether a batch leaves out what is there already.
type reading struct {
	isUncommitted bool
	isByIdentity  bool
}

// readings are those that are tried: the first under which readers saw what was accepted counts.
var readings = [...]reading{{}, {isUncommitted: true}, {isByIdentity: true}}

// fate is what becomes of a transaction.
type fate uint8

const (
	undecided fate = iota
	committed
	aborted
)

// bundle is what should become visible in one step: a transaction, or a batch.
type bundle struct {
	part       int64
	id         int64 // transactional id; of the batch
	checkpoint int64 // what it belongs to, or 0
	writes     []int // what it holds: places in its partition
	fate       fate
	decided    int // so many polls had begun before

	isTxn      bool
	isPrepared bool
	vote       int64 // the checkpoint that it was prepared for, as the participant was told, or 0
	attempt    int32 // that prepared it
	isEarly    bool  // it was committed, and nobody had decided that
	deadline   int64 // after which it is aborted, or 0
}

// bundleKey is what bundles are called by.
type bundleKey struct{ part, id int64 }

// external is the external system as it follows from the requests that it has served.
type external struct {
	reading   reading
	logs      [][]visible           // per partition, of a log: every entry
	bundles   []*bundle             // in the order of their begin
	txns      map[bundleKey]*bundle // the latest of each id
	rows      map[int64][]int64     // by the invocation of a batch: the delivery behind each row
	decisions []decision
	polls     int // that readers have begun
	isPolling bool
}

// decision is that a checkpoint was completed, or a batch planned.
type decision struct {
	id      int64
	attempt int32
	isPlan  bool
}

// tells notes a decision, or a vote. One that is forgotten later was told all the same.
func (r *run) tells(e *model.Entry) {
	switch {
	case e.Ans.Outcome != model.Done:
	case e.Msg.Kind == model.PlanBatch, e.Msg.Kind == model.Completion:
		isPlan := e.Msg.Kind == model.PlanBatch
		r.decisions = append(r.decisions, decision{e.Msg.Seq, e.Attempt, isPlan})
	case e.Msg.Kind == model.PrepareTxn:
		if t := r.txns[bundleKey{int64(e.Msg.Channel), e.Msg.Token}]; t != nil {
			t.vote, t.attempt = e.Msg.Seq, e.Attempt
		}
	}
}

// isTooEarly reports whether nothing so far says that a bundle is to be committed: there is no plan
// of its batch, and no completion of its checkpoint or of a later one, by the attempt that prepared
// it if all tasks have the same. It can be said where the state is in checkpoints.
func (r *run) isTooEarly(b *bundle) bool {
	if r.o.mode.State != model.Snapshotted {
		return false
	}
	vote := b.checkpoint
	if b.isTxn {
		vote = b.vote
	}
	return vote == 0 || !slices.ContainsFunc(r.decisions, func(d decision) bool {
		if d.isPlan {
			return d.id == vote
		}
		isMine := !b.isTxn || r.o.mode.RestartOf(r.o.job) != model.RestartJob ||
			d.attempt == b.attempt
		return d.id >= vote && isMine
	})
}

func newExternal(o *Oracle) external {
	return external{txns: map[bundleKey]*bundle{}, rows: map[int64][]int64{},
		logs: make([][]visible, o.job.SinkPart)}
}

// feed is everything that a partition of the external system has taken, in order: entries of a
// log, or what rows of a table became.
func (r *run) feed(part int64) *[]visible {
	if r.o.shape == model.Log {
		return &r.logs[part]
	}
	return &r.tables[part].feed
}

// wrote makes a record part of the external system.
func (r *run) wrote(e *model.Entry, rec *model.Record, delivered int64, of *bundle) {
	s := visible{rec: *rec, n: e.N, of: of, delivered: delivered,
		flaw: r.flawOfDelivery(delivered, rec)}
	if delivered != 0 {
		s.by = r.nodes[r.sendOf(delivered)].app
	}
	feed := r.feed(e.Msg.Seq)
	before := len(*feed)
	if r.o.shape == model.Log {
		s.place = int64(before)
		*feed = append(*feed, s)
	} else {
		r.becomesVisible(&s)
		r.tables[e.Msg.Seq].write(s)
	}
	if of != nil && len(*feed) > before {
		of.writes = append(of.writes, before)
	}
}

// batched finds what the rows of a batch are to the life that writes it.
func (r *run) batched(l *life, e *model.Entry) {
	for i := range e.Msg.Parts {
		r.rows[e.N] = append(r.rows[e.N], r.brought(l, &e.Msg.Parts[i]))
	}
}

// wroteBatch carries out a batch that was accepted.
func (r *run) wroteBatch(e *model.Entry, rows []int64) {
	b := &bundle{part: e.Msg.Seq, id: e.Msg.Token, checkpoint: e.Msg.Token, fate: committed,
		decided: r.polls}
	r.bundles = append(r.bundles, b)
	for i := range e.Msg.Parts {
		rec := &e.Msg.Parts[i]
		if r.reading.isByIdentity && r.holds(e.Msg.Seq, rec) {
			if r.isThere(e.Msg.Seq, rec) {
				r.nodes[rows[i]].written = true
			}
			continue
		}
		b.isEarly = r.isTooEarly(b)
		r.wrote(e, rec, rows[i], b)
	}
}

// knew notes that the external system has what a batch brings.
func (r *run) knew(e *model.Entry, rows []int64) {
	for i := range e.Msg.Parts {
		if r.isThere(e.Msg.Seq, &e.Msg.Parts[i]) {
			r.nodes[rows[i]].written = true
		}
	}
}

// isThere reports whether a partition has, or had, a record as it is.
func (r *run) isThere(part int64, rec *model.Record) bool {
	return slices.ContainsFunc(*r.feed(part), func(s visible) bool { return s.rec == *rec })
}

// holds reports whether a partition has an identity.
func (r *run) holds(part int64, rec *model.Record) bool {
	for i := range *r.feed(part) {
		if (*r.feed(part))[i].rec.Same(*rec) {
			return true
		}
	}
	return false
}

// transact carries out what a request about a transaction did.
func (r *run) transact(e *model.Entry) {
	at := bundleKey{int64(e.Msg.Channel), e.Msg.Token}
	t := r.txns[at]
	switch {
	case e.Msg.Kind == model.InitTxn, e.Msg.Kind == model.BeginTxn:
		if t != nil && t.fate == undecided {
			r.decide(t, aborted)
		}
		if e.Msg.Kind == model.BeginTxn {
			r.begin(e, at)
		}
	case e.Msg.Kind == model.CommitTxn && e.Msg.Flags&model.Whole != 0:
		r.decideUpTo(e.Msg.Seq)
	case t == nil:
	case e.Msg.Kind == model.PrepareTxn:
		t.isPrepared, t.checkpoint = true, e.Msg.Seq
	case e.Msg.Kind == model.CommitTxn:
		if !t.isPrepared {
			t.checkpoint = e.Msg.Seq
		}
		t.isEarly = r.isTooEarly(t)
		r.decide(t, committed)
	case e.Msg.Kind == model.AbortTxn:
		r.decide(t, aborted)
	}
}

// decideUpTo decides all that is prepared, checkpoint by checkpoint up to one: whoever has lost a
// part of a checkpoint gets none of it.
func (r *run) decideUpTo(last int64) {
	fates := map[int64]fate{}
	for _, b := range r.bundles {
		if b.isTxn && b.fate == aborted && b.checkpoint != 0 {
			fates[b.checkpoint] = aborted
		}
	}
	for _, b := range r.bundles {
		if !b.isTxn || b.fate != undecided || !b.isPrepared || b.checkpoint > last {
			continue
		}
		if fates[b.checkpoint] == aborted {
			r.decide(b, aborted)
		} else {
			b.isEarly = r.isTooEarly(b)
			r.decide(b, committed)
		}
	}
}

func (r *run) begin(e *model.Entry, at bundleKey) {
	t := &bundle{part: at.part, id: at.id, isTxn: true}
	if e.Msg.Cursor > 0 {
		t.deadline = e.At + e.Msg.Cursor
	}
	r.txns[at] = t
	r.bundles = append(r.bundles, t)
}

func (r *run) decide(t *bundle, f fate) { t.fate, t.decided = f, r.polls }

// expire aborts the transactions that are past their time when a request is served, or readers
// read.
func (r *run) expire(now int64) {
	for _, b := range r.bundles {
		if b.isTxn && b.fate == undecided && b.deadline > 0 && now > b.deadline {
			r.decide(b, aborted)
		}
	}
}

// observed notes which entry a reader saw. All that it sees in a row is one poll.
func (r *run) observed(e *model.Entry) {
	r.seen = append(r.seen, e)
	if !r.isPolling {
		r.expire(e.At)
		r.isPolling = true
		r.polls++
	}
	feed, place := *r.feed(e.Msg.N), e.Msg.Seq
	if r.o.shape != model.Log {
		place = int64(r.tables[e.Msg.N].read) // the seq is that of the row
		r.tables[e.Msg.N].read++
	}
	if place < int64(len(feed)) && feed[place].seen == 0 {
		feed[place].seen = r.polls
	}
}

// show takes from the logs what is visible in the end.
func (r *run) show() {
	for part := range r.logs {
		for i := range r.logs[part] {
			s := &r.logs[part][i]
			if !r.reading.isUncommitted && s.of != nil && s.of.fate != committed {
				if s.of.fate == undecided {
					break // readers wait for it: the last stable offset
				}
				continue
			}
			r.becomesVisible(s)
			for _, again := range s.again {
				r.nodes[again].written = true
			}
			r.shown[part] = append(r.shown[part], *s)
		}
	}
}

// becomesVisible notes that what a delivery brought is visible, unless the sink wrote something
// else. Of event 0 nobody asks.
func (r *run) becomesVisible(s *visible) {
	if s.delivered == 0 || r.entry(s.delivered).Msg.Record == s.rec {
		r.nodes[s.delivered].written = true
	}
}

// repeated notes a write whose record is there already, or in its transaction. Of one that was only
// said to be there it notes nothing: the version of a row may be that of another output.
func (r *run) repeated(e *model.Entry, delivered int64) {
	t := r.txns[bundleKey{e.Msg.Seq, e.Msg.Token}]
	if t == nil {
		if r.isThere(e.Msg.Seq, &e.Msg.Record) {
			r.nodes[delivered].written = true
		}
		return
	}
	for _, place := range t.writes {
		if s := &r.logs[e.Msg.Seq][place]; s.rec.Same(e.Msg.Record) {
			s.again = append(s.again, delivered)
		}
	}
}
