package semantics

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/oncesim/oncesim/model"
)

// batchShared is what the tasks of a job that runs batch by batch have in common: a life waits to
// be told which state to begin from. One that keeps none begins at once.
//
//	before   messages that came before that, to be handled afterwards
type batchShared struct {
	task    *model.Task
	driver  model.ProcID
	fence   model.Flags
	keeps   bool
	attempt int32
	isOpen  bool
	from    int64
	before  []model.Message
}

func newBatchShared(job *model.Job, task *model.Task) batchShared {
	return batchShared{task: task, driver: job.Find(driverName + "/0"), fence: checkpointFence(job),
		keeps: task.Operator != nil && task.Operator.Kind != model.Stateless}
}

func (b *batchShared) reset(self model.Self) {
	b.attempt, b.isOpen, b.from, b.before = self.Attempt, false, 0, b.before[:0]
}

// about is a request about the state that a batch leaves.
func (b *batchShared) about(kind model.Kind, batch int64) model.Message {
	return model.Message{Kind: kind, Flags: b.fence, Seq: batch, Token: int64(b.task.Proc),
		Record: model.Record{ID: model.ID{Offset: -1}}}
}

// admit reports whether a delivered message is to be handled now. Those of other attempts count for
// nothing, and where to begin is handled here.
func (b *batchShared) admit(s *model.Script, m *model.Message) bool {
	switch {
	case m.Attempt != b.attempt:
		return false
	case m.Kind == model.Restore && !b.isOpen && b.keeps && m.Seq > 0:
		s.CallUntilDone(model.StateStore, b.about(model.Download, m.Seq))
		return false
	case m.Kind == model.Restore:
		if !b.isOpen {
			b.isOpen, b.from = true, m.Seq
		}
		s.Send(b.driver, notice(model.Ready, b.from))
		return false
	case !b.isOpen:
		b.before = append(b.before, *m)
		return false
	}
	return true
}

// batchTaker is what handles the messages of a batch.
type batchTaker interface {
	take(*model.Script, *model.Message)
}

// deliver handles a delivered message: what is admitted is taken, and so is what came before, once
// it is known where to begin.
func (b *batchShared) deliver(s *model.Script, m *model.Message, rows *batchRows, to batchTaker) {
	wasOpen := b.isOpen
	if b.admit(s, m) {
		to.take(s, m)
	}
	if !wasOpen && b.isOpen {
		b.begin(s, rows, to)
	}
}

// begin takes what came before it was known where to begin.
func (b *batchShared) begin(s *model.Script, rows *batchRows, to batchTaker) {
	rows.reset(b.from)
	for i := range b.before {
		to.take(s, &b.before[i])
	}
	b.before = b.before[:0]
}

// restored takes the state to begin from; ok is false if it is gone.
func (b *batchShared) restored(s *model.Script, ev *model.Event) (ok bool) {
	if !ev.Ans.Found || ev.Ans.End { // gone, or torn
		s.Send(b.driver, notice(model.Decline, ev.Msg.Seq))
		return false
	}
	b.isOpen, b.from = true, ev.Msg.Seq
	s.Send(b.driver, notice(model.Ready, b.from))
	return true
}

// acknowledge tells the driver that the task has done its part of a batch.
func (b *batchShared) acknowledge(s *model.Script, batch int64) {
	s.Send(b.driver, notice(model.Acknowledge, batch))
}

func (b *batchShared) state(c *model.Codec) {
	c.Int32(&b.attempt)
	c.Bool(&b.isOpen)
	c.Int64(&b.from)
	model.Slice(c, &b.before, c.Message)
}

// sentRows numbers what a task sends within a batch, channel by channel, so that a receiver knows
// when it has all of it.
type sentRows struct {
	numbers []int64 // by output channel
}

func (n *sentRows) reset(task *model.Task) {
	n.numbers = n.numbers[:0]
	for range task.Out {
		n.numbers = append(n.numbers, 0)
	}
}

// send sends a record of a batch along every route.
func (n *sentRows) send(s *model.Script, task *model.Task, batch int64, rec model.Record) {
	for _, route := range task.Routes {
		i := route.Pick(task.Subtask, &rec)
		out := task.Out[i]
		s.Send(out.Peer, model.Message{Kind: model.Data, Channel: out.There, Token: batch,
			Seq: n.numbers[i], Record: rec})
		n.numbers[i]++
	}
}

// end ends a batch on every channel; N is how many records it had there.
func (n *sentRows) end(s *model.Script, task *model.Task, batch int64) {
	for i, out := range task.Out {
		s.Send(out.Peer, model.Message{Kind: model.Barrier, Channel: out.There, Seq: batch,
			N: n.numbers[i], Record: model.Record{ID: model.ID{Offset: -1}}})
		n.numbers[i] = 0
	}
}

