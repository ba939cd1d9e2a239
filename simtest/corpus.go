package simtest

import (
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/oncesim/oncesim/report"
)

// corpusRoot is where every test has a folder of the scenarios that it has found once.
const corpusRoot = "testdata/sim"

// simExt is how the name of a scenario file ends.
const simExt = ".sim"

// folder is the corpus of the test.
func (u *subject) folder() string {
	if u.corpus != "" {
		return u.corpus
	}
	var parts []string
	for _, part := range strings.Split(u.test, "/") {
		parts = append(parts, folderName(part))
	}
	if u.nth > 1 {
		parts[len(parts)-1] += fmt.Sprintf("-sweep%d", u.nth)
	}
	return corpusRoot + "/" + strings.Join(parts, "/")
}

// folderName is a part of a test's name as a folder that every file system can have.
func folderName(part string) string {
	name := regexp.MustCompile(`[^A-Za-z0-9_=+,-]`).ReplaceAllString(part, "_")
	if name == part {
		return name
	}
	h := fnv.New32a()
	h.Write([]byte(part))
	return fmt.Sprintf("%s-%08x", name, h.Sum32())
}

// corpusFiles are the scenario files that are replayed first. Files that no test would replay are
// an error: they are there to test something.
func (u *subject) corpusFiles() ([]string, error) {
	if u.corpus == "" {
		if err := checkRoot(); err != nil {
			return nil, err
		}
	}
	folder := u.folder()
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) && (u.corpus == "" || u.set.update) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("Corpus(%q): %w; -sim.update makes it", u.corpus, err)
	}
	var files []string
	for _, e := range entries {
		switch ext := filepath.Ext(e.Name()); {
		case e.IsDir():
		case ext == simExt:
			files = append(files, filepath.Join(folder, e.Name()))
		case strings.EqualFold(ext, simExt):
			return nil, fmt.Errorf("%s/%s is not replayed, expected a name that ends in %s",
				folder, e.Name(), simExt)
		}
	}
	return files, nil
}

// checkRoot refuses files beside the folders of the tests, and a folder whose test is gone.
func checkRoot() error {
	entries, err := os.ReadDir(corpusRoot)
	if err != nil {
		return nil // there is none
	}
	tests := testNames()
	for _, e := range entries {
		switch {
		case e.IsDir() && len(tests) > 0 && testName.MatchString(e.Name()) &&
			!slices.Contains(tests, sweepSuffix.ReplaceAllString(e.Name(), "")):
			return fmt.Errorf("%s/%s is replayed by no test: none has this name any more",
				corpusRoot, e.Name())
		case !e.IsDir() && strings.EqualFold(filepath.Ext(e.Name()), simExt):
			return fmt.Errorf("%s/%s is replayed by no test: it belongs into a folder with the "+
				"name of one", corpusRoot, e.Name())
		}
	}
	return nil
}

// sweepSuffix is what the folder of a second Sweep has behind the name of its test.
var sweepSuffix = regexp.MustCompile(`-sweep\d+$`)

// testName matches the folder of a test; others are those of Corpus.
var testName = regexp.MustCompile(`^(Test|Fuzz|Benchmark)`)

// testFunc finds the tests in a source file.
var testFunc = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Benchmark)\w*)\(`)

// testNames are the tests of the package, from its sources; none where these are not there.
func testNames() []string {
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		panic(err) // the pattern is well formed
	}
	var names []string
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil
		}
		for _, found := range testFunc.FindAllSubmatch(data, -1) {
			names = append(names, folderName(string(found[1])))
		}
	}
	return names
}

// scratch is where this program saves what fails: in a new folder, once there is something. It
// stays, since the line that replays a file is for later.
var scratch = sync.OnceValues(func() (string, error) { return os.MkdirTemp("", "simtest-") })

// save writes what a seed shows.
func (f *failure) save(t TB, c *report.Case) {
	t.Helper()
	test := strings.TrimSuffix(f.test, "/"+f.u.subtest(fmt.Sprintf("seed=%d", f.run.seed)))
	f.u.save(t, c, test)
}

// save writes a run into the corpus if that is wanted, else where it is in nobody's way, and says
// where.
func (u *subject) save(t TB, c *report.Case, test string) {
	t.Helper()
	dir, err := u.directory(t)
	if err == nil {
		err = os.MkdirAll(dir, 0o777)
	}
	var path string
	if err == nil {
		path, err = writeCase(c, u.folder(), dir)
	}
	if err != nil {
		t.Errorf("the failure cannot be saved: %v", err)
		return
	}
	if u.nth > 1 {
		test += "/" + u.subtest(filepath.Base(path))
	}
	t.Logf("saved: %s", commandOf(test, append([]string{"-sim.replay=" + filepath.ToSlash(path)},
		u.set.words()...)))
}

// directory is where a failure is saved.
func (u *subject) directory(t any) (string, error) {
	if u.set.update {
		return u.folder(), nil
	}
	if a, ok := t.(interface{ ArtifactDir() string }); ok && hasFlag("test.artifacts") {
		return a.ArtifactDir(), nil
	}
	return scratch()
}

// writeCase saves a run in a directory. It has the name that it would have in the corpus.
func writeCase(c *report.Case, corpus, dir string) (path string, err error) {
	name, data, err := c.File(corpus)
	if err != nil {
		return "", err
	}
	if dir != corpus {
		if _, data, err = c.File(dir); err != nil {
			return "", err
		}
	}
	path = filepath.Join(dir, name)
	return path, os.WriteFile(path, data, 0o666)
}
