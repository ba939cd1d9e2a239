package search_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/scenarios"
	"github.com/oncesim/oncesim/search"
)

// small is a result file with failures: a header, blocks of one seed, a footer.
func small(t *testing.T, opts search.Sweeping) []byte {
	opts.First, opts.Last, opts.Workers = 1, 60, 1
	return newSweeper(t).file(opts, nil, 0)
}

// What is not as it was written is refused, with the line.
func TestReadResults_Garbage(t *testing.T) {
	file := string(small(t, search.Sweeping{}))
	lines := strings.SplitAfter(file, "\n")
	fail := 1
	for !strings.Contains(lines[fail], `"kind":"fail"`) {
		fail++
	}
	replaced := func(at int, old, now string) string {
		require.Contains(t, lines[at], old)
		return strings.Join(lines[:at], "") + strings.Replace(lines[at], old, now, 1) +
			strings.Join(lines[at+1:], "")
	}
	for _, tc := range []struct{ text, want string }{
		{"hello\n", `^x:1: no line of results: "hello": `},
		{"\n", `^x:1: no line of results: ""`},
		{"{}\n", `^x:1: a line of kind "", expected the header first$`},
		{strings.Join(lines[1:], ""), `^x:1: a line of kind "pass", expected the header first$`},
		{replaced(1, `"pass"`, `"past"`), `^x:2: unknown kind "past"`},
		{replaced(1, `"held"`, `"hold"`), `^x:2: .*unknown field "hold"`},
		{replaced(1, `"seeds":"1-1"`, `"seeds":"1-2"`), `^x:2: seeds "1-2" are no block of 1-60`},
		{replaced(1, `"seeds":"1-1"`, `"seeds":"61-61"`), `^x:2: seeds "61-61" are no block`},
		{replaced(1, `"seeds":"1-1"`, `"seeds":"one"`), `^x:2: seeds "one" are no block`},
		{replaced(1, `"runs":1`, `"runs":2`), `^x:2: counts of seeds 1-1 do not add up$`},
		{replaced(1, `"mode":"`, `"mode":"x`), `^x:2: the header has no pipeline-three under x`},
		{replaced(1, `"xor":"`, `"xor":"x`), `^x:2: xor "x.*", expected 16 hex digits$`},
		{replaced(1, `,"xor"`, `,"crashes":{"moon":1},"xor"`), `^x:2: crashes in an unknown gap`},
		{replaced(fail, `"signature":"`, `"signature":"x`),
			`^x:\d+: seed \d+: the block of seeds \S+ counts no such failure, violated xboast_`},
		{replaced(fail, `"verdict":"`, `"verdict":"x`), `counts no such failure, xviolated boast_`},
		{replaced(fail, `"verdict":"violated"`, `"verdict":"unknown"`), `counts no such failure`},
		{replaced(fail, `"seed":`, `"seed":9`), `seed 9\d+ is not in the header$`},
		{replaced(fail, `"mode":"`, `"mode":"x`), `is not in the header$`},
		{strings.Join(slices.DeleteFunc(slices.Clone(lines), func(line string) bool {
			return strings.Contains(line, `"kind":"fail"`)
		}), ""), `^x: \d+ failures \S+ are counted, and none has a line$`},
		{replaced(0, `"format":1`, `"format":2`), `^x:1: format 2, expected 1$`},
		{replaced(0, `"faults":3`, `"faults":4`), `^x:1: manifest \w+, and its lines give \w+$`},
		{replaced(0, `"seeds":"1-60"`, `"seeds":"60-1"`), `^x:1: seeds "60-1"$`},
		{replaced(0, `"block":1`, `"block":0`), `^x:1: a header without a block`},
	} {
		_, _, err := search.ReadResults("x", strings.NewReader(tc.text))
		require.Regexp(t, tc.want, err)
	}
}

