package semantics

import (
	"fmt"
	"slices"

	"github.com/oncesim/oncesim/model"
)

// TwoPhaseCommit has output become visible with the checkpoint that it belongs to. A transaction of
// the external log holds what came between two barriers; it is prepared at the second, and
// committed once the checkpoint is complete. The completion of the checkpoint is the decision, and
// the sinks are the participants.
var TwoPhaseCommit = model.Mode{
	Name: "two-phase-commit",
	Says: "a transaction is prepared at the barrier and committed when the checkpoint is complete",
	Source: "Apache Flink, TwoPhaseCommitSinkFunction; Flink blog, An Overview of End-to-End " +
		"Exactly-Once Processing, 2018; KIP-98, KIP-890",
	Restart: model.RestartJob,
	State:   model.Snapshotted,
	Sink:    "transactional-log", Transacts: true,
	Extra:  []string{coordinatorName},
	Params: snapshotParams(transactionParams()...),
	Claims: []string{"at-most-once", "at-least-once", "exactly-once-state", "exactly-once",
		"effectively-once", "order", "no-revision", "atomic-visibility", "agreement"},
	ClaimsWith: []model.ClaimsWith{{Param: model.ParamValue{Name: "global", Value: 1},
		Claims: []string{"global-visibility"}}},
	Tolerates: append(snapshotTolerates(), "probing", "global-commit"),
	Cells: table(`
		no-fault           all               -
		crash              all               -
		lose-request       all               -
		lose-answer        all               -
		delay-call         all               -
		duplicate-call     all               -
		pause              all               -
		zombie             all               -
		lose-message       stateless         L
		lose-message       commutative       L SL W IC
		lose-message       non-commutative   L SL IC
		lose-message       non-deterministic L SL IC (W)
		duplicate-message  stateless         D
		duplicate-message  commutative       W NS D SD RV RG IC
		duplicate-message  non-commutative   W NS D SD RV RG IC (SX)
		duplicate-message  non-deterministic W NS D SD RV IC
		reorder-message    stateless         L RO HT
		reorder-message    commutative       W RO IC (L SL HT)
		reorder-message    non-commutative   L SL W RO IC HT
		reorder-message    non-deterministic L SL RO IC HT (W)
		delay-message      stateless         L HT
		delay-message      commutative       L SL W IC HT
		delay-message      non-commutative   L SL IC HT
		delay-message      non-deterministic L SL W IC HT
		partition          stateless         L
		partition          commutative,non-commutative,non-deterministic L SL IC
		service-crash      all               -
		refuse-call        all               -
		forget-call        stateless         L D HT (AG T RG ST)
		forget-call        commutative       T L SL D IC HT (AG W RV RG ST)
		forget-call        non-commutative   L SL W D RG IC HT (AG T SX RV ST)
		forget-call        non-deterministic L SL D RV IC HT (AG T RG ST)
		tear-call          stateless         - (ST HT)
		tear-call          commutative,non-commutative,non-deterministic SL IC (ST HT)
		stale-read         stateless,non-deterministic - (L HT)
		stale-read         commutative       - (AG T L HT)
		stale-read         non-commutative   - (L HT)
		truncate           stateless         L
		truncate           commutative       L SL W IC
		truncate           non-commutative   L SL IC
		truncate           non-deterministic L SL IC (W)
		poison             stateless,non-deterministic ST (HT)
		poison             commutative,non-commutative ST HT
		lose-barrier       all               -
		duplicate-barrier  all               -
		reorder-barrier    stateless         - (D)
		reorder-barrier    commutative,non-commutative,non-deterministic IC (NS D SD RV)
		delay-barrier      all               -
		lose-notice        all               -
		delay-notice       all               -
		duplicate-notice   all               -
		restore-older      stateless,non-commutative D (L)
		restore-older      commutative       D (AG T L)
		restore-older      non-deterministic D RV (L SX)
		txn-timeout        stateless,non-commutative,non-deterministic L
		txn-timeout        commutative       L (AG T)
		uncommitted-reader stateless         D A1 A3 A2 (RG)
		uncommitted-reader commutative       W D RV A1 A3 A2 RG
		uncommitted-reader non-commutative   W SX D RV A1 A3 A2 RG
		uncommitted-reader non-deterministic D RV A1 A3 A2 (RG)
		late-end           stateless         D PC (L RO)
		late-end           commutative       - (AG T L D PC)
		late-end           non-commutative   - (L D PC)
		late-end           non-deterministic D RV PC (L RO)
		late-end-epochs    all               -
		aliased-snapshot   stateless         -
		aliased-snapshot   commutative,non-commutative,non-deterministic IC (W NS SD)
		counted            stateless         -
		counted            commutative       IC (NS D SD RV)
		counted            non-commutative   W NS D SD RV IC (SX RG)
		counted            non-deterministic -
		unaligned          all               -
		unaligned-dropped  stateless         L
		unaligned-dropped  commutative       - (L SL W IC)
		unaligned-dropped  non-commutative,non-deterministic L SL IC
		probing            all               -
		global-commit      all               -
		graceful-stop      all               -`),
	RestsOn: []model.Mechanism{
		{Name: "two phases", Variant: "snapshot",
			Says: "output becomes visible with the checkpoint that it belongs to",
			Classes: append([]string{"crash", "lose-request", "lose-answer", "delay-call",
				"duplicate-call", "zombie", "service-crash", "refuse-call"}, otherSnapshots()...)},
		{Name: "recovery", Says: "a restore commits what its checkpoint has prepared",
			Classes: []string{"crash", "zombie", "refuse-call", "global-commit"},
			Without: []model.ParamValue{{Name: "recommit"}}},
		{Name: "clean-up", Says: "a restore aborts what its checkpoint does not know",
			Classes: []string{"crash", "zombie", "refuse-call", "probing"},
			Without: []model.ParamValue{{Name: "abort-lingering"}}},
		{Name: "fencing", Says: "a task that was replaced changes nothing any more",
			Classes: []string{"zombie"}, Without: []model.ParamValue{{Name: "fencing"}}},
		{Name: "numbers", Says: "the log knows a write that is repeated",
			Classes: []string{"lose-answer", "duplicate-call"},
			Without: []model.ParamValue{{Name: "sequence"}}},
		{Name: "subsumption", Says: "a completion commits what earlier ones have left",
			Classes: []string{"lose-barrier", "delay-barrier", "lose-notice", "delay-notice"},
			Without: []model.ParamValue{{Name: "commit-all"}}},
		{Name: "epochs", Says: "a request that comes late names a transaction that is over",
			Classes: []string{"late-end-epochs"}, Without: []model.ParamValue{{Name: "epochs"}}},
	},
	Harmless: snapshotHarmless("pause", "lose-barrier", "duplicate-barrier", "duplicate-notice"),
	New: func(job *model.Job, task *model.Task) model.Process {
		return newCheckpointed(job, task, func() model.Process {
			return newTransactionSink(job, task)
		})
	},
}

