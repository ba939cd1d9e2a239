package simtest

import (
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/report"
	"github.com/oncesim/oncesim/scenarios"
)

// The range of seeds that a test runs, for what it says and what is set.
func TestSettings_Range(t *testing.T) {
	for name, c := range map[string]struct {
		args        []string
		isShort     bool
		first, last uint64
	}{
		"by default":   {nil, false, 1, 50},
		"short":        {nil, true, 1, 10},
		"one":          {[]string{"-sim.seed=7"}, false, 7, 7},
		"one and more": {[]string{"-sim.seed=7", "-sim.runs=3"}, false, 7, 9},
		"zero":         {[]string{"-sim.seed=0"}, false, 0, 0},
		"the last": {[]string{"-sim.seed=18446744073709551615"}, false, 1<<64 - 1,
			1<<64 - 1},
		"range":        {[]string{"-sim.seeds=5-9"}, false, 5, 9},
		"range of one": {[]string{"-sim.seeds=5-5"}, true, 5, 5},
		"runs":         {[]string{"-sim.runs=1000"}, true, 1, 1000},
		"behind the last": {[]string{"-sim.seed=18446744073709551615", "-sim.runs=3"}, false,
			1<<64 - 1, 1<<64 - 1},
		"commit": {[]string{"-sim.seed=da3ea55c0ffee"}, false, 0xda3ea55c0ffe,
			0xda3ea55c0ffe + 49},
		"commit in short":  {[]string{"-sim.seed=da3ea55"}, true, 0xda3ea55, 0xda3ea55 + 9},
		"for a time":       {[]string{"-sim.for=1s"}, false, 1, math.MaxUint64},
		"range for a time": {[]string{"-sim.for=1s", "-sim.seeds=1-9"}, false, 1, 9},
		"commit for a time": {[]string{"-sim.for=1s", "-sim.seed=da3ea55"}, false, 0xda3ea55,
			math.MaxUint64},
		"one and more for a time": {[]string{"-sim.for=1s", "-sim.seed=7"}, false, 7,
			math.MaxUint64},
		"runs for a time": {[]string{"-sim.for=1s", "-sim.runs=9"}, false, 1, 9},
		"commit without a letter": {[]string{"-sim.seed=commit:1234567"}, false, 0x1234567,
			0x1234567 + 49},
		"digits": {[]string{"-sim.seed=1234567"}, false, 1234567, 1234567},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := parsed(t, c.args, nil)
			require.NoError(t, err)
			r, err := s.from(newOptions(nil).seeds, c.isShort)
			require.NoError(t, err)
			require.Equal(t, c.first, r.first)
			require.Equal(t, c.last, r.last)
			require.Equal(t, s.duration > 0, !r.until.IsZero())
		})
	}
}

func TestSettings_RangeRefuses(t *testing.T) {
	for _, args := range [][]string{{"-sim.seed=seven"}, {"-sim.seed=abc"}, {"-sim.seed=-1"},
		{"-sim.seed=commit:12"}, {"-sim.seed=commit:"}, {"-sim.seeds=9-5"}, {"-sim.seeds=5"},
		{"-sim.seeds=5-9-12"}, {"-sim.seed=7", "-sim.seeds=5-9"},
		{"-sim.runs=3", "-sim.seeds=5-9"}} {
		s, err := parsed(t, args, nil)
		require.NoError(t, err)
		_, err = s.from(newOptions(nil).seeds, false)
		for _, arg := range args {
			require.ErrorContains(t, err, arg, "%v", args)
		}
	}
}

// Numbers that mean nothing are refused, and not taken for a setting that was left out.
func TestSettings_RefusesNumbers(t *testing.T) {
	for _, arg := range []string{"-sim.runs=-1", "-sim.runs=0", "-sim.for=-1s", "-sim.for=0s",
		"-sim.shrink=-5"} {
		_, err := parsed(t, []string{arg}, nil)
		require.ErrorContains(t, err, arg+", expected ")
	}
	_, err := parsed(t, []string{"-sim.shrink=0", "-sim.runs=1", "-sim.for=1ns"}, nil)
	require.NoError(t, err)
}

