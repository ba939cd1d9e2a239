package oncesim_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/scenarios"
	"github.com/oncesim/oncesim/simcli"
	"github.com/oncesim/oncesim/simtest"
)

// The command and "go test" take the same settings: what is said to both is the same run, and so is
// what is not said.
func TestSettings_CommandAndTestAgree(t *testing.T) {
	for name, c := range map[string]struct {
		flags string
		set   simtest.Scenario
	}{
		"by default": {"", simtest.Scenario{}},
		"mode":       {"--mode snapshot", simtest.Scenario{Mode: "snapshot"}},
		"sink": {"--sink table-by-identity",
			simtest.Scenario{Sink: "table-by-identity"}},
		"records": {"--records 7", simtest.Scenario{Records: 7}},
		"seed":    {"--seed 9", simtest.Scenario{Seed: 9}},
		"input":   {"--input go.mod", simtest.Scenario{Input: "go.mod"}},
		"set":     {"--set window=1", simtest.Scenario{Set: []string{"window=1"}}},
		"fault": {"--fault 'crash op/0 after effect 1 of record 0'",
			simtest.Scenario{Faults: []string{"crash op/0 after effect 1 of record 0"}}},
	} {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			simcli.Run(scenarios.Builtin(), fields(t, "run pipeline --json "+c.flags),
				strings.NewReader(""), &stdout, &stderr)
			var run struct {
				Hash string
				Mode string
			}
			require.NoError(t, json.Unmarshal(stdout.Bytes(), &run), stderr.String())
			c.set.Name = "pipeline"
			tested := simtest.Run(t, c.set, simtest.Holds("progress"))
			require.Equal(t, tested.Scenario.Mode.Name, run.Mode)
			require.Equal(t, hexOf(tested.Result.Subject.History.End.Hash), run.Hash)
		})
	}
}

func hexOf(hash uint64) string {
	const digits = "0123456789abcdef"
	text := make([]byte, 16)
	for i := range text {
		text[i] = digits[hash>>(60-4*i)&15]
	}
	return string(text)
}

// Each field of the settings that a word can say is a flag of the command.
func TestSettings_FieldsAreFlags(t *testing.T) {
	var stdout, stderr bytes.Buffer
	require.Equal(t, 0, simcli.Run(scenarios.Builtin(), []string{"run", "-h"},
		strings.NewReader(""), &stdout, &stderr))
	inGo := map[string]bool{"Name": true, "Topology": true, "Library": true, "Lines": true}
	typ := reflect.TypeFor[scenarios.Settings]()
	for i := range typ.NumField() {
		if name := typ.Field(i).Name; !inGo[name] {
			flag := strings.ToLower(strings.TrimSuffix(name, "s"))
			require.Regexp(t, ` --`+flag+`s? `, stdout.String())
		}
	}
}

// Both compare modes under the same seeds.
func TestSettings_CompareSeeds(t *testing.T) {
	if testing.Short() {
		t.Skip("simtest has fewer seeds then")
	}
	var stdout, stderr bytes.Buffer
	require.Equal(t, 0, simcli.Run(scenarios.Builtin(), []string{"compare", "-h"},
		strings.NewReader(""), &stdout, &stderr))
	lib, mode := scenarios.Builtin(), fromScratch
	mode.Name, mode.Sink, mode.Claims = "over", "append-log", []string{"exactly-once"}
	lib.Modes = append(lib.Modes, &mode)
	told := &told{}
	simtest.Compare(told, simtest.Scenario{Name: "pipeline", Records: 3, Library: lib}, "over")
	_, seeds, _ := strings.Cut(told.text, "-sim.seeds=")
	seeds, _, _ = strings.Cut(seeds, "\n")
	require.Contains(t, stdout.String(), `(default "`+seeds+`")`)
}

// told is a test that is told of one failure.
type told struct {
	testing.TB
	text string
}

func (t *told) Helper()                           {}
func (t *told) Name() string                      { return "TestTold" }
func (t *told) Logf(string, ...any)               {}
func (t *told) Errorf(format string, args ...any) { t.text = args[0].(string) }
