package checker

import (
	"slices"

	"github.com/oncesim/oncesim/model"
)

// transactions are what becomes visible in one step, or should: transactions and batches. They are
// worked out once a subject, when a property first asks; a history without any has none.
type transactions struct {
	done   bool
	ids    table   // (partition, transactional id) → place in latest
	latest []int32 // the transaction begun last
	list   []transaction
	writes []effect
	places [][]int32 // of a log, by partition and place: the write there, plus one
	names  table     // of a table: what is written, and where → number in writes
	groups table     // (checkpoint) → group
	listed []group
	polls  int32
}

// transaction is a transaction, or a batch: that is committed as soon as it is there.
type transaction struct {
	part       int32
	group      int32 // of its checkpoint; -1: it belongs to none
	fate       fate
	id         int64
	checkpoint int64
	begun      int64 // event
	decided    int64 // event; 0: it is not, or by time
	deadline   int64 // virtual ns: what is undecided later is aborted
	vote       int64 // the checkpoint that it was prepared for, as was told; 0: none
	attempt    int32 // that prepared it
	isEarly    bool  // it was committed, and nobody had decided that
	sight
}

// fate is what has become of a transaction.
type fate uint8

const (
	open fate = iota
	prepared
	committed
	aborted
)

// effect is a write of a transaction, and when a reader saw it first.
type effect struct {
	of   int32 // the transaction
	made int32 // in survey.writes
	seen int64 // event; 0: never
	at   int64 // virtual ns
	poll int32
}

// sight is how much a reader saw of what belongs together, and when.
type sight struct {
	size, seen  int32
	first, last int32 // the polls in which it saw some of it for the first time
	from, to    int32 // its writes are among these
}

// group is all that is written under one checkpoint, in whatever partition.
type group struct {
	checkpoint int64
	members    int32 // transactions and batches
	committed  ending
	aborted    ending
	early      ending // committed before that was decided
	sight
}

// ending is how many transactions of a group ended one way, and the event that ended the last.
type ending struct {
	times int32
	event int64 // 0: by time
}

func (e *ending) add(t *transaction) { e.times, e.event = e.times+1, t.decided }

// transact works out the transactions and batches, and what readers saw of them, once a subject.
func (j *Judge) transact() *transactions {
	t := &j.transactions
	if t.done {
		return t
	}
	t.done = true
	j.surveyAll()
	t.ids.reset()
	t.names.reset()
	t.groups.reset()
	t.latest, t.list, t.writes, t.listed = t.latest[:0], t.list[:0], t.writes[:0], t.listed[:0]
	for part := range t.places {
		t.places[part] = t.places[part][:0]
	}
	if len(j.survey.deciding) == 0 && j.survey.batches == 0 {
		return t
	}
	j.decideAll()
	j.groupAll()
	j.watch()
	return t
}

// decideAll follows the transactions through the servings.
func (j *Judge) decideAll() {
	v, next := &j.survey, 0
	for _, i := range v.deciding {
		for ; next < len(v.writes) && v.writes[next].serving < i; next++ {
			j.addWrite(int32(next))
		}
		s := &j.h.Servings[i]
		j.decide(s, &j.h.Calls[s.Call].Req)
	}
	for ; next < len(v.writes); next++ {
		j.addWrite(int32(next))
	}
	for i := range j.transactions.list {
		j.transactions.list[i].expire(j.h.End.At)
	}
}

// expire aborts what is undecided after its time.
func (t *transaction) expire(now int64) {
	if t.fate <= prepared && now > t.deadline {
		t.fate = aborted
	}
}

// end decides a transaction by what a service did.
func (t *transaction) end(f fate, s *model.Serving) { t.fate, t.decided = f, s.N }

// commits ends a transaction by a commit. Where a mode keeps its state in checkpoints, the
// completion of a checkpoint is the decision about what is prepared for it.
func (j *Judge) commits(t *transaction, s *model.Serving) {
	t.end(committed, s)
	t.isEarly = j.hasDecisions() && !(t.vote != 0 && j.isDecided(t.vote, t.attempt, s.N))
}

// hasDecisions reports whether it is a checkpoint, or the plan of a batch, that decides what
// becomes of output.
func (j *Judge) hasDecisions() bool { return j.s.Mode.State == model.Snapshotted }