func (n *sentRows) state(c *model.Codec) { model.Slice(c, &n.numbers, c.Int64) }

// batchRows collects what comes of one batch: any order, any number of times.
//
//	batch      the one that is being collected
//	rows       what has come of it
//	ends[i]    how many rows it has on channel i, plus one; 0: not known yet
type batchRows struct {
	isFixed bool
	isBlind bool // it does not look how many rows there are
	batch   int64
	rows    []model.Message
	ends    []int64
}

func newBatchRows(job *model.Job, task *model.Task) batchRows {
	return batchRows{isFixed: job.Param("fixed-merge") == 1,
		isBlind: job.Param("count-rows") == 0, ends: make([]int64, len(task.In))}
}

// reset begins with the batch after another one.
func (r *batchRows) reset(after int64) {
	r.batch, r.rows = after+1, r.rows[:0]
	clear(r.ends)
}

// take takes a row, or the end of a channel; it reports whether the batch has come in whole.
func (r *batchRows) take(m *model.Message) bool {
	switch {
	case m.Kind == model.Barrier && m.Seq == r.batch:
		r.ends[m.Channel] = m.N + 1
	case m.Kind == model.Data && m.Token == r.batch:
		isKnown := slices.ContainsFunc(r.rows, func(o model.Message) bool {
			return o.Channel == m.Channel && o.Seq == m.Seq
		})
		if isKnown {
			return false
		}
		r.rows = append(r.rows, *m)
	default:
		return false // it is of a batch that is over
	}
	return r.isWhole()
}

func (r *batchRows) isWhole() bool {
	want := int64(0)
	for _, end := range r.ends {
		if end == 0 {
			return false
		}
		want += end - 1
	}
	return r.isBlind || int64(len(r.rows)) == want
}

// sorted puts the rows in order: each channel in its own, and one channel after the other, or as
// they came.
func (r *batchRows) sorted() []model.Message {
	if r.isFixed {
		slices.SortStableFunc(r.rows, func(a, b model.Message) int {
			return cmp.Or(cmp.Compare(a.Channel, b.Channel), cmp.Compare(a.Seq, b.Seq))
		})
		return r.rows
	}
	// As they came: in each place the row of its channel that comes next in order.
	for i := range r.rows {
		next := i
		for j := i + 1; j < len(r.rows); j++ {
			if r.rows[j].Channel == r.rows[i].Channel && r.rows[j].Seq < r.rows[next].Seq {
				next = j
			}
		}
		r.rows[i], r.rows[next] = r.rows[next], r.rows[i]
	}
	return r.rows
}

func (r *batchRows) state(c *model.Codec) {
	c.Int64(&r.batch)
	model.Slice(c, &r.rows, c.Message)
	model.Slice(c, &r.ends, c.Int64)
}

// batchSource reads the range of a batch and sends it.
//
//	batch   the one that it sends; 0: none
//	end     where it ends
type batchSource struct {
	shared batchShared
	cursor cursor
	sent   sentRows
	batch  int64
	end    int64
}

// Start implements model.Process.
func (p *batchSource) Start(self model.Self, _ *model.Script) {
	p.shared.reset(self)
	p.sent.reset(p.shared.task)
	p.cursor = cursor{part: p.shared.task.Part}
	p.batch, p.end = 0, 0
}

// Step implements model.Process.
func (p *batchSource) Step(ev *model.Event, s *model.Script) {
	switch {
	case failRefused(s, ev):
	case ev.Kind == model.Delivered:
		if p.shared.admit(s, &ev.Msg) && ev.Msg.Kind == model.Trigger && ev.Msg.Seq > p.batch {
			p.batch, p.cursor.next, p.end = ev.Msg.Seq, ev.Msg.Cursor, ev.Msg.N
			p.fetch(s)
		}
	case ev.Kind == model.TimerFired:
		p.fetch(s)
	case ev.Kind == model.Answered && ev.Msg.Kind == model.Fetch:
		for _, rec := range ev.Ans.Records {
			if rec.ID.Offset < p.end {
				p.sent.send(s, p.shared.task, p.batch, rec)
			}
		}
		p.cursor.next = ev.Ans.Seq + ev.Ans.N
		if ev.Ans.N == 0 && p.cursor.next < p.end { // a stale answer: ask again
			s.After(pollMin, pollToken)
			return
		}
		p.fetch(s)
	default:
		panic(fmt.Sprintf("semantics: source steps on %+v", *ev))
	}
}

