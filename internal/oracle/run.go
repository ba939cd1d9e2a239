package oracle

import (
	"fmt"

	"github.com/oncesim/oncesim/model"
)

// run is one run, followed through its trace. Event numbers index nodes; 0 is no event.
type run struct {
	o       *Oracle
	trace   []model.Entry
	nodes   []node
	lives   []*life
	told    []model.Life             // the lives of the history
	current []*life                  // per process: the latest
	apps    []*application           // of all lives, in order
	sends   map[model.Record][]int64 // transmissions, by what they carry
	store   map[slot]*version        // what the state store holds
	final   map[slot]*version        // the final states
	puts    []servedPut              // every put that it served
	outbox  map[outboxKey][]outboxRow
	snapshots
	external
	shown    [][]visible // what the external system holds, per partition; Keys: the feed
	tables   []table     // per partition, unless the external system is a log
	knows    []bool      // per process: it asks for the inputs that it has taken up
	legal    *legal
	possible *choices            // nil: all operators are deterministic
	seen     []*model.Entry      // what readers saw
	offset   []int64             // committed, per partition
	furthest []int64             // the furthest that was ever committed
	found    []Finding           // about the mechanism
	index    map[ident][]visible // shown, by identity
	left     int                 // of the tries that a search may make
	end      model.EndReason
	honest   bool // readers see in the end what the external system accepted
}

// node is what lineage adds to an event.
type node struct {
	app       *application // Send: whose output; Deliver: the last to handle it; put: whose state
	version   *version     // a served get: what it answers
	delivered int64        // a write: the delivery that it makes visible
	delivery  int64        // Send: where it was handled, the last time
	earlier   int64        // Deliver: where the other copy of a doubled message was handled before
	written   bool         // Deliver at a sink: it became visible as it is, or was there
	flaw      flaw         // Send
	isOther   bool         // Send: not what its step emitted, or what the input is
}

// visible is one entry of the external system.
type visible struct {
	rec       model.Record
	n         int64 // the event that wrote it
	by        *application
	flaw      flaw
	place     int64   // in its log
	of        *bundle // nil: it was written by itself
	delivered int64   // the delivery that it makes visible, or 0
	again     []int64 // deliveries whose write found it there
	seen      int     // the first poll of readers that saw it; 0: none did
}

// life is one life of a process.
type life struct {
	proc       model.ProcID
	attempt    int32
	nonce      uint64
	older      *life // of the same process
	ended      bool
	isReplaced bool    // a later life began while this one lived
	successor  int64   // when a later life of its process began
	toldEnd    []int32 // partitions of which the input log has answered it that they end
	memory     map[string]*version
	cut        cut
	flight     []inFlight
	deliveries []int64
	sends      []int64
	apps       []*application
}

func (l *life) remember(key string, v *version) {
	if l.memory == nil {
		l.memory = map[string]*version{}
	}
	l.memory[key] = v
}

// lastOn finds the last application of a life to an input, or nil.
func (l *life) lastOn(s step) *application {
	for i := len(l.apps) - 1; i >= 0; i-- {
		if stepOf(&l.apps[i].in) == s {
			return l.apps[i]
		}
	}
	return nil
}

// entry returns the event of a number.
func (r *run) entry(n int64) *model.Entry { return &r.trace[n-1] }

// lifeOf is the life whose event e is.
func (r *run) lifeOf(e *model.Entry) *life {
	for l := r.current[e.Proc]; l != nil; l = l.older {
		if l.attempt == e.Attempt {
			return l
		}
	}
	panic(fmt.Sprintf("oracle: event %d is of no life", e.N))
}

// follow walks through a trace and keeps what every judgement needs. What the external system does
// that nobody is told is found out by trying.
func follow(o *Oracle, trace []model.Entry, lives []model.Life) *run {
	var first *run
	for _, as := range readings {
		r := followAs(o, trace, lives, as)
		if len(r.bundles) == 0 || r.honest {
			return r
		}
		if first == nil {
			first = r
		}
	}
	return first
}

