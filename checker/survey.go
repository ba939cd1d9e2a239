package checker

import "github.com/oncesim/oncesim/model"

// survey is what one pass over the servings finds out for several properties and for certificates.
type survey struct {
	next     int // servings before this one have been looked at
	drains   []drain
	reign    reign
	takings  []int32         // the servings that handed out input, or committed an offset
	writes   []writing       // to the sink
	findings []model.Anomaly // of mechanism
}

// drain is how far a partition was read.
type drain struct {
	ended     bool  // a current life was told that it ends
	committed int64 // the furthest offset commit served: moving back is no lack of progress
	at        int64
}

// writing is a write that was applied, and the place that it got.
type writing struct {
	part, seq int64
	serving   int32
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
	v.findings = v.findings[:0]
	for range j.s.Input.Parts {
		v.drains = append(v.drains, drain{})
	}
	r := &v.reign
	r.attempts, r.began, r.next = r.attempts[:0], r.began[:0], 0
	for range j.plan.job.Tasks {
		r.attempts, r.began = append(r.attempts, 0), append(r.began, 0)
	}
}

// end notes that a partition ends, if it is a current life that was told so.
func (j *Judge) end(s *model.Serving, call *model.Call) {
	part := call.Req.Record.ID.Part
	if part >= 0 && int(part) < len(j.survey.drains) &&
		j.reigns(call.Proc, call.Attempt, s.N) {
		j.survey.drains[part].ended = true
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
	if hasEffect && isDurable(kind) && !j.reigns(call.Proc, call.Attempt, s.N) {
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
			v.writes = append(v.writes, writing{call.Req.Seq, s.Ans.Seq, i})
		}
	}
}