// fetch asks for what is missing of the batch, and ends it when nothing is.
func (p *batchSource) fetch(s *model.Script) {
	if p.cursor.next < p.end {
		p.cursor.batch = p.end - p.cursor.next
		p.cursor.fetch(s)
		return
	}
	p.sent.end(s, p.shared.task, p.batch)
}

// State implements model.Process.
func (p *batchSource) State(c *model.Codec) {
	p.shared.state(c)
	p.cursor.state(c)
	c.Int64(&p.cursor.batch)
	p.sent.state(c)
	c.Int64(&p.batch)
	c.Int64(&p.end)
}

// batchOperator applies its operator to a batch as a whole, and keeps the state that it leaves
// under the number of the batch.
type batchOperator struct {
	shared batchShared
	batch  batchRows
	sent   sentRows
	keyed  keyed
	parts  []model.Record
}

// Start implements model.Process.
func (p *batchOperator) Start(self model.Self, _ *model.Script) {
	p.shared.reset(self)
	p.sent.reset(p.shared.task)
	p.batch.reset(0)
	p.keyed.reset(self)
}

// Step implements model.Process.
func (p *batchOperator) Step(ev *model.Event, s *model.Script) {
	switch {
	case failRefused(s, ev):
	case ev.Kind == model.Delivered:
		p.shared.deliver(s, &ev.Msg, &p.batch, p)
	case ev.Kind == model.Answered && ev.Msg.Kind == model.Download:
		if !p.shared.isOpen && p.shared.restored(s, ev) {
			p.keyed.restore(ev.Ans.Records)
			p.shared.begin(s, &p.batch, p)
		}
	case ev.Kind == model.Answered && ev.Msg.Kind == model.Upload:
		p.shared.acknowledge(s, ev.Msg.Seq)
	default:
		panic(fmt.Sprintf("semantics: operator steps on %+v", *ev))
	}
}

func (p *batchOperator) take(s *model.Script, m *model.Message) {
	if !p.batch.take(m) {
		return
	}
	batch := p.batch.batch
	for i := range p.batch.sorted() {
		list, ok := p.keyed.apply(s, &p.batch.rows[i])
		if !ok {
			return
		}
		for _, out := range list {
			p.sent.send(s, p.shared.task, batch, out)
		}
	}
	p.sent.end(s, p.shared.task, batch)
	p.batch.reset(batch)
	if !p.shared.keeps {
		p.shared.acknowledge(s, batch)
		return
	}
	part := p.shared.about(model.Upload, batch)
	p.parts = p.keyed.list(p.parts[:0])
	part.Parts = p.parts
	part.N = int64(len(part.Parts))
	s.CallUntilDone(model.StateStore, part)
}

// State implements model.Process.
func (p *batchOperator) State(c *model.Codec) {
	p.shared.state(c)
	p.batch.state(c)
	p.sent.state(c)
	p.keyed.state(c)
}

// batchSink writes a batch in one step, under its number.
type batchSink struct {
	shared   batchShared
	batch    batchRows
	external model.Flags // of requests to the external system
	parts    []model.Record
}

// Start implements model.Process.
func (p *batchSink) Start(self model.Self, _ *model.Script) {
	p.shared.reset(self)
	p.batch.reset(0)
}

// Step implements model.Process.
func (p *batchSink) Step(ev *model.Event, s *model.Script) {
	switch {
	case failRefused(s, ev):
	case ev.Kind == model.Delivered:
		p.shared.deliver(s, &ev.Msg, &p.batch, p)
	case ev.Kind == model.Answered && ev.Msg.Kind == model.WriteBatch:
		p.shared.acknowledge(s, ev.Msg.Token)
	default:
		panic(fmt.Sprintf("semantics: sink steps on %+v", *ev))
	}
}

func (p *batchSink) take(s *model.Script, m *model.Message) {
	if !p.batch.take(m) {
		return
	}
	batch := p.batch.batch
	p.parts = p.parts[:0]
	for _, row := range p.batch.sorted() {
		p.parts = append(p.parts, row.Record)
	}
	p.batch.reset(batch)
	if len(p.parts) == 0 {
		p.shared.acknowledge(s, batch)
		return
	}
	s.CallUntilDone(model.External, model.Message{Kind: model.WriteBatch, Flags: p.external,
		Seq: int64(p.shared.task.Part), Token: batch, Parts: p.parts,
		Record: model.Record{ID: model.ID{Part: p.shared.task.Part, Offset: -1}}})
}

// State implements model.Process.
func (p *batchSink) State(c *model.Codec) {
	p.shared.state(c)
	p.batch.state(c)
}
