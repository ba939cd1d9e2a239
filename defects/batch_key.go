package defects

import "github.com/oncesim/oncesim/model"

var batchIDsBeginAgain = Defect{
	Name: "batch-ids-begin-again", Kind: &CommitKey, IsKindOnly: true,
	Modes:    []string{"micro-batch"},
	Says:     "batches are numbered from one again after a restart, under the same name",
	Origin:   "apache/paimon#9667",
	Property: "at-least-once",
	Shown: Case{Topology: "pipeline", Records: 2,
		Plan: []string{"crash source/0 after effect 1 of checkpoint 1"}},
	Process: of(model.Sink, meddling{
		heard: func(m *meddler, ev *model.Event, _ *model.Script) bool {
			if isAnswer(ev, model.WriteBatch) {
				ev.Msg.Token = ev.Msg.Cursor
			}
			return true
		},
		said: each(func(m *meddler, e *model.Effect) {
			if is(e, model.WriteBatch) {
				m.n++
				e.Msg.Cursor, e.Msg.Token = e.Msg.Token, m.n
			}
		}),
	}),
}

var onePartitionIsAll = Defect{
	Name: "one-partition-is-all", Kind: &CommitKey, Modes: []string{"micro-batch"},
	Says: "the first partition that commits after a restart marks its batch, and the others are " +
		"taken for late",
	Origin:   "delta-io/connectors#467",
	Property: "at-least-once",
	Shown: Case{Topology: "page-views", Records: 2,
		Plan: []string{"crash driver/0 after newest-batch 1"}},
	Service: only(model.External, func(s behind) model.Service { return &batchMarker{behind: s} }),
}

// batchMarker stands in front of a log that knows batches.
//
//	attempt   the one that wrote last
//	batch     that it wrote first, if it is not the first attempt
type batchMarker struct {
	behind
	attempt int32
	batch   int64
}

// Reset implements model.Service.
func (b *batchMarker) Reset() {
	b.Service.Reset()
	b.attempt, b.batch = 1, 0
}

// Serve implements model.Service.
func (b *batchMarker) Serve(now int64, req *model.Message, ans *model.Answer) {
	switch {
	case req.Kind != model.WriteBatch:
	case req.Attempt > b.attempt:
		b.attempt, b.batch = req.Attempt, req.Token
	case req.Token == b.batch:
		ans.Outcome = model.DoneBefore
		return
	}
	b.Service.Serve(now, req, ans)
}

// State implements model.Service.
func (b *batchMarker) State(c *model.Codec) {
	b.Service.State(c)
	c.Int32(&b.attempt)
	c.Int64(&b.batch)
}
