package simcli

import (
	"bufio"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/report"
	"github.com/oncesim/oncesim/scenarios"
	"github.com/oncesim/oncesim/search"
)

// pageCallsMax is how many calls a page may show: more than a browser likes already.
const pageCallsMax = 5_000

const runHelp = `Runs one scenario and judges it. SCENARIO is a topology or a built-in scenario
by name ("list scenarios" has them), a scenario file, or - for standard input.
Flags win over what the file says; --fault replaces all its faults, and
--fault '' leaves none.`

func (a *app) runCommand() *cobra.Command {
	var f settings
	var r results
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
			if r.trace == "-" && r.asJSON {
				return fail(statusUsage, "--trace - and --json are two results: choose one")
			}
			t, err := a.resolve(cmd, args[0], &f)
			if err != nil {
				return err
			}
			return a.runTarget(t, &r)
		},
	}
	f.addTo(cmd, "set a parameter of the mode, `NAME=VALUE`; repeatable")
	flags := cmd.Flags()
	flags.StringVar(&f.sink, "sink", "", "write to `SINK` and not to the mode's own, for which "+
		"its claims hold; of run only: under compare each mode has its own")
	flags.StringVar(&f.mode, "mode", "",
		"the `MODE`: how a guarantee is won (default "+scenarios.ModeDefault+")")
	flags.Uint64Var(&f.seed, "seed", scenarios.SeedDefault,
		"the `SEED` of latencies and generated input")
	flags.StringArrayVar(&f.faults, "fault", nil, "a `LINE` of the fault language; repeatable")
	r.addTo(cmd)
	_ = cmd.RegisterFlagCompletionFunc("mode", a.completeMode)
	_ = cmd.RegisterFlagCompletionFunc("defect", a.completeDefect)
	return cmd
}

// results are the flags that say what to do with a run.
type results struct {
	save, trace  string
	force        bool
	asJSON       bool
	linearizable bool
	page         string
}

func (r *results) addTo(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&r.save, "save", "", "write the run as a scenario `FILE`, or into a directory")
	addForce(cmd, &r.force)
	flags.StringVar(&r.trace, "trace", "",
		"write every event as JSON lines to `FILE`; - for standard output")
	flags.BoolVar(&r.asJSON, "json", false, "write the result as a JSON document")
	flags.BoolVar(&r.linearizable, "linearizable", false,
		"also judge the services: whether an order of the calls explains all answers")
	flags.StringVar(&r.page, "linearizable-page", "",
		"the same, and write the calls as a page for a browser to `FILE`")
}

// over says what --save may write over: no input.
func (r *results) over(inputs ...string) overwrite { return overwrite{r.force, inputs} }

// runTarget runs a scenario, writes what is asked for, and notes the status.
func (a *app) runTarget(t *target, r *results) error {
	var c *report.Case
	var err error
	a.waits.during(func() {
		if c, err = a.execute(t); err == nil {
			err = a.judgeServices(c, r)
		}
	})
	if err != nil {
		return err
	}
	save, trace := r.save, r.trace
	if trace != "" && len(c.Result.Trace) == 0 {
		return fail(statusUsage, "--trace: the run has %d events, limit %d; --records makes it "+
			"shorter", c.Result.Subject.History.End.N, search.TracedMax)
	}
	if save != "" {
		if c.Saved, err = a.save(c, save, r.over(t.arg, t.s.Input.Path)); err != nil {
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
	case r.asJSON:
		a.out.json(report.NewRun(c))
	default:
		a.out.print(report.Text(c, a.style()))
	}
	a.note(statusOfRun(c))
	a.note(statusOfServices(c))
	if len(report.NotReached(c)) > 0 {
		a.note(statusUnknown) // it was not put to the test, whatever was expected
	}
	return nil
}

// judgeServices asks of the services whether they are linearizable, if it is to be known.
func (a *app) judgeServices(c *report.Case, r *results) error {
	if !r.linearizable && r.page == "" {
		return nil
	}
	n := len(c.Result.Subject.History.Calls)
	if r.page != "" && n > pageCallsMax {
		return fail(statusUsage, "--linearizable-page: the run has %d calls, limit %d; --records "+
			"makes it shorter", n, pageCallsMax)
	}
	c.CheckLinearizable(0)
	if r.page == "" {
		return nil
	}
	return writeWhole(r.page, func(to io.Writer) error {
		b := bufio.NewWriter(to)
		if err := report.WriteLinearizablePage(b, c); err != nil {
			return err
		}
		return b.Flush()
	})
}

// statusOfServices is what the judgement of the services means; where none was asked for they are
// as expected.
func statusOfServices(c *report.Case) int {
	switch c.LinearizableResult() {
	case model.Violated:
		return statusViolated
	case model.Undecided:
		return statusUnknown
	}
	return statusOK
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
	a.doing = fmt.Sprintf("%s under %s, seed %d (%s)", s.Name, s.ModeText(), s.Seed,
		t.command(a.program, s))
	runner, res, err := scenarios.Run(a.lib, s, scenarios.Options{})
	if err != nil {
		return nil, err
	}
	c := &report.Case{Library: a.lib, Scenario: s, Stats: runner.Stats(), Judged: !t.isChanged(),
		Command: t.command(a.program, s)}
	hash := res.Subject.History.End.Hash
	if res.Subject.History.End.N <= search.TracedMax {
		rules, err := s.Faults.Compile(runner.Job())
		if err != nil {
			return nil, err
		}
		res = runner.Run(s.Seed, rules, scenarios.Options{Trace: true})
	}
	c.Result = res
	if again := res.Subject.History.End.Hash; again != hash {
		text, err := a.difference(s, res.Trace)
		if err != nil {
			return nil, err
		}
		return nil, fail(statusDiffers, "%s under %s, seed %d: two runs differ, hashes %016x and "+
			"%016x\n%s", s.Name, s.ModeText(), s.Seed, hash, again, text)
	}
	return c, nil
}

// difference runs a scenario once more, in a world of its own, and tells the first event in which
// its trace differs from another.
func (a *app) difference(s *scenarios.Scenario, trace []model.Entry) (string, error) {
	runner, res, err := scenarios.Run(a.lib, s, scenarios.Options{Trace: len(trace) > 0})
	if err != nil {
		return "", err
	}
	return report.Difference(runner.Job(), trace, res.Trace), nil
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

func (a *app) completeDefect(*cobra.Command, []string, string) ([]string,
	cobra.ShellCompDirective) {
	return a.defectNames(), cobra.ShellCompDirectiveNoFileComp
}

// isDirectory reports whether a path is a directory.
func isDirectory(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
