package sim

import (
	"fmt"
	"math"
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

// The wheel turns through buckets of time.
const (
	bucketBits = 10 // of a time within its bucket, which is 2 µs wide
	buckets    = 1 << 10
	dueMax     = 24 // how many events are put in order one by one
)

// link is a pending event in a bucket.
type link struct {
	key
	next int32 // the slot of the next in the bucket, or -1
}

// pending is an event in its slot: 64 bytes, which are read together.
type pending struct {
	link
	item
}

// wheel holds events of the next 2 ms, those of each bucket in a list. Of two times in one bucket
// neither is a whole turn before the other.
type wheel struct {
	used  uint64               // a bit for each word of bits that is not 0
	bits  [buckets / 64]uint64 // a bit for each bucket that holds something
	heads [buckets]int32
}

// put links a slot into a bucket.
func (w *wheel) put(bucket uint64, slot int32, l *link) {
	bucket %= buckets
	word, bit := &w.bits[bucket/64], uint64(1)<<(bucket%64)
	l.next = w.heads[bucket]
	if *word&bit == 0 {
		l.next = -1
	}
	w.heads[bucket] = slot
	*word |= bit
	w.used |= 1 << (bucket / 64)
}

// first is the first bucket from one on that holds something. There must be one.
func (w *wheel) first(from uint64) uint64 {
	word, bit := from/64%(buckets/64), from%64
	if ahead := w.bits[word] >> bit; ahead != 0 {
		return from + uint64(bits.TrailingZeros64(ahead))
	}
	rest := w.used >> (word + 1) << (word + 1)
	if rest == 0 {
		rest = w.used // it is past the end of the turn
	}
	next := uint64(bits.TrailingZeros64(rest))
	at := next*64 + uint64(bits.TrailingZeros64(w.bits[next]))
	return from + (at-from)%buckets
}

// take empties a bucket and returns the first slot of its list, or -1.
func (w *wheel) take(bucket uint64) (head int32) {
	bucket %= buckets
	word, bit := &w.bits[bucket/64], uint64(1)<<(bucket%64)
	if *word&bit == 0 {
		return -1
	}
	if *word &^= bit; *word == 0 {
		w.used &^= 1 << (bucket / 64)
	}
	return w.heads[bucket]
}

// later is a 4-ary heap of keys.
type later []key

func (h *later) push(k key) {
	list := append(*h, k)
	*h = list
	i := len(list) - 1
	for i > 0 {
		up := (i - 1) / 4
		if !k.before(list[up]) {
			break
		}
		list[i] = list[up]
		i = up
	}
	list[i] = k
}

// pop removes the first key. There must be one.
func (h *later) pop() (first key) {
	list := *h
	n := len(list) - 1
	first, last := list[0], list[n]
	list = list[:n]
	*h = list
	hole := 0
	for {
		least := 4*hole + 1
		if least >= n {
			break
		}
		for child := least + 1; child < min(4*hole+5, n); child++ {
			if list[child].before(list[least]) {
				least = child
			}
		}
		if !list[least].before(last) {
			break
		}
		list[hole] = list[least]
		hole = least
	}
	if n > 0 {
		list[hole] = last
	}
	return first
}

// queue is a wheel over a slab of items, for what comes soon, and a heap for what comes later. When
// it is the turn of a bucket, what is in it, and what the heap has of that time, becomes due: few
// events, which are sorted. Most events are moved once, however many are pending.
//
// Slots are reused; an item keeps its slot until free, also after it was popped, so that a busy
// process can hold on to it. Messages lie beside the items, as the events that they will be, since
// many items have none.
type queue struct {
	until    uint64 // before this time everything is due; a bucket begins here
	due      []key  // in order, last first
	last     uint64 // when the last event popped was
	near     wheel  // from until on, for one turn
	far      later  // what was further away when it was pushed
	slab     []pending
	arrivals []model.Event // Msg is set; Token and Ans are never
	gaps     []int32
	seq      uint64
	// isFull: there is no slot or no sequence number left. Nothing more is queued; the world ends
	// the run as one that has spent its budget.
	isFull bool
}

func (q *queue) reset() {
	q.near.used, q.near.bits = 0, [buckets / 64]uint64{}
	q.until, q.last, q.due, q.far = 0, 0, q.due[:0], q.far[:0]
	q.slab, q.arrivals = q.slab[:0], q.arrivals[:0]
	q.gaps, q.seq, q.isFull = q.gaps[:0], 0, false
}

// grab returns a free slot; its item and message hold whatever they held before.
func (q *queue) grab() int32 {
	n := len(q.gaps) - 1
	if n < 0 {
		return q.lengthen()
	}
	slot := q.gaps[n]
	q.gaps = q.gaps[:n]
	return slot
}

// lengthen makes a slot.
func (q *queue) lengthen() int32 {
	n := len(q.slab)
	if n >= slotsMax-slotsSpare {
		q.isFull = true
	}
	if n == slotsMax {
		panic(fmt.Sprintf("sim: one event made more than %d others", slotsSpare))
	}
	q.slab = slices.Grow(q.slab, 1)[:n+1]
	q.arrivals = slices.Grow(q.arrivals, 1)[:n+1]
	return int32(n)
}

func (q *queue) free(slot int32) { q.gaps = append(q.gaps, slot) }

// push schedules the item in a slot, not before what was popped last.
func (q *queue) push(at int64, class, tie uint64, slot int32) {
	if at < 0 || uint64(at) < q.last {
		panic(fmt.Sprintf("sim: an event for %d at %d", at, q.last))
	}
	q.seq++
	if q.seq == seqMax-1 {
		q.isFull = true
	}
	l := &q.slab[slot].link
	l.at = uint64(at)
	l.lo = class<<(tieBits+seqBits+slotBits) | (tie&(1<<tieBits-1))<<(seqBits+slotBits) |
		q.seq<<slotBits | uint64(slot)
	switch bucket, next := l.at>>bucketBits, q.until>>bucketBits; {
	case l.at < q.until:
		q.insert(l.key)
	case bucket-next < buckets:
		q.near.put(bucket, slot, l)
	default:
		q.far.push(l.key)
	}
}

// insert puts a key among those that are due.
func (q *queue) insert(k key) {
	q.due = append(q.due, k)
	q.settle(len(q.due) - 1)
}

// settle moves a key to its place among those before it, which are in order.
func (q *queue) settle(i int) {
	k := q.due[i]
	for i > 0 && q.due[i-1].before(k) {
		q.due[i] = q.due[i-1]
		i--
	}
	q.due[i] = k
}

// pop removes the first key. The queue must not be empty.
func (q *queue) pop() key {
	if len(q.due) == 0 {
		q.turn()
	}
	n := len(q.due) - 1
	k := q.due[n]
	q.due, q.last = q.due[:n], k.at
	return k
}

// turn goes on to the next bucket of whose time there is something.
func (q *queue) turn() {
	bucket := uint64(math.MaxUint64)
	if q.near.used != 0 {
		bucket = q.near.first(q.until >> bucketBits)
	}
	if len(q.far) > 0 {
		bucket = min(bucket, q.far[0].at>>bucketBits)
	}
	q.until = (bucket + 1) << bucketBits
	for slot := q.near.take(bucket); slot >= 0; slot = q.slab[slot].next {
		q.due = append(q.due, q.slab[slot].key)
	}
	for len(q.far) > 0 && q.far[0].at < q.until {
		q.due = append(q.due, q.far.pop())
	}
	if len(q.due) > 1 {
		q.sort()
	}
}

// sort puts what is due in order, last first.
func (q *queue) sort() {
	if len(q.due) > dueMax {
		slices.SortFunc(q.due, func(a, b key) int {
			if a.before(b) {
				return 1
			}
			return -1
		})
		return
	}
	for i := range q.due {
		q.settle(i)
	}
}
