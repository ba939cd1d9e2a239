package scenarios

import (
	"os"
	"strings"
	"testing"

	"github.com/oncesim/oncesim/checker"
	"github.com/oncesim/oncesim/model"
	"github.com/stretchr/testify/require"
)

// testLibrary is a small library with one of each, so that messages do not change with every mode
// that is added.
func testLibrary() *Library {
	return &Library{
		Modes: []*model.Mode{
			{Name: "none"},
			{Name: "at-least-once", Params: []model.Param{
				{Name: "window", Default: 4, Min: 1, Max: 64},
				{Name: "timeout", Default: 100_000_000, Min: 1, Max: 1 << 40, IsTime: true},
				{Name: "level", Min: -3, Max: 3},
			}},
		},
		Operators:  []*model.Operator{&Double, &ParseCLF, &Count},
		Topologies: []*model.Topology{&Pipeline, &PageViews},
		Sinks:      []*model.SinkSpec{{Name: "append-log"}},
		Decoders:   []*Decoder{&Lines, &CLF},
		Properties: []checker.Property{
			{Name: "at-least-once", Anomalies: []model.AnomalyKind{model.Loss}},
			{Name: "exactly-once"},
		},
		Samples: samples(),
	}
}

// textCase is a case of a file of cases: a title, an input, and what must come of it.
type textCase struct{ title, input, want string }

// readCases reads a file of cases. A case begins with a line "=== title"; its input ends at a
// line "=>", behind which what is wanted follows to the next case.
func readCases(t testing.TB, name string) []textCase {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	require.NoError(t, err)
	var cases []textCase
	for _, text := range strings.Split("\n"+string(data), "\n=== ")[1:] {
		title, rest, _ := strings.Cut(text, "\n")
		input, want, ok := strings.Cut("\n"+rest, "\n=>")
		require.True(t, ok, "case %q has no line =>", title)
		cases = append(cases, textCase{title, strings.TrimPrefix(input, "\n") + "\n",
			strings.TrimSpace(want) + "\n"})
	}
	return cases
}

// minimal is the least that a scenario file has, and whatever is to follow in scenario.yaml.
func minimal(more string) string {
	return "-- scenario.yaml --\nformat: 1\ntopology: pipeline\nmode: at-least-once\n" + more
}

func mustParse(t testing.TB, text string) *Scenario {
	t.Helper()
	s, err := Parse(testLibrary(), "dir/test.sim", []byte(text))
	require.NoError(t, err, "%s", text)
	return s
}
