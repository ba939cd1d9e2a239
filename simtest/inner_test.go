package simtest_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/scenarios"
	"github.com/oncesim/oncesim/semantics"
	"github.com/oncesim/oncesim/simtest"
)

// What a failing test prints cannot be seen from within it. So the failing tests are cases of
// TestInner, which does nothing unless this program is started again for one of them.
var inner = map[string]func(t *testing.T){
	"once-last": sweepLast,
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
		simtest.Sweep(t, tally(overdraw(90)), simtest.Classes("crash"))
	},
	"panics-at-once": func(t *testing.T) { simtest.Sweep(t, tally(overdraw(30))) },
	"panics-in-run": func(t *testing.T) {
		s := tally(overdraw(30))
		s.Faults = []string{"crash source/0 after effect 9"}
		simtest.Run(t, s)
	},
	"panics-in-draw": func(t *testing.T) {
		rapid.Check(t, func(rt *rapid.T) {
			simtest.Run(rt, simtest.Draw(rt, tally(overdraw(90)), simtest.Classes("crash")))
		})
	},
	"panics-in-compare": func(t *testing.T) {
		simtest.Compare(t, tally(overdraw(90)), "at-least-once")
	},
	"panics-in-mode": func(t *testing.T) {
		s, mode := tally(rememberLast), semantics.AtLeastOnce
		mode.Name, mode.Claims = "mine", nil
		mode.New = func(job *model.Job, task *model.Task) model.Process {
			return unfinished{semantics.AtLeastOnce.New(job, task)}
		}
		s.Mode, s.Library = "mine", scenarios.Builtin()
		s.Library.Modes = append(s.Library.Modes, &mode)
		simtest.Sweep(t, s, simtest.Holds("progress"))
	},
	"flickers": func(t *testing.T) {
		simtest.Sweep(t, tally(func(in record, state value, out *outputs) value {
			if calls++; calls != 400 {
				out.Emit(in.Key, in.Value)
			}
			return state
		}), simtest.Seeds(1, 30))
	},
	"creeps": func(t *testing.T) { // the second world does as the first: only time changes it
		simtest.Sweep(t, tally(func(in record, state value, out *outputs) value {
			calls++
			state.Num += in.Value.Num + calls/300
			out.Emit(in.Key, state)
			return state
		}), simtest.Seeds(1, 12))
	},
	"two-tests": func(t *testing.T) {
		t.Run("last", sweepLast)
		t.Run("page-views", func(t *testing.T) {
			simtest.Sweep(t, simtest.Scenario{Name: "page-views", Records: 4}, simtest.Seeds(1, 3))
		})
	},
	"two-sweeps": func(t *testing.T) {
		for _, take := range []step{rememberHighest, rememberLast} {
			simtest.Sweep(t, tally(take), simtest.Holds("exactly-once-state"),
				simtest.Classes("crash"), simtest.Seeds(1, 20))
		}
	},
	"silent": func(t *testing.T) {
		s := tally(leaveOut)
		s.Sink = "identity-log"
		simtest.Sweep(t, s, simtest.Holds("exactly-once"), simtest.Classes("crash"))
	},
	"corpus": func(t *testing.T) {
		simtest.Sweep(t, tally(rememberLast), simtest.Holds("exactly-once-state"),
			simtest.Classes("crash"), simtest.Seeds(1, 20), simtest.Corpus("mine"))
	},
	"runs": func(t *testing.T) {
		c := simtest.Run(t, simtest.Scenario{Name: "pipeline", Records: 3,
			Faults: []string{"lose answer of write 1 from sink/0"}}, simtest.Holds("exactly-once"))
		t.Logf("the seed was %d", c.Scenario.Seed)
	},
	"compares": func(t *testing.T) {
		simtest.Compare(t, simtest.Scenario{Name: "pipeline", Records: 2}, "dedup")
	},
	"compares-late": func(t *testing.T) { // the second matrix is another
		var steps atomic.Int64
		simtest.Compare(t, tally(func(in record, state value, out *outputs) value {
			if steps.Add(1) < 20_000 {
				out.Emit(in.Key, in.Value)
			}
			return state
		}), "at-least-once")
	},
	"compares-budget": func(t *testing.T) {
		simtest.Compare(t, simtest.Scenario{Name: "budget.sim"}, "at-least-once")
	},
	"compares-all": func(t *testing.T) {
		lib := withMode("over", "exactly-once")
		variant := *lib.Modes[len(lib.Modes)-1]
		variant.IsVariant = true
		lib.Modes = []*model.Mode{&semantics.AtLeastOnce, &variant}
		lib.Classes = slices.DeleteFunc(lib.Classes, func(c *scenarios.Class) bool {
			return c.Name != "lose-answer"
		})
		simtest.Compare(t, simtest.Scenario{Name: "pipeline", Records: 2, Library: lib})
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

func sweepLast(t *testing.T) {
	simtest.Sweep(t, tally(rememberLast), simtest.Holds("exactly-once-state"),
		simtest.Classes("crash"), simtest.Seeds(1, 20))
}

// overdraw adds up, and panics above a limit: without faults at 69 under a, and 21 under b.
func overdraw(limit int64) step {
	return func(in record, state value, out *outputs) value {
		if state.Num += in.Value.Num; state.Num > limit {
			panic(fmt.Sprintf("a balance of %d", state.Num))
		}
		out.Emit(in.Key, state)
		return state
	}
}

// unfinished is a process of a mode that is still to be written.
type unfinished struct{ model.Process }

func (unfinished) Step(*model.Event, *model.Script) { panic("a mode that is not finished") }

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
	report, _, _ := strings.Cut(text, "reproduce: ")
	require.Contains(t, again, report[strings.Index(report, "here:"):])

	_, ok = start(t, dir, "once-last", "-sim.update")
	require.False(t, ok)
	files, err := filepath.Glob(filepath.Join(dir, "testdata/sim/TestInner/*.sim"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	replayed, ok := start(t, dir, "once-last", "-sim.replay="+files[0])
	require.False(t, ok)
	require.Contains(t, replayed, ": exact\n")
	require.NotContains(t, replayed, "TestInner/seed=")
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
		require.NoError(t, os.MkdirAll(filepath.Join(dir, "testdata/sim/TestInner"), 0o777))
		data, err := os.ReadFile(filepath.Join("testdata", name))
		require.NoError(t, err)
		path := filepath.Join(dir, "testdata/sim/TestInner", name)
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
		"topology": {"topology: tally", "topology: gone", `stale: testdata/sim/TestInner/`},
		"format":   {"format: 1", "format: 99", "stale: testdata/sim/TestInner/"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			start(t, dir, "once-last", "-sim.update")
			files, err := filepath.Glob(filepath.Join(dir, "testdata/sim/TestInner/*.sim"))
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

// A panic is a failure like any other: wherever the code runs it is told with the seed and the
// faults, in the same bytes each time, and ends nothing but its run.
func TestPanic_IsAFailure(t *testing.T) {
	for name, want := range map[string]string{
		"panics":            `how often: 15 of 50 seeds fail as seed 2 does`,
		"panics-at-once":    "tally under at-least-once, seed 1: panic: a balance of 40",
		"panics-in-run":     "\n          crash source/0 after effect 9\n",
		"panics-in-compare": "tally under at-least-once, seed 1: panic: a balance of",
		"panics-in-mode":    "panic: a mode that is not finished",
		"panics-in-draw":    "\n          crash ",
	} {
		t.Run(name, func(t *testing.T) {
			args := []string{"-rapid.nofailfile", "-rapid.seed=1", "-rapid.shrinktime=1s"}
			text, ok := start(t, t.TempDir(), name, args...)
			require.False(t, ok)
			require.Regexp(t, want, text)
			require.Regexp(t, `tally under \S+, seed \d+: panic: a `, text)
			require.Regexp(t, `  in simtest_test\.\S+, inner_test.go:\d+\n`, text)
			require.Contains(t, text, "reproduce: go test ")
			require.NotContains(t, text, "goroutine ")
			again, _ := start(t, t.TempDir(), name, args...)
			if name != "panics-in-draw" { // rapid says how long it took
				require.Equal(t, text, again)
			}
		})
	}
}

// It is made smaller, and saved as a file that shows it again until it is mended.
func TestPanic_IsShrunkAndSaved(t *testing.T) {
	dir := t.TempDir()
	text, ok := start(t, dir, "panics", "-sim.update")
	require.False(t, ok)
	require.Equal(t, 1, strings.Count(text, "-- scenario.yaml --"))
	require.Regexp(t, `\n +under\n +crash .*\n +\n`, text, "one crash is enough")
	files, err := filepath.Glob(filepath.Join(dir, "testdata/sim/TestInner/*.sim"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	text, ok = start(t, dir, "panics", "-sim.replay="+files[0])
	require.False(t, ok)
	require.Contains(t, text, ": panic: a balance of ")

	again, ok := start(t, dir, "panics", "-sim.update")
	require.False(t, ok)
	require.Contains(t, again, "; it fails as testdata/sim/TestInner/")
	require.NotContains(t, again, "saved: ", "there is a file that shows it")

	fixed, ok := start(t, dir, "once-highest", "-test.v", "-sim.v")
	require.True(t, ok, fixed)
	require.Contains(t, fixed, ".sim: fixed, was at-least-once_panic-in-")

	large, ok := start(t, t.TempDir(), "panics", "-sim.shrink=0")
	require.False(t, ok)
	require.Contains(t, large, "-sim.shrink=0")
	require.NotContains(t, large, "made smaller")
}

// Failures of several kinds are each told, the first three in full, and the others with the line
// that makes them again.
func TestSweep_TellsKinds(t *testing.T) {
	text, ok := start(t, t.TempDir(), "kinds")
	require.False(t, ok)
	require.Equal(t, 3, strings.Count(text, "saved: "))
	require.Contains(t, text, "; it fails as seed ")
	often := regexp.MustCompile(`(?m)^ *here: how often: .*\n`).FindAllString(text, -1)
	require.Greater(t, len(often), 3)
	require.Equal(t, len(often), strings.Count(text, "reproduce: "))
	golden(t, "kinds.txt", strings.Join(often, ""))
}

// What a run shows once, and not when it is made again, is no finding about the protocol.
func TestSweep_TellsWhatFlickers(t *testing.T) {
	text, ok := start(t, t.TempDir(), "flickers")
	require.False(t, ok)
	require.Contains(t, text, "two runs differ")
	require.Contains(t, text, "A run is a function of its scenario.")
	require.NotContains(t, text, "claimed")
	require.NotContains(t, text, "saved: ")
	require.NotContains(t, text, "how often")
}

// Code that changes with time does the same in two worlds, one after the other. The first seed is
// run again when all others are done.
func TestSweep_TellsWhatCreeps(t *testing.T) {
	text, ok := start(t, t.TempDir(), "creeps")
	require.False(t, ok)
	require.Contains(t, text, "the other was made after 11 runs of other seeds")
	require.Contains(t, text, "-sim.seeds=1-12")
}

// A file of the corpus is for the test that has found it.
func TestCorpus_OfOneTest(t *testing.T) {
	dir := t.TempDir()
	_, ok := start(t, dir, "two-tests", "-sim.update")
	require.False(t, ok)
	text, ok := start(t, dir, "two-tests", "-test.v")
	require.False(t, ok)
	require.Contains(t, text, "--- FAIL: TestInner/last/at-least-once_")
	require.Contains(t, text, "--- PASS: TestInner/page-views ")
}

// What a file of the corpus shows is not made smaller and saved once more.
func TestCorpus_ShowsItAlready(t *testing.T) {
	dir := t.TempDir()
	text, ok := start(t, dir, "once-last", "-sim.update")
	require.False(t, ok)
	require.Contains(t, text, "saved: ")
	require.NotContains(t, text, "add -sim.update", "it is given")
	text, ok = start(t, dir, "once-last", "-sim.update")
	require.False(t, ok)
	require.Contains(t, text, "; it fails as testdata/sim/TestInner/at-least-once_")
	require.NotContains(t, text, "saved: ")
	files, err := filepath.Glob(filepath.Join(dir, "testdata/sim/TestInner/*.sim"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	require.Less(t, len(filepath.Base(files[0])), 80)
}

// A folder of one's own begins with -sim.update.
func TestCorpus_Named(t *testing.T) {
	dir := t.TempDir()
	text, ok := start(t, dir, "corpus")
	require.False(t, ok)
	require.Contains(t, text, `Corpus("mine"): `)
	_, ok = start(t, dir, "corpus", "-sim.update")
	require.False(t, ok)
	text, ok = start(t, dir, "corpus")
	require.False(t, ok)
	require.Contains(t, text, "mine/at-least-once_")
	require.Contains(t, text, ".sim: exact\n")
}

// A file that says nothing of what it is to show tests nothing.
func TestCorpus_SaysWhatItShows(t *testing.T) {
	dir := t.TempDir()
	folder := filepath.Join(dir, "testdata/sim/TestInner")
	require.NoError(t, os.MkdirAll(folder, 0o777))
	file := filepath.Join(folder, "x.sim")
	require.NoError(t, os.WriteFile(file, []byte(strings.ReplaceAll(budget, "events: 30",
		"events: 30000")), 0o666))
	text, ok := start(t, dir, "once-highest")
	require.False(t, ok)
	require.Contains(t, text, "nothing says what it is to show")
	text, ok = start(t, dir, "once-highest", "-sim.replay="+file)
	require.True(t, ok, "it is judged by what is required: %s", text)
}

// Two sweeps of one test are two things: neither is the other's repetition, and what is printed
// about the second means the second.
func TestSweep_TwoOfOneTest(t *testing.T) {
	dir := t.TempDir()
	text, ok := start(t, dir, "two-sweeps", "-test.count=2")
	require.False(t, ok)
	require.NotContains(t, text, "the test ran before in this process")
	lines := regexp.MustCompile(`go test \S+ -run '(\S+)' -count=1 (-sim\.seed=\d+)\n`)
	line := lines.FindStringSubmatch(text)
	require.NotNil(t, line, text)
	again, ok := start(t, dir, "two-sweeps", "-test.run="+line[1], line[2])
	require.False(t, ok)
	require.Contains(t, again, "exactly-once-state violated")

	text, ok = start(t, dir, "two-sweeps", "-sim.update")
	require.False(t, ok)
	saved := regexp.MustCompile(`saved: go test \S+ -run '(\S+)' -count=1 (-sim\.replay=\S+)\n`).
		FindStringSubmatch(text)
	require.NotNil(t, saved, text)
	again, ok = start(t, dir, "two-sweeps", "-test.run="+saved[1], saved[2])
	require.False(t, ok)
	require.Contains(t, again, ".sim: exact\n")
	again, ok = start(t, dir, "two-sweeps")
	require.False(t, ok)
	require.NotContains(t, again, "fixed")
}

// Of many seeds only those have a subtest that say something new.
func TestSweep_ManySeeds(t *testing.T) {
	text, ok := start(t, t.TempDir(), "once-highest", "-sim.runs=1200", "-test.v")
	require.True(t, ok, text)
	require.Equal(t, 1000, strings.Count(text, "--- PASS: TestInner/seed="))
	text, ok = start(t, t.TempDir(), "once-last", "-sim.seeds=3-1203", "-sim.shrink=0")
	require.False(t, ok)
	require.Regexp(t, `how often: \d+ of 1201 seeds fail as seed \d+ does, `, text)
}

// What is set on the command line is what is done.
func TestSettings_AreObeyed(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "budget.sim"), []byte(budget), 0o666))
	for _, c := range []struct {
		name, args, want string
		isPassed         bool
	}{
		{"once-highest", "-sim.for=1ns", "1 seeds were run in the time", true},
		{"once-highest", "-sim.seed=commit:1234567",
			"-sim.seed=commit:1234567 is the seed 19088743", true},
		{"once-highest", "-sim.mode=nonne", `-sim.mode=nonne: unknown mode "nonne"`, false},
		{"runs", "-sim.seed=7", "the seed was 7", false},
		{"runs", "-sim.seed=0", "the seed was 0", false},
		{"runs", "-sim.mode=dedup", "the seed was 1", true},
		{"runs", "-sim.replay=budget.sim", "budget.sim: nothing was recorded", false},
		{"runs", "-sim.update", "saved: ", false},
		{"compares", "-sim.for=1ns -sim.v", "seeds 1-10 on", true},
		{"compares", "-sim.seeds=3-4 -sim.v", "seeds 3-4 on", true},
		{"compares", "-sim.verify", "PASS", true},
		{"compares-late", "-sim.seeds=1-3", "PASS", true},
		{"compares-late", "-sim.seeds=1-3 -sim.verify", "two matrices differ", false},
		{"compares", "-sim.replay=budget.sim", "budget.sim: nothing was recorded", false},
		{"compares-budget", "-sim.seeds=1-1", "at-least-once is unknown", false},
		{"compares-all", "-sim.seeds=1-2 -sim.v", "seeds 1-2 on", true},
	} {
		args := append(strings.Fields(c.args), "-test.v")
		text, ok := start(t, dir, c.name, args...)
		require.Equal(t, c.isPassed, ok, "%s %s\n%s", c.name, c.args, text)
		require.Contains(t, text, c.want, "%s %s", c.name, c.args)
	}
	text, _ := start(t, dir, "compares", "-sim.mode=at-least-once", "-sim.v", "-test.v")
	require.Contains(t, text, "seeds 1-10 on")
	require.NotContains(t, text, "dedup")
}

// A sweep that would be late for the -timeout of "go test" ends before, and tells what it found.
func TestSweep_EndsInTime(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for a deadline")
	}
	text, ok := start(t, t.TempDir(), "once-last", "-test.timeout=6s", "-sim.for=1h")
	require.False(t, ok)
	require.NotContains(t, text, "panic: test timed out")
	require.Contains(t, text, "how often: ")
	require.Contains(t, text, " seeds were run in the time")
}

// With -artifacts what fails is where that says.
func TestSweep_Artifacts(t *testing.T) {
	dir := t.TempDir()
	text, ok := start(t, dir, "once-last", "-test.artifacts", "-test.outputdir="+dir)
	require.False(t, ok)
	require.Regexp(t, `-sim\.replay=\S+/_artifacts/\S+\.sim\n`, text)
}

// A fuzz test fails where a run does, in which case the run is saved, and replays what was saved.
func TestFuzz_Fails(t *testing.T) {
	dir := t.TempDir()
	found := filepath.Join(dir, "testdata/fuzz/FuzzInner")
	require.NoError(t, os.MkdirAll(found, 0o777))
	for i := range 60 {
		data := fmt.Sprintf("go test fuzz v1\nuint64(%d)\n[]byte(\"\\x00\\x00\\x00\\x%02x\")\n",
			i, i)
		require.NoError(t, os.WriteFile(filepath.Join(found, fmt.Sprint(i)), []byte(data), 0o666))
	}
	text, ok := start(t, dir, "fuzz", "-test.run=^FuzzInner$", "-sim.update")
	require.False(t, ok)
	require.Contains(t, text, "claim broken")
	require.Contains(t, text, "reproduce: go test ")
	files, err := filepath.Glob(filepath.Join(dir, "testdata/sim/FuzzInner/over_*.sim"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	text, ok = start(t, dir, "fuzz", "-test.run=^FuzzInner$")
	require.False(t, ok)
	require.Contains(t, text, ".sim: exact\n")
	text, ok = start(t, dir, "fuzz", "-test.run=^FuzzInner$", "-sim.replay="+files[0])
	require.False(t, ok)
	require.NotContains(t, text, "FuzzInner/seed#")

	require.NoError(t, os.RemoveAll(filepath.Join(dir, "testdata/sim")))
	text, ok = start(t, dir, "panics", "-test.run=^FuzzInner$")
	require.False(t, ok)
	require.Contains(t, text, ": panic: a balance of ")
	require.Contains(t, text, "-run '^FuzzInner$/^")
	text, ok = start(t, t.TempDir(), "no-class", "-test.run=^FuzzInner$")
	require.False(t, ok)
	require.Contains(t, text, "there is no class of faults to draw from")
}

func FuzzInner(f *testing.F) {
	switch os.Getenv("SIMTEST_INNER") {
	case "fuzz":
		simtest.Fuzz(f, simtest.Scenario{Name: "pipeline", Records: 3, Mode: "over",
			Library: withMode("over", "exactly-once")})
	case "panics":
		simtest.Fuzz(f, tally(overdraw(70)), simtest.Classes("crash"))
	case "no-class":
		simtest.Fuzz(f, tally(rememberLast), simtest.Classes("no-fault"))
	default:
		f.Skip("the other tests start it")
	}
}
