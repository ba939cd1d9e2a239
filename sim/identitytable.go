package sim

import (
	"fmt"

	"github.com/oncesim/oncesim/model"
)

// TableByIdentity is the external sink in which an output has a row of its own: writing it again
// overwrites the row, so that a repeated write is no second result. It is what an upsert under a
// deterministic document or primary key is.
var TableByIdentity = model.SinkSpec{
	Name:  "table-by-identity",
	Says:  "a table with a row for each output: writing an output again overwrites its row",
	Shape: model.Rows,
	New:   func(partitions int) model.Service { return newIdentityTable(partitions) },
}

// identity is what makes two records the same output.
type identity struct {
	id   model.ID
	op   int32
	path model.Path
}

func identityOf(r *model.Record) identity { return identity{id: r.ID, op: r.Op, path: r.Path} }

// identityTable is a partitioned table by identity. A read of its changes says in Places which row
// each of them is about.
type identityTable struct {
	parts  []changeFeed
	rows   []map[identity]int64 // per partition: the place of a row
	fences fences               // who may still write to a partition
}

func newIdentityTable(partitions int) *identityTable {
	t := &identityTable{parts: make([]changeFeed, partitions), fences: make(fences, partitions)}
	for range partitions {
		t.rows = append(t.rows, map[identity]int64{})
	}
	return t
}

// Reset implements model.Service.
func (t *identityTable) Reset() {
	clear(t.fences)
	for i := range t.parts {
		t.parts[i].reset()
		clear(t.rows[i])
	}
}

// Serve implements model.Service.
func (t *identityTable) Serve(_ int64, req *model.Message, ans *model.Answer) {
	part := &t.parts[req.Seq]
	if !t.fences.admits(req, ans) {
		return
	}
	switch req.Kind {
	case model.Write:
		ans.Seq = t.put(req.Seq, &req.Record)
	case model.WriteBatch:
		for i := range req.Parts {
			t.put(req.Seq, &req.Parts[i])
		}
	case model.Read:
		part.read(req, ans)
		if req.Flags&model.Whole == 0 {
			ans.Places = part.places[req.Cursor:]
		}
	default:
		panic(fmt.Sprintf("sim: the table by identity does not serve %s", req.Kind))
	}
}

// put writes a row and returns its place.
func (t *identityTable) put(part int64, rec *model.Record) (row int64) {
	row, known := t.rows[part][identityOf(rec)]
	if !known {
		row = int64(len(t.parts[part].last))
		t.rows[part][identityOf(rec)] = row
	}
	t.parts[part].put(row, rec)
	return row
}

// State implements model.Service.
func (t *identityTable) State(c *model.Codec) {
	for i := range t.parts {
		part := &t.parts[i]
		t.fences[i].state(c)
		part.state(c)
		if !c.IsDecoding() {
			continue
		}
		clear(t.rows[i])
		for row, change := range part.last {
			t.rows[i][identityOf(&part.changes[change])] = int64(row)
		}
	}
}
