package checker

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"github.com/oncesim/oncesim/model"
)

// place is one place of a log: when it came to be there at the earliest and at the latest, and what
// is known to be there. It holds no pointer, since a long log has many.
type place struct {
	low, high int64 // event numbers
	what      int32 // of logPart.whats, from 1; 0: what the final read shows there, if anything
	isWritten bool  // a write was told that it is here
	isBegun   bool  // something was entered
}

// what is what is known to be at a place.
type what struct {
	rec  *model.Record // nil: nobody saw it, and no write was told that it is here
	name *model.Record // of the same identity: a write was told that it had been here before
}

// any is the record, or one of the same identity, or an empty one.
func (w what) any() *model.Record {
	switch {
	case w.rec != nil:
		return w.rec
	case w.name != nil:
		return w.name
	}
	return &model.Record{}
}

// gap is the instant at which a log had some length: after it was read, and before.
type gap struct {
	low, high int64
}

// openAppend is a write whose place nobody was told. It may be nowhere.
type openAppend struct {
	rec  *model.Record
	call int64
}

// logPart is one partition of a log. It has as many places as there are writes: what is said of a
// place behind them is wrong.
type logPart struct {
	part    int64
	appends int
	places  []place
	whats   []what
	gaps    []gap // before each place, and at the end
	open    []openAppend
	need    int // the log was at least that long
	told    int // of how many places a write was told that it is there
	first   int // a guess: where the final read of the partition begins, and
	shown   int // how many places it shows, from one event to another
	from    int64
	until   int64
	isWrong bool // the first contradiction was reported
	isRead  bool // a guess: there was a final read
}

// logs judges the partitions of the external system.
type logs struct {
	*linear
	names   table
	parts   []logPart
	last    int   // the partition asked for last
	end     int64 // after everything
	isGuess bool  // writes are not counted first, and contradictions not put into words
}

// logs judges the external system as a partitioned log. A guess that finds no contradiction is
// right. Else everything is entered anew in the order of the history, since the first contradiction
// is what is reported.
func (l *linear) logs(guess *logs) model.Verdict {
	l.begin()
	l.fences(model.External)
	if guess.isRight() {
		return l.conclude("")
	}
	g := &logs{linear: l, end: l.h.End.N}
	g.count()
	for i := range l.h.Calls {
		if call := &l.h.Calls[i]; isOfLog(call) {
			g.take(call)
		}
	}
	for i := range l.h.Servings {
		if call, ok := l.copied(i); ok {
			p := g.at(call.Req.Seq)
			p.open = append(p.open, openAppend{&call.Req.Record, call.Invoked})
		}
	}
	for i := range l.h.Observations {
		o := &l.h.Observations[i]
		g.saw(g.at(int64(o.Part)), o.Seq, &o.Out, o.N, o.N)
	}
	g.readFinal()
	for i := range g.parts {
		if p := &g.parts[i]; !p.isWrong {
			g.order(p)
		}
	}
	return l.conclude("")
}

// isOfLog reports whether a call writes or reads a partition of the log.
func isOfLog(call *model.Call) bool {
	return call.Service == model.External &&
		(call.Req.Kind == model.Write || call.Req.Kind == model.Read)
}

// copied is the call of the second copy of a write, if serving i is one and changed something.
func (l *linear) copied(i int) (*model.Call, bool) {
	s := &l.h.Servings[i]
	call := &l.h.Calls[s.Call]
	return call, s.Copy && call.Service == model.External && call.Req.Kind == model.Write &&
		isApplied(&s.Ans)
}

// at is a partition; the pointer is valid until the next new one.
func (g *logs) at(part int64) *logPart {
	if g.last < len(g.parts) && g.parts[g.last].part == part {
		return &g.parts[g.last]
	}
	n, fresh := g.names.number(uint64(part), 0)
	if fresh {
		g.parts = append(g.parts, logPart{part: part})
	}
	g.last = int(n)
	return &g.parts[n]
}

