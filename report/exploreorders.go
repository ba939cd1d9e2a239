package report

import (
	"slices"

	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/scenarios"
	"github.com/oncesim/oncesim/search"
)

// NewOrders is the document of an exploration of every order of events, which x has found of s. Its
// runs are ends of runs, and what shows an anomaly is said step by step as well. command writes the
// line that takes the steps of a tape again.
func NewOrders(x *search.Orders, s *scenarios.Scenario, records int, found *search.OrdersFound,
	command func(t *search.Tape) string) *Exploration {
	doc := &Exploration{Scenario: s.Name, Mode: s.Mode.Name, Defect: s.DefectName(),
		under: s.ModeText(), Exhausted: found.Exhausted,
		Left: found.Why, Runs: found.Runs, States: found.States, Unclaimed: list(s.Unlike()),
		Bound: ExplorationBound{Crashes: x.Crashes, Faults: x.Crashes, Classes: []string{},
			Records: records, Orders: true, Timers: x.Timers, Lulls: x.Lulls, Walks: x.Walks,
			says: found.Bound},
		Verdicts: []exploredProperty{}, Violations: []exploredAnomaly{}}
	if x.Crashes > 0 {
		doc.Bound.Classes = append(doc.Bound.Classes, "crash")
		if !slices.Contains(s.Mode.Tolerates, "crash") {
			doc.Unclaimed = append(doc.Unclaimed, "crash is not tolerated")
		}
	}
	for i := range x.Library.Properties {
		doc.Verdicts = append(doc.Verdicts, orderedProperty(x.Library.Properties[i].Name,
			found.Counts[i], s.Claims(), len(doc.Unclaimed) == 0))
	}
	for _, kind := range model.Anomalies() {
		tape := found.Witnesses[kind]
		if tape == nil {
			continue
		}
		v := exploredAnomaly{Kind: kind.String(), Finding: isFinding(x.Library, s, kind),
			States: found.Anomalies[kind], Faults: list(tape.Faults().Lines()), Seed: s.Seed,
			Steps: tape.Lines(), Reproduce: command(tape), kind: kind}
		doc.Violations = append(doc.Violations, v)
		if doc.Witness == "" && !v.Finding {
			doc.Witness, doc.Reproduce = tape.String(), v.Reproduce
		}
	}
	return doc
}

func orderedProperty(name string, n search.Count, claims []string, canClaim bool) exploredProperty {
	p := exploredProperty{Property: name, Claimed: canClaim && slices.Contains(claims, name),
		Verdict: n.Result().String(), Holds: n.Holds, Violated: n.Violated, Unknown: n.Undecided,
		result: n.Result()}
	if p.Claimed {
		p.Broken, p.isUnsure = n.Violated, n.Undecided > 0
	}
	return p
}
