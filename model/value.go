package model

import (
	"fmt"
	"strconv"
)

// Value is what a record carries and what keyed state holds: a number and a text. It is immutable;
// the text is usually a slice of the input, so that copying a Value allocates nothing.
type Value struct {
	Num  int64
	Text string
}

// String renders the number, the text in quotes, or both.
func (v Value) String() string {
	switch {
	case v.Text == "":
		return strconv.FormatInt(v.Num, 10)
	case v.Num == 0:
		return strconv.Quote(v.Text)
	}
	return fmt.Sprintf("%d %q", v.Num, v.Text)
}

// ID is the identity of an input record: its position. Part is the partition, counted over all
// inputs of the topology from 0; Offset counts from 0 within the partition.
type ID struct {
	Part   int32
	Offset int64
}

// Compare orders by partition, then by offset: negative, zero or positive.
func (id ID) Compare(other ID) int {
	switch {
	case id.Part != other.Part:
		return int(id.Part) - int(other.Part)
	case id.Offset < other.Offset:
		return -1
	case id.Offset > other.Offset:
		return 1
	}
	return 0
}

// Path says which descendant of an input record a record is: one ordinal a hop, most recent hop in
// the lowest PathBits bits. The path of an input record is 0.
type Path uint64

// PathBits is the width of one ordinal in a Path, HopsMax the number of stages that fit.
const (
	PathBits = 12
	HopsMax  = 64 / PathBits
)

// Child is the path of the n-th output (from 0) of a step that handled a record with path p.
func (p Path) Child(n int) Path {
	if n < 0 || n >= 1<<PathBits {
		panic(fmt.Sprintf("model: output ordinal %d of one step, limit %d", n, 1<<PathBits))
	}
	return p<<PathBits | Path(n)
}

// Record is one unit of the stream: an input record or what an operator emitted.
//
// ID, Op and Path together are its identity. ID is a position of the input, that of the record that
// this one was made from, and a log that is read again gives each record the same one: an operator
// may recognise by it what it has seen before. For what an operator emitted that takes Op and Path
// as well, and they are the same again if its step is deterministic.
//
// To a checker they are what tasks claim, to be validated and not relied on: a record of a wrong
// engine may bear any identity.
type Record struct {
	ID    ID
	Path  Path
	Op    int32 // the operator that emitted it, numbered from 1 in stage order; 0 for input
	Key   string
	Value Value
}

// Same reports whether two records have one identity; keys and values may differ.
func (r Record) Same(other Record) bool {
	return r.ID == other.ID && r.Path == other.Path && r.Op == other.Op
}

// Outputs collects what one step emits. The engine owns and reuses it.
type Outputs struct {
	records []Record
	dropped string
	failed  string
	in      Record
	op      int32
	nonce   uint64
	drawn   uint64
}

// Begin clears o for a step of operator op on in.
func (o *Outputs) Begin(op int32, in Record) {
	o.records, o.dropped, o.failed, o.in, o.op = o.records[:0], "", "", in, op
	o.nonce, o.drawn = 0, 0
}

// Seed gives the step the nonce of the life that takes it. Begin sets 0.
func (o *Outputs) Seed(nonce uint64) { o.nonce = nonce }

// Random is a number from 0 to n-1 that another life would draw otherwise: what a clock, a lookup
// or a random number is to an operator. One that uses it is NonDeterministic.
func (o *Outputs) Random(n int64) int64 {
	o.drawn++
	return Below(Mix(o.nonce^o.drawn<<48, o.in.Subject()^uint64(o.op)<<56), n)
}

// Fail says that the step cannot be taken, and why: user code threw. What was emitted and the state
// returned count for nothing; what becomes of the record is up to the mode.
func (o *Outputs) Fail(reason string) { o.failed = reason }

// SetAside turns a step that failed into one that drops its input: it is in a dead letter queue.
func (o *Outputs) SetAside() {
	o.records, o.dropped = o.records[:0], "set aside: "+o.failed
}

// Failed returns the reason given to Fail since Begin, or "".
func (o *Outputs) Failed() string { return o.failed }

// Emit adds an output under a key; the key routes it over a keyed exchange.
func (o *Outputs) Emit(key string, v Value) {
	path := o.in.Path.Child(len(o.records))
	o.records = append(o.records, Record{ID: o.in.ID, Path: path, Op: o.op, Key: key, Value: v})
}

// Drop says that the step discards its input on purpose, and why ("malformed"). Dropped records
// are counted and shown; they are not lost.
func (o *Outputs) Drop(reason string) { o.dropped = reason }

// Records returns what was emitted since Begin; it is valid until the next Begin.
func (o *Outputs) Records() []Record { return o.records }

// Dropped returns the reason given to Drop since Begin, or "".
func (o *Outputs) Dropped() string { return o.dropped }
