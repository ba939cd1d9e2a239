package report

import (
	"fmt"
	"slices"

	"github.com/oncesim/oncesim/model"
)

// row makes the row of an event; ok is false for one that the diagram is not about.
func (d *diagram) row(e *model.Entry) (r row, ok bool) {
	r = row{e: e, from: procPlace(e.Proc), to: procPlace(e.Proc), rank: -1}
	switch e.Kind {
	case model.EntryStart, model.EntryCrash, model.EntryGiveUp, model.EntryCancel,
		model.EntryPause, model.EntryResume:
		d.lifeRow(&r)
	case model.EntrySend, model.EntryDeliver, model.EntryDrop:
		d.messageRow(&r)
	case model.EntryInvoke, model.EntryServe, model.EntryAnswer, model.EntryLate:
		d.callRow(&r)
	case model.EntryLose, model.EntryDelay, model.EntryDouble:
		if isMessage(e) {
			d.messageRow(&r)
		} else {
			d.callRow(&r)
		}
	case model.EntryApply:
		if e.Msg.Record.ID == d.about {
			r.rank = 2
		}
		r.text = "apply " + d.short(e.Msg.Record.ID)
	case model.EntryTimer:
		r.text = "timer"
	case model.EntryObserve:
		if d.isGated() && e.Msg.Record.ID == d.about {
			r.rank = 4
		}
		r.from, r.to = servicePlace(model.External), servicePlace(model.External)
		r.text = "seen: " + d.short(e.Msg.Record.ID)
	case model.EntryEnd:
		r.from, r.to = servicePlace(model.InputLog), servicePlace(model.InputLog)
		r.text = "end: " + e.Detail
	}
	d.expiryRow(&r)
	if slices.Contains(d.cited, e.N) {
		r.rank = 0
	}
	return r, r.rank >= 0
}

func procPlace(p model.ProcID) place              { return place{id: int32(p)} }
func servicePlace(s model.ServiceID) place        { return place{isService: true, id: int32(s)} }
func isReached(hist *model.History, n int64) bool { return slices.Contains(hist.Reached, n) }

// lifeRow is what happens to a process. It matters where the process has to do with the record;
// forgetStrangers sees to that.
func (d *diagram) lifeRow(r *row) {
	r.rank = 1
	e := r.e
	switch e.Kind {
	case model.EntryStart:
		r.text = fmt.Sprintf("^ attempt %d", e.Attempt)
		if e.Attempt == 1 {
			r.rank = -1
			return
		}
	case model.EntryCrash:
		r.text = "X crash"
	case model.EntryGiveUp:
		r.text = "X gives up"
	case model.EntryCancel:
		r.text = "X cancelled"
		if d.t.mode != nil && d.t.mode.RestartOf(d.t.job) == model.RestartJob {
			r.rank = -1 // the restart of the job says it
		}
	case model.EntryPause:
		r.text = "= pause"
	case model.EntryResume:
		r.text = "= resume"
	}
	if e.Attempt > livesMax {
		r.rank = 7
	}
}

// livesMax is how many lives of a process are worth telling apart: of one that fails again and
// again the later ones show nothing new.
const livesMax = 4

// isMessage reports whether an event is about a message between two tasks.
func isMessage(e *model.Entry) bool { return e.Msg.Kind.IsMessage() }

// messageRow is a message: a row where it is handled, one where it is dropped, one for what the
// network did to it, and one where it is sent if a sentence says so.
func (d *diagram) messageRow(r *row) {
	e := r.e
	if e.Msg.Kind != model.Data && e.Msg.Kind != model.Ack {
		d.noticeRow(r)
		return
	}
	if e.Msg.Record.ID == d.about {
		r.rank = 3
		if e.Msg.Kind == model.Ack {
			r.rank = 5
		}
		if e.Msg.Record.Op == 0 && e.Msg.Kind == model.Data {
			r.rank = 2
		}
	}
	name := d.short(e.Msg.Record.ID)
	r.labels = []string{name}
	if e.Msg.Kind == model.Ack {
		r.labels = []string{"ack " + name, "ack"}
	}
	switch e.Kind {
	case model.EntrySend:
		r.rank, r.labels = -1, nil
		r.text = "send " + name
		if e.Msg.Kind == model.Ack {
			r.text = "ack " + name
		}
		if e.Msg.Try > 0 {
			r.text = "re" + r.text
		}
	case model.EntryDeliver:
		r.from = procPlace(e.To)
	case model.EntryDrop:
		r.from, r.to, r.isLost = procPlace(d.t.at(e.Cause).Proc), procPlace(e.To), true
	case model.EntryLose, model.EntryDelay, model.EntryDouble:
		d.struckRow(r)
	}
}

// struckRow is what the network did to a message.
func (d *diagram) struckRow(r *row) {
	e := r.e
	r.rank = -1
	if e.Msg.Record.ID == d.about && e.Msg.Record.ID.Offset >= 0 || d.isPlanned(e) {
		r.rank = 1
	}
	switch e.Kind {
	case model.EntryLose:
		r.to, r.isLost = procPlace(e.To), true
	case model.EntryDelay:
		r.text, r.labels = "~ "+r.labels[0]+" held up", nil
	case model.EntryDouble:
		r.text, r.labels = "2x "+r.labels[0], nil
	}
}

