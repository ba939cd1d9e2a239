package sim

import (
	"fmt"

	"github.com/oncesim/oncesim/model"
)

// TableByKey is the external sink in which a key has one row for each operator that writes it: the
// last write wins, whoever wrote. A Versioned write wins only over a lower version, which is the
// conditional write that stores offer against late ones.
var TableByKey = model.SinkSpec{
	Name:  "table-by-key",
	Says:  "a table with a row for each key: the last write wins, or the highest version",
	Shape: model.Keys,
	New:   func(partitions int) model.Service { return newKeyTable(partitions) },
}

// rowKey is what a row is found by.
type rowKey struct {
	op  int32
	key string
}

func rowKeyOf(r *model.Record) rowKey { return rowKey{op: r.Op, key: r.Key} }

// keyTable is a partitioned table by key.
//
//	versions[part][row]  the version of the last Versioned write to the row, or noVersion
//	fences[part]         who may still write to a partition
type keyTable struct {
	fences   fences
	parts    []changeFeed
	rows     []map[rowKey]int64
	versions [][]int64
}

// noVersion is below every version.
const noVersion = -1 << 63

func newKeyTable(partitions int) *keyTable {
	t := &keyTable{parts: make([]changeFeed, partitions), versions: make([][]int64, partitions),
		fences: make(fences, partitions)}
	for range partitions {
		t.rows = append(t.rows, map[rowKey]int64{})
	}
	return t
}

// Reset implements model.Service.
func (t *keyTable) Reset() {
	clear(t.fences)
	for i := range t.parts {
		t.parts[i].reset()
		t.versions[i] = t.versions[i][:0]
		clear(t.rows[i])
	}
}

// Serve implements model.Service.
func (t *keyTable) Serve(_ int64, req *model.Message, ans *model.Answer) {
	if !t.fences.admits(req, ans) {
		return
	}
	switch req.Kind {
	case model.Write:
		t.write(req, ans)
	case model.WriteBatch:
		for i := range req.Parts {
			t.parts[req.Seq].put(t.row(req.Seq, &req.Parts[i]), &req.Parts[i])
		}
	case model.Read:
		t.parts[req.Seq].read(req, ans)
	default:
		panic(fmt.Sprintf("sim: the table by key does not serve %s", req.Kind))
	}
}

// write makes a row hold the record. The place of the row is the answer, also where something
// newer is there.
func (t *keyTable) write(req *model.Message, ans *model.Answer) {
	row := t.row(req.Seq, &req.Record)
	versions := t.versions[req.Seq]
	ans.Seq = row
	if req.Flags&model.Versioned != 0 {
		switch stored := versions[row]; {
		case req.Token < stored:
			ans.Outcome, ans.N = model.Stale, stored
			return
		case req.Token == stored:
			ans.Outcome = model.DoneBefore
			return
		}
		versions[row] = req.Token
	}
	t.parts[req.Seq].put(row, &req.Record)
}

// row is the place of the row that a record is put in: the one of its key, or behind the last.
func (t *keyTable) row(part int64, rec *model.Record) int64 {
	row, known := t.rows[part][rowKeyOf(rec)]
	if !known {
		row = int64(len(t.versions[part]))
		t.rows[part][rowKeyOf(rec)] = row
		t.versions[part] = append(t.versions[part], noVersion)
	}
	return row
}

// State implements model.Service.
func (t *keyTable) State(c *model.Codec) {
	for i := range t.parts {
		part := &t.parts[i]
		t.fences[i].state(c)
		part.state(c)
		model.Slice(c, &t.versions[i], c.Int64)
		if !c.IsDecoding() {
			continue
		}
		clear(t.rows[i])
		for row, change := range part.last {
			t.rows[i][rowKeyOf(&part.changes[change])] = int64(row)
		}
	}
}
