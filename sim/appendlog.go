package sim

import (
	"fmt"

	"github.com/oncesim/oncesim/model"
)

// AppendLog is the external sink that forgets who wrote: every write is a new entry, a repeated
// one as well.
var AppendLog = model.SinkSpec{
	Name:  "append-log",
	Says:  "a partitioned log: every write is a new entry, also a repeated one",
	Shape: model.Log,
	New:   func(partitions int) model.Service { return newAppendLog(partitions) },
}

// appendLog is a partitioned log.
//
//	parts[p]   the entries of a partition
//	fences[p]  who may still write to it
type appendLog struct {
	parts  [][]model.Record
	fences fences
}

func newAppendLog(partitions int) *appendLog {
	return &appendLog{parts: make([][]model.Record, partitions), fences: make(fences, partitions)}
}

// Reset implements model.Service.
func (l *appendLog) Reset() {
	clear(l.fences)
	for i := range l.parts {
		l.parts[i] = l.parts[i][:0]
	}
}

// Serve implements model.Service.
func (l *appendLog) Serve(_ int64, req *model.Message, ans *model.Answer) {
	part := &l.parts[req.Seq]
	if !l.fences.admits(req, ans) {
		return
	}
	switch req.Kind {
	case model.Write:
		ans.Seq = int64(len(*part))
		*part = append(*part, req.Record)
	case model.WriteBatch:
		ans.Seq = int64(len(*part))
		*part = append(*part, req.Parts...)
	case model.Read:
		ans.Seq, ans.Records = req.Cursor, (*part)[req.Cursor:]
		ans.N = int64(len(ans.Records))
	default:
		panic(fmt.Sprintf("sim: the append log does not serve %s", req.Kind))
	}
}

// State implements model.Service.
func (l *appendLog) State(c *model.Codec) {
	for i := range l.parts {
		l.fences[i].state(c)
		model.Slice(c, &l.parts[i], c.Record)
	}
}