// callRow is a request or an answer. What the network did to a request matters if it was the
// record's, or if the plan says so.
func (d *diagram) callRow(r *row) {
	e := r.e
	service := servicePlace(e.Service)
	what := d.what(e)
	hit := -1
	if isAbout(e, d.about) || d.isPlanned(e) || isTxnKind(e.Msg.Kind) && d.isOfRecord(e) {
		hit = 1
	}
	if e.Kind == model.EntryLose && e.Detail == byOutage {
		r.text = "down"
	}
	switch e.Kind {
	case model.EntryInvoke:
		r.text = "ask " + what[0]
	case model.EntryServe:
		r.rank = d.serveRank(e)
		r.to, r.labels = service, what
		r.text = d.served(e)
	case model.EntryAnswer:
		d.answerRow(r, service)
	case model.EntryLate:
		r.text = "late answer"
		if isAbout(e, d.about) {
			r.rank = 4
		}
	case model.EntryLose:
		r.rank, r.isLost, r.labels, r.to = hit, true, what, service
		if d.t.isAnswerLost(e) {
			r.from, r.to, r.labels = service, procPlace(e.Proc), []string{"answer"}
		}
	case model.EntryDelay:
		r.rank, r.text = hit, "~ "+what[0]+" held up"
	case model.EntryDouble:
		r.rank, r.text = hit, "2x "+what[0]
	}
}

// isPlanned reports whether the call that an event belongs to is one that a fault was anchored at.
func (d *diagram) isPlanned(e *model.Entry) bool {
	invoked := e.Cause
	if isReached(d.t.hist, e.N) {
		return true
	}
	if d.t.has(invoked) && d.t.callOf(invoked) != nil {
		invoked = d.t.callOf(invoked).Invoked
	}
	return isReached(d.t.hist, invoked)
}

func (d *diagram) serveRank(e *model.Entry) int {
	switch {
	case isReached(d.t.hist, e.N):
		return 1
	case isAbout(e, d.about) && e.Msg.Kind == model.Write:
		return 1
	case isAbout(e, d.about) && (e.Msg.Kind == model.Put || e.Msg.Kind == model.Update ||
		e.Msg.Kind == model.Mark):
		return 3
	case isAbout(e, d.about) && e.Msg.Kind == model.Get:
		return 6
	case covers(e, d.about):
		return 4
	}
	return d.coordinationRank(e)
}

// answerRow is the outcome of a call, where there is something to see.
func (d *diagram) answerRow(r *row, service place) {
	e := r.e
	switch {
	case e.Outcome == model.Unknown:
		r.text = "? no answer"
		if isAbout(e, d.about) {
			r.rank = 2
		}
		return
	case d.t.isPosition(e, d.about.Part):
		offset := fmt.Sprint(e.Ans.Seq)
		r.from, r.labels = service, []string{"from " + offset, offset}
		if e.Attempt > 1 {
			r.rank = 3
		}
	case d.t.isFetch(e, d.about):
		r.from, r.rank = service, 4
		r.labels = []string{fmt.Sprintf("read %d-%d", e.Ans.Seq, e.Ans.Seq+e.Ans.N-1), "read"}
		if e.Ans.N == 1 {
			r.labels[0] = fmt.Sprintf("read %d", e.Ans.Seq)
		}
	default:
		r.from, r.labels = service, []string{"done"}
	}
}

// what is a request in a word or two, and in one.
func (d *diagram) what(e *model.Entry) []string {
	name := d.short(e.Msg.Record.ID)
	switch e.Msg.Kind {
	case model.Mark:
		if e.Msg.Record.ID.Offset < 0 { // of a checkpoint whose rows are written
			name = fmt.Sprint(e.Msg.Seq)
		}
		return []string{"mark " + name, "mark"}
	case model.Write:
		return []string{"write " + name, name}
	case model.Put, model.Get, model.Update:
		return []string{fmt.Sprintf("%s %s", e.Msg.Kind, name), e.Msg.Kind.String()}
	case model.OffsetCommit:
		return []string{fmt.Sprintf("commit %d", e.Msg.Seq), fmt.Sprintf("c %d", e.Msg.Seq)}
	}
	return d.asked(e)
}

// served is what a service has to show for a request.
func (d *diagram) served(e *model.Entry) string {
	switch {
	case e.Outcome == model.Refused:
		return "refused"
	case e.Outcome == model.DoneBefore:
		return "known"
	case e.Outcome == model.Stale && isTxnKind(e.Msg.Kind):
		return "is over"
	case e.Outcome == model.Stale:
		return "too old"
	case e.Detail == isForgotten:
		return isForgotten
	case e.Detail == isTorn:
		return isTorn
	case e.Detail == isStale && e.Msg.Kind == model.Get:
		return "= " + found(e) + ", stale"
	case e.Detail == isStale:
		return isStale
	}
	switch e.Msg.Kind {
	case model.Write:
		name := stepName{e.Msg.Record.Op, e.Msg.Record.ID, e.Msg.Record.Path}
		d.writes[name]++
		return fmt.Sprintf("#%d", d.writes[name])
	case model.WriteBatch:
		return d.servedBatch(e)
	case model.Put:
		return "= " + e.Msg.Record.Value.String()
	case model.Get:
		return "= " + e.Ans.Value.String()
	case model.Update:
		if setsState(e) {
			return "= " + e.Msg.Record.Value.String()
		}
	case model.Fetch:
		if e.Ans.Seq > e.Msg.Seq {
			return fmt.Sprintf("from %d", e.Ans.Seq)
		}
	}
	return d.coordinationServed(e)
}
