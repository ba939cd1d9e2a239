package simcli

import (
	"context"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/report"
	"github.com/oncesim/oncesim/scenarios"
	"github.com/oncesim/oncesim/search"
)

// comparison are the flags of compare beside the settings.
type comparison struct {
	modes   string
	classes string
	seeds   string
	strict  bool
	asJSON  bool

	isOneSeed bool // --seed was given: it is the scenario's seed and the only one for plans
}

const compareHelp = `Runs every mode under every class of faults and says what it claims, what was
seen, and which smallest run shows it: plans drawn from seeds on all records,
and one fault at every place on a few. The faults of the scenario itself are
left out.`

func (a *app) compareCommand() *cobra.Command {
	var f settings
	var c comparison
	cmd := &cobra.Command{
		Use:   "compare SCENARIO",
		Short: "compare modes under classes of faults: the matrix",
		Long:  compareHelp,
		Example: a.examples(
			"compare page-views",
			"compare pipeline --modes at-most-once,at-least-once --classes crash,zombie",
			"compare pipeline --seeds 1-1000 --strict --json"),
		Args:              one("a scenario: a name or a file"),
		ValidArgsFunction: a.completeScenario,
		RunE: func(cmd *cobra.Command, args []string) error {
			t, err := a.resolve(cmd, args[0], &f)
			if err != nil {
				return err
			}
			c.isOneSeed = cmd.Flags().Changed("seed")
			return a.compare(cmd.Context(), t, &c)
		},
	}
	f.addTo(cmd)
	flags := cmd.Flags()
	flags.StringVar(&c.modes, "modes", "all", "these `MODES`, separated by commas")
	flags.StringVar(&c.classes, "classes", "all", "these `CLASSES` of faults, separated by commas")
	flags.StringVar(&c.seeds, "seeds", "1-20", "draw plans from the seeds `A-B`")
	flags.Uint64Var(&f.seed, "seed", scenarios.SeedDefault, "draw plans from one `SEED`")
	flags.BoolVar(&c.strict, "strict", false,
		"also fail when a violation that is claimed to be reachable is not seen")
	flags.BoolVar(&c.asJSON, "json", false, "write the result as a JSON document")
	cmd.MarkFlagsMutuallyExclusive("seed", "seeds")
	return cmd
}

func (a *app) compare(ctx context.Context, t *target, c *comparison) error {
	modes, err := pickAll("mode", c.modes, a.lib.Modes,
		func(m *model.Mode) string { return m.Name })
	if err != nil {
		return err
	}
	classes, err := pickAll("class", c.classes, a.lib.Classes,
		func(c *scenarios.Class) string { return c.Name })
	if err != nil {
		return err
	}
	first, last, err := parseSeeds(c.seeds)
	if err != nil {
		return err
	}
	if c.isOneSeed {
		first, last = t.s.Seed, t.s.Seed
	}
	a.doing = "comparing " + t.s.Name
	p := a.newProgress("cells")
	m, err := search.Compare(ctx, a.lib, t.s, modes, classes, first, last, p.step)
	p.end()
	if err != nil {
		return err
	}
	doc := report.NewMatrix(m, func(s *scenarios.Scenario) string {
		return t.command(a.program, s)
	})
	if c.asJSON {
		a.out.json(doc)
	} else {
		a.out.print(doc.Text(a.style()))
	}
	a.noteMatrix(doc, c.strict)
	if doc.Partial {
		a.tell("%s: interrupted; to go on, run it again with the --modes and --classes that are "+
			"missing", a.program)
	}
	return nil
}

// noteMatrix is what a comparison means.
func (a *app) noteMatrix(m *report.Matrix, strict bool) {
	broken, unsure := m.Claims()
	switch {
	case broken:
		a.note(statusViolated)
	case unsure || len(m.Cells) == 0:
		a.note(statusUnknown)
	}
	if strict && m.Unreached > 0 && !m.Partial {
		a.note(statusUnmet)
	}
}

// pickAll finds the named values of a list; "all" is all of it.
func pickAll[T any](what, names string, all []T, name func(T) string) ([]T, error) {
	if names == "all" {
		return all, nil
	}
	var known []string
	for _, v := range all {
		known = append(known, name(v))
	}
	var picked []T
	for _, word := range strings.Split(names, ",") {
		found := false
		for _, v := range all {
			if name(v) == strings.TrimSpace(word) {
				picked, found = append(picked, v), true
			}
		}
		if !found {
			return nil, unknown(what, word, append(known, "all"))
		}
	}
	return picked, nil
}

// parseSeeds reads "A-B" or "A".
func parseSeeds(text string) (first, last uint64, err error) {
	from, to, isRange := strings.Cut(text, "-")
	if !isRange {
		to = from
	}
	first, err1 := strconv.ParseUint(from, 10, 64)
	last, err2 := strconv.ParseUint(to, 10, 64)
	if err1 != nil || err2 != nil || last < first {
		return 0, 0, fail(statusUsage, "--seeds %q, expected A-B with A up to B, as in 1-200", text)
	}
	return first, last, nil
}
