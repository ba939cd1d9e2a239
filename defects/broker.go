package defects

import (
	"slices"

	"github.com/oncesim/oncesim/model"
)

var fenceAtLoadOnly = Defect{
	Name: "fence-not-asked-on-write", Kind: &Broker, IsKindOnly: true, Modes: []string{"dedup"},
	Says:     "the store turns away a replaced task that loads, and takes what it writes",
	Origin:   "apache/kafka#13667 (KAFKA-12693)",
	Property: "exactly-once",
	Shown: Case{Topology: "lottery", Records: 2, Plan: []string{
		"pause bonus/0 after effect 5 for 80ms", "pause bonus/0 after effect 10 for 80ms"}},
	Service: before(model.StateStore, front{
		ask: func(_ *front, req *model.Message, _ *model.Answer) bool {
			if req.Kind == model.Update {
				req.Flags &^= model.Fenced
			}
			return true
		},
	}),
}

// lateCopyOverwrites looks for the id of an update in the row and not where the state is.
var lateCopyOverwrites = Defect{
	Name: "late-copy-overwrites-state", Kind: &Broker, IsKindOnly: true, Modes: []string{"dedup"},
	Says:     "a second copy of an update is known by its id, and yet its state is written",
	Origin:   "apache/kafka#13667 (KAFKA-12693)",
	Property: "exactly-once-state",
	Shown: Case{Topology: "transfers", Records: 4, Plan: []string{
		"duplicate call update 1 of ledger/0 by 4ms", "crash ledger/0 at 9ms"}},
	Service: only(model.StateStore, func(s behind) model.Service {
		return &carelessStore{behind: s}
	}),
}

// carelessStore is a state store that writes the state of an update that was made before.
type carelessStore struct{ behind }

// Serve implements model.Service.
func (s *carelessStore) Serve(now int64, req *model.Message, ans *model.Answer) {
	s.Service.Serve(now, req, ans)
	if ans.Outcome == model.DoneBefore && req.Flags&model.WithState != 0 {
		put := model.Answer{Outcome: model.Done}
		s.Service.Serve(now, &model.Message{Kind: model.Put, Record: req.Record}, &put)
	}
}

var positionLags = Defect{
	Name: "position-from-follower", Kind: &Broker, IsKindOnly: true,
	Modes:    []string{"at-most-once"},
	Says:     "a restart is told of the position before the last commit",
	Origin:   "MaterializeInc/materialize#23286",
	Property: "at-most-once",
	Shown: Case{Topology: "pipeline", Records: 1,
		Plan: []string{"crash source/0 at 20ms"}},
	Service: only(model.InputLog, func(s behind) model.Service { return &follower{behind: s} }),
}

// follower is an input log that answers with the position before the last commit. commits has the
// last two of each partition, the older one first.
type follower struct {
	behind
	commits [][2]int64
}

// Reset implements model.Service.
func (f *follower) Reset() {
	f.Service.Reset()
	f.commits = nil
}

// Serve implements model.Service.
func (f *follower) Serve(now int64, req *model.Message, ans *model.Answer) {
	f.Service.Serve(now, req, ans)
	for len(f.commits) <= int(req.Record.ID.Part) {
		f.commits = append(f.commits, [2]int64{})
	}
	last := &f.commits[req.Record.ID.Part]
	switch req.Kind {
	case model.OffsetCommit:
		last[0], last[1] = last[1], req.Seq
	case model.Position:
		ans.Seq = last[0]
	}
}

// State implements model.Service.
func (f *follower) State(c *model.Codec) {
	f.Service.State(c)
	model.Slice(c, &f.commits, func(l *[2]int64) {
		c.Int64(&l[0])
		c.Int64(&l[1])
	})
}

var unsyncedWrite = Defect{
	Name: "write-not-synced", Kind: &Broker,
	Modes:  []string{"at-least-once", "acker", "idempotent", "idempotent-by-key", "dedup"},
	Says:   "a write is acknowledged from memory, and gone when the log misses a later request",
	Origin: "nats-io/nats-server#7564", Property: "at-least-once",
	Shown: Case{Topology: "pipeline", Records: 2,
		Plan: []string{"crash external for 50ms at write 2 of sink/0"}},
	Service: forgetful(model.External),
}

var unsyncedUpdate = Defect{
	Name: "update-not-synced", Kind: &Broker, Modes: []string{"dedup"},
	Says: "what the store was told last is gone when it misses a later request, and the position " +
		"is not",
	Origin: "fluent/fluent-bit#6995", Property: "at-least-once",
	Shown: Case{Topology: "fan-out", Records: 2,
		Plan: []string{"crash store for 50ms at update 1 of double/0"}},
	Service: forgetful(model.StateStore),
}

