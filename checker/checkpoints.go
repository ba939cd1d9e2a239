package checker

import (
	"slices"

	"github.com/oncesim/oncesim/model"
)

// checkpoints are the snapshots that tasks stored: whose parts there are, and which versions of
// states these hold. They are followed while claims are replayed; a history without any has none.
type checkpoints struct {
	names     table // of the ids
	list      []checkpoint
	uploads   []upload
	saved     []savedState // of all uploads, one after the other
	latest    []int32      // by task: its upload invoked last, plus one
	retained  []int64      // the completed ones that can be gone back to, the latest last
	there     []int32      // those that may have parts
	completed []completion // in the order of events
	parts     []int32      // the uploads that these are made of, one after the other
	ends      []int64      // where their cuts are, partition by partition
	round     int32        // cells with another one have no state in the checkpoint looked at
	flights   []flight     // what is delivered of it
	landed    []int32      // slots of steps that are in the final state and that nobody claims
}

// checkpoint is what is there under an id.
type checkpoint struct {
	first int32 // the upload served last, plus one
	plan  int32 // of a batch: the call that planned its input, plus one
}

// upload is one request to keep a part.
type upload struct {
	checkpoint int32
	call       int32
	life       int32
	kept       int32 // how many of its records the store has
	from, to   int32 // in saved: of each keyed state of the part
	next       int32 // the upload to the same checkpoint served before this one, plus one
	isForeign  bool  // it holds a state that no claimed step made
}

// savedState is a keyed state in a part. Its value is in the request.
type savedState struct {
	memory  int32 // what the uploading life knew of it
	cell    int32
	version int32
}

// completion is that a checkpoint became the one that counts.
type completion struct {
	id       int64
	at       int64 // event
	from, to int32 // in parts
	ends     int32 // where in ends its cut begins
}

func (c *checkpoints) reset(tasks int) {
	c.names.reset()
	c.list, c.uploads, c.saved = c.list[:0], c.uploads[:0], c.saved[:0]
	c.latest, c.completed, c.parts = c.latest[:0], c.completed[:0], c.parts[:0]
	c.retained, c.there = c.retained[:0], c.there[:0]
	c.ends, c.flights, c.landed, c.round = c.ends[:0], c.flights[:0], c.landed[:0], 0
	for range tasks {
		c.latest = append(c.latest, 0)
	}
}

// checkpoint is the number of a checkpoint.
func (c *checkpoints) checkpoint(id int64) int32 {
	n, fresh := c.names.number(uint64(id), 0)
	if fresh {
		c.list = append(c.list, checkpoint{})
	}
	return n
}

// part is the upload that a checkpoint has of a task, or nil.
func (j *Judge) part(n int32, task int64) *upload {
	c := &j.checkpoints
	for i := c.list[n].first; i > 0; i = c.uploads[i-1].next {
		if u := &c.uploads[i-1]; j.h.Calls[u.call].Req.Token == task {
			return u
		}
	}
	return nil
}

// holder is the task whose part a request is about, or nil.
func (j *Judge) holder(req *model.Message) *model.Task {
	if req.Token < 0 || req.Token >= int64(len(j.plan.job.Tasks)) {
		return nil
	}
	return &j.plan.job.Tasks[req.Token]
}

// keepsState reports whether the part that a request is about holds keyed state.
func (j *Judge) keepsState(req *model.Message) bool {
	task := j.holder(req)
	return task != nil && task.Role == model.Operate && j.plan.stages[task.Op].stateful
}

// statesOf are the keyed states of a part.
func statesOf(req *model.Message) []model.Record {
	return req.Parts[:min(max(req.N, 0), int64(len(req.Parts)))]
}

// flightOf are the records that were in flight when a part was made, as far as the store has them.
func (j *Judge) flightOf(u *upload) []model.Record {
	req := &j.h.Calls[u.call].Req
	return req.Parts[min(max(req.N, 0), int64(u.kept)):u.kept]
}

// statesLeft are the keyed states of a part, as far as the store has them.
func (j *Judge) statesLeft(u *upload) []model.Record {
	list := statesOf(&j.h.Calls[u.call].Req)
	return list[:min(len(list), int(u.kept))]
}

// tear leaves of a part what the store has kept of it.
func (j *Judge) tear(u *upload) {
	u.kept = int32(len(model.FirstHalf(j.h.Calls[u.call].Req.Parts)))
	u.to = min(u.to, u.from+u.kept)
}

