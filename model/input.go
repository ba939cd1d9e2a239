package model

import "fmt"

// Partition is one FIFO log of input records. Record i has offset i and arrives (i+1)·Every
// virtual ns after the start, so that at time 0 not everything exists.
type Partition struct {
	Records []Record
	Every   int64
}

// Arrival is the virtual time at which the record at offset becomes readable.
func (p *Partition) Arrival(offset int64) int64 { return (offset + 1) * p.Every }

// Input is the whole bounded input of a run: one Partition per partition of the topology. It is
// immutable once made and may be shared by any number of runs.
type Input struct {
	Parts     []Partition
	Malformed int // lines that the decoder could not read; each is still a record
	base      []int
	total     int
}

// NewInput numbers the records of parts and returns the input.
func NewInput(parts []Partition) *Input {
	in := &Input{Parts: parts}
	for p := range parts {
		if parts[p].Every <= 0 {
			panic(fmt.Sprintf("model: partition %d with arrival interval %d", p, parts[p].Every))
		}
		in.base = append(in.base, in.total)
		for i := range parts[p].Records {
			parts[p].Records[i].ID = ID{Part: int32(p), Offset: int64(i)}
		}
		in.total += len(parts[p].Records)
	}
	return in
}

// Total is the number of records.
func (in *Input) Total() int { return in.total }

// Has reports whether id is the position of a record.
func (in *Input) Has(id ID) bool {
	return id.Part >= 0 && int(id.Part) < len(in.Parts) &&
		id.Offset >= 0 && id.Offset < int64(len(in.Parts[id.Part].Records))
}

// Index numbers the records densely: 0 ≤ Index < Total, in the order of ID.Compare.
func (in *Input) Index(id ID) int { return in.base[id.Part] + int(id.Offset) }

// At returns the record at a position that Has it.
func (in *Input) At(id ID) *Record { return &in.Parts[id.Part].Records[id.Offset] }

// ByIndex is the inverse of Index.
func (in *Input) ByIndex(i int) *Record {
	part := len(in.base) - 1
	for in.base[part] > i {
		part--
	}
	return &in.Parts[part].Records[i-in.base[part]]
}
