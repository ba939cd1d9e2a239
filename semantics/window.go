package semantics

import (
	"fmt"

	"github.com/oncesim/oncesim/model"
)

// resendToken is the base of the timers of a window; pollToken is below it.
const resendToken = 0

// sent is one message that waits for its acknowledgement.
type sent struct {
	to    model.ProcID
	input int64 // the number of the input that it is an output of
	acked bool
	msg   model.Message
}

// window is the upstream half of at-least-once: what was sent and is not acknowledged. When the
// oldest has waited for the timeout, everything unacknowledged is sent again, in order.
//
//	first            number of the oldest message that may be unacknowledged
//	list[i]          is message first+i; list[0] is unacknowledged
//	isArmed          a timer runs; it is about message watched
type window struct {
	timeout int64
	attempt int32
	first   int64
	list    []sent
	isArmed bool
	watched int64
}

func (w *window) reset(attempt int32) {
	w.attempt, w.first, w.list, w.isArmed, w.watched = attempt, 0, w.list[:0], false, 0
}

func (w *window) isEmpty() bool { return len(w.list) == 0 }

// send sends a record along every route and returns how many acknowledgements to wait for.
func (w *window) send(s *model.Script, task *model.Task, rec model.Record, input int64) int {
	for _, route := range task.Routes {
		out := task.Out[route.Pick(task.Subtask, &rec)]
		m := model.Message{Kind: model.Data, Channel: out.There, Record: rec,
			Seq: w.first + int64(len(w.list))}
		w.list = append(w.list, sent{})
		last := &w.list[len(w.list)-1] // a literal with the message would be copied once more
		last.to, last.input, last.msg = out.Peer, input, m
		s.Send(out.Peer, m)
	}
	w.watch(s)
	return len(task.Routes)
}

// watch keeps a timer running while anything is unacknowledged.
func (w *window) watch(s *model.Script) {
	if w.isArmed || w.isEmpty() {
		return
	}
	w.isArmed, w.watched = true, w.first+int64(len(w.list))-1
	s.After(w.timeout, resendToken)
}

// due handles the timer: what it was about has been acknowledged, or has waited too long.
func (w *window) due(s *model.Script) {
	w.isArmed = false
	if w.first <= w.watched {
		for i := range w.list {
			if m := &w.list[i]; !m.acked {
				m.msg.Try++
				s.Send(m.to, m.msg)
			}
		}
	}
	w.watch(s)
}

// acknowledge takes an Ack and returns the number of the input whose output it settles; ok is
// false for an acknowledgement of an earlier life or one that is known already.
func (w *window) acknowledge(m *model.Message) (input int64, ok bool) {
	i := m.Seq - w.first
	if m.Token != int64(w.attempt) || i < 0 || i >= int64(len(w.list)) || w.list[i].acked {
		return 0, false
	}
	w.list[i].acked = true
	input = w.list[i].input
	done := 0
	for done < len(w.list) && w.list[done].acked {
		done++
	}
	w.first += int64(done)
	w.list = append(w.list[:0], w.list[done:]...)
	return input, true
}

func (w *window) state(c *model.Codec) {
	c.Int32(&w.attempt)
	c.Int64(&w.first)
	c.Bool(&w.isArmed)
	c.Int64(&w.watched)
	model.Slice(c, &w.list, func(m *sent) {
		to := int32(m.to)
		c.Int32(&to)
		m.to = model.ProcID(to)
		c.Int64(&m.input)
		c.Bool(&m.acked)
		c.Message(&m.msg)
	})
}

// ackOf is the acknowledgement of a Data message: its number, and the attempt that numbered it.
func ackOf(task *model.Task, m *model.Message) (model.ProcID, model.Message) {
	in := task.In[m.Channel]
	return in.Peer, model.Message{Kind: model.Ack, Channel: in.Back, Seq: m.Seq, Try: m.Try,
		Token: int64(m.Attempt), Record: model.Record{ID: m.Record.ID, Path: m.Record.Path,
			Op: m.Record.Op}}
}

// lifeNumber makes a number within a life one that grows over lives too.
func lifeNumber(attempt int32, n int64) int64 {
	if n < 0 || n >= 1<<32 {
		panic(fmt.Sprintf("semantics: number %d of attempt %d", n, attempt))
	}
	return int64(attempt)<<32 | n
}

// attemptOf is the attempt in a number that lifeNumber made.
func attemptOf(n int64) int32 { return int32(n >> 32) }
