package checker

import "github.com/oncesim/oncesim/model"

// survey is what one pass over the servings finds out for several properties and for certificates.
type survey struct {
	next     int // servings before this one have been looked at
	drains   []drain
	reign    reign
	takings  []int32         // the servings that handed out input, or committed an offset
	writes   []writing       // to the sink
	batches  int             // how many of these came in batches
	deciding []int32         // the servings that began or ended a transaction, or prepared one
	decided  []int32         // those that completed a checkpoint, or planned a batch
	pointer  pointer         // the checkpoint completed last
	findings []model.Anomaly // of mechanism
}

// drain is how far a partition was read.
type drain struct {
	told      int32 // the call of the life told last that it ends, plus one; 0: none was
	committed int64 // the furthest offset commit served: moving back is no lack of progress
	at        int64
}

// writing is a write that was applied, and the place that it got.
type writing struct {
	part, seq int64
	serving   int32
	row       int32 // in a batch, or noRow: it came alone
}

// noRow stands for no row of a batch.
const noRow = -1

// wrote is what was written.
func (j *Judge) wrote(w *writing) *model.Record {
	req := &j.h.Calls[j.h.Servings[w.serving].Call].Req
	if w.row == noRow {
		return &req.Record
	}
	return &req.Parts[w.row]
}

// reign is who is current: of each process the life begun last before some event.
type reign struct {
	attempts []int32 // by process; 0: no life has begun
	began    []int64
	next     int // the life that begins next
}

// reigns reports whether an attempt is the newest of its process at event n. Events are asked for
// in order.
func (j *Judge) reigns(proc model.ProcID, attempt int32, n int64) bool {
	r := &j.survey.reign
	for r.next < len(j.h.Lives) && j.h.Lives[r.next].Began < n {
		life := &j.h.Lives[r.next]
		r.attempts[life.Proc], r.began[life.Proc] = life.Attempt, life.Began
		r.next++
	}
	return proc < 0 || int(proc) >= len(r.attempts) || attempt >= r.attempts[proc]
}

// openSurvey begins at the first serving.
func (j *Judge) openSurvey() {
	v := &j.survey
	v.next = 0
	v.drains, v.takings, v.writes = v.drains[:0], v.takings[:0], v.writes[:0]
	v.findings, v.batches = v.findings[:0], 0
	v.deciding, v.decided = v.deciding[:0], v.decided[:0]
	v.pointer = pointer{}
	for range j.s.Input.Parts {
		v.drains = append(v.drains, drain{})
	}
	r := &v.reign
	r.attempts, r.began, r.next = r.attempts[:0], r.began[:0], 0
	for range j.plan.job.Tasks {
		r.attempts, r.began = append(r.attempts, 0), append(r.began, 0)
	}
}

// end notes that a life was told that a partition ends, unless it is not the newest one.
func (j *Judge) end(s *model.Serving, call *model.Call) {
	part := call.Req.Record.ID.Part
	if part >= 0 && int(part) < len(j.survey.drains) &&
		j.reigns(call.Proc, call.Attempt, s.N) {
		j.survey.drains[part].told = s.Call + 1
	}
}

// surveyAll looks at the servings that have not been looked at.
func (j *Judge) surveyAll() {
	for j.survey.next < len(j.h.Servings) {
		j.surveyNext()
	}
}

// surveyNext looks at the next serving.
func (j *Judge) surveyNext() {
	v := &j.survey
	i := int32(v.next)
	v.next++
	s := &j.h.Servings[i]
	call := &j.h.Calls[s.Call]
	kind, hasEffect := call.Req.Kind, isEffect(s)
	if hasEffect && kind.IsDurable() && !j.reigns(call.Proc, call.Attempt, s.N) {
		j.findZombie(s, call)
	}
	switch kind {
	case model.Fetch:
		if hasEffect {
			v.takings = append(v.takings, i)
		}
		if s.Ans.End && call.Outcome == model.Done {
			j.end(s, call)
		}
	case model.OffsetCommit:
		if hasEffect {
			v.takings = append(v.takings, i)
			j.commit(s, call)
		}
	case model.Write:
		if hasEffect {
			v.writes = append(v.writes, writing{call.Req.Seq, s.Ans.Seq, i, noRow})
		}
	default:
		j.surveyDecision(i, s, kind)
		if kind >= model.NextCheckpoint && hasEffect {
			j.surveySnapshot(i, s, call)
		}
	}
}

// surveyDecision looks at a serving that may be a decision, or a vote. What is forgotten later is
// one, since somebody was told.
func (j *Judge) surveyDecision(i int32, s *model.Serving, kind model.Kind) {
	v := &j.survey
	switch {
	case !isApplied(&s.Ans):
	case kind == model.Completion || kind == model.PlanBatch:
		v.decided = append(v.decided, i)
	case kind == model.PrepareTxn && s.Forgotten:
		v.deciding = append(v.deciding, i)
	}
}

// surveySnapshot looks at a serving about checkpoints, batches or transactions.
func (j *Judge) surveySnapshot(i int32, s *model.Serving, call *model.Call) {
	v := &j.survey
	switch call.Req.Kind {
	case model.WriteBatch:
		j.surveyBatch(i, s, &call.Req)
	case model.InitTxn, model.BeginTxn, model.PrepareTxn, model.CommitTxn, model.AbortTxn:
		v.deciding = append(v.deciding, i)
	case model.Completion:
		j.point(s, call.Req.Seq)
	}
}

// surveyBatch looks at a batch that was written. What a log leaves out of it, since it is there,
// takes no place; nobody is told, but readers see it.
func (j *Judge) surveyBatch(i int32, s *model.Serving, req *model.Message) {
	v, place := &j.survey, s.Ans.Seq
	for row := range req.Parts {
		if j.s.Shape == model.Log && j.isLeftOut(req.Seq, place, &req.Parts[row]) {
			continue
		}
		v.writes = append(v.writes, writing{req.Seq, place, i, int32(row)})
		v.batches++
		place++
	}
}

// isLeftOut reports whether a row of a batch is not where it would have come to be and its identity
// has been written before.
func (j *Judge) isLeftOut(part, place int64, row *model.Record) bool {
	j.look()
	if i := j.seen.place(int32(part), place); i >= 0 && j.seen.list[i].Out.Same(*row) {
		return false
	}
	for i := range j.survey.writes {
		if w := &j.survey.writes[i]; w.part == part && j.wrote(w).Same(*row) {
			return true
		}
	}
	return false
}
