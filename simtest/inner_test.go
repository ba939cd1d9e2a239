package simtest_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/simtest"
)

// What a failing test prints cannot be seen from within it. So the failing tests are cases of
// TestInner, which does nothing unless this program is started again for one of them.
var inner = map[string]func(t *testing.T){
	"once-last": func(t *testing.T) {
		simtest.Sweep(t, tally(rememberLast), simtest.Holds("exactly-once-state"),
			simtest.Classes("crash"), simtest.Seeds(1, 20))
	},
	"once-highest": func(t *testing.T) {
		simtest.Sweep(t, tally(rememberHighest), simtest.Holds("exactly-once-state"),
			simtest.Classes("crash"), simtest.Seeds(1, 20))
	},
	"remembers-outside": func(t *testing.T) {
		seen := map[model.ID]bool{} // full after the first run
		simtest.Sweep(t, tally(func(in record, state value, out *outputs) value {
			if !seen[in.ID] {
				seen[in.ID] = true
				state.Num += in.Value.Num
			}
			out.Emit(in.Key, state)
			return state
		}))
	},
	"counts-calls": func(t *testing.T) {
		simtest.Sweep(t, tally(func(in record, state value, out *outputs) value {
			calls++
			state.Num += in.Value.Num + calls/2_000
			out.Emit(in.Key, state)
			return state
		}), simtest.Seeds(1, 4))
	},
	"panics": func(t *testing.T) {
		simtest.Sweep(t, tally(func(in record, state value, out *outputs) value {
			if state.Num > 70 {
				panic(fmt.Sprintf("a balance of %d", state.Num))
			}
			state.Num += in.Value.Num
			out.Emit(in.Key, state)
			return state
		}), simtest.Classes("crash"))
	},
	"budget": func(t *testing.T) {
		simtest.Sweep(t, simtest.Scenario{Name: "budget.sim"}, simtest.Seeds(1, 3))
	},
	"unreached": func(t *testing.T) {
		simtest.Sweep(t, simtest.Scenario{Name: "pipeline", Records: 3,
			Faults: []string{"crash op/0 after effect 900"}}, simtest.Seeds(1, 3))
	},
	"unclaimed": func(t *testing.T) {
		simtest.Sweep(t, simtest.Scenario{Name: "pipeline", Records: 3,
			Faults: []string{"poison record 0 at op/0"}}, simtest.Seeds(1, 3))
	},
	"kinds": func(t *testing.T) {
		simtest.Sweep(t, simtest.Scenario{Name: "page-views", Records: 12},
			simtest.Holds("exactly-once", "order"), simtest.Seeds(1, 12))
	},
	"draws": func(t *testing.T) {
		rapid.Check(t, func(rt *rapid.T) {
			s := simtest.Draw(rt, tally(rememberLast), simtest.Classes("crash"))
			simtest.Run(rt, s, simtest.Holds("exactly-once-state"))
		})
	},
	"overclaims": func(t *testing.T) {
		simtest.Compare(t, simtest.Scenario{Name: "pipeline", Records: 3, Library: overclaiming()},
			"overclaiming", "dedup")
	},
}

var calls int64

type (
	record  = model.Record
	value   = model.Value
	outputs = model.Outputs
)

func TestInner(t *testing.T) {
	name := os.Getenv("SIMTEST_INNER")
	if name == "" {
		t.Skip("the other tests start it")
	}
	inner[name](t)
}

// start runs a case of TestInner in a directory and returns what it prints, without what differs
// from run to run: times, lines of this package, and where temporary files are.
func start(t *testing.T, dir, name string, args ...string) (out string, ok bool) {
	t.Helper()
	program, err := os.Executable()
	require.NoError(t, err)
	if !strings.Contains(strings.Join(args, " "), "-test.run") {
		args = append(args, "-test.run=^TestInner$")
	}
	cmd := exec.Command(program, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "SIMTEST_INNER="+name, "TMPDIR="+t.TempDir())
	data, err := cmd.CombinedOutput()
	text := string(data)
	text = regexp.MustCompile(`\(\d+\.\d+s\)`).ReplaceAllString(text, "(time)")
	text = regexp.MustCompile(`[a-z]+_test\.go:\d+:`).ReplaceAllString(text, "here:")
	text = regexp.MustCompile(`(?m)=\S*/simtest-\d+/`).ReplaceAllString(text, "=TEMP/")
	return text, err == nil
}

// golden compares a text with a file of testdata, and rewrites it with -update.
func golden(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), text, "go test ./simtest -update rewrites it")
}

// What fails says the same, to the byte, whenever it fails; and tells all that there is to know.
func TestSweep_TellsAFailure(t *testing.T) {
	for _, name := range []string{"once-last", "remembers-outside", "budget", "unreached",
		"unclaimed", "overclaims"} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "budget.sim")
			require.NoError(t, os.WriteFile(path, []byte(budget), 0o666))
			text, ok := start(t, dir, name)
			require.False(t, ok)
			again, _ := start(t, dir, name)
			require.Equal(t, text, again)
			require.NotContains(t, text, dir)
			golden(t, name+".txt", text)
			files, err := os.ReadDir(dir)
			require.NoError(t, err)
			require.Len(t, files, 1, "a failure writes nothing into the folder of the package")
		})
	}
}

