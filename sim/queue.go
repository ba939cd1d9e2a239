package sim

import "fmt"

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

// key orders one pending event. A heap of small keys beside a slab of events moves 16 bytes a
// swap instead of an event.
type key struct {
	at uint64
	lo uint64 // class, tie, seq, slot
}

func (k key) before(other key) bool {
	return k.at < other.at || k.at == other.at && k.lo < other.lo
}

func (k key) slot() int32 { return int32(k.lo & (slotsMax - 1)) }

// queue is a binary heap of keys over a slab of items. Slots are reused; an item keeps its slot
// until free, also after it was popped, so that a busy process can hold on to it.
type queue struct {
	heap []key
	slab []item
	gaps []int32
	seq  uint64
	// isFull: there is no slot or no sequence number left. Nothing more is queued; the world ends
	// the run as one that has spent its budget.
	isFull bool
}

func (q *queue) reset() {
	q.heap, q.slab, q.gaps, q.seq = q.heap[:0], q.slab[:0], q.gaps[:0], 0
	q.isFull = false
}

// grab returns a free slot; its item holds whatever it held before.
func (q *queue) grab() int32 {
	if n := len(q.gaps); n > 0 {
		slot := q.gaps[n-1]
		q.gaps = q.gaps[:n-1]
		return slot
	}
	if len(q.slab) >= slotsMax-slotsSpare {
		q.isFull = true
	}
	if len(q.slab) == slotsMax {
		panic(fmt.Sprintf("sim: one event made more than %d others", slotsSpare))
	}
	if len(q.slab) < cap(q.slab) {
		q.slab = q.slab[:len(q.slab)+1]
	} else {
		q.slab = append(q.slab, item{})
	}
	return int32(len(q.slab) - 1)
}

func (q *queue) free(slot int32) { q.gaps = append(q.gaps, slot) }

// push schedules the item in a slot.
func (q *queue) push(at int64, class, tie uint64, slot int32) {
	q.seq++
	if q.seq == seqMax-1 {
		q.isFull = true
	}
	lo := class<<(tieBits+seqBits+slotBits) | (tie&(1<<tieBits-1))<<(seqBits+slotBits) |
		q.seq<<slotBits | uint64(slot)
	q.heap = append(q.heap, key{})
	k := key{uint64(at), lo}
	i := len(q.heap) - 1
	for i > 0 {
		up := (i - 1) / 2
		if q.heap[up].before(k) {
			break
		}
		q.heap[i] = q.heap[up]
		i = up
	}
	q.heap[i] = k
}

// pop removes the first key. It sifts a hole to the bottom and the last key up from there: half
// the comparisons of the textbook way, since the last key nearly always belongs near the bottom.
func (q *queue) pop() key {
	first := q.heap[0]
	last := q.heap[len(q.heap)-1]
	q.heap = q.heap[:len(q.heap)-1]
	n := len(q.heap)
	if n == 0 {
		return first
	}
	hole := 0
	for {
		child := 2*hole + 1
		if child >= n {
			break
		}
		if child+1 < n && q.heap[child+1].before(q.heap[child]) {
			child++
		}
		q.heap[hole] = q.heap[child]
		hole = child
	}
	for hole > 0 {
		up := (hole - 1) / 2
		if q.heap[up].before(last) {
			break
		}
		q.heap[hole] = q.heap[up]
		hole = up
	}
	q.heap[hole] = last
	return first
}
