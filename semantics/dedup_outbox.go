package semantics

import "github.com/oncesim/oncesim/model"

// row is an output that is not known to be delivered.
type row struct {
	number int64
	out    int16 // the sender's output channel
	acked  bool
	try    int32
	rec    model.Record
}

// outbox is the sending half of a deduplicating task. It sends its rows in order, no further than a
// window, and again until they are acknowledged. Their numbers grow from one life of the task to
// the next, so that a receiver can tell what is new; who sends says where they come from:
//
//	source                      the offset, the same along every route
//	strong productions          the number in the store's outbox
//	otherwise                   a counter that each life begins above the last one's: see begin
//
// Its state:
//
//	rows[head:]       undelivered; the first of them is not acknowledged
//	sent              the first that many of them are on their way
//	next              the number behind the newest row
//	isArmed, watched  a timer runs; it is about this number
type outbox struct {
	task    *model.Task
	timeout int64
	most    int
	rows    []row
	head    int
	sent    int
	next    int64
	isArmed bool
	watched int64
}

// newOutbox gives a task its outbox. An acknowledgement takes its time for each of hops.
func newOutbox(job *model.Job, task *model.Task, hops int) outbox {
	return outbox{task: task, timeout: job.Param("timeout") * int64(hops),
		most: int(job.Param("window"))}
}

// lifeNumbers is how many numbers a life has that counts its own rows.
const lifeNumbers = 1_000_000_000

// lifeOf is the life that counted a number, from 0; numbers that outlive a life are all in one.
func lifeOf(number int64) int64 { return number / lifeNumbers }

// reset empties the outbox.
func (o *outbox) reset() {
	o.rows, o.head, o.sent, o.next, o.isArmed, o.watched = o.rows[:0], 0, 0, 0, false, 0
}

// begin has a life count its own rows.
func (o *outbox) begin(self model.Self) { o.next = int64(self.Life-1) * lifeNumbers }

// left is the rows that may be undelivered, oldest first.
func (o *outbox) left() []row { return o.rows[o.head:] }

// delivered is the number below which every row is delivered.
func (o *outbox) delivered() int64 {
	if left := o.left(); len(left) > 0 {
		return left[0].number
	}
	return o.next
}

// add puts a record into the outbox, under a number that is not below those before it.
func (o *outbox) add(number int64, route model.Route, rec model.Record) {
	out := route.Pick(o.task.Subtask, &rec)
	o.rows = append(o.rows, row{number: number, out: int16(out), rec: rec})
	o.next = number + 1
}

// addNext puts records into the outbox under the next numbers, one for each route.
func (o *outbox) addNext(list []model.Record) {
	for _, rec := range list {
		for _, route := range o.task.Routes {
			o.add(o.next, route, rec)
		}
	}
}

// send sends what has room in the window and has not been sent yet.
func (o *outbox) send(s *model.Script) {
	for o.sent < min(o.most, len(o.left())) {
		o.sent++
		o.transmit(s, o.sent-1)
	}
	o.watch(s)
}

// transmit sends a row. It names the row before it on the channel that may be undelivered: what
// was delivered needs no mention, since the receiver has it for good.
func (o *outbox) transmit(s *model.Script, i int) {
	left := o.left()
	r, before := &left[i], int64(-1)
	for j := i - 1; j >= 0 && before < 0; j-- {
		if left[j].out == r.out && !left[j].acked {
			before = left[j].number
		}
	}
	to := o.task.Out[r.out]
	s.Send(to.Peer, model.Message{Kind: model.Data, Channel: to.There, Seq: r.number,
		Cursor: before, Try: r.try, Record: r.rec})
}

// watch keeps a timer running while anything is on its way.
func (o *outbox) watch(s *model.Script) {
	if o.isArmed || o.sent == 0 {
		return
	}
	o.isArmed, o.watched = true, o.left()[o.sent-1].number
	s.After(o.timeout, resendToken)
}

// due handles the timer: what it was about is delivered, or has waited too long.
func (o *outbox) due(s *model.Script) {
	o.isArmed = false
	if o.delivered() <= o.watched {
		for i := range o.left()[:o.sent] {
			if r := &o.left()[i]; !r.acked {
				r.try++
				o.transmit(s, i)
			}
		}
	}
	o.watch(s)
}

// acknowledge takes an Ack: the receiver has the row for good, whichever life of this task had sent
// it. One that is about no row, or one known already, says nothing new.
func (o *outbox) acknowledge(s *model.Script, m *model.Message) {
	left := o.left()
	for i := range left[:o.sent] {
		if left[i].number == m.Seq && left[i].out == m.Channel {
			left[i].acked = true
		}
	}
	for o.sent > 0 && o.rows[o.head].acked {
		o.head++
		o.sent--
	}
	if 2*o.head >= len(o.rows) {
		o.rows, o.head = append(o.rows[:0], o.rows[o.head:]...), 0
	}
	o.send(s)
}

func (o *outbox) state(c *model.Codec) {
	left := o.left()
	if c.IsDecoding() {
		left = o.rows
	}
	model.Slice(c, &left, func(r *row) {
		out := int32(r.out)
		c.Int64(&r.number)
		c.Int32(&out)
		r.out = int16(out)
		c.Bool(&r.acked)
		c.Int32(&r.try)
		c.Record(&r.rec)
	})
	if c.IsDecoding() {
		o.rows, o.head = left, 0
	}
	sent := int64(o.sent)
	c.Int64(&sent)
	o.sent = int(sent)
	c.Int64(&o.next)
	c.Bool(&o.isArmed)
	c.Int64(&o.watched)
}
