package simcli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/report"
	"github.com/oncesim/oncesim/scenarios"
	"github.com/oncesim/oncesim/search"
)

// exploration are the flags of explore beside the settings.
type exploration struct {
	modes   string
	crashes int
	classes string
	faults  int
	seeds   string
	runsMax int64
	workers int
	asJSON  bool

	orders    bool
	timers    int
	lulls     int
	walks     int
	statesMax int64
	path      string
}

// orderedRecords is how many records --orders has unless it is said: there are many orders of few.
const orderedRecords = 2

const exploreHelp = `Runs a scenario under every plan of up to so many faults: one crash, unless
flags say more, at every effect of every process and every phase of every call,
and further faults at every place of the runs that earlier ones make, recovery
included. What it says never happens does not happen within that bound, under
the latencies of the seed; --seeds explores under others too. Faults of the
scenario itself are left out, and so are all records but the first few, unless
--records says how many. --max-runs counts the runs that are judged; finding out
what places a run offers takes others, about one in 64 and one for each plan.

With --orders, time and latencies are left out as well: every order in which
messages, requests and answers can come is explored, with up to --crashes
crashes anywhere in it. A timer fires once nothing else can happen; --timers has
some fire before, whatever else can happen, and --lulls some more while nothing
can but that input arrives. A checkpoint between two records takes one of these.
--walks takes a number of runs at random instead of all: it finds quickly what
is not rare, and proves nothing. The line below an anomaly takes the steps of
its smallest run again and reports on it as "run" does: --path says which of the
choices there are is taken at each step, and what crashes.`

func (a *app) exploreCommand() *cobra.Command {
	var f settings
	var x exploration
	cmd := &cobra.Command{
		Use:   "explore SCENARIO",
		Short: "run a scenario under every placement of faults, up to a bound",
		Long:  exploreHelp,
		Example: a.examples(
			"explore pipeline",
			"explore pipeline --mode dedup --crashes 2 --records 3",
			"explore page-views --modes all --classes crash,zombie --faults 2 --records 2",
			"explore pipeline --records 1000",
			"explore pipeline --mode dedup --orders --records 2"),
		Args:              one("a scenario: a name or a file"),
		ValidArgsFunction: a.completeScenario,
		RunE: func(cmd *cobra.Command, args []string) error {
			opts, err := a.exploring(cmd, &x)
			if err != nil {
				return err
			}
			t, modes, err := a.explored(cmd, args[0], &f, &x)
			if err != nil {
				return err
			}
			if x.path != "" {
				return a.follow(t, modes[0], &x)
			}
			return a.explore(cmd.Context(), t, modes, opts, &x)
		},
	}
	f.addTo(cmd, "set a parameter of the modes that have it, `NAME=VALUE`; repeatable")
	x.addTo(cmd, &f)
	_ = cmd.RegisterFlagCompletionFunc("mode", a.completeMode)
	_ = cmd.RegisterFlagCompletionFunc("modes", a.completeMode)
	_ = cmd.RegisterFlagCompletionFunc("classes", a.completeClass)
	return cmd
}

