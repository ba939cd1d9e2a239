package checker

import "math"

// isWitnessed reports whether the claims explain a state, so that no order need be searched for:
// the steps that its value comes from are each of the inputs under its key once, first in first out
// on every channel. If it does not, another order may.
func (j *Judge) isWitnessed(op, cell int32) bool {
	c, list := &j.states.cells[cell], j.flow.lists[op]
	if c.alien || c.loose && j.states.from == backend {
		return false
	}
	j.finder.round++
	left := c.items
	for version := c.final(j.states.from).version; version > 0; left-- {
		step := &j.claims.list[version-1]
		n := &j.nodes[step.slot]
		if n.item == 0 {
			return false
		}
		ch := &j.flow.chans[list[n.item-1].chann]
		if ch.round == j.finder.round && ch.lane <= n.item {
			return false
		}
		ch.round, ch.lane = j.finder.round, n.item
		version = step.base
	}
	return left == 0
}

// isShownAsClaimed reports whether what is visible of the inputs under a key is what the claims
// that explain its state emit, in their order. The operator feeds the sink.
func (j *Judge) isShownAsClaimed(op, cell int32) bool {
	list, later := j.flow.lists[op], int32(math.MaxInt32)
	version := j.states.cells[cell].final(j.states.from).version
	for version > 0 {
		step := &j.claims.list[version-1]
		for n := step.out + step.outs; n > step.out; n-- {
			e := &j.claims.emitted[n-1]
			first := j.nodes[e.slot].first
			if first == 0 || first >= later || !e.is(&j.seen.list[first-1].Out) {
				return false
			}
			later = first
		}
		outs := step.outs
		for e := list[j.nodes[step.slot].item-1].shown; e > 0; e = j.seen.entries[e-1].later {
			outs--
		}
		if outs != 0 {
			return false
		}
		version = step.base
	}
	return true
}
