package oncesim_test

import (
	"strings"
	"testing"
)

// The house rules, as tests. What is a matter of choice stands in the tables of this file; how it
// is checked stands in tidy_*_test.go, one rule a file. A rule is a function from a loaded tree
// and its tables to findings; testdata/tidy holds a small package for each that breaks it, and
// tidy_self_test.go sees to it that each breach is found, and nothing besides.

// module is the import path of the root.
const module = "github.com/oncesim/oncesim"

// room is one package of the house: what it may import and how much it may show.
type room struct {
	dir     string
	may     string // packages of ours that it imports
	outside string // packages of other modules that it imports
	tests   string // packages of ours that its test files import besides
	exports int    // exported names, without methods, fields and enum constants; 0: exportsMax
}

// exportsMax is how many names a package exports unless its room says otherwise.
const exportsMax = 25

// layout is the star: the core knows only the model, scenarios joins the core, everything else
// goes through scenarios. The checker and the oracle share no code with what they judge.
var layout = []room{
	{dir: ".", tests: "model semantics scenarios search report simtest simcli"},

	{dir: "model", exports: 97},
	{dir: "sim", may: "model", tests: "semantics"},
	{dir: "semantics", may: "model"},
	{dir: "faults", may: "model"},
	{dir: "checker", may: "model", outside: "github.com/anishathalye/porcupine"},
	{dir: "defects", may: "model", exports: 35, tests: "sim scenarios simcli"},

	{dir: "scenarios", may: "model sim semantics faults checker defects", exports: 50,
		outside: "github.com/rogpeppe/go-internal/txtar go.yaml.in/yaml/v3",
		tests:   "search report internal/oracle"},
	{dir: "search", may: "model sim faults checker scenarios", exports: 65,
		tests: "semantics defects report internal/oracle"},
	{dir: "report", may: "model faults checker defects scenarios search", exports: 45,
		outside: "github.com/anishathalye/porcupine"},

	{dir: "simtest", may: "model faults scenarios search report", outside: "pgregory.net/rapid",
		tests: "semantics faults checker defects"},
	{dir: "simcli", may: "model faults defects scenarios search report internal/bench",
		outside: "github.com/spf13/cobra github.com/spf13/pflag",
		tests:   "semantics faults checker defects"},
	{dir: "cmd/simrun", may: "simcli scenarios"},

	{dir: "internal/bench", may: "model sim faults checker scenarios search",
		outside: "github.com/anishathalye/porcupine"},
	{dir: "internal/trust", may: "model faults checker defects scenarios search internal/oracle",
		tests: "report"},
	{dir: "internal/oracle", may: "model", tests: "sim semantics scenarios checker"},
}

// outsideTests is what test files everywhere may import of other modules.
const outsideTests = "github.com/stretchr/testify/assert github.com/stretchr/testify/require " +
	"github.com/rogpeppe/go-internal/testscript github.com/rogpeppe/go-internal/txtar " +
	"pgregory.net/rapid golang.org/x/tools/go/packages"

// folders are the top-level folders that hold no package of the root module.
const folders = "bin docs examples testdata tools"

// core are the packages whose code is part of a run: what they do may depend on nothing but their
// arguments.
const core = "model sim semantics faults checker"

// mapRange is the one file of the core that may range over a map.
const mapRange = "model/sorted.go"

// coreImports is what the core may use of the standard library: "" is all of a package, a list is
// those names only, and a list behind a minus sign is everything but those names.
var coreImports = map[string]string{
	"bytes":           "",
	"cmp":             "",
	"container/heap":  "",
	"encoding/binary": "",
	"encoding/hex":    "",
	"errors":          "",
	"fmt":             "- Print Printf Println Scan Scanf Scanln",
	"iter":            "Seq Seq2",
	"maps":            "Clone Copy Equal EqualFunc",
	"math":            "",
	"math/bits":       "",
	"slices":          "",
	"sort":            "",
	"strconv":         "",
	"strings":         "",
	"time":            "Duration Nanosecond Microsecond Millisecond Second Minute Hour",
	"unicode":         "",
	"unicode/utf8":    "",
}

// lists are the explicit lists of the house: a package-level value of a list's element type that
// is in no list is a mode, a fault or a checker that nobody runs.
var lists = []list{
	{dir: "semantics", name: "All"},
	{dir: "faults", name: "All"},
	{dir: "checker", name: "All"},
	{dir: "defects", name: "All"},
	{dir: "scenarios", name: "Builtin"},
}

// Sizes of the source. A tab is four columns wide.
const (
	columnsMax = 100
	linesMax   = 70
	tabWidth   = 4
)

func TestTidy(t *testing.T) {
	rules := []struct {
		name string
		rule func(*tree) []finding
	}{
		{"compiles", checkCompiles},
		{"folders", func(h *tree) []finding { return checkFolders(h, layout, folders) }},
		{"imports", func(h *tree) []finding { return checkImports(h, layout, outsideTests) }},
		{"determinism", func(h *tree) []finding {
			return checkDeterminism(h, strings.Fields(core), mapRange)
		}},
		{"globals", func(h *tree) []finding { return checkGlobals(h, strings.Fields(core)) }},
		{"inits", checkInits},
		{"docs", checkDocs},
		{"sizes", checkSizes},
		{"lists", func(h *tree) []finding { return checkLists(h, lists) }},
		{"exports", func(h *tree) []finding { return checkExports(h, layout) }},
	}
	house, err := load(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			for _, f := range tidied(r.rule(house)) {
				t.Error(f)
			}
		})
	}
}
