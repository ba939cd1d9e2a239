package sim

import "github.com/oncesim/oncesim/model"

// reader is an observer of the external system: it polls every partition during the run and, when
// all is quiet, starts over from the beginning. It never fails and disturbs nothing.
type reader struct {
	next   []int64
	isSoon bool // a poll is scheduled
}

func (r *reader) reset() {
	clear(r.next)
	r.isSoon = false
}

// scheduleRead has the reader poll at the next multiple of its interval. It is called whenever the
// external system has served a request: a poll without one in between would show nothing new.
func (w *World) scheduleRead() {
	if w.reader.isSoon || w.queue.isFull {
		return
	}
	w.reader.isSoon = true
	slot := w.queue.grab()
	w.queue.slab[slot].item = item{kind: itemRead}
	w.queue.push(w.now-w.now%w.cfg.ReadEvery+w.cfg.ReadEvery, classEvent, 0, slot)
}

// read polls every partition from where it stopped.
func (w *World) read() {
	w.reader.isSoon = false
	for part := range w.reader.next {
		w.reader.next[part] = w.poll(part, w.reader.next[part], 0, &w.hist.Observations)
	}
}

// readFinal reads what came since the last poll, then everything from the start.
func (w *World) readFinal() {
	for part := range w.reader.next {
		w.reader.next[part] = w.poll(part, w.reader.next[part], 0, &w.hist.Observations)
	}
	for part := range w.reader.next {
		w.poll(part, 0, model.Whole, &w.hist.Final)
	}
}

// poll reads a partition from a cursor on, records what it shows and returns the next cursor.
func (w *World) poll(part int, from int64, how model.Flags, into *[]model.Observation) int64 {
	req, ans := &w.request, &w.answer
	*ans = model.Answer{}
	*req = model.Message{Kind: model.Read, Flags: how, Seq: int64(part), Cursor: from}
	w.services[model.External].Serve(w.now, req, ans)
	req.Flags = 0
	for i := range ans.Records {
		req.Seq, req.N, req.Record = ans.Seq+int64(i), int64(part), ans.Records[i]
		if ans.Places != nil {
			req.Seq = ans.Places[i]
		}
		n := w.note(model.EntryObserve, happening{msg: req})
		o := extend(into)
		o.N, o.At, o.Part, o.Seq, o.Out = n, w.now, int32(part), req.Seq, ans.Records[i]
	}
	return ans.Seq + int64(len(ans.Records))
}
