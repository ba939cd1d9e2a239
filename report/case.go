package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/oncesim/oncesim/faults"
	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/scenarios"
	"github.com/oncesim/oncesim/search"
)

// Case is one judged run: what every report of a single run is made from. Its result should have
// the full trace; without it there is no story, no diagram and no ledger, and the report says so.
type Case struct {
	Library  *scenarios.Library
	Scenario *scenarios.Scenario
	Result   scenarios.Result
	Stats    scenarios.InputStats
	Command  string // the shell line that runs it again, or ""
	Saved    string // the file that it was saved to, or ""
	Judged   bool   // the verdict section of the scenario is about this run: say whether it is met

	Required []string // properties that must hold whatever the mode claims: a test asks for them

	Excuse string // why the faults mean nothing under the mode, for Sides; "": they were run

	Linearizable []model.Verdict // what CheckLinearizable found, or nil

	Shrunk *search.Shrunk // how the scenario was made from a larger one, or nil
}

// Title is the first line of the report; it is good as the title of an issue. A fault that was not
// reached is counted in it: what it says is then no answer to the question that was asked.
func Title(c *Case) string {
	s := c.Scenario
	text := fmt.Sprintf("%s under %s, seed %d: %s", s.Name, s.ModeText(), s.Seed, c.headline())
	switch n := len(NotReached(c)); n {
	case 0:
		return text
	case 1:
		return text + "; 1 fault was not reached"
	default:
		return text + fmt.Sprintf("; %d faults were not reached", n)
	}
}

// headline is what a run shows, in a clause.
func (c *Case) headline() string {
	v, a := c.primary()
	switch {
	case a != nil:
		return fmt.Sprintf("%s violated: %s", v.Property, c.summary(v, a))
	case v != nil && v.Result == model.Violated:
		return v.Property + " violated"
	case v != nil:
		return fmt.Sprintf("%s unknown: %s", v.Property, v.Reason)
	}
	claims := c.claims()
	switch n := len(claims); {
	case n == 0:
		return "nothing violated"
	case len(c.unclaimed()) > 0:
		return "nothing is claimed: " + strings.Join(c.unclaimed(), ", ")
	case n > 2:
		return fmt.Sprintf("all %d claims hold", n)
	}
	return strings.Join(claims, " and ") + " holds"
}

// summary is an anomaly in few words, and how many others the property shows.
func (c *Case) summary(v *model.Verdict, a *model.Anomaly) string {
	text := fmt.Sprintf("%s %s", a.Kind, c.anomalyName(a))
	if a.Kind == model.Stuck {
		text += fmt.Sprintf(" at position %d, not %d", a.Observed.Value.Num, a.Expected.Value.Num)
		if !c.Scenario.Mode.Commits {
			text = fmt.Sprintf("%s (%s)", a.Kind, c.observed(a))
		}
	}
	if a.Observed.Times > 1 {
		text += fmt.Sprintf(" x%d", a.Observed.Times)
	}
	if more := len(v.Anomalies) - 1; more > 0 {
		text += fmt.Sprintf(", and %d more", more)
	}
	return text
}

// anomalyName names the record of an anomaly; the run as a whole where there is none.
func (c *Case) anomalyName(a *model.Anomaly) string {
	id := a.Record.ID
	switch {
	case a.Kind == model.Stuck && !c.Scenario.Mode.Commits:
		return "of the run"
	case a.Kind == model.Stuck && id.Part >= 0 && int(id.Part) < c.Scenario.Topology.Partitions():
		return c.Scenario.Topology.PartitionName(id.Part)
	case a.Kind == model.Hanging:
		return "transaction " + txnName{id: id.Offset}.String()
	case id.Part < 0 && id.Offset > 0:
		return fmt.Sprintf("checkpoint %d", id.Offset)
	case !c.Result.Subject.Input.Has(id):
		return "of the run"
	}
	return c.recordName(id)
}

func (c *Case) recordName(id model.ID) string {
	if top := c.Scenario.Topology; id.Part >= 0 && int(id.Part) < top.Partitions() {
		return top.RecordName(id)
	}
	return "no record"
}

