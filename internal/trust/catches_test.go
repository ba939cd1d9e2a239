package trust

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/faults"
	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/report"
	"github.com/oncesim/oncesim/scenarios"
)

// command is the line that makes a run again.
func command(lib *scenarios.Library, run *Run) (string, error) {
	base, err := lib.Bare(run.Scenario.Topology)
	if err != nil {
		return "", err
	}
	return report.Command("simrun run "+base.Topology.Name, true, base, run.Whole()), nil
}

// recalled are the rows of the kill matrix as they were measured last.
func recalled(t *testing.T, lib *scenarios.Library) []*Row {
	t.Helper()
	if *update {
		t.Skip("they are measured anew")
	}
	rows, err := Recall(lib, caughtText, FullEffort)
	require.NoError(t, err)
	require.Equal(t, caughtText, Caught(rows), "lines of catches.txt are not as they are written")
	return rows
}

// Every run that has caught a defect catches it again, by the same claims, and so does every fault
// that was enough: no row of the kill matrix has become worse. Of each row the first runs are made
// as well, to notice one that has become better.
func TestKillMatrix_CatchesAgain(t *testing.T) {
	if underRace {
		t.Skip("runs without the race detector; TestNoAlarm has the same workers")
	}
	lib := scenarios.Builtin()
	rows := recalled(t, lib)
	differ := make([][]string, len(rows))
	require.NoError(t, Each(len(rows), func(i int) (err error) {
		differ[i], err = blindAgain(lib, rows[i])
		return err
	}))
	for i, r := range rows {
		for _, text := range differ[i][:min(len(differ[i]), 1)] {
			t.Errorf("%s in %s: %d blind runs are not as they were, first %s\n%s", r.Defect.Name,
				r.Mode, len(differ[i]), text, again)
		}
		placedAgain(t, lib, r)
	}
}

// firstRuns is how many of the first blind runs of a row are made again whether or not they catch.
const firstRuns = 10

// blindAgain makes blind runs of a row again, and says which of them break something else.
func blindAgain(lib *scenarios.Library, r *Row) (differ []string, err error) {
	mode, err := lib.FindMode(r.Mode)
	if err != nil {
		return nil, err
	}
	worlds, err := Worlds(lib, mode, r.Defect.Name)
	if err != nil {
		return nil, err
	}
	alone, err := settingsAlone(lib, mode, r.Defect)
	if err != nil {
		return nil, err
	}
	runs := slices.Clone(r.Catches)
	for n := int64(1); n <= min(firstRuns, r.Runs); n++ {
		runs = append(runs, n)
	}
	slices.Sort(runs)
	for _, n := range slices.Compact(runs) {
		w, seed, err := turn(worlds, n)
		if err != nil {
			return nil, err
		}
		run := w.Run(seed, scenarios.Options{})
		if _, err := alone.excuse(run, n); err != nil {
			return nil, err
		}
		slices.Sort(run.Broken)
		was := r.brokenBy(n)
		if slices.Equal(was, run.Broken) {
			continue
		}
		line, err := command(lib, run)
		if err != nil {
			return nil, err
		}
		differ = append(differ, fmt.Sprintf("run %d, which broke %v and breaks %v:\n    %s", n, was,
			run.Broken, line))
	}
	return differ, nil
}

// brokenBy is what a blind run has broken, in the order of the alphabet.
func (r *Row) brokenBy(n int64) (list []string) {
	for _, by := range r.By {
		if slices.Contains(by.Runs, n) {
			list = append(list, by.Property)
		}
	}
	slices.Sort(list)
	return list
}

// placedAgain places the fault again that was enough to catch the defect of a row.
func placedAgain(t *testing.T, lib *scenarios.Library, r *Row) {
	t.Helper()
	if r.PlacedFirst.Property == "" {
		return
	}
	s, err := r.small(lib)
	require.NoError(t, err)
	s.Faults, err = faults.ParsePlan(r.PlacedFirst.Fault)
	require.NoError(t, err)
	_, res, err := scenarios.Run(lib, s, scenarios.Options{})
	require.NoError(t, err)
	assert.Contains(t, brokenIn(&res, s.Claims()), r.PlacedFirst.Property,
		"%s in %s is caught by %q no more; %s", r.Defect.Name, r.Mode, r.PlacedFirst.Fault, again)
}

// What catches a defect is not what else it sets: where a parameter only makes room for what goes
// wrong, it breaks nothing by itself in the runs that catch the defect.
func TestKillMatrix_IsNotBySettings(t *testing.T) {
	if underRace {
		t.Skip("runs without the race detector; TestNoAlarm has the same workers")
	}
	looked := 0
	for _, r := range recalled(t, scenarios.Builtin()) {
		lib := scenarios.Builtin()
		mode, err := lib.FindMode(r.Mode)
		require.NoError(t, err)
		alone, err := settingsAlone(lib, mode, r.Defect)
		require.NoError(t, err)
		for _, n := range r.Catches {
			broken, err := alone.breaks(n)
			require.NoError(t, err)
			assert.Empty(t, broken, "%s in %s, blind run %d", r.Defect.Name, r.Mode, n)
			looked++
		}
	}
	require.Greater(t, looked, 100)
}

// The page says what was measured last, as far as that is known: what comes before the matrix, and
// of the matrix by what, how often and when a defect is caught, and whether one fault is enough.
func TestKillMatrix_IsPublished(t *testing.T) {
	lib := scenarios.Builtin()
	rows := recalled(t, lib)
	published, err := os.ReadFile(page)
	require.NoError(t, err)
	program, err := os.ReadFile(example)
	require.NoError(t, err)
	head, matrix, ok := strings.Cut(string(published), pageMatrix)
	require.True(t, ok, "the page has no kill matrix")
	now, _, _ := strings.Cut(Page(rows, string(program)), pageMatrix)
	assert.Equal(t, head, now, again)
	lines := strings.Split(strings.TrimSpace(matrix), "\n")
	require.Len(t, lines, len(rows), "rows of the kill matrix")
	for i, r := range rows {
		cells := strings.Split(lines[i], " | ")
		assert.Equal(t, strings.Split(r.line(), " | ")[:7], cells[:7], again)
		assert.Equal(t, r.PlacedFirst.Property == "", strings.HasPrefix(cells[7], "0/"), lines[i])
	}
}

// Whatever else catches a defect, the claim that it names is broken in some catches, if not in
// every mode: another one may notice before it does that harm. And what a defect names its modes
// claim.
func TestKillMatrix_IsByWhatIsNamed(t *testing.T) {
	lib := scenarios.Builtin()
	caught, named := map[string]bool{}, map[string]int{}
	for _, r := range recalled(t, lib) {
		mode, err := lib.FindMode(r.Mode)
		require.NoError(t, err)
		claims := mode.ClaimsFor(model.Stateless) // all that it claims of any job
		for _, with := range mode.ClaimsWith {
			claims = append(slices.Clone(claims), with.Claims...)
		}
		assert.Contains(t, claims, r.Defect.Property, "%s in %s", r.Defect.Name, r.Mode)
		for _, by := range r.By {
			assert.Contains(t, claims, by.Property, "%s in %s", r.Defect.Name, r.Mode)
		}
		caught[r.Defect.Name] = caught[r.Defect.Name] || len(r.Catches) > 0
		named[r.Defect.Name] += r.Named()
	}
	for name, isCaught := range caught {
		assert.Equal(t, isCaught, named[name] > 0, "%s is caught, and not by what it names", name)
	}
}
