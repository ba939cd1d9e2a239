package oncesim_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// exampleModule is a module of its own, as a user has one.
const exampleModule = "examples/consumerdedup"

// The example fails as its README shows. The line that is printed repeats the failure in another
// clone; the correction in the README ends it; the file that was saved guards against its return.
func TestExample_ConsumerDedup(t *testing.T) {
	if underRace || testing.Short() {
		t.Skip("builds a module of its own, several times")
	}
	clone := cloneExample(t)
	text, ok := goTest(t, clone, ".")
	require.False(t, ok, "as it is shipped it fails")
	showsInReadme(t, text)

	line := regexp.MustCompile(`reproduce: go test (.*)\n`).FindStringSubmatch(text)
	require.NotNil(t, line)
	again, ok := goTest(t, cloneExample(t), fields(t, line[1])...)
	require.False(t, ok)
	require.Contains(t, again, reportOf(text))

	_, ok = goTest(t, clone, ".", "-sim.update")
	require.False(t, ok)
	corpus := filepath.Join(clone, "testdata/sim/TestBalance_CountsAPaymentOnce")
	files, err := filepath.Glob(filepath.Join(corpus, "*.sim"))
	require.NoError(t, err)
	require.Len(t, files, 1)

	correct, wrong := correction(t)
	replace(t, filepath.Join(clone, "balance.go"), wrong, correct)
	text, ok = goTest(t, clone, ".", "-v")
	require.True(t, ok, text)
	require.Contains(t, text, "--- PASS: TestBalance_CountsAPaymentOnce/"+filepath.Base(files[0]))

	replace(t, filepath.Join(clone, "balance.go"), correct, wrong)
	text, ok = goTest(t, clone, ".")
	require.False(t, ok)
	_, first, _ := strings.Cut(text, "    --- FAIL: TestBalance_CountsAPaymentOnce/")
	require.True(t, strings.HasPrefix(first, filepath.Base(files[0])), first)
}

// The correction rests on one payment at a time, as the end of the README says.
func TestExample_ConsumerDedupWithAWindow(t *testing.T) {
	if underRace || testing.Short() {
		t.Skip("builds a module of its own")
	}
	clone := cloneExample(t)
	correct, wrong := correction(t)
	replace(t, filepath.Join(clone, "balance.go"), wrong, correct)
	replace(t, filepath.Join(clone, "balance_test.go"), `"window=1"`, `"window=4"`)
	text, ok := goTest(t, clone, ".", "-sim.runs=5000")
	require.False(t, ok)
	data, err := os.ReadFile(filepath.Join(exampleModule, "README.md"))
	require.NoError(t, err)
	said := regexp.MustCompile(`(\d+) of 5000 runs`).FindStringSubmatch(string(data))
	require.NotNil(t, said)
	require.Contains(t, text, "how often: "+said[1]+" of 5000 seeds fail ")
}

// cloneExample copies the module elsewhere; what it is made with stays here.
func cloneExample(t *testing.T) string {
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS(exampleModule)))
	root, err := filepath.Abs(".")
	require.NoError(t, err)
	replace(t, filepath.Join(dir, "go.mod"), "=> ../..", "=> "+root)
	return dir
}

// replace replaces a text in a file, where it must be once.
func replace(t *testing.T, path, from, to string) {
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(string(data), from), "%s in %s", from, path)
	text := strings.Replace(string(data), from, to, 1)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
}

// goTest runs "go test" in a directory. Times, and where temporary files are, are put in one form.
func goTest(t *testing.T, dir string, args ...string) (out string, ok bool) {
	cmd := exec.Command("go", append([]string{"test"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off", "TMPDIR="+t.TempDir())
	data, err := cmd.CombinedOutput()
	text := regexp.MustCompile(`\(\d+\.\d+s\)`).ReplaceAllString(string(data), "(0.01s)")
	text = regexp.MustCompile(`\t\d+\.\d+s\n`).ReplaceAllString(text, "\t0.02s\n")
	text = regexp.MustCompile(`=\S*/simtest-\d+/`).ReplaceAllString(text, "=/tmp/simtest-1/")
	return text, err == nil
}

// showsInReadme compares what a test prints with the README, and rewrites that with -update.
func showsInReadme(t *testing.T, text string) {
	path := filepath.Join(exampleModule, "README.md")
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	const command = "$ go test .\n"
	before, rest, ok := strings.Cut(string(data), command)
	require.True(t, ok)
	shown, after, ok := strings.Cut(rest, "```\n")
	require.True(t, ok)
	if *update {
		shown = text
		whole := before + command + shown + "```\n" + after
		require.NoError(t, os.WriteFile(path, []byte(whole), 0o666))
	}
	require.Equal(t, shown, text, "go test -run Example -update . rewrites it")
}

// reportOf is the report on the first failure.
func reportOf(text string) string {
	_, text, _ = strings.Cut(text, "_test.go:")
	report, _, _ := strings.Cut(text, "reproduce: ")
	return report
}

// correction is the line of the README that is right, and the one that is wrong.
func correction(t *testing.T) (correct, wrong string) {
	data, err := os.ReadFile(filepath.Join(exampleModule, "README.md"))
	require.NoError(t, err)
	diff := regexp.MustCompile("(?s)```diff\n-(.*?)\n\\+(.*?)\n```")
	lines := diff.FindStringSubmatch(string(data))
	require.NotNil(t, lines)
	return lines[2], lines[1]
}