// isAppend reports whether a write may have taken a place.
func isAppend(call *model.Call) bool {
	return call.Req.Kind == model.Write && (isOpen(call) || call.Outcome == model.Done)
}

// showFinal begins a guess with how many places the final read shows, if it shows one partition
// after the other. What it shows is looked at when a place is begun.
func (g *logs) showFinal() {
	for list := g.h.Final; len(list) > 0; {
		part := list[0].Part
		length := sort.Search(len(list), func(i int) bool { return list[i].Part != part })
		p := g.at(int64(part))
		if p.shown > 0 {
			p.isWrong = true
			return
		}
		p.first, p.shown = len(g.h.Final)-len(list), length
		p.from, p.until = list[0].N, list[length-1].N
		p.places = make([]place, length)
		list = list[length:]
	}
}

// place is a place that exists. A guess begins with what the final read shows there.
func (g *logs) place(p *logPart, k int) *place {
	at := &p.places[k]
	if at.isBegun {
		return at
	}
	at.isBegun, at.high = true, never
	if k < p.shown {
		p.isWrong = p.isWrong || g.h.Final[p.first+k].Seq != int64(k)
	}
	return at
}

// what is what is known to be at a place.
func (g *logs) what(p *logPart, k int) what {
	switch i := p.places[k].what; {
	case i > 0:
		return p.whats[i-1]
	case k < p.shown:
		return what{rec: &g.h.Final[p.first+k].Out}
	}
	return what{}
}

// know changes what is known to be at a place.
func (p *logPart) know(k int, w what) {
	at := &p.places[k]
	if at.what == 0 {
		p.whats = append(p.whats, w)
		at.what = int32(len(p.whats))
	}
	p.whats[at.what-1] = w
}

// guess enters a call. Mostly it is a write that was told a place, and what the final read shows
// there is what it wrote.
func (g *logs) guess(call *model.Call) {
	p := g.at(call.Req.Seq)
	k := call.Ans.Seq
	isTold := isAppend(call) && !isOpen(call)
	if !isTold || uint64(k) >= uint64(p.shown) || p.places[k].isBegun {
		g.take(call)
		return
	}
	o := &g.h.Final[p.first+int(k)]
	if o.Seq != k || o.Out != call.Req.Record {
		p.isWrong = true
	}
	at := &p.places[k]
	at.low, at.high, at.isWritten, at.isBegun = call.Invoked, call.Answered, true, true
	p.told++
}

// isRight completes a guess and reports whether nothing in it is contradictory.
func (g *logs) isRight() bool {
	for i := range g.h.Servings {
		if g.h.Servings[i].Copy {
			g.guessCopy(i)
		}
	}
	for i := range g.h.Observations {
		o := &g.h.Observations[i]
		g.end = max(g.end, o.N)
		g.saw(g.at(int64(o.Part)), o.Seq, &o.Out, o.N, o.N)
	}
	isRead := g.h.End.Reason == model.Quiescent || len(g.h.Final) > 0
	for i := range g.parts {
		p := &g.parts[i]
		if p.isRead = isRead; p.shown == 0 {
			p.from, p.until = g.end, g.end
		}
		p.need = max(p.need, p.shown)
		if !p.isWrong {
			g.order(p)
		}
		if p.isWrong {
			return false
		}
	}
	return true
}

// guessCopy enters the second copy of a write.
func (g *logs) guessCopy(serving int) {
	if call, ok := g.copied(serving); ok {
		p := g.at(call.Req.Seq)
		p.open = append(p.open, openAppend{&call.Req.Record, call.Invoked})
	}
}

// lengthen appends one value to a list until it has a length.
func lengthen[T any](list []T, length int, v T) []T {
	for range length - len(list) {
		list = append(list, v)
	}
	return list
}