// uploading looks up which versions a part holds: those of its life that have the values. It
// returns the number of the upload.
func (j *Judge) uploading(call int32) int32 {
	c, req := &j.checkpoints, &j.h.Calls[call].Req
	life := j.life(j.h.Calls[call].Proc, j.h.Calls[call].Attempt)
	u := upload{checkpoint: c.checkpoint(req.Seq), call: call, life: life,
		kept: int32(len(req.Parts)), from: int32(len(c.saved))}
	if j.keepsState(req) {
		u.isForeign = j.saveStates(req, life)
	}
	u.to = int32(len(c.saved))
	c.uploads = append(c.uploads, u)
	if j.holder(req) != nil {
		c.latest[req.Token] = int32(len(c.uploads))
	}
	return int32(len(c.uploads) - 1)
}

// saveStates appends the versions of a part; it reports whether there is a state that no claimed
// step made. Parts of one task list mostly the same keys in the same order, so that these need not
// be looked up again.
func (j *Judge) saveStates(req *model.Message, life int32) (isForeign bool) {
	c, op := &j.checkpoints, j.holder(req).Op
	var before []model.Record
	var same []savedState
	isOfLife := false
	if last := c.latest[req.Token]; last > 0 {
		u := &c.uploads[last-1]
		before, same = j.statesLeft(u), c.saved[u.from:u.to]
		isOfLife = u.life == life
	}
	at := 0
	for i := range statesOf(req) {
		rec := &req.Parts[i]
		s := savedState{memory: -1}
		switch {
		case at < len(same) && before[at].Key == rec.Key && isOfLife:
			s.memory = same[at].memory
			at++
		case at < len(same) && before[at].Key == rec.Key:
			s.memory = j.memory(life, op, j.states.cells[same[at].cell].key)
			at++
		default:
			s.memory = j.memory(life, op, j.recall.keys.number(rec.Key))
		}
		m := &j.claims.memories[s.memory]
		s.cell, s.version = m.cell, j.saving(m, rec.Value)
		c.saved = append(c.saved, s)
		isForeign = isForeign || s.version == alien
	}
	return isForeign
}

// saving is the latest version with a value among those that a life has made of a state, and the
// one that it began from.
func (j *Judge) saving(m *memory, value model.Value) int32 {
	if m.held.value == value {
		return m.held.version
	}
	for version := m.held.version; version > 0 && version != m.origin; {
		version = j.claims.list[version-1].base
		if version >= 0 && j.valueOf(version) == value {
			return version
		}
	}
	return alien
}

// valueOf is the value of a version; 0 stands for the empty state.
func (j *Judge) valueOf(version int32) model.Value {
	if version == 0 {
		return model.Value{}
	}
	return j.claims.list[version-1].value
}

// stored replays one serving about checkpoints.
func (j *Judge) stored(s *model.Serving, n int32) {
	c, call := &j.checkpoints, &j.h.Calls[s.Call]
	switch call.Req.Kind {
	case model.Upload:
		u := &c.uploads[n]
		j.claims.foreign = j.claims.foreign || u.isForeign
		if s.Torn {
			j.tear(u)
		}
		if isEffect(s) && j.part(u.checkpoint, call.Req.Token) == nil {
			u.next, c.list[u.checkpoint].first = c.list[u.checkpoint].first, n+1
			if u.next == 0 {
				c.there = append(c.there, u.checkpoint)
			}
		}
	case model.Discard:
		if isEffect(s) {
			j.discard(c.checkpoint(call.Req.Seq), call.Attempt)
		}
	case model.PlanBatch:
		if isEffect(s) {
			c.list[c.checkpoint(call.Req.Seq)].plan = s.Call + 1
		}
	case model.Download:
		if !s.Copy && call.Ans.Found && isApplied(&s.Ans) && isKnown(call) {
			j.restored(s, call)
		}
	case model.Completion, model.FinishBatch:
		if isEffect(s) {
			j.complete(s, call.Req.Seq)
		}
		if isEffect(s) && call.Req.Kind == model.Completion {
			c.retain(call.Req.Seq, int(call.Req.N))
		}
	}
}