// A block is known by one bit, so that one far behind the first is refused, not made room for.
func TestReadResults_FarAway(t *testing.T) {
	skipLongBlocks(t)
	w := newSweeper(t)
	opts := search.Sweeping{First: 0, Last: 1<<64 - 2, Workers: 1}
	file := w.file(opts, nil, 2) // the header and one block
	r, _ := w.read(file)
	first := r.Header.Block << 30
	far := strings.Replace(string(file), fmt.Sprintf(`"0-%d"`, r.Header.Block-1),
		fmt.Sprintf(`"%d-%d"`, first, first+r.Header.Block-1), 1)
	require.NotEqual(t, string(file), far)
	_, _, err := search.ReadResults("x", strings.NewReader(far))
	require.ErrorContains(t, err, "are more than 1073741824 blocks behind the first")
}

// Whatever a file holds is read or refused. What is read is written so that it is read again, to
// the same bytes.
func FuzzReadResults(f *testing.F) {
	f.Add([]byte(`{"kind":"header"`))
	lib := scenarios.Builtin()
	mode := lib.Modes[2]
	s := &scenarios.Scenario{Name: "pipeline", Topology: lib.Topologies[0], Mode: mode, Seed: 1}
	for _, any := range []bool{false, true} {
		var file []byte
		sweep, err := search.NewSweep(lib, search.Units(lib, s, lib.Modes[2:3], nil),
			search.Sweeping{First: 1, Last: 3, Any: any, Write: func(lines []byte) error {
				file = append(file, lines...)
				return nil
			}})
		require.NoError(f, err)
		require.NoError(f, sweep.Run(context.Background()))
		require.NoError(f, sweep.Finish())
		f.Add(file)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, _, err := search.ReadResults("x", bytes.NewReader(data))
		if err != nil || r == nil {
			return
		}
		var once, twice strings.Builder
		require.NoError(t, r.Write(&once))
		again, whole, err := search.ReadResults("y", strings.NewReader(once.String()))
		require.NoError(t, err)
		require.EqualValues(t, once.Len(), whole)
		require.NoError(t, again.Write(&twice))
		require.Equal(t, once.String(), twice.String())
	})
}

// A file without a whole line has no results, and one that ends in the middle of a line has those
// of the lines before.
func TestReadResults_Torn(t *testing.T) {
	file := small(t, search.Sweeping{})
	step := 1
	if underRace {
		step = 11 // one goroutine reads
	}
	for n := 0; n < len(file); n += step {
		if n > 2_000 && n < len(file)-500 {
			continue
		}
		r, whole, err := search.ReadResults("x", bytes.NewReader(file[:n]))
		require.NoError(t, err)
		require.Equal(t, bytes.LastIndexByte(file[:n], '\n')+1, int(whole))
		require.Equal(t, whole == 0, r == nil)
	}
}

// Results of another sweep are refused, and the message says what is another.
func TestResults_OtherSweep(t *testing.T) {
	w := newSweeper(t)
	mine, _ := w.read(small(t, search.Sweeping{}))
	for _, tc := range []struct {
		opts search.Sweeping
		want string
	}{
		{search.Sweeping{Faults: 2}, `--faults 3, not 2; plans of .*`},
		{search.Sweeping{Any: true}, `--any false, not true`},
		{search.Sweeping{FailuresMax: 1}, `--max-failures 10, not 1`},
		{search.Sweeping{Version: "v1.2.3"}, `version , not v1.2.3`},
	} {
		file := small(t, tc.opts)
		other, _, err := search.ReadResults("other", bytes.NewReader(file))
		require.NoError(t, err)
		_, err = search.MergeResults([]*search.Results{mine, other})
		require.Regexp(t, `^x.jsonl and other are of different sweeps: `+tc.want, err)
		s, err := search.NewSweep(w.lib, w.units, search.Sweeping{First: 1, Last: 60})
		require.NoError(t, err)
		require.ErrorContains(t, s.Resume(other), "it has another sweep: ")
	}
	other, _ := w.read(w.file(search.Sweeping{First: 1, Last: 61}, nil, 0))
	_, err := search.MergeResults([]*search.Results{mine, other})
	require.ErrorContains(t, err, "seeds 1-60, not 1-61")

	longer := newSweeper(t)
	longer.units[1].Scenario.Input.Records = 2
	other, _ = w.read(longer.file(search.Sweeping{First: 1, Last: 60}, nil, 0))
	_, err = search.MergeResults([]*search.Results{mine, other})
	require.ErrorContains(t, err, "content of pipeline-three under snapshot ")

	shard, _ := w.read(small(t, search.Sweeping{Shard: 1, Shards: 2}))
	s, err := search.NewSweep(w.lib, w.units, search.Sweeping{First: 1, Last: 60, Shard: 2,
		Shards: 2})
	require.NoError(t, err)
	require.EqualError(t, s.Resume(shard), `it has shard "1/2", not "2/2"`)
}

