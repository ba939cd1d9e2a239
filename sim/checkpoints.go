package sim

import (
	"fmt"
	"slices"

	"github.com/oncesim/oncesim/model"
)

// checkpoints is what the state store knows of snapshots: the parts that tasks uploaded and the
// checkpoint that counts, which moves by compare and set, as the pointer of Flink's
// CompletedCheckpointStore does. The store judges nothing: whether all parts are there is for
// whoever completes a checkpoint to know. Records are only ever added to kept, so that what a task
// was handed stays as it was, also when the part is dropped.
//
//	fence        the highest attempt that asked with a fence; requests about batches share it
//	given        the id given out last
//	retained     the completed checkpoints that can be gone back to, the latest last
//	parts[task]  what is there of a task
type checkpoints struct {
	fence    fence
	given    int64
	retained []int64
	parts    [][]upload
	kept     []model.Record
}

// upload is one part: kept[from:to], of which the first state records are keyed state. One that is
// torn is not all that was uploaded.
type upload struct {
	checkpoint int64
	attempt    int32 // whose it is
	state      int64
	from, to   int64
	isTorn     bool
}

func (s *checkpoints) reset() {
	s.fence, s.given, s.retained, s.kept = 0, 0, s.retained[:0], s.kept[:0]
	for i := range s.parts {
		s.parts[i] = s.parts[i][:0]
	}
	s.parts = s.parts[:0]
}

func (s *checkpoints) serve(req *model.Message, ans *model.Answer) {
	switch req.Kind {
	case model.NextCheckpoint:
		s.given++
		ans.Seq = s.given
	case model.Upload:
		s.upload(req, ans)
	case model.Completion:
		s.complete(req, ans)
	case model.Newest:
		ans.Seq = s.newest(req.N)
	case model.Download:
		s.download(req, ans)
	}
}

// discard drops the parts of a checkpoint. Those of a batch that is run again stay where they are
// of this attempt: a request that comes late, or twice, does not drop what the batch leaves now.
func (s *checkpoints) discard(req *model.Message, isBatch bool) {
	s.drop(func(part *upload) bool {
		return part.checkpoint == req.Seq && (!isBatch || part.attempt < req.Attempt)
	})
}

// task returns the parts of a task.
func (s *checkpoints) task(task int64) *[]upload {
	if task < 0 {
		panic(fmt.Sprintf("sim: a part of task %d", task))
	}
	s.parts = grown(s.parts, int(task)+1)
	return &s.parts[task]
}

// find returns where the part of a checkpoint is in a list, or -1.
func find(list []upload, checkpoint int64) int {
	return slices.IndexFunc(list, func(part upload) bool { return part.checkpoint == checkpoint })
}

func (s *checkpoints) upload(req *model.Message, ans *model.Answer) {
	if req.N < 0 || req.N > int64(len(req.Parts)) {
		panic(fmt.Sprintf("sim: %d of the %d records of a part are state", req.N, len(req.Parts)))
	}
	list := s.task(req.Token)
	if find(*list, req.Seq) >= 0 {
		ans.Outcome = model.DoneBefore
		return
	}
	from := int64(len(s.kept))
	s.kept = append(s.kept, req.Parts...)
	*list = append(*list, upload{checkpoint: req.Seq, attempt: req.Attempt, state: req.N,
		from: from, to: int64(len(s.kept))})
}

// tear leaves the beginning of a part that was just uploaded.
func (s *checkpoints) tear(req *model.Message) {
	list := *s.task(req.Token)
	part := &list[find(list, req.Seq)]
	left := int64(len(model.FirstHalf(req.Parts)))
	part.to, part.state, part.isTorn = part.from+left, min(part.state, left), true
}

func (s *checkpoints) download(req *model.Message, ans *model.Answer) {
	list := *s.task(req.Token)
	i := find(list, req.Seq)
	if req.Seq == 0 {
		i = len(list) - 1
	}
	if i < 0 {
		return
	}
	part := &list[i]
	ans.Found, ans.N, ans.Seq, ans.End = true, part.state, part.checkpoint, part.isTorn
	ans.Records = s.kept[part.from:part.to:part.to]
}

// newest is the completed checkpoint that n others followed, or the oldest that is left.
func (s *checkpoints) newest(n int64) int64 {
	if n < 0 {
		panic(fmt.Sprintf("sim: the checkpoint %d before the newest", n))
	}
	if len(s.retained) == 0 {
		return 0
	}
	return s.retained[max(0, int64(len(s.retained))-1-n)]
}

// complete moves the pointer on if it is where the request says. Parts go whose checkpoint cannot
// be gone back to any more, be it because it was never completed; later ones may be under way.
func (s *checkpoints) complete(req *model.Message, ans *model.Answer) {
	if req.N < 1 || req.Seq < 1 {
		panic(fmt.Sprintf("sim: checkpoint %d completed, %d retained", req.Seq, req.N))
	}
	ans.Seq = s.newest(0)
	switch ans.Seq {
	case req.Seq:
		ans.Outcome = model.DoneBefore
		return
	case req.Cursor:
	default:
		ans.Outcome = model.Stale
		return
	}
	ans.Seq = req.Seq
	if i := slices.Index(s.retained, req.Seq); i >= 0 { // it goes back: what followed is given up
		s.retained = s.retained[:i]
	}
	s.retained = append(s.retained, req.Seq)
	if over := int64(len(s.retained)) - req.N; over > 0 {
		s.retained = append(s.retained[:0], s.retained[over:]...)
	}
	s.drop(func(part *upload) bool {
		return part.checkpoint < req.Seq && !slices.Contains(s.retained, part.checkpoint)
	})
}

// drop drops the parts that are to go.
func (s *checkpoints) drop(isToGo func(*upload) bool) {
	for i, list := range s.parts {
		left := list[:0]
		for j := range list {
			if !isToGo(&list[j]) {
				left = append(left, list[j])
			}
		}
		s.parts[i] = left
	}
}

func (s *checkpoints) state(c *model.Codec) {
	if c.IsDecoding() {
		s.reset()
		s.kept = nil
	}
	s.fence.state(c)
	c.Int64(&s.given)
	model.Slice(c, &s.retained, c.Int64)
	n := c.Len(len(s.parts))
	s.parts = grown(s.parts, n)
	for i := range s.parts {
		model.Slice(c, &s.parts[i], func(part *upload) {
			c.Int64(&part.checkpoint)
			c.Int32(&part.attempt)
			c.Int64(&part.state)
			c.Bool(&part.isTorn)
			s.recordsOf(c, part)
		})
	}
}

// recordsOf encodes or restores the records of a part. Those of parts that were dropped are left
// out, and so is where in kept a part is: nobody can see either.
func (s *checkpoints) recordsOf(c *model.Codec, part *upload) {
	var records []model.Record
	if !c.IsDecoding() {
		records = s.kept[part.from:part.to]
		model.Slice(c, &records, c.Record)
		return
	}
	model.Slice(c, &records, c.Record)
	part.from = int64(len(s.kept))
	s.kept = append(s.kept, records...)
	part.to = int64(len(s.kept))
}
