package simcli

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/report"
	"github.com/oncesim/oncesim/scenarios"
	"github.com/oncesim/oncesim/search"
)

// sweepFlags are the flags of sweep beside the settings.
type sweepFlags struct {
	modes, classes string
	faults         int
	seeds          string
	span           time.Duration
	workers        int
	shard          string
	out            string
	resume         bool
	failuresMax    int
	verify         int64
	shrink         bool
	save           string
	any, asJSON    bool
}

// A plan takes its time by its faults, and a worker its memory: there are no more of them.
const (
	faultsMax = 1000
	jobsMax   = 1024
)

const sweepHelp = `Runs scenarios under one seed after the other, on all cores, and counts what
fails: runs in which something is violated that the mode claims. Each seed draws
a plan of faults that the mode tolerates; a scenario that has faults of its own
runs under just these. Failures are grouped by what they violate, each group
with the fastest run that shows it. What is printed depends on the seeds alone.
With --out it can be interrupted, resumed, and spread over machines: see merge.`

func (a *app) sweepCommand() *cobra.Command {
	var f settings
	var w sweepFlags
	cmd := &cobra.Command{
		Use:   "sweep SCENARIO...",
		Short: "run scenarios under many seeds, on all cores",
		Long:  sweepHelp,
		Example: a.examples(
			"sweep pipeline",
			"sweep page-views transfers --modes snapshot,dedup --seeds 1-100000",
			"sweep page-views --for 10m --out night.jsonl --shrink",
			"sweep page-views --seeds 1-1000000 --out part2.jsonl --shard 2/8 --resume"),
		Args:              some("a scenario: a name or a file"),
		ValidArgsFunction: a.completeScenario,
		RunE: func(cmd *cobra.Command, args []string) error {
			opts, err := a.sweeping(cmd, &w)
			if err != nil {
				return err
			}
			units, targets, err := a.sweepUnits(cmd, args, &f, &w)
			if err != nil {
				return err
			}
			return a.sweep(cmd.Context(), units, targets, opts, &w)
		},
	}
	f.addTo(cmd, "set a parameter of the modes that have it, `NAME=VALUE`; repeatable")
	cmd.Flags().StringArrayVar(&f.faults, "fault", nil,
		"only under this `LINE` of the fault language; repeatable; '' drops those of a file")
	w.addTo(cmd)
	_ = cmd.RegisterFlagCompletionFunc("modes", a.completeMode)
	_ = cmd.RegisterFlagCompletionFunc("classes", a.completeClass)
	return cmd
}

func (w *sweepFlags) addTo(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&w.modes, "modes", "",
		"under these `MODES`, separated by commas, or all (default the scenario's)")
	flags.StringVar(&w.classes, "classes", "", "draw faults of these `CLASSES`, separated by "+
		"commas, or all; one that changes the scenario is run by itself (default those that "+
		"the mode tolerates)")
	flags.IntVar(&w.faults, "faults", search.PlannedFaults, "up to `N` faults a plan")
	flags.StringVar(&w.seeds, "seeds", "", "the seeds `A-B` (default 1-1000)")
	flags.DurationVar(&w.span, "for", 0, "seeds from A upwards for a `TIME` such as 10m")
	flags.IntVarP(&w.workers, "jobs", "j", 0, "so many runs at a time, `N` (default one a core)")
	flags.StringVar(&w.shard, "shard", "", "run part `K/N` of the seeds, from 1/N to N/N; auto: "+
		"as "+shardIndex+" and "+shardCount+" say")
	flags.StringVar(&w.out, "out", "", "write results to `FILE`, as JSON lines")
	flags.BoolVar(&w.resume, "resume", false, "go on with --out FILE, if it is there")
	flags.IntVar(&w.failuresMax, "max-failures", search.FailuresKept,
		"keep the first `N` failures of a signature in FILE; all are counted")
	flags.Int64Var(&w.verify, "verify", 0,
		"make `PPM` of a million runs again, in another world, and compare them")
	flags.BoolVar(&w.shrink, "shrink", false,
		"make the fastest failure of each signature smaller and save it, as a scenario file")
	flags.StringVar(&w.save, "save", "", "save those in `DIR` (default that of --out, "+
		"or the current one)")
	flags.BoolVar(&w.any, "any", false,
		"every violation is a failure, claimed or not; findings are not")
	flags.BoolVar(&w.asJSON, "json", false, "write the result as a JSON document")
}

// some is the check that there is an argument; what says what each is.
func some(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return fail(statusUsage, "%s needs %s", cmd.Name(), what)
		}
		return nil
	}
}

