package simcli

import (
	"bufio"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/oncesim/oncesim/report"
	"github.com/oncesim/oncesim/scenarios"
)

// tracedMax is how many events a run may have for its trace to be kept: some 300 MB. A longer run
// is judged all the same; its report has no diagram.
const tracedMax = 200_000

const runHelp = `Runs one scenario and judges it. SCENARIO is a topology or a built-in scenario
by name ("list scenarios" has them), a scenario file, or - for standard input.
Flags win over what the file says; --fault replaces all its faults, and
--fault '' leaves none.`

func (a *app) runCommand() *cobra.Command {
	var f settings
	var save, trace string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "run SCENARIO",
		Short: "run one scenario and show what became of every record",
		Long:  runHelp,
		Example: a.examples(
			"run pipeline",
			"run pipeline --fault 'crash sink/0 before ack of write 2'",
			"run page-views --mode at-most-once --seed 7 --input access.log --records 100",
			"run lesson.sim --set window=1 --save mine.sim"),
		Args:              one("a scenario: a name or a file"),
		ValidArgsFunction: a.completeScenario,
		RunE: func(cmd *cobra.Command, args []string) error {
			if trace == "-" && asJSON {
				return fail(statusUsage, "--trace - and --json are two results: choose one")
			}
			t, err := a.resolve(cmd, args[0], &f)
			if err != nil {
				return err
			}
			return a.runTarget(t, save, trace, asJSON)
		},
	}
	f.addTo(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.mode, "mode", "",
		"the `MODE`: how a guarantee is won (default "+modeDefault+")")
	flags.Uint64Var(&f.seed, "seed", scenarios.SeedDefault,
		"the `SEED` of latencies and generated input")
	flags.StringArrayVar(&f.faults, "fault", nil, "a `LINE` of the fault language; repeatable")
	flags.StringVar(&save, "save", "", "write the run as a scenario `FILE`, or into a directory")
	flags.StringVar(&trace, "trace", "",
		"write every event as JSON lines to `FILE`; - for standard output")
	flags.BoolVar(&asJSON, "json", false, "write the result as a JSON document")
	_ = cmd.RegisterFlagCompletionFunc("mode", a.completeMode)
	return cmd
}

// runTarget runs a scenario, writes what is asked for, and notes the status.
func (a *app) runTarget(t *target, save, trace string, asJSON bool) error {
	c, err := a.execute(t)
	if err != nil {
		return err
	}
	if trace != "" && len(c.Result.Trace) == 0 {
		return fail(statusUsage, "--trace: the run has %d events, limit %d; --records makes it "+
			"shorter", c.Result.Subject.History.End.N, tracedMax)
	}
	if save != "" {
		if c.Saved, err = a.save(c, save); err != nil {
			return err
		}
	}
	switch {
	case trace == "-":
		if err := writeTrace(a.out, c); err != nil {
			return nil // run reports what is wrong with the output
		}
	case trace != "":
		err := writeWhole(trace, func(to io.Writer) error { return writeTrace(to, c) })
		if err != nil {
			return err
		}
	}
	switch {
	case trace == "-":
	case asJSON:
		a.out.json(report.NewRun(c))
	default:
		a.out.print(report.Text(c, a.style()))
	}
	a.note(statusOfRun(c))
	return nil
}

func writeTrace(to io.Writer, c *report.Case) error {
	b := bufio.NewWriter(to)
	if err := report.WriteTrace(b, c); err != nil {
		return err
	}
	return b.Flush()
}

// execute runs a scenario twice: once for its hash, and once with the full trace. The two must
// agree.
func (a *app) execute(t *target) (*report.Case, error) {
	s := t.s
	a.doing = fmt.Sprintf("%s under %s, seed %d (%s)", s.Name, s.Mode.Name, s.Seed,
		t.command(a.program, s))
	runner, res, err := scenarios.Run(a.lib, s, scenarios.Options{})
	if err != nil {
		return nil, err
	}
	c := &report.Case{Library: a.lib, Scenario: s, Stats: runner.Stats(), Judged: !t.isChanged(),
		Command: t.command(a.program, s)}
	hash := res.Subject.History.End.Hash
	if res.Subject.History.End.N <= tracedMax {
		rules, err := s.Faults.Compile(runner.Job())
		if err != nil {
			return nil, err
		}
		res = runner.Run(s.Seed, rules, scenarios.Options{Trace: true})
	}
	c.Result = res
	if again := res.Subject.History.End.Hash; again != hash {
		return nil, fail(statusDiffers, "%s under %s, seed %d: two runs differ, hashes %016x and "+
			"%016x", s.Name, s.Mode.Name, s.Seed, hash, again)
	}
	return c, nil
}

// statusOfRun is what a run means: the verdict section decides where it is about the run, else
// the claims of the mode do.
func statusOfRun(c *report.Case) int {
	if c.Judged && len(c.Scenario.Expect) > 0 {
		if len(report.Unmet(c)) > 0 {
			return statusUnmet
		}
		return statusOK
	}
	violated, unknown := report.IsViolated(c)
	switch {
	case violated:
		return statusViolated
	case unknown:
		return statusUnknown
	}
	return statusOK
}

func (a *app) completeScenario(*cobra.Command, []string, string) ([]string,
	cobra.ShellCompDirective) {
	return a.scenarioNames(), cobra.ShellCompDirectiveDefault
}

func (a *app) completeMode(*cobra.Command, []string, string) ([]string,
	cobra.ShellCompDirective) {
	return a.modeNames(), cobra.ShellCompDirectiveNoFileComp
}

// isDirectory reports whether a path is a directory.
func isDirectory(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