// gap is the instant at which the log had a length.
func (p *logPart) gap(length int) gap {
	at := gap{high: never}
	if length < len(p.gaps) {
		at = p.gaps[length]
	}
	if p.isRead && length == p.shown {
		at.low, at.high = max(at.low, p.from), min(at.high, p.until)
	}
	return at
}

// count makes the partitions with a place for each write that may have happened.
func (g *logs) count() {
	for i := range g.h.Calls {
		call := &g.h.Calls[i]
		g.end = max(g.end, call.Invoked, call.Answered)
		if !isOfLog(call) {
			continue
		}
		p := g.at(call.Req.Seq)
		if isAppend(call) {
			p.appends++
		}
	}
	for i := range g.h.Servings {
		if call, ok := g.copied(i); ok {
			g.at(call.Req.Seq).appends++
		}
	}
	for i := range g.h.Observations {
		o := &g.h.Observations[i]
		g.at(int64(o.Part))
		g.end = max(g.end, o.N)
	}
	for i := range g.h.Final {
		g.at(int64(g.h.Final[i].Part))
	}
	for i := range g.parts {
		p := &g.parts[i]
		p.places, p.gaps = make([]place, p.appends), make([]gap, p.appends+1)
		for k := range p.places {
			g.place(p, k)
		}
		for k := range p.gaps {
			p.gaps[k].high = never
		}
	}
}

// take enters what a call says.
func (g *logs) take(call *model.Call) {
	rec := &call.Req.Record
	p := g.at(call.Req.Seq)
	switch {
	case call.Outcome == model.Refused:
	case call.Req.Kind == model.Read && isKnown(call):
		from := call.Req.Cursor
		for i := range call.Ans.Records {
			g.saw(p, from+int64(i), &call.Ans.Records[i], call.Invoked, call.Answered)
		}
		g.ended(p, from+int64(len(call.Ans.Records)), call.Invoked, call.Answered)
	case call.Req.Kind != model.Write:
	case isOpen(call):
		p.open = append(p.open, openAppend{rec, call.Invoked})
	case call.Outcome == model.DoneBefore:
		g.heard(p, call.Ans.Seq, rec, call.Invoked, call.Answered)
	case !g.exists(p, call.Ans.Seq, rec, call.Invoked, call.Answered):
	case p.places[call.Ans.Seq].isWritten:
		g.wrong(p, rec, fmt.Sprintf("two writes were told place %d", call.Ans.Seq),
			call.Invoked, call.Answered)
	default:
		g.saw(p, call.Ans.Seq, rec, call.Invoked, call.Answered)
		at := &p.places[call.Ans.Seq]
		at.low, at.isWritten = call.Invoked, true
		p.told++
	}
}

// exists reports whether the log can be long enough for a place to be in it. A guess makes the
// place, unless there cannot be as many writes.
func (g *logs) exists(p *logPart, k int64, rec *model.Record, from, until int64) bool {
	if k >= 0 && k < int64(len(p.places)) {
		return true
	}
	if g.isGuess && k >= 0 && k < int64(len(g.h.Calls)+len(g.h.Servings)) {
		p.places = lengthen(p.places, int(k)+1, place{})
		return true
	}
	g.wrong(p, rec, fmt.Sprintf("no more than %d writes, and place %d is taken", len(p.places), k),
		from, until)
	return false
}

// saw enters that a record was at a place at some instant of an interval.
func (g *logs) saw(p *logPart, k int64, rec *model.Record, from, until int64) {
	if !g.exists(p, k, rec, from, until) {
		return
	}
	at, was := g.place(p, int(k)), g.what(p, int(k))
	if was.rec == nil {
		was.rec = rec
		p.know(int(k), was)
	}
	if *was.rec != *rec || was.name != nil && !was.name.Same(*rec) {
		g.wrong(p, rec, fmt.Sprintf("place %d is told to hold two records", k), from, until,
			at.high)
	}
	at.high = min(at.high, until)
	p.need = max(p.need, int(k)+1)
}

