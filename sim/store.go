package sim

import (
	"fmt"

	"github.com/oncesim/oncesim/model"
)

// store is what tasks keep durable: the keyed state of the operators, one value for each operator
// and key, a row for each task that asks for one, and the checkpoints and batches of a job. Each
// request is atomic. A read-modify-write is two of them, and nothing holds them together but an
// update of a row.
type store struct {
	ops         []map[string]model.Value // by Record.Op-1
	rows        []taskRow                // by task
	checkpoints checkpoints
	batches     batches
	keys        []string // scratch for encoding
}

func newStore(ops int) *store {
	s := &store{ops: make([]map[string]model.Value, ops)}
	for i := range s.ops {
		s.ops[i] = map[string]model.Value{}
	}
	return s
}

// Reset implements model.Service.
func (s *store) Reset() {
	for i := range s.ops {
		clear(s.ops[i])
	}
	s.forgetRows()
	s.checkpoints.reset()
	s.batches.reset()
}

// forgetRows empties the rows and keeps their memory.
func (s *store) forgetRows() {
	for i := range s.rows {
		s.rows[i].reset()
	}
	s.rows = s.rows[:0]
}

// Serve implements model.Service.
func (s *store) Serve(_ int64, req *model.Message, ans *model.Answer) {
	switch req.Kind {
	case model.Get:
		ans.Value, ans.Found = s.ops[req.Record.Op-1][req.Record.Key]
	case model.Put:
		s.ops[req.Record.Op-1][req.Record.Key] = req.Record.Value
	case model.LoadIDs, model.LoadOutbox, model.Update, model.Mark:
		s.serveRow(s.row(req.Token), req, ans)
	default:
		s.serveJob(req, ans)
	}
}

// serveJob serves what is about the job as a whole: all of it is behind one fence.
func (s *store) serveJob(req *model.Message, ans *model.Answer) {
	if req.Kind.Service() != model.StateStore {
		panic(fmt.Sprintf("sim: the state store does not serve %s", req.Kind))
	}
	if !s.checkpoints.fence.admits(req) {
		ans.Outcome = model.Refused
		return
	}
	switch req.Kind {
	case model.PlanBatch, model.FinishBatch, model.NewestBatch:
		s.batches.serve(req, ans)
	case model.Discard:
		s.checkpoints.discard(req, s.batches.isPlanned(req.Seq))
	default:
		s.checkpoints.serve(req, ans)
	}
}

// row returns the row of a task, a new one if it has none yet.
func (s *store) row(task int64) *taskRow {
	if task < 0 {
		panic(fmt.Sprintf("sim: the row of task %d", task))
	}
	s.rows = grown(s.rows, int(task)+1)
	return &s.rows[task]
}

func (s *store) serveRow(row *taskRow, req *model.Message, ans *model.Answer) {
	if !row.fence.admits(req) {
		ans.Outcome = model.Refused
		return
	}
	switch req.Kind {
	case model.LoadIDs:
		row.catalog(req.Channel).load(ans)
	case model.LoadOutbox:
		ans.Seq, ans.Records = row.first, row.outbox[row.first:len(row.outbox):len(row.outbox)]
		ans.N = int64(len(ans.Records))
	case model.Mark:
		row.takeUp(req, ans)
	case model.Update:
		if !row.takeUp(req, ans) {
			return
		}
		if req.Flags&model.WithState != 0 {
			s.ops[req.Record.Op-1][req.Record.Key] = req.Record.Value
		}
		row.first = max(row.first, min(req.Cursor, int64(len(row.outbox))))
		row.outbox = append(row.outbox, req.Parts...)
	}
}

// State implements model.Service.
func (s *store) State(c *model.Codec) {
	for i := range s.ops {
		model.Map(c, s.ops[i], &s.keys, c.Value)
	}
	n := c.Len(len(s.rows))
	if c.IsDecoding() {
		s.forgetRows()
		s.rows = grown(s.rows, n)
	}
	for i := range s.rows {
		s.rows[i].state(c)
	}
	s.checkpoints.state(c)
	s.batches.state(c)
}