// primary is the verdict that the report is about and its most severe anomaly: of what is violated
// the claims come first, then the property that forbids most. Where nothing is violated it is the
// first unknown claim, or nothing.
func (c *Case) primary() (*model.Verdict, *model.Anomaly) {
	var best *model.Verdict
	weight := -1
	for i := range c.Result.Verdicts {
		v := &c.Result.Verdicts[i]
		if w := c.weight(v); v.Result == model.Violated && w > weight {
			best, weight = v, w
		}
	}
	if best == nil {
		return c.unknownClaim(), nil
	}
	if len(best.Anomalies) == 0 {
		return best, nil
	}
	return best, &best.Anomalies[0]
}

// weight says how much a violated verdict is worth telling.
func (c *Case) weight(v *model.Verdict) int {
	weight := 0
	for i := range c.Library.Properties {
		if p := &c.Library.Properties[i]; p.Name == v.Property {
			weight = len(p.Anomalies)
		}
	}
	if c.mustHold(v.Property) {
		weight += 1000
	}
	return weight
}

// unknownClaim is the first verdict on what must hold that is unknown, or nil.
func (c *Case) unknownClaim() *model.Verdict {
	for i := range c.Result.Verdicts {
		v := &c.Result.Verdicts[i]
		if v.Result == model.Undecided && c.mustHold(v.Property) {
			return v
		}
	}
	return nil
}

// claims is what the mode claims of such a job.
func (c *Case) claims() []string {
	return c.Scenario.Claims()
}

// isClaimed reports whether the mode claims a property under the faults that struck.
func (c *Case) isClaimed(property string) bool {
	return slices.Contains(c.claims(), property) && len(c.unclaimed()) == 0
}

// mustHold reports whether a property is claimed or required.
func (c *Case) mustHold(property string) bool {
	return slices.Contains(c.Required, property) || c.isClaimed(property)
}

// unclaimed says why the mode claims nothing of the run; empty: it claims what it does.
func (c *Case) unclaimed() []string {
	return search.Unclaimed(c.Library, c.Scenario, c.Result.Subject.History.Reached)
}

// outside lists the faults that struck and that the mode does not say it tolerates: under them it
// claims nothing.
func (c *Case) outside() []string {
	return search.Outside(c.Library, c.Scenario, c.Result.Subject.History.Reached)
}

// IsViolated reports whether a property that the mode claims, or that is required, is violated, and
// whether one is unknown.
func IsViolated(c *Case) (violated, unknown bool) {
	for i := range c.Result.Verdicts {
		v := &c.Result.Verdicts[i]
		if c.mustHold(v.Property) {
			violated = violated || v.Result == model.Violated
			unknown = unknown || v.Result == model.Undecided
		}
	}
	return violated, unknown
}

// Signature is search.Signature of a case. It can be the name of a file.
func Signature(c *Case) string { return search.Signature(c.Scenario.Mode, c.Result.Verdicts) }

// NotReached lists the faults of the plan that the run did not get to.
func NotReached(c *Case) []string {
	var lines []string
	for _, f := range c.notReached() {
		lines = append(lines, f.String())
	}
	return lines
}

func (c *Case) notReached() []faults.Fault {
	var list []faults.Fault
	reached := c.Result.Subject.History.Reached
	for i, f := range c.Scenario.Faults {
		if i < len(reached) && reached[i] == 0 {
			list = append(list, f)
		}
	}
	return list
}

// missed is a line on a fault that was not reached, with what its process asks for instead where it
// never makes such a request.
func (c *Case) missed(f faults.Fault) string {
	p := c.Result.Subject.Job.Find(f.Proc)
	calls := c.Result.Subject.History.Extent.Calls
	if f.Scope != model.CallOfKind || p < 0 || int(p) >= len(calls) {
		return f.String()
	}
	var made []string
	for _, kind := range model.Kinds() {
		if int(kind) < len(calls[p]) && kind.IsCall() && calls[p][kind] > 0 {
			made = append(made, fmt.Sprintf("%s %d", kind, calls[p][kind]))
		}
	}
	if calls[p][f.Call] > 0 || len(made) == 0 {
		return f.String()
	}
	return fmt.Sprintf("%s; %s makes no %s, but up to %s", f, f.Proc, f.Call,
		strings.Join(made, ", "))
}
