package model

import "slices"

// memoryChunk is how many records one allocation of a Memory holds at least.
const memoryChunk = 1024

// Memory keeps copies of records for as long as a run lasts, so that the parts of a request stay
// what they were when it was made. It allocates in chunks and reuses them after Reset.
type Memory struct {
	chunks [][]Record
	used   int // chunks[:used] hold something
}

// Reset forgets everything; what Keep returned is no longer valid.
func (m *Memory) Reset() { m.used = 0 }

// Keep returns a copy of list. A nil Memory copies to the heap.
func (m *Memory) Keep(list []Record) []Record {
	switch {
	case len(list) == 0:
		return nil
	case m == nil:
		return slices.Clone(list)
	}
	if m.used == 0 || cap(m.chunks[m.used-1])-len(m.chunks[m.used-1]) < len(list) {
		m.next(len(list))
	}
	chunk := &m.chunks[m.used-1]
	from := len(*chunk)
	*chunk = append(*chunk, list...)
	return (*chunk)[from:len(*chunk):len(*chunk)]
}

// Mark says how much m holds; Cut forgets what Keep was given since.
func (m *Memory) Mark() (chunks, last int) {
	if m.used == 0 {
		return 0, 0
	}
	return m.used, len(m.chunks[m.used-1])
}

// Cut makes m hold what it held at a Mark. What Keep returned since is no longer valid.
func (m *Memory) Cut(chunks, last int) {
	m.used = chunks
	if chunks > 0 {
		m.chunks[chunks-1] = m.chunks[chunks-1][:last]
	}
}

// next begins a chunk that has room for n records.
func (m *Memory) next(n int) {
	if m.used == len(m.chunks) {
		m.chunks = append(m.chunks, nil)
	}
	if cap(m.chunks[m.used]) < n {
		m.chunks[m.used] = make([]Record, 0, max(n, memoryChunk))
	}
	m.chunks[m.used] = m.chunks[m.used][:0]
	m.used++
}
