package scenarios

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/oncesim/oncesim/faults"
	"github.com/oncesim/oncesim/model"
)

// everyDefault is the arrival interval of an input that gives none: one record a partition every
// two milliseconds of virtual time.
const everyDefault = 2_000_000

// generatedSeed is the seed of generated input, whatever the seed of the run.
const generatedSeed = 1

// generatedDefault is how many records are generated where a scenario does not say.
const generatedDefault = 12

// The bounds of an input.
const (
	timeMax    = 1_000_000 * 1_000_000_000 // virtual ns at which the last record arrives
	everyMax   = 1_000 * 1_000_000_000     // virtual ns
	recordsMax = 10_000_000
	lineMax    = 1 << 20 // bytes; a longer line has no text
	inputMax   = 1 << 28 // bytes of text in one file
)

var errNoFile = errors.New("no such file or directory")

// ErrEmptyInput is what errors.Is finds in the error for an input without any record. It is no
// mistake in the input: there is nothing that could be checked.
var ErrEmptyInput = errors.New("input has no records")

// InputError is a complaint about an input: it cannot be read, or is not what it should be.
type InputError struct {
	Path string // of the file, or which input of the scenario
	Line int    // from 1; 0: the input as a whole
	Msg  string
	Err  error // what errors.Is finds, or nil
}

// Error is one line: the place and what is wrong.
func (e *InputError) Error() string {
	if e.Line > 0 {
		return fmt.Sprintf("%s:%d: %s", e.Path, e.Line, e.Msg)
	}
	return fmt.Sprintf("%s: %s", e.Path, e.Msg)
}

// Unwrap returns the class of the complaint, or nil.
func (e *InputError) Unwrap() error { return e.Err }

// InputStats says what LoadInput has read.
type InputStats struct {
	Records   int    // lines or generated records that are in the input
	Malformed int    // those that the decoder cannot read, too long ones included
	TooLong   int    // lines of more than 1 MiB
	Bytes     int64  // read from a file
	SHA256    string // of the file, in hex; "" where it was not read to its end
}

// LoadInput makes the input of a scenario. Errors are *InputError; an input without records gives
// one that is ErrEmptyInput.
//
// Record n, from 0 in the order of lines, has offset n / p in partition n modulo p, where p is the
// number of partitions of the topology. Its Value has the line as Text, a slice of one buffer
// that all records share, and n+1 as Num; Key is empty unless the decoder gives one. Two kinds of
// line are different:
//
//   - A line of more than 1 MiB is never held in memory. Its record has no Text, and Num is
//     -(n+1), so that it still has a value of its own. It counts as malformed.
//   - In a topology without a decoder a line KEY=NUMBER ("k1=42") becomes a record with that key
//     and number and no Text. Generated records have this form, so they can be written inline.
//
// A file is text: lines end in LF or CRLF, the last one may have no end. Files that are binary,
// and files of which no line is well formed, are errors: they are most likely the wrong file.
//
// Generated records are the same under every seed, so that seeds compare runs of one input. They
// are drawn, each for itself, so that a longer input begins with the shorter one. In a topology
// without a decoder they have keys k0 to k3 and numbers 1 to 100; with one they are lines of its
// sample, or where it has none lines that the decoder makes.
func (lib *Library) LoadInput(s *Scenario) (*model.Input, InputStats, error) {
	l := &inputLoader{lib: lib, s: s}
	err := l.decoder()
	if err == nil {
		err = l.load()
	}
	if err != nil {
		return nil, l.stats, err
	}
	in := model.NewInput(l.parts)
	in.Malformed = l.stats.Malformed
	return in, l.stats, nil
}

type inputLoader struct {
	lib   *Library
	s     *Scenario
	lines *Decoder // nil: the topology has none
	parts []model.Partition
	stats InputStats
}

// decoder looks the decoder of the topology up.
func (l *inputLoader) decoder() error {
	name := l.s.Topology.Decoder
	if name == "" {
		return nil
	}
	var names []string
	for _, d := range l.lib.Decoders {
		names = append(names, d.Name)
		if d.Name == name {
			l.lines = d
			return nil
		}
	}
	return &InputError{Path: "topology " + l.s.Topology.Name,
		Msg: "unknown decoder " + unknown(name, names)}
}

