package scenarios

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/oncesim/oncesim/model"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// ordered lists the records of an input in the order of its lines.
func ordered(in *model.Input) []model.Record {
	var list []model.Record
	for i := range in.Total() {
		part := in.Parts[i%len(in.Parts)]
		list = append(list, part.Records[i/len(in.Parts)])
	}
	return list
}

// texts lists the lines of an input; one without text is shown by its number.
func texts(in *model.Input) []string {
	var list []string
	for _, r := range ordered(in) {
		text := r.Value.Text
		if text == "" {
			text = r.Value.String()
		}
		list = append(list, text)
	}
	return list
}

func mustLoad(t testing.TB, s *Scenario) (*model.Input, InputStats) {
	t.Helper()
	in, stats, err := testLibrary().LoadInput(s)
	require.NoError(t, err)
	return in, stats
}

// withInput is a scenario whose topology has two partitions.
func withInput(decoder string, spec InputSpec) *Scenario {
	t := PageViews
	t.Decoder = decoder
	return &Scenario{Topology: &t, Input: spec, Seed: 7}
}

// fromFile is a scenario that reads a new file.
func fromFile(t testing.TB, decoder, content string) *Scenario {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "in.log"), []byte(content), 0o600))
	return withInput(decoder, InputSpec{Kind: InputFile, Path: "in.log", Dir: dir})
}

func TestLoadInput_PlacesLinesRoundRobin(t *testing.T) {
	in, stats := mustLoad(t, withInput("lines", InputSpec{Kind: InputInline,
		Lines: []string{"a", "b", "c", "k1=4", "e"}, Every: 5}))
	require.Len(t, in.Parts, 2)
	assert.Equal(t, []model.Record{
		{ID: model.ID{Part: 0, Offset: 0}, Value: model.Value{Num: 1, Text: "a"}},
		{ID: model.ID{Part: 0, Offset: 1}, Value: model.Value{Num: 3, Text: "c"}},
		{ID: model.ID{Part: 0, Offset: 2}, Value: model.Value{Num: 5, Text: "e"}},
	}, in.Parts[0].Records)
	assert.Equal(t, []model.Record{
		{ID: model.ID{Part: 1, Offset: 0}, Value: model.Value{Num: 2, Text: "b"}},
		{ID: model.ID{Part: 1, Offset: 1}, Value: model.Value{Num: 4, Text: "k1=4"}},
	}, in.Parts[1].Records)
	assert.EqualValues(t, 5, in.Parts[1].Every)
	assert.Equal(t, InputStats{Records: 5}, stats)
}

func TestLoadInput_Sample(t *testing.T) {
	in, stats := mustLoad(t, &Scenario{Topology: &PageViews})
	assert.Equal(t, 1000, in.Total())
	assert.Equal(t, InputStats{Records: 1000}, stats)
	assert.EqualValues(t, everyDefault, in.Parts[0].Every)

	in, _ = mustLoad(t, &Scenario{Topology: &PageViews, Input: InputSpec{Records: 3}})
	assert.Equal(t, textLines(accessLog)[:3], texts(in))
}

// Without a decoder, a line can say everything that a generated record has.
func TestLoadInput_Pairs(t *testing.T) {
	lines := []string{"k1=42", "a=-1", "9223372036854775807=0", "=1", "k1=", "k1=+1", "k1=1.5",
		"a b=1", "k=9223372036854775808", "k==1"}
	in, _ := mustLoad(t, withInput("", InputSpec{Kind: InputInline, Lines: lines}))
	got := ordered(in)
	for i, want := range []model.Record{{Key: "k1", Value: model.Value{Num: 42}},
		{Key: "a", Value: model.Value{Num: -1}}, {Key: "9223372036854775807"}} {
		assert.Equal(t, want.Key, got[i].Key)
		assert.Equal(t, want.Value, got[i].Value)
	}
	for i := 3; i < len(lines); i++ {
		assert.Equal(t, model.Value{Num: int64(i + 1), Text: lines[i]}, got[i].Value)
		assert.Empty(t, got[i].Key)
	}
}

