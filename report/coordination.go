package report

import (
	"fmt"

	"github.com/oncesim/oncesim/model"
)

// cutsOf are the checkpoints that a story about a record may need: the first completed one whose
// offsets are behind it, those of the transactions that held it, the batches that it was part of,
// and those that an attempt of the job began from.
func (t *tape) cutsOf(about model.ID) map[int64]bool {
	cuts := map[int64]bool{}
	if !t.hasCheckpoints() {
		return cuts
	}
	isCovered := false
	for i := range t.entries {
		e := &t.entries[i]
		switch {
		case e.Kind == model.EntryDeliver && e.Msg.Kind == model.Restore && e.Attempt > 1:
			cuts[e.Msg.Seq] = true
		case isServe(e, model.Completion) && tookEffect(e) && !isCovered:
			if offset, ok := t.position(about.Part, e.Msg.Seq); ok && offset > about.Offset {
				cuts[e.Msg.Seq], isCovered = true, true
			}
		case e.Kind == model.EntryServe && e.Msg.Kind == model.WriteBatch && isAbout(e, about):
			cuts[e.Msg.Token] = true
		case isServe(e, model.Write) && isAbout(e, about):
			if x := t.txnOf(e); x != nil {
				cuts[x.checkpoint] = true
			}
		}
	}
	delete(cuts, 0)
	return cuts
}

// isGated reports whether what a sink writes is not visible at once.
func (d *diagram) isGated() bool { return len(d.t.txns) > 0 }

// isOfRecord reports whether an event is about a transaction that held the record.
func (d *diagram) isOfRecord(e *model.Entry) bool {
	x := d.t.txnOf(e)
	return x != nil && d.holds(x)
}

// holds reports whether a transaction held the record.
func (d *diagram) holds(x *txn) bool {
	return d.t.find(x.begun, d.t.end(), func(w *model.Entry) bool {
		return isServe(w, model.Write) && isAbout(w, d.about) && d.t.txnOf(w) == x
	}) != nil
}

// expiryRow is where the log is found to have aborted a transaction that held the record, because
// its time was over: at what was read after that, or in the end.
func (d *diagram) expiryRow(r *row) {
	if r.e.Kind != model.EntryObserve && r.e.Kind != model.EntryEnd {
		return
	}
	for _, x := range d.t.txns {
		switch {
		case x.overdue != r.e.N || !d.holds(x):
		case r.e.Kind == model.EntryEnd:
			r.rank, r.text = 1, fmt.Sprintf("%s; the log aborted %s at %s", r.text, x,
				clock(x.deadline))
		default:
			r.rank, r.text = 1, fmt.Sprintf("%s timed out", x)
		}
	}
}

// noticeRow is a barrier or what a coordinator and a task tell each other. Those of the checkpoints
// that have to do with the record are worth a line.
func (d *diagram) noticeRow(r *row) {
	e := r.e
	r.labels = noticeLabels(&e.Msg)
	if d.cuts[e.Msg.Seq] || e.Msg.Kind == model.Restore && e.Attempt > 1 {
		r.rank = d.noticeRank(e)
	}
	switch e.Kind {
	case model.EntrySend:
		r.rank, r.text, r.labels = -1, "send "+r.labels[0], nil
	case model.EntryDeliver:
		r.from = procPlace(e.To)
	case model.EntryDrop:
		r.rank = -1
		r.from, r.to, r.isLost = procPlace(d.t.at(e.Cause).Proc), procPlace(e.To), true
	case model.EntryLose, model.EntryDelay, model.EntryDouble:
		d.struckRow(r)
	}
}

// noticeRank is how much a notice tells: most of all from where an attempt begins, and what cuts
// the stream; of the answers least.
func (d *diagram) noticeRank(e *model.Entry) int {
	switch e.Msg.Kind {
	case model.Restore:
		if source := d.t.sourceOf(d.about.Part); source != nil && e.Proc == source.Proc {
			return 2
		}
		return 6
	case model.Barrier:
		return 4
	case model.Trigger, model.Cancel, model.Decline:
		return 4
	case model.Complete:
		if task := d.t.task(e.Proc); task != nil && task.Role == model.Sink {
			return 4
		}
		return 7
	case model.Acknowledge:
		return 6
	}
	return -1
}