// Where two files have run the same seeds they must have the same hashes and the same verdicts. The
// files that are named are those that contradict each other, in the order given.
func TestMergeResults_Differing(t *testing.T) {
	w := newSweeper(t)
	lines := strings.SplitAfter(string(small(t, search.Sweeping{})), "\n")
	file := strings.Join(lines[:len(lines)-2], "") // without its footer
	pass := func(field string) *regexp.Regexp {
		return regexp.MustCompile(`(?m)^(\{"kind":"pass".*` + field + `)`)
	}
	fail := func(field string) *regexp.Regexp {
		return regexp.MustCompile(`(?m)^(\{"kind":"fail".*"` + field + `":)`)
	}
	const named = `^a and c: pipeline-three under \w+, seed`
	for _, tc := range []struct {
		changed, want string
	}{
		{first(pass(`"xor":"`), file, `\w{4}`, "0000"), named + `s \d+-\d+: two runs differ, ha`},
		{first(pass(`"events":`), file, ``, "9"), `differ in what was judged of the same traces, `},
		{first(pass(`"crashes":\{"`), file, `\w+`, "notify"), `in where crashes fell in the same`},
		{first(fail("hash"), file, `"\w{4}`, `"0000`), named + ` \d+: two .*, hashes .* and 0000`},
		{first(fail("events"), file, ``, "9"), named + ` \d+: two runs differ`},
		{first(fail("faults"), file, `\[`, `["crash op/0 at 9ms",`), named + ` \d+: two runs dif`},
	} {
		require.NotEqual(t, file, tc.changed)
		var parts []*search.Results
		for i, text := range []string{file, lacking(file, tc.changed), tc.changed} {
			r, _, err := search.ReadResults(string("abc"[i]), strings.NewReader(text))
			require.NoError(t, err)
			parts = append(parts, r)
		}
		_, err := search.MergeResults(parts)
		require.Regexp(t, tc.want, err)
		require.Regexp(t, "^a and c: ", err)
		var d *search.Differing
		require.True(t, errors.As(err, &d))
		parts[0], parts[1] = parts[1], parts[0]
		_, err = search.MergeResults(parts)
		require.Regexp(t, "^a and c: ", err, "the first file does not have the run")
		_, _, err = search.ReadResults("both", strings.NewReader(file+tc.changed))
		require.Regexp(t, `^both:\d+: .*two runs differ`, err)
	}
	require.Equal(t, w.merged([]byte(file)), w.merged([]byte(file), []byte(file)))
}

// lacking is a file without the line that is another one in a changed file.
func lacking(file, changed string) (text string) {
	others := strings.SplitAfter(changed, "\n")
	for i, line := range strings.SplitAfter(file, "\n") {
		if line == others[i] {
			text += line
		}
	}
	return text
}

// first puts a text in the place of another behind the first match.
func first(at *regexp.Regexp, file, old, now string) string {
	end := at.FindStringIndex(file)[1]
	rest := regexp.MustCompile(`^`+old).ReplaceAllLiteralString(file[end:], now)
	return file[:end] + rest
}

