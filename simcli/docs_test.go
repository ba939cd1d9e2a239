package simcli

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/defects"
	"github.com/oncesim/oncesim/scenarios"
)

// docCommand is a command line of the documentation: a line of a fenced block, or several.
var docCommand = regexp.MustCompile(`(?m)^ *(?:- run: )?(simrun .*(?:\n +--.*)*)$`)

// docMatrix is the list over which a matrix of CI goes.
var docMatrix = regexp.MustCompile(`(?m)^ *shard: \[(.*)\]$`)

// docShards are the numbers of pods of a manifest, which must be one number.
var docShards = regexp.MustCompile(
	`(?m)^ *(?:completions: |- name: SIM_SHARDS\n *value: )"?(\d+)"?$`)

// Every command line of docs/sweeps.md runs, section by section, each section in a folder of its
// own: those of a shard once for each shard. What the manifests set is set here, with fewer seeds.
func TestDocs_Sweeps(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("no shell")
	}
	data, err := os.ReadFile("../docs/sweeps.md")
	require.NoError(t, err)
	t.Setenv("PATH", filepath.Dir(buildCommand(t))+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Setenv("SEEDS", "1-40")
	commands := 0
	for _, section := range strings.Split(string(data), "\n## ") {
		dir := t.TempDir()
		t.Setenv("RESULTS", dir)
		for i, block := range strings.Split(section, "```") {
			if i%2 == 0 {
				continue
			}
			for _, m := range docCommand.FindAllStringSubmatch(block, -1) {
				for _, line := range shardLines(t, block, m[1]) {
					cmd := exec.Command("sh", "-c", line)
					cmd.Dir = dir
					out, err := cmd.CombinedOutput()
					require.NoError(t, err, "%s\n%s", line, out)
					require.NotContains(t, string(out), "not run:", line)
					commands++
				}
			}
		}
	}
	require.Greater(t, commands, 15)
}

// Every command line of docs/defects.md runs, and says something of the defect that it is about:
// what looks for it catches it.
func TestDocs_Defects(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("no shell")
	}
	data, err := os.ReadFile("../docs/defects.md")
	require.NoError(t, err)
	t.Setenv("PATH", filepath.Dir(buildCommand(t))+string(os.PathListSeparator)+os.Getenv("PATH"))
	looks := 0
	for _, m := range indented.FindAllString(string(data), -1) {
		cmd := exec.Command("sh", "-c", m)
		cmd.Dir = t.TempDir()
		out, err := cmd.CombinedOutput()
		require.Contains(t, string(out), "commit-on-read", m)
		if !strings.Contains(m, " --defect ") {
			require.NoError(t, err, "%s\n%s", m, out)
			continue
		}
		looks++
		require.Equal(t, statusViolated, cmd.ProcessState.ExitCode(), "%s\n%s", m, out)
		require.Regexp(t, `at-least-once +violated`, string(out), m)
	}
	require.Greater(t, looks, 1)
}

// What "explain" prints of each defect as a run that catches it breaks the claim that is named.
func TestExplain_DefectsAreCaughtAsPrinted(t *testing.T) {
	lib := scenarios.Builtin()
	for _, d := range lib.Defects {
		var explained, out, errs bytes.Buffer
		require.Zero(t, Run(lib, []string{"explain", d.Name}, nil, &explained, &errs), d.Name)
		line := indented.FindString(explained.String())
		require.NotEmpty(t, line, d.Name)
		var words []string
		for _, word := range regexp.MustCompile(`'[^']*'|[^\s\\]+`).FindAllString(line, -1) {
			words = append(words, strings.Trim(word, "'"))
		}
		require.Equal(t, statusViolated, Run(lib, words[1:], nil, &out, &errs), "%s\n%s%s",
			line, &out, &errs)
		broken := regexp.QuoteMeta(d.Property) + ` +violated  claim broken`
		require.Regexp(t, broken, out.String(), line)
	}
}

// A defect of somebody else need not say what goes wrong, of what kind it is, nor where it is seen.
func TestDefects_WithoutWords(t *testing.T) {
	lib := scenarios.Builtin()
	lib.Defects = []*defects.Defect{{Name: "mine", Modes: []string{"at-least-once"}}}
	for _, args := range [][]string{{"explain", "mine"}, {"list", "defects"},
		{"list", "defects", "--json"}, {"run", "pipeline", "--defect", "mine", "--records", "1"}} {
		var out, errs bytes.Buffer
		require.Zero(t, Run(lib, args, nil, &out, &errs), "%s%s", &out, &errs)
		require.Contains(t, out.String(), "mine")
		require.Empty(t, errs.String())
	}
}

// A defect that says what nothing is called is refused before anything is run, whatever is asked
// for; so are two of one name.
func TestDefects_WrongNames(t *testing.T) {
	for name, c := range map[string]struct{ mine, want string }{
		"property": {"mine", `^simrun: defect mine: unknown property "at-laest-once"`},
		"name":     {"commit-on-read", `: the library has two defects named "commit-on-read"`},
	} {
		t.Run(name, func(t *testing.T) {
			lib := scenarios.Builtin()
			lib.Defects = append(lib.Defects, &defects.Defect{Name: c.mine,
				Property: "at-laest-once", Modes: []string{"at-least-once"}})
			for _, args := range [][]string{{"list"}, {"run", "pipeline"}} {
				var out, errs bytes.Buffer
				require.Equal(t, statusUsage, Run(lib, args, nil, &out, &errs))
				require.Regexp(t, c.want, errs.String())
			}
		})
	}
}

// indented is a command line in text: an indented line, and those that it goes on in.
var indented = regexp.MustCompile(`(?m)^    simrun (?:.*\\\n)*.*$`)

// shardLines is a command once for each shard that its block has.
func shardLines(t *testing.T, block, command string) (lines []string) {
	command = strings.Join(strings.Fields(command), " ")
	switch matrix := docMatrix.FindStringSubmatch(block); {
	case strings.Contains(command, "${{"):
		require.NotNil(t, matrix)
		all := strings.Split(matrix[1], ", ")
		for _, shard := range all {
			line := strings.ReplaceAll(command, "${{ matrix.shard }}", shard)
			require.Contains(t, line, "--shard "+shard+"/"+all[len(all)-1]+" ")
			lines = append(lines, line)
		}
	case strings.Contains(command, "--shard auto"):
		counts := docShards.FindAllStringSubmatch(block, -1)
		require.Len(t, counts, 2)
		require.Equal(t, counts[0][1], counts[1][1])
		for index := range strings.Repeat("x", int(counts[0][1][0]-'0')) {
			lines = append(lines, strings.Join([]string{"SIM_SHARDS=" + counts[0][1],
				"JOB_COMPLETION_INDEX=" + string(rune('0'+index)), "sh -c '" + command + "'"}, " "))
		}
	default:
		lines = []string{command}
	}
	return lines
}