// retain notes that a checkpoint is the completed one, and that n are kept to be gone back to. One
// that was completed before and counts again has what followed it given up. Parts are dropped of
// what can not be gone back to, unless it may be under way.
func (c *checkpoints) retain(id int64, n int) {
	if i := slices.Index(c.retained, id); i >= 0 {
		c.retained = c.retained[:i]
	}
	c.retained = append(c.retained, id)
	c.retained = slices.Delete(c.retained, 0, max(len(c.retained)-max(n, 1), 0))
	left := c.there[:0]
	for _, n := range c.there {
		other := int64(c.names.keys[n].a)
		if other < id && !slices.Contains(c.retained, other) {
			c.list[n].first = 0
			continue
		}
		left = append(left, n)
	}
	c.there = left
}

// discard drops the parts of a checkpoint; of a batch, those of attempts before the one that asks.
func (j *Judge) discard(n, attempt int32) {
	c := &j.checkpoints
	link := &c.list[n].first
	if c.list[n].plan == 0 {
		*link = 0
	}
	for *link > 0 {
		if u := &c.uploads[*link-1]; j.h.Calls[u.call].Attempt < attempt {
			*link = u.next
		} else {
			link = &u.next
		}
	}
}

// restored has a life begin from a part: what it lists is known to it, and nothing else. The part
// should be its own, but what it was handed is what it has. A coordinator that looks at the parts
// of others begins from none of them.
func (j *Judge) restored(s *model.Serving, call *model.Call) {
	life, req := j.life(call.Proc, call.Attempt), &call.Req
	if life == noLife || !j.keepsState(req) || j.plan.job.Tasks[call.Proc].Role != model.Operate {
		return
	}
	for i := range j.claims.memories {
		if m := &j.claims.memories[i]; m.life == life {
			m.held, m.origin = held{at: s.N}, 0
		}
	}
	list := call.Ans.Records[:min(max(call.Ans.N, 0), int64(len(call.Ans.Records)))]
	op, u := j.plan.job.Tasks[call.Proc].Op, j.handed(req, list)
	for i := range list {
		rec := &list[i]
		m := &j.claims.memories[j.memory(life, op, j.recall.keys.number(rec.Key))]
		m.origin = j.downloaded(req, u, i, rec)
		m.held = held{m.origin, s.N, rec.Value}
	}
}

// handed is the upload whose states a task was handed: that of the checkpoint asked for, or else
// the latest one with these states, or the one asked for though it has others, or nil.
func (j *Judge) handed(req *model.Message, list []model.Record) *upload {
	c := &j.checkpoints
	asked := j.part(c.checkpoint(req.Seq), req.Token)
	if asked != nil && slices.Equal(j.statesLeft(asked), list) {
		return asked
	}
	for i := range slices.Backward(c.uploads) {
		u := &c.uploads[i]
		if j.h.Calls[u.call].Req.Token == req.Token && slices.Equal(j.statesLeft(u), list) {
			return u
		}
	}
	return asked
}

// downloaded is the version of a state that a task was handed, as its number i: that of the upload
// that it was handed, or else of the latest upload of the part that has the state.
func (j *Judge) downloaded(req *model.Message, u *upload, i int, rec *model.Record) int32 {
	c := &j.checkpoints
	if u != nil {
		if i < int(u.to-u.from) && isState(&j.h.Calls[u.call].Req.Parts[i], rec) {
			return c.saved[u.from+int32(i)].version
		}
		if version, isThere := j.savedIn(u, rec); isThere {
			return version
		}
	}
	for i := range slices.Backward(c.uploads) {
		if u := &c.uploads[i]; j.h.Calls[u.call].Req.Token == req.Token {
			if version, isThere := j.savedIn(u, rec); isThere {
				return version
			}
		}
	}
	return alien
}

// savedIn is the version that an upload has of a state.
func (j *Judge) savedIn(u *upload, rec *model.Record) (version int32, isThere bool) {
	parts := j.h.Calls[u.call].Req.Parts
	for k := u.from; k < u.to; k++ {
		if isState(&parts[k-u.from], rec) {
			return j.checkpoints.saved[k].version, true
		}
	}
	return alien, false
}

// isState reports whether two records say the same of the state under a key.
func isState(a, b *model.Record) bool { return a.Key == b.Key && a.Value == b.Value }