// noticeLabels are a barrier or a notice in a word, and in less.
func noticeLabels(m *model.Message) []string {
	word := m.Kind.String()
	if m.Kind == model.Restore && m.Seq == 0 {
		return []string{"from the start", "start"}
	}
	short := word[:min(len(word), 4)]
	if m.Kind == model.Barrier {
		short = "bar"
	}
	return []string{fmt.Sprintf("%s %d", word, m.Seq), fmt.Sprintf("%s. %d", short, m.Seq),
		fmt.Sprintf("%c%d", word[0], m.Seq)}
}

// coordinationRank is how much a request about checkpoints, transactions or batches tells of the
// record; -1: nothing.
func (d *diagram) coordinationRank(e *model.Entry) int {
	switch e.Msg.Kind {
	case model.WriteBatch:
		if isAbout(e, d.about) {
			return 1
		}
	case model.CommitTxn:
		if e.Msg.Flags&model.Whole != 0 && d.cuts[e.Msg.Seq] || d.isOfRecord(e) {
			return 1
		}
	case model.AbortTxn, model.PrepareTxn:
		if d.isOfRecord(e) {
			return 2
		}
	case model.BeginTxn:
		if d.isOfRecord(e) {
			return 4
		}
	case model.Completion, model.FinishBatch:
		if d.cuts[e.Msg.Seq] {
			return 2
		}
	case model.Upload:
		if d.cuts[e.Msg.Seq] {
			return 5
		}
	case model.PlanBatch:
		if d.cuts[e.Msg.Seq] {
			return 4
		}
	case model.Download:
		if source := d.t.sourceOf(d.about.Part); source != nil && e.Proc == source.Proc {
			return 3
		}
	}
	return -1
}

// asked is a request about checkpoints, transactions or batches in a word or two, and in one.
func (d *diagram) asked(e *model.Entry) []string {
	seq, txn := e.Msg.Seq, d.t.txnName(e)
	switch e.Msg.Kind {
	case model.Upload, model.Download, model.Discard:
		return []string{fmt.Sprintf("%s %d", e.Msg.Kind, seq),
			fmt.Sprintf("%.2s. %d", e.Msg.Kind, seq)}
	case model.Completion:
		return []string{fmt.Sprintf("complete %d", seq), fmt.Sprintf("c %d", seq)}
	case model.PlanBatch:
		return []string{fmt.Sprintf("plan batch %d", seq), fmt.Sprintf("plan %d", seq)}
	case model.FinishBatch:
		return []string{fmt.Sprintf("finish batch %d", seq), fmt.Sprintf("finish %d", seq),
			fmt.Sprintf("f %d", seq)}
	case model.WriteBatch:
		return []string{fmt.Sprintf("write batch %d", e.Msg.Token),
			fmt.Sprintf("batch %d", e.Msg.Token), fmt.Sprintf("b %d", e.Msg.Token)}
	case model.InitTxn:
		return []string{fmt.Sprintf("init id %d", e.Msg.Token), "init"}
	case model.BeginTxn:
		return []string{"begin " + txn, "begin"}
	case model.PrepareTxn:
		return []string{"prepare " + txn, "prep. " + txn, "prepare"}
	case model.CommitTxn:
		if txn == "" {
			return []string{fmt.Sprintf("commit all to %d", seq), "commit"}
		}
		return []string{"commit " + txn, "commit"}
	case model.AbortTxn:
		return []string{"abort " + txn, "abort"}
	}
	return []string{e.Msg.Kind.String()}
}

// servedBatch is what a log shows for a batch with the record: how often that was written by now.
func (d *diagram) servedBatch(e *model.Entry) string {
	for i := range e.Msg.Parts {
		if rec := &e.Msg.Parts[i]; rec.ID == d.about {
			name := stepName{rec.Op, rec.ID, rec.Path}
			d.writes[name]++
			return fmt.Sprintf("%s #%d", d.short(rec.ID), d.writes[name])
		}
	}
	return fmt.Sprintf("%d records", len(e.Msg.Parts))
}

