package model

import (
	"fmt"
	"strings"
)

// Result is the value of a verdict.
type Result uint8

// The results. Undecided prints "unknown", and is never a pass.
const (
	Undecided Result = iota
	Holds
	Violated
)

var resultNames = [...]string{"unknown", "holds", "violated"}

// String names the result.
func (r Result) String() string { return resultNames[r] }

// AnomalyKind names what went wrong, in the field's terms.
type AnomalyKind uint8

// The anomalies.
const (
	Loss             AnomalyKind = iota + 1 // no application of an input is wholly visible
	Duplicate                               // one identity is visible more than once
	Phantom                                 // an output that no input and step give
	WrongValue                              // a value that no legal order gives
	Revised                                 // one identity was shown with two values, or vanished
	Reorder                                 // first occurrences are out of order
	Regression                              // under one key what is shown goes back
	StateLoss                               // an input is missing from the state
	StateDuplicate                          // an input is in the state more than once
	WrongState                              // each input once, but no legal order gives the state
	Divergence                              // state and output fit no one execution
	Unexplained                             // no claimed step gives the value
	NoSubsequence                           // no subsequence of the inputs gives the value
	Stuck                                   // no progress after the last fault
	OffsetRegression                        // finding: a committed offset went back
	ZombieWrite                             // finding: a write of a replaced attempt was accepted

	DirtyRead         // a reader saw output of a transaction that was aborted
	EarlyRead         // a reader saw output of a transaction that was not decided yet
	TornRead          // a reader saw part of what becomes visible in one step, or should
	Torn              // and that part is all that ever becomes visible
	Conflict          // of one checkpoint one participant committed, and another aborted
	Hanging           // a transaction is undecided in the end
	Unbalanced        // what a topology conserves was not conserved
	InconsistentCut   // a completed checkpoint is the state of no cut
	PointerRegression // finding: the completed checkpoint went back to an older one
	FracturedRead     // finding: a reader saw one task's part of a checkpoint and not another's yet
	PrematureCommit   // output was committed before it was decided that it is to be
	anomalyEnd
)

var anomalyNames = [anomalyEnd]string{"", "loss", "duplicate", "phantom", "wrong-value", "revised",
	"reorder", "regression", "state-loss", "state-duplicate", "wrong-state", "divergence",
	"unexplained", "no-subsequence", "stuck", "offset-regression", "zombie-write",
	"dirty-read", "early-read", "torn-read", "torn", "conflict", "hanging", "unbalanced",
	"inconsistent-cut", "pointer-regression", "fractured-read", "premature-commit"}

var anomalyCodes = [anomalyEnd]string{"", "L", "D", "PH", "W", "RV", "RO", "RG", "SL", "SD", "WS",
	"SX", "UX", "NS", "ST", "OG", "Z", "A1", "A3", "A2", "T", "AG", "HT", "IV", "IC", "PR", "FR",
	"PC"}

// String is the anomaly's name.
func (k AnomalyKind) String() string { return anomalyNames[k] }

// Code is the short code that tables use.
func (k AnomalyKind) Code() string { return anomalyCodes[k] }

// IsFinding reports whether k is a finding about the mechanism and not an outcome: no mode claims a
// property that it violates, but where a parameter is set for it (Mode.ClaimsWith). It is shown
// with its events and stays out of the golden table.
func (k AnomalyKind) IsFinding() bool {
	switch k {
	case OffsetRegression, ZombieWrite, PointerRegression, FracturedRead:
		return true
	}
	return false
}

// ParseAnomaly is the inverse of String.
func ParseAnomaly(word string) (AnomalyKind, bool) {
	for k := Loss; k < anomalyEnd; k++ {
		if anomalyNames[k] == word {
			return k, true
		}
	}
	return 0, false
}

// Anomalies lists all kinds, most severe first: the order in which they are reported.
func Anomalies() []AnomalyKind {
	return []AnomalyKind{Conflict, Torn, Loss, StateLoss, Phantom, Unexplained, WrongValue,
		WrongState, Unbalanced, NoSubsequence, Divergence, Duplicate, StateDuplicate, Revised,
		PrematureCommit, DirtyRead, EarlyRead, TornRead, Reorder, Regression, InconsistentCut,
		Stuck, Hanging, ZombieWrite, OffsetRegression, PointerRegression, FracturedRead}
}

// Fact is one side of an expectation: how often, and with which values.
type Fact struct {
	Times    int64 // -1: not a matter of times
	Value    Value // meaningful where HasValue
	Other    Value // a second value, meaningful where HasOther
	HasValue bool
	HasOther bool
}

// String renders the fact: "once", "3 times", "value 5", "values 5 and 6".
func (f Fact) String() string {
	var parts []string
	switch {
	case f.Times == 0:
		parts = append(parts, "never")
	case f.Times == 1:
		parts = append(parts, "once")
	case f.Times > 1:
		parts = append(parts, fmt.Sprintf("%d times", f.Times))
	}
	switch {
	case f.HasOther:
		parts = append(parts, "values "+f.Value.String()+" and "+f.Other.String())
	case f.HasValue:
		parts = append(parts, "value "+f.Value.String())
	}
	return strings.Join(parts, ", ")
}

// EventsMax is how many event numbers a certificate cites at most.
const EventsMax = 4

// Anomaly is the certificate of one violation: which record, at which events, what was expected
// and what was seen. It is minimal: one anomaly a record and kind.
type Anomaly struct {
	Kind     AnomalyKind
	Record   Record // identity, and the key where it matters
	Events   [EventsMax]int64
	Expected Fact
	Observed Fact
}

// Cite appends an event number to the certificate; 0 and what does not fit are left out.
func (a *Anomaly) Cite(n int64) {
	for i := range a.Events {
		if a.Events[i] == n {
			return
		}
		if a.Events[i] == 0 {
			a.Events[i] = n
			return
		}
	}
}

// Verdict is the judgement of one property over one history.
type Verdict struct {
	Property  string
	Result    Result
	Reason    string // Undecided: why; Violated: why more may be wrong than is listed; or ""
	Anomalies []Anomaly
}

// Has reports whether v carries an anomaly of kind k.
func (v *Verdict) Has(k AnomalyKind) bool {
	for i := range v.Anomalies {
		if v.Anomalies[i].Kind == k {
			return true
		}
	}
	return false
}