// heard enters that a record of an identity was at a place, with whatever value.
func (g *logs) heard(p *logPart, k int64, rec *model.Record, from, until int64) {
	if !g.exists(p, k, rec, from, until) {
		return
	}
	at, was := g.place(p, int(k)), g.what(p, int(k))
	if was.name == nil {
		was.name = rec
		p.know(int(k), was)
	}
	if !was.name.Same(*rec) || was.rec != nil && !was.rec.Same(*rec) {
		g.wrong(p, rec, fmt.Sprintf("place %d is told to hold two records", k), from, until,
			at.high)
	}
	at.high = min(at.high, until)
	p.need = max(p.need, int(k)+1)
}

// ended enters that the log had a length at some instant of an interval.
func (g *logs) ended(p *logPart, length, from, until int64) {
	if length != 0 && !g.exists(p, length-1, &model.Record{}, from, until) {
		return
	}
	if g.isGuess {
		p.gaps = lengthen(p.gaps, int(length)+1, gap{high: never})
	}
	at := &p.gaps[length]
	at.low, at.high = max(at.low, from), min(at.high, until)
	p.need = max(p.need, int(length))
}

// readFinal enters the final read, one of each partition. A partition that showed nothing was read
// after everything. A run without an end need not have had a final read.
func (g *logs) readFinal() {
	if g.h.End.Reason != model.Quiescent && len(g.h.Final) == 0 {
		return
	}
	type read struct{ length, from, until int64 }
	reads := make([]read, len(g.parts))
	for i := range g.h.Final {
		o := &g.h.Final[i]
		n, _ := g.names.number(uint64(int64(o.Part)), 0)
		r := &reads[n]
		if o.Seq != r.length {
			g.wrong(&g.parts[n], &o.Out, fmt.Sprintf("the final read shows place %d and not %d",
				o.Seq, r.length), o.N)
			continue
		}
		if r.length == 0 {
			r.from = o.N
		}
		r.length, r.until = r.length+1, o.N
	}
	for i := range g.h.Final {
		o := &g.h.Final[i]
		n, _ := g.names.number(uint64(int64(o.Part)), 0)
		g.saw(&g.parts[n], o.Seq, &o.Out, reads[n].from, reads[n].until)
	}
	for n, r := range reads {
		if r.length == 0 {
			r.from, r.until = g.end, g.end
		}
		g.ended(&g.parts[n], r.length, r.from, r.until)
	}
}

// order decides a partition whose places are not contradictory in themselves: the log grows in the
// order of its places, each at an instant that is not before the lows up to it and not after the
// highs from it on.
func (g *logs) order(p *logPart) {
	if p.told < p.need {
		g.fill(p)
	}
	latest := int64(0)
	for k := range p.need + 1 {
		gap := p.gap(k)
		if end := gap.high; latest > end {
			g.wrong(p, &model.Record{}, fmt.Sprintf("at event %d a read had shown all places "+
				"before %d, which were not all begun until event %d", end, k, latest), end, latest)
			return
		}
		latest = max(latest, gap.low)
		if k == p.need {
			return
		}
		at := g.place(p, k)
		latest = max(latest, at.low)
		if by := at.high; latest > by {
			g.wrong(p, g.what(p, k).any(), fmt.Sprintf("place %d was taken by event %d, but it, a "+
				"place before it or a read without it was begun at event %d", k, by, latest),
				by, latest)
			return
		}
	}
}

