package simtest

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/report"
	"github.com/oncesim/oncesim/scenarios"
	"github.com/oncesim/oncesim/search"
)

// comparedSeeds is how many seeds Compare draws plans from unless it is said.
const comparedSeeds = 10

// Compare runs a scenario under modes and every class of faults, and requires of each mode what it
// claims under the classes that it tolerates. Without names it compares all modes of the library
// that are not made to fail. Faults of the scenario itself are left out. The smallest run that
// breaks a claim is saved as Sweep saves a failure, and -sim.replay runs it again. With -sim.verify
// the whole is made twice; with -sim.for it is made for ten seeds after the other, for so long.
func Compare(t TB, s Scenario, modes ...string) {
	t.Helper()
	u, err := newSubject("Compare", t, s, nil)
	if err != nil {
		t.Fatalf("%v", err)
		return
	}
	if u.set.replay != "" {
		u.replay(t, u.set.replay)
		return
	}
	compared, err := u.pick(modes)
	if err != nil {
		t.Fatalf("%v", err)
		return
	}
	u.deadline = deadlineOf(t)
	for all := u.seeds; ; all.isMore = true {
		if u.seeds = all; !all.until.IsZero() {
			u.seeds = all.most(min(comparedSeeds, all.len()))
		}
		isKept := u.compare(t, compared)
		if !isKept || u.seeds.last == all.last || !time.Now().Before(all.until) {
			return
		}
		all.first = u.seeds.last + 1
	}
}

// compare fills the matrix for the seeds at hand, and reports whether it is as it must be.
func (u *subject) compare(t TB, modes []*model.Mode) (isKept bool) {
	t.Helper()
	doc := u.matrix(t, modes)
	if doc == nil {
		return false
	}
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
		text, witness := u.matrixText(doc, broken)
		t.Errorf("%s", text)
		if witness != nil {
			u.save(t, witness, u.test)
		}
	default:
		if u.set.verbose {
			t.Logf("%s", doc.Text(report.Plain, false))
		}
		return true
	}
	return false
}

// deadlineOf is when a test has to stop looking, or zero.
func deadlineOf(t any) time.Time {
	if timed, ok := t.(interface{ Deadline() (time.Time, bool) }); ok {
		if deadline, ok := timed.Deadline(); ok {
			return endBefore(deadline, time.Now())
		}
	}
	return time.Time{}
}

// context ends when a test has to.
func (u *subject) context() (context.Context, context.CancelFunc) {
	if u.deadline.IsZero() {
		return context.WithCancel(context.Background())
	}
	return context.WithDeadline(context.Background(), u.deadline)
}

// matrix fills the matrix; nil: it fails the test.
func (u *subject) matrix(t TB, modes []*model.Mode) *report.Matrix {
	t.Helper()
	ctx, cancel := u.context()
	defer cancel()
	rows := 0
	opts := search.Comparing{Modes: modes, Classes: u.lib.Classes, First: u.seeds.first,
		Last: u.seeds.last, Progress: func(done, _ int) { rows = done }}
	var m, again *search.Matrix
	var err error
	p := catch(func() {
		if m, err = search.Compare(ctx, u.lib, u.base, opts); err == nil && u.set.verify {
			rows = 0
			again, err = search.Compare(ctx, u.lib, u.base, opts)
		}
	})
	n := len(u.lib.Classes)
	switch {
	case p != nil:
		u.tellPanic(t, modes[rows/n], u.lib.Classes[rows%n], p)
		return nil
	case err != nil:
		t.Fatalf("%v", err)
		return nil
	case (m.IsPartial || again != nil && again.IsPartial) && u.seeds.isMore:
		t.Logf("the seeds from %d on were not run, for want of time", u.seeds.first)
		return nil
	case m.IsPartial || again != nil && again.IsPartial:
		t.Errorf("%d of %d modes under classes of faults were run: \"go test\" would have ended "+
			"the program; give it a longer -timeout", rows, n*len(modes))
		return nil
	}
	noCommand := func(*scenarios.Scenario) string { return "" }
	doc := report.NewMatrix(m, noCommand)
	if again != nil {
		one, two := doc.Text(report.Plain, true), report.NewMatrix(again, noCommand).Text(
			report.Plain, true)
		if one != two {
			t.Errorf("%s: two matrices differ\n%s\n%s\n%s%s", u.base.Name, one, two, differsBecause,
				u.reproduceMatrix())
			return nil
		}
	}
	return doc
}

// tellPanic reports a panic under a mode and a class of faults: as the failure of a run, where one
// under a seed shows it.
func (u *subject) tellPanic(t TB, mode *model.Mode, class *scenarios.Class, p *panicked) {
	t.Helper()
	one := *u
	one.base = search.Under(u.base, mode, class)
	w, err := one.newSweeper()
	if err != nil {
		t.Fatalf("%v", err)
		return
	}
	for seed := u.seeds.first; ; seed++ {
		r := run{seed: seed}
		w.guard(&r, func() {
			r.rules = class.Draw(seed, w.runner.Extent(one.base.Seed, nil), nil)
			w.runner.Run(seed, r.rules, scenarios.Options{})
		})
		if r.panicked != nil {
			f := &failure{u: &one, test: u.test, job: w.job, run: &r}
			text, saved := f.small()
			if saved == nil {
				text = describe(f.scenario(), r.differs)
			}
			t.Errorf("%s\n%s", text, u.reproduceMatrix())
			if saved != nil {
				u.save(t, saved, u.test)
			}
			return
		}
		if seed == u.seeds.last {
			break
		}
	}
	text, _, _ := strings.Cut(p.value, "\n") // a stack, which differs from run to run
	t.Errorf("%s under %s, class %s: panic: %s\n%s", u.base.Name, mode.Name, class.Name, text,
		u.reproduceMatrix())
}

// reproduceMatrix is the line that fills the matrix again.
func (u *subject) reproduceMatrix() string {
	words := []string{fmt.Sprintf("-sim.seeds=%d-%d", u.seeds.first, u.seeds.last)}
	return "reproduce: " + commandOf(u.test, append(words, u.set.words()...)) + "\n"
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
		if isClaimed && c.Observed != model.Holds.String() {
			broken = append(broken, c)
		}
	}
	return broken
}

// matrixText is the report on claims that are not kept: all of them, the smallest run that shows
// the first, and the matrix. It returns that run as well.
func (u *subject) matrixText(doc *report.Matrix, broken []*report.MatrixCell) (text string,
	shown *report.Case) {
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
		if shown, err = u.caseOf(s); err == nil {
			b.WriteString("\n" + report.Text(shown, report.Plain))
		} else {
			fmt.Fprintf(&b, "\n%s\n", describe(s, err))
		}
	}
	fmt.Fprintf(&b, "\n%s\n%s", doc.Text(report.Plain, false), u.reproduceMatrix())
	return b.String(), shown
}