// transactionParams are the parameters of sinks that write transactions.
func transactionParams() []model.Param {
	return []model.Param{
		{Name: "txn-timeout", Default: 900_000_000_000, Min: 1_000_000, Max: 10_000_000_000_000,
			IsTime: true, IsPremise: true,
			Says: "after how long the external log aborts a transaction that is undecided"},
		{Name: "abort-lingering", Default: byListing, Min: 0, Max: byProbing, IsPremise: true,
			Also: []int64{byProbing},
			Says: "how a restore finds transactions that its checkpoint lacks, to abort them: " +
				"1: it lists them; 2: it probes ids; 0: it does not"},
		{Name: "recommit", Default: 1, Min: 0, Max: 1, IsPremise: true,
			Says: "1: a restore commits what the checkpoint has prepared; 0: it does not"},
		{Name: "commit-all", Default: 1, Min: 0, Max: 1, IsPremise: true,
			Says: "1: a completion commits what is prepared up to its checkpoint; 0: for it alone"},
		{Name: "global", Default: 0, Min: 0, Max: 1,
			Says: "1: one request commits a checkpoint for all sinks at once, as one version of " +
				"a table does; 0: each sink commits its own"},
		{Name: "pool", Default: 0, Min: 0, Max: 1000, IsPremise: true,
			Says: "how many transactional ids a sink uses in turn; 0: each is used once"},
		{Name: "epochs", Default: 1, Min: 0, Max: 1, IsPremise: true,
			Says: "1: requests name the epoch of their transaction (KIP-890); 0: they do not"},
		{Name: "sequence", Default: 1, Min: 0, Max: 1, IsPremise: true,
			Says: "1: writes are numbered, and a repeated one is known; 0: they are not"},
		{Name: "strict-commit", Default: 0, Min: 0, Max: 1,
			Says: "1: a commit that comes too late fails the task; 0: what it was for is given up"},
	}
}

