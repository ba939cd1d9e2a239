package simcli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oncesim/oncesim/report"
	"github.com/oncesim/oncesim/scenarios"
)

const replayHelp = `Runs a saved scenario, or every .sim file in a directory, and says of each
whether it is exact (the same trace), reproduces (the same failure, another
trace), is fixed (nothing is violated any more), fails otherwise, or does not
fit any more (a name is gone, a fault is not reached, the format is newer):
that is never passed over. A file in which nothing is recorded is judged as
"run" does; a name in it that is unknown is an error, with status 2 and not 5.`

func (a *app) replayCommand() *cobra.Command {
	var accept bool
	cmd := &cobra.Command{
		Use:   "replay FILE|DIR",
		Short: "run saved scenarios again and compare them with what was recorded",
		Long:  replayHelp,
		Example: a.examples("replay failure.sim", "replay testdata/sim",
			"replay failure.sim --accept"),
		Args: one("a scenario file or a directory"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.replay(cmd.Context(), args[0], accept)
		},
	}
	cmd.Flags().BoolVar(&accept, "accept", false, "record in the file what the run is now")
	return cmd
}

func (a *app) replay(ctx context.Context, path string, accept bool) error {
	if !isDirectory(path) {
		return a.replayFile(path, accept, true)
	}
	files, err := filepath.Glob(filepath.Join(escapeGlob(path), "*.sim"))
	if err != nil || len(files) == 0 {
		return fail(statusUnknown, "%s has no .sim file", path)
	}
	slices.Sort(files)
	for i, file := range files {
		if ctx.Err() != nil {
			a.tell("%s: interrupted before %s, %d of %d files done", a.program, file, i, len(files))
			return nil
		}
		if err := a.replayFile(file, accept, false); err != nil {
			a.say(err)
			a.note(statusOf(err))
		}
	}
	return nil
}

// escapeGlob makes a path stand for itself in a pattern.
func escapeGlob(path string) string {
	return strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// replayFile runs one file again. In full, the report follows the outcome.
func (a *app) replayFile(path string, accept, full bool) error {
	data, err := a.read(path)
	if err != nil {
		return err
	}
	t, err := a.parse(path, path, data)
	if err != nil {
		return staleness(err, data)
	}
	t.s = t.base
	c, err := a.execute(t)
	if err != nil {
		return err
	}
	outcome, text := c.Outcome()
	a.out.print(fmt.Sprintf("%s: %s\n", path, text))
	a.note(statusOfOutcome(outcome, c))
	if full {
		a.out.print("\n" + report.Text(c, a.style()))
	}
	if !accept || outcome == report.Stale {
		return nil
	}
	return a.accept(path, data, c)
}

// statusOfOutcome is what the outcome of a replay means.
func statusOfOutcome(o report.Outcome, c *report.Case) int {
	switch status := statusOfRun(c); o {
	case report.Stale:
		return statusStale
	case report.Differs:
		return statusDiffers
	case report.Otherwise:
		return worst(status, statusUnmet)
	default:
		return status
	}
}

// staleness is an error of parsing a saved file: one that names what the library does not have is
// stale, and so is one of a newer format.
func staleness(err error, data []byte) error {
	var f *scenarios.FileError
	isSaved := bytes.Contains(data, []byte("\n-- recorded --"))
	switch {
	case errors.Is(err, scenarios.ErrNewerFormat):
		return &failure{statusStale, err}
	case isSaved && errors.As(err, &f) && isUnknownName(f.Msg):
		return &failure{statusStale, fmt.Errorf("stale: %w", err)}
	}
	return err
}

// isUnknownName reports whether a complaint is about the name of something that was there once.
func isUnknownName(message string) bool {
	for _, what := range []string{"topology", "mode", "parameter", "sink", "operator", "decoder",
		"sample", "process", "partition", "fault", "call kind", "property", "anomaly"} {
		if strings.Contains(message, "unknown "+what+" ") {
			return true
		}
	}
	return strings.Contains(message, ": unknown parameter ")
}

// accept records in a file what the run is now.
func (a *app) accept(path string, data []byte, c *report.Case) error {
	s := *c.Scenario
	s.Recorded = c.Record()
	_, text, ok := bytes.Cut(scenarios.Format(a.lib, &s), []byte("\n-- recorded --\n"))
	if !ok {
		panic("simcli: a recorded scenario without its section")
	}
	data = scenarios.ReplaceSection(data, "recorded", string(text))
	if err := writeWhole(path, func(to io.Writer) error {
		_, err := to.Write(data)
		return err
	}); err != nil {
		return err
	}
	a.out.print(fmt.Sprintf("%s: recorded %s\n", path, report.Signature(c)))
	return nil
}
