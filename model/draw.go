package model

import "math/bits"

// Domain separates draws about different things, so that they never share a stream.
type Domain uint64

// The domains. Their numbers enter golden vectors: append, never reorder.
const (
	DrawRequestLatency Domain = iota + 1 // a request on its way to a service
	DrawAnswerLatency                    // an answer on its way back
	DrawChannelLatency                   // a message between two processes
	DrawRestart                          // how long detection and restart take
	DrawTie                              // the order of events at one instant
	DrawPlan                             // a fault plan
	DrawInput                            // generated input
	DrawOperator                         // an operator's own non-determinism
)

const (
	drawK0 = 0xa0761d6478bd642f
	drawK1 = 0xe7037ed1a0b428db
	drawK2 = 0x8ebc6af09c88c6e3
	drawK3 = 0x589965cc75374cc3
	drawK4 = 0x1d8e4e27c47d124f
)

// Draw is the keyed draw: a 64-bit hash of a seed and of the subject that the draw is about. There
// is no sequence: the same subject under the same seed draws the same number, whatever else was
// drawn before, so that removing a fault or a record moves nothing else.
//
// It folds 64x64 to 128 bit products as wyhash does (Wang Yi, "wyhash", public domain). The result
// is part of the golden hashes; draw_test.go holds its vectors.
func Draw(seed uint64, d Domain, a, b, c uint64) uint64 {
	x := Mix(seed^drawK0, uint64(d)^drawK1)
	y := Mix(a^x^drawK2, b^drawK3)
	z := Mix(c^y^drawK4, x^drawK1)
	return Mix(z^drawK2, y^drawK0)
}

// Mix folds the 128-bit product of its arguments into 64 bits.
func Mix(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}

// Below scales a draw to 0 ≤ r < n without division; n must be positive.
func Below(draw uint64, n int64) int64 {
	if n <= 0 {
		panic("model: Below needs a positive bound")
	}
	hi, _ := bits.Mul64(draw, uint64(n))
	return int64(hi)
}

// HashText hashes a string to a draw subject. It is stable across machines and versions.
func HashText(s string) uint64 {
	h := Mix(uint64(len(s))^drawK0, drawK1)
	left := s
	for len(left) >= 8 {
		h = Mix(h^word(left)^drawK2, drawK3)
		left = left[8:]
	}
	var w uint64
	switch {
	case len(left) == 0:
	case len(s) >= 8: // the end of the last eight bytes
		w = word(s[len(s)-8:]) >> (64 - 8*len(left))
	default:
		for i := 0; i < len(left); i++ {
			w |= uint64(left[i]) << (8 * i)
		}
	}
	return Mix(h^w^drawK4, drawK3)
}

// word is the first eight bytes of a string, the first one lowest.
func word(s string) uint64 {
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// Subject folds a record identity to a draw subject.
func (r *Record) Subject() uint64 {
	where := uint64(uint32(r.ID.Part))<<32 | uint64(uint32(r.Op))
	return Mix(where^drawK2, uint64(r.ID.Offset)^drawK3) + Mix(uint64(r.Path)^drawK4, drawK1)
}
