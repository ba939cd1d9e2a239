package sim_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/sim"
)

// askAt asks at a time.
func askAt(s model.Service, now int64, req model.Message) model.Answer {
	ans := model.Answer{Outcome: model.Done}
	s.Serve(now, &req, &ans)
	return ans
}

func begins(id int64) model.Message {
	return model.Message{Kind: model.BeginTxn, Token: id}
}

// writes writes a number as the n-th record of a transaction.
func writes(id, epoch, n, number int64) model.Message {
	return model.Message{Kind: model.Write, Token: id, N: epoch, Cursor: n,
		Record: model.Record{Value: model.Value{Num: number}}}
}

// plainly writes a number outside any transaction.
func plainly(number int64) model.Message { return writes(0, 0, 0, number) }

// ends prepares, commits or aborts a transaction.
func ends(kind model.Kind, id, epoch, checkpoint int64) model.Message {
	return model.Message{Kind: kind, Seq: checkpoint, Token: id, N: epoch}
}

// in moves a request to another partition.
func in(part int64, m model.Message) model.Message {
	m.Channel = int16(part)
	if m.Kind == model.Write || m.Kind == model.WriteBatch || m.Kind == model.Read {
		m.Seq, m.Channel = part, 0
	}
	return m
}

func fenced(attempt int32, m model.Message) model.Message {
	m.Flags, m.Attempt = m.Flags|model.Fenced, attempt
	return m
}

// view renders what a reader sees of a partition: "offset:number".
func view(s model.Service, part, from int64) string {
	ans := ask(s, model.Message{Kind: model.Read, Seq: part, Cursor: from})
	return fmt.Sprint(placed(&ans))
}

func placed(ans *model.Answer) (list []string) {
	for i, rec := range ans.Records {
		place := ans.Seq + int64(i)
		if ans.Places != nil {
			place = ans.Places[i]
		}
		list = append(list, fmt.Sprintf("%d:%d", place, rec.Value.Num))
	}
	return list
}

// listed renders the undecided transactions of a partition: "id/epoch", and the checkpoint of those
// that are prepared.
func listed(s model.Service, part int64) string {
	var list []string
	for _, rec := range ask(s, in(part, model.Message{Kind: model.ListTxns})).Records {
		item := fmt.Sprintf("%d/%d", rec.ID.Offset, rec.Path)
		if rec.Op == 1 {
			item += fmt.Sprintf(" for %d", rec.Value.Num)
		}
		list = append(list, item)
	}
	return fmt.Sprint(list)
}

// each asks one request after the other and returns the outcomes.
func each(s model.Service, list ...model.Message) (all []model.Outcome) {
	for _, m := range list {
		all = append(all, ask(s, m).Outcome)
	}
	return all
}

// Nothing of a transaction is seen before it is committed, then all of it; of an aborted one
// nothing ever is. A reader of uncommitted data sees everything at once.
func TestTransactionalLog_ShowsWhatIsCommitted(t *testing.T) {
	s, dirty := sim.TransactionalLog.New(1), sim.TransactionalLogUncommitted.New(1)
	for _, l := range []model.Service{s, dirty} {
		require.EqualValues(t, 1, ask(l, begins(7)).Seq)
		require.Equal(t, model.Answer{Outcome: model.Done}, ask(l, writes(7, 1, 0, 10)))
		require.Equal(t, model.Answer{Outcome: model.Done, Seq: 1}, ask(l, writes(7, 1, 1, 11)))
	}
	require.Equal(t, "[]", view(s, 0, 0))
	require.Equal(t, "[0:10 1:11]", view(dirty, 0, 0))
	for _, l := range []model.Service{s, dirty} {
		require.Equal(t, model.Done, ask(l, ends(model.PrepareTxn, 7, 1, 3)).Outcome)
	}
	require.Equal(t, "[]", view(s, 0, 0))
	for _, l := range []model.Service{s, dirty} {
		require.Equal(t, model.Done, ask(l, ends(model.CommitTxn, 7, 1, 3)).Outcome)
		require.EqualValues(t, 2, ask(l, begins(7)).Seq)
		ask(l, writes(7, 2, 0, 12))
		require.Equal(t, model.Done, ask(l, ends(model.AbortTxn, 7, 2, 4)).Outcome)
		ask(l, plainly(13))
	}
	require.Equal(t, "[0:10 1:11 3:13]", view(s, 0, 0))
	require.Equal(t, "[3:13]", view(s, 0, 2), "the cursor counts what was shown")
	require.Equal(t, "[0:10 1:11 2:12 3:13]", view(dirty, 0, 0))
	require.Equal(t, "[2:12 3:13]", view(dirty, 0, 2))
}