func (l *inputLoader) load() error {
	in := &l.s.Input
	switch {
	case in.Kind == InputGenerated || in.Kind == InputSample && l.s.Topology.Sample == "":
		return l.generate()
	case in.Kind == InputSample:
		text, err := l.sample()
		if err != nil {
			return err
		}
		return l.records("sample "+l.s.Topology.Sample, lineList{lines: textLines(text)})
	case in.Kind == InputInline:
		list := lineList{lines: in.Lines}
		return l.records("inline input", list)
	case in.Kind == InputFile:
		return l.file()
	}
	panic(fmt.Sprintf("scenarios: input kind %d", in.Kind))
}

func (l *inputLoader) sample() (string, error) {
	if l.s.Topology.Sample == "" {
		return "", &InputError{Path: "topology " + l.s.Topology.Name, Msg: "has a decoder and no " +
			"sample, so records cannot be generated, expected lines or a file"}
	}
	var names []string
	for _, sample := range l.lib.Samples {
		names = append(names, sample.Name)
		if sample.Name == l.s.Topology.Sample {
			return sample.Data, nil
		}
	}
	return "", &InputError{Path: "topology " + l.s.Topology.Name,
		Msg: "unknown sample " + unknown(l.s.Topology.Sample, names)}
}

// textLines splits a text at its line ends, LF or CRLF.
func textLines(text string) []string {
	if text == "" {
		return nil
	}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimSuffix(lines[i], "\r")
	}
	return lines
}

// begin makes room for n records.
func (l *inputLoader) begin(n int) error {
	every := l.s.Input.Every
	if every <= 0 {
		every = everyDefault
	}
	if int64(n) > timeMax/every {
		return &InputError{Path: "input", Msg: fmt.Sprintf(
			"%d records each %s, expected the last to arrive within %s", n,
			faults.FormatDuration(every), faults.FormatDuration(timeMax))}
	}
	l.parts = make([]model.Partition, l.s.Topology.Partitions())
	for i := range l.parts {
		l.parts[i] = model.Partition{Every: every,
			Records: make([]model.Record, 0, n/len(l.parts)+1)}
	}
	return nil
}

func (l *inputLoader) add(r model.Record) {
	part := &l.parts[l.stats.Records%len(l.parts)]
	part.Records = append(part.Records, r)
	l.stats.Records++
}

// records turns lines into records. where names the input in messages.
func (l *inputLoader) records(where string, list lineList) error {
	lines := list.lines
	if limit := l.s.Input.Records; limit > 0 {
		lines = lines[:min(limit, len(lines))]
	}
	if len(lines) == 0 {
		return &InputError{Path: where, Msg: "no records, expected at least one",
			Err: ErrEmptyInput}
	}
	if err := l.begin(len(lines)); err != nil {
		return err
	}
	for i, line := range lines {
		isLong := len(line) > lineMax
		if len(list.tooLong) > 0 && list.tooLong[0] == i {
			isLong, list.tooLong = true, list.tooLong[1:]
		}
		l.add(l.record(int64(i+1), line, isLong))
	}
	switch {
	case l.stats.TooLong == len(lines):
		return &InputError{Path: where, Line: 1, Msg: fmt.Sprintf(
			"every line is longer than %d bytes, expected text", lineMax)}
	case l.stats.Malformed == len(lines):
		return &InputError{Path: where, Line: 1, Msg: fmt.Sprintf(
			"no line is well formed for the decoder %q, the first is %q",
			l.s.Topology.Decoder, clip(lines[0]))}
	}
	return nil
}

func (l *inputLoader) record(n int64, line string, isLong bool) model.Record {
	if isLong {
		l.stats.TooLong++
		l.stats.Malformed++
		return model.Record{Value: model.Value{Num: -n}}
	}
	rec := model.Record{Value: model.Value{Num: n, Text: line}}
	if l.lines == nil {
		if key, num, ok := cutPair(line); ok {
			return model.Record{Key: key, Value: model.Value{Num: num}}
		}
		return rec
	}
	if !l.lines.Valid(line) {
		l.stats.Malformed++
	}
	if l.lines.Key != nil {
		rec.Key = l.lines.Key(line)
	}
	return rec
}

