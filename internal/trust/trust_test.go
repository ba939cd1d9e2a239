package trust

import (
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/defects"
	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/scenarios"
	"github.com/oncesim/oncesim/search"
)

var (
	full = flag.Bool("trust.full", false, "the whole kill matrix, a million runs without a "+
		"defect, all probes, and thousands of draws")
	update = flag.Bool("update", false, "with -trust.full, write anew the page about the defects, "+
		"catches.txt and probes.txt")
)

// again is how to write anew what a change of the runs has made wrong.
const again = "look why; then go test ./internal/trust -trust.full -update"

// page is the published page, and example the program in it. What is measured is written to caught
// and probes as well, see caughtText and declaredText.
const (
	page    = "../../docs/defects.md"
	example = "../../defects/example_test.go"
	caught  = "catches.txt"
	probes  = "probes.txt"
)

// The published kill matrix is what comes of measuring it again: to the number, since the runs are
// the same everywhere. TestKillMatrix_CatchesAgain is the small form.
func TestKillMatrix(t *testing.T) {
	if !*full {
		t.Skip("measures for minutes; -trust.full")
	}
	lib := scenarios.Builtin()
	type job struct {
		row  *Row
		d    int
		mode *model.Mode
	}
	var jobs []job
	for i, d := range lib.Defects {
		for _, name := range d.Modes {
			mode, err := lib.FindMode(name)
			require.NoError(t, err)
			jobs = append(jobs, job{d: i, mode: mode})
		}
	}
	require.NoError(t, Each(len(jobs), func(i int) (err error) {
		jobs[i].row, err = Kill(context.Background(), lib, lib.Defects[jobs[i].d], jobs[i].mode,
			FullEffort)
		return err
	}))
	var rows []*Row
	runs, never := int64(0), 0
	for _, j := range jobs {
		rows = append(rows, j.row)
		runs += j.row.Runs
		if len(j.row.Catches) == 0 {
			never++
		}
		for _, text := range j.row.Differ[:min(len(j.row.Differ), 1)] {
			t.Errorf("%s in %s: the judges differ in %d of %d runs, first %s", j.row.Defect.Name,
				j.row.Mode, len(j.row.Differ), j.row.Runs, text)
		}
		if j.row.Alone > 0 {
			t.Errorf("%s in %s: the white box alone catches it in %d runs", j.row.Defect.Name,
				j.row.Mode, j.row.Alone)
		}
	}
	program, err := os.ReadFile(example)
	require.NoError(t, err)
	text := Page(rows, string(program))
	if *update {
		require.NoError(t, os.WriteFile(page, []byte(text), 0o644))
		require.NoError(t, os.WriteFile(caught, []byte(Caught(rows)), 0o644))
	}
	published, err := os.ReadFile(page)
	require.NoError(t, err)
	fmt.Print(text[strings.Index(text, "| defect | mode"):])
	fmt.Printf("%d blind runs of %d defects in %d rows, of which %d are never caught so\n",
		runs, len(lib.Defects), len(rows), never)
	assert.Equal(t, string(published), text, again)
	if !*update {
		assert.Equal(t, caughtText, Caught(rows), again)
	}
}

// Nothing catches what the list of equivalents has: not one fault anywhere, and no blind run.
func TestEquivalents_AreNotSeen(t *testing.T) {
	if underRace {
		t.Skip("one goroutine: it runs without the race detector")
	}
	for _, d := range defects.Equivalents() {
		for _, name := range d.Modes {
			t.Run(d.Name+"/"+name, func(t *testing.T) {
				t.Parallel()
				lib := scenarios.Builtin()
				mode, err := lib.FindMode(name)
				require.NoError(t, err)
				lib.Defects = append(lib.Defects, d)
				runs := int64(500)
				if *full {
					runs = 2000
				}
				d := *d
				d.Shown = defects.Case{Topology: "pipeline"}
				row, err := Kill(context.Background(), lib, &d, mode, Effort{RunsMax: runs,
					CatchesMax: 1})
				require.NoError(t, err)
				require.Empty(t, row.Catches, "%s in %s", d.Name, name)
				require.Equal(t, []any{runs, int64(0), 0, 0}, []any{row.Runs, row.PlacedCaught,
					row.Alone, row.Unsure})
				require.Greater(t, row.Placed, int64(100))
				require.Empty(t, row.Differ)
				require.True(t, makesADifference(t, lib, mode, d.Name), "it does nothing at all")
			})
		}
	}
}

// makesADifference reports whether a defect changes some blind run, be it that nobody minds.
func makesADifference(t *testing.T, lib *scenarios.Library, mode *model.Mode, name string) bool {
	t.Helper()
	with, err := Worlds(lib, mode, name)
	require.NoError(t, err)
	without, err := Worlds(lib, mode, "")
	require.NoError(t, err)
	for n := int64(1); n <= 2000; n++ {
		w, seed, err := turn(with, n)
		require.NoError(t, err)
		o, _, err := turn(without, n)
		require.NoError(t, err)
		if w.Run(seed, scenarios.Options{}).Result.Subject.History.End.Hash !=
			o.Run(seed, scenarios.Options{}).Result.Subject.History.End.Hash {
			return true
		}
	}
	return false
}

// right are the modes that claim something under faults.
func right(lib *scenarios.Library) []*model.Mode {
	return slices.DeleteFunc(slices.Clone(lib.Modes), func(m *model.Mode) bool {
		return len(search.Envelope(lib, m)) == 0
	})
}

// No blind run of a mode as it is breaks a claim; the judges agree on each of them; and together
// they reach every branch that a probe names, as often as it says.
func TestNoAlarm(t *testing.T) {
	lib := scenarios.Builtin()
	modes := right(lib)
	runs := int64(200)
	if underRace {
		runs = 20
	}
	if *full {
		runs = (1_000_000 + int64(len(modes)) - 1) / int64(len(modes))
	}
	calm := make([]*Calm, len(modes))
	require.NoError(t, Each(len(modes), func(i int) (err error) {
		calm[i], err = Watch(context.Background(), lib, modes[i], runs)
		return err
	}))
	var total, alarms, differ, unknown, undecided int64
	for _, c := range calm {
		total, unknown, undecided = total+c.Runs, unknown+c.Unknown, undecided+c.Undecided
		alarms, differ = alarms+int64(len(c.Alarms)), differ+int64(len(c.Differ))
		for _, text := range slices.Concat(c.Alarms[:min(len(c.Alarms), 3)],
			c.Differ[:min(len(c.Differ), 3)]) {
			t.Error(text)
		}
	}
	// A judge that cannot say raises no alarm either.
	assert.LessOrEqual(t, 1000*unknown, total, "runs in which something claimed is not known")
	assert.LessOrEqual(t, 10*undecided, total, "properties on which a judge could not say")
	if *full {
		fmt.Printf("%d runs of %d modes without a defect: %d false alarms, %d with something "+
			"claimed unknown\n", total, len(modes), alarms, unknown)
		fmt.Printf("the judges agree on %d, on %d properties of which one could not say\n",
			total-differ, undecided)
	}
	reachesProbes(t, calm)
}