// Readers see entries up to the first one of the oldest undecided transaction. One that holds no
// entry holds nothing up.
func TestTransactionalLog_LastStableOffset(t *testing.T) {
	s := sim.TransactionalLog.New(2)
	each(s, begins(1), begins(2), plainly(20), writes(2, 1, 0, 21), plainly(22),
		writes(1, 1, 0, 23), in(1, plainly(90)))
	require.Equal(t, "[0:20]", view(s, 0, 0))
	require.Equal(t, "[0:90]", view(s, 1, 0), "partitions share nothing")
	ask(s, ends(model.CommitTxn, 1, 1, 0))
	require.Equal(t, "[0:20]", view(s, 0, 0), "it was written behind the other")
	ask(s, ends(model.AbortTxn, 2, 1, 0))
	require.Equal(t, "[0:20 2:22 3:23]", view(s, 0, 0))
}

// A transaction takes its records in order, and only while it is open and of the epoch named.
func TestTransactionalLog_Write(t *testing.T) {
	s := sim.TransactionalLog.New(1)
	require.Equal(t, model.Stale, ask(s, writes(7, 0, 0, 9)).Outcome, "nobody began it")
	ask(s, begins(7))
	each(s, plainly(10), writes(7, 1, 0, 11), plainly(12))
	require.Equal(t, model.Answer{Outcome: model.Stale}, ask(s, writes(7, 1, 2, 9)), "a gap")
	require.Equal(t, model.Answer{Outcome: model.Done, Seq: 3}, ask(s, writes(7, 1, 1, 13)))
	require.Equal(t, model.Answer{Outcome: model.DoneBefore, Seq: 1}, ask(s, writes(7, 1, 0, 9)))
	require.Equal(t, model.Answer{Outcome: model.DoneBefore, Seq: 3}, ask(s, writes(7, 0, 1, 9)))
	require.Equal(t, model.Done, ask(s, writes(7, 0, -1, 14)).Outcome, "nothing is compared")
	require.Equal(t, model.Done, ask(s, writes(7, 0, 3, 15)).Outcome, "it counts all the same")
	require.Equal(t, model.Stale, ask(s, writes(7, 2, 4, 9)).Outcome, "another epoch")
	ask(s, ends(model.PrepareTxn, 7, 1, 1))
	require.Equal(t, model.Stale, ask(s, writes(7, 1, 4, 9)).Outcome, "prepared")
	ask(s, ends(model.CommitTxn, 7, 1, 1))
	require.Equal(t, model.Stale, ask(s, writes(7, 1, 4, 9)).Outcome, "committed")
	require.Equal(t, "[0:10 1:11 2:12 3:13 4:14 5:15]", view(s, 0, 0))
	require.Equal(t, model.Answer{Outcome: model.Done, Seq: 6}, ask(s, model.Message{
		Kind: model.WriteBatch, Parts: records(1, 2)}))
	require.Equal(t, "[6:1 7:2]", view(s, 0, 6))
}

// What each request comes to in each state of a transaction.
func TestTransactionalLog_States(t *testing.T) {
	const done, before, over = model.Done, model.DoneBefore, model.Stale
	prepare, commit := ends(model.PrepareTxn, 7, 1, 3), ends(model.CommitTxn, 7, 1, 3)
	abort := ends(model.AbortTxn, 7, 1, 3)
	for name, tc := range map[string]struct {
		way  []model.Message
		want []model.Outcome // of prepare, commit, abort
	}{
		"none":     {nil, []model.Outcome{over, over, over}},
		"open":     {[]model.Message{begins(7)}, []model.Outcome{done, done, done}},
		"prepared": {[]model.Message{begins(7), prepare}, []model.Outcome{before, done, done}},
		"committed": {[]model.Message{begins(7), commit},
			[]model.Outcome{over, before, over}},
		"aborted": {[]model.Message{begins(7), abort}, []model.Outcome{over, over, before}},
		"prepared for another": {[]model.Message{begins(7), ends(model.PrepareTxn, 7, 1, 2)},
			[]model.Outcome{over, done, done}},
		"another epoch": {[]model.Message{begins(7), prepare, commit, begins(7)},
			[]model.Outcome{over, over, over}},
		"another id": {[]model.Message{begins(8)}, []model.Outcome{over, over, over}},
	} {
		for i, m := range []model.Message{prepare, commit, abort} {
			s := sim.TransactionalLog.New(1)
			each(s, tc.way...)
			require.Equal(t, tc.want[i], ask(s, m).Outcome, "%s: %s", name, m.Kind)
		}
	}
}

