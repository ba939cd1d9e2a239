package semantics

import "github.com/oncesim/oncesim/model"

// inputID is what makes two inputs of one channel the same: all have one sender, and one operator
// emitted them.
type inputID struct {
	id   model.ID
	path model.Path
}

func inputOf(r *model.Record) inputID { return inputID{id: r.ID, path: r.Path} }

// inlet is what a task knows of one input channel.
//
//	last        the highest number taken up, or -1
//	ids[head:]  the catalog: the latest inputs taken up, oldest first
//	has         the inputs in ids[head:]
type inlet struct {
	last int64
	ids  []inputID
	head int
	has  map[inputID]bool
}

// inbox is the receiving half of a deduplicating task: which inputs it has taken up. The catalog
// is a copy of the one in the task's row of the state store; who takes an input up writes it there
// first.
type inbox struct {
	task    *model.Task
	horizon int64
	inOrder bool
	flags   model.Flags // of requests about the row
	inlets  []inlet
}

func newInbox(job *model.Job, task *model.Task) inbox {
	in := inbox{task: task, horizon: job.Param("horizon"), inOrder: job.Param("in-order") == 1,
		inlets: make([]inlet, len(task.In))}
	if job.Param("fencing") == 1 {
		in.flags = model.Fenced
	}
	if in.inOrder {
		in.flags |= model.InOrder
	}
	for i := range in.inlets {
		in.inlets[i].has = map[inputID]bool{}
	}
	return in
}

// reset forgets everything.
func (in *inbox) reset() {
	for i := range in.inlets {
		in.inlets[i].reset()
	}
}

func (l *inlet) reset() {
	l.last, l.ids, l.head = -1, l.ids[:0], 0
	clear(l.has)
}

// load asks for the catalogs. Each answer must be given to learn; the last channel's comes last.
func (in *inbox) load(s *model.Script) {
	for i := range in.inlets {
		m := in.row(model.LoadIDs)
		m.Channel = int16(i)
		s.CallUntilDone(model.StateStore, m)
	}
}

// row is a request about the row of the task that names no input.
func (in *inbox) row(kind model.Kind) model.Message {
	return model.Message{Kind: kind, Flags: in.flags, Token: int64(in.task.Proc),
		Record: model.Record{ID: model.ID{Offset: -1}}}
}

// learn takes the answer to load for one channel, and reports whether it was the last one.
func (in *inbox) learn(ev *model.Event) bool {
	l := &in.inlets[ev.Msg.Channel]
	l.reset()
	l.last = ev.Ans.Seq
	for i := range ev.Ans.Records {
		l.add(inputOf(&ev.Ans.Records[i]), in.horizon)
	}
	return int(ev.Msg.Channel) == len(in.inlets)-1
}

// arrival is what a task makes of a Data message.
type arrival uint8

const (
	isNew   arrival = iota + 1 // it is the next one to take up
	isKnown                    // it was taken up
	isEarly                    // one before it is missing, or its sender was replaced: wait
)

// look says what a Data message is. In order, nothing is taken up before what its sender sent
// before it: that is sent again, and so is this one. It is the rule of Kafka's brokers,
// OutOfOrderSequence in ProducerAppendInfo. Neither is anything from a life of the sender once
// there was something from a later one. So a number that is not above the last one was taken up,
// also where the catalog has forgotten it. Out of order the catalog alone can tell, and what it has
// forgotten is new again.
func (in *inbox) look(m *model.Message) arrival {
	l := &in.inlets[m.Channel]
	isPast := m.Seq <= l.last && lifeOf(m.Seq) == lifeOf(l.last)
	known := l.has[inputOf(&m.Record)] || in.inOrder && isPast
	isOut := m.Cursor > l.last || lifeOf(m.Seq) < lifeOf(l.last)
	if in.inOrder && isOut && !known {
		return isEarly
	}
	if !isOut {
		l.last = max(l.last, m.Seq)
	}
	if known {
		return isKnown
	}
	return isNew
}

// request is one about the row of the task and an input.
func (in *inbox) request(kind model.Kind, m *model.Message) model.Message {
	return model.Message{Kind: kind, Flags: in.flags, Channel: m.Channel, Seq: m.Seq,
		N: in.horizon, Token: int64(in.task.Proc),
		Record: model.Record{ID: m.Record.ID, Path: m.Record.Path, Op: m.Record.Op}}
}

// update is the request that writes that an input was taken up, and the state after its step if it
// has one. Outputs can be added.
func (in *inbox) update(m *model.Message, op int32, hasState bool,
	after model.Value) model.Message {
	req := in.request(model.Update, m)
	req.Record.Op = op
	if hasState {
		req.Flags |= model.WithState
		req.Record.Key, req.Record.Value = m.Record.Key, after
	}
	return req
}

// mark writes that an input was taken up, and nothing else.
func (in *inbox) mark(s *model.Script, m *model.Message) {
	s.CallUntilDone(model.StateStore, in.request(model.Mark, m))
}

// take enters an input that is in the row of the task.
func (in *inbox) take(m *model.Message) {
	l := &in.inlets[m.Channel]
	l.last = max(l.last, m.Seq)
	if id := inputOf(&m.Record); !l.has[id] {
		l.add(id, in.horizon)
	}
}

func (l *inlet) add(id inputID, horizon int64) {
	l.ids = append(l.ids, id)
	l.has[id] = true
	for ; int64(len(l.ids)-l.head) > horizon; l.head++ {
		delete(l.has, l.ids[l.head])
	}
	if 2*l.head >= len(l.ids) {
		l.ids, l.head = append(l.ids[:0], l.ids[l.head:]...), 0
	}
}

func (in *inbox) state(c *model.Codec) {
	for i := range in.inlets {
		in.inlets[i].state(c)
	}
}

func (l *inlet) state(c *model.Codec) {
	c.Int64(&l.last)
	ids := l.ids[l.head:]
	if c.IsDecoding() {
		ids, l.head = l.ids, 0
		clear(l.has)
	}
	model.Slice(c, &ids, func(id *inputID) {
		path := int64(id.path)
		c.Int32(&id.id.Part)
		c.Int64(&id.id.Offset)
		c.Int64(&path)
		id.path = model.Path(path)
		l.has[*id] = true
	})
	if c.IsDecoding() {
		l.ids = ids
	}
}
