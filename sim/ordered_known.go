package sim

import "github.com/oncesim/oncesim/model"

// Known is what exploring has taught about a job: who has ever sent to whom, and who has ever asked
// for what. From it follows which steps nothing else can come in the way of.
//
// It begins with nothing. As long as an exploration teaches something that was not known when it
// began, what it found may be incomplete, and it has to be done again. This ends, for there is only
// so much to know.
type Known struct {
	senders []uint64 // by process: a bit for each that has sent to it
	touched []uint64 // by object: a bit for each process that has asked for it
	repeats bool     // a step was claimed twice in one run
	fails   bool     // a life gave up
}

// ProcessesMax is how many processes a job that is Ordered may have: as many as fit in a set.
const ProcessesMax = 64

func newKnown(objects int) Known {
	return Known{senders: make([]uint64, ProcessesMax), touched: make([]uint64, objects)}
}

// Learn adds what a driver has seen.
func (k *Known) Learn(o *Ordered) {
	l := &o.learned
	if len(k.senders) == 0 {
		*k = newKnown(len(l.touched))
	}
	k.repeats, k.fails = k.repeats || l.repeats, k.fails || l.fails
	for i := range l.senders {
		k.senders[i] |= l.senders[i]
	}
	for i := range l.touched {
		k.touched[i] |= l.touched[i]
	}
}

// IsSurprised reports whether o has seen what was not known when it began.
func (o *Ordered) IsSurprised() bool {
	k, l := o.known, &o.learned
	if k == nil {
		return false
	}
	if l.repeats && !k.repeats || l.fails && !k.fails {
		return true
	}
	for i := range l.senders {
		if l.senders[i]&^k.sendTo(int32(i)) != 0 {
			return true
		}
	}
	for i := range l.touched {
		if l.touched[i]&^k.askFor(i) != 0 {
			return true
		}
	}
	return false
}

// repeatsSteps reports whether steps may be claimed twice.
func (k *Known) repeatsSteps() bool { return k == nil || k.repeats }

// isOnly reports whether nobody but a process has ever asked for an object.
func (k *Known) isOnly(p model.ProcID, object int) bool { return k.askFor(object)&^(1<<p) == 0 }

// askFor is who has ever asked for an object, a bit for each.
func (k *Known) askFor(object int) uint64 {
	if object >= len(k.touched) {
		return 0
	}
	return k.touched[object]
}

// sendTo is who has ever sent to a process, a bit for each.
func (k *Known) sendTo(p int32) uint64 {
	if int(p) >= len(k.senders) {
		return 0
	}
	return k.senders[p]
}
