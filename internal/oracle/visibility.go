package oracle

import (
	"slices"

	"github.com/oncesim/oncesim/model"
)

// Each entry knows the poll at which readers saw it first. What they have seen stays seen.

// sightings are the polls at which the writes of a bundle were first seen; 0: never.
func (r *run) sightings(b *bundle) []int {
	list := make([]int, len(b.writes))
	for i, place := range b.writes {
		list[i] = r.sighting(b, place)
	}
	return list
}

// sighting is the first poll that saw a write of a bundle. In a table it need not be this write
// that brought what is seen.
func (r *run) sighting(b *bundle, place int) int {
	feed := *r.feed(b.part)
	if r.o.shape == model.Log {
		return feed[place].seen
	}
	first := slices.IndexFunc(feed, func(s visible) bool { return s.rec == feed[place].rec })
	if feed[first].seen == 0 {
		return 0
	}
	return max(feed[first].seen, b.decided+1)
}

// firstOf is the first poll that saw one of them, or 0.
func firstOf(sightings []int) int {
	first := 0
	for _, poll := range sightings {
		if poll > 0 && (first == 0 || poll < first) {
			first = poll
		}
	}
	return first
}

// isTornRead reports whether the first poll that saw some of them did not see others, and isTorn
// whether that is so for ever.
func isTornRead(sightings []int) bool {
	first := firstOf(sightings)
	return first != 0 &&
		slices.ContainsFunc(sightings, func(poll int) bool { return poll != first })
}

func isTorn(sightings []int) bool {
	return firstOf(sightings) != 0 && slices.Contains(sightings, 0)
}

// canWatch leaves the verdict open where what readers saw is not what was accepted.
func (r *run) canWatch(v *verdict) bool {
	switch {
	case len(r.bundles) == 0:
		return false
	case !r.honest:
		v.leave("the external system shows something else than it accepted")
	}
	return v.reason == ""
}

// atomicVisibility asks of each transaction and each batch whether readers saw it whole or not at
// all.
func (r *run) atomicVisibility(v *verdict) {
	if !r.canWatch(v) {
		return
	}
	for _, b := range r.bundles {
		polls := r.sightings(b)
		first := firstOf(polls)
		if first == 0 {
			continue
		}
		rec, n := r.firstOf(b)
		if b.isTxn && (b.fate == undecided || first <= b.decided) {
			v.add(model.EarlyRead, rec, n)
		}
		switch b.fate {
		case aborted:
			v.add(model.DirtyRead, rec, n)
		case committed:
			v.torn(polls, rec, n, model.TornRead)
		}
	}
}

// torn notes that readers saw part of something: for a while, which is of a kind, or for ever.
func (v *verdict) torn(polls []int, rec model.Record, n int64, transient model.AnomalyKind) {
	if isTorn(polls) {
		v.addAtEnd(model.Torn, rec, n)
		v.optional = true // what stays so was so before
	}
	if isTornRead(polls) {
		v.add(transient, rec, n)
	}
	v.optional = false
}

// firstOf is the first write of a bundle, and the event that made it.
func (r *run) firstOf(b *bundle) (model.Record, int64) {
	s := &(*r.feed(b.part))[b.writes[0]]
	return s.rec, s.n
}

// globalVisibility asks of each checkpoint whether readers saw what belongs to it whole or not at
// all, over all partitions of the sink.
func (r *run) globalVisibility(v *verdict) {
	if !r.canWatch(v) {
		return
	}
	polls := map[int64][]int{}
	isCommitted := map[int64]bool{}
	isKnown := map[claim]bool{}
	var order []int64
	for _, b := range r.bundles {
		if b.checkpoint == 0 {
			continue
		}
		if !slices.Contains(order, b.checkpoint) {
			order = append(order, b.checkpoint)
		}
		isCommitted[b.checkpoint] = isCommitted[b.checkpoint] || b.fate == committed
		for _, place := range b.writes {
			c := claim{b.checkpoint, b.part, (*r.feed(b.part))[place].rec}
			if !isKnown[c] {
				polls[b.checkpoint] = append(polls[b.checkpoint], r.sighting(b, place))
			}
			isKnown[c] = r.o.shape != model.Log // a row that is written again is the same row
		}
	}
	for _, c := range order {
		if isCommitted[c] {
			v.torn(polls[c], checkpointRecord(c), 0, model.FracturedRead)
		}
	}
}

// claim is what one checkpoint has to show in a partition.
type claim struct {
	checkpoint int64
	part       int64
	rec        model.Record
}

// agreement asks whether of one checkpoint some transactions were committed and others aborted, or
// some output was committed before anybody decided that it is to be.
func (r *run) agreement(v *verdict) {
	committedOf := map[int64]bool{}
	for _, b := range r.bundles {
		if b.isTxn && b.checkpoint != 0 && b.fate == committed {
			committedOf[b.checkpoint] = true
		}
	}
	isNamed := map[int64]bool{}
	for _, b := range r.bundles {
		if b.isTxn && b.fate == aborted && committedOf[b.checkpoint] && !isNamed[b.checkpoint] {
			isNamed[b.checkpoint] = true
			v.add(model.Conflict, checkpointRecord(b.checkpoint), 0)
		}
	}
	isEarly := map[int64]bool{}
	for _, b := range r.bundles {
		if b.checkpoint != 0 && b.isEarly && !isEarly[b.checkpoint] {
			isEarly[b.checkpoint] = true
			v.add(model.PrematureCommit, checkpointRecord(b.checkpoint), 0)
		}
	}
}

// hanging looks for transactions that nobody has decided, and that readers wait at: one that holds
// nothing has no place in the log.
func (r *run) hanging(v *verdict) {
	for _, b := range r.bundles {
		if b.isTxn && b.fate == undecided && len(b.writes) > 0 {
			v.add(model.Hanging, model.Record{ID: model.ID{Part: int32(b.part), Offset: b.id}}, 0)
		}
	}
}
