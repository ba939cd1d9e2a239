package checker

import "github.com/oncesim/oncesim/model"

// replayExplained is ALO, explanation: what repeats is a rewind, nothing worse.
func replayExplained() Property {
	return Property{
		Name: "replay-explained",
		Says: "whatever is visible, and each state that was stored, is what a claimed step gives " +
			"when it is taken again on the state that its life had; not claimed where a replaced " +
			"attempt kept running",
		Source: "Veresov et al., Failure Transparency in Stateful Dataflow Systems, ECOOP 2024; " +
			"Alvisi and Marzullo, Message Logging, 1998 (no orphans)",
		Anomalies: []model.AnomalyKind{model.Phantom, model.Unexplained},
		Check:     checkReplay,
	}
}

func checkReplay(j *Judge) (model.Result, string) {
	if j.plan.ambiguous {
		return model.Undecided, reasonAmbiguous
	}
	j.look()
	j.reportFakes()
	if j.match() > 0 {
		for i := range j.seen.entries {
			if e := &j.seen.entries[i]; e.slot != noSlot && e.claim == 0 {
				j.reportUnmatched(int32(i))
			}
		}
	}
	if j.plan.stateful && j.claims.foreign {
		j.reportForeignPuts()
	}
	if j.Reported() > 0 && j.hasZombie() {
		j.verdict.Anomalies = j.verdict.Anomalies[:0]
		return model.Undecided, reasonZombie
	}
	return j.conclude("")
}

// match looks for a claim that emits each visible record. It returns how many have none.
func (j *Judge) match() int {
	j.look()
	j.replay()
	if j.seen.matched {
		return j.claims.unmatched
	}
	j.seen.matched, j.claims.unmatched = true, 0
	for i := range j.seen.entries {
		e := &j.seen.entries[i]
		if e.slot == noSlot {
			continue
		}
		o := &j.seen.list[i]
		if e.claim = j.shower(o); e.claim == 0 {
			j.claims.unmatched++
		}
	}
	return j.claims.unmatched
}

// shower is the latest valid claim that emits a visible record as it is, into its partition, plus
// one, or 0.
func (j *Judge) shower(o *model.Observation) int32 {
	step := j.slot(o.Out.ID, o.Out.Op, o.Out.Path>>model.PathBits)
	for i := j.nodes[step].claim; i > 0; i = j.claims.list[i-1].next {
		if j.emits(i, &o.Out) && j.plan.sinks[j.h.Applications[i-1].Proc] == o.Part {
			return i
		}
	}
	return 0
}

// reportUnmatched reports an entry that no claim emits as it is: a phantom if none emits it at all,
// or not into this partition.
func (j *Judge) reportUnmatched(i int32) {
	rec := &j.seen.list[i].Out
	step := j.slot(rec.ID, rec.Op, rec.Path>>model.PathBits)
	ordinal := int32(rec.Path & (1<<model.PathBits - 1))
	for n := j.nodes[step].claim; n > 0; n = j.claims.list[n-1].next {
		c := &j.claims.list[n-1]
		if ordinal >= c.outs {
			continue
		}
		if e := &j.claims.emitted[c.out+ordinal]; !e.is(rec) {
			j.reportEntry(model.Unexplained, i,
				model.Fact{Times: -1, Value: e.value, HasValue: true})
			return
		}
	}
	j.reportEntry(model.Phantom, i, model.Fact{})
}

// reportForeignPuts reports states that were stored and that no claimed step made.
func (j *Judge) reportForeignPuts() {
	for i := range j.h.Servings {
		s := &j.h.Servings[i]
		call := &j.h.Calls[s.Call]
		switch {
		case !isEffect(s):
		case call.Req.Kind == model.Upload:
			j.reportForeignParts(s, &j.checkpoints.uploads[j.claims.calls[s.Call].memory])
		case setsState(&call.Req) && j.claims.calls[s.Call].version == alien:
			j.reportForeign(s, &call.Req.Record)
		}
	}
}

// reportForeignParts reports the states in a part of a checkpoint that no claimed step made.
func (j *Judge) reportForeignParts(s *model.Serving, u *upload) {
	for i := u.from; i < u.to; i++ {
		if j.checkpoints.saved[i].version == alien {
			j.reportForeign(s, &j.h.Calls[u.call].Req.Parts[i-u.from])
		}
	}
}

func (j *Judge) reportForeign(s *model.Serving, rec *model.Record) {
	a := model.Anomaly{Kind: model.Unexplained, Record: *rec,
		Expected: model.Fact{Times: -1},
		Observed: model.Fact{Times: -1, Value: rec.Value, HasValue: true}}
	a.Cite(j.h.Calls[s.Call].Invoked)
	a.Cite(s.N)
	j.Report(a)
}

// hasZombie reports whether some attempt kept running after it had been replaced.
func (j *Judge) hasZombie() bool {
	for i := range j.h.Lives {
		if j.h.Lives[i].Replaced != 0 {
			return true
		}
	}
	return false
}
