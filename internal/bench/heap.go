package bench

import "math/rand/v2"

// event is what the bare heap moves: 48 bytes without a pointer.
type event struct {
	at  int64
	seq uint64
	_   [4]uint64 // kind, parties and three operands
}

func (e *event) before(other *event) bool {
	return e.at < other.at || e.at == other.at && e.seq < other.seq
}

// bareHeap is the yardstick of the event loop: a 4-ary heap of events by value, as one would write
// it first.
type bareHeap struct {
	list []event
	seq  uint64
	draw *rand.PCG
}

// newBareHeap returns a heap with so many pending events.
func newBareHeap(pending int) *bareHeap {
	h := &bareHeap{draw: rand.NewPCG(1, 2)}
	for range pending {
		h.push(event{at: h.latency()})
	}
	return h
}

// latency draws from a span as wide as that of a channel.
func (h *bareHeap) latency() int64 {
	const span = 800_001
	return 200_000 + int64(h.draw.Uint64()>>32*span>>32)
}

// turn pops the first event and pushes it again at a later time, n times.
func (h *bareHeap) turn(n int) int {
	for range n {
		e := h.pop()
		e.at += h.latency()
		h.push(e)
	}
	return n
}

func (h *bareHeap) push(e event) {
	h.seq++
	e.seq = h.seq
	h.list = append(h.list, e)
	i := len(h.list) - 1
	for i > 0 {
		up := (i - 1) / 4
		if !e.before(&h.list[up]) {
			break
		}
		h.list[i] = h.list[up]
		i = up
	}
	h.list[i] = e
}

func (h *bareHeap) pop() event {
	first := h.list[0]
	last := h.list[len(h.list)-1]
	h.list = h.list[:len(h.list)-1]
	n := len(h.list)
	if n == 0 {
		return first
	}
	hole := 0
	for {
		least := 4*hole + 1
		if least >= n {
			break
		}
		for child := least + 1; child < min(4*hole+5, n); child++ {
			if h.list[child].before(&h.list[least]) {
				least = child
			}
		}
		if !h.list[least].before(&last) {
			break
		}
		h.list[hole] = h.list[least]
		hole = least
	}
	h.list[hole] = last
	return first
}