// A longer input begins with the shorter one, and every seed has the same.
func TestLoadInput_Generated(t *testing.T) {
	load := func(seed uint64, n int) []model.Record {
		s := withInput("", InputSpec{Kind: InputGenerated, Records: n})
		s.Seed = seed
		in, _ := mustLoad(t, s)
		return ordered(in)
	}
	long := load(1, 1000)
	assert.Equal(t, long[:10], load(1, 10))
	assert.Equal(t, long[:10], load(2, 10))
	assert.Len(t, load(1, 0), generatedDefault)
	keys := make(map[string]int)
	for _, r := range long {
		keys[r.Key]++
		assert.Empty(t, r.Value.Text)
		assert.GreaterOrEqual(t, r.Value.Num, int64(1))
		assert.LessOrEqual(t, r.Value.Num, int64(100))
	}
	assert.Len(t, keys, 4)
	for _, key := range []string{"k0", "k1", "k2", "k3"} {
		assert.Greater(t, keys[key], 200, "%s", key)
	}
}

// The draws are part of every recorded run: a change must be meant.
func TestLoadInput_GeneratedGolden(t *testing.T) {
	in, _ := mustLoad(t, withInput("", InputSpec{Kind: InputGenerated, Records: 6}))
	var got []string
	for _, r := range ordered(in) {
		got = append(got, r.Key+"="+r.Value.String())
	}
	assert.Equal(t, "k1=12 k3=2 k0=89 k0=18 k2=70 k0=45", strings.Join(got, " "))
}

// With a decoder, generated records are lines that it can read.
func TestLoadInput_GeneratedFromSample(t *testing.T) {
	in, stats := mustLoad(t, withInput("clf", InputSpec{Kind: InputGenerated, Records: 50}))
	assert.Equal(t, InputStats{Records: 50}, stats)
	for i, r := range ordered(in) {
		assert.True(t, CLF.Valid(r.Value.Text))
		assert.EqualValues(t, i+1, r.Value.Num)
	}
}

func TestLoadInput_File(t *testing.T) {
	long := strings.Repeat("x", lineMax)
	cases := []struct {
		title, content string
		want           []string
	}{
		{"line ends of Unix", "a\nb\n", []string{"a", "b"}},
		{"line ends of Windows", "a\r\nb\r\n", []string{"a", "b"}},
		{"no end of the last line", "a\r\nb", []string{"a", "b"}},
		{"empty lines", "a\n\nb\n\n", []string{"a", "2", "b", "4"}},
		{"carriage returns elsewhere", "a\rb\r\r\n", []string{"a\rb\r"}},
		{"a carriage return at the end of the file", "a\nb\r", []string{"a", "b"}},
		{"the longest line", long + "\r\nb\n", []string{long, "b"}},
		{"the longest line at the end", "a\n" + long, []string{"a", long}},
		{"too long a line", "a\n" + long + "x\nb\n", []string{"a", "-2", "b"}},
		{"too long a line at the end", "a\n" + long + long, []string{"a", "-2"}},
		{"two of them", long + "x\n" + long + "x\r\nb", []string{"-1", "-2", "b"}},
		{"Latin-1", "caf\xe9\n", []string{"caf\xe9"}},
	}
	for _, c := range cases {
		t.Run(c.title, func(t *testing.T) {
			in, stats := mustLoad(t, fromFile(t, "", c.content))
			assert.Equal(t, c.want, texts(in))
			assert.EqualValues(t, len(c.content), stats.Bytes)
			sum := sha256.Sum256([]byte(c.content))
			assert.Equal(t, hex.EncodeToString(sum[:]), stats.SHA256)
			assert.Equal(t, stats.TooLong, stats.Malformed)
			assert.Equal(t, strings.Count(strings.Join(c.want, ""), "-"), stats.TooLong)
		})
	}
}

func TestLoadInput_CountsMalformedLines(t *testing.T) {
	lines := textLines(accessLog)
	s := fromFile(t, "clf", lines[0]+"\nbroken\n"+lines[1]+"\n\n")
	in, stats := mustLoad(t, s)
	assert.Equal(t, 4, in.Total())
	assert.Equal(t, 2, stats.Malformed)
	assert.Equal(t, 2, in.Malformed)
	assert.Equal(t, model.Value{Num: 2, Text: "broken"}, ordered(in)[1].Value)
}

// Only the lines that are wanted are read; a hash is verified over all of the file.
func TestLoadInput_Records(t *testing.T) {
	s := fromFile(t, "", strings.Repeat("a\n", 100_000))
	s.Input.Records = 3
	in, stats := mustLoad(t, s)
	assert.Equal(t, 3, in.Total())
	assert.Empty(t, stats.SHA256)

	sum := sha256.Sum256([]byte(strings.Repeat("a\n", 100_000)))
	s.Input.SHA256 = hex.EncodeToString(sum[:])
	in, stats = mustLoad(t, s)
	assert.Equal(t, 3, in.Total())
	assert.EqualValues(t, 200_000, stats.Bytes)
}

