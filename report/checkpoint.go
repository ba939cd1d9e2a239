package report

import (
	"fmt"
	"slices"

	"github.com/oncesim/oncesim/model"
)

// hasCheckpoints reports whether the tasks of the run take part in checkpoints or batches of the
// whole job.
func (t *tape) hasCheckpoints() bool {
	return t.mode != nil && t.mode.State == model.Snapshotted && len(t.mode.Extra) > 0
}

// isOfSource reports whether an event is one of a source.
func (t *tape) isOfSource(e *model.Entry) bool {
	task := t.task(e.Proc)
	return task != nil && task.Role == model.Source
}

// sourceOf is the source of a partition, or nil.
func (t *tape) sourceOf(part int32) *model.Task {
	for i := range t.job.Tasks {
		if task := &t.job.Tasks[i]; task.Role == model.Source && task.Part == part {
			return task
		}
	}
	return nil
}

// isJobRestart reports whether a start is one of a life of every process.
func (t *tape) isJobRestart(start *model.Entry) bool {
	return t.mode != nil && t.mode.RestartOf(t.job) == model.RestartJob && start.Attempt > 1
}

// endBefore is what had the supervisor start an attempt of the whole job: the first life of the
// attempt before that crashed or gave up, or stood still and was replaced; nil: the trace has none.
func (t *tape) endBefore(start *model.Entry) *model.Entry {
	return t.find(0, start.N, func(e *model.Entry) bool {
		if e.Attempt != start.Attempt-1 {
			return false
		}
		switch e.Kind {
		case model.EntryCrash, model.EntryGiveUp:
			return true
		case model.EntryPause:
			life := t.life(e)
			return life != nil && t.has(life.Replaced) &&
				t.at(life.Replaced).Attempt == start.Attempt
		}
		return false
	})
}

// restored is the order of an attempt to begin from a checkpoint, as it reached a process first;
// nil: none reached it.
func (t *tape) restored(p model.ProcID, attempt int32) *model.Entry {
	return t.find(0, t.end(), func(e *model.Entry) bool {
		return e.Kind == model.EntryDeliver && e.Msg.Kind == model.Restore && e.Proc == p &&
			e.Attempt == attempt && e.Msg.Attempt == attempt
	})
}

// completion is the last write before an event that made a checkpoint the completed one, or nil;
// checkpoint 0 stands for whichever.
func (t *tape) completion(checkpoint, before int64) *model.Entry {
	return t.findLast(0, before-1, func(e *model.Entry) bool {
		isIt := isServe(e, model.Completion) || isServe(e, model.FinishBatch)
		return isIt && tookEffect(e) && (checkpoint == 0 || e.Msg.Seq == checkpoint)
	})
}

// uploaded is the upload of a process for a checkpoint that counts, or nil.
func (t *tape) uploaded(p model.ProcID, checkpoint, before int64) *model.Entry {
	return t.find(0, before, func(e *model.Entry) bool {
		return isServe(e, model.Upload) && tookEffect(e) && e.Msg.Token == int64(p) &&
			e.Msg.Seq == checkpoint
	})
}

// position is the offset that a checkpoint has for a partition; ok is false where it has none.
func (t *tape) position(part int32, checkpoint int64) (offset int64, ok bool) {
	source := t.sourceOf(part)
	if checkpoint == 0 {
		return 0, true
	}
	if source == nil {
		return 0, false
	}
	e := t.uploaded(source.Proc, checkpoint, t.end())
	if e == nil || len(kept(e)) == 0 {
		return 0, false
	}
	return kept(e)[0].ID.Offset, true
}

// kept is what the store has kept of an upload.
func kept(upload *model.Entry) []model.Record {
	if upload.Detail == isTorn {
		return model.FirstHalf(upload.Msg.Parts)
	}
	return upload.Msg.Parts
}

// checkpointName names a checkpoint, or where a job begins that has none. A job that runs batches
// counts those.
func (t *tape) checkpointName(checkpoint int64) string {
	switch {
	case checkpoint == 0:
		return "the start"
	case t.isBatched():
		return fmt.Sprintf("the state after batch %d", checkpoint)
	}
	return fmt.Sprintf("checkpoint %d", checkpoint)
}

// cutName names what a barrier ends.
func (t *tape) cutName(checkpoint int64) string {
	if t.isBatched() {
		return fmt.Sprintf("batch %d", checkpoint)
	}
	return fmt.Sprintf("checkpoint %d", checkpoint)
}

// isBatched reports whether the job runs batch by batch.
func (t *tape) isBatched() bool {
	for i := range t.job.Tasks {
		if t.job.Tasks[i].Role == model.Extra && t.job.Tasks[i].Name == "driver/0" {
			return true
		}
	}
	return false
}

