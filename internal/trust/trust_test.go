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
	update = flag.Bool("update", false, "with -trust.full, write the page about the defects anew")
)

// page is the published page, and example the program in it.
const (
	page    = "../../docs/defects.md"
	example = "../../defects/example_test.go"
)

// The published kill matrix is what comes of measuring it again: to the number, since the runs are
// the same everywhere. The small form of the test only looks for the first catch.
func TestKillMatrix(t *testing.T) {
	if underRace {
		t.Skip("runs without the race detector; TestNoAlarm has the same workers")
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
	effort := FirstEffort
	if *full {
		effort = FullEffort
	}
	require.NoError(t, Each(len(jobs), func(i int) (err error) {
		jobs[i].row, err = Kill(context.Background(), lib, lib.Defects[jobs[i].d], jobs[i].mode,
			effort)
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
	if *full && *update {
		require.NoError(t, os.WriteFile(page, []byte(text), 0o644))
	}
	published, err := os.ReadFile(page)
	require.NoError(t, err)
	if *full {
		fmt.Print(text[strings.Index(text, "| defect | mode"):])
		fmt.Printf("%d blind runs of %d defects in %d rows, of which %d are never caught so\n",
			runs, len(lib.Defects), len(rows), never)
		assert.Equal(t, string(published), text, "go test ./internal/trust -trust.full -update")
		return
	}
	comparesFirst(t, string(published), rows)
}

// comparesFirst compares what comes before the matrix, and of the matrix its rows and their first
// catches.
func comparesFirst(t *testing.T, published string, rows []*Row) {
	t.Helper()
	head, matrix, ok := strings.Cut(published, pageMatrix)
	require.True(t, ok, "the page has no kill matrix")
	now, _, _ := strings.Cut(Page(rows, between(head, pageHead, pageKinds)), pageMatrix)
	assert.Equal(t, head, now, "go test ./internal/trust -trust.full -update")
	lines := strings.Split(strings.TrimSpace(matrix), "\n")
	require.Len(t, lines, len(rows), "rows of the kill matrix")
	for i, r := range rows {
		cells := strings.Split(lines[i], " | ")
		require.Equal(t, []string{"| " + r.Defect.Name, r.Mode}, cells[:2])
		switch {
		case len(r.Catches) > 0:
			assert.Equal(t, cells[4], fmt.Sprint(r.Catches[0]), "%s in %s: first catch",
				r.Defect.Name, r.Mode)
		case cells[4] != "never":
			assert.Greater(t, number(t, cells[4]), r.Runs, "%s in %s: not caught",
				r.Defect.Name, r.Mode)
		}
	}
}

func between(text, from, to string) string {
	_, text, _ = strings.Cut(text, from)
	text, _, _ = strings.Cut(text, to)
	return text
}

func number(t *testing.T, text string) (n int64) {
	t.Helper()
	_, err := fmt.Sscan(text, &n)
	require.NoError(t, err)
	return n
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
					CatchesMax: 1, Further: true})
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
	for n := range int64(2000) {
		w, seed := turn(with, n)
		o, _ := turn(without, n)
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

// reachesProbes holds what was reached against what is declared. Nothing else may be reached
// either: that a mode has a branch is to be declared.
func reachesProbes(t *testing.T, calm []*Calm) {
	t.Helper()
	least, err := Least()
	if !*update {
		require.NoError(t, err)
	}
	var measured strings.Builder
	if *full {
		fmt.Println("\nof 10,000 blind runs, how many reach each branch (at the least)")
	}
	declared := 0
	for i, p := range Probes() {
		before := declared
		for _, c := range calm {
			n, has := least[[2]string{p.Name, c.Mode}]
			rate := c.Probes[i] * 10_000 / c.Runs
			if c.Probes[i] > 0 {
				fmt.Fprintf(&measured, "%s %s %d\n", p.Name, c.Mode, max(rate/2, 1))
			}
			switch {
			case *update:
			case !has:
				assert.Zero(t, c.Probes[i], "%s reaches %s, which is not declared", c.Mode, p.Name)
				continue
			case *full:
				fmt.Printf("  %-22s %-22s %6d (%d)\n", p.Name, c.Mode, rate, n)
				assert.Positive(t, c.Probes[i], "%s never reaches %s", c.Mode, p.Name)
				assert.GreaterOrEqual(t, max(rate, 1), n, "%s reaches %s", c.Mode, p.Name)
			case n*c.Runs >= 30*10_000: // of so many that are expected, half must come
				assert.GreaterOrEqual(t, 2*rate, n, "%s reaches %s", c.Mode, p.Name)
			}
			declared++
		}
		assert.True(t, *update || declared > before, "no mode is to reach %s", p.Name)
	}
	if *full && *update {
		require.NoError(t, os.WriteFile("probes.txt", []byte(measured.String()), 0o644))
	}
	if *update {
		return
	}
	assert.Len(t, least, declared, "lines of probes.txt about no probe, or no mode with claims")
}
