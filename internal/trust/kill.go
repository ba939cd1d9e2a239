package trust

import (
	"context"
	"fmt"
	"slices"

	"github.com/oncesim/oncesim/checker"
	"github.com/oncesim/oncesim/defects"
	"github.com/oncesim/oncesim/faults"
	"github.com/oncesim/oncesim/internal/oracle"
	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/scenarios"
	"github.com/oncesim/oncesim/search"
)

// Effort is how much is done for a row of the kill matrix.
type Effort struct {
	RunsMax    int64 // blind runs at the most
	CatchesMax int   // of which so many are to catch the defect
}

// FullEffort is that of the published table.
var FullEffort = Effort{RunsMax: 5000, CatchesMax: 20}

// Row is one row of the kill matrix: a defect in one mode.
type Row struct {
	Defect *defects.Defect
	Mode   string

	Runs    int64   // blind runs
	Catches []int64 // those, numbered from 1, in which the black box caught it
	By      []Broken
	Inside  int // of Catches, those that the white box catches as well
	Alone   int // further runs: the white box finds what the black box says is not there
	Unsure  int // further runs in which the black box could not say: they are no catches
	Service int // of Catches, those in which a service is not linearizable
	Differ  []string

	Placed          int64 // runs of the exhaustive placement of one fault
	PlacedCaught    int64
	PlacedFirst     Placement // of these
	Faults, Records int64     // of the first catch when it is shrunk
}

// Broken is a property and which of the catches broke it.
type Broken struct {
	Property string
	Runs     []int64
}

// Placement is a fault that catches a defect by itself: a line of the fault language, and what is
// broken then; the zero value is none.
type Placement struct{ Property, Fault string }

// Named is in how many catches the property was broken that the defect names.
func (r *Row) Named() int {
	for _, b := range r.By {
		if b.Property == r.Defect.Property {
			return len(b.Runs)
		}
	}
	return 0
}

// Mostly is the property that was broken in most catches: the one that the defect names, if it was
// in as many as any.
func (r *Row) Mostly() Broken {
	most := Broken{Property: r.Defect.Property}
	for _, b := range r.By {
		if len(b.Runs) > len(most.Runs) ||
			len(b.Runs) == len(most.Runs) && b.Property == r.Defect.Property {
			most = b
		}
	}
	return most
}

// Between are the numbers of blind runs from one catch to the next, in ascending order: what it
// took to catch the defect, each time anew. Runs behind the last catch, where there are any, count
// as one more: it would have taken at least as many.
func (r *Row) Between() []int64 {
	list := slices.Clone(r.Catches)
	if n := len(list); n > 0 && list[n-1] < r.Runs {
		list = append(list, r.Runs)
	}
	for i := len(list) - 1; i > 0; i-- {
		list[i] -= list[i-1]
	}
	slices.Sort(list)
	return list
}

// settings are the worlds of a defect without what it does: with what it sets alone.
type settings []*World

// settingsAlone makes the worlds without a defect, but with what it sets; none where it does
// nothing else, or sets nothing.
func settingsAlone(lib *scenarios.Library, mode *model.Mode, d *defects.Defect) (settings, error) {
	if len(d.Set) == 0 || d.Process == nil && d.Service == nil {
		return nil, nil
	}
	own, set := *lib, *d
	set.Name, set.Process, set.Service = "set-of-"+d.Name, nil, nil
	own.Defects = append(slices.Clone(lib.Defects), &set)
	return Worlds(&own, mode, set.Name)
}

// breaks is what the settings break by themselves in the n-th blind run.
func (s settings) breaks(n int64) ([]string, error) {
	if len(s) == 0 {
		return nil, nil
	}
	w, seed, err := turn(s, n)
	if err != nil {
		return nil, err
	}
	return w.Run(seed, scenarios.Options{}).Broken, nil
}

// excuse takes from the n-th blind run what it breaks, and says so, if it would break something
// without the defect as well.
func (s settings) excuse(run *Run, n int64) (is bool, err error) {
	if len(run.Broken) == 0 {
		return false, nil
	}
	broken, err := s.breaks(n)
	if is = len(broken) > 0; is {
		run.Broken = run.Broken[:0]
	}
	return is, err
}