func followAs(o *Oracle, trace []model.Entry, lives []model.Life, as reading) *run {
	r := newRun(o, trace, lives)
	r.reading = as
	for i := range trace {
		if trace[i].N != int64(i+1) {
			panic(fmt.Sprintf("oracle: event %d at place %d of the trace", trace[i].N, i+1))
		}
		r.event(&trace[i])
	}
	if len(trace) > 0 {
		r.expire(trace[len(trace)-1].At)
	}
	if o.isRandom {
		r.possible = r.choices(int64(len(trace)) + 1)
		mine := enumerate(o.job, o.input, r.possible)
		r.legal = &mine
	}
	r.show()
	r.readTables()
	for _, part := range r.shown {
		for _, s := range part {
			id := identOf(&s.rec)
			r.index[id] = append(r.index[id], s)
		}
	}
	r.honest = r.isHonest()
	r.final = r.finals()
	return r
}

func newRun(o *Oracle, trace []model.Entry, lives []model.Life) *run {
	return &run{
		o: o, left: triesMax, trace: trace, nodes: make([]node, len(trace)+1),
		told: lives, legal: &o.legal,
		outbox:    map[outboxKey][]outboxRow{},
		tables:    newTables(o),
		knows:     make([]bool, len(o.job.Tasks)),
		current:   make([]*life, len(o.job.Tasks)),
		sends:     map[model.Record][]int64{},
		store:     map[slot]*version{},
		snapshots: newSnapshots(),
		external:  newExternal(o),
		shown:     make([][]visible, o.job.SinkPart),
		offset:    make([]int64, len(o.input.Parts)),
		furthest:  make([]int64, len(o.input.Parts)),
		index:     map[ident][]visible{},
	}
}

func (r *run) event(e *model.Entry) {
	r.isPolling = r.isPolling && e.Kind == model.EntryObserve
	switch e.Kind {
	case model.EntryStart:
		r.started(e)
	case model.EntryCrash, model.EntryGiveUp, model.EntryCancel:
		r.lifeOf(e).ended = true
	case model.EntrySend:
		if e.Msg.Kind == model.Barrier {
			r.passed(e)
		}
		r.sent(e)
	case model.EntryDeliver:
		if e.Msg.Kind == model.Data {
			l := r.lifeOf(e)
			l.deliveries = append(l.deliveries, e.N)
			sent := &r.nodes[r.sendOf(e.N)]
			r.nodes[e.N].earlier, sent.delivery = sent.delivery, e.N
		}
	case model.EntryInvoke:
		r.invoked(e)
	case model.EntryServe:
		r.served(e)
	case model.EntryAnswer:
		r.answered(e)
	case model.EntryApply:
		r.applied(e)
	case model.EntryObserve:
		r.observed(e)
	case model.EntryDrop, model.EntryPause, model.EntryResume, model.EntryLate, model.EntryLose,
		model.EntryDelay, model.EntryDouble, model.EntryTimer, model.EntryEnd:
	default:
		panic(fmt.Sprintf("oracle: trace entry of kind %d", e.Kind))
	}
}

// sendOf is the event that sent what a delivery brings. The copy of a doubled message comes of the
// doubling, and that of what was sent.
func (r *run) sendOf(delivery int64) int64 {
	sent := r.entry(delivery).Cause
	if r.entry(sent).Kind == model.EntryDouble {
		sent = r.entry(sent).Cause
	}
	return sent
}

func (r *run) started(e *model.Entry) {
	older := r.current[e.Proc]
	for l := older; l != nil; l = l.older {
		if l.successor == 0 {
			l.successor = e.N
			l.isReplaced = !l.ended
		}
	}
	l := &life{proc: e.Proc, attempt: e.Attempt, older: older, nonce: r.nonceOf(e.N)}
	r.current[e.Proc] = l
	r.lives = append(r.lives, l)
}

// nonceOf is what the life decides by that began at an event. Lives are told in their order.
func (r *run) nonceOf(began int64) uint64 {
	if len(r.lives) < len(r.told) && r.told[len(r.lives)].Began == began {
		return r.told[len(r.lives)].Nonce
	}
	return 0
}

// invoked finds what a request is about among what its life has done.
func (r *run) invoked(e *model.Entry) {
	rec, l := &e.Msg.Record, r.lifeOf(e)
	switch e.Msg.Kind {
	case model.Put, model.Update:
		r.nodes[e.N].app = l.lastOn(stepOf(rec))
	case model.LoadIDs:
		r.knows[e.Proc] = true
	case model.Write:
		r.nodes[e.N].delivered = r.brought(l, rec)
	case model.WriteBatch:
		r.batched(l, e)
	case model.Upload:
		r.uploading(e)
	}
}

