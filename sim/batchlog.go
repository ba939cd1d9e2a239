package sim

import (
	"fmt"

	"github.com/oncesim/oncesim/model"
)

// BatchLog is the external sink that knows which batches it holds: a batch that comes again is no
// new entries. It is what a table format does that keeps the id of a writer's last transaction in
// its log (Delta Lake's txnAppId and txnVersion), and where a write-ahead sink writes to.
var BatchLog = model.SinkSpec{
	Name:  "batch-log",
	Says:  "a partitioned log that knows batches: one that comes again is no new entries",
	Shape: model.Log,
	New:   func(partitions int) model.Service { return newBatchLog(partitions) },
}

// batchLog is a partitioned log.
//
//	parts[p]   the entries of a partition
//	held[p]    the batches that it holds, in the order in which they came
//	fences[p]  who may still write to it
type batchLog struct {
	parts  [][]model.Record
	held   [][]heldBatch
	fences fences
}

// heldBatch is a batch in a log: its id, and where it begins.
type heldBatch struct{ id, first int64 }

func newBatchLog(partitions int) *batchLog {
	return &batchLog{parts: make([][]model.Record, partitions),
		held: make([][]heldBatch, partitions), fences: make(fences, partitions)}
}

// Reset implements model.Service.
func (l *batchLog) Reset() {
	clear(l.fences)
	for i := range l.parts {
		l.parts[i], l.held[i] = l.parts[i][:0], l.held[i][:0]
	}
}

// Serve implements model.Service.
func (l *batchLog) Serve(_ int64, req *model.Message, ans *model.Answer) {
	part := &l.parts[req.Seq]
	if !l.fences.admits(req, ans) {
		return
	}
	switch req.Kind {
	case model.Write:
		ans.Seq = int64(len(*part))
		*part = append(*part, req.Record)
	case model.WriteBatch:
		l.writeBatch(req, ans)
	case model.Read:
		ans.Seq, ans.Records = req.Cursor, (*part)[req.Cursor:]
		ans.N = int64(len(ans.Records))
	default:
		panic(fmt.Sprintf("sim: the batch log does not serve %s", req.Kind))
	}
}

// writeBatch appends a batch that is not there. It is sought from the latest on: what comes again
// was mostly the last to come.
func (l *batchLog) writeBatch(req *model.Message, ans *model.Answer) {
	part, held := &l.parts[req.Seq], &l.held[req.Seq]
	ans.Seq = int64(len(*part))
	if req.Token != 0 {
		for i := len(*held) - 1; i >= 0; i-- {
			if (*held)[i].id == req.Token {
				ans.Outcome, ans.Seq = model.DoneBefore, (*held)[i].first
				return
			}
		}
		*held = append(*held, heldBatch{id: req.Token, first: ans.Seq})
	}
	*part = append(*part, req.Parts...)
}

// State implements model.Service.
func (l *batchLog) State(c *model.Codec) {
	for i := range l.parts {
		l.fences[i].state(c)
		model.Slice(c, &l.parts[i], c.Record)
		model.Slice(c, &l.held[i], func(b *heldBatch) {
			c.Int64(&b.id)
			c.Int64(&b.first)
		})
	}
}