// A range that has no end because its last seed is before the first is refused, and so is a number
// of faults that there cannot be.
func TestOptions_Check(t *testing.T) {
	for want, opts := range map[string][]Option{
		"Seeds(5, 1), expected":     {Seeds(5, 1)},
		"Seeds(1, 0), expected":     {Seeds(1, 0)},
		"FaultsMax(-3), expected":   {FaultsMax(-3)},
		"FaultsMax(0), expected":    {FaultsMax(0)},
		"Run has no use for Seeds":  {Seeds(3, 9)},
		"Run has no use for Classe": {Holds("order"), Classes("crash")},
	} {
		o := newOptions(opts)
		function := "Sweep"
		if strings.HasPrefix(want, "Run") {
			function = "Run"
		}
		require.ErrorContains(t, o.check(function), want)
	}
	for _, opt := range []Option{Seeds(0, 0), Seeds(0, math.MaxUint64), FaultsMax(1)} {
		o := newOptions([]Option{opt})
		require.NoError(t, o.check("Sweep"))
	}
}

// A sweep stops a part of the time that is left before the program has to end, or a minute; what a
// person has asked for is over earlier.
func TestSeedRange_EndsBeforeTheDeadline(t *testing.T) {
	now := time.Unix(1000, 0)
	require.Equal(t, now.Add(9*time.Minute), endBefore(now.Add(10*time.Minute), now))
	require.Equal(t, now.Add(119*time.Minute), endBefore(now.Add(2*time.Hour), now))

	all := seedRange{first: 1, last: 9}.endBy(now)
	require.Equal(t, seedRange{first: 1, last: 9, until: now, isCut: true}, all)
	for left, want := range map[time.Duration]time.Duration{-time.Second: -time.Second, 1: 0} {
		r := seedRange{first: 1, last: 9, until: now.Add(left)}.endBy(now)
		require.Equal(t, seedRange{first: 1, last: 9, until: now.Add(want)}, r)
	}
}

// A short form of a hash and the whole of it are one seed, and random ones differ.
func TestParseSeed_Words(t *testing.T) {
	short, isWord, err := parseSeed("3f786850e387")
	require.NoError(t, err)
	require.True(t, isWord)
	long, _, err := parseSeed("3f786850e387550fdab836ed7e6dc881de23001b")
	require.NoError(t, err)
	require.Equal(t, short, long)
	drawn := map[uint64]bool{}
	for range 10 {
		seed, isWord, err := parseSeed("random")
		require.NoError(t, err)
		require.True(t, isWord)
		drawn[seed] = true
	}
	require.Greater(t, len(drawn), 5)
}

