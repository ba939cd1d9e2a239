package report

import (
	"cmp"
	"slices"

	"github.com/oncesim/oncesim/model"
)

// counts are how often one record got to four places on its way.
type counts struct {
	Delivered int64 // its data was handled by a first operator
	Applied   int64 // a last operator was applied to it or to what it became
	Written   int64 // the sink served a write of what it became
	Visible   int64 // a reader that starts over sees what it became
}

func (c *counts) add(o counts) {
	c.Delivered += o.Delivered
	c.Applied += o.Applied
	c.Written += o.Written
	c.Visible += o.Visible
}

// account is the ledger's entry of one input record.
type account struct {
	counts
	id        model.ID
	dropped   string  // why an operator dropped it on purpose, or ""
	applied   []int64 // by operator number: applications
	emitted   []int64 // by operator number: what they say they emitted
	isDoubled bool    // some identity was applied or is visible more than once
	severity  int     // of its worst anomaly, lower is worse
}

// ledger counts what became of every record.
type ledger struct {
	t        *tape
	input    *model.Input
	accounts []account // by Input.Index
	total    counts
	applied  []int64          // by operator number: applications to all records
	drops    map[string]int64 // by reason: records dropped on purpose
	isByKey  bool             // the sink shows the last output of a key only
}

func newLedger(c *Case, t *tape) *ledger {
	l := &ledger{t: t, input: c.Result.Subject.Input, drops: map[string]int64{}}
	l.isByKey = c.Result.Subject.Shape == model.Keys
	l.accounts = make([]account, l.input.Total())
	ops := len(t.job.Topology.Stages) + 1
	l.applied = make([]int64, ops)
	for i := range l.accounts {
		l.accounts[i] = account{id: l.input.ByIndex(i).ID, severity: len(model.Anomalies()),
			applied: make([]int64, ops), emitted: make([]int64, ops)}
	}
	l.countTrace()
	l.countSeen()
	l.rank(c.Result.Verdicts)
	for i := range l.accounts {
		a := &l.accounts[i]
		l.total.add(a.counts)
		for op, n := range a.applied {
			l.applied[op] += n
		}
		if a.dropped != "" {
			l.drops[a.dropped]++
		}
	}
	return l
}

// of is the account of a record, or nil for one that the input does not have.
func (l *ledger) of(id model.ID) *account {
	if !l.input.Has(id) {
		return nil
	}
	return &l.accounts[l.input.Index(id)]
}

func (l *ledger) countTrace() {
	steps := map[stepName]bool{}
	for i := range l.t.entries {
		e := &l.t.entries[i]
		a := l.of(e.Msg.Record.ID)
		switch {
		case a == nil:
		case e.Kind == model.EntryDeliver && e.Msg.Kind == model.Data && e.Msg.Record.Op == 0:
			a.Delivered++
		case isServe(e, model.Write):
			a.Written++
		}
		if isServe(e, model.WriteBatch) {
			l.countBatch(e)
		}
	}
	for i := range l.t.hist.Applications {
		app := &l.t.hist.Applications[i]
		a := l.of(app.In.ID)
		if a == nil || int(app.Op) >= len(a.applied) {
			continue
		}
		a.applied[app.Op]++
		a.emitted[app.Op] += int64(app.Outputs)
		if app.Dropped != "" {
			a.dropped = app.Dropped
		}
		name := stepName{app.Op, app.In.ID, app.In.Path}
		a.isDoubled = a.isDoubled || steps[name]
		steps[name] = true
		if l.t.job.Topology.IsTerminal(int(app.Op) - 1) {
			a.Applied++
		}
	}
}

// countBatch counts what a batch writes.
func (l *ledger) countBatch(e *model.Entry) {
	for i := range e.Msg.Parts {
		if a := l.of(e.Msg.Parts[i].ID); a != nil {
			a.Written++
		}
	}
}

// stepName is the identity of a step, or of an output.
type stepName struct {
	op   int32
	id   model.ID
	path model.Path
}

func (l *ledger) countSeen() {
	shown := map[stepName]bool{}
	for i := range l.t.hist.Final {
		rec := &l.t.hist.Final[i].Out
		a := l.of(rec.ID)
		if a == nil {
			continue
		}
		a.Visible++
		name := stepName{rec.Op, rec.ID, rec.Path}
		a.isDoubled = a.isDoubled || shown[name]
		shown[name] = true
	}
}

// rank notes the worst anomaly of each record.
func (l *ledger) rank(verdicts []model.Verdict) {
	for i := range verdicts {
		for j := range verdicts[i].Anomalies {
			anomaly := &verdicts[i].Anomalies[j]
			if a := l.of(anomaly.Record.ID); a != nil {
				a.severity = min(a.severity, slices.Index(model.Anomalies(), anomaly.Kind))
			}
		}
	}
}

// isAffected reports whether a record fared otherwise than in a run without faults: it was handed
// on more or less often than what its operators emitted says, or something is there twice, or it
// has an anomaly.
func (l *ledger) isAffected(a *account) bool {
	if a.isDoubled || a.severity < len(model.Anomalies()) {
		return true
	}
	top := l.t.job.Topology
	written, delivered := int64(0), int64(0)
	for i := range top.Stages {
		want := int64(0)
		for _, from := range top.Stages[i].From {
			want += l.reaching(a, from)
			if l.isInput(from, a.id.Part) {
				delivered++
			}
		}
		if a.applied[i+1] != want {
			return true
		}
		if top.IsTerminal(i) {
			written += a.emitted[i+1]
		}
	}
	isHidden := a.Visible != written && !l.isByKey
	return a.Delivered != delivered || a.Written != written || isHidden
}

// reaching is how many records a stage should get from one of the stages or inputs before it.
func (l *ledger) reaching(a *account, from string) int64 {
	for i, s := range l.t.job.Topology.Stages {
		if s.Name == from {
			return a.emitted[i+1]
		}
	}
	if l.isInput(from, a.id.Part) {
		return 1
	}
	return 0
}

// isInput reports whether name is the input that a partition belongs to.
func (l *ledger) isInput(name string, part int32) bool {
	rest := int(part)
	for _, in := range l.t.job.Topology.Inputs {
		n := max(in.Partitions, 1)
		if rest < n {
			return in.Name == name
		}
		rest -= n
	}
	return false
}

// affected lists the accounts that differ from a run without faults, the worst first.
func (l *ledger) affected() []*account {
	var list []*account
	if len(l.t.entries) == 0 {
		return nil // nothing is known of deliveries
	}
	for i := range l.accounts {
		if l.isAffected(&l.accounts[i]) {
			list = append(list, &l.accounts[i])
		}
	}
	slices.SortStableFunc(list, func(a, b *account) int {
		return cmp.Or(cmp.Compare(a.severity, b.severity), a.id.Compare(b.id))
	})
	return list
}