// complete makes a checkpoint the one that counts, and notes its parts and its cut.
func (j *Judge) complete(s *model.Serving, id int64) {
	c := &j.checkpoints
	n := c.checkpoint(id)
	done := completion{id: id, at: s.N, ends: int32(len(c.ends))}
	for part := range j.plan.parts {
		c.ends = append(c.ends, j.endOf(n, part))
	}
	j.collect(&done)
	c.completed = append(c.completed, done)
}

// collect notes the parts that are there of a completed checkpoint.
func (j *Judge) collect(done *completion) {
	c := &j.checkpoints
	done.from = int32(len(c.parts))
	for i := c.list[c.checkpoint(done.id)].first; i > 0; i = c.uploads[i-1].next {
		c.parts = append(c.parts, i-1)
		j.settleVersions(done, &c.uploads[i-1])
	}
	done.to = int32(len(c.parts))
}

// endOf is where a checkpoint cuts a partition: the first offset behind it. The part of its source
// says so, or the plan of a batch.
func (j *Judge) endOf(checkpoint int32, part int) int64 {
	c, at := &j.checkpoints, []model.Record(nil)
	if u := j.part(checkpoint, int64(part)); u != nil {
		// Sources are the first tasks, in the order of partitions.
		at = j.h.Calls[u.call].Req.Parts[:u.kept]
	} else if plan := c.list[checkpoint].plan; plan > 0 {
		at = j.h.Calls[plan-1].Req.Parts
	}
	for i := range at {
		if at[i].ID.Part == int32(part) {
			return min(max(at[i].ID.Offset, 0), int64(j.spans[part].length))
		}
	}
	return 0
}

// isIn reports whether an input record is within the cut of a completed checkpoint.
func (j *Judge) isIn(done *completion, id model.ID) bool {
	return id.Offset < j.checkpoints.ends[done.ends+id.Part]
}

// settleVersions chooses, among versions with one value, those that are within the cut and not made
// of what is in flight: a task goes on while its part is on its way.
func (j *Judge) settleVersions(done *completion, u *upload) {
	flight := j.flightOf(u)
	for i := u.from; i < u.to; i++ {
		s := &j.checkpoints.saved[i]
		for s.version > 0 {
			step, in := &j.claims.list[s.version-1], &j.h.Applications[s.version-1].In
			isEarly := j.isIn(done, in.ID) && !contains(flight, in)
			if isEarly || step.base == alien || j.valueOf(step.base) != step.value {
				break
			}
			s.version = step.base
		}
	}
}

func contains(list []model.Record, rec *model.Record) bool {
	for i := range list {
		if list[i].Same(*rec) {
			return true
		}
	}
	return false
}

// keepNewest hands the states of the checkpoint completed last to the cells: it is what a mode that
// keeps state in checkpoints has in the end, once what was in flight has been delivered. What was
// dropped since nobody has any more, whatever it was when the checkpoint was completed.
func (j *Judge) keepNewest() {
	c := &j.checkpoints
	if len(c.completed) == 0 || j.s.Mode.State != model.Snapshotted {
		return
	}
	done := c.completed[len(c.completed)-1]
	j.collect(&done)
	j.lookAt(&done)
	j.deliver(&done)
	for i := range j.states.cells {
		cell := &j.states.cells[i]
		cell.backend = j.cut(cell)
		cell.backend.at = done.at
	}
	for i := range c.flights {
		f := &c.flights[i]
		cell := &j.states.cells[f.cell]
		if cell.backend.value = f.after; f.claim > 0 && !cell.loose {
			cell.backend.version = f.claim
			continue
		}
		cell.loose = true
		c.landed = append(c.landed, f.slot)
	}
}

// lookAt gives the cells the states that they have in a completed checkpoint.
func (j *Judge) lookAt(done *completion) {
	c := &j.checkpoints
	c.round++
	for _, n := range c.parts[done.from:done.to] {
		u := &c.uploads[n]
		parts := j.h.Calls[u.call].Req.Parts
		for k := u.from; k < u.to; k++ {
			cell := &j.states.cells[c.saved[k].cell]
			cell.cut = held{c.saved[k].version, done.at, parts[k-u.from].Value}
			cell.cutIn = c.round
		}
	}
}

// cut is the state of a cell in the checkpoint that is looked at.
func (j *Judge) cut(cell *cell) held {
	if cell.cutIn != j.checkpoints.round {
		return held{}
	}
	return cell.cut
}
