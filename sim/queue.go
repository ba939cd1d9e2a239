package sim

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/oncesim/oncesim/model"
)

// The order of events is the order of 128-bit keys: at, then class, tie and sequence, packed
// beside the number of the slot that holds the event.
const (
	slotBits   = 18
	seqBits    = 28
	tieBits    = 16
	slotsSpare = 1 << 16 // kept free for what one event makes before the run can end
	slotsMax   = 1 << slotBits
	seqMax     = 1 << seqBits
	classFault = uint64(0)
	classEvent = uint64(1)
)

// key orders one pending event.
type key struct {
	at uint64
	lo uint64 // class, tie, seq, slot
}

func (k key) before(other key) bool {
	return k.at < other.at || k.at == other.at && k.lo < other.lo
}

func (k key) slot() int32 { return int32(k.lo & (slotsMax - 1)) }

// The wheel has a rank for each digit of a time, and a bucket for each value of the digit.
const (
	digitBits = 8
	buckets   = 1 << digitBits
	ranks     = (63 + digitBits) / digitBits
	dueMax    = 8 // how many events of a bucket are not worth dividing
)

// link is a pending event in a bucket.
type link struct {
	key
	next int32 // the slot of the next in the bucket, or -1
}

// rank is the wheel of one digit.
type rank struct {
	used  uint64               // a bit for each word of bits that is not 0
	bits  [buckets / 64]uint64 // a bit for each bucket that holds something
	heads [buckets]int32
}

// put links a slot into a bucket.
func (r *rank) put(digit uint64, slot int32, l *link) {
	word, bit := &r.bits[digit/64], uint64(1)<<(digit%64)
	l.next = r.heads[digit]
	if *word&bit == 0 {
		l.next = -1
	}
	r.heads[digit] = slot
	*word |= bit
	r.used |= 1 << (digit / 64)
}

// take empties the first bucket.
func (r *rank) take() (head int32) {
	w := bits.TrailingZeros64(r.used)
	word := r.bits[w]
	head = r.heads[w*64+bits.TrailingZeros64(word)]
	word &= word - 1
	r.bits[w] = word
	if word == 0 {
		r.used &= r.used - 1
	}
	return head
}

// queue is a radix wheel over a slab of items. An event waits in the rank of the highest digit in
// which its time differs from base, in the bucket of its own value of that digit, so that the
// first events are in the first bucket of the lowest rank in use. When it is their turn, few are
// sorted and become due; many go to lower ranks, with the beginning of their bucket as the new
// base. Most events are moved once or twice, however many are pending.
//
// Slots are reused; an item keeps its slot until free, also after it was popped, so that a busy
// process can hold on to it. Messages lie beside the items, as the events that they will be, since
// many items have none.
type queue struct {
	base     uint64
	until    uint64 // before this time everything is due
	due      []key  // in order, last first
	last     uint64 // when the last event popped was
	inUse    uint16 // a bit for each rank that holds something
	wheel    [ranks]rank
	links    []link
	slab     []item
	arrivals []model.Event // Msg is set; Token and Ans are never
	gaps     []int32
	seq      uint64
	// isFull: there is no slot or no sequence number left. Nothing more is queued; the world ends
	// the run as one that has spent its budget.
	isFull bool
}

func (q *queue) reset() {
	for r := range q.wheel {
		q.wheel[r].used, q.wheel[r].bits = 0, [buckets / 64]uint64{}
	}
	q.base, q.until, q.last, q.inUse, q.due = 0, 0, 0, 0, q.due[:0]
	q.links, q.slab, q.arrivals = q.links[:0], q.slab[:0], q.arrivals[:0]
	q.gaps, q.seq, q.isFull = q.gaps[:0], 0, false
}

// grab returns a free slot; its item and message hold whatever they held before.
func (q *queue) grab() int32 {
	if n := len(q.gaps); n > 0 {
		slot := q.gaps[n-1]
		q.gaps = q.gaps[:n-1]
		return slot
	}
	n := len(q.slab)
	if n >= slotsMax-slotsSpare {
		q.isFull = true
	}
	if n == slotsMax {
		panic(fmt.Sprintf("sim: one event made more than %d others", slotsSpare))
	}
	q.slab = slices.Grow(q.slab, 1)[:n+1]
	q.links = slices.Grow(q.links, 1)[:n+1]
	q.arrivals = slices.Grow(q.arrivals, 1)[:n+1]
	return int32(n)
}

func (q *queue) free(slot int32) { q.gaps = append(q.gaps, slot) }

// push schedules the item in a slot, not before what was popped last.
func (q *queue) push(at int64, class, tie uint64, slot int32) {
	if uint64(at) < q.last {
		panic(fmt.Sprintf("sim: an event for %d at %d", at, q.last))
	}
	q.seq++
	if q.seq == seqMax-1 {
		q.isFull = true
	}
	l := &q.links[slot]
	l.at = uint64(at)
	l.lo = class<<(tieBits+seqBits+slotBits) | (tie&(1<<tieBits-1))<<(seqBits+slotBits) |
		q.seq<<slotBits | uint64(slot)
	if l.at < q.until {
		q.insert(l.key)
		return
	}
	q.place(slot, l)
}

// insert puts a key among those that are due.
func (q *queue) insert(k key) {
	q.due = append(q.due, k)
	i := len(q.due) - 1
	for i > 0 && q.due[i-1].before(k) {
		q.due[i] = q.due[i-1]
		i--
	}
	q.due[i] = k
}

// place puts a link in its bucket. What is at base itself is in rank 0.
func (q *queue) place(slot int32, l *link) {
	r := uint(bits.Len64((l.at^q.base)|1)-1) / digitBits
	q.wheel[r].put(l.at>>(r*digitBits&63)%buckets, slot, l)
	q.inUse |= 1 << (r & 15)
}

// pop removes the first key. The queue must not be empty.
func (q *queue) pop() key {
	n := len(q.due)
	if n == 0 {
		return q.turn()
	}
	k := q.due[n-1]
	q.due = q.due[:n-1]
	q.last = k.at
	return k
}

// turn is pop when nothing is due.
func (q *queue) turn() key {
	r := bits.TrailingZeros16(q.inUse)
	wheel := &q.wheel[r]
	head := wheel.take()
	if wheel.used == 0 {
		q.inUse &= q.inUse - 1
	}
	shift := r * digitBits & 63
	l := &q.links[head]
	begin := l.at >> shift << shift
	if l.next < 0 {
		q.until, q.last = begin+1<<shift, l.at
		return l.key
	}
	n := 1
	for slot := l.next; slot >= 0 && n < dueMax; slot = q.links[slot].next {
		n++
	}
	if n == dueMax {
		q.spread(head, r, begin)
		return q.pop()
	}
	q.until = begin + 1<<shift
	for slot := head; slot >= 0; slot = q.links[slot].next {
		q.insert(q.links[slot].key)
	}
	return q.pop()
}

// spread moves the many events of a bucket to lower ranks. Those of one instant are due together.
func (q *queue) spread(head int32, r int, begin uint64) {
	if r > 0 {
		q.base, q.until = begin, begin
		for slot := head; slot >= 0; {
			l := &q.links[slot]
			next := l.next
			q.place(slot, l)
			slot = next
		}
		return
	}
	q.until = begin + 1
	for slot := head; slot >= 0; slot = q.links[slot].next {
		q.due = append(q.due, q.links[slot].key)
	}
	slices.SortFunc(q.due, func(a, b key) int {
		if a.before(b) {
			return 1
		}
		return -1
	})
}