// Without an epoch a request is about whichever transaction comes: a late commit commits the next.
func TestTransactionalLog_NoEpoch(t *testing.T) {
	s := sim.TransactionalLog.New(1)
	late := ends(model.CommitTxn, 7, 0, 1)
	each(s, begins(7), writes(7, 1, 0, 10), late, begins(7), writes(7, 2, 0, 11))
	require.Equal(t, model.Done, ask(s, late).Outcome)
	require.Equal(t, "[0:10 1:11]", view(s, 0, 0))
}

// Beginning a transaction aborts what is undecided under its id, prepared or not, and nothing else.
func TestTransactionalLog_BeginAborts(t *testing.T) {
	s := sim.TransactionalLog.New(2)
	each(s, begins(7), writes(7, 1, 0, 10), begins(8), in(1, begins(7)))
	require.EqualValues(t, 2, ask(s, begins(7)).Seq)
	require.Equal(t, "[8/1 7/2]", listed(s, 0))
	require.Equal(t, "[7/1]", listed(s, 1), "a partition has its own")
	each(s, writes(7, 2, 0, 11), ends(model.PrepareTxn, 7, 2, 5))
	require.Equal(t, "[8/1 7/2 for 5]", listed(s, 0))
	require.EqualValues(t, 3, ask(s, begins(7)).Seq)
	require.Equal(t, model.Stale, ask(s, ends(model.CommitTxn, 7, 2, 5)).Outcome)
	each(s, writes(7, 3, 0, 12), ends(model.CommitTxn, 7, 3, 6))
	require.Equal(t, "[2:12]", view(s, 0, 0))
	require.Equal(t, "[8/1]", listed(s, 0))
	require.Panics(t, func() { ask(s, begins(0)) })
}

// A begin that names its epoch is done once: repeated it is answered as before, and what is late
// finds the id in another epoch, and does no harm.
func TestTransactionalLog_BeginByEpoch(t *testing.T) {
	s := sim.TransactionalLog.New(1)
	first := begins(7)
	first.N = 1
	require.Equal(t, model.Answer{Outcome: model.Done, Seq: 1}, ask(s, first))
	ask(s, writes(7, 1, 0, 10))
	require.Equal(t, model.Answer{Outcome: model.DoneBefore, Seq: 1}, ask(s, first))
	other := first
	other.Attempt = 3
	require.Equal(t, model.Stale, ask(s, other).Outcome, "it is somebody else's")
	require.Equal(t, "[7/1]", listed(s, 0))
	ask(s, ends(model.CommitTxn, 7, 1, 1))
	require.Equal(t, model.Stale, ask(s, first).Outcome, "it is late")
	first.N = 3
	require.Equal(t, model.Stale, ask(s, first).Outcome, "it is early")
	first.N = 2
	require.Equal(t, model.Answer{Outcome: model.Done, Seq: 2}, ask(s, first))
	require.Equal(t, "[0:10]", view(s, 0, 0))
}