// How lingering transactions are found: the pooling and the incrementing strategy of Flink's Kafka
// sink (TransactionAbortStrategyImpl). Who probes takes ids in order, over all lives, and its
// checkpoints hold how many it has taken: what came later is from there up to the first id that was
// never used.
const (
	byListing = 1
	byProbing = 2
)

// txn is a transaction that a sink has prepared.
type txn struct{ checkpoint, id, epoch int64 }

// transactionSink writes into a transaction, which it begins with the first record after a barrier.
//
//	id, epoch, count   the open transaction and how many records it has; id 0: there is none
//	first              the record that a transaction is being begun for
//	pending            prepared, oldest first, and not known to be committed
//	made               transactional ids taken: in this life, or who probes, in all
//	probed             the id that is being initialised to see whether it was used; 0: none
//	epochs             of a pool: the epoch that each id has reached; 0: it is not initialised
type transactionSink struct {
	gated
	timeout     int64
	pool        int64
	aborts      int64
	recommits   bool
	commitsAll  bool
	isGlobal    bool
	namesEpochs bool
	isNumbered  bool
	isStrict    bool

	made    int64
	probed  int64
	epochs  []int64
	id      int64
	epoch   int64
	count   int64
	first   model.Record
	pending []txn
	list    []model.Record
}

func newTransactionSink(job *model.Job, task *model.Task) *transactionSink {
	is := func(name string) bool { return job.Param(name) == 1 }
	return &transactionSink{gated: newGated(job, task), timeout: job.Param("txn-timeout"),
		pool: job.Param("pool"), aborts: job.Param("abort-lingering"),
		recommits: is("recommit"), commitsAll: is("commit-all"), isGlobal: is("global"),
		namesEpochs: is("epochs"), isNumbered: is("sequence"), isStrict: is("strict-commit")}
}

// Start implements model.Process.
func (p *transactionSink) Start(self model.Self, s *model.Script) {
	p.gated.reset(self, s)
	p.made, p.probed, p.id, p.epoch, p.count = 0, 0, 0, 0, 0
	p.first, p.pending = model.Record{}, p.pending[:0]
	p.epochs = p.epochs[:0]
	for range p.pool {
		p.epochs = append(p.epochs, 0)
	}
}

// Step implements model.Process.
func (p *transactionSink) Step(ev *model.Event, s *model.Script) {
	switch {
	case p.part.step(ev, s, p):
	case ev.Kind != model.Answered:
		panic(fmt.Sprintf("semantics: sink steps on %+v", *ev))
	case failRefused(s, ev):
	case ev.Msg.Kind == model.AbortTxn:
	case ev.Ans.Outcome == model.Stale && ev.Msg.Kind == model.CommitTxn && !p.isStrict:
		// The log has aborted it, or does not know it any more. Flink's committers log that and go
		// on (CommitRequest.signalFailedWithKnownReason); what the transaction held is lost.
	case ev.Ans.Outcome == model.Stale:
		s.Fail(ev.Msg.Kind.String() + " of a transaction that is over")
	case ev.Msg.Kind == model.CommitTxn && ev.Ans.N > 0 && p.isStrict:
		s.Fail(fmt.Sprintf("commit-txn of checkpoint %d, a part of which is gone", ev.Msg.Seq))
	case ev.Msg.Kind == model.ListTxns:
		p.listed(s, &ev.Ans)
	case ev.Msg.Kind == model.InitTxn && p.probed > 0:
		p.found(s, ev.Ans.Seq)
	case ev.Msg.Kind == model.InitTxn:
		p.epochs[ev.Msg.Token-1] = ev.Ans.Seq
		p.begin(s, p.first)
	case ev.Msg.Kind == model.BeginTxn:
		p.begun(s, ev)
	case ev.Msg.Kind == model.Write:
		p.part.written(s, p, ev)
	case ev.Msg.Kind == model.PrepareTxn, ev.Msg.Kind == model.CommitTxn:
	default:
		panic(fmt.Sprintf("semantics: sink steps on %+v", *ev))
	}
}