// served carries a request out as its service did. The copy of a doubled request is carried out
// too, but nobody hears the answer. What a fault makes a service forget was never carried out.
func (r *run) served(e *model.Entry) {
	invoked := e.Cause
	if r.entry(invoked).Kind == model.EntryDouble {
		invoked = r.entry(invoked).Cause
	}
	if e.Service == model.External {
		r.expire(e.At)
	}
	r.tells(e)
	if e.Detail == "forgotten" {
		return
	}
	switch {
	case e.Ans.Outcome == model.Done:
		r.accepted(e, invoked)
	case e.Msg.Kind == model.Write && isInVain(e.Ans.Outcome):
		r.repeated(e, r.nodes[invoked].delivered)
	case e.Msg.Kind == model.WriteBatch && isInVain(e.Ans.Outcome):
		r.knew(e, r.rows[invoked])
	}
}

// accepted carries out a request that was neither refused nor recognised.
func (r *run) accepted(e *model.Entry, invoked int64) {
	if e.Msg.Kind.IsDurable() {
		r.fencing(e)
	}
	switch e.Msg.Kind {
	case model.Get:
		r.nodes[e.N].version = r.reads(e)
	case model.Put:
		r.put(e, invoked)
	case model.Update:
		r.rowUpdated(e, invoked)
	case model.OffsetCommit:
		r.committed(e)
	case model.Upload:
		r.uploaded(e, r.uploads[invoked])
	case model.Completion:
		r.completed(e)
	case model.Download:
		r.downloaded[e.N] = r.downloads(e)
	case model.Discard:
		r.discarded(e)
	case model.PlanBatch:
		r.plans[e.Msg.Seq] = e.Msg.Parts
	case model.FinishBatch:
		r.finished(e)
	case model.Write:
		of := r.txns[bundleKey{e.Msg.Seq, e.Msg.Token}]
		r.wrote(e, &e.Msg.Record, r.nodes[invoked].delivered, of)
	case model.WriteBatch:
		r.wroteBatch(e, r.rows[invoked])
	case model.InitTxn, model.BeginTxn, model.PrepareTxn, model.CommitTxn, model.AbortTxn:
		r.transact(e)
	}
}

// answered lets a life learn from an answer.
func (r *run) answered(e *model.Entry) {
	if e.Outcome != model.Done {
		return
	}
	switch {
	case e.Msg.Kind == model.Get:
		r.got(e)
	case e.Msg.Kind == model.Download:
		r.restored(e)
	case e.Msg.Kind == model.Fetch && e.Ans.End:
		l := r.lifeOf(e)
		l.toldEnd = append(l.toldEnd, e.Msg.Record.ID.Part)
	}
}

// isHonest reports whether the last thing that readers saw, a read of everything, is what the
// external system accepted. If not, what is visible is not known from what was served.
func (r *run) isHonest() bool {
	n := 0
	for part := range r.shown {
		n += len(r.held(part))
	}
	if n > len(r.seen) || !r.sawOnce() {
		return false
	}
	last := r.seen[len(r.seen)-n:]
	for i := range r.tables {
		if !r.tables[i].isFeed(i, r.seen[:len(r.seen)-n]) {
			return false
		}
	}
	for i := range r.shown {
		part := r.held(i)
		for place := range part {
			e, at := last[0], int64(place)
			if r.o.shape == model.Log {
				at = part[place].place
			}
			if e.Msg.Seq != at || e.Msg.Record != part[place].rec {
				return false
			}
			last = last[1:]
		}
	}
	return true
}

// sawOnce reports whether readers of a log saw nothing besides what is visible in the end: each
// entry once as it came, and once in the end.
func (r *run) sawOnce() bool {
	n := 0
	for _, part := range r.shown {
		n += len(part)
	}
	return r.o.shape != model.Log || len(r.seen) == 2*n
}

// finals are the final states: the store's, those of the newest checkpoint, or what the last life
// of each task has in memory.
func (r *run) finals() map[slot]*version {
	switch r.o.mode.State {
	case model.WrittenThrough:
		return r.store
	case model.Snapshotted:
		return r.settle()
	}
	states := map[slot]*version{}
	for proc, l := range r.current {
		task := &r.o.job.Tasks[proc]
		if l == nil || task.Role != model.Operate || task.Operator.Kind == model.Stateless {
			continue
		}
		for key, v := range l.memory {
			states[slot{task.Op, key}] = v
		}
	}
	return states
}