// An id that is initialised has what is open under it aborted and a new epoch, and nothing begun.
// An attempt that asks again is answered as before, and aborts nothing that it has begun since.
func TestTransactionalLog_Init(t *testing.T) {
	init := func(attempt int32) model.Message {
		return model.Message{Kind: model.InitTxn, Token: 7, Attempt: attempt}
	}
	s := sim.TransactionalLog.New(1)
	require.Equal(t, model.Answer{Outcome: model.Done, Seq: 1}, ask(s, init(1)), "never used")
	require.Equal(t, model.Answer{Outcome: model.DoneBefore, Seq: 1}, ask(s, init(1)))
	require.Equal(t, "[]", listed(s, 0))
	require.Equal(t, model.Stale, ask(s, writes(7, 1, 0, 10)).Outcome)
	require.Equal(t, model.Stale, ask(s, ends(model.CommitTxn, 7, 1, 1)).Outcome)
	begin := begins(7)
	begin.N, begin.Attempt = 2, 1
	require.Equal(t, model.Answer{Outcome: model.Done, Seq: 2}, ask(s, begin))
	ask(s, writes(7, 2, 0, 10))
	require.Equal(t, model.Answer{Outcome: model.DoneBefore, Seq: 2}, ask(s, init(1)))
	ask(s, ends(model.PrepareTxn, 7, 2, 1))
	require.Equal(t, model.Answer{Outcome: model.DoneBefore, Seq: 2}, ask(s, init(1)))
	require.Equal(t, "[7/2 for 1]", listed(s, 0))
	require.Equal(t, model.Answer{Outcome: model.Done, Seq: 3}, ask(s, init(2)), "another attempt")
	require.Equal(t, "[]", listed(s, 0))
	require.Equal(t, model.Stale, ask(s, ends(model.CommitTxn, 7, 2, 1)).Outcome)
	require.Equal(t, "[]", view(s, 0, 0))
}

// What is undecided past its time is aborted before the next request is looked at, whatever it is.
func TestTransactionalLog_Timeouts(t *testing.T) {
	timed := begins(7)
	timed.Cursor = 50
	start := func() model.Service {
		s := sim.TransactionalLog.New(2)
		askAt(s, 100, timed)
		askAt(s, 100, writes(7, 1, 0, 10))
		askAt(s, 100, plainly(11))
		askAt(s, 100, begins(8)) // never
		return s
	}
	for _, m := range []model.Message{writes(7, 1, 1, 12), ends(model.PrepareTxn, 7, 1, 1),
		ends(model.CommitTxn, 7, 1, 1)} {
		s := start()
		require.Equal(t, model.Done, askAt(s, 150, m).Outcome, "in time")
		s = start()
		require.Equal(t, model.Stale, askAt(s, 151, m).Outcome, m.Kind)
	}
	read := model.Message{Kind: model.Read}
	for _, way := range [][]model.Message{nil, {ends(model.PrepareTxn, 7, 1, 1)}} {
		s := start()
		each(s, way...)
		ans := askAt(s, 150, read)
		require.Empty(t, placed(&ans))
		ans = askAt(s, 151, read)
		require.Equal(t, []string{"1:11"}, placed(&ans))
		require.Equal(t, "[8/1]", listed(s, 0))
		require.Equal(t, model.DoneBefore, askAt(s, 151, ends(model.AbortTxn, 7, 1, 1)).Outcome)
	}
	s := start()
	askAt(s, 120, ends(model.CommitTxn, 7, 1, 1))
	later := timed
	later.Cursor = 1000
	askAt(s, 140, in(1, later))
	askAt(s, 151, read)
	require.Equal(t, "[7/1]", listed(s, 1))
	askAt(s, 1141, read)
	require.Equal(t, "[]", listed(s, 1), "each partition, each at its time")
	require.Equal(t, "[8/1]", listed(s, 0))
	require.Equal(t, "[0:10 1:11]", view(s, 0, 0))
}

// A commit of the whole commits what is prepared for its checkpoint or an earlier one, everywhere.
func TestTransactionalLog_CommitWhole(t *testing.T) {
	s := sim.TransactionalLog.New(2)
	whole := model.Message{Kind: model.CommitTxn, Flags: model.Whole, Seq: 4}
	for part := range int64(2) {
		for i, checkpoint := range []int64{3, 4, 5, 0} {
			id := int64(i + 1)
			each(s, in(part, begins(id)), in(part, writes(id, 0, 0, checkpoint)))
			if checkpoint > 0 {
				ask(s, in(part, ends(model.PrepareTxn, id, 0, checkpoint)))
			}
		}
	}
	require.Equal(t, model.Done, ask(s, whole).Outcome)
	for part := range int64(2) {
		require.Equal(t, "[0:3 1:4]", view(s, part, 0))
		require.Equal(t, "[3/1 for 5 4/1]", listed(s, part))
	}
	require.Equal(t, model.DoneBefore, ask(s, whole).Outcome)
	whole.Seq = 9
	require.Equal(t, model.Done, ask(s, whole).Outcome)
	require.Equal(t, "[4/1]", listed(s, 0), "one that is open is nobody's but its owner's")
}

