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

// ClaimOf derives the claim of a mode from its golden cell: what must appear violates the
// properties that it can violate, what may appear leaves them open, and everything else never
// appears. Where the golden table is silent, the properties that the mode claims hold under the
// faults that it tolerates.
func ClaimOf(mode *model.Mode, class *scenarios.Class, kind model.OperatorKind,
	p *checker.Property) Claim {
	cell, ok := mode.Cell(class.Name, kind)
	if !ok {
		if slices.Contains(mode.Claims, p.Name) && slices.Contains(mode.Tolerates, class.Name) {
			return ClaimHolds
		}
		return NoClaim
	}
	claim := ClaimHolds
	for _, a := range p.Anomalies {
		switch {
		case slices.Contains(cell.Must, a):
			return ClaimViolated
		case slices.Contains(cell.May, a) || a.IsFinding():
			claim = NoClaim
		}
	}
	return claim
}
