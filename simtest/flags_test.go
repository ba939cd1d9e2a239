package simtest

import (
	"flag"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
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
		"range":          {[]string{"-sim.seeds=5-9"}, false, 5, 9},
		"range of one":   {[]string{"-sim.seeds=5-5"}, true, 5, 5},
		"runs":           {[]string{"-sim.runs=1000"}, true, 1, 1000},
		"range and runs": {[]string{"-sim.seeds=5-9", "-sim.runs=2"}, false, 5, 6},
		"commit": {[]string{"-sim.seed=da3ea55c0ffee"}, false, 0xda3ea55c0ffe,
			0xda3ea55c0ffe + 49},
		"commit in short":  {[]string{"-sim.seed=da3ea55"}, true, 0xda3ea55, 0xda3ea55 + 9},
		"for a time":       {[]string{"-sim.for=1s"}, false, 1, 1 << 62},
		"range for a time": {[]string{"-sim.for=1s", "-sim.seeds=1-9"}, false, 1, 9},
		"commit for a time": {[]string{"-sim.for=1s", "-sim.seed=da3ea55"}, false, 0xda3ea55,
			0xda3ea55 + 1<<62 - 1},
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
		{"-sim.seeds=9-5"}, {"-sim.seeds=5"}, {"-sim.seeds=5-9-12"}, {"-sim.runs=-1"},
		{"-sim.seed=7", "-sim.seeds=5-9"}} {
		s, err := parsed(t, args, nil)
		require.NoError(t, err)
		_, err = s.from(newOptions(nil).seeds, false)
		require.ErrorContains(t, err, args[0][:len("-sim.seed")], "%v", args)
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
	return readSettings(set, func(name string) (string, bool) {
		value, ok := env[name]
		return value, ok
	})
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
	s, err = parsed(t, []string{"-sim.seeds=5-9"}, map[string]string{"SIM_SEED": "7"})
	require.NoError(t, err)
	require.Equal(t, settings{seeds: "5-9", shrink: s.shrink}, s)
	_, err = parsed(t, nil, map[string]string{"SIM_RUNS": "many"})
	require.ErrorContains(t, err, "SIM_RUNS=many")
}

// A corpus that is named must be there; the usual one need not.
func TestCorpus_Missing(t *testing.T) {
	t.Chdir(t.TempDir())
	u := &subject{options: newOptions(nil)}
	files, err := u.corpusFiles()
	require.NoError(t, err)
	require.Empty(t, files)
	u = &subject{options: newOptions([]Option{Corpus("gone")})}
	_, err = u.corpusFiles()
	require.Error(t, err)
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