// Of one trace that failed in different ways the ways are told, not counts that are the same.
func TestMergeResults_DifferingSignatures(t *testing.T) {
	file := string(small(t, search.Sweeping{}))
	find := func(pattern, text string) string {
		found := regexp.MustCompile(`(?m)` + pattern).FindStringSubmatch(text)
		return found[len(found)-1]
	}
	pass := find(`^\{"kind":"pass".*"signatures":\{"boast_[^"]*".*\n`, file)
	header, signature := find(`^.*`, file), find(`boast_[^"]*`, pass)
	fail := find(`^\{"kind":"fail".*"seed":`+find(`"seeds":"(\d+)-`, pass)+`,.*\n`, file)
	one := header + "\n" + fail + pass
	other := strings.ReplaceAll(one, signature, "boast_other=loss")
	var parts []*search.Results
	for i, text := range []string{one, other} {
		r, _, err := search.ReadResults(string("ab"[i]), strings.NewReader(text))
		require.NoError(t, err)
		parts = append(parts, r)
	}
	_, err := search.MergeResults(parts)
	require.ErrorContains(t, err,
		"in how often the same traces failed in which way, map["+signature)
}

// A footer that does not say what the lines above it come to is refused, and so is a line that has
// no end. Files behind each other have a footer each.
func TestReadResults_Footer(t *testing.T) {
	w := newSweeper(t)
	file := string(small(t, search.Sweeping{}))
	lines := strings.SplitAfter(file, "\n")
	foot := len(lines) - 2
	require.Contains(t, lines[foot], `"kind":"footer"`)
	for _, tc := range []string{`"runs":120`, `"held":`, `"failed":`, `"events":`,
		`"complete":true`} {
		name, _, _ := strings.Cut(tc, ":")
		now := name + ":7"
		if tc == `"complete":true` {
			now = `"complete":false`
		} else {
			tc = regexp.MustCompile(name + `:\d+`).FindString(lines[foot])
		}
		text := strings.Join(lines[:foot], "") + strings.Replace(lines[foot], tc, now, 1)
		_, _, err := search.ReadResults("x", strings.NewReader(text))
		require.Regexp(t, fmt.Sprintf(`^x:%d: the footer says .* come to `, foot+1), err)
	}
	without := strings.Join(lines[:1], "") + strings.Join(lines[2:], "")
	_, _, err := search.ReadResults("x", strings.NewReader(without))
	require.ErrorContains(t, err, "the footer says", "a line is gone")
	r, _, err := search.ReadResults("x", strings.NewReader(file+file))
	require.NoError(t, err)
	require.EqualValues(t, 120, r.Total().Runs)
	shard := w.file(search.Sweeping{First: 1, Last: 60, Shard: 2, Shards: 3}, nil, 0)
	_, _, err = search.ReadResults("x", strings.NewReader(file+string(shard)))
	require.NoError(t, err)
}

// A line that never ends is refused before it is in memory.
func TestReadResults_EndlessLine(t *testing.T) {
	_, _, err := search.ReadResults("x", &endless{begin: string(small(t, search.Sweeping{}))})
	require.Regexp(t, `^x:\d+: no line of results: it is longer than 16777216 bytes$`, err)
}

// endless is a file with zeros behind its begin.
type endless struct {
	begin string
	read  int
}

func (e *endless) Read(p []byte) (int, error) {
	n := copy(p, e.begin)
	e.begin = e.begin[n:]
	clear(p[n:])
	if e.read += len(p); e.read > 100<<20 {
		return 0, errors.New("read on and on")
	}
	return len(p), nil
}

// A failure of which its own block knows nothing is refused, wherever its line stands.
func TestReadResults_FailureOutsideOfItsBlock(t *testing.T) {
	lines := strings.SplitAfter(string(small(t, search.Sweeping{})), "\n")
	at := slices.IndexFunc(lines, func(line string) bool {
		return strings.Contains(line, `"kind":"fail"`)
	})
	held := slices.IndexFunc(lines, func(line string) bool {
		return strings.Contains(line, `"mode":"boast"`) && strings.Contains(line, `"held":1`)
	})
	seed := regexp.MustCompile(`"seeds":"(\d+)-`).FindStringSubmatch(lines[held])[1]
	moved := regexp.MustCompile(`"seed":\d+`).ReplaceAllString(lines[at], `"seed":`+seed)
	for _, place := range []int{held, held + 1} {
		text := strings.Join(slices.Insert(slices.Clone(lines), place, moved), "")
		_, _, err := search.ReadResults("x", strings.NewReader(text))
		require.Regexp(t, fmt.Sprintf(`^x:%d: seed %s: the block of seeds %s-%s counts no such`,
			held+2, seed, seed, seed), err)
	}
}