// Kill measures a defect in one of its modes.
func Kill(ctx context.Context, lib *scenarios.Library, d *defects.Defect, mode *model.Mode,
	effort Effort) (*Row, error) {
	row := &Row{Defect: d, Mode: mode.Name}
	worlds, err := Worlds(lib, mode, d.Name)
	if err != nil {
		return nil, err
	}
	alone, err := settingsAlone(lib, mode, d)
	if err != nil {
		return nil, err
	}
	for row.Runs < effort.RunsMax && len(row.Catches) < effort.CatchesMax {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		w, seed, err := turn(worlds, row.Runs+1)
		if err != nil {
			return nil, err
		}
		run := w.Run(seed, scenarios.Options{Trace: true})
		isExcused, err := alone.excuse(run, row.Runs+1)
		if err != nil {
			return nil, err
		}
		row.count(run)
		if !isExcused {
			row.compare(w, run)
		}
		if len(run.Broken) > 0 && len(row.Catches) == 1 {
			if err := row.shrink(ctx, lib, run); err != nil {
				return nil, err
			}
		}
	}
	return row, row.place(ctx, lib)
}

// count takes a blind run.
func (r *Row) count(run *Run) {
	r.Runs++
	if len(run.Broken) == 0 {
		return
	}
	r.Catches = append(r.Catches, r.Runs)
	for _, property := range run.Broken {
		at := slices.IndexFunc(r.By, func(b Broken) bool { return b.Property == property })
		if at < 0 {
			at, r.By = len(r.By), append(r.By, Broken{Property: property})
		}
		r.By[at].Runs = append(r.By[at].Runs, r.Runs)
	}
}

// compare looks at the run from the inside, and at its services.
func (r *Row) compare(w *World, run *Run) {
	report := w.Inside()
	isInside := slices.ContainsFunc(w.claims, func(property string) bool {
		result, _ := report.Verdict(property)
		return result == model.Violated
	})
	if text := oracle.Disagreement(report, run.Result.Verdicts); text != "" {
		r.Differ = append(r.Differ, fmt.Sprintf("%s seed %d: %s", run.Scenario.Name, run.Seed,
			text))
	}
	switch {
	case len(run.Broken) > 0:
		if isInside {
			r.Inside++
		}
		if isNotLinearizable(&run.Result) {
			r.Service++
		}
	case len(run.Unknown) > 0:
		r.Unsure++
	case isInside:
		r.Alone++
	}
}

func isNotLinearizable(res *scenarios.Result) bool {
	return slices.ContainsFunc(checker.Linearizable(res.Subject, 0), func(v model.Verdict) bool {
		return v.Result == model.Violated
	})
}

// shrink finds the smallest run that breaks a claim as a run does.
func (r *Row) shrink(ctx context.Context, lib *scenarios.Library, run *Run) error {
	s := run.Whole()
	claims := s.Claims()
	opts := search.Shrinking{Keep: func(s *scenarios.Scenario, res *scenarios.Result) bool {
		return len(search.Unclaimed(lib, s, res.Subject.History.Reached)) == 0 &&
			len(brokenIn(res, claims)) > 0
	}}
	small, err := search.Shrink(ctx, lib, s, opts)
	if err != nil {
		return fmt.Errorf("%s under %s, seed %d: %w", s.Name, s.ModeText(), s.Seed, err)
	}
	r.Faults, r.Records = small.Faults[1], small.Records[1]
	return nil
}

// placedRecords is how many records exhaustive placement has.
const placedRecords = 3

// small is the scenario in which faults are placed, without any: the topology that shows the defect
// in a few records.
func (r *Row) small(lib *scenarios.Library) (*scenarios.Scenario, error) {
	d := *r.Defect
	d.Shown.Mode = r.Mode
	s, err := lib.Showing(&d)
	if err != nil {
		return nil, err
	}
	s.Defect, s.Faults, s.Input.Records = r.Defect, nil, placedRecords
	return s, nil
}

// place puts every single fault of the envelope everywhere.
func (r *Row) place(ctx context.Context, lib *scenarios.Library) error {
	s, err := r.small(lib)
	if err != nil {
		return err
	}
	claims, job := s.Claims(), s.Job()
	count := func(_ uint64, rules []model.Rule, res *scenarios.Result) {
		r.Placed++
		broken := brokenIn(res, claims)
		if len(broken) == 0 {
			return
		}
		if r.PlacedCaught++; r.PlacedFirst.Property == "" && len(rules) == 1 {
			r.PlacedFirst = Placement{broken[0], faults.FromRule(job, rules[0]).String()}
		}
	}
	_, err = search.Explore(ctx, lib, s, search.Exploring{Faults: 1, Workers: 1,
		Classes: search.Envelope(lib, s.Mode),
		Inspect: func() search.Inspect { return count }})
	return err
}

// brokenIn lists the claims that a run violates.
func brokenIn(res *scenarios.Result, claims []string) (list []string) {
	for _, v := range res.Verdicts {
		if v.Result == model.Violated && slices.Contains(claims, v.Property) {
			list = append(list, v.Property)
		}
	}
	return list
}
