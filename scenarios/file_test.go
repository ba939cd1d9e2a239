package scenarios

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/oncesim/oncesim/faults"
	"github.com/oncesim/oncesim/model"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Each bad file has one message, with the place, the text in question and what was expected.
func TestParse_BadFiles(t *testing.T) {
	for _, c := range readCases(t, "bad.txt") {
		t.Run(c.title, func(t *testing.T) {
			s, err := Parse(testLibrary(), "bad.sim", []byte(c.input))
			require.Nil(t, s)
			var bad *FileError
			require.ErrorAs(t, err, &bad)
			assert.Equal(t, c.want, err.Error()+"\n")
		})
	}
}

// Bytes that a file of cases cannot show.
func TestParse_BadBytes(t *testing.T) {
	cases := []struct{ title, text, want string }{
		{"invalid UTF-8", minimal("name: é\xff\n"),
			`bad.sim:5:8: byte 0xff is not UTF-8`},
		{"control character", minimal("name: \"a\x01\"\n"),
			`bad.sim:5:9: character U+0001, expected it as an escape in double quotes`},
		{"line separator, which YAML counts as a line end", minimal("name: a\u2028b\n"),
			`bad.sim:5:8: character U+2028, expected it as an escape in double quotes`},
		{"byte order mark", "-- scenario.yaml --\n\ufeffformat: 1\n",
			`bad.sim:2:1: character U+FEFF, expected it as an escape in double quotes`},
		{"carriage return in a line", minimal("name: a\rb\n"),
			`bad.sim:5:8: character U+000D, expected it as an escape in double quotes`},
		{"more YAML than the parser is given", minimal(strings.Repeat("# much\n", 1<<18)),
			`bad.sim:2:1: section has 1835057 bytes, expected at most 1048576`},
	}
	for _, c := range cases {
		t.Run(c.title, func(t *testing.T) {
			_, err := Parse(testLibrary(), "bad.sim", []byte(c.text))
			assert.EqualError(t, err, c.want)
		})
	}
}

func TestParse_NewerFormatIsItsOwnError(t *testing.T) {
	text := "-- scenario.yaml --\nunheard: of\nformat: 2\n"
	_, err := Parse(testLibrary(), "new.sim", []byte(text))
	require.ErrorIs(t, err, ErrNewerFormat)
	assert.EqualError(t, err, "new.sim:3:9: format 2 is newer than this version reads, expected 1")

	_, err = Parse(testLibrary(), "new.sim", []byte(strings.Replace(text, "2", "0", 1)))
	require.Error(t, err)
	assert.False(t, errors.Is(err, ErrNewerFormat))
}

func TestParse_Defaults(t *testing.T) {
	assert.Equal(t, &Scenario{Name: "test", Topology: &Pipeline, Mode: testLibrary().Modes[1],
		Seed: SeedDefault}, mustParse(t, minimal("")))
}

func TestParse_Everything(t *testing.T) {
	data, err := os.ReadFile("testdata/everything.sim")
	require.NoError(t, err)
	s := mustParse(t, string(data))
	require.Len(t, s.Faults, 2)
	s.Faults = nil
	double, count := &Double, &Count
	assert.Equal(t, &Scenario{
		Name:  "all keys at once",
		Prose: "What happens, and why.\n\nSource: none.",
		Topology: &model.Topology{
			Name: "diamond", Says: "two ways: one result",
			Inputs: []model.InputSpec{{Name: "left", Partitions: 2}, {Name: "right"}},
			Stages: []model.Stage{
				{Name: "a", Operator: double, From: []string{"left", "right"}, Parallel: 2},
				{Name: "b", Operator: count, From: []string{"a"}, Exchange: model.ByKey},
			},
			Decoder: "clf", Sample: "access.log",
		},
		Inline: true,
		Mode:   testLibrary().Modes[1],
		Params: []model.ParamValue{{Name: "timeout", Value: 1_500_000_000},
			{Name: "level", Value: -2}},
		Sink: "append-log",
		Input: InputSpec{Kind: InputInline, Lines: []string{"one", "", " three"}, Records: 2,
			Every: 5_000_000},
		Seed:   18446744073709551615,
		Bounds: Bounds{Events: 1000, Time: 10_000_000_000},
		Expect: []Expectation{
			{Line: 48, Result: model.Holds, Property: "at-least-once"},
			{Line: 49, Result: model.Violated, Property: "exactly-once", Kind: model.Duplicate,
				Record: "left/1:7", Times: 2},
		},
		Trace: "  t  op\n  1  x\n",
		Recorded: &Recorded{Hash: 0xabc, Signature: "exactly-once: duplicate", Version: "v0.1.0",
			Format: 3},
	}, s)
}

// A checkout with other line ends is the same scenario.
func TestParse_CRLF(t *testing.T) {
	data, err := os.ReadFile("testdata/everything.sim")
	require.NoError(t, err)
	crlf := strings.ReplaceAll(string(data), "\n", "\r\n")
	assert.Equal(t, mustParse(t, string(data)), mustParse(t, crlf))
}

func TestParse_FaultLines(t *testing.T) {
	s := mustParse(t, minimal(`faults:
  - crash sink/0 before ack of write 1   # the output is visible
  - "pause source/0 at record 0 for 80ms"
`))
	want, err := faults.ParsePlan("crash sink/0 before ack of write 1",
		"pause source/0 at record 0 for 80ms")
	require.NoError(t, err)
	assert.Equal(t, want, s.Faults)
}

func TestParse_NameOfTheFile(t *testing.T) {
	for file, want := range map[string]string{
		"a/b/two-crashes.sim":          "two-crashes",
		`C:\lessons\one.sim`:           "one",
		"one.txt":                      "one.txt",
		"":                             "scenario",
		"/":                            "scenario",
		"\xff\n.sim":                   "__",
		strings.Repeat("é", 200):       strings.Repeat("é", 100),
		"x" + strings.Repeat("é", 200): "x" + strings.Repeat("é", 99),
	} {
		assert.Equal(t, want, nameOf(file), "%q", file)
	}
}

// What help prints is what is read: the keys come from the same lists, the example parses.
func TestSchema(t *testing.T) {
	text := Schema()
	for _, line := range strings.Split(text, "\n") {
		assert.LessOrEqual(t, len(line), 100, "%s", line)
	}
	_, example, _ := strings.Cut(text, "\nExample\n\n")
	example = strings.ReplaceAll(strings.TrimPrefix(example, "  "), "\n  ", "\n")
	s := mustParse(t, example)
	assert.Len(t, s.Expect, 2)
	assert.Len(t, s.Faults, 1)
}
