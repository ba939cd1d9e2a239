package sim

import (
	"fmt"
	"slices"

	"github.com/oncesim/oncesim/model"
)

// batches is the plan of a job that runs one batch after the other: what the input of each is, put
// if absent, and which are finished. It is the offset log and the commit log of Spark Structured
// Streaming (MicroBatchExecution, HDFSMetadataLog.add).
//
//	list[b]  batch b, if it is planned
//	newest   the batch planned last, or 0
//	kept     the ends of all of them; they are only ever added
type batches struct {
	list   []batch
	newest int64
	kept   []model.Record
}

// batch is one of them: its input is kept[from:to].
type batch struct {
	isPlanned, isFinished bool
	attempt               int32 // whose plan it is
	from, to              int64
}

func (b *batches) reset() {
	clear(b.list)
	b.list, b.newest, b.kept = b.list[:0], 0, b.kept[:0]
}

// at returns a batch.
func (b *batches) at(number int64) *batch {
	if number < 1 {
		panic(fmt.Sprintf("sim: batch %d", number))
	}
	b.list = grown(b.list, int(number)+1)
	return &b.list[number]
}

func (b *batches) serve(req *model.Message, ans *model.Answer) {
	switch req.Kind {
	case model.PlanBatch:
		b.plan(req, ans)
	case model.FinishBatch:
		b.finish(b.at(req.Seq), ans)
	case model.NewestBatch:
		if ans.Seq = b.newest; b.newest > 0 {
			newest := b.at(b.newest)
			ans.Found = newest.isFinished
			b.tell(newest, ans)
		}
	}
}

func (b *batches) plan(req *model.Message, ans *model.Answer) {
	planned := b.at(req.Seq)
	if planned.isPlanned {
		b.tell(planned, ans)
		ans.Outcome = model.Stale
		if planned.attempt == req.Attempt && slices.Equal(ans.Records, req.Parts) {
			ans.Outcome = model.DoneBefore
		}
		return
	}
	planned.isPlanned, planned.attempt = true, req.Attempt
	planned.from = int64(len(b.kept))
	b.kept = append(b.kept, req.Parts...)
	planned.to, b.newest = int64(len(b.kept)), req.Seq
}

// finish marks a batch; one that nobody planned cannot be finished.
func (*batches) finish(planned *batch, ans *model.Answer) {
	switch {
	case !planned.isPlanned:
		ans.Outcome = model.Refused
	case planned.isFinished:
		ans.Outcome = model.DoneBefore
	}
	planned.isFinished = planned.isPlanned
}

func (b *batches) isPlanned(number int64) bool {
	return number > 0 && number < int64(len(b.list)) && b.list[number].isPlanned
}

// tell answers with the input of a batch.
func (b *batches) tell(planned *batch, ans *model.Answer) {
	ans.Records = b.kept[planned.from:planned.to:planned.to]
	ans.N = int64(len(ans.Records))
}

func (b *batches) state(c *model.Codec) {
	if c.IsDecoding() {
		b.reset()
	}
	c.Int64(&b.newest)
	model.Slice(c, &b.kept, c.Record)
	model.Slice(c, &b.list, func(planned *batch) {
		c.Bool(&planned.isPlanned)
		c.Bool(&planned.isFinished)
		c.Int32(&planned.attempt)
		c.Int64(&planned.from)
		c.Int64(&planned.to)
	})
}
