package oncesim_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/scenarios"
	"github.com/oncesim/oncesim/simcli"
)

var update = flag.Bool("update", false, "rewrite what README.md shows from what the commands print")

// commandPrefixes are the ways in which the README calls the command.
var commandPrefixes = []string{"$ go run ./cmd/simrun ", "$ simrun "}

// Every command of the README is run, and what it shows is what the command prints. A block fenced
// as console holds commands and their output; a line "..." stands for lines that are left out.
// The whole set-up command of the tests is the exception: it would run this test.
func TestReadme_Commands(t *testing.T) {
	if underRace {
		t.Skip("runs without the race detector, as the command does")
	}
	path, err := filepath.Abs("README.md")
	require.NoError(t, err)
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	t.Chdir(t.TempDir())
	var out []string
	lines := strings.SplitAfter(string(data), "\n")
	commands := 0
	for i := 0; i < len(lines); i++ {
		out = append(out, lines[i])
		if strings.TrimSpace(lines[i]) != "```console" {
			continue
		}
		for i++; strings.TrimSpace(lines[i]) != "```"; {
			command := lines[i]
			var shown []string
			for i++; lines[i][0] != '$' && strings.TrimSpace(lines[i]) != "```"; i++ {
				shown = append(shown, lines[i])
			}
			out = append(out, command)
			out = append(out, runShown(t, strings.TrimSpace(command), shown)...)
			commands++
		}
		out = append(out, lines[i])
	}
	require.Greater(t, commands, 3)
	if got := strings.Join(out, ""); *update && got != string(data) {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
}

// runShown runs a command and compares its output with what is shown. It returns the lines to show.
func runShown(t *testing.T, command string, shown []string) []string {
	args := ""
	for _, prefix := range commandPrefixes {
		if rest, ok := strings.CutPrefix(command, prefix); ok {
			args = rest
		}
	}
	if args == "" {
		require.Equal(t, "$ go test ./...", command, "a command that no test runs")
		return shown
	}
	var stdout, stderr bytes.Buffer
	status := simcli.Run(scenarios.Builtin(), fields(t, args), strings.NewReader(""),
		&stdout, &stderr)
	require.Contains(t, []int{0, 1}, status, "%s\n%s", command, stderr.String())
	got := strings.SplitAfter(stdout.String(), "\n")
	got = got[:len(got)-1]
	if *update {
		return cut(got, shown)
	}
	require.Equal(t, strings.Join(cut(got, shown), ""), strings.Join(shown, ""),
		"%s\nshows something else; go test -run Readme -update . rewrites it", command)
	return shown
}

// cut leaves out of the output what the shown lines leave out: everything after the line before
// "...", where that is the last line shown.
func cut(got, shown []string) []string {
	if len(shown) == 0 || shown[len(shown)-1] != "...\n" || len(got) < len(shown) {
		return got
	}
	return append(got[:len(shown)-1:len(shown)-1], "...\n")
}

// fields splits a command line at spaces outside of single quotes.
func fields(t *testing.T, line string) []string {
	var args []string
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			args = append(args, part)
			continue
		}
		args = append(args, strings.Fields(part)...)
	}
	require.Equal(t, 0, strings.Count(line, "'")%2, line)
	return args
}

// The library's use in the README is the text of a test that runs.
func TestReadme_Library(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	source, err := os.ReadFile("outsider_test.go")
	require.NoError(t, err)
	example, err := os.ReadFile("examples/consumerdedup/balance_test.go")
	require.NoError(t, err)
	blocks := strings.Split(string(readme), "```go\n")[1:]
	require.NotEmpty(t, blocks)
	for _, block := range blocks {
		block, _, _ = strings.Cut(block, "```")
		require.Contains(t, string(source)+string(example), block)
	}
}

// What the README shows of a failing test is the beginning of what the README of the example shows;
// TestExample_ConsumerDedup holds that to be what the test prints.
func TestReadme_InGoTest(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	example, err := os.ReadFile("examples/consumerdedup/README.md")
	require.NoError(t, err)
	_, shown, ok := strings.Cut(string(readme), "```text\n--- FAIL: ")
	require.True(t, ok)
	shown, _, ok = strings.Cut(shown, "...\n```")
	require.True(t, ok)
	require.Contains(t, string(example), "$ go test .\n--- FAIL: "+shown)
}