// cutPair reads KEY=NUMBER: a key of letters and digits and a number in decimal, as FormatInt
// writes it.
func cutPair(line string) (key string, num int64, ok bool) {
	key, digits, _ := strings.Cut(line, "=")
	if key == "" || digits == "" || digits[0] == '+' {
		return "", 0, false
	}
	for i := range len(key) {
		if !isLetter(key[i]) && !isDigit(key[i]) {
			return "", 0, false
		}
	}
	num, err := strconv.ParseInt(digits, 10, 64)
	return key, num, err == nil
}

// What of a generated record is drawn. The numbers enter golden hashes: append, never reorder.
const (
	drawNumber = iota
	drawKey
	drawLine
	drawMade // and those that follow: what Decoder.Generate asks for
)

func (l *inputLoader) generate() error {
	n := l.s.Input.Records
	if n <= 0 {
		n = generatedDefault
	}
	draw := func(i int, what uint64, below int64) int64 {
		return model.Below(model.Draw(generatedSeed, model.DrawInput, uint64(i), what, 0), below)
	}
	if l.lines == nil {
		keys := [...]string{"k0", "k1", "k2", "k3"}
		if err := l.begin(n); err != nil {
			return err
		}
		for i := range n {
			l.add(model.Record{Key: keys[draw(i, drawKey, int64(len(keys)))],
				Value: model.Value{Num: 1 + draw(i, drawNumber, 100)}})
		}
		return nil
	}
	list := lineList{lines: make([]string, n)}
	if l.lines.Generate != nil && l.s.Topology.Sample == "" {
		for i := range list.lines {
			next := uint64(drawMade)
			list.lines[i] = l.lines.Generate(func(below int64) int64 {
				next++
				return draw(i, next, below)
			})
		}
		return l.records("generated input", list)
	}
	text, err := l.sample()
	if err != nil {
		return err
	}
	pool := textLines(text)
	for i := range list.lines {
		list.lines[i] = pool[draw(i, drawLine, int64(len(pool)))]
	}
	return l.records("generated input", list)
}

// file reads the input from a file of its own.
func (l *inputLoader) file() error {
	in := &l.s.Input
	name := filepath.FromSlash(in.Path)
	if !filepath.IsAbs(name) {
		name = filepath.Join(in.Dir, name)
	}
	f, err := os.Open(name)
	if err != nil {
		return unreadable(name, err)
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return &InputError{Path: name, Msg: "is a directory, expected a file"}
	}
	list, err := l.read(name, f)
	if err != nil {
		return err
	}
	return l.records(name, list)
}

// unreadable says why a file cannot be read, without naming it twice.
func unreadable(name string, err error) error {
	cause := err
	var path *os.PathError
	if errors.As(err, &path) {
		cause = path.Err
	}
	if errors.Is(err, fs.ErrNotExist) {
		cause = errNoFile // systems spell it differently
	}
	return &InputError{Path: name, Msg: fmt.Sprintf("cannot be read: %v", cause), Err: err}
}

// read reads the lines of a file, and the rest of it if its hash is to be verified.
func (l *inputLoader) read(name string, f io.Reader) (list lineList, err error) {
	hash := sha256.New()
	r := newLineReader(io.TeeReader(f, hash), l.s.Input.Records)
	if why := binaryReason(r.head()); why != "" {
		return list, &InputError{Path: name, Msg: "binary content, expected text: " + why}
	}
	err = r.readAll()
	want := l.s.Input.SHA256
	if err == nil && want != "" {
		err = r.drain()
	}
	switch {
	case errors.Is(err, errInputMax):
		return list, &InputError{Path: name, Line: len(r.ends), Msg: fmt.Sprintf(
			"more than %d lines or %d bytes of them, expected a limit of records",
			recordsMax, inputMax)}
	case err != nil:
		return list, unreadable(name, err)
	}
	l.stats.Bytes = r.bytes
	if r.atEnd {
		l.stats.SHA256 = hex.EncodeToString(hash.Sum(nil))
	}
	if want != "" && l.stats.SHA256 != want {
		return list, &InputError{Path: name, Msg: fmt.Sprintf("has SHA-256 %s, expected %s",
			l.stats.SHA256, want)}
	}
	return r.list(), nil
}
