package semantics

import "github.com/oncesim/oncesim/model"

// intake is how a source that replays reads its partition: it hands out the records of a batch one
// by one and commits the position behind what is finished.
//
//	batch[taken:]   fetched and not handed out yet
//	committed       everything before it is finished
//	fetching        a fetch or its timer is under way
type intake struct {
	cursor    cursor
	every     int64
	batch     []model.Record
	taken     int
	committed int64
	fetching  bool
}

// commitEveryParam bounds how much is finished and not committed.
var commitEveryParam = model.Param{Name: "commit-every", Default: 4, Min: 1, Max: 1000,
	Says: "how many finished records one offset commit covers"}

func newIntake(job *model.Job, task *model.Task) intake {
	return intake{cursor: newCursor(job, task), every: job.Param(commitEveryParam.Name)}
}

// open forgets everything and asks for the committed position. The answer must be given to begin.
func (in *intake) open(s *model.Script) {
	in.batch, in.taken, in.committed, in.fetching = in.batch[:0], 0, 0, false
	in.cursor.open(s, model.Position)
}

// begin takes the committed position: reading goes on there.
func (in *intake) begin(ans *model.Answer) { in.cursor.next, in.committed = ans.Seq, ans.Seq }

// next hands out a record; ok is false if there is none to hand out now.
func (in *intake) next() (rec model.Record, ok bool) {
	if in.taken == len(in.batch) {
		return model.Record{}, false
	}
	in.taken++
	return in.batch[in.taken-1], true
}

// refill fetches a batch if all records are handed out.
func (in *intake) refill(s *model.Script) {
	if in.taken == len(in.batch) && !in.fetching && !in.cursor.isEnd {
		in.fetching = true
		in.cursor.fetch(s)
	}
}

// due handles the timer after which there may be something to fetch.
func (in *intake) due() { in.fetching = false }

// fetched keeps a batch. It may begin beyond the position that was asked for: what is gone from
// the input is skipped. If the batch is empty, the cursor's timer asks again.
func (in *intake) fetched(s *model.Script, ans *model.Answer) {
	in.batch, in.taken = append(in.batch[:0], ans.Records...), 0
	in.cursor.took(s, ans)
	in.fetching = ans.N == 0 && !ans.End
}

// nothing is the oldest unfinished record where everything handed out is finished.
const nothing = -1

// settle commits the position when it has moved far enough, or when the input is finished. oldest
// is the offset of the oldest record that is handed out and unfinished, or nothing. Only when a
// record and all before it are finished may the position move behind it: effects first, position
// second.
func (in *intake) settle(s *model.Script, oldest int64) {
	position, isLast := oldest, false
	switch {
	case oldest != nothing:
	case in.taken < len(in.batch):
		position = in.batch[in.taken].ID.Offset
	default:
		position, isLast = in.cursor.next, in.cursor.isEnd
	}
	if position-in.committed >= in.every || isLast && position > in.committed {
		in.committed = position
		in.cursor.commit(s, position)
	}
}

func (in *intake) state(c *model.Codec) {
	in.cursor.state(c)
	model.Slice(c, &in.batch, c.Record)
	taken := int64(in.taken)
	c.Int64(&taken)
	in.taken = int(taken)
	c.Int64(&in.committed)
	c.Bool(&in.fetching)
}