func TestLoadInput_AbsolutePath(t *testing.T) {
	s := fromFile(t, "", "a\n")
	s.Input.Path, s.Input.Dir = filepath.Join(s.Input.Dir, "in.log"), "elsewhere"
	in, _ := mustLoad(t, s)
	assert.Equal(t, 1, in.Total())
}

func TestLoadInput_Empty(t *testing.T) {
	for _, s := range []*Scenario{
		fromFile(t, "clf", ""),
		withInput("clf", InputSpec{Kind: InputInline}),
	} {
		_, _, err := testLibrary().LoadInput(s)
		require.ErrorIs(t, err, ErrEmptyInput)
		var bad *InputError
		require.ErrorAs(t, err, &bad)
	}
}

func TestLoadInput_BadFiles(t *testing.T) {
	directory := withInput("clf", InputSpec{Kind: InputFile, Dir: t.TempDir(), Path: "."})
	missing := withInput("clf", InputSpec{Kind: InputFile, Dir: t.TempDir(), Path: "no.log"})
	changed := fromFile(t, "clf", "a\n")
	changed.Input.SHA256 = strings.Repeat("0", 64)
	cases := []struct {
		title string
		s     *Scenario
		want  string
	}{
		{"directory", directory, `PATH: is a directory, expected a file`},
		{"missing", missing, `PATH: cannot be read: no such file or directory`},
		{"zero byte", fromFile(t, "clf", "a\nb\x00"),
			`PATH: binary content, expected text: byte 4 is zero`},
		{"no UTF-8", fromFile(t, "clf", strings.Repeat("\xff\xfe", 9)+"\n"),
			`PATH: binary content, expected text: most of it is not UTF-8`},
		{"another format", fromFile(t, "clf", "time,path\n1,/\n"),
			`PATH:1: no line is well formed for the decoder "clf", the first is "time,path"`},
		{"one endless line", fromFile(t, "", strings.Repeat("x", lineMax+1)),
			`PATH:1: every line is longer than 1048576 bytes, expected text`},
		{"changed", changed, `PATH: has SHA-256 ` +
			`87428fc522803d31065e7bce3cf03fe475096631e5e07bbd7a0fde60c4cf25c7, expected ` +
			strings.Repeat("0", 64)},
		{"unknown decoder", withInput("clv", InputSpec{Kind: InputInline, Lines: []string{"a"}}),
			`topology page-views: unknown decoder "clv", expected lines, clf; did you mean "clf"?`},
		{"no sample to draw from", &Scenario{Topology: &model.Topology{Name: "t", Decoder: "clf"}},
			`topology t: has a decoder and no sample, so records cannot be generated, ` +
				`expected lines or a file`},
		{"too long a time", &Scenario{Topology: &Pipeline, Input: InputSpec{Kind: InputGenerated,
			Records: 2000, Every: everyMax}},
			`input: 2000 records each 1000s, expected the last to arrive within 1000000s`},
		{"no line inline", withInput("clf", InputSpec{Kind: InputInline, Lines: []string{"a"}}),
			`inline input:1: no line is well formed for the decoder "clf", the first is "a"`},
	}
	for _, c := range cases {
		t.Run(c.title, func(t *testing.T) {
			in, _, err := testLibrary().LoadInput(c.s)
			require.Nil(t, in)
			var bad *InputError
			require.ErrorAs(t, err, &bad)
			path := filepath.Join(c.s.Input.Dir, c.s.Input.Path)
			assert.EqualError(t, err, strings.Replace(c.want, "PATH", path, 1))
			assert.NotErrorIs(t, err, ErrEmptyInput)
		})
	}
	_, _, err := testLibrary().LoadInput(missing)
	require.ErrorIs(t, err, os.ErrNotExist)
}

// The text is not copied: each line of a file is a slice of one buffer.
func TestLoadInput_Allocations(t *testing.T) {
	s := &Scenario{Topology: &PageViews}
	lib := testLibrary()
	allocs := testing.AllocsPerRun(10, func() {
		_, _, err := lib.LoadInput(s)
		require.NoError(t, err)
	})
	assert.Less(t, allocs, 40.0)
}

func BenchmarkLoadInput(b *testing.B) {
	s := fromFile(b, "clf", strings.Repeat(accessLog, 100))
	lib := testLibrary()
	b.SetBytes(int64(100 * len(accessLog)))
	b.ReportAllocs()
	for b.Loop() {
		_, _, err := lib.LoadInput(s)
		require.NoError(b, err)
	}
}