// isDecided reports whether it was decided before event n that what belongs to a checkpoint is to
// be committed: the checkpoint was completed, or a later one, or it is a batch and was planned.
// Where the job restarts as a whole, an attempt that completes a checkpoint decides of its own
// transactions and not of those that another one has left; attempt 0 stands for any.
func (j *Judge) isDecided(checkpoint int64, attempt int32, n int64) bool {
	if j.s.Mode.RestartOf(j.s.Job) != model.RestartJob {
		attempt = 0
	}
	for _, i := range slices.Backward(j.survey.decided) {
		s := &j.h.Servings[i]
		call := &j.h.Calls[s.Call]
		isIts := call.Req.Seq >= checkpoint && (attempt == 0 || call.Attempt == attempt)
		if call.Req.Kind == model.PlanBatch {
			isIts = call.Req.Seq == checkpoint
		}
		if isIts && s.N < n {
			return true
		}
	}
	return false
}

// current is the transaction begun last under an id, or nil.
func (j *Judge) current(part int16, id int64) *transaction {
	t := &j.transactions
	n := t.ids.find(uint64(uint16(part)), uint64(id))
	if n < 0 {
		return nil
	}
	return &t.list[t.latest[n]]
}

// decide follows a request that took an id over, began a transaction, prepared or ended it. What it
// was answered is believed: only what nobody ended is judged by its deadline.
func (j *Judge) decide(s *model.Serving, req *model.Message) {
	switch {
	case req.Kind == model.BeginTxn:
		j.begun(s, req)
		return
	case req.Kind == model.CommitTxn && req.Flags&model.Whole != 0:
		j.decideWhole(s, req.Seq)
		return
	}
	txn := j.current(req.Channel, req.Token)
	switch {
	case txn == nil:
	case req.Kind == model.InitTxn:
		txn.supersede(s)
	case req.Kind == model.PrepareTxn:
		txn.vote, txn.attempt = req.Seq, j.h.Calls[s.Call].Attempt
		if !s.Forgotten {
			txn.fate, txn.checkpoint = prepared, req.Seq
		}
	case req.Kind == model.AbortTxn:
		txn.end(aborted, s)
	default:
		if txn.fate != prepared {
			txn.checkpoint = req.Seq
		}
		j.commits(txn, s)
	}
}

// decideWhole decides what is prepared for a checkpoint or an earlier one: of each all is
// committed, or, where one transaction was aborted, the rest is aborted as well.
func (j *Judge) decideWhole(s *model.Serving, checkpoint int64) {
	list := j.transactions.list
	for i := range list {
		list[i].expire(s.At)
	}
	for i := range list {
		txn := &list[i]
		if txn.fate != prepared || txn.checkpoint > checkpoint {
			continue
		}
		isAborted := slices.ContainsFunc(list, func(other transaction) bool {
			return other.fate == aborted && other.checkpoint == txn.checkpoint
		})
		if isAborted {
			txn.end(aborted, s)
		} else {
			j.commits(txn, s)
		}
	}
}

// supersede aborts a transaction whose id is taken over, or stands for another one, if it is
// undecided.
func (t *transaction) supersede(s *model.Serving) {
	if t.expire(s.At); t.fate <= prepared {
		t.end(aborted, s)
	}
}

// begun begins a transaction. One that is undecided under the same id is aborted by that.
func (j *Judge) begun(s *model.Serving, req *model.Message) {
	t := &j.transactions
	n, fresh := t.ids.number(uint64(uint16(req.Channel)), uint64(req.Token))
	if fresh {
		t.latest = append(t.latest, 0)
	} else {
		t.list[t.latest[n]].supersede(s)
	}
	txn := transaction{part: int32(req.Channel), id: req.Token, begun: s.N,
		deadline: never}
	if req.Cursor > 0 {
		txn.deadline = s.At + req.Cursor
	}
	t.latest[n] = int32(len(t.list))
	t.list = append(t.list, txn)
}

// addWrite adds a write to its transaction, or to its batch, which begins with the first.
func (j *Judge) addWrite(made int32) {
	t, w := &j.transactions, &j.survey.writes[made]
	s := &j.h.Servings[w.serving]
	req := &j.h.Calls[s.Call].Req
	of := int32(len(t.list) - 1)
	isSame := made > 0 && j.survey.writes[made-1].serving == w.serving // batch as the row before
	switch {
	case w.row >= 0 && !isSame:
		of++
		t.list = append(t.list, transaction{part: int32(w.part), fate: committed, decided: s.N,
			checkpoint: req.Token, deadline: never,
			isEarly: j.hasDecisions() && !j.isDecided(req.Token, 0, s.N)})
	case w.row == noRow && (req.Token == 0 || len(t.latest) == 0):
		return
	case w.row == noRow:
		n := t.ids.find(uint64(uint16(w.part)), uint64(req.Token))
		if n < 0 {
			return
		}
		of = t.latest[n]
	}
	if j.s.Shape == model.Log {
		for int(w.part) >= len(t.places) {
			t.places = append(t.places, nil)
		}
		*at(&t.places[w.part], int32(w.seq)) = int32(len(t.writes) + 1)
	} else if _, fresh := t.names.number(j.entryName(w.part, w.seq, j.wrote(w))); !fresh {
		return // the row showed it before
	}
	t.writes = append(t.writes, effect{of: of, made: made})
}