// Where a part of a checkpoint has been aborted, the rest of it is given up: nobody sees a part.
func TestTransactionalLog_CommitWholeComesTooLate(t *testing.T) {
	s := sim.TransactionalLog.New(2)
	for part := range int64(2) {
		each(s, in(part, begins(7)), in(part, writes(7, 0, 0, 10)),
			in(part, ends(model.PrepareTxn, 7, 1, 3)))
	}
	ask(s, in(1, ends(model.AbortTxn, 7, 1, 3)))
	whole := model.Message{Kind: model.CommitTxn, Flags: model.Whole, Seq: 3}
	other := whole
	other.Seq = 2
	require.Equal(t, model.DoneBefore, ask(s, other).Outcome, "it is about none of it")
	require.Equal(t, "[7/1 for 3]", listed(s, 0))
	require.Equal(t, model.Answer{Outcome: model.Done, N: 1}, ask(s, whole), "given up")
	require.Equal(t, "[]", listed(s, 0))
	require.Equal(t, "[]", view(s, 0, 0))
	require.Equal(t, model.Stale, ask(s, whole).Outcome)
	whole.Seq = 4
	require.Equal(t, model.DoneBefore, ask(s, whole).Outcome)
}

// With a later checkpoint an earlier one is committed as a whole, or not at all.
func TestTransactionalLog_CommitWholeOfEachCheckpoint(t *testing.T) {
	s := sim.TransactionalLog.New(2)
	for part := range int64(2) {
		for id, checkpoint := range []int64{3, 4, 5} {
			each(s, in(part, begins(int64(id+1))), in(part, writes(int64(id+1), 0, 0, checkpoint)),
				in(part, ends(model.PrepareTxn, int64(id+1), 0, checkpoint)))
		}
	}
	ask(s, in(1, ends(model.AbortTxn, 2, 1, 4)))
	whole := model.Message{Kind: model.CommitTxn, Flags: model.Whole, Seq: 5}
	require.Equal(t, model.Answer{Outcome: model.Done, N: 1}, ask(s, whole))
	require.Equal(t, "[0:3 2:5]", view(s, 0, 0))
	require.Equal(t, "[0:3 2:5]", view(s, 1, 0))
	require.Equal(t, model.DoneBefore, ask(s, whole).Outcome)
}

// A partition refuses requests of an attempt below the highest that asked. What is about all of
// them is refused if one refuses it, and raises the fence of all.
func TestTransactionalLog_Fence(t *testing.T) {
	whole := model.Message{Kind: model.CommitTxn, Flags: model.Whole, Seq: 4}
	all := []model.Message{{Kind: model.InitTxn, Token: 7}, begins(7),
		writes(7, 0, -1, 1), ends(model.PrepareTxn, 7, 0, 1),
		ends(model.CommitTxn, 7, 0, 1), ends(model.AbortTxn, 7, 0, 1), {Kind: model.ListTxns},
		{Kind: model.WriteBatch}, whole}
	for _, newer := range all {
		s := sim.TransactionalLog.New(2)
		ask(s, in(0, fenced(5, newer)))
		var before, after model.Codec
		s.State(&before)
		for _, old := range all {
			require.Equal(t, model.Answer{Outcome: model.Refused}, ask(s, fenced(4, old)))
		}
		s.State(&after)
		require.Equal(t, before.Bytes(), after.Bytes())
		require.Equal(t, newer.Flags == model.Whole,
			ask(s, in(1, fenced(4, begins(1)))).Outcome == model.Refused, newer.Kind)
		require.Equal(t, model.Done, ask(s, begins(7)).Outcome, "nobody looks")
		require.Equal(t, model.Done, ask(s, fenced(5, begins(7))).Outcome)
	}
	s := sim.TransactionalLog.New(2)
	ask(s, in(1, fenced(9, begins(1))))
	require.Equal(t, model.Refused, ask(s, fenced(8, whole)).Outcome)
	require.Equal(t, model.Done, ask(s, fenced(7, begins(1))).Outcome, "and raised nothing")
	require.Equal(t, model.Refused,
		ask(s, in(1, fenced(8, model.Message{Kind: model.Read}))).Outcome, "a read like any other")
}

