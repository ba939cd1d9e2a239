package simtest

import (
	"context"
	"fmt"
	"strings"

	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/report"
	"github.com/oncesim/oncesim/scenarios"
	"github.com/oncesim/oncesim/search"
)

// comparedSeeds is how many seeds Compare draws plans from unless it is said.
const comparedSeeds = 10

// Compare runs a scenario under modes and every class of faults, and requires of each mode what it
// claims under the classes that it tolerates. Without names it compares all modes of the library
// that are not made to fail. Faults of the scenario itself are left out.
func Compare(t TB, s Scenario, modes ...string) {
	t.Helper()
	u, err := newSubject(s, []Option{Seeds(1, comparedSeeds)})
	if err != nil {
		t.Fatalf("%v", err)
	}
	compared, err := u.pick(modes)
	if err != nil {
		t.Fatalf("%v", err)
	}
	m, err := search.Compare(context.Background(), u.lib, u.base, search.Comparing{Modes: compared,
		Classes: u.lib.Classes, First: u.seeds.first, Last: u.seeds.last})
	if err != nil {
		t.Fatalf("%v", err)
	}
	doc := report.NewMatrix(m, func(*scenarios.Scenario) string { return "" })
	claims, broken := 0, brokenCells(doc)
	for i := range doc.Cells {
		if doc.Cells[i].Claim == search.ClaimHolds.String() {
			claims++
		}
	}
	switch {
	case claims == 0:
		t.Errorf("%s: nothing is claimed in any cell, so that this tests nothing", u.base.Name)
	case len(broken) > 0:
		t.Errorf("%s", u.matrixText(t, doc, broken))
	case u.set.verbose:
		t.Logf("%s", doc.Text(report.Plain, false))
	}
}

// pick finds modes by name.
func (u *subject) pick(names []string) ([]*model.Mode, error) {
	if u.set.mode != "" {
		names = []string{u.set.mode}
	}
	var modes []*model.Mode
	for _, m := range u.lib.Modes {
		if len(names) == 0 && !m.IsVariant {
			modes = append(modes, m)
		}
	}
	for _, name := range names {
		m, err := u.lib.FindMode(name)
		if err != nil {
			return nil, err
		}
		modes = append(modes, m)
	}
	return modes, nil
}

// brokenCells are the cells whose claim is not seen to hold.
func brokenCells(doc *report.Matrix) []*report.MatrixCell {
	var broken []*report.MatrixCell
	for i := range doc.Cells {
		c := &doc.Cells[i]
		isClaimed := c.Claim == search.ClaimHolds.String()
		if isClaimed && c.Observed != model.Holds.String() && c.Runs > 0 {
			broken = append(broken, c)
		}
	}
	return broken
}

// matrixText is the report on claims that are not kept: all of them, the smallest run that shows
// the first, and the matrix.
func (u *subject) matrixText(t TB, doc *report.Matrix, broken []*report.MatrixCell) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: claims that are not kept: %d\n", u.base.Name, len(broken))
	for _, c := range broken {
		fmt.Fprintf(&b, "  %s under %s: %s is %s", c.Mode, c.Fault, c.Property, c.Observed)
		if c.Violations > 0 {
			fmt.Fprintf(&b, " in %d of %d runs", c.Violations, c.Runs)
		}
		b.WriteString("\n")
	}
	if witness := broken[0].Witness; witness != "" {
		s, err := scenarios.Parse(u.lib, "witness", []byte(witness))
		if err != nil {
			panic(fmt.Sprintf("simtest: a witness that does not parse: %v\n%s", err, witness))
		}
		if c, err := u.caseOf(s); err == nil {
			c.Required = nil
			b.WriteString("\n" + report.Text(c, report.Plain))
		} else {
			fmt.Fprintf(&b, "\n%v\n", err)
		}
	}
	words := []string{fmt.Sprintf("-sim.seeds=%d-%d", u.seeds.first, u.seeds.last)}
	fmt.Fprintf(&b, "\n%s\nreproduce: %s\n", doc.Text(report.Plain, false),
		commandOf(t.Name(), append(words, u.set.words()...)))
	return b.String()
}