// groupAll puts together what was written under one checkpoint.
func (j *Judge) groupAll() {
	t := &j.transactions
	for i := range t.list {
		txn := &t.list[i]
		if txn.group = -1; txn.checkpoint == 0 {
			continue
		}
		n, fresh := t.groups.number(uint64(txn.checkpoint), 0)
		if fresh {
			t.listed = append(t.listed, group{checkpoint: txn.checkpoint})
		}
		g := &t.listed[n]
		txn.group = n
		g.members++
		switch txn.fate {
		case committed:
			g.committed.add(txn)
			if txn.isEarly {
				g.early.add(txn)
			}
		case aborted:
			g.aborted.add(txn)
		}
	}
}

// watch finds out when readers saw each write for the first time.
func (j *Judge) watch() {
	t := &j.transactions
	t.polls = 0
	for i := range j.h.Observations {
		o := &j.h.Observations[i]
		if i == 0 || j.h.Observations[i-1].N+1 != o.N || j.h.Observations[i-1].At != o.At {
			t.polls++ // nothing else happens while a reader reads
		}
		j.saw(o)
	}
	if t.polls++; j.completed && j.s.Shape == model.Log {
		for i := range j.h.Final {
			j.saw(&j.h.Final[i])
		}
	}
	for i := range t.writes {
		e := &t.writes[i]
		txn := &t.list[e.of]
		txn.sight.add(int32(i), e)
		if txn.group >= 0 {
			t.listed[txn.group].sight.add(int32(i), e)
		}
	}
}

// saw notes that a reader saw a write.
func (j *Judge) saw(o *model.Observation) {
	t := &j.transactions
	n := int32(-1)
	switch {
	case j.s.Shape != model.Log:
		n = t.names.find(j.entryName(int64(o.Part), o.Seq, &o.Out))
	case o.Part >= 0 && int(o.Part) < len(t.places) && o.Seq >= 0 &&
		o.Seq < int64(len(t.places[o.Part])):
		n = t.places[o.Part][o.Seq] - 1
	}
	if n < 0 {
		return
	}
	e := &t.writes[n]
	if e.seen == 0 && o.Out.Same(*j.wrote(&j.survey.writes[e.made])) {
		e.seen, e.at, e.poll = o.N, o.At, t.polls
	}
}

// add adds a write, number i of all.
func (s *sight) add(i int32, e *effect) {
	if s.size++; s.size == 1 {
		s.from = i
	}
	s.to = i + 1
	if e.seen == 0 {
		return
	}
	if s.seen++; s.seen == 1 {
		s.first, s.last = e.poll, e.poll
	}
	s.first, s.last = min(s.first, e.poll), max(s.last, e.poll)
}

// isTorn reports whether readers saw some of what belongs together at a time when they did not see
// the rest.
func (s *sight) isTorn() bool { return s.seen > 0 && (s.seen < s.size || s.first < s.last) }

// reportTorn reports what belongs together and was not seen together: the first write that was
// missing when others were seen, and how many of how many these were, then or for ever. It cites
// one of those, itself if it came later, and the commit. What is transient is of a kind.
func (j *Judge) reportTorn(kind model.AnomalyKind, s *sight, commit int64,
	belongs func(*transaction) bool) {
	t := &j.transactions
	a := model.Anomaly{Kind: kind, Expected: model.Fact{Times: int64(s.size)}}
	isNamed := false
	for i := s.from; i < s.to; i++ {
		e := &t.writes[i]
		if !belongs(&t.list[e.of]) {
			continue
		}
		isMissing := e.seen == 0 || s.seen == s.size && e.poll > s.first
		if isMissing && !isNamed {
			isNamed, a.Record = true, *j.wrote(&j.survey.writes[e.made])
			a.Cite(e.seen)
		}
		if e.seen == 0 || e.poll != s.first {
			continue
		}
		if a.Observed.Times++; a.Observed.Times == 1 {
			a.Cite(e.seen)
		}
	}
	if s.seen < s.size && j.completed {
		a.Kind, a.Observed.Times = model.Torn, int64(s.seen)
	}
	a.Cite(commit)
	j.Report(a)
}
