package search

import (
	"slices"

	"github.com/oncesim/oncesim/checker"
	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/scenarios"
)

// Claim is what a mode says of a property under a class of faults.
type Claim uint8

// The claims.
const (
	NoClaim       Claim = iota // it may hold or not, or the mode is silent
	ClaimHolds                 // it is never violated
	ClaimViolated              // a violation is reachable
)

var claimNames = [...]string{"n/a", "holds", "violated"}

// String names the claim as tables and JSON do.
func (c Claim) String() string { return claimNames[c] }

// ClaimOf is what a mode says of a property under a class of faults. It promises what it claims,
// under the faults that it tolerates; a violation is claimed to be reachable where the golden cell
// says that one must be. Everything else is left open: what never appears in the small worlds of
// the golden table may appear in another one. Under a class that does not apply to it a mode claims
// nothing. The parameters are those that the scenario sets, as the class varies it: see Under.
func ClaimOf(mode *model.Mode, class *scenarios.Class, kind model.OperatorKind,
	params []model.ParamValue, p *checker.Property) Claim {
	cell, _ := mode.Cell(class.Name, kind)
	switch {
	case !class.Applies(mode):
		return NoClaim
	case slices.ContainsFunc(AnomaliesUnder(mode, p), func(a model.AnomalyKind) bool {
		return slices.Contains(cell.Must, a)
	}):
		return ClaimViolated
	case slices.Contains(mode.ClaimsUnder(kind, params), p.Name) &&
		slices.Contains(mode.Tolerates, class.Name):
		return ClaimHolds
	}
	return NoClaim
}

// AnomaliesUnder is what a violation of a property can be under a mode, in front of its own sink:
// what is shown makes a difference to effectively-once only where rows are known by key.
func AnomaliesUnder(mode *model.Mode, p *checker.Property) []model.AnomalyKind {
	if p.Name != "effectively-once" || mode.Sink == "table-by-key" {
		return p.Anomalies
	}
	return slices.DeleteFunc(slices.Clone(p.Anomalies), func(a model.AnomalyKind) bool {
		return a == model.WrongValue
	})
}

// Unclaimed says why the mode of a scenario claims nothing of a run of it under its own faults;
// reached is History.Reached. Where it is empty the mode claims what it does.
func Unclaimed(lib *scenarios.Library, s *scenarios.Scenario, reached []int64) []string {
	lines := s.Unlike()
	for _, fault := range Outside(lib, s, reached) {
		lines = append(lines, fault+" is not tolerated")
	}
	return lines
}

// Outside lists the faults of a scenario that struck and that its mode does not say it tolerates.
func Outside(lib *scenarios.Library, s *scenarios.Scenario, reached []int64) []string {
	var lines []string
	for i, n := range reached {
		if f := s.Faults[i]; n != 0 && !lib.IsTolerated(s.Mode, f) {
			lines = append(lines, f.String())
		}
	}
	return lines
}