// request is a request about a transaction.
func (p *transactionSink) request(kind model.Kind, checkpoint, id, epoch int64) model.Message {
	if !p.namesEpochs {
		epoch = 0
	}
	return model.Message{Kind: kind, Flags: p.external, Seq: checkpoint,
		Channel: int16(p.part.task.Part), Token: id, N: epoch,
		Record: model.Record{ID: model.ID{Part: p.part.task.Part, Offset: -1}}}
}

// load recovers: transactions that the checkpoint does not know were begun after it and are
// aborted; those that it has prepared are committed, since it is complete.
func (p *transactionSink) load(s *model.Script, _ int64, state, flight []model.Record) {
	p.gate.reset(p.part.task, p.part.checkpoint)
	p.pending = p.pending[:0]
	for i := range state {
		if state[i].Path == 0 {
			p.made = state[i].ID.Offset
			continue
		}
		p.pending = append(p.pending, txn{checkpoint: state[i].Value.Num, id: state[i].ID.Offset,
			epoch: int64(state[i].Path)})
	}
	switch p.aborts {
	case byListing:
		s.CallUntilDone(model.External, p.request(model.ListTxns, 0, 0, 0))
	case byProbing:
		p.part.isBusy = true
		p.probe(s, p.made+1)
	default:
		p.recommit(s)
	}
	p.part.deliver(flight)
}

// probe initialises an id: whatever is undecided under it is aborted by that. No record is ever
// written under it in this life, so that a copy of the request finds nothing to abort.
func (p *transactionSink) probe(s *model.Script, id int64) {
	p.probed = id
	s.CallUntilDone(model.External, p.request(model.InitTxn, 0, id, 0))
}

// found takes the epoch that a probed id has now. One that was used has had one before.
func (p *transactionSink) found(s *model.Script, epoch int64) {
	if epoch > 1 {
		p.probe(s, p.probed+1)
		return
	}
	p.made, p.probed, p.part.isBusy = p.probed, 0, false
	p.recommit(s)
	p.part.handle(s, p)
}

// listed aborts what is undecided and not pending, then commits what is pending.
func (p *transactionSink) listed(s *model.Script, ans *model.Answer) {
	for i := range ans.Records {
		id, epoch := ans.Records[i].ID.Offset, int64(ans.Records[i].Path)
		isPending := slices.ContainsFunc(p.pending, func(t txn) bool {
			return t.id == id && t.epoch == epoch
		})
		if !isPending {
			s.CallUntilDone(model.External, p.request(model.AbortTxn, 0, id, epoch))
		}
	}
	p.recommit(s)
}

// recommit commits what the restored checkpoint has prepared. That it was done before is as good.
func (p *transactionSink) recommit(s *model.Script) {
	if p.recommits {
		p.commit(s, p.part.checkpoint)
	}
	p.pending = p.pending[:0]
}

func (p *transactionSink) take(s *model.Script, m *model.Message) {
	switch {
	case !p.admits(s, p, m):
	case p.id == 0:
		p.begin(s, m.Record)
	default:
		p.write(s, m.Record)
	}
}