const budget = `
-- scenario.yaml --
format: 1
topology: pipeline
mode: at-least-once
input: {generated: 3}
bounds: {events: 30}
`

// The line that is printed runs the failure again, and so does the file that is saved.
func TestSweep_IsReproduced(t *testing.T) {
	dir := t.TempDir()
	text, ok := start(t, dir, "once-last")
	require.False(t, ok)
	command := regexp.MustCompile(
		`reproduce: go test \S+ -run '(\S+)' -count=1 (-sim\.seed=\d+)\n`).FindStringSubmatch(text)
	require.NotNil(t, command, text)
	again, ok := start(t, dir, "once-last", "-test.run="+command[1], "-test.count=1", command[2])
	require.False(t, ok)
	report, _, _ := strings.Cut(text, "how often")
	require.Contains(t, again, report[strings.Index(report, "here:"):])

	_, ok = start(t, dir, "once-last", "-sim.update")
	require.False(t, ok)
	files, err := filepath.Glob(filepath.Join(dir, "testdata/sim/*.sim"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	replayed, ok := start(t, dir, "once-last", "-sim.replay="+files[0])
	require.False(t, ok)
	require.Contains(t, replayed, ": exact\n")
	require.NotContains(t, replayed, "seed=")
	replayed, ok = start(t, dir, "once-last", "-sim.seed=1")
	require.False(t, ok, "the corpus comes first, whatever the seeds are")
	require.Contains(t, replayed, ".sim: exact\n")

	fixed, ok := start(t, dir, "once-highest", "-test.v", "-sim.v")
	require.True(t, ok, fixed)
	require.Contains(t, fixed, ".sim: fixed, was at-least-once_")
}

// A file of the corpus in which a person has written what must come out is judged by that.
func TestSweep_VerdictSectionOfTheCorpus(t *testing.T) {
	for name, isMet := range map[string]bool{"duplicate.sim": true, "unmet.sim": false} {
		dir := t.TempDir()
		require.NoError(t, os.MkdirAll(filepath.Join(dir, "testdata/sim"), 0o777))
		data, err := os.ReadFile(filepath.Join("testdata", name))
		require.NoError(t, err)
		path := filepath.Join(dir, "testdata/sim", name)
		require.NoError(t, os.WriteFile(path, data, 0o666))
		text, ok := start(t, dir, "once-highest", "-test.v")
		require.Equal(t, isMet, ok, text)
		require.Contains(t, text, "TestInner/"+name)
	}
}

// A file of the corpus that does not fit the code any more is no pass.
func TestSweep_StaleFileFails(t *testing.T) {
	for name, c := range map[string]struct{ from, to, want string }{
		"anchor":   {"after effect 1", "after effect 900", "stale, not reached any more: crash"},
		"topology": {"topology: tally", "topology: gone", `stale: testdata/sim/`},
		"format":   {"format: 1", "format: 99", "stale: testdata/sim/"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			start(t, dir, "once-last", "-sim.update")
			files, err := filepath.Glob(filepath.Join(dir, "testdata/sim/*.sim"))
			require.NoError(t, err)
			data, err := os.ReadFile(files[0])
			require.NoError(t, err)
			require.Contains(t, string(data), c.from)
			data = []byte(strings.Replace(string(data), c.from, c.to, 1))
			require.NoError(t, os.WriteFile(files[0], data, 0o666))
			text, ok := start(t, dir, "once-highest")
			require.False(t, ok)
			require.Contains(t, text, c.want)
		})
	}
}

// Code that keeps something outside the engine is caught: at once where the second world shows it,
// else by -sim.verify, or when the test runs again.
func TestSweep_CatchesWhatIsOutside(t *testing.T) {
	text, ok := start(t, t.TempDir(), "counts-calls")
	require.True(t, ok, "only calls far behind the first seed differ: %s", text)
	text, ok = start(t, t.TempDir(), "counts-calls", "-test.count=100")
	require.False(t, ok)
	require.Contains(t, text, "the test ran before in this process")
	text, ok = start(t, t.TempDir(), "counts-calls", "-sim.verify", "-sim.runs=500")
	require.False(t, ok)
	require.Contains(t, text, "two runs differ, hashes ")
	require.Contains(t, text, "they differ in Msg.Record.Value.Num")
}

// A panic names the seed and the faults.
func TestSweep_TellsAPanic(t *testing.T) {
	text, ok := start(t, t.TempDir(), "panics", "-sim.shrink=0")
	require.False(t, ok)
	require.Regexp(t, `tally under at-least-once, seed \d+: panic: a balance of \d+\n`, text)
	require.Contains(t, text, "-sim.shrink=0")
}

// Failures of several kinds are each told, the first three in full.
func TestSweep_TellsKinds(t *testing.T) {
	text, ok := start(t, t.TempDir(), "kinds")
	require.False(t, ok)
	require.Equal(t, 3, strings.Count(text, "how often:"))
	require.Contains(t, text, "; it fails as seed ")
	often := regexp.MustCompile(`(?m)^ *how often: .*\n`).FindAllString(text, -1)
	golden(t, "kinds.txt", strings.Join(often, ""))
}
