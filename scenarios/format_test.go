package scenarios

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/oncesim/oncesim/faults"
	"github.com/oncesim/oncesim/model"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Each input is rewritten in one way, which reads back to the same and stays as it is.
func TestFormat_Cases(t *testing.T) {
	for _, c := range readCases(t, "format.txt") {
		t.Run(c.title, func(t *testing.T) {
			s := mustParse(t, c.input)
			got := string(Format(testLibrary(), s))
			assert.Equal(t, c.want, got)
			again := mustParse(t, got)
			assert.Equal(t, withoutLines(s), withoutLines(again))
			assert.Equal(t, got, string(Format(testLibrary(), again)))
		})
	}
}

// withoutLines forgets where in a file expectations stand: Format may move them.
func withoutLines(s *Scenario) Scenario {
	c := *s
	c.Expect = nil
	for _, e := range s.Expect {
		e.Line = 0
		c.Expect = append(c.Expect, e)
	}
	return c
}

// The property that saving relies on, over drawn scenarios: whatever they hold, they read back.
func TestFormat_RoundTrip(t *testing.T) {
	lib := testLibrary()
	for seed := range uint64(1000) {
		s := drawScenario(rand.New(rand.NewPCG(seed, 1)), lib)
		text := Format(lib, s)
		again, err := Parse(lib, "dir/test.sim", text)
		require.NoError(t, err, "seed %d:\n%s", seed, text)
		require.Equal(t, *s, withoutLines(again), "seed %d:\n%s", seed, text)
		require.Equal(t, string(text), string(Format(lib, again)), "seed %d", seed)
	}
}

// drawScenario draws a scenario that uses everything a file can hold.
func drawScenario(r *rand.Rand, lib *Library) *Scenario {
	s := &Scenario{
		Name:     drawLineText(r),
		Prose:    canonicalProse(drawText(r)),
		Topology: lib.Topologies[r.IntN(len(lib.Topologies))],
		Mode:     lib.Modes[r.IntN(len(lib.Modes))],
		Seed:     r.Uint64() >> r.IntN(64),
		Bounds:   Bounds{Events: drawPositive(r), Time: drawPositive(r) % timeMax},
		Trace:    canonicalTrace(drawText(r)),
	}
	if r.IntN(3) == 0 {
		s.Inline, s.Topology = true, drawTopology(r, lib)
	}
	if r.IntN(3) == 0 {
		s.Sink = lib.Sinks[0].Name
	}
	for _, param := range s.Mode.Params {
		if r.IntN(2) == 0 {
			v := param.Min + r.Int64N(param.Max-param.Min+1)
			s.Params = append(s.Params, model.ParamValue{Name: param.Name, Value: v})
		}
	}
	s.Input = drawInput(r)
	s.Faults = drawFaults(r, s.Topology)
	s.Expect = drawExpectations(r, s.Topology)
	if r.IntN(2) == 0 {
		s.Recorded = &Recorded{Hash: r.Uint64(), Signature: drawLineText(r), Format: r.IntN(9)}
	}
	return s
}

func drawPositive(r *rand.Rand) int64 { return max(r.Int64()>>(r.IntN(8)*8), 0) * r.Int64N(2) }

func drawTopology(r *rand.Rand, lib *Library) *model.Topology {
	t := &model.Topology{Name: drawLineText(r), Says: oneLine(drawText(r))}
	var from []string
	for i := range 1 + r.IntN(3) {
		in := model.InputSpec{Name: fmt.Sprintf("in%d", i), Partitions: r.IntN(4)}
		t.Inputs, from = append(t.Inputs, in), append(from, in.Name)
	}
	for i := range 1 + r.IntN(3) {
		s := model.Stage{Name: fmt.Sprintf("s%d", i), From: []string{from[r.IntN(len(from))]},
			Operator: lib.Operators[r.IntN(len(lib.Operators))], Parallel: r.IntN(4),
			Exchange: model.ByKey}
		if s.Operator.Kind == model.Stateless && r.IntN(2) == 0 {
			s.Exchange, s.Parallel = model.Forward, min(s.Parallel, t.Senders(&s))
		}
		t.Stages, from = append(t.Stages, s), append(from, s.Name)
	}
	if r.IntN(2) == 0 {
		t.Decoder, t.Sample = "clf", "access.log"
	}
	return t
}

func drawInput(r *rand.Rand) InputSpec {
	in := InputSpec{Kind: InputKind(r.IntN(4))}
	switch in.Kind {
	case InputInline:
		for range r.IntN(1 + []int{3, 40}[r.IntN(2)]) {
			in.Lines = append(in.Lines, drawBytes(r))
		}
	case InputFile:
		in.Path, in.Dir = strings.Trim(drawLineText(r), "\n"), "dir"
		if r.IntN(2) == 0 {
			in.SHA256 = strings.Repeat("0123456789abcdef", 4)
		}
	}
	if r.IntN(2) == 0 {
		in.Records = r.IntN(100)
	}
	if r.IntN(2) == 0 {
		in.Every = r.Int64N(everyMax)
	}
	return in
}