// parsed reads a command line and an environment as a test program does.
func parsed(t *testing.T, args []string, env map[string]string) (settings, error) {
	set := flag.NewFlagSet("", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	new(settings).declare(set)
	require.NoError(t, set.Parse(args))
	var environ []string
	for name, value := range env {
		environ = append(environ, name+"="+value)
	}
	return readSettings(set, environ)
}

// Every flag has a twin in the environment, and the flag wins.
func TestSettings_Environment(t *testing.T) {
	values := map[string]string{"sim.seed": "7", "sim.seeds": "2-3", "sim.runs": "4",
		"sim.for": "5s", "sim.replay": "x.sim", "sim.mode": "dedup", "sim.shrink": "9",
		"sim.verify": "true", "sim.update": "true", "sim.v": "true"}
	set := flag.NewFlagSet("", flag.ContinueOnError)
	new(settings).declare(set)
	count := 0
	set.VisitAll(func(f *flag.Flag) {
		count++
		require.Contains(t, values, f.Name)
		byFlag, err := parsed(t, []string{"-" + f.Name + "=" + values[f.Name]}, nil)
		require.NoError(t, err)
		byTwin, err := parsed(t, nil, map[string]string{twin(f.Name): values[f.Name]})
		require.NoError(t, err)
		require.Equal(t, "-"+f.Name+"="+values[f.Name], byFlag.origins[f.Name])
		require.Equal(t, twin(f.Name)+"="+values[f.Name], byTwin.origins[f.Name])
		byFlag.origins, byTwin.origins = nil, nil
		require.Equal(t, byFlag, byTwin)
		none, err := parsed(t, nil, map[string]string{twin(f.Name): ""})
		require.NoError(t, err)
		require.NotEqual(t, byFlag, none, f.Name)
	})
	require.Len(t, values, count)
	require.Equal(t, "SIM_SEED", twin("sim.seed"))

	s, err := parsed(t, []string{"-sim.mode=snapshot"}, map[string]string{"SIM_MODE": "dedup"})
	require.NoError(t, err)
	require.Equal(t, "snapshot", s.mode)
	_, err = parsed(t, nil, map[string]string{"SIM_RUNS": "many"})
	require.ErrorContains(t, err, "SIM_RUNS=many")
}

// Which seeds are run is one setting: of the environment counts nothing where the command line says
// anything of it, such as the line that a failure prints.
func TestSettings_RangeOfTheCommandLine(t *testing.T) {
	env := map[string]string{"SIM_SEED": "3", "SIM_RUNS": "30", "SIM_FOR": "9s", "SIM_V": "true"}
	for arg, want := range map[string]settings{
		"-sim.seed=2":    {seed: "2"},
		"-sim.seeds=5-9": {seeds: "5-9"},
		"-sim.runs=4":    {runs: 4},
		"-sim.for=1s":    {duration: time.Second},
	} {
		s, err := parsed(t, []string{arg}, env)
		require.NoError(t, err)
		want.shrink, want.verbose, s.origins = s.shrink, true, nil
		require.Equal(t, want, s)
	}
	s, err := parsed(t, nil, env)
	require.NoError(t, err)
	require.Equal(t, 30, s.runs)
	require.Equal(t, "3", s.seed)
}

// A slip in the environment is told by its own name.
func TestSettings_WhereFrom(t *testing.T) {
	s, err := parsed(t, nil, map[string]string{"SIM_SEED": "seven"})
	require.NoError(t, err)
	_, err = s.from(newOptions(nil).seeds, false)
	require.ErrorContains(t, err, "SIM_SEED=seven")
	require.NotContains(t, err.Error(), "-sim.seed")
	_, err = parsed(t, nil, map[string]string{"SIM_SEDES": "1-9", "SIMON": "x"})
	require.ErrorContains(t, err, `unknown variable of the environment "SIM_SEDES"`)
	require.ErrorContains(t, err, `did you mean "SIM_SEEDS"?`)
	_, err = parsed(t, nil, map[string]string{"SIMON": "x", "SIM_SEDES": ""})
	require.NoError(t, err)
}

// The line that repeats a run has all that changes it.
func TestSettings_Words(t *testing.T) {
	s, err := parsed(t, []string{"-sim.mode=dedup", "-sim.shrink=0", "-sim.verify", "-sim.v",
		"-sim.update"}, nil)
	require.NoError(t, err)
	require.Equal(t, []string{"-sim.mode=dedup", "-sim.shrink=0", "-sim.verify"}, s.words())
	s, err = parsed(t, []string{"-sim.seeds=1-9"}, nil)
	require.NoError(t, err)
	require.Empty(t, s.words())
}

// A shell reads the line as it was meant, whatever the name of a subtest is.
func TestCommandOf_Quotes(t *testing.T) {
	require.Contains(t, commandOf("TestX/it's (1)", []string{"-sim.mode=a b"}),
		` -run '^TestX$/^it'\''s \(1\)$' -count=1 '-sim.mode=a b'`)
}

// A corpus that is named must be there unless it is made now; the usual one need not.
func TestCorpus_Missing(t *testing.T) {
	t.Chdir(t.TempDir())
	u := &subject{test: "TestX", options: newOptions(nil)}
	files, err := u.corpusFiles()
	require.NoError(t, err)
	require.Empty(t, files)
	u = &subject{test: "TestX", options: newOptions([]Option{Corpus("gone")})}
	_, err = u.corpusFiles()
	require.ErrorContains(t, err, `Corpus("gone"): `)
	u.set.update = true
	files, err = u.corpusFiles()
	require.NoError(t, err)
	require.Empty(t, files)
}

// Every test has a folder, and so has every sweep of one.
func TestCorpus_Folder(t *testing.T) {
	for want, u := range map[string]subject{
		"testdata/sim/TestX":                         {test: "TestX", nth: 1},
		"testdata/sim/TestX-sweep2":                  {test: "TestX", nth: 2},
		"testdata/sim/TestX/a_b":                     {test: "TestX/a_b", nth: 1},
		"testdata/sim/TestX/a_01-44e74292":           {test: "TestX/a#01", nth: 1},
		"testdata/sim/TestX/__-a3d4a70d/b_-972c360d": {test: "TestX/../b:", nth: 1},
		"mine": {test: "TestX", nth: 2, options: options{corpus: "mine"}},
	} {
		require.Equal(t, want, u.folder())
	}
}

// A file that no test would replay is no pass.
func TestCorpus_OfNobody(t *testing.T) {
	for name, want := range map[string]string{
		"testdata/sim/x.sim":             "testdata/sim/x.sim is replayed by no test",
		"testdata/sim/TestX/x.SIM":       "testdata/sim/TestX/x.SIM is not replayed",
		"testdata/sim/TestGone/x.sim":    "testdata/sim/TestGone is replayed by no test",
		"testdata/sim/TestX/x.sim":       "",
		"testdata/sim/TestX/README.md":   "",
		"testdata/sim/TestX-sweep2/x.si": "",
		"testdata/sim/shared/x.sim":      "",
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			require.NoError(t, os.WriteFile("x_test.go",
				[]byte("package x\n\nfunc TestX(t *testing.T) {\n}\n"), 0o666))
			require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o777))
			require.NoError(t, os.WriteFile(name, nil, 0o666))
			u := &subject{test: "TestX", nth: 1}
			files, err := u.corpusFiles()
			if want != "" {
				require.ErrorContains(t, err, want)
				return
			}
			require.NoError(t, err)
			require.Equal(t, name == "testdata/sim/TestX/x.sim", len(files) == 1)
		})
	}
}