// coordinationServed is what a service has to show for a request about checkpoints, or "".
func (d *diagram) coordinationServed(e *model.Entry) string {
	parts := e.Msg.Parts
	if e.Msg.Kind == model.Download {
		parts = e.Ans.Records
	}
	switch e.Msg.Kind {
	case model.Newest, model.NewestBatch:
		return fmt.Sprintf("= %d", e.Ans.Seq)
	case model.Completion:
		return "decided"
	case model.CommitTxn:
		if e.Ans.N > 0 {
			return "given up"
		}
		return "committed"
	case model.AbortTxn:
		return "aborted"
	case model.Upload, model.Download:
		if e.Ans.End {
			return isTorn
		}
		if d.t.isOfSource(e) && len(parts) > 0 {
			return fmt.Sprintf("offset %d", parts[0].ID.Offset)
		}
	}
	return ""
}

// tellSides tells of a value that comes of a checkpoint which has a record on the wrong side of its
// cut, or of one that was lost; else it cites what the anomaly does.
func (s *story) tellSides(a *model.Anomaly, l *ledger) {
	defer s.sayShown(a)
	own, name := s.about, s.record
	keys := s.keysOf(a)
	for i := range s.t.entries {
		e := &s.t.entries[i]
		if e.Kind != model.EntryApply || !keys[e.Msg.Record.Key] {
			continue
		}
		s.about, s.record = e.Msg.Record.ID, s.c.recordName(e.Msg.Record.ID)
		start, order := s.lastRestart()
		if order == nil {
			continue
		}
		for _, why := range []string{s.whyAhead(order.Msg.Seq), s.whyLeftOut(order.Msg.Seq)} {
			if why != "" {
				s.sentences = append(s.sentences, why)
				s.explainJobRestart(start)
				return
			}
		}
	}
	s.about, s.record = own, name
	if root := s.root(a, l); root != nil && s.isGone(root, l) {
		s.about, s.record = root.id, s.c.recordName(root.id)
		s.tellLoss()
		return
	}
	if s.tellOtherOrder(keys) {
		return
	}
	s.tellLate(a)
}

// tellOtherOrder tells of a restart after which an operator took records of a key in another order
// than before it; it reports false if there is none.
func (s *story) tellOtherOrder(keys map[string]bool) bool {
	start, order := s.lastRestart()
	if start == nil {
		return false
	}
	for i := range s.t.job.Tasks {
		task := &s.t.job.Tasks[i]
		if task.Role != model.Operate || task.Operator.Kind == model.Stateless {
			continue
		}
		from := int64(0) // what the checkpoint has of the attempt before comes no more
		if up := s.t.uploaded(task.Proc, order.Msg.Seq, order.N); up != nil {
			from = s.cutAt(s.t.callOf(up.N), order.Msg.Seq)
		}
		for _, key := range model.SortedKeys(keys, nil) {
			before := s.takenUnder(task.Proc, start.Attempt-1, key, from)
			after := s.takenUnder(task.Proc, start.Attempt, key, from)
			for j := range min(len(before), len(after)) {
				if before[j].Msg.Record.Same(after[j].Msg.Record) {
					continue
				}
				s.explainJobRestart(start)
				s.say("Under %q attempt %d of %s had applied %s at %s where attempt %d applied "+
					"%s, at %s: what they give is of two orders.", key, start.Attempt-1,
					task.Name, s.c.recordName(before[j].Msg.Record.ID), s.at(before[j].N),
					start.Attempt, s.c.recordName(after[j].Msg.Record.ID), s.at(after[j].N))
				return true
			}
		}
	}
	return false
}

// takenUnder are the applications of an attempt of a process under a key, after an event.
func (s *story) takenUnder(p model.ProcID, attempt int32, key string, from int64) []*model.Entry {
	var list []*model.Entry
	for n := from + 1; n <= s.t.end(); n++ {
		e := s.t.at(n)
		if e.Kind == model.EntryApply && e.Proc == p && e.Attempt == attempt &&
			e.Msg.Record.Key == key {
			list = append(list, e)
		}
	}
	return list
}