// begin begins a transaction for a record. Nothing is handled before its epoch is known. The
// request names the epoch, so that a copy of it begins nothing else: an id that is new has none
// yet, and one of a pool is initialised before a life uses it. Without epochs nobody can tell.
func (p *transactionSink) begin(s *model.Script, rec model.Record) {
	p.first, p.part.isBusy = rec, true
	id, epoch := lifeNumber(p.part.attempt, p.made+1), int64(1)
	switch {
	case p.pool > 0 && p.namesEpochs:
		id = p.made%p.pool + 1
		if epoch = p.epochs[id-1] + 1; epoch == 1 {
			s.CallUntilDone(model.External, p.request(model.InitTxn, 0, id, 0))
			return
		}
	case p.pool > 0:
		id, epoch = p.made%p.pool+1, 0
	case p.aborts == byProbing:
		id = p.made + 1
	}
	p.made++
	m := p.request(model.BeginTxn, 0, id, 0)
	m.Cursor, m.N = p.timeout, epoch
	s.CallUntilDone(model.External, m)
}

// begun goes on with the record that a transaction was begun for.
func (p *transactionSink) begun(s *model.Script, ev *model.Event) {
	p.id, p.epoch, p.count = ev.Msg.Token, ev.Ans.Seq, 0
	if p.pool > 0 {
		p.epochs[p.id-1] = p.epoch
	}
	p.part.isBusy = false
	p.write(s, p.first)
	p.part.handle(s, p)
}

// write adds a record to the open transaction.
func (p *transactionSink) write(s *model.Script, rec model.Record) {
	m := p.request(model.Write, int64(p.part.task.Part), p.id, p.epoch)
	m.Record, m.Cursor = rec, -1
	if p.isNumbered {
		m.Cursor = p.count
	}
	p.count++
	p.part.write(s, m)
}

// ahead is the first phase: what came before the barrier is prepared, so that only this sink can
// still end it.
func (p *transactionSink) ahead(s *model.Script, checkpoint int64) {
	if p.id == 0 {
		return
	}
	s.CallUntilDone(model.External, p.request(model.PrepareTxn, checkpoint, p.id, p.epoch))
	p.pending = append(p.pending, txn{checkpoint, p.id, p.epoch})
	p.id = 0
}

// now is what is prepared: whoever restores this part commits it.
func (p *transactionSink) now() (state []model.Record, isIdle bool) {
	p.list = p.list[:0]
	for _, t := range p.pending {
		p.list = append(p.list, model.Record{ID: model.ID{Part: p.part.task.Part, Offset: t.id},
			Path: model.Path(t.epoch), Value: model.Value{Num: t.checkpoint}})
	}
	if p.aborts == byProbing {
		p.list = append(p.list,
			model.Record{ID: model.ID{Part: p.part.task.Part, Offset: p.made}})
	}
	return p.list, len(p.pending) == 0
}

// completed is the second phase.
func (p *transactionSink) completed(s *model.Script, checkpoint int64) { p.commit(s, checkpoint) }

// commit commits what is prepared up to a checkpoint, oldest first: a checkpoint that was given up
// is made good by the next one, and a completion that was not heard of by the next that is.
func (p *transactionSink) commit(s *model.Script, checkpoint int64) {
	rest := p.pending[:0]
	isAsked := false
	for _, t := range p.pending {
		switch {
		case t.checkpoint > checkpoint || !p.commitsAll && t.checkpoint != checkpoint:
			rest = append(rest, t)
		case !p.isGlobal:
			s.CallUntilDone(model.External,
				p.request(model.CommitTxn, t.checkpoint, t.id, t.epoch))
		case !isAsked: // one request for all sinks, by whoever hears of it first
			isAsked = true
			m := p.request(model.CommitTxn, checkpoint, 0, 0)
			m.Flags |= model.Whole
			s.CallUntilDone(model.External, m)
		}
	}
	p.pending = rest
}

// State implements model.Process.
func (p *transactionSink) State(c *model.Codec) {
	p.gated.state(c)
	c.Int64(&p.made)
	c.Int64(&p.probed)
	model.Slice(c, &p.epochs, c.Int64)
	c.Int64(&p.id)
	c.Int64(&p.epoch)
	c.Int64(&p.count)
	c.Record(&p.first)
	model.Slice(c, &p.pending, func(t *txn) {
		c.Int64(&t.checkpoint)
		c.Int64(&t.id)
		c.Int64(&t.epoch)
	})
}