// addTo gives a command the flags of an exploration.
func (x *exploration) addTo(cmd *cobra.Command, f *settings) {
	flags := cmd.Flags()
	flags.StringVar(&f.mode, "mode", "", "run under this `MODE`")
	flags.StringVar(&x.modes, "modes", "", "under these `MODES`, separated by commas, or all")
	flags.Uint64Var(&f.seed, "seed", scenarios.SeedDefault, "under the latencies of this `SEED`")
	flags.StringVar(&x.seeds, "seeds", "", "under those of each of the seeds `A-B`")
	flags.IntVar(&x.crashes, "crashes", 1, "up to `K` crashes: --classes crash --faults K")
	flags.StringVar(&x.classes, "classes", "crash",
		"faults of these `CLASSES`, separated by commas; one that changes the scenario is alone")
	flags.IntVar(&x.faults, "faults", 1, "up to `K` faults of these classes")
	flags.Int64Var(&x.runsMax, "max-runs", 0,
		"judge no more than `N` runs of a mode (default no bound)")
	flags.IntVarP(&x.workers, "jobs", "j", 0, "so many runs at a time, `N` (default one a core)")
	flags.BoolVar(&x.orders, "orders", false, "every order of messages, requests and answers")
	flags.IntVar(&x.timers, "timers", 0, "of orders: up to `N` timers fire before their turn")
	flags.IntVar(&x.lulls, "lulls", 0,
		"of orders: up to `N` more timers fire while only input is awaited")
	flags.IntVar(&x.walks, "walks", 0, "of orders: `N` runs at random (default all there are)")
	flags.Int64Var(&x.statesMax, "max-states", 0,
		"of orders: no more than `N` states of a mode (default no bound)")
	flags.StringVar(&x.path, "path", "", "of orders: only the one of these `STEPS`, in full")
	flags.BoolVar(&x.asJSON, "json", false, "write the result as a JSON document")
	for _, other := range []string{"classes", "faults", "seed", "seeds"} {
		cmd.MarkFlagsMutuallyExclusive("orders", other)
	}
	for _, other := range []string{"modes", "walks", "max-runs", "max-states"} {
		cmd.MarkFlagsMutuallyExclusive("path", other)
	}
	cmd.MarkFlagsMutuallyExclusive("mode", "modes")
	cmd.MarkFlagsMutuallyExclusive("seed", "seeds")
	cmd.MarkFlagsMutuallyExclusive("crashes", "classes")
	cmd.MarkFlagsMutuallyExclusive("crashes", "faults")
}

// exploring is what to explore, as flags say.
func (a *app) exploring(cmd *cobra.Command, x *exploration) (opts search.Exploring, err error) {
	opts = search.Exploring{Faults: x.faults, RunsMax: x.runsMax, Workers: x.workers}
	if cmd.Flags().Changed("crashes") {
		opts.Faults = x.crashes
	}
	least := int64(1)
	if x.orders {
		least = 0
	}
	for _, flag := range []struct {
		name  string
		value int64
		least int64
	}{{"crashes", int64(x.crashes), least}, {"faults", int64(x.faults), 1},
		{"max-runs", x.runsMax, 1}, {"jobs", int64(x.workers), 1}, {"timers", int64(x.timers), 0},
		{"lulls", int64(x.lulls), 0}, {"walks", int64(x.walks), 1},
		{"max-states", x.statesMax, 1}} {
		if cmd.Flags().Changed(flag.name) && flag.value < flag.least {
			return opts, fail(statusUsage, "--%s %d, expected a number from %d", flag.name,
				flag.value, flag.least)
		}
	}
	if x.workers > jobsMax {
		return opts, fail(statusUsage, "--jobs %d, expected a number from 1 to %d", x.workers,
			jobsMax)
	}
	for _, name := range []string{"timers", "lulls", "walks", "max-states", "path"} {
		if !x.orders && cmd.Flags().Changed(name) {
			return opts, fail(statusUsage, "--%s says something of --orders only", name)
		}
	}
	opts.Classes, err = pickAll("class", x.classes, a.lib.Classes,
		func(c *scenarios.Class) string { return c.Name })
	if err != nil || x.seeds == "" {
		return opts, err
	}
	opts.First, opts.Last, err = parseSeeds(x.seeds)
	opts.HasSeeds = true
	return opts, err
}

// explored is the scenario that is explored, and the modes.
func (a *app) explored(cmd *cobra.Command, arg string, f *settings, x *exploration) (
	*target, []*model.Mode, error) {
	t, modes, err := a.resolveAmong(cmd, arg, f, a.orOwn(x.modes))
	if err != nil {
		return nil, nil, err
	}
	few := search.PlacedRecords
	if x.orders {
		few = orderedRecords
	}
	if n := t.s.Input.Records; !cmd.Flags().Changed("records") && (n == 0 || n > few) {
		t.s.Input.Records = few
	}
	return t, modes, nil
}