func TestPercent(t *testing.T) {
	for share, want := range map[float64]string{0: "0", 0.00162: "0.16", 0.01: "1", 0.142: "14",
		1: "100"} {
		require.Equal(t, want, percent(share))
	}
}

// A flag that a package has already stays its own.
func TestSettings_DeclareLeavesOthers(t *testing.T) {
	set := flag.NewFlagSet("", flag.ContinueOnError)
	own := set.String("sim.seed", "mine", "")
	new(settings).declare(set)
	require.NoError(t, set.Parse([]string{"-sim.seed=yours", "-sim.v"}))
	require.Equal(t, "yours", *own)
}

// deadline is a test that has one.
type deadline time.Time

func (d deadline) Deadline() (time.Time, bool) { return time.Time(d), true }

// A sweep ends before the program does, and so does what makes a failure smaller, which comes last.
func TestSubject_HurriesBeforeTheDeadline(t *testing.T) {
	end := time.Now().Add(time.Hour)
	u := &subject{seeds: seedRange{first: 5, last: 90}}
	u.hurry(deadline(end))
	require.True(t, u.seeds.until.Before(u.deadline))
	require.True(t, u.deadline.Before(end))
	require.Equal(t, "3 seeds were run, and not those from 8 to 90: \"go test\" would have ended "+
		"the program; give it a longer -timeout", u.seeds.left(3))

	u = &subject{seeds: seedRange{first: 1, last: 9, until: time.Now().Add(time.Minute)}}
	u.hurry(deadline(end))
	require.Empty(t, u.seeds.left(3), "as much as was asked for")
}

// A run that differs from what the same code has recorded is no pass.
func TestReplay_DiffersIsAFailure(t *testing.T) {
	var said []string
	u := &subject{shown: map[string]string{}}
	var err error
	u.lib, u.base, err = (&Scenario{Name: "pipeline", Records: 2}).Resolve()
	require.NoError(t, err)
	c, err := u.caseOf(u.base)
	require.NoError(t, err)
	u.judgeAgain(sayer{TB: t, said: &said}, c, "x.sim", report.Differs, "differs, although")
	require.Equal(t, []string{"x.sim: differs, although"}, said)
	said = nil
	u.judgeAgain(sayer{TB: t, said: &said}, c, "x.sim", report.Reproduces, "reproduces")
	require.Empty(t, said)
}

// sayer is a test that notes its errors.
type sayer struct {
	TB
	said *[]string
}

func (s sayer) Errorf(format string, args ...any) {
	*s.said = append(*s.said, fmt.Sprintf(format, args...))
}

// A plan has as many faults as are wanted, at the most.
func TestSweeper_FaultsMax(t *testing.T) {
	longest := map[int]int{}
	for _, most := range []int{1, 2, 5} {
		u, err := newSubject("Sweep", t, Scenario{Name: "pipeline", Records: 4},
			[]Option{FaultsMax(most)})
		require.NoError(t, err)
		w, err := u.newSweeper()
		require.NoError(t, err)
		_, err = w.prepare()
		require.NoError(t, err)
		for seed := range uint64(40) {
			w.run(seed)
			longest[most] = max(longest[most], len(w.rules))
		}
	}
	require.Equal(t, map[int]int{1: 1, 2: 2, 5: 5}, longest)
}

