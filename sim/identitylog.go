package sim

import (
	"fmt"

	"github.com/oncesim/oncesim/model"
)

// IdentityLog is the external sink that knows what it holds: a record whose identity is there
// already is no new entry. With InOrder it takes what a producer numbers in the producer's order,
// as Kafka's brokers do for an idempotent producer (OutOfOrderSequence in ProducerAppendInfo).
var IdentityLog = model.SinkSpec{
	Name:  "identity-log",
	Says:  "a partitioned log that knows what it holds: a repeated write is no new entry",
	Shape: model.Log,
	New:   func(partitions int) model.Service { return newIdentityLog(partitions) },
}

// identityLog is a partitioned log.
//
//	parts[p]    the entries of a partition
//	places[p]   at which offset an identity is
//	last[p][c]  what was taken last from producer c
//	fences[p]   who may still write to a partition
type identityLog struct {
	parts  [][]model.Record
	fences fences
	places []map[identity]int64
	last   [][]taken
}

// taken is the highest number taken from a producer, or -1, and the latest of its epochs.
type taken struct{ epoch, number int64 }

func newIdentityLog(partitions int) *identityLog {
	l := &identityLog{parts: make([][]model.Record, partitions), last: make([][]taken, partitions),
		fences: make(fences, partitions)}
	for range partitions {
		l.places = append(l.places, map[identity]int64{})
	}
	return l
}

// Reset implements model.Service.
func (l *identityLog) Reset() {
	clear(l.fences)
	for i := range l.parts {
		l.parts[i], l.last[i] = l.parts[i][:0], l.last[i][:0]
		clear(l.places[i])
	}
}

// Serve implements model.Service.
func (l *identityLog) Serve(_ int64, req *model.Message, ans *model.Answer) {
	if !l.fences.admits(req, ans) {
		return
	}
	switch req.Kind {
	case model.Write:
		l.write(req, ans)
	case model.WriteBatch:
		l.writeBatch(req, ans)
	case model.Read:
		part := l.parts[req.Seq]
		ans.Seq, ans.Records = req.Cursor, part[req.Cursor:]
		ans.N = int64(len(ans.Records))
	default:
		panic(fmt.Sprintf("sim: the identity log does not serve %s", req.Kind))
	}
}

// write appends a record that is not there yet. What leaves a gap is refused, and what is of an
// epoch that is over, whether or not it is there: the number of what is taken moves on in either
// case.
func (l *identityLog) write(req *model.Message, ans *model.Answer) {
	last := l.producer(req.Seq, req.Channel)
	if req.Flags&model.InOrder != 0 && (req.Cursor > last.number || req.N < last.epoch) {
		ans.Outcome = model.Refused
		return
	}
	last.number, last.epoch = max(last.number, req.Token), max(last.epoch, req.N)
	place, isNew := l.add(req.Seq, &req.Record)
	if ans.Seq = place; !isNew {
		ans.Outcome = model.DoneBefore
	}
}

// writeBatch appends those records that are not there yet. Producers do not number batches.
func (l *identityLog) writeBatch(req *model.Message, ans *model.Answer) {
	before := len(l.parts[req.Seq])
	for i := range req.Parts {
		l.add(req.Seq, &req.Parts[i])
	}
	ans.Seq = int64(before)
	if len(req.Parts) > 0 && len(l.parts[req.Seq]) == before {
		ans.Outcome = model.DoneBefore
	}
}

// add appends a record, unless it is there, and returns where it is.
func (l *identityLog) add(part int64, rec *model.Record) (place int64, isNew bool) {
	place, known := l.places[part][identityOf(rec)]
	if known {
		return place, false
	}
	place = int64(len(l.parts[part]))
	l.places[part][identityOf(rec)] = place
	l.parts[part] = append(l.parts[part], *rec)
	return place, true
}

// producer is where the highest number of a producer is kept.
func (l *identityLog) producer(part int64, channel int16) *taken {
	for len(l.last[part]) <= int(channel) {
		l.last[part] = append(l.last[part], taken{number: -1})
	}
	return &l.last[part][channel]
}

// State implements model.Service.
func (l *identityLog) State(c *model.Codec) {
	for i := range l.parts {
		part := &l.parts[i]
		l.fences[i].state(c)
		model.Slice(c, part, c.Record)
		model.Slice(c, &l.last[i], func(t *taken) {
			c.Int64(&t.epoch)
			c.Int64(&t.number)
		})
		if !c.IsDecoding() {
			continue
		}
		clear(l.places[i])
		for at := range *part {
			l.places[i][identityOf(&(*part)[at])] = int64(at)
		}
	}
}