func drawFaults(r *rand.Rand, t *model.Topology) (plan faults.Plan) {
	for range r.IntN(4) {
		line := []string{"crash source/0 before ack of fetch 3", "pause sink/0 at 120ms for 80ms",
			"crash sink/0 after effect 2 of record " + t.RecordName(model.ID{Offset: 7}),
			"lose answer of write 1 from sink/0"}[r.IntN(4)]
		f, err := faults.Parse(line)
		if err != nil {
			panic(err)
		}
		plan = append(plan, f)
	}
	return plan
}

func drawExpectations(r *rand.Rand, t *model.Topology) (list []Expectation) {
	if r.IntN(2) == 0 {
		list = append(list, Expectation{Result: model.Result(r.IntN(3)), Property: "at-least-once"})
	}
	for range r.IntN(3) {
		e := Expectation{Result: model.Violated, Property: "exactly-once",
			Kind: model.Anomalies()[len(list)]}
		if r.IntN(2) == 0 {
			e.Record = t.RecordName(model.ID{Offset: r.Int64()})
		}
		if r.IntN(2) == 0 {
			e.Times = 1 + r.Int64N(9)
		}
		list = append(list, e)
	}
	return list
}

// hard are texts that YAML, the archive or a checkout would alter, or whose beginning means
// something to them.
var hard = []string{
	"-- scenario.yaml --", "-- --", "-- x --\r", "a\r", "\r\n", "a\nb",
	"!0000000 000", "!!int 1", "&a", "*a", "<<", "=", "@", "`", "|", ">", "?", "-", "---", "...",
	"#", "null", "~", "yes", "007", "0x1F", "1e3", "1_000", "18446744073709551616", "2001-01-01",
	" lead", "trail ", "\t", "a: b", "a #b", "- a", ": ", "a,b", "a]", "{a: b}", "[a]", "%YAML 1.1",
	"'", `"`, `\`, `\n`, "\x00", "\x7f", "\u0085", "\u00a0", "\u2028",
	"\ufeff", "\ufffe", "\ufffd", "é", "😀", "\xff", "\xef\xbf", "a\xc3",
	"k1=42", "input/0:7", "", "a", "plain words", strings.Repeat("x", 250),
}

func drawBytes(r *rand.Rand) string {
	text := hard[r.IntN(len(hard))]
	for r.IntN(3) == 0 {
		text += hard[r.IntN(len(hard))]
	}
	return text
}

// drawText is text of lines.
func drawText(r *rand.Rand) string {
	var b strings.Builder
	for range r.IntN(5) {
		b.WriteString(strings.ReplaceAll(drawBytes(r), "\r", ""))
		b.WriteByte('\n')
	}
	return b.String()
}

func drawLineText(r *rand.Rand) string {
	if text := oneLine(drawBytes(r)); text != "" {
		return text
	}
	return "test"
}

// A scenario made by hand may hold what no file can: the nearest that can be is written.
func TestFormat_Normalizes(t *testing.T) {
	s := &Scenario{Name: "\x00\n", Prose: "-- a --\r\n\n", Topology: &Pipeline,
		Mode: &model.Mode{Name: "at-least-once"}, Trace: "\n-- --",
		Recorded: &Recorded{Signature: "a\nb", Format: -1}}
	again := mustParse(t, string(Format(testLibrary(), s)))
	assert.Equal(t, "__", again.Name)
	assert.Equal(t, " -- a --", again.Prose)
	assert.Equal(t, "\n -- --\n", again.Trace)
	assert.Equal(t, &Recorded{Signature: "a_b"}, again.Recorded)
}

// A topology that is not in the library is written inline.
func TestFormat_UnknownTopology(t *testing.T) {
	other := Pipeline
	other.Name = "mine"
	s := &Scenario{Name: "test", Topology: &other, Mode: testLibrary().Modes[0]}
	again := mustParse(t, string(Format(testLibrary(), s)))
	assert.Equal(t, &other, again.Topology)
	assert.True(t, again.Inline)
}

// Replacing a section leaves all else, comments included, byte by byte.
func TestReplaceSection(t *testing.T) {
	data, err := os.ReadFile("testdata/everything.sim")
	require.NoError(t, err)
	before := string(data)

	assert.Equal(t, before, string(ReplaceSection(data, "trace", "  t  op\n  1  x\n")))
	assert.Equal(t, strings.Replace(before, "  1  x\n", "  2  y\n -- x --\n", 1),
		string(ReplaceSection(data, "trace", "  t  op\n  2  y\n-- x --")))
	assert.Equal(t, before+"-- more --\ntext\n", string(ReplaceSection(data, "more", "text")))
	assert.Panics(t, func() { ReplaceSection([]byte("-- --\n"), "trace", "") })
}
