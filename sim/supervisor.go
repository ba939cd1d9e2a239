package sim

import "github.com/oncesim/oncesim/model"

// end ends a life and, where the process is not replaced yet, has the supervisor restart it.
func (w *World) end(in *instance, how model.LifeEnd, reason string, cause int64) int64 {
	kind := model.EntryCrash
	switch how {
	case model.GaveUp:
		kind = model.EntryGiveUp
	case model.Cancelled:
		kind = model.EntryCancel
	}
	n := w.note(kind, happening{in: in, cause: cause, detail: reason})
	life := &w.hist.Lives[in.life]
	life.Ended, life.How, life.Reason = n, how, reason
	in.status = dead
	w.countEnd(in, how)
	for ; in.head < len(in.inbox); in.head++ {
		w.drop(in.inbox[in.head])
	}
	if w.slots[in.slot].current != in.index {
		return n
	}
	w.slots[in.slot].current = nobody
	if how != model.Cancelled {
		w.restart(in, n)
	}
	return n
}

// failsMax is how many lives of a process on end may fail on one record. After that it is in a loop
// that nothing will end, and the run is out of time.
const failsMax = 8

// countEnd counts the lives on end that gave up. Those that end with them, or as zombies, tell
// nothing.
func (w *World) countEnd(in *instance, how model.LifeEnd) {
	switch {
	case how == model.Crashed:
		w.givenUp = 0
	case how == model.GaveUp && w.slots[in.slot].current == in.index:
		w.givenUp++
	}
}

// overdue is why a run is over that is out of time: lives may have given up, one after the other.
func (w *World) overdue() model.EndReason {
	if w.givenUp > failsMax {
		return model.RestartLoop
	}
	return model.TimeBound
}

// failed ends a life that gives up. One that failed on the record on which its predecessor failed
// is restarted after twice the time: Flink's exponential-delay restart strategy. How a zombie ends
// tells nothing of the life that replaced it.
func (w *World) failed(in *instance, e *model.Effect) {
	if sl := &w.slots[in.slot]; sl.current == in.index {
		sl.count(&e.Msg)
		if sl.fails > failsMax {
			w.limit, w.givenUp = w.now, sl.fails
		}
	}
	w.end(in, model.GaveUp, e.Reason, in.cause)
}

// count counts a life that failed on the record of a message, or on none.
func (sl *slot) count(on *model.Message) {
	switch {
	case on.Kind == model.NoKind:
		sl.fails = 0
	case sl.fails > 0 && sl.failedOn.Same(on.Record):
		sl.fails++
	default:
		sl.fails, sl.failedOn = 1, on.Record
	}
}

// restart schedules the next life of a process, or of all, under the next attempt.
func (w *World) restart(in *instance, cause int64) {
	sl := &w.slots[in.slot]
	draw := w.draw(model.DrawRestart, sl.subject, uint64(in.self.Life), 0)
	at := w.now + within(draw, w.cfg.Restart)<<max(sl.fails-1, 0)
	w.schedule(at, draw, item{kind: itemSuspect, inst: in.index, cause: cause})
}

// pause makes a life stand still. The supervisor suspects it if that lasts too long.
func (w *World) pause(in *instance, length int64) int64 {
	n := w.note(model.EntryPause, happening{in: in, cause: in.cause})
	in.status = paused
	w.schedule(w.now+length, 0, item{kind: itemResume, inst: in.index, cause: n})
	if length > w.cfg.SuspectAfter && w.slots[in.slot].current == in.index {
		w.schedule(w.now+w.cfg.SuspectAfter, 0,
			item{kind: itemSuspect, inst: in.index, cause: n})
	}
	return n
}

// suspect acts on a life that died or stands still: its process, or every process, gets a new
// life. A false suspicion is what makes a zombie.
func (w *World) suspect(in *instance) {
	sl := &w.slots[in.slot]
	if in.status == up || sl.newest != in.index {
		return // it resumed in time, or has a successor already
	}
	sl.current = nobody
	w.attempt++
	if w.scope == model.RestartJob {
		w.restartJob()
		return
	}
	w.replace(in)
}

// replace starts a successor of a life.
func (w *World) replace(in *instance) {
	began := w.bear(in.self.Proc, w.hist.Lives[in.life].Ended)
	if in.status != dead {
		w.hist.Lives[in.life].Replaced = began
	}
	w.open(w.insts[w.slots[in.slot].current])
}

// restartJob cancels every life that can be reached and starts all processes anew. A paused life
// cannot be reached: it becomes a zombie.
func (w *World) restartJob() {
	for i := range w.slots {
		sl := &w.slots[i]
		if sl.current == nobody {
			continue
		}
		if in := w.insts[sl.current]; in.status == up {
			w.end(in, model.Cancelled, "the job restarts", in.cause)
		}
		sl.current = nobody
	}
	before := w.live
	for i := range w.slots {
		began := w.bear(model.ProcID(i), 0)
		for _, old := range w.insts[:before] {
			life := &w.hist.Lives[old.life]
			if int(old.slot) == i && old.status != dead && life.Replaced == 0 {
				life.Replaced = began
			}
		}
	}
	w.openAll()
}

// resume lets a paused life go on where it stood.
func (w *World) resume(in *instance, cause int64) {
	if in.status != paused {
		return
	}
	in.status = up
	n := w.note(model.EntryResume, happening{in: in, cause: cause})
	if w.slots[in.slot].current != in.index {
		w.schedule(w.now+w.cfg.LingerTime, 0, item{kind: itemFence, inst: in.index, cause: n})
	}
	if held := in.held; held != nobody {
		in.held = nobody
		w.settle(in, held)
	}
	if in.parked && in.status == up {
		in.parked = false
		leaving := in.leaving
		w.goOn(in, &leaving)
	}
	w.advance(in)
}

// goOn lets a transmission go that a pause held back, or sends it for the first time.
func (w *World) goOn(in *instance, p *parked) {
	if p.counted {
		w.leave(in, p.service, &p.req, &p.state)
		return
	}
	w.transmit(in, p.service, &p.req, &p.state)
}

// fence tells a zombie that it was replaced.
func (w *World) fence(in *instance) {
	if in.status != dead {
		w.end(in, model.Cancelled, "it had been replaced", in.cause)
	}
}
