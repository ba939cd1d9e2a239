package search

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"

	"github.com/oncesim/oncesim/model"
)

// ReadResults reads a result file, which is called name in errors. whole is how many bytes of it
// are whole lines: what is behind was being written when its sweep was killed, and is left out, as
// are failures of a block that is not there. Without any whole line the results are nil.
func ReadResults(name string, from io.Reader) (r *Results, whole int64, err error) {
	f := resultsReader{pending: map[blockName][]*Failure{}}
	b := bufio.NewReaderSize(from, 1<<16)
	for n := 1; ; n++ {
		line, err := readLine(b)
		if errors.Is(err, io.EOF) {
			return f.end(name, whole)
		}
		if errors.Is(err, errLongLine) {
			return nil, 0, fmt.Errorf("%s:%d: %w", name, n, err)
		}
		if err != nil {
			return nil, 0, fmt.Errorf("%s: %w", name, err)
		}
		if err := f.take(line); err != nil {
			return nil, 0, fmt.Errorf("%s:%d: %w", name, n, err)
		}
		whole += int64(len(line))
	}
}

// lineMax bounds a line of results: what is longer is none.
const lineMax = 16 << 20

var errLongLine = fmt.Errorf("no line of results: it is longer than %d bytes", lineMax)

// readLine reads a line with its end. The error is errLongLine, io.EOF of what has no end, or that
// of b.
func readLine(b *bufio.Reader) (line []byte, err error) {
	for {
		part, err := b.ReadSlice('\n')
		if len(line)+len(part) > lineMax {
			return nil, errLongLine
		}
		line = append(line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// end completes results.
func (f *resultsReader) end(name string, whole int64) (*Results, int64, error) {
	if f.results == nil {
		return nil, whole, nil
	}
	f.results.name = name
	for i := range f.results.Units {
		for _, g := range f.results.Units[i].Groups() {
			if g.Fastest == nil {
				return nil, 0, fmt.Errorf("%s: %d failures %s are counted, and none has a line",
					name, g.Count, g.Signature)
			}
		}
	}
	return f.results, whole, nil
}

// blockName says which block of which unit.
type blockName struct {
	unit  int
	block uint64
}

// resultsReader takes the lines of a result file, one after the other.
type resultsReader struct {
	results *Results
	pending map[blockName][]*Failure // whose block is not there yet
	part    *Results                 // since the latest header
}

func (f *resultsReader) take(line []byte) error {
	var head struct {
		Kind string `json:"kind"`
	}
	if err := json.Unmarshal(line, &head); err != nil {
		return fmt.Errorf("no line of results: %.60q: %w", bytes.TrimSpace(line), err)
	}
	if f.results == nil && head.Kind != kindHeader {
		return fmt.Errorf("a line of kind %q, expected the header first", head.Kind)
	}
	if f.results != nil {
		f.results.footed = head.Kind == kindFooter
	}
	switch head.Kind {
	case kindHeader:
		return f.header(line)
	case kindPass:
		return f.pass(line)
	case kindFail:
		return f.fail(line)
	case kindFooter:
		return f.footer(line)
	}
	return fmt.Errorf("unknown kind %q, expected header, pass, fail or footer", head.Kind)
}

// unmarshalLine reads a line strictly: what it does not know it refuses.
func unmarshalLine(line []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	return d.Decode(into)
}

// footer reads a footer and compares it with the lines above it, up to their header.
func (f *resultsReader) footer(line []byte) error {
	var foot footerLine
	if err := unmarshalLine(line, &foot); err != nil {
		return err
	}
	if want := f.part.footer(); foot != *want {
		return fmt.Errorf("the footer says %+v complete %t, and the lines above it come to %+v "+
			"complete %t", foot.SweepCounts, foot.IsComplete, want.SweepCounts, want.IsComplete)
	}
	return nil
}

// header reads a header. There are several where files were put behind each other.
func (f *resultsReader) header(line []byte) error {
	var h SweepHeader
	if err := unmarshalLine(line, &h); err != nil {
		return err
	}
	if err := h.read(); err != nil {
		return err
	}
	f.part = newResults(h)
	if f.results != nil {
		if text := h.difference(&f.results.Header); text != "" {
			return fmt.Errorf("a header of another sweep: %s", text)
		}
		if h.Shard != f.results.Header.Shard {
			f.results.Header.forget()
		}
		return nil
	}
	f.results = newResults(h)
	for i := range f.results.Units {
		f.results.Units[i].records = map[uint64]*passLine{}
	}
	return nil
}

// forget makes a header that of all shards.
func (h *SweepHeader) forget() { h.Shard, h.shard, h.shards = "", 1, 1 }

func (f *resultsReader) pass(line []byte) error {
	var p passLine
	if err := unmarshalLine(line, &p); err != nil {
		return err
	}
	unit, block, err := f.results.check(&p)
	if err != nil {
		return err
	}
	name := blockName{unit, block}
	failures := f.pending[name]
	delete(f.pending, name)
	if err := p.check(failures); err != nil {
		return err
	}
	if !f.part.Units[unit].done.has(block) {
		f.part.Units[unit].done.add(block)
		f.part.Units[unit].SweepCounts.add(&p.SweepCounts)
	}
	return f.results.add(&p, failures)
}

// check compares a block with failures of it: there are no more of a signature than it counts, and
// none of a verdict that none of its runs has.
func (p *passLine) check(failures []*Failure) error {
	seeds := map[string]map[uint64]bool{}
	for _, e := range failures {
		if seeds[e.Signature] == nil {
			seeds[e.Signature] = map[uint64]bool{}
		}
		seeds[e.Signature][e.Seed] = true
		isVerdict := e.Verdict == model.Violated.String() && p.Failed > 0 ||
			e.Verdict == unknownVerdict && p.Unknown > 0
		if !isVerdict || int64(len(seeds[e.Signature])) > p.Signatures[e.Signature] {
			return fmt.Errorf("seed %d: the block of seeds %s counts no such failure, %s %s",
				e.Seed, p.Seeds, e.Verdict, e.Signature)
		}
	}
	return nil
}

func (f *resultsReader) fail(line []byte) error {
	var e Failure
	if err := unmarshalLine(line, &e); err != nil {
		return err
	}
	h := &f.results.Header
	unit := h.unit(e.Scenario, e.Mode, e.Class)
	if unit < 0 || e.Seed < h.first || e.Seed > h.last {
		return fmt.Errorf("%s under %s %s, seed %d is not in the header", e.Scenario, e.Mode,
			e.Class, e.Seed)
	}
	name := blockName{unit, h.blockAt(e.Seed - h.first)}
	if u := &f.results.Units[unit]; u.done.has(name.block) {
		if err := u.records[name.block].check([]*Failure{&e}); err != nil {
			return err
		}
		return f.results.fail(&e)
	}
	f.pending[name] = append(f.pending[name], &e)
	return nil
}

// MergeResults puts the results of files of one sweep together: of its shards, or of whatever was
// run of it. The error names the files and says what differs: of the sweeps, or, if it is a
// *Differing, of runs that two of them have made.
func MergeResults(parts []*Results) (*Results, error) {
	all := newResults(parts[0].Header)
	all.Header.forget()
	for i := range all.Units {
		all.Units[i].records = map[uint64]*passLine{}
	}
	for i, part := range parts {
		if text := all.Header.difference(&part.Header); text != "" {
			return nil, fmt.Errorf("%s and %s are of different sweeps: %s", parts[0].name,
				part.name, text)
		}
		if err := all.merge(part, parts[:i]); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// merge adds a part to those before it.
func (r *Results) merge(part *Results, before []*Results) error {
	for i := range part.Units {
		u := &part.Units[i]
		for _, block := range slices.Sorted(maps.Keys(u.records)) {
			if err := r.add(u.records[block], nil); err != nil {
				return between(err, part, before, func(b *Results) bool {
					old := b.Units[i].records[block]
					return old != nil && !reflect.DeepEqual(old, u.records[block])
				})
			}
		}
		for _, g := range u.Groups() {
			for _, f := range g.kept() {
				if err := r.fail(f); err != nil {
					return between(err, part, before, func(b *Results) bool {
						g := b.Units[i].groups[f.Signature]
						return g != nil && g.contradicts(f)
					})
				}
			}
		}
	}
	return nil
}

// between says which files a difference is between.
func between(err error, part *Results, before []*Results, isIt func(*Results) bool) error {
	var d *Differing
	at := slices.IndexFunc(before, isIt)
	if at < 0 || !errors.As(err, &d) {
		return fmt.Errorf("%s: %w", part.name, err)
	}
	d.Text = fmt.Sprintf("%s and %s: %s", before[at].name, part.name, d.Text)
	return d
}

// Write writes results that were read as a file: its lines sorted, and no more failures than are
// wanted. Whatever files they were read from, the same runs give the same bytes.
func (r *Results) Write(to io.Writer) error {
	b := bufio.NewWriter(to)
	b.Write(marshalLine(&r.Header))
	for i := range r.Units {
		u := &r.Units[i]
		for _, block := range slices.Sorted(maps.Keys(u.records)) {
			b.Write(marshalLine(u.records[block]))
		}
	}
	for i := range r.Units {
		for _, g := range r.Units[i].Groups() {
			for _, f := range g.kept() {
				b.Write(marshalLine(f))
			}
		}
	}
	b.Write(marshalLine(r.footer()))
	return b.Flush()
}
