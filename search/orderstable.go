package search

import (
	"sync"
	"sync/atomic"
)

// keyTable is a set of keys of 128 bits that several workers add to. It is divided by the first
// bits of the key, each part with a lock and a table of open addressing of its own.
type keyTable struct {
	size  atomic.Int64
	max   int64 // it takes no more; 0: as many as there are
	parts [keyParts]keyPart
}

const (
	keyPartBits = 6
	keyParts    = 1 << keyPartBits
)

type keyPart struct {
	lock sync.Mutex
	keys [][2]uint64 // {0, 0}: free; the length is a power of two
	used int
	_    [64]byte // parts share no line of the cache
}

func newKeyTable(most int64) *keyTable { return &keyTable{max: most} }

// add adds a key and reports whether it is new, or would be if there were room for it.
func (t *keyTable) add(key [2]uint64) (isNew, isFull bool) {
	if key == ([2]uint64{}) {
		key[1] = 1
	}
	part := &t.parts[key[0]>>(64-keyPartBits)]
	part.lock.Lock()
	isNew = part.add(key)
	part.lock.Unlock()
	if isNew && t.size.Add(1) > t.max && t.max > 0 {
		t.size.Add(-1)
		return false, true
	}
	return isNew, false
}

func (p *keyPart) add(key [2]uint64) bool {
	if 2*p.used >= len(p.keys) {
		p.grow()
	}
	if !p.put(key) {
		return false
	}
	p.used++
	return true
}

// put enters a key where there is room for it.
func (p *keyPart) put(key [2]uint64) bool {
	mask := uint64(len(p.keys) - 1)
	for i := key[1] & mask; ; i = (i + 1) & mask {
		switch p.keys[i] {
		case key:
			return false
		case [2]uint64{}:
			p.keys[i] = key
			return true
		}
	}
}

func (p *keyPart) grow() {
	old := p.keys
	p.keys = make([][2]uint64, max(64, 2*len(old)))
	for _, key := range old {
		if key != ([2]uint64{}) {
			p.put(key)
		}
	}
}