// notices are how stories name what coordinators and tasks tell each other; %s is the checkpoint.
var notices = map[model.Kind]string{
	model.Barrier:     "the barrier of %s",
	model.Trigger:     "the order to begin %s",
	model.Acknowledge: "the word that its part of %s is there",
	model.Decline:     "the word that its part of %s is not there",
	model.Complete:    "the word that %s is complete",
	model.Cancel:      "the word that %s is aborted",
	model.Restore:     "the order to begin from %s",
	model.Ready:       "the word that it has begun from %s",
}

// noticeOf names a barrier or a notice.
func (t *tape) noticeOf(m *model.Message) string {
	name := t.cutName(m.Seq)
	if m.Kind == model.Restore || m.Kind == model.Ready {
		name = t.checkpointName(m.Seq)
	}
	return fmt.Sprintf(notices[m.Kind], name)
}

// explainJobRestart says why the whole job began again, from which checkpoint, and what the source
// of the record read then.
func (s *story) explainJobRestart(start *model.Entry) {
	source := s.t.sourceOf(s.about.Part)
	why, from := "the job began again", ""
	if source != nil {
		if order := s.t.restored(source.Proc, start.Attempt); order != nil {
			from = fmt.Sprintf(" from %s (%s)%s%s", s.t.checkpointName(order.Msg.Seq),
				s.at(order.N), s.notNewest(order), s.unfinished(order))
		}
	}
	from += s.readBack(source, start.Attempt)
	s.sayNotEmpty(s.whyOver(s.t.endBefore(start)))
	switch end := s.t.endBefore(start); {
	case end == nil:
		s.say("%s%s.", capital(why), from)
	case end.Kind == model.EntryPause:
		s.say("%s stood still from %s on and was taken for dead, and %s%s.", s.t.name(end.Proc),
			s.at(end.N), why, from)
	default:
		s.say("%s %s, and %s%s.", s.t.name(end.Proc), s.died(end), why, from)
	}
}

// unfinished is a clause on the batch that an attempt of the job runs again, or "".
func (s *story) unfinished(order *model.Entry) string {
	if !s.t.isBatched() {
		return ""
	}
	plan := s.t.findLast(0, order.N, func(e *model.Entry) bool {
		return isServe(e, model.PlanBatch) && tookEffect(e)
	})
	if plan == nil || plan.Msg.Seq != order.Msg.Seq+1 {
		return ""
	}
	return fmt.Sprintf(", to run batch %d again, which had been planned at %s", plan.Msg.Seq,
		s.at(plan.N))
}

// notNewest is a clause on a newer checkpoint than the one that an order names, or "".
func (s *story) notNewest(order *model.Entry) string {
	last := s.t.completion(0, order.N)
	if last == nil || last.Msg.Seq <= order.Msg.Seq || s.t.isBatched() {
		return ""
	}
	return fmt.Sprintf(", though %s had been completed at %s", s.t.cutName(last.Msg.Seq),
		s.at(last.N))
}

// readBack is a clause on how the record came again in an attempt of the job, its source read it or
// the checkpoint had it in flight; or "".
func (s *story) readBack(source *model.Task, attempt int32) string {
	if source == nil {
		return ""
	}
	again := s.t.find(0, s.t.end(), func(e *model.Entry) bool {
		return s.t.isFetch(e, s.about) && e.Proc == source.Proc && e.Attempt == attempt
	})
	if again != nil {
		word := " again"
		if s.t.find(0, again.N-1, func(e *model.Entry) bool {
			return s.t.isFetch(e, s.about)
		}) == nil {
			word = ""
		}
		return fmt.Sprintf(": %s read %s%s at %s", source.Name, s.record, word, s.at(again.N))
	}
	if flight := s.t.find(0, s.t.end(), func(e *model.Entry) bool {
		return e.Kind == model.EntryAnswer && e.Msg.Kind == model.Download &&
			e.Attempt == attempt && isInFlight(e, s.about)
	}); flight != nil {
		return fmt.Sprintf(": that holds %s in flight, and %s was given it at %s", s.record,
			s.t.name(flight.Proc), s.at(flight.N))
	}
	if kept := s.t.find(0, s.t.end(), func(e *model.Entry) bool {
		task := s.t.task(e.Proc)
		return e.Kind == model.EntryAnswer && e.Msg.Kind == model.Download && task != nil &&
			task.Role == model.Sink && e.Attempt == attempt && isKept(e, s.about)
	}); kept != nil && len(s.t.txns) == 0 {
		return fmt.Sprintf(": that has %s as output yet to be written, and %s was given it at %s "+
			"and cannot tell that it is written", s.record, s.t.name(kept.Proc), s.at(kept.N))
	}
	return ""
}

// isKept reports whether an answer to a download has a record among the output that a sink kept.
func isKept(e *model.Entry, id model.ID) bool {
	return slices.ContainsFunc(e.Ans.Records, func(r model.Record) bool {
		return r.ID == id && r.Op > 0
	})
}

