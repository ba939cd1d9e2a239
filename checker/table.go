package checker

import "github.com/oncesim/oncesim/model"

// table numbers pairs of words densely from 0, in the order in which they were first asked for.
//
// Why not a Go map: clearing one draws a new hash seed, after which the same keys can make it grow
// again, and a reused Judge must not allocate. Clearing a table is one addition.
type table struct {
	probes []probe // open addressing; the length is a power of two, the load at most one half
	keys   []pair
	round  uint32 // probes of other rounds are empty
}

type pair struct{ a, b uint64 }

type probe struct {
	round uint32
	n     int32
}

// reset empties t and keeps its memory.
func (t *table) reset() {
	t.keys = t.keys[:0]
	t.round++
	if t.round == 0 {
		clear(t.probes)
		t.round = 1
	}
}

// len is how many pairs are numbered.
func (t *table) len() int { return len(t.keys) }

// find returns the number of a pair, or -1.
func (t *table) find(a, b uint64) int32 {
	if len(t.keys) == 0 {
		return -1
	}
	return t.probes[t.place(a, b)].at(t.round)
}

// number returns the number of a pair and numbers it if it is new.
func (t *table) number(a, b uint64) (n int32, fresh bool) {
	if 2*len(t.keys) >= len(t.probes) {
		t.grow()
	}
	p := &t.probes[t.place(a, b)]
	if n := p.at(t.round); n >= 0 {
		return n, false
	}
	*p = probe{t.round, int32(len(t.keys))}
	t.keys = append(t.keys, pair{a, b})
	return p.n, true
}

func (p probe) at(round uint32) int32 {
	if p.round != round {
		return -1
	}
	return p.n
}

// place is the index of the probe that holds the pair, or of the empty one where it belongs.
func (t *table) place(a, b uint64) int {
	mask := len(t.probes) - 1
	for i := int(model.Mix(a^hashA, b^hashB)) & mask; ; i = (i + 1) & mask {
		p := t.probes[i]
		if p.round != t.round || t.keys[p.n] == (pair{a, b}) {
			return i
		}
	}
}

func (t *table) grow() {
	t.probes = make([]probe, max(64, 2*len(t.probes)))
	t.round = 1
	for n, key := range t.keys {
		t.probes[t.place(key.a, key.b)] = probe{t.round, int32(n)}
	}
}

// Odd words with as many ones as zeros, so that small pairs do not multiply to zero.
const (
	hashA = 0xa0761d6478bd642f
	hashB = 0xe7037ed1a0b428db
)

// at is place n of a list, which grows with zeros.
func at(list *[]int32, n int32) *int32 {
	for int(n) >= len(*list) {
		*list = append(*list, 0)
	}
	return &(*list)[n]
}

// texts numbers strings densely from 0.
type texts struct {
	hashes table // (hash, which of the strings with this hash) → number
	list   []string
}

func (t *texts) reset() {
	t.hashes.reset()
	t.list = t.list[:0]
}

// number returns the number of a text and numbers it if it is new.
func (t *texts) number(text string) int32 {
	hash := model.HashText(text)
	for same := uint64(0); ; same++ {
		n, fresh := t.hashes.number(hash, same)
		if fresh {
			t.list = append(t.list, text)
			return n
		}
		if t.list[n] == text {
			return n
		}
	}
}