// What was not run is named by its seeds; what another shard has is not missing.
func TestResults_Missing(t *testing.T) {
	w := newSweeper(t)
	opts := search.Sweeping{First: 1, Last: 10, Workers: 1}
	opts.Shard, opts.Shards = 2, 3
	shard, _ := w.read(w.file(opts, nil, 0))
	n, ranges := shard.Missing(0)
	require.Zero(t, n)
	require.Empty(t, ranges)
	require.True(t, shard.IsComplete())

	all, err := search.MergeResults([]*search.Results{shard})
	require.NoError(t, err)
	n, ranges = all.Missing(1)
	require.EqualValues(t, 7, n)
	require.Equal(t, []string{"1-1", "3-4", "6-7 and others"}, ranges)
	require.False(t, all.IsComplete())

	shards := bytes.Replace(w.file(search.Sweeping{First: 1, Last: 10, Shard: 1, Shards: 2}, nil,
		0), []byte(`"shard":"1/2"`), []byte(`"shard":"2/2"`), 1)
	_, _, err = search.ReadResults("x", bytes.NewReader(shards))
	require.EqualError(t, err, "x:2: seeds 1-1 are not of shard 2/2")
}

// However many seeds there are, what is missing is told at once.
func TestResults_MissingOfMany(t *testing.T) {
	skipLongBlocks(t)
	w := newSweeper(t)
	opts := search.Sweeping{First: 2, Last: 1<<64 - 1, Workers: 1}
	all, _ := w.read(w.file(opts, nil, 4)) // the header and three blocks
	n, ranges := all.Missing(1)
	require.EqualValues(t, uint64(1<<64-2)-all.Header.Block, n)
	require.Equal(t, []string{fmt.Sprintf("%d-18446744073709551615", 2+all.Header.Block)}, ranges)
	opts.Shard, opts.Shards = 7, 9
	all, _ = w.read(w.file(opts, nil, 4))
	_, ranges = all.Missing(1)
	require.Len(t, ranges, 3)
}

// skipLongBlocks leaves out, under the race detector, a test whose seeds have no end: without one
// blocks are of thousands of runs.
func skipLongBlocks(t *testing.T) {
	if underRace {
		t.Skip("takes long under the race detector")
	}
}

// Without a last seed what is missing is below the last that was run.
func TestSweep_Open(t *testing.T) {
	skipLongBlocks(t)
	w := newSweeper(t)
	opts := search.Sweeping{First: 3, IsOpen: true, Workers: 1}
	file := w.file(opts, nil, 4) // the header and three blocks
	r, _ := w.read(file)
	require.True(t, r.IsOpen())
	require.Equal(t, "3-", r.Header.Seeds)
	block := r.Header.Block
	require.EqualValues(t, 3*block, r.Total().Runs)
	n, _ := r.Missing(0)
	require.Zero(t, n)
	n, ranges := r.Missing(1)
	require.EqualValues(t, block, n)
	require.Len(t, ranges, 1)

	longer, _ := w.read(w.file(opts, file, 1))
	require.Greater(t, longer.Total().Runs, r.Total().Runs)
	require.True(t, longer.IsComplete())
	opts.IsOpen, opts.Last = false, 10
	s, err := search.NewSweep(w.lib, w.units, opts)
	require.NoError(t, err)
	require.ErrorContains(t, s.Resume(longer), "seeds 3-, not 3-10")
}