// isInFlight reports whether an answer to a download has a record among those in flight.
func isInFlight(e *model.Entry, id model.ID) bool {
	for i := e.Ans.N; i < int64(len(e.Ans.Records)); i++ {
		if e.Ans.Records[i].ID == id {
			return true
		}
	}
	return false
}

// lastRestart is the last start of an attempt of the job in which the source of the record was told
// where to begin, and that order; nil: the job never began again.
func (s *story) lastRestart() (start, order *model.Entry) {
	source := s.t.sourceOf(s.about.Part)
	if source == nil {
		return nil, nil
	}
	order = s.t.findLast(0, s.t.end(), func(e *model.Entry) bool {
		return e.Kind == model.EntryDeliver && e.Msg.Kind == model.Restore && e.Attempt > 1 &&
			e.Proc == source.Proc && e.Msg.Attempt == e.Attempt
	})
	if order == nil {
		return nil, nil
	}
	return s.t.find(0, order.N, func(e *model.Entry) bool {
		return e.Kind == model.EntryStart && isOf(e, order)
	}), order
}

// sayBehind says that the job went on from a checkpoint that has the record behind it; it reports
// false where that is not so, or the trace does not show it.
func (s *story) sayBehind() bool {
	start, order := s.lastRestart()
	if start == nil {
		return false
	}
	offset, ok := s.t.position(s.about.Part, order.Msg.Seq)
	if !ok || offset <= s.about.Offset {
		return false
	}
	cause := ""
	if end := s.t.endBefore(start); end != nil && end.Kind != model.EntryPause {
		cause = fmt.Sprintf("%s %s, and ", s.t.name(end.Proc), s.died(end))
	}
	s.sentences = append(s.sentences, capital(fmt.Sprintf("%sthe job went on from %s (%s), in "+
		"which %s is at offset %d, behind %s: nobody reads it again.", cause,
		s.t.checkpointName(order.Msg.Seq), s.at(order.N), s.t.sourceOf(s.about.Part).Name, offset,
		s.record)))
	if why := s.whyLeftOut(order.Msg.Seq); !slices.Contains(s.sentences, why) {
		s.sayNotEmpty(why)
	}
	return true
}

// checkpointOf is the checkpoint or batch that an event is about, or 0. Of a request for one it is
// the one that the answer gives.
func (t *tape) checkpointOf(e *model.Entry) int64 {
	switch e.Msg.Kind {
	case model.WriteBatch:
		return e.Msg.Token
	case model.PlanBatch, model.FinishBatch:
		return e.Msg.Seq
	case model.NextCheckpoint, model.Newest, model.NewestBatch:
		return e.Ans.Seq
	case model.CommitTxn, model.AbortTxn, model.Write:
		if x := t.txnOf(e); x != nil && e.Msg.Checkpoint() == 0 {
			return 0
		}
	}
	return e.Msg.Checkpoint()
}

// restores counts the attempts that began from a checkpoint: all processes that were told to said
// that they had.
func (t *tape) restores() int {
	waiting := map[int32]map[model.ProcID]bool{} // by attempt: who was told and has not said so
	for i := range t.entries {
		e := &t.entries[i]
		switch {
		case e.Msg.Seq == 0 || e.Attempt == 1:
		case e.Kind == model.EntryDeliver && e.Msg.Kind == model.Restore:
			if waiting[e.Attempt] == nil {
				waiting[e.Attempt] = map[model.ProcID]bool{}
			}
			waiting[e.Attempt][e.Proc] = true
		case e.Kind == model.EntrySend && e.Msg.Kind == model.Ready:
			delete(waiting[e.Attempt], e.Proc)
		}
	}
	n := 0
	for _, procs := range waiting {
		if len(procs) == 0 {
			n++
		}
	}
	return n
}

// coordination sums up what became of checkpoints, or batches, and of transactions.
func (t *tape) coordination() string {
	begun, aborted := 0, 0
	completed := map[int64]bool{}
	for i := range t.entries {
		e := &t.entries[i]
		switch {
		case isServe(e, model.NextCheckpoint) && tookEffect(e),
			isServe(e, model.PlanBatch) && tookEffect(e):
			begun++
		case isServe(e, model.Completion) && tookEffect(e),
			isServe(e, model.FinishBatch) && tookEffect(e):
			completed[e.Msg.Seq] = true
		}
	}
	committed := 0
	for _, x := range t.txns {
		switch {
		case x.committed != 0:
			committed++
		case !x.isUndecided(t.end()):
			aborted++
		}
	}
	what := "checkpoints"
	if t.isBatched() {
		what = "batches"
	}
	text := fmt.Sprintf("%s: %d begun, %d completed, %d restored", what, begun, len(completed),
		t.restores())
	if n := len(t.txns); n > 0 {
		text += fmt.Sprintf("; transactions: %d begun, %d committed, %d aborted", n, committed,
			aborted)
	}
	return text
}
