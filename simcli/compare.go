package simcli

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
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
	details bool
	pairs   bool

	isOneSeed bool // --seed was given: it is the scenario's seed and the only one for plans
	hasFaults bool // --fault was given: one run a mode, under just these
}

const compareHelp = `Runs every mode under every class of faults and says what it claims, what was
seen, and which smallest run shows it: plans drawn from seeds on all records,
and one fault at every place on a few. Below it stands what each mode costs.
Without --modes one mode of each family is compared, as many as fit side by
side. The faults of the scenario itself are left out. With --fault every mode runs
once, under these faults and one seed, and they are shown side by side. Each
mode writes to its own sink; a sink that the scenario names is for its own mode.`

func (a *app) compareCommand() *cobra.Command {
	var f settings
	var c comparison
	cmd := &cobra.Command{
		Use:   "compare SCENARIO",
		Short: "compare modes under classes of faults: the matrix",
		Long:  compareHelp,
		Example: a.examples(
			"compare page-views",
			"compare pipeline --records 3 --fault 'crash op/0 after effect 1 of record 0'",
			"compare pipeline --modes at-most-once,at-least-once --classes crash,zombie",
			"compare pipeline --seeds 1-1000 --strict --json"),
		Args:              one("a scenario: a name or a file"),
		ValidArgsFunction: a.completeScenario,
		RunE: func(cmd *cobra.Command, args []string) error {
			modes, err := a.pickModes(c.modes)
			if err != nil {
				return err
			}
			t, _, err := a.resolveAmong(cmd, args[0], &f, func(*model.Mode) ([]*model.Mode, error) {
				return modes, nil
			})
			if err != nil {
				return err
			}
			c.isOneSeed = cmd.Flags().Changed("seed")
			c.hasFaults = cmd.Flags().Changed("fault")
			return a.compare(cmd.Context(), t, modes, &c)
		},
	}
	f.addTo(cmd, "set a parameter of the modes that have it, `NAME=VALUE`; repeatable")
	flags := cmd.Flags()
	flags.StringVar(&c.modes, "modes", "", "these `MODES`, separated by commas, or all; "+
		"siblings of a mode and variants, which are made to fail, run only when asked for")
	flags.StringVar(&c.classes, "classes", "all", "these `CLASSES` of faults, separated by commas")
	flags.StringVar(&c.seeds, "seeds", "1-10", "draw plans from the seeds `A-B`")
	flags.Uint64Var(&f.seed, "seed", scenarios.SeedDefault, "draw plans from one `SEED`")
	flags.StringArrayVar(&f.faults, "fault", nil,
		"only under this `LINE` of the fault language; repeatable")
	flags.BoolVar(&c.details, "details", false, "also a line for each mode and class")
	flags.BoolVar(&c.pairs, "pairs", false,
		"also place each fault together with a crash, everywhere: slow, and a wider never")
	flags.BoolVar(&c.strict, "strict", false,
		"also fail when a violation that is claimed to be reachable is not seen")
	flags.BoolVar(&c.asJSON, "json", false, "write the result as a JSON document")
	cmd.MarkFlagsMutuallyExclusive("seed", "seeds")
	for _, other := range []string{"seeds", "classes", "strict", "details", "pairs"} {
		cmd.MarkFlagsMutuallyExclusive("fault", other)
	}
	return cmd
}

func (a *app) compare(ctx context.Context, t *target, modes []*model.Mode,
	c *comparison) error {
	if c.hasFaults {
		return a.compareFaults(t, modes, c.asJSON)
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
	m, err := search.Compare(ctx, a.lib, t.s, search.Comparing{Modes: modes, Classes: classes,
		First: first, Last: last, Pairs: c.pairs, Progress: p.step})
	if err == nil {
		m.Costs, err = search.Costs(ctx, a.lib, t.s, modes, first, last)
	}
	p.end()
	if err != nil {
		return err
	}
	doc := report.NewMatrix(m, func(s *scenarios.Scenario) string {
		return t.command(a.program, ofMode(s))
	})
	if c.asJSON {
		a.out.json(doc)
	} else {
		a.out.print(doc.Text(a.style(), c.details))
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
	case unsure || m.Partial || len(m.Cells) == 0:
		a.note(statusUnknown)
	}
	if strict && m.Unreached > 0 && !m.Partial {
		a.note(statusUnmet)
	}
}

// siblings are modes that compare leaves out unless they are asked for: each is near to another one
// of its family, and that one is shown. What is left fits in one table.
var siblings = [...]string{"none", "acker", "idempotent-by-key", "snapshot-upsert", "snapshot-wal"}

// pickModes finds the named modes: without names, all that are neither siblings nor variants.
func (a *app) pickModes(names string) ([]*model.Mode, error) {
	if names != "" {
		return pickAll("mode", names, a.lib.Modes, func(m *model.Mode) string { return m.Name })
	}
	var modes []*model.Mode
	for _, m := range a.lib.Modes {
		if !m.IsVariant && !slices.Contains(siblings[:], m.Name) {
			modes = append(modes, m)
		}
	}
	return modes, nil
}

// pickAll finds the named values of a list, each once; "all" is all of it.
func pickAll[T any](what, names string, all []T, name func(T) string) ([]T, error) {
	if names == "all" {
		return all, nil
	}
	var known []string
	for _, v := range all {
		known = append(known, name(v))
	}
	var picked []T
	var seen []string
	for _, word := range strings.Split(names, ",") {
		word = strings.TrimSpace(word)
		at := slices.Index(known, word)
		switch {
		case word == "":
			return nil, fail(statusUsage, "%q has a %s without a name", names, what)
		case at < 0:
			return nil, unknown(what, word, append(known, "all"))
		case !slices.Contains(seen, word):
			seen, picked = append(seen, word), append(picked, all[at])
		}
	}
	return picked, nil
}

// parseSeeds reads "A-B" or "A".
func parseSeeds(text string) (first, last uint64, err error) {
	wide := text
	if !strings.Contains(text, "-") {
		wide += "-" + text
	}
	first, last, ok := search.ParseSeeds(wide)
	if !ok {
		return 0, 0, fail(statusUsage, "--seeds %q, expected A-B with A up to B%s, as in 1-200",
			text, seedsBound(" and B", wide))
	}
	return first, last, nil
}

// seedsBound says how large seeds can be, if one of "A-B" is larger.
func seedsBound(what, text string) string {
	for _, seed := range strings.Split(text, "-") {
		if _, err := strconv.ParseUint(seed, 10, 64); errors.Is(err, strconv.ErrRange) {
			return fmt.Sprintf("%s up to %d", what, uint64(math.MaxUint64))
		}
	}
	return ""
}
