package simcli

import (
	"context"
	"fmt"
	"runtime"
	"sync"

	"github.com/spf13/cobra"

	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/report"
	"github.com/oncesim/oncesim/scenarios"
	"github.com/oncesim/oncesim/search"
)

// doctorRecords is how many records the scenarios of the self-test have.
const doctorRecords = 24

// canary is a failure that must be seen: where it is not, nothing that holds means anything.
type canary struct {
	mode  string
	class string
	kind  model.AnomalyKind
}

var canaries = []canary{
	{"at-least-once", "crash", model.Duplicate},
	{"at-most-once", "crash", model.Loss},
}

const doctorHelp = `Runs scenarios again and again, in new and used worlds and on one and all
processors, and compares their hashes; then breaks modes in ways that must
show.`

func (a *app) doctorCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "doctor",
		Short:   "test that runs are deterministic here and that failures are caught",
		Long:    doctorHelp,
		Example: a.examples("doctor"),
		Args:    none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			a.out.print(fmt.Sprintf("      %s\n", currentVersions()))
			if err := a.checkDeterminism(cmd.Context()); err != nil {
				return err
			}
			return a.checkCanaries(cmd.Context())
		},
	}
}

// check writes one line of the result.
func (a *app) check(ok bool, status int, format string, args ...any) {
	mark := "ok"
	if !ok {
		mark = "FAIL"
		a.note(status)
	}
	a.out.print(fmt.Sprintf("%-4s  %s\n", mark, fmt.Sprintf(format, args...)))
}

// checkDeterminism runs every mode on every topology under a few drawn plans, in six ways;
// variants, which are made of the same parts, on the first.
func (a *app) checkDeterminism(ctx context.Context) error {
	for i, topology := range a.lib.Topologies {
		for _, mode := range a.lib.Modes {
			if ctx.Err() != nil {
				return nil
			}
			if mode.IsVariant && i > 0 {
				continue
			}
			if err := a.checkHashes(topology, mode); err != nil {
				return err
			}
		}
	}
	return nil
}

// subject is one scenario of the self-test with its plans.
type subject struct {
	lib   *scenarios.Library
	s     *scenarios.Scenario
	input *model.Input
	plans [][]model.Rule // by seed, from 1
}

// runner is a new world for the scenario.
func (d *subject) runner() (*scenarios.Runner, error) {
	return scenarios.NewRunnerOn(d.lib, d.s, d.input)
}

func (a *app) newSubject(topology *model.Topology, mode *model.Mode) (*subject, error) {
	t, err := a.bare(topology)
	if err != nil {
		return nil, err
	}
	d := &subject{lib: a.lib, s: search.WithMode(t.base, mode)}
	d.s.Input.Records = doctorRecords
	if d.input, _, err = a.lib.LoadInput(d.s); err != nil {
		return nil, err
	}
	runner, err := d.runner()
	if err != nil {
		return nil, err
	}
	extent := runner.Extent(d.s.Seed, nil)
	for seed, class := range a.lib.Classes {
		if class.Vary == nil && class.Applies(mode) { // the others draw what others draw as well
			d.plans = append(d.plans, class.Draw(uint64(seed+1), extent, nil))
		}
	}
	return d, nil
}

// hashes runs every plan in one world, in order or backwards.
func (d *subject) hashes(backwards bool) ([]uint64, error) {
	runner, err := d.runner()
	if err != nil {
		return nil, err
	}
	list := make([]uint64, len(d.plans))
	for i := range d.plans {
		if backwards {
			i = len(d.plans) - 1 - i
		}
		list[i] = runner.Hash(uint64(i+1), d.plans[i], scenarios.Options{Trace: backwards})
	}
	return list, nil
}

// alone runs every plan in a new world each.
func (d *subject) alone() ([]uint64, error) {
	list := make([]uint64, len(d.plans))
	for i := range d.plans {
		runner, err := d.runner()
		if err != nil {
			return nil, err
		}
		list[i] = runner.Hash(uint64(i+1), d.plans[i], scenarios.Options{})
	}
	return list, nil
}

