package simcli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/oncesim/oncesim/faults"
	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/report"
	"github.com/oncesim/oncesim/search"
)

const shrinkHelp = `Makes a failing scenario smaller, and writes what is left as a scenario file
that replays by itself. By default the run goes on failing in the same way: the
same properties are violated, with the same kinds of anomaly. With --any whatever
is violated will do. A run that breaks a claim of its mode is made smaller to
runs that break one, either way.

In the end every single deletion (of a fault, a record, a partition, a task, a
key or a setting) and every single weakening of a fault is tried on what is left.
Only if each of them loses the failure is it called minimal. The same file gives
the same result, whatever the machine.`

// shrinking is what the flags of shrink say.
type shrinking struct {
	same, any bool
	runs      int
	out       string
	force     bool
	asJSON    bool
}

func (a *app) shrinkCommand() *cobra.Command {
	var f shrinking
	cmd := &cobra.Command{
		Use:   "shrink FILE",
		Short: "make a failing scenario smaller and keep what fails",
		Long:  shrinkHelp,
		Example: a.examples("shrink failure.sim", "shrink failure.sim -o small.sim",
			"shrink failure.sim --any --runs 500"),
		Args:              one("a scenario: a file or a name"),
		ValidArgsFunction: a.completeScenario,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case f.same && f.any:
				return fail(statusUsage, "--keep-signature and --any exclude each other")
			case f.runs < 1:
				return fail(statusUsage, "--runs %d, expected a number from 1", f.runs)
			}
			return a.shrink(cmd.Context(), args[0], &f)
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&f.same, "keep-signature", false, "fail in the same way (the default)")
	flags.BoolVar(&f.any, "any", false, "fail in any way")
	flags.IntVar(&f.runs, "runs", search.ShrinkRuns, "make at most `N` runs")
	flags.StringVarP(&f.out, "output", "o", "", "write to `FILE`, or into a directory "+
		"(default beside the scenario, named by what fails)")
	addForce(cmd, &f.force)
	flags.BoolVar(&f.asJSON, "json", false, "write the result as a JSON document")
	return cmd
}

// shrink makes the scenario of an argument smaller, and writes and shows what is left.
func (a *app) shrink(ctx context.Context, arg string, f *shrinking) error {
	t, err := a.shrinkable(arg)
	if err != nil {
		return err
	}
	p := a.newProgress("runs at most")
	s, err := search.Shrink(ctx, a.lib, t.base, search.Shrinking{Any: f.any, RunsMax: f.runs,
		Progress: p.step})
	p.end()
	if errors.Is(err, search.ErrNothing) {
		return fail(statusUsage, "%s: %w", arg, err)
	}
	if err != nil {
		return err
	}
	c, err := a.execute(&target{arg: arg, base: s.Scenario, s: s.Scenario})
	if err != nil {
		return err
	}
	if now := report.Signature(c); now != s.Signature {
		return fail(statusDiffers, "%s: the shrunk run shows %s, and when it is run again %s", arg,
			s.Signature, now)
	}
	c.Shrunk, c.Judged = s, false
	path := f.out
	if path == "" {
		path = besides(arg)
	}
	if c.Saved, err = a.save(c, path, overwrite{f.force, []string{arg}}); err != nil {
		return err
	}
	c.Command = a.program + " run " + report.Quote(c.Saved)
	if f.asJSON {
		a.out.json(newShrunkDocument(t.base.Name, c))
	} else {
		a.out.print(c.Shrinking() + "\n\n" + report.Text(c, a.style()))
	}
	if ctx.Err() != nil {
		a.tell("%s: interrupted; %s shrink %s goes on", a.program, a.program,
			report.Quote(c.Saved))
	}
	return nil
}

// shrinkable is the scenario that an argument means. It runs twice, and the two runs agree; a file
// that does not mean any more what was recorded in it is stale.
func (a *app) shrinkable(arg string) (*target, error) {
	t, err := a.find(arg)
	if err != nil {
		if data, unread := a.read(arg); arg != "-" && unread == nil {
			return nil, staleness(err, data)
		}
		return nil, err
	}
	t.s = t.base
	c, err := a.execute(t)
	if err != nil {
		return nil, err
	}
	outcome, text := c.Outcome()
	switch {
	case outcome == report.Differs:
		return nil, fail(statusDiffers, "%s: %s", arg, text)
	case outcome == report.Stale && t.base.Recorded != nil:
		return nil, fail(statusStale, "%s: %s", arg, text)
	case outcome == report.Otherwise:
		a.tell("%s: %s: %s", a.program, arg, text)
	}
	isUnknown := slices.ContainsFunc(c.Result.Verdicts, func(v model.Verdict) bool {
		return v.Result == model.Undecided
	})
	switch {
	case search.Violates(c.Result.Verdicts):
		return t, nil
	case isUnknown:
		return nil, fail(statusUnknown, "%s: nothing to shrink: nothing is violated, as far as "+
			"is known", arg)
	}
	return nil, fail(statusUsage, "%s: nothing to shrink: nothing is violated", arg)
}

// besides is the directory in which a scenario lies, or the current one where it is no file.
func besides(arg string) string {
	if info, err := os.Stat(arg); err != nil || !info.Mode().IsRegular() {
		return "."
	}
	return filepath.Dir(arg)
}

// shrunkDocument is what "shrink --json" prints. Pairs are before and after.
type shrunkDocument struct {
	Scenario  string      `json:"scenario"`
	Signature string      `json:"signature"`
	Faults    [2]int64    `json:"faults"`
	Records   [2]int64    `json:"records"`
	Events    [2]int64    `json:"events"`
	Runs      int         `json:"runs"`
	Minimal   bool        `json:"minimal"`
	Dropped   []string    `json:"dropped"`
	Saved     string      `json:"saved"`
	Run       *report.Run `json:"run"`
}

func newShrunkDocument(name string, c *report.Case) *shrunkDocument {
	s := c.Shrunk
	return &shrunkDocument{Scenario: name, Signature: s.Signature, Faults: s.Faults,
		Records: s.Records, Events: s.Events, Runs: s.Runs, Minimal: s.IsMinimal,
		Dropped: faults.Plan(s.Dropped).Lines(), Saved: c.Saved, Run: report.NewRun(c)}
}
