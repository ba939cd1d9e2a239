package oracle

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/oncesim/oncesim/model"
)

// Finding is one anomaly of one record.
type Finding struct {
	Kind   model.AnomalyKind
	Record model.Record // what it is about: an identity, and the key where it matters
	Event  int64        // the event that shows it, or 0

	isOptional bool // a judge need not name it: another finding may be blamed instead
}

// Report is what an oracle says of one run.
type Report struct {
	verdicts []verdict
}

// verdict is the judgement of one property while it is being made.
type verdict struct {
	property string
	result   model.Result
	reason   string // why it is undecided
	findings []Finding
	atEnd    []Finding // those that count only if the run is over

	optional  bool                // what is added now is optional
	isLenient bool                // and so is all else
	tolerated []model.AnomalyKind // another judge may see the violation so
}

// add notes a finding that stands however the run goes on.
func (v *verdict) add(kind model.AnomalyKind, rec model.Record, n int64) {
	v.findings = append(v.findings, Finding{kind, rec, n, v.optional})
}

// addAtEnd notes a finding that what comes later could heal.
func (v *verdict) addAtEnd(kind model.AnomalyKind, rec model.Record, n int64) {
	v.atEnd = append(v.atEnd, Finding{kind, rec, n, v.optional})
}

// leave leaves the property undecided.
func (v *verdict) leave(reason string) { v.reason = reason }

// conclude turns findings into a result.
func (v *verdict) conclude(r *run) {
	if v.reason != "" {
		v.findings = nil
		return
	}
	if r.end == model.Quiescent {
		v.findings = append(v.findings, v.atEnd...)
	}
	slices.SortFunc(v.findings, compare)
	switch {
	case len(v.findings) > 0:
		v.result = model.Violated
	case len(v.atEnd) > 0 && r.end != model.Quiescent:
		v.reason = "the run was cut off"
	default:
		v.result = model.Holds
	}
}

// compare orders findings: by kind, by record, by event.
func compare(a, b Finding) int {
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), a.Record.ID.Compare(b.Record.ID),
		cmp.Compare(a.Record.Op, b.Record.Op), cmp.Compare(a.Record.Path, b.Record.Path),
		cmp.Compare(a.Record.Key, b.Record.Key), cmp.Compare(a.Event, b.Event))
}

// kinds are the anomalies of a verdict, most severe first.
func (v *verdict) kinds() []model.AnomalyKind {
	var kinds []model.AnomalyKind
	for _, kind := range model.Anomalies() {
		if slices.ContainsFunc(v.findings, func(f Finding) bool { return f.Kind == kind }) {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

func (r *Report) find(property string) *verdict {
	for i := range r.verdicts {
		if r.verdicts[i].property == property {
			return &r.verdicts[i]
		}
	}
	return nil
}

// Verdict returns the result for a property and the kinds of anomaly that violate it, most severe
// first. A property that the oracle does not know is undecided.
func (r *Report) Verdict(property string) (model.Result, []model.AnomalyKind) {
	v := r.find(property)
	if v == nil {
		return model.Undecided, nil
	}
	return v.result, v.kinds()
}

// Findings returns the anomalies behind a violated property, one for each record and kind.
func (r *Report) Findings(property string) []Finding {
	if v := r.find(property); v != nil {
		return v.findings
	}
	return nil
}

// Reason says why a property is undecided, or "".
func (r *Report) Reason(property string) string {
	if v := r.find(property); v != nil {
		return v.reason
	}
	return "the oracle does not know this property"
}

// String renders one line a property.
func (r *Report) String() string {
	var b strings.Builder
	for i := range r.verdicts {
		v := &r.verdicts[i]
		fmt.Fprintf(&b, "%-18s %s\n", v.property, v.line())
	}
	return b.String()
}

func (v *verdict) line() string {
	switch v.result {
	case model.Undecided:
		return fmt.Sprintf("%s (%s)", v.result, v.reason)
	case model.Holds:
		return v.result.String()
	}
	parts := make([]string, len(v.findings))
	for i, f := range v.findings {
		parts[i] = fmt.Sprintf("%s %d:%d", f.Kind, f.Record.ID.Part, f.Record.ID.Offset)
	}
	return fmt.Sprintf("%s: %s", v.result, strings.Join(parts, ", "))
}

// Disagreement compares a report with the verdicts of a checker, one line for each property on
// which they differ; "" says that they agree. They differ where both decide and the results are
// not equal, and where both find a violation of different kinds of anomaly.
//
// Exactly-once is a claim about one execution for everything, and which record is to blame depends
// on the execution that a judge has in mind. There the checker must name what is wrong under each
// of them, and may name what follows from it.
func Disagreement(r *Report, verdicts []model.Verdict) string {
	var b strings.Builder
	for i := range verdicts {
		theirs := &verdicts[i]
		ours := r.find(theirs.Property)
		if ours == nil || ours.result == model.Undecided || theirs.Result == model.Undecided ||
			ours.agrees(theirs) {
			continue
		}
		fmt.Fprintf(&b, "%s: the checker says %s %v, the oracle says %s\n", theirs.Property,
			theirs.Result, kindsOf(theirs), ours.line())
	}
	return b.String()
}

func (v *verdict) agrees(theirs *model.Verdict) bool {
	if v.result != theirs.Result {
		return false
	}
	for _, kind := range model.Anomalies() {
		isFound, isNeeded := false, false
		for _, f := range v.findings {
			if f.Kind == kind {
				isFound = true
				isNeeded = isNeeded || !f.isOptional && !v.isLenient && theirs.Reason == ""
			}
		}
		mayName := isFound || slices.Contains(v.tolerated, kind)
		if theirs.Has(kind) && !mayName || !theirs.Has(kind) && isNeeded {
			return false
		}
	}
	return true
}

// Undecided counts the properties on which a report and the verdicts of a checker could not differ
// because one of them is undecided.
func Undecided(r *Report, verdicts []model.Verdict) int {
	n := 0
	for i := range verdicts {
		ours, _ := r.Verdict(verdicts[i].Property)
		if ours == model.Undecided || verdicts[i].Result == model.Undecided {
			n++
		}
	}
	return n
}

func kindsOf(v *model.Verdict) []model.AnomalyKind {
	var kinds []model.AnomalyKind
	for _, kind := range model.Anomalies() {
		if v.Has(kind) {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}
