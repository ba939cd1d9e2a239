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
)

// ReadResults reads a result file, which is called name in errors. whole is how many bytes of it
// are whole lines: what is behind was being written when its sweep was killed, and is left out, as
// are failures of a block that is not there. Without any whole line the results are nil.
func ReadResults(name string, from io.Reader) (r *Results, whole int64, err error) {
	f := resultsReader{pending: map[blockName][]*Failure{}}
	b := bufio.NewReaderSize(from, 1<<16)
	for n := 1; ; n++ {
		line, err := b.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return f.end(name, whole)
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
		var foot footerLine
		return unmarshalLine(line, &foot)
	}
	return fmt.Errorf("unknown kind %q, expected header, pass, fail or footer", head.Kind)
}

// unmarshalLine reads a line strictly: what it does not know it refuses.
func unmarshalLine(line []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	return d.Decode(into)
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
	return f.results.add(&p, failures)
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
	name := blockName{unit, (e.Seed - h.first) / h.Block}
	if f.results.Units[unit].done.has(name.block) {
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
		if text := part.Header.difference(&all.Header); text != "" {
			return nil, fmt.Errorf("%s and %s are of different sweeps: %s", part.name,
				parts[0].name, text)
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
						return b.Units[i].groups[f.Signature] != nil
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
