package checker

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/oncesim/oncesim/model"
)

// Output is what a Counter looks at of one visible record.
type Output struct {
	ID   uint64 // the identity that must be visible once
	Rank uint64 // its place in the order of its key
	Key  uint32 // the key, numbered from 0
	At   uint32 // for the user: where it is. Not looked at
}

// Count is how far a list of outputs is from exactly once, in the order of each key.
type Count struct {
	Losses     int // identities that are expected and not there
	Duplicates int // outputs beyond the first of their identity
	Phantoms   int // outputs of an identity that is not expected
	Disorders  int // first outputs of an identity that come after a higher rank of their key
}

// Counter checks long lists of outputs by identity alone: it knows no operators, believes no claim
// and names no record, and takes some nanoseconds a record where a Judge takes hundreds. It keeps
// its memory. The zero value is ready.
type Counter struct {
	marks  []uint64 // a bit for each identity, or place of the table: it is there
	latest []uint64 // the highest rank of each key
	void   []uint64 // a bit for each output: a repetition, or a phantom
	want   deck     // what is expected
	have   deck     // what is there
	table  []uint64 // open addressing within a share, the load at most one half; 0: empty
}

// Dense checks outputs against the identities 0 to total-1. Keys are below keys.
func (c *Counter) Dense(total, keys int, outputs []Output) (n Count) {
	c.begin(total, keys)
	first := 0
	for i := range outputs {
		o := &outputs[i]
		if o.ID >= uint64(total) {
			n.Phantoms++
		} else if !c.mark(o.ID) {
			n.Duplicates++
		} else {
			first++
			n.Disorders += c.order(o)
		}
	}
	n.Losses = total - first
	return n
}

// begin forgets the last list.
func (c *Counter) begin(marks, keys int) {
	words := (marks + 63) / 64
	c.marks = slices.Grow(c.marks[:0], words)[:words]
	clear(c.marks)
	c.latest = slices.Grow(c.latest[:0], keys)[:keys]
	clear(c.latest)
}

// mark reports whether i has not been marked before, and marks it.
func (c *Counter) mark(i uint64) bool {
	word, bit := &c.marks[i/64], uint64(1)<<(i%64)
	isNew := *word&bit == 0
	*word |= bit
	return isNew
}

// order returns 1 if an output comes after a higher rank of its key, else 0.
func (c *Counter) order(o *Output) int {
	latest := &c.latest[o.Key]
	if o.Rank < *latest {
		return 1
	}
	*latest = o.Rank
	return 0
}

// Sparse checks outputs against any identities, different from each other and none of them 0. Keys
// are below keys. There are less than 2^32 outputs.
//
// Both lists are dealt into shares by a hash first. A share fits in a cache, which the whole would
// not: a table of it would wait for the memory at nearly every identity.
func (c *Counter) Sparse(expected []uint64, keys int, outputs []Output) (n Count) {
	const share = 1 << 13
	shift := 64 - bits.Len(uint(len(expected)/share))
	c.want.dealIDs(expected, shift)
	c.have.dealOutputs(outputs, shift)
	c.void = slices.Grow(c.void[:0], len(outputs)/64+1)[:len(outputs)/64+1]
	clear(c.void)
	c.begin(0, keys)
	first := 0
	for s := range c.want.ends {
		c.expect(c.want.share(s))
		first += c.compare(s, &n)
	}
	n.Losses = len(expected) - first
	for i := range outputs {
		if c.void[i/64]>>(i%64)&1 == 0 {
			n.Disorders += c.order(&outputs[i])
		}
	}
	return n
}

// expect fills the table with a share.
func (c *Counter) expect(ids []uint64) {
	size := 1 << bits.Len(uint(2*len(ids)))
	c.table = slices.Grow(c.table[:0], size)[:size]
	clear(c.table)
	c.marks = slices.Grow(c.marks[:0], size/64+1)[:size/64+1]
	clear(c.marks)
	for _, id := range ids {
		place := c.place(id)
		if id == 0 || c.table[place] != 0 {
			panic(fmt.Sprintf("checker: identity %d is expected twice, or 0", id))
		}
		c.table[place] = id
	}
}

// compare looks the outputs of a share up and returns how many identities are there.
func (c *Counter) compare(share int, n *Count) (first int) {
	from := c.have.begin(share)
	for i, id := range c.have.share(share) {
		place := c.place(id)
		switch {
		case c.table[place] == 0 || id == 0:
			n.Phantoms++
		case !c.mark(place):
			n.Duplicates++
		default:
			first++
			continue
		}
		at := c.have.from[from+i]
		c.void[at/64] |= 1 << (at % 64)
	}
	return first
}

// place is where the table has an identity, or the empty place that is its own.
func (c *Counter) place(id uint64) uint64 {
	mask := uint64(len(c.table) - 1)
	place := spread(id) & mask
	for c.table[place] != id && c.table[place] != 0 {
		place = (place + 1) & mask
	}
	return place
}

// spread hashes an identity: the high bits choose its share, the low ones its place there.
func spread(id uint64) uint64 { return model.Mix(id^hashA, hashB) }

// deck is a list of identities dealt into shares; within a share they keep their order.
type deck struct {
	ends []int // of each share
	ids  []uint64
	from []uint32 // of outputs: where in the list
}

// open begins a deck of n identities.
func (d *deck) open(n, shift int) {
	shares := 1 << (64 - shift)
	d.ends = slices.Grow(d.ends[:0], shares)[:shares]
	clear(d.ends)
	d.ids = slices.Grow(d.ids[:0], n)[:n]
}

// divide makes ends, the sizes of the shares, into their beginnings. Dealing makes them ends.
func (d *deck) divide() {
	sum := 0
	for s, size := range d.ends {
		d.ends[s] = sum
		sum += size
	}
}

func (d *deck) begin(share int) int {
	if share == 0 {
		return 0
	}
	return d.ends[share-1]
}

func (d *deck) share(s int) []uint64 { return d.ids[d.begin(s):d.ends[s]] }

func (d *deck) dealIDs(ids []uint64, shift int) {
	d.open(len(ids), shift)
	for _, id := range ids {
		d.ends[spread(id)>>shift]++
	}
	d.divide()
	for _, id := range ids {
		end := &d.ends[spread(id)>>shift]
		d.ids[*end] = id
		*end++
	}
}

func (d *deck) dealOutputs(list []Output, shift int) {
	d.open(len(list), shift)
	d.from = slices.Grow(d.from[:0], len(list))[:len(list)]
	for i := range list {
		d.ends[spread(list[i].ID)>>shift]++
	}
	d.divide()
	for i := range list {
		id := list[i].ID
		end := &d.ends[spread(id)>>shift]
		d.ids[*end], d.from[*end] = id, uint32(i)
		*end++
	}
}
