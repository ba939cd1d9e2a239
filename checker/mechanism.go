package checker

import "github.com/oncesim/oncesim/model"

// mechanism collects findings: what should not happen but need not show. An idempotent sink takes
// the write of a zombie and is clean. No mode claims it.
func mechanism() Property {
	return Property{
		Name: "mechanism",
		Says: "no committed offset goes back, and no durable write of a replaced attempt is " +
			"accepted",
		Source: "Akidau et al., MillWheel, VLDB 2013 (sequencers); docs of Apache Kafka, " +
			"transactional.id (fencing)",
		Anomalies: []model.AnomalyKind{model.ZombieWrite, model.OffsetRegression},
		Check:     checkMechanism,
	}
}

// reign is who is current: of each process the life begun last before some event.
type reign struct {
	attempts []int32 // by process; 0: no life has begun
	began    []int64
	next     int // the life that begins next
}

// rule starts from the beginning of the run.
func (j *Judge) rule() {
	r := &j.reign
	r.attempts, r.began, r.next = r.attempts[:0], r.began[:0], 0
	for range j.plan.job.Tasks {
		r.attempts, r.began = append(r.attempts, 0), append(r.began, 0)
	}
}

// reigns reports whether an attempt is the newest of its process at event n. Events are asked for
// in order.
func (j *Judge) reigns(proc model.ProcID, attempt int32, n int64) bool {
	r := &j.reign
	for r.next < len(j.h.Lives) && j.h.Lives[r.next].Began < n {
		life := &j.h.Lives[r.next]
		r.attempts[life.Proc], r.began[life.Proc] = life.Attempt, life.Began
		r.next++
	}
	return proc < 0 || int(proc) >= len(r.attempts) || attempt >= r.attempts[proc]
}

func checkMechanism(j *Judge) (model.Result, string) {
	j.rule()
	j.drains = j.drains[:0]
	for range j.s.Input.Parts {
		j.drains = append(j.drains, drain{})
	}
	for i := range j.h.Servings {
		s := &j.h.Servings[i]
		call := &j.h.Calls[s.Call]
		if !isDurable(call.Req.Kind) || !isApplied(&s.Ans) {
			continue
		}
		if !j.reigns(call.Proc, call.Attempt, s.N) {
			j.reportZombie(s, call)
		}
		if call.Req.Kind == model.OffsetCommit {
			j.commit(s, call)
		}
	}
	return j.conclude("")
}

// isDurable reports whether a request of kind k changes something durable.
func isDurable(k model.Kind) bool {
	return k == model.Put || k == model.Write || k == model.OffsetCommit
}

// commit compares an offset commit with the one before.
func (j *Judge) commit(s *model.Serving, call *model.Call) {
	part := call.Req.Record.ID.Part
	if part < 0 || int(part) >= len(j.drains) {
		return
	}
	d := &j.drains[part]
	if call.Req.Seq < d.committed {
		a := model.Anomaly{Kind: model.OffsetRegression,
			Record:   model.Record{ID: model.ID{Part: part, Offset: call.Req.Seq}},
			Expected: model.Fact{Times: -1, Value: model.Value{Num: d.committed}, HasValue: true},
			Observed: model.Fact{Times: -1, Value: model.Value{Num: call.Req.Seq}, HasValue: true}}
		a.Cite(d.at)
		a.Cite(s.N)
		j.Report(a)
	}
	if call.Req.Seq >= d.committed {
		d.committed, d.at = call.Req.Seq, s.N
	}
}

func (j *Judge) reportZombie(s *model.Serving, call *model.Call) {
	a := model.Anomaly{Kind: model.ZombieWrite, Record: call.Req.Record,
		Expected: model.Fact{Times: 0},
		Observed: model.Fact{Times: 1}}
	if call.Req.Kind == model.OffsetCommit {
		a.Record.ID.Offset = call.Req.Seq
	} else {
		a.Observed.Value, a.Observed.HasValue = call.Req.Record.Value, true
	}
	a.Cite(j.reign.began[call.Proc])
	a.Cite(call.Invoked)
	a.Cite(s.N)
	j.Report(a)
}