// forgetful puts an unsynced before a service.
func forgetful(which model.ServiceID) func(model.ServiceID, model.Service) model.Service {
	return only(which, func(s behind) model.Service { return &unsynced{behind: s} })
}

// syncEvery is how long an unsynced keeps a change in memory if no other follows.
const syncEvery = 3_000_000

// unsynced is a service that has lost its last change when it comes back from where requests do not
// reach it. Readers see what is safe.
//
//	before    the service before its last change, encoded; "": that is safe
//	at        when that was
//	missed    tells when it comes back
type unsynced struct {
	behind
	before string
	at     int64
	missed missed
}

// missed tells where a service has missed a request. Services are not told that they were down, and
// to one that comes back after that all is as if a request had been lost, or its link cut: there is
// a request that is sent again and that it has not seen before. It has the last one of each caller.
type missed struct{ last []model.Message }

// isTold reports whether a request tells that one was missed, and takes notice of it.
func (m *missed) isTold(req *model.Message) bool {
	i := 0
	for i < len(m.last) && m.last[i].Attempt != req.Attempt {
		i++
	}
	if i == len(m.last) {
		m.last = append(m.last, model.Message{Attempt: req.Attempt})
	}
	last := &m.last[i]
	isSeen := last.Kind == req.Kind && last.Seq == req.Seq && last.Token == req.Token &&
		last.Record == req.Record
	*last = *req
	last.Parts = nil
	return req.Try > 0 && !isSeen
}

func (m *missed) state(c *model.Codec) { model.Slice(c, &m.last, c.Message) }

// Reset implements model.Service.
func (u *unsynced) Reset() {
	u.Service.Reset()
	u.before, u.at, u.missed.last = "", 0, nil
}

// Serve implements model.Service.
func (u *unsynced) Serve(now int64, req *model.Message, ans *model.Answer) {
	if req.Kind == model.Read {
		u.read(now, req, ans)
		return
	}
	if u.missed.isTold(req) && u.before != "" {
		u.become(u.before)
		u.before = ""
	}
	before := u.encoded()
	u.Service.Serve(now, req, ans)
	if req.Kind.IsDurable() {
		u.before, u.at = before, now
	}
}

// read answers with what is safe.
func (u *unsynced) read(now int64, req *model.Message, ans *model.Answer) {
	if now-u.at > syncEvery {
		u.before = ""
	}
	if u.before == "" {
		u.Service.Serve(now, req, ans)
		return
	}
	after := u.encoded()
	u.become(u.before)
	u.Service.Serve(now, req, ans)
	ans.Records, ans.Places = slices.Clone(ans.Records), slices.Clone(ans.Places)
	u.become(after)
}

// encoded is the service behind the front.
func (u *unsynced) encoded() string {
	var c model.Codec
	u.Service.State(&c)
	return string(c.Bytes())
}

// become makes the service behind the front what encoded has returned.
func (u *unsynced) become(state string) { u.Service.State(model.Decoding([]byte(state))) }

// State implements model.Service.
func (u *unsynced) State(c *model.Codec) {
	u.Service.State(c)
	c.Text(&u.before)
	c.Int64(&u.at)
	u.missed.state(c)
}

// forgetsCatalogs keeps catalogs under other channels each time the store has missed a request.
var forgetsCatalogs = Defect{
	Name: "catalogs-lost-at-fail-over", Kind: &Broker, IsKindOnly: true, Modes: []string{"dedup"},
	Says: "the store that takes over where one misses a request does not know what was " +
		"taken up",
	Origin:   "redpanda-data/redpanda#3278",
	Property: "exactly-once-state",
	Shown: Case{Topology: "lottery", Records: 1, Plan: []string{"crash bonus/0 after effect 4",
		"crash store for 50ms at load-ids 2 of bonus/0"}},
	Service: only(model.StateStore, func(s behind) model.Service {
		return &catalogLoser{behind: s}
	}),
}

// channelsMost is more than the channels that a task has.
const channelsMost = 16

// catalogLoser is a state store that loses catalogs. times is how often.
type catalogLoser struct {
	behind
	missed missed
	times  int32
}

// Reset implements model.Service.
func (l *catalogLoser) Reset() {
	l.Service.Reset()
	l.missed.last, l.times = nil, 0
}

// Serve implements model.Service.
func (l *catalogLoser) Serve(now int64, req *model.Message, ans *model.Answer) {
	if l.missed.isTold(req) {
		l.times++
	}
	asked := *req
	asked.Channel += int16(l.times) * channelsMost
	l.Service.Serve(now, &asked, ans)
}

// State implements model.Service.
func (l *catalogLoser) State(c *model.Codec) {
	l.Service.State(c)
	l.missed.state(c)
	c.Int32(&l.times)
}
