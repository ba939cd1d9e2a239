package oncesim_test

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// expected is a want comment of the fixtures: a finding on its line, or on the line that many
// lines away, whose message matches.
var expected = regexp.MustCompile(`want([+-]\d+)?((?: "[^"]*")+)`)

var quoted = regexp.MustCompile(`"[^"]*"`)

// TestTidyRules turns each rule on a package that breaks it: a rule that cannot fail protects
// nothing. Lines without a want comment show what a rule must let pass.
func TestTidyRules(t *testing.T) {
	fixtures, err := load("testdata/tidy")
	if err != nil {
		t.Fatal(err)
	}
	rooms := []room{{dir: "compiles"}, {dir: "imports/model"}, {dir: "imports/right"},
		{dir: "imports/left", may: "imports/model", outside: "golang.org/x/tools/go/packages",
			tests: "imports/right"},
		{dir: "exports", exports: 2}, {dir: "docs", exports: 20}, {dir: "docs/bare"}}
	listed := []list{{dir: "lists/pieces", name: "All"}, {dir: "lists/rules", name: "All"},
		{dir: "lists/empty", name: "All"}, {dir: "lists/absent", name: "All"},
		{dir: "lists/joined", name: "Builtin"}}
	rules := []struct {
		dir  string
		rule func(*tree) []finding
	}{
		{"compiles", checkCompiles},
		{"imports", func(f *tree) []finding {
			return append(checkImports(f, rooms, "golang.org/x/tools/go/ast/inspector"),
				checkFolders(f, rooms, "")...)
		}},
		{"determinism", func(f *tree) []finding {
			return checkDeterminism(f, []string{"determinism", "absent"}, "determinism/sorted.go")
		}},
		{"globals", func(f *tree) []finding { return checkGlobals(f, []string{"globals"}) }},
		{"inits", checkInits},
		{"docs", checkDocs},
		{"sizes", checkSizes},
		{"lists", func(f *tree) []finding { return checkLists(f, listed) }},
		{"exports", func(f *tree) []finding { return checkExports(f, rooms) }},
	}
	for _, r := range rules {
		t.Run(r.dir, func(t *testing.T) { compare(t, fixtures, r.dir, r.rule(fixtures)) })
	}
}

// compare matches what a rule found below dir with the want comments there.
func compare(t *testing.T, fixtures *tree, dir string, found []finding) {
	wants := wantsBelow(t, fixtures, dir)
	if len(wants) == 0 {
		t.Errorf("%s has no want comment", dir)
	}
	for _, f := range tidied(found) {
		if f.path != dir && !strings.HasPrefix(f.path, dir+"/") {
			continue
		}
		if !meets(wants, f) {
			t.Errorf("unexpected: %s", f)
		}
	}
	for _, w := range wants {
		if !w.met {
			t.Errorf("not found: %s:%d: %s", w.path, w.line, w.pattern)
		}
	}
}

type want struct {
	path    string
	line    int
	pattern *regexp.Regexp
	met     bool
}

func meets(wants []*want, f finding) bool {
	for _, w := range wants {
		if w.path == f.path && w.line == f.line && !w.met && w.pattern.MatchString(f.message) {
			w.met = true
			return true
		}
	}
	return false
}

func wantsBelow(t *testing.T, fixtures *tree, dir string) []*want {
	var wants []*want
	for _, f := range fixtures.files {
		if f.dir != dir && !strings.HasPrefix(f.dir, dir+"/") {
			continue
		}
		f.lines(func(n int, line string) {
			m := expected.FindStringSubmatch(line)
			if m == nil {
				return
			}
			offset := 0
			if m[1] != "" {
				var err error
				if offset, err = strconv.Atoi(m[1]); err != nil {
					t.Fatal(err)
				}
			}
			for _, q := range quoted.FindAllString(m[2], -1) {
				wants = append(wants, &want{path: f.path, line: n + offset,
					pattern: regexp.MustCompile(strings.Trim(q, `"`))})
			}
		})
	}
	return wants
}

// TestTidyFolders shows that a top-level folder must be in the layout, whether or not it holds Go.
func TestTidyFolders(t *testing.T) {
	fixtures := &tree{folders: []string{"model", "tools", "stranger"}}
	found := checkFolders(fixtures, []room{{dir: "model"}}, "tools")
	if len(found) != 1 || found[0].path != "stranger" {
		t.Errorf("found %v, want one finding about stranger", found)
	}
}