// sweeping is how to sweep, as flags say.
func (a *app) sweeping(cmd *cobra.Command, w *sweepFlags) (search.Sweeping, error) {
	opts := search.Sweeping{Faults: w.faults, Any: w.any, FailuresMax: w.failuresMax,
		Workers: w.workers, Verify: w.verify, Version: report.Version(), For: w.span}
	switch {
	case w.faults < 1 || w.faults > faultsMax:
		return opts, fail(statusUsage, "--faults %d, expected a number from 1 to %d", w.faults,
			faultsMax)
	case w.failuresMax < 1:
		return opts, fail(statusUsage, "--max-failures %d, expected a number from 1", w.failuresMax)
	case cmd.Flags().Changed("jobs") && (w.workers < 1 || w.workers > jobsMax):
		return opts, fail(statusUsage, "--jobs %d, expected a number from 1 to %d", w.workers,
			jobsMax)
	case w.verify < 0 || w.verify > 1_000_000:
		return opts, fail(statusUsage, "--verify %d, expected up to 1000000 of a million", w.verify)
	case w.span < 0 || w.span == 0 && cmd.Flags().Changed("for"):
		return opts, fail(statusUsage, "--for %s, expected a time such as 10m", w.span)
	case w.resume && w.out == "":
		return opts, fail(statusUsage, "--resume needs --out FILE: there is nothing to go on with")
	case w.save != "" && !w.shrink:
		return opts, fail(statusUsage, "--save says where --shrink saves, and there is no --shrink")
	}
	var err error
	if opts.First, opts.Last, opts.IsOpen, err = sweepSeeds(w); err != nil {
		return opts, err
	}
	opts.Shard, opts.Shards, err = shardOf(w.shard)
	return opts, err
}

// sweepSeeds reads the range of seeds; with --for it has no end.
func sweepSeeds(w *sweepFlags) (first, last uint64, isOpen bool, err error) {
	text := w.seeds
	if w.span == 0 {
		if text == "" {
			text = "1-1000"
		}
		first, last, err = parseSeeds(text)
		return first, last, false, err
	}
	if text == "" {
		return 1, 0, true, nil
	}
	if first, err = strconv.ParseUint(strings.TrimSuffix(text, "-"), 10, 64); err != nil {
		err = fail(statusUsage, "--seeds %q, expected A alone%s: with --for the seeds have no end",
			text, seedsBound(",", text))
	}
	return first, 0, true, err
}

// sweepUnits finds the scenarios and lists what to sweep of them; the targets are by unit.
func (a *app) sweepUnits(cmd *cobra.Command, args []string, f *settings, w *sweepFlags) (
	units []search.Unit, targets []*target, err error) {
	var classes []*scenarios.Class
	if w.classes != "" {
		classes, err = pickAll("class", w.classes, a.lib.Classes,
			func(c *scenarios.Class) string { return c.Name })
		if err != nil {
			return nil, nil, err
		}
	}
	var seen []string
	for _, arg := range args {
		t, modes, err := a.resolveAmong(cmd, arg, f, a.orOwn(w.modes))
		if err != nil {
			return nil, nil, err
		}
		if slices.Contains(seen, t.s.Name) {
			return nil, nil, fail(statusUsage, "there are two scenarios %q, and results are known "+
				"by the name", t.s.Name)
		}
		seen = append(seen, t.s.Name)
		if len(t.s.Faults) > 0 && w.classes != "" {
			return nil, nil, fail(statusUsage, "%s has faults of its own and runs under just "+
				"these; --fault '' drops them, for --classes", t.s.Name)
		}
		for _, u := range search.Units(a.lib, t.s, modes, classes) {
			u.Scenario = ofMode(u.Scenario)
			units, targets = append(units, u), append(targets, t)
		}
	}
	if len(units) == 0 {
		return nil, nil, fail(statusUnknown, "none of these classes applies to these modes")
	}
	return units, targets, nil
}

// sweep sweeps and shows what came out.
func (a *app) sweep(ctx context.Context, units []search.Unit, targets []*target,
	opts search.Sweeping, w *sweepFlags) error {
	a.doing = "preparing a sweep"
	if w.shrink {
		if err := makeDir(w.saveDir()); err != nil {
			return err
		}
	}
	var file *os.File
	if w.out != "" {
		opts.Write = func(lines []byte) error {
			if _, err := file.Write(lines); err != nil {
				return fail(statusUsage, "%s cannot be written: %w", w.out, cause(err))
			}
			return nil
		}
	}
	opts.Command = func(unit int, s *scenarios.Scenario) string {
		return targets[unit].command(a.program, ofMode(s))
	}
	p := a.newProgress("runs")
	runs := uint64(0)
	began := time.Now()
	opts.Progress = func(done, all uint64) {
		runs = done
		if w.span > 0 {
			p.until(int(done), w.span)
		} else {
			p.step(int(done), int(min(all, math.MaxInt64)))
		}
	}
	s, err := search.NewSweep(a.lib, units, opts)
	if errors.Is(err, search.ErrNotCaught) {
		return fail(statusUnmet, "canary of %w", err)
	}
	if err != nil {
		return err
	}
	if w.out != "" {
		if file, err = a.openResults(s, w); err != nil {
			return err
		}
	}
	a.doing = "a sweep"
	err = a.runSweep(ctx, s, targets, w)
	p.end()
	if file != nil {
		if closed := closeResults(file); err == nil {
			err = closed
		}
	}
	if err != nil {
		return withDifference(err)
	}
	if spent := time.Since(began).Seconds(); runs > 0 && spent > 0 {
		a.tell("%d runs in %.1f s, %.0f/s", runs, spent, float64(runs)/spent)
	}
	if w.verify > 0 {
		a.tell("%d of them were made twice, and agree", s.Verified())
	}
	a.showSweep(s.Results(), w.asJSON)
	if ctx.Err() != nil {
		a.tellResume(w)
	}
	return nil
}

