package defects

import "github.com/oncesim/oncesim/model"

var channelsShareCatalog = Defect{
	Name: "channels-share-catalog", Kind: &DedupForgets, IsKindOnly: true, Modes: []string{"dedup"},
	Says:     "what was taken up is kept without its channel: two senders count with one number",
	Origin:   "floci-io/floci#901",
	Property: "exactly-once",
	Shown:    Case{Topology: "running-average", Records: 4},
	Process: of(model.Operate, meddling{
		said: each(func(_ *meddler, e *model.Effect) {
			if is(e, model.Update) {
				e.Msg.Channel = 0
			}
		}),
	}),
}

var idWithoutOutput = Defect{
	Name: "id-without-output", Kind: &DedupForgets, IsKindOnly: true, Modes: []string{"dedup"},
	Says:     "two outputs of one input have one id, and the second is taken for a duplicate",
	Origin:   "nats-io/nats-server#5142",
	Property: "exactly-once",
	Shown:    Case{Topology: "fan-out", Records: 2},
	Process: of(model.Operate, meddling{
		said: each(func(_ *meddler, e *model.Effect) {
			if is(e, model.Update) {
				e.Msg.Record.Path = 0
			}
		}),
	}),
}

// idWindow is how long the log of idsExpire remembers an id.
const idWindow = 50_000_000

var idsExpire = Defect{
	Name: "ids-expire", Kind: &DedupForgets, Modes: []string{"dedup"},
	Says:   "the log forgets an id a while after it came first, and a sender tries for longer",
	Origin: "nats-io/nats-server#7302", Property: "at-most-once",
	Shown: Case{Topology: "pipeline", Records: 1,
		Plan: []string{"partition sink/0 | external for 60ms at answer of write 1"}},
	Service: instead(func(old *entry, now int64, req *model.Message) bool {
		return old.rec.Same(req.Record) && now-old.at < idWindow
	}),
}

// memoryLog is an external log that has its own way to know what it holds.
//
//	isKnown     whether an entry makes a write a repeated one
//	parts[p]    the entries of a partition
//	records[p]  their records, for readers
//	last        what was taken last from a producer
type memoryLog struct {
	isKnown func(old *entry, now int64, req *model.Message) bool
	parts   [][]entry
	records [][]model.Record
	last    []taken
}

// entry is a record and how it came.
type entry struct {
	rec     model.Record
	channel int16
	number  int64
	at      int64
}

// taken is the highest number, and the epoch of it, that a partition has from a producer.
type taken struct {
	part, channel int32
	number, epoch int64
}

// instead puts a memoryLog in the place of the external log.
func instead(isKnown func(old *entry, now int64, req *model.Message) bool) func(model.ServiceID,
	model.Service) model.Service {
	return only(model.External, func(behind) model.Service { return &memoryLog{isKnown: isKnown} })
}

// Reset implements model.Service.
func (l *memoryLog) Reset() { l.parts, l.records, l.last = nil, nil, nil }

// Serve implements model.Service.
func (l *memoryLog) Serve(now int64, req *model.Message, ans *model.Answer) {
	for int64(len(l.parts)) <= req.Seq {
		l.parts, l.records = append(l.parts, nil), append(l.records, nil)
	}
	if req.Kind == model.Read {
		ans.Seq, ans.Records = req.Cursor, l.records[req.Seq][req.Cursor:]
		ans.N = int64(len(ans.Records))
		return
	}
	last := l.producer(int32(req.Seq), int32(req.Channel))
	if req.Flags&model.InOrder != 0 && (req.Cursor > last.number || req.N < last.epoch) {
		ans.Outcome = model.Refused
		return
	}
	last.number, last.epoch = max(last.number, req.Token), max(last.epoch, req.N)
	part := l.parts[req.Seq]
	for i := range part {
		if l.isKnown(&part[i], now, req) {
			ans.Outcome, ans.Seq = model.DoneBefore, int64(i)
			return
		}
	}
	ans.Seq = int64(len(part))
	l.parts[req.Seq] = append(part, entry{rec: req.Record, channel: req.Channel,
		number: req.Token, at: now})
	l.records[req.Seq] = append(l.records[req.Seq], req.Record)
}

// producer is where the highest number of a producer is kept.
func (l *memoryLog) producer(part, channel int32) *taken {
	for i := range l.last {
		if t := &l.last[i]; t.part == part && t.channel == channel {
			return t
		}
	}
	l.last = append(l.last, taken{part: part, channel: channel, number: -1})
	return &l.last[len(l.last)-1]
}

// State implements model.Service.
func (l *memoryLog) State(c *model.Codec) {
	model.Slice(c, &l.parts, func(part *[]entry) {
		model.Slice(c, part, func(e *entry) {
			channel := int32(e.channel)
			c.Record(&e.rec)
			c.Int32(&channel)
			c.Int64(&e.number)
			c.Int64(&e.at)
			e.channel = int16(channel)
		})
	})
	model.Slice(c, &l.last, func(t *taken) {
		c.Int32(&t.part)
		c.Int32(&t.channel)
		c.Int64(&t.number)
		c.Int64(&t.epoch)
	})
	if !c.IsDecoding() {
		return
	}
	l.records = nil // whoever was handed some of it keeps it
	for _, part := range l.parts {
		var records []model.Record
		for i := range part {
			records = append(records, part[i].rec)
		}
		l.records = append(l.records, records)
	}
}