// explore explores one mode after the other and writes what came of it.
func (a *app) explore(ctx context.Context, t *target, modes []*model.Mode, opts search.Exploring,
	x *exploration) error {
	all := &report.Explorations{Scenario: t.s.Name}
	began, runs, left := time.Now(), int64(0), modes
	for i := 0; i < len(modes) && ctx.Err() == nil; i++ {
		nth := fmt.Sprintf("under %s (%d of %d)", modes[i].Name, i+1, len(modes))
		doc, err := a.exploreMode(ctx, t, modes[i], opts, x, nth)
		if err != nil {
			return err
		}
		if doc != nil {
			all.Explorations = append(all.Explorations, doc)
			runs += doc.Runs
		}
		if ctx.Err() == nil || doc == nil || doc.Exhausted {
			left = modes[i+1:]
		}
	}
	if len(all.Explorations) == 0 {
		return fail(statusUnknown, "nothing was explored")
	}
	switch {
	case !x.asJSON:
		a.out.print(all.Text(a.style()))
	case x.modes == "":
		a.out.json(all.Explorations[0])
	default:
		a.out.json(all)
	}
	a.tell("%s: %s, %d/s", a.program, report.Several(runs, "run"), rate(runs, began))
	if ctx.Err() != nil && len(left) > 0 {
		a.tellLeft(left, len(modes) > 1)
	}
	return nil
}

// tellLeft says how to go on with the modes that an interrupt has left.
func (a *app) tellLeft(left []*model.Mode, areSeveral bool) {
	if !areSeveral {
		a.tell("%s: interrupted; an exploration cannot be resumed: run again it begins anew",
			a.program)
		return
	}
	a.tell("%s: interrupted; to go on, run it again with --modes %s", a.program,
		strings.Join(names(left, func(m *model.Mode) string { return m.Name }), ","))
}

// exploreMode explores one mode and notes what that means. There is no document where the faults
// say nothing of the mode.
func (a *app) exploreMode(ctx context.Context, t *target, mode *model.Mode, opts search.Exploring,
	x *exploration, nth string) (doc *report.Exploration, err error) {
	s := search.WithMode(t.s, mode)
	asked := opts.Classes
	isAll := strings.TrimSpace(x.classes) == "all"
	opts.Classes = slices.DeleteFunc(slices.Clone(asked), func(c *scenarios.Class) bool {
		return whyNot(c, mode, isAll) != ""
	})
	if len(opts.Classes) == 0 {
		a.tell("%s: no class asked for says anything of mode %s", a.program, mode.Name)
		return nil, nil
	}
	a.doing = "exploring " + s.Name + " under " + mode.Name
	if x.orders {
		doc, err = a.exploreOrders(ctx, t, s, x, nth)
	} else {
		doc, err = a.exploreFaults(ctx, t, s, opts, nth)
	}
	if err != nil {
		return nil, err
	}
	a.leaveOut(doc, asked, mode, isAll)
	switch broken, unsure := doc.Claims(); {
	case broken:
		a.note(statusViolated)
	case unsure:
		a.note(statusUnknown)
	}
	return doc, nil
}

// exploreFaults explores placements of faults under the mode of s.
func (a *app) exploreFaults(ctx context.Context, t *target, s *scenarios.Scenario,
	opts search.Exploring, nth string) (*report.Exploration, error) {
	p := a.newProgress("runs " + nth)
	defer p.end()
	var mu sync.Mutex
	opts.Progress = func(runs, known int64) {
		mu.Lock()
		defer mu.Unlock()
		p.step(int(runs), int(known))
	}
	began := time.Now()
	x, err := search.Explore(ctx, a.lib, s, opts)
	if err != nil {
		return nil, err
	}
	doc := report.NewExploration(x, func(s *scenarios.Scenario) string {
		return t.command(a.program, ofMode(s))
	})
	doc.StatesPerSecond = rate(x.States, began)
	return doc, nil
}