// runSweep runs what is missing, shrinks what failed and completes the file.
func (a *app) runSweep(ctx context.Context, s *search.Sweep, targets []*target,
	w *sweepFlags) error {
	if err := s.Run(ctx); err != nil {
		return err
	}
	if w.shrink {
		if err := a.shrinkFailures(ctx, s, targets, w); err != nil {
			return err
		}
	}
	return s.Finish()
}

// showSweep shows results and notes what they mean.
func (a *app) showSweep(r *search.Results, asJSON bool) {
	doc := report.NewSweep(r)
	if asJSON {
		a.out.json(doc)
	} else {
		a.out.print(doc.Text(a.style()))
	}
	a.showUntested(r, asJSON)
	broken, unsure := doc.Claims()
	if broken {
		a.note(statusViolated)
	}
	if unsure {
		a.note(statusUnknown)
	}
}

// showUntested says of which units nothing was put to the test, and that nothing is known of them.
func (a *app) showUntested(r *search.Results, asJSON bool) {
	for i := range r.Units {
		if !r.IsUntested(i) {
			continue
		}
		a.note(statusUnknown)
		text := fmt.Sprintf("unknown: no run of %s was struck by all of its faults: nothing was "+
			"put to the test", r.Header.Units[i].Name())
		if asJSON {
			a.tell("%s", text)
		} else {
			a.out.print(text + "\n")
		}
	}
}

// tellResume says how to go on after an interrupt.
func (a *app) tellResume(w *sweepFlags) {
	if w.out == "" {
		a.tell("%s: interrupted; nothing is kept: a sweep with --out FILE could be resumed",
			a.program)
		return
	}
	line := []string{report.Quote(a.program)}
	for _, arg := range a.args {
		line = append(line, report.Quote(arg))
	}
	if !w.resume {
		line = append(line, "--resume")
	}
	a.tell("%s: interrupted; to go on:\n%s", a.program, strings.Join(line, " "))
}

// withDifference adds to two runs that differ the first event that does.
func withDifference(err error) error {
	var d *search.Differing
	if !errors.As(err, &d) {
		return err
	}
	text := d.Text
	if d.Job != nil && len(d.Traces[0])+len(d.Traces[1]) > 0 {
		more := report.Difference(d.Job, d.Traces[0], d.Traces[1])
		if more == "" {
			more = sameTraces
		}
		text += "\n" + strings.TrimSuffix(more, "\n")
	}
	return fail(statusDiffers, "%s", text)
}

// saveDir is where --shrink saves.
func (w *sweepFlags) saveDir() string {
	if w.save != "" {
		return w.save
	}
	return filepath.Dir(w.out)
}

// makeDir makes a directory that is not there, but none above it: that may be a slip of the pen.
func makeDir(dir string) error {
	if isDirectory(dir) {
		return nil
	}
	if err := os.Mkdir(dir, 0o777); err != nil {
		return fail(statusUsage, "--save %s: %w", dir, cause(err))
	}
	return nil
}

// shrinkFailures makes the fastest failure of each signature smaller and saves it.
func (a *app) shrinkFailures(ctx context.Context, s *search.Sweep, targets []*target,
	w *sweepFlags) error {
	r := s.Results()
	for i := range r.Units {
		for _, g := range r.Units[i].Groups() {
			if ctx.Err() != nil {
				return nil
			}
			if g.Verdict != model.Violated.String() || g.Fastest.File != "" {
				continue
			}
			if err := a.shrinkFailure(ctx, s, targets[i], g.Fastest, w.saveDir()); err != nil {
				return err
			}
		}
	}
	return nil
}

func (a *app) shrinkFailure(ctx context.Context, s *search.Sweep, t *target, f *search.Failure,
	dir string) error {
	witness, err := s.Witness(f)
	if err != nil {
		return err
	}
	a.doing = "shrinking " + f.Reproduce
	shrunk, err := search.Shrink(ctx, a.lib, witness, search.Shrinking{})
	if err != nil || ctx.Err() != nil {
		return err
	}
	c, err := a.execute(&target{arg: t.arg, isBare: t.isBare, base: t.base, s: shrunk.Scenario})
	if err != nil {
		return err
	}
	path, err := a.save(c, dir, overwrite{})
	if err != nil {
		return err
	}
	return s.Save(f, filepath.ToSlash(path))
}

func (a *app) completeClass(*cobra.Command, []string, string) ([]string,
	cobra.ShellCompDirective) {
	return names(a.lib.Classes, func(c *scenarios.Class) string { return c.Name }),
		cobra.ShellCompDirectiveNoFileComp
}
