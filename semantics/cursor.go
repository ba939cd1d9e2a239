package semantics

import "github.com/oncesim/oncesim/model"

// pollToken marks the timer of a cursor that waits for records to arrive.
const pollToken = -1

// pollMin is how long a cursor waits at least before it asks again: records that arrive meanwhile
// come in one batch.
const pollMin = 2_000_000

// cursor reads one partition batch by batch, as sources do in every mode.
//
//	next    the offset to fetch next; everything before it was handed out in this life
//	isEnd   next is the end of the bounded input
type cursor struct {
	part  int32
	batch int64
	next  int64
	isEnd bool
}

func (c *cursor) request(kind model.Kind, seq int64) model.Message {
	return model.Message{Kind: kind, Seq: seq, N: c.batch,
		Record: model.Record{ID: model.ID{Part: c.part, Offset: -1}}}
}

// open resets the cursor and asks where to begin: at the committed offset, or at the end of what
// has arrived.
func (c *cursor) open(s *model.Script, where model.Kind) {
	c.next, c.isEnd = 0, false
	s.CallUntilDone(model.InputLog, c.request(where, 0))
}

// fetch asks for the next batch.
func (c *cursor) fetch(s *model.Script) {
	if !c.isEnd {
		s.CallUntilDone(model.InputLog, c.request(model.Fetch, c.next))
	}
}

// commit asks that the committed offset become seq.
func (c *cursor) commit(s *model.Script, seq int64) {
	s.CallUntilDone(model.InputLog, c.request(model.OffsetCommit, seq))
}

// took moves behind a fetched batch, or sets a timer to ask again.
func (c *cursor) took(s *model.Script, ans *model.Answer) {
	c.next, c.isEnd = ans.Seq+ans.N, ans.End
	if ans.N == 0 && !ans.End {
		s.After(max(ans.Wait, pollMin), pollToken)
	}
}

func (c *cursor) state(codec *model.Codec) {
	codec.Int64(&c.next)
	codec.Bool(&c.isEnd)
}