// exploreOrders explores orders under the mode of s.
func (a *app) exploreOrders(ctx context.Context, t *target, s *scenarios.Scenario, x *exploration,
	nth string) (*report.Exploration, error) {
	input, _, err := a.lib.LoadInput(s)
	if err != nil {
		return nil, err
	}
	p := a.newProgress("states " + nth)
	defer p.end()
	var mu sync.Mutex
	o := a.orders(x)
	o.Progress = func(states, _ int64) {
		mu.Lock()
		defer mu.Unlock()
		p.count(int(states))
	}
	began := time.Now()
	found, err := o.Explore(ctx, s)
	if err != nil {
		return nil, err
	}
	doc := report.NewOrders(o, s, input.Total(), found, func(tape *search.Tape) string {
		return x.line(a.program, t, s, tape)
	})
	doc.StatesPerSecond = rate(found.States, began)
	return doc, nil
}

// rate is how many there were a second.
func rate(n int64, began time.Time) int64 {
	return int64(float64(n) / max(time.Since(began).Seconds(), 1e-9))
}

// whyNot says why a class that was asked for is not explored under a mode; "": it is. Where all are
// asked for, those that stand alone are left out.
func whyNot(c *scenarios.Class, mode *model.Mode, isAll bool) string {
	switch {
	case !c.Applies(mode):
		return "says nothing of mode " + mode.Name
	case isAll && c.Vary != nil:
		return "changes the scenario, and stands alone"
	}
	return ""
}

// leaveOut says which classes that were asked for are no part of an exploration.
func (a *app) leaveOut(doc *report.Exploration, asked []*scenarios.Class, mode *model.Mode,
	isAll bool) {
	var names []string
	for _, class := range asked {
		if why := whyNot(class, mode, isAll); why != "" {
			doc.LeaveOut(class.Name, why)
			names = append(names, class.Name)
		}
	}
	if len(names) > 0 {
		a.tell("%s: left out under %s: %s", a.program, mode.Name, strings.Join(names, ", "))
	}
}

// orders is what to explore with --orders, as flags say.
func (a *app) orders(x *exploration) *search.Orders {
	return &search.Orders{Library: a.lib, Crashes: x.crashes, Timers: x.timers, Lulls: x.lulls,
		Walks: x.walks, RunsMax: x.runsMax, StatesMax: x.statesMax, Workers: x.workers}
}

// line is the command line that takes the steps of a tape again. It always says how many records
// there are, since explore takes few by itself.
func (x *exploration) line(program string, t *target, s *scenarios.Scenario,
	tape *search.Tape) string {
	head := program + " explore " + report.Quote(t.arg) + " --orders"
	for _, flag := range []struct {
		name        string
		value, byIt int
	}{{"crashes", x.crashes, 1}, {"timers", x.timers, 0}, {"lulls", x.lulls, 0}} {
		if flag.value != flag.byIt {
			head += fmt.Sprintf(" --%s %d", flag.name, flag.value)
		}
	}
	base := *t.base
	base.Faults, base.Input.Records = nil, 0
	return report.Command(head, false, &base, ofMode(s)) + " --path " + tape.Path
}

// follow takes one order of events and reports on its run as run does.
func (a *app) follow(t *target, mode *model.Mode, x *exploration) error {
	s := search.WithMode(t.s, mode)
	a.doing = "following an order of " + s.Name + " under " + mode.Name
	o := a.orders(x)
	tape, err := o.Follow(s, x.path)
	if err != nil {
		return fail(statusUsage, "--path: %w", err)
	}
	c := &report.Case{Library: a.lib, Command: x.line(a.program, t, s, tape)}
	if c.Result, err = o.Replay(s, tape); err != nil {
		return fail(statusUsage, "--path: %w", err)
	}
	if _, c.Stats, err = a.lib.LoadInput(s); err != nil {
		return err
	}
	shown := *s
	shown.Faults = tape.Faults()
	c.Scenario = &shown
	if x.asJSON {
		a.out.json(report.NewRun(c))
	} else {
		a.out.print(fmt.Sprintf("one order of events, of %s and without latencies\n%s",
			report.Several(len(tape.Steps), "step"), report.Text(c, a.style())))
	}
	a.note(statusOfRun(c))
	return nil
}