// txnReference is a transactional log as plain as can be: entries, and what became of them.
type txnReference struct {
	entries []int64
	owners  []string
	fate    map[string]string // "id/epoch": open, prepared, committed, aborted
	order   []string
	epochs  map[int64]int64
	ends    map[string]int64
}

func (r *txnReference) expire(now int64) {
	for _, name := range r.order {
		if r.isUndecided(name) && r.ends[name] > 0 && now > r.ends[name] {
			r.fate[name] = "aborted"
		}
	}
}

func (r *txnReference) isUndecided(name string) bool {
	return r.fate[name] == "open" || r.fate[name] == "prepared"
}

// visible is what a reader of committed data is to see.
func (r *txnReference) visible() (list []string) {
	for i, n := range r.entries {
		switch owner := r.owners[i]; {
		case r.isUndecided(owner):
			return list
		case owner == "" || r.fate[owner] == "committed":
			list = append(list, fmt.Sprintf("%d:%d", i, n))
		}
	}
	return list
}

// step does what the log is to do, and says how it is to answer.
func (r *txnReference) step(now int64, m model.Message) model.Outcome {
	r.expire(now)
	epoch := r.epochs[m.Token]
	name := fmt.Sprintf("%d/%d", m.Token, epoch)
	switch {
	case m.Kind == model.Write && m.Token == 0:
		r.entries, r.owners = append(r.entries, m.Record.Value.Num), append(r.owners, "")
		return model.Done
	case m.Kind == model.InitTxn && epoch > 0: // of the same attempt
		return model.DoneBefore
	case m.Kind == model.InitTxn:
		r.epochs[m.Token]++
		r.fate[fmt.Sprintf("%d/1", m.Token)] = "aborted"
		return model.Done
	case m.Kind == model.BeginTxn && m.N > 0 && m.N == epoch && r.isUndecided(name):
		return model.DoneBefore
	case m.Kind == model.BeginTxn && m.N > 0 && m.N != epoch+1:
		return model.Stale
	case m.Kind == model.BeginTxn:
		if r.isUndecided(name) {
			r.fate[name] = "aborted"
		}
		r.epochs[m.Token]++
		name = fmt.Sprintf("%d/%d", m.Token, epoch+1)
		r.order, r.fate[name] = append(r.order, name), "open"
		if m.Cursor > 0 {
			r.ends[name] = now + m.Cursor
		}
		return model.Done
	case epoch == 0 || m.N != 0 && m.N != epoch:
		return model.Stale
	case m.Kind == model.Write:
		if r.fate[name] != "open" {
			return model.Stale
		}
		r.entries, r.owners = append(r.entries, m.Record.Value.Num), append(r.owners, name)
		return model.Done
	}
	return r.end(m.Kind, name)
}

func (r *txnReference) end(kind model.Kind, name string) model.Outcome {
	became := map[model.Kind]string{model.PrepareTxn: "prepared", model.CommitTxn: "committed",
		model.AbortTxn: "aborted"}[kind]
	switch {
	case r.fate[name] == became:
		return model.DoneBefore
	case r.isUndecided(name):
		r.fate[name] = became
		return model.Done
	}
	return model.Stale
}