// What a function would pass over, it refuses.
func TestSubject_Refuses(t *testing.T) {
	pipeline := Scenario{Name: "pipeline", Records: 2}
	faulty := Scenario{Name: "pipeline", Records: 2, Faults: []string{"crash op/0 after effect 1"}}
	none := Scenario{Name: "pipeline", Records: 2, Faults: []string{""}}
	for _, c := range []struct {
		function string
		scenario Scenario
		opt      Option
		want     string // "": it is taken
	}{
		{"Run", pipeline, Seeds(3, 9), "Run has no use for Seeds"},
		{"Run", pipeline, Classes("crash"), "Run has no use for Classes"},
		{"Run", pipeline, Holds("exactly-one"), `did you mean "exactly-once"?`},
		{"Run", faulty, Holds("order"), ""},
		{"Draw", pipeline, Holds("order"), "Draw has no use for Holds"},
		{"Draw", pipeline, FaultsMax(-3), "FaultsMax(-3), expected"},
		{"Draw", pipeline, Classes("crsh"), `did you mean "crash"?`},
		{"Draw", faulty, Classes("crash"), "pipeline has some of its own"},
		{"Fuzz", faulty, Classes("crash"), "pipeline has some of its own"},
		{"Fuzz", none, Classes("crash"), ""},
		{"Fuzz", pipeline, Seeds(1, 2), "Fuzz has no use for Seeds"},
		{"Sweep", pipeline, Seeds(5, 1), "Seeds(5, 1), expected"},
		{"Sweep", pipeline, Classes("nonsense"), `unknown class of faults "nonsense"`},
		{"Sweep", faulty, Classes("crash"), "Classes and FaultsMax have no use"},
		{"Sweep", faulty, FaultsMax(2), "Classes and FaultsMax have no use"},
		{"Sweep", faulty, Seeds(1, 2), ""},
	} {
		_, err := newSubject(c.function, t, c.scenario, []Option{c.opt})
		if c.want == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, c.want)
	}
}

// Where there is nothing to draw from, that is an error, and not a test that runs nothing.
func TestPlaces_None(t *testing.T) {
	u, err := newSubject("Draw", t, Scenario{Name: "pipeline"}, []Option{Classes("no-fault")})
	require.NoError(t, err)
	_, err = u.places()
	require.ErrorContains(t, err, "there is no class of faults to draw from")

	lib := scenarios.Builtin()
	lib.Classes = append(lib.Classes, &scenarios.Class{Name: "nowhere", Action: model.LoseMessage,
		Kinds: []model.Kind{model.Barrier}})
	u, err = newSubject("Draw", t, Scenario{Name: "pipeline", Library: lib},
		[]Option{Classes("nowhere")})
	require.NoError(t, err)
	_, err = u.places()
	require.ErrorContains(t, err, "pipeline under at-least-once has no place for a fault")
}

// No fault is in a plan twice: one more would say nothing.
func TestPlaces_PlanWithoutRepetition(t *testing.T) {
	u, err := newSubject("Fuzz", t, Scenario{Name: "pipeline", Records: 2}, nil)
	require.NoError(t, err)
	p, err := u.places()
	require.NoError(t, err)
	require.Len(t, p.plan([]byte{0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 2}), 2)
}

// A matrix that there was no time for is no pass, unless it is one more than was asked for.
func TestCompare_WithoutTime(t *testing.T) {
	end := time.Now().Add(time.Hour)
	require.True(t, deadlineOf(deadline(end)).Before(end))
	require.Zero(t, deadlineOf(struct{}{}))
	for _, isMore := range []bool{false, true} {
		u, err := newSubject("Compare", t, Scenario{Name: "pipeline", Records: 2}, nil)
		require.NoError(t, err)
		modes, err := u.pick([]string{"dedup"})
		require.NoError(t, err)
		u.deadline, u.seeds.isMore = end.Add(-2*time.Hour), isMore
		var said []string
		require.Nil(t, u.matrix(sayer{TB: t, said: &said}, modes))
		require.Equal(t, isMore, len(said) == 0, "%v", said)
	}
}