// fill gives each place that must be taken and that no write was told one of the open writes. It
// chooses so that if any choice works then this one does.
//
// An open write may take a place if its call is not later than the place's deadline, the least high
// from there on; then it contradicts nothing. Deadlines grow with the place. A place that was seen
// takes, from the last such place to the first, the latest call of the same record that is in time:
// what is left over is as early as it can be. So do places of which only the identity is known,
// with any record of it. Places that nobody saw take what is left over, the earliest first.
func (g *logs) fill(p *logPart) {
	var seen, named, unseen []vacancy
	deadline := int64(never)
	for k := p.need - 1; k >= 0; k-- {
		at := g.place(p, k)
		deadline = min(deadline, p.gap(k+1).high, at.high)
		v := vacancy{k, deadline, g.what(p, k)}
		switch {
		case at.isWritten:
		case v.rec == nil && v.name != nil:
			named = append(named, v)
		case v.rec == nil:
			unseen = append(unseen, v)
		default:
			seen = append(seen, v)
		}
	}
	left := g.fillSeen(p, seen)
	slices.SortStableFunc(left, func(a, b openAppend) int { return cmp.Compare(b.call, a.call) })
	left = g.fillNamed(p, named, left)
	slices.Reverse(left)
	slices.Reverse(unseen)
	for i, v := range unseen {
		if i >= len(left) || left[i].call > v.deadline {
			g.wrong(p, &model.Record{}, fmt.Sprintf("no write can have taken place %d before "+
				"event %d", v.place, v.deadline), v.deadline)
			return
		}
	}
}

// vacancy is a place that an open write must have taken.
type vacancy struct {
	place    int
	deadline int64
	what
}

// fillSeen fills the places that were seen and returns the open writes that are left over.
func (g *logs) fillSeen(p *logPart, seen []vacancy) (left []openAppend) {
	slices.SortStableFunc(seen, func(a, b vacancy) int {
		return cmp.Or(compareRecords(a.rec, b.rec),
			cmp.Compare(b.place, a.place))
	})
	slices.SortStableFunc(p.open, func(a, b openAppend) int {
		return cmp.Or(compareRecords(a.rec, b.rec), cmp.Compare(b.call, a.call))
	})
	next := 0
	for _, v := range seen {
		for next < len(p.open) {
			side := compareRecords(p.open[next].rec, v.rec)
			if side > 0 || side == 0 && p.open[next].call <= v.deadline {
				break
			}
			left = append(left, p.open[next])
			next++
		}
		if next == len(p.open) || compareRecords(p.open[next].rec, v.rec) != 0 {
			g.wrong(p, v.rec, fmt.Sprintf("no write of what is at place %d was asked for by "+
				"event %d", v.place, v.deadline), p.places[v.place].high, v.deadline)
			return nil
		}
		next++
	}
	return append(left, p.open[next:]...)
}

// fillNamed fills the places of which the identity is known, the last one first, with the latest
// writes that fit; left begins with the latest one. It returns those that are left over.
func (g *logs) fillNamed(p *logPart, named []vacancy, left []openAppend) []openAppend {
	for _, v := range named {
		i := slices.IndexFunc(left, func(open openAppend) bool {
			return open.rec.Same(*v.name) && open.call <= v.deadline
		})
		if i < 0 {
			g.wrong(p, v.name, fmt.Sprintf("no write of what is at place %d was asked for by "+
				"event %d", v.place, v.deadline), p.places[v.place].high, v.deadline)
			return nil
		}
		left = slices.Delete(left, i, i+1)
	}
	return left
}

func compareRecords(a, b *model.Record) int {
	return cmp.Or(a.ID.Compare(b.ID), cmp.Compare(a.Op, b.Op), cmp.Compare(a.Path, b.Path),
		cmp.Compare(a.Key, b.Key), cmp.Compare(a.Value.Num, b.Value.Num),
		cmp.Compare(a.Value.Text, b.Value.Text))
}

// wrong reports the first contradiction of a partition.
func (g *logs) wrong(p *logPart, rec *model.Record, what string, events ...int64) {
	if p.isWrong {
		return
	}
	p.isWrong = true
	if g.isGuess {
		return
	}
	slices.Sort(events)
	g.report(rec, model.Fact{Times: -1}, fmt.Sprintf("the log of partition %d: %s", p.part, what),
		events...)
}