// difference runs a plan twice more with the full trace, each time in a new world, and the second
// time behind one more plan than before, and tells the first event that differs.
func (d *subject) difference(plan int) (string, error) {
	first, err := d.runner()
	if err != nil {
		return "", err
	}
	traced := scenarios.Options{Trace: true}
	one := first.Run(uint64(plan+1), d.plans[plan], traced).Trace
	for before := range len(d.plans) + 1 {
		other, err := d.runner()
		if err != nil {
			return "", err
		}
		for i := range before {
			other.Hash(uint64(i+1), d.plans[i], scenarios.Options{})
		}
		trace := other.Run(uint64(plan+1), d.plans[plan], traced).Trace
		if text := report.Difference(first.Job(), one, trace); text != "" {
			return text, nil
		}
	}
	return sameTraces, nil
}

// sameTraces is said of two runs whose hashes differed and whose full traces do not.
const sameTraces = "the full traces do not differ: it is the draws, or it does not happen every " +
	"time\n"

func (a *app) checkHashes(topology *model.Topology, mode *model.Mode) error {
	a.doing = fmt.Sprintf("the self-test of %s under %s", topology.Name, mode.Name)
	d, err := a.newSubject(topology, mode)
	if err != nil {
		return err
	}
	want, err := d.alone()
	if err != nil {
		return err
	}
	for _, way := range []struct {
		name string
		run  func() ([]uint64, error)
	}{
		{"again in new worlds", d.alone},
		{"as the n-th run of a world", func() ([]uint64, error) { return d.hashes(false) }},
		{"in the other order, with full traces", func() ([]uint64, error) {
			return d.hashes(true)
		}},
		{"on one processor", func() ([]uint64, error) { return d.parallel(1) }},
		{"on all processors at once", func() ([]uint64, error) {
			return d.parallel(runtime.NumCPU())
		}},
	} {
		got, err := way.run()
		if err != nil {
			return err
		}
		for i := range want {
			if got[i] != want[i] {
				a.check(false, statusDiffers, "%s under %s, seed %d, %s: hashes %016x and %016x",
					topology.Name, mode.Name, i+1, way.name, want[i], got[i])
				text, err := d.difference(i)
				a.out.print(text)
				return err
			}
		}
	}
	a.check(true, statusDiffers, "%s under %s: %d plans in 6 ways, hash %016x", topology.Name,
		mode.Name, len(want), combined(want))
	return nil
}

// combined is one hash for a list.
func combined(list []uint64) uint64 {
	sum := uint64(0)
	for i, hash := range list {
		sum += model.Mix(hash, uint64(i)^0x9e3779b97f4a7c15)
	}
	return sum
}

// parallel runs all plans in several goroutines at once, on so many processors, and returns the
// hashes of one of them, or of the first that differs.
func (d *subject) parallel(processors int) ([]uint64, error) {
	before := runtime.GOMAXPROCS(processors)
	defer runtime.GOMAXPROCS(before)
	const runs = 4
	lists, errs := make([][]uint64, runs), make([]error, runs)
	var wait sync.WaitGroup
	for i := range runs {
		wait.Add(1)
		go func() {
			defer wait.Done()
			lists[i], errs[i] = d.hashes(false)
		}()
	}
	wait.Wait()
	for i := range runs {
		if errs[i] != nil || combined(lists[i]) != combined(lists[0]) {
			return lists[i], errs[i]
		}
	}
	return lists[0], nil
}

// checkCanaries places the faults of a class everywhere in a small scenario and looks for the
// failure that must come out.
func (a *app) checkCanaries(ctx context.Context) error {
	for _, c := range canaries {
		if ctx.Err() != nil {
			return nil
		}
		cell, ok := a.canaryCell(c)
		if !ok {
			a.out.print(fmt.Sprintf("skip  the library has no %s under %s\n", c.mode, c.class))
			continue
		}
		tally, err := cell.Place(ctx, false)
		if err != nil {
			return err
		}
		if ctx.Err() != nil {
			return nil
		}
		n := tally.Anomalies[c.kind]
		a.check(n > 0, statusUnmet, "canary: %s under %s shows %s in %d of %d runs", c.mode,
			c.class, c.kind, n, tally.Runs)
	}
	return nil
}

func (a *app) canaryCell(c canary) (*search.Cell, bool) {
	mode, err := a.mode(c.mode)
	if err != nil || len(a.lib.Topologies) == 0 {
		return nil, false
	}
	t, err := a.bare(a.lib.Topologies[0])
	if err != nil {
		return nil, false
	}
	s := search.WithMode(t.base, mode)
	s.Input.Records = search.PlacedRecords
	for _, class := range a.lib.Classes {
		if class.Name == c.class {
			return &search.Cell{Library: a.lib, Scenario: s, Class: class}, true
		}
	}
	return nil, false
}