// The log agrees with a plain one on any sequence of requests, also one that is encoded and
// restored on the way. What a reader was handed stays, and polls add up to what there is.
func TestTransactionalLog_AgreesWithReference(t *testing.T) {
	kinds := []model.Kind{model.Write, model.Write, model.Write, model.BeginTxn, model.BeginTxn,
		model.PrepareTxn, model.CommitTxn, model.AbortTxn, model.InitTxn}
	other := sim.TransactionalLog.New(1)
	for seed := range uint64(300) {
		s := sim.TransactionalLog.New(1)
		r := &txnReference{fate: map[string]string{}, epochs: map[int64]int64{},
			ends: map[string]int64{}}
		var polled, handed []string
		var held []model.Answer
		for i := range uint64(80) {
			draw := func(what uint64, n int64) int64 {
				return model.Below(model.Draw(seed, model.DrawTie, i, what, 0), n)
			}
			m := model.Message{Kind: kinds[draw(0, int64(len(kinds)))], Token: draw(1, 4),
				N: draw(2, 3), Seq: 0, Cursor: -1, Record: model.Record{
					Value: model.Value{Num: int64(i)}}}
			if m.Kind == model.BeginTxn {
				m.Cursor = max(0, draw(3, 30)-15)
			}
			if m.Kind != model.Write {
				m.Token = max(m.Token, 1)
			}
			now := int64(i)
			require.Equal(t, r.step(now, m), askAt(s, now, m).Outcome, "%d %d %+v", seed, i, m)
			ans := askAt(s, now, model.Message{Kind: model.Read, Cursor: int64(len(polled))})
			polled = append(polled, placed(&ans)...)
			require.Equal(t, r.visible(), polled, "%d %d", seed, i)
			held, handed = append(held, ans), append(handed, fmt.Sprint(placed(&ans)))
			if draw(4, 8) == 0 {
				var c model.Codec
				s.State(&c)
				c.Rewind()
				other.State(&c)
				require.Zero(t, c.Left())
				ans := askAt(other, now, model.Message{Kind: model.Read})
				require.Equal(t, r.visible(), placed(&ans))
				require.Equal(t, listed(s, 0), listed(other, 0))
				if draw(5, 2) == 0 {
					s, other, held, handed = other, s, nil, nil
				}
			}
		}
		for i := range held {
			require.Equal(t, handed[i], fmt.Sprint(placed(&held[i])))
		}
	}
}

// sinkRequests are requests that a log with transactions and batches serves.
func sinkRequests(kinds ...model.Kind) (list []model.Message) {
	ways := []model.Kind{model.PrepareTxn, model.CommitTxn, model.AbortTxn}
	for i := range int64(120) {
		id := 1 + i/3%5
		begin := begins(id)
		begin.Cursor = 40
		for _, m := range []model.Message{begin, writes(id, 0, -1, i), {Kind: model.ListTxns},
			{Kind: model.WriteBatch, Token: 1 + i/2, Parts: records(i, i)}, plainly(i),
			writes(id, 0, 1, i), ends(ways[i%3], id, 0, i)} {
			for _, kind := range kinds {
				if m.Kind == kind {
					list = append(list, m)
				}
			}
		}
	}
	return list
}

// A restored log goes on as the one that was encoded, a reset one is as new, and run after run
// nothing is allocated.
func TestLogs_StateAndAllocations(t *testing.T) {
	txns := []model.Kind{model.Write, model.BeginTxn, model.PrepareTxn, model.CommitTxn,
		model.AbortTxn, model.ListTxns}
	batch := []model.Kind{model.WriteBatch}
	for _, tc := range []struct {
		spec  *model.SinkSpec
		kinds []model.Kind
	}{{&sim.TransactionalLog, txns}, {&sim.TransactionalLogUncommitted, txns},
		{&sim.BatchLog, batch}, {&sim.AppendLog, batch}, {&sim.TransactionalLog, batch}} {
		requests := sinkRequests(tc.kinds...)
		s, other := tc.spec.New(1), tc.spec.New(1)
		var empty, c, again model.Codec
		s.State(&empty)
		cut := len(requests)/2 + 3 // within a transaction
		for i, m := range requests[:cut] {
			askAt(s, int64(i), fenced(3, m))
		}
		for _, m := range sinkRequests(tc.kinds...) {
			ask(other, fenced(9, m))
		}
		s.State(&c)
		c.Rewind()
		other.State(&c)
		require.Zero(t, c.Left())
		other.State(&again)
		require.Equal(t, c.Bytes(), again.Bytes(), tc.spec.Name)
		for i, m := range requests[cut:] {
			now := int64(cut + i)
			m = fenced(2+int32(i%2), m)
			require.Equal(t, askAt(s, now, m), askAt(other, now, m), tc.spec.Name)
			require.Equal(t, view(s, 0, 0), view(other, 0, 0), tc.spec.Name)
		}
		other.Reset()
		again.Reset()
		other.State(&again)
		require.Equal(t, empty.Bytes(), again.Bytes(), tc.spec.Name)
		require.Panics(t, func() { ask(s, model.Message{Kind: model.Get}) }, tc.spec.Name)
		var ans model.Answer
		run := func() {
			s.Reset()
			for i := range requests {
				ans = model.Answer{Outcome: model.Done}
				s.Serve(int64(i), &requests[i], &ans)
			}
		}
		run()
		require.Zero(t, testing.AllocsPerRun(10, run), tc.spec.Name)
	}
}