// Blocks of a sweep without a last seed are small at first and grow; they have every seed once, and
// a line of any of them is known by its seeds.
func TestSweep_OpenBlocksGrow(t *testing.T) {
	for _, first := range []uint64{0, 7} {
		h := search.OpenHeader(first, 3)
		next, sizes := first, map[uint64]int{}
		for block := range uint64(200) {
			from, upTo := search.SeedsOf(h, block)
			require.Equal(t, next, from)
			next = upTo + 1
			sizes[upTo-from+1]++
			got, ok := search.BlockOf(h, from, upTo)
			require.True(t, ok)
			require.Equal(t, block, got)
			_, ok = search.BlockOf(h, from, upTo+1)
			require.False(t, ok)
			_, ok = search.BlockOf(h, from+1, upTo)
			require.False(t, ok)
		}
		require.Equal(t, map[uint64]int{3: 16, 6: 16, 12: 16, 24: 16, 48: 16, 96: 120}, sizes)
	}
}

// Of a sweep without a last seed each shard has what the others do not have, over growing blocks.
func TestSweep_OpenShards(t *testing.T) {
	skipLongBlocks(t)
	w := newSweeper(t)
	w.units = w.units[1:]
	var parts [][]byte
	for k := range uint64(3) {
		opts := search.Sweeping{First: 3, IsOpen: true, Workers: 1, Shard: k + 1, Shards: 3}
		file := w.file(opts, nil, 8) // the header and seven blocks: beyond the sixteenth of all
		r, _ := w.read(file)
		n, _ := r.Missing(0)
		require.Zero(t, n)
		require.True(t, r.IsComplete())
		parts = append(parts, file)
	}
	all, _ := w.read([]byte(w.merged(parts...)))
	require.EqualValues(t, (16+2*5)*all.Header.Block, all.Units[0].Runs)
	n, ranges := all.Missing(0)
	require.Zero(t, n, ranges)
	two, _ := w.read([]byte(w.merged(parts[0], parts[2])))
	n, _ = two.Missing(0)
	require.EqualValues(t, (5+2*2)*all.Header.Block, n)
}

// Results lack what any unit lacks.
func TestResults_IncompleteInAnyUnit(t *testing.T) {
	w := newSweeper(t)
	opts := search.Sweeping{First: 1, Last: 3, Workers: 1}
	file := strings.SplitAfter(string(w.file(opts, nil, 0)), "\n")
	for unit, mode := range []string{"boast", "snapshot"} {
		var text string
		for _, line := range file[:len(file)-2] {
			if !strings.Contains(line, `"seeds":"2-2"`) || !strings.Contains(line, mode) ||
				strings.Contains(line, `"header"`) {
				text += line
			}
		}
		r, _ := w.read([]byte(text))
		n, _ := r.Missing(unit)
		require.EqualValues(t, 1, n)
		require.False(t, r.IsComplete())
	}
}

// What was saved as a file is known from then on.
func TestSweep_Save(t *testing.T) {
	w := newSweeper(t)
	var file bytes.Buffer
	opts := search.Sweeping{First: 1, Last: 60, Write: func(lines []byte) error {
		file.Write(lines)
		return nil
	}}
	s, err := search.NewSweep(w.lib, w.units, opts)
	require.NoError(t, err)
	require.NoError(t, s.Run(context.Background()))
	f := s.Results().Units[0].Groups()[0].Fastest
	require.NoError(t, s.Save(f, "small.sim"))
	require.NoError(t, s.Finish())
	r, _ := w.read(file.Bytes())
	require.Equal(t, "small.sim", r.Units[0].Groups()[0].Fastest.File)
	require.Contains(t, w.merged(file.Bytes()), `"file":"small.sim"`)
}

func TestParseShard(t *testing.T) {
	for text, want := range map[string][2]uint64{"1/1": {1, 1}, "2/8": {2, 8}, "8/8": {8, 8},
		"0/8": {}, "9/8": {}, "1": {}, "": {}, "1/0": {}, "-1/8": {}, "1/8/8": {}, "a/b": {}} {
		shard, shards, ok := search.ParseShard(text)
		require.Equal(t, want, [2]uint64{shard, shards}, text)
		require.Equal(t, want[1] > 0, ok)
	}
}
