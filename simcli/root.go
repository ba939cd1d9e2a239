package simcli

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/oncesim/oncesim/model"
)

// helpTemplate leads with examples: they are what most readers of help look for.
const helpTemplate = `{{with or .Long .Short}}{{. | trimTrailingWhitespaces}}

{{end}}{{if .HasExample}}Examples:
{{.Example}}

{{end}}{{.UsageString}}`

const usageTemplate = `Usage:{{if and .Runnable (not .HasAvailableSubCommands)}}
  {{.UseLine}}{{end}}{{if .HasAvailableSubCommands}}
  {{.CommandPath}} COMMAND{{end}}{{if .HasAvailableSubCommands}}

Commands:{{range .Commands}}{{if .IsAvailableCommand}}
  {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}{{end}}{{if .HasAvailableLocalFlags}}

Flags:
{{.LocalFlags.FlagUsages | trimTrailingWhitespaces}}{{end}}{{if .HasAvailableInheritedFlags}}

Everywhere:
{{.InheritedFlags.FlagUsages | trimTrailingWhitespaces}}{{end}}
{{if .HasAvailableSubCommands}}
"{{.CommandPath}} COMMAND -h" says more.
{{end}}`

const rootHelp = `Runs stream-processing pipelines in simulated worlds, puts faults wherever a
line says, and judges what became of every record. One scenario and seed give
one run, everywhere.`

// root builds the command tree.
func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   a.program,
		Short: "run stream-processing pipelines in simulated worlds and judge their guarantees",
		Long:  rootHelp,
		Example: a.examples(
			"run pipeline --fault 'crash sink/0 before ack of write 2'",
			"run page-views --mode at-most-once --input access.log",
			"compare page-views",
			"explain duplicate"),
		SilenceUsage:  true,
		SilenceErrors: true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			return checkEmpty(cmd.Flags())
		},
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknown("command", args[0], commandNames(cmd))
			}
			cmd.SetOut(a.log)
			_ = cmd.Help()
			return fail(statusUsage, "a command is missing")
		},
	}
	root.SetHelpTemplate(helpTemplate)
	root.SetUsageTemplate(usageTemplate)
	root.SetOut(a.out)
	root.SetErr(a.log)
	root.SetIn(a.in)
	root.SetFlagErrorFunc(flagError)
	root.PersistentFlags().BoolVarP(&a.quiet, "quiet", "q", false, "no progress and no hints")
	root.AddCommand(a.runCommand(), a.compareCommand(), a.sweepCommand(), a.mergeCommand(),
		a.replayCommand(), a.shrinkCommand(), a.exploreCommand(), a.explainCommand(),
		a.listCommand(), a.doctorCommand(), a.benchCommand(), a.versionCommand())
	return root
}

// examples are the lines of an example, indented and with the name of the program.
func (a *app) examples(lines ...string) string {
	for i := range lines {
		lines[i] = "  " + a.program + " " + lines[i]
	}
	return strings.Join(lines, "\n")
}

func commandNames(cmd *cobra.Command) []string {
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return names
}

// flagError adds the nearest flag to a complaint about an unknown one, and says in words what the
// standard library says of a text that is no number, no time, or neither true nor false.
func flagError(cmd *cobra.Command, err error) error {
	message := err.Error()
	if word, ok := strings.CutPrefix(message, "unknown flag: --"); ok {
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		message = fmt.Sprintf("unknown flag --%s", word)
		if near := model.Nearest(word, names); word == "sink" {
			message += ": here each mode writes to its own sink"
		} else if near != "" {
			message += fmt.Sprintf("; did you mean --%s?", near)
		}
	}
	if before, _, isTime := strings.Cut(message, "flag: time: "); isTime {
		message = fmt.Sprintf("%sflag: expected a time such as 10m, up to %s", before,
			time.Duration(math.MaxInt64).Truncate(time.Hour))
	}
	numbers := []string{"strconv.ParseUint: parsing ", "expected a number from 0, not ",
		"strconv.ParseInt: parsing ", "expected a number, not ", ": invalid syntax", ""}
	if strings.HasSuffix(message, ": value out of range") {
		numbers = []string{": value out of range", "", "strconv.ParseUint: parsing ",
			fmt.Sprintf("expected a number from 0 to %d, not ", uint64(math.MaxUint64)),
			"strconv.ParseInt: parsing ",
			fmt.Sprintf("expected a number up to %d, not ", math.MaxInt)}
	}
	message = strings.NewReplacer(append(numbers, "strconv.ParseBool: parsing ",
		"expected true or false, not ")...).Replace(message)
	return fail(statusUsage, "%s (%s -h lists the flags)", message, cmd.CommandPath())
}

// checkEmpty refuses a flag of a text that was given without one: it is a variable that is not set
// more often than a wish for the default.
func checkEmpty(flags *pflag.FlagSet) (err error) {
	flags.Visit(func(f *pflag.Flag) {
		if what, _ := pflag.UnquoteUsage(f); f.Value.Type() == "string" && f.Value.String() == "" {
			err = fail(statusUsage, "--%s is empty, expected %s", f.Name, what)
		}
	})
	return err
}

// exclusive says in words what cobra says of flags that exclude each other; other errors stay.
func exclusive(err error) error {
	_, list, isIt := strings.Cut(err.Error(), "none of the others can be; [")
	list, isAll := strings.CutSuffix(list, "] were all set")
	if !isIt || !isAll {
		return err
	}
	return fail(statusUsage, "--%s: choose one", strings.Join(strings.Fields(list), " and --"))
}

// one is the check that there is one argument; what says what it is.
func one(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) == 0:
			return fail(statusUsage, "%s needs %s", cmd.Name(), what)
		case len(args) > 1:
			return fail(statusUsage, "unexpected %q: %s takes %s", args[1], cmd.Name(), what)
		}
		return nil
	}
}

// none is the check that there is no argument.
func none(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fail(statusUsage, "unexpected %q: %s takes no argument", args[0], cmd.Name())
	}
	return nil
}
