package faults

import "github.com/oncesim/oncesim/model"

// What of a fault is drawn. The numbers enter golden hashes: append, never reorder.
const (
	drawProcess = iota
	drawPlace
	drawDuration
)

// Draw places the n-th fault of a drawn plan, from 0, as Places.Draw does, anywhere in an extent
// and with one of the durations if the action needs one (it must then be given one, except for a
// duplicate).
func Draw(seed, n uint64, extent *model.Extent, action model.Action, durations ...int64) (
	rule model.Rule, ok bool) {
	places := Places{Action: action, Extent: extent}
	if len(durations) > 0 {
		i := model.Below(subject(seed, n, action, drawDuration), int64(len(durations)))
		places.For = durations[i]
	}
	return places.Draw(seed, n)
}

// Draw picks the place of the n-th fault of a drawn plan, from 0: uniformly one of the processes
// that have a place, and uniformly one of the places there. ok is false where there is none.
//
// Each draw is keyed by the seed, n, the action and what it decides. So a plan grows, or loses a
// fault, without moving the others.
//
// The extent is that of a run without the plan. For n = 0 the drawn ordinal is within it. From
// n = 1 on it may exceed it by half, since the earlier faults make the run longer: that is where
// the effects of recovery are. Some of those anchors are not reached, and reported as such.
func (s Places) Draw(seed, n uint64) (rule model.Rule, ok bool) {
	s.beyond = n > 0
	proc, ok := s.pick(subject(seed, n, s.Action, drawProcess))
	if !ok {
		return model.Rule{}, false
	}
	place := subject(seed, n, s.Action, drawPlace)
	return s.at(proc, model.Below(place, s.count(proc))), true
}

func subject(seed, n uint64, action model.Action, what uint64) uint64 {
	return model.Draw(seed, model.DrawPlan, n, uint64(action), what)
}

// pick chooses among the processes that have a place.
func (s Places) pick(draw uint64) (proc int, ok bool) {
	candidates := int64(0)
	for p := range s.Extent.Effects {
		if s.count(p) > 0 {
			candidates++
		}
	}
	if candidates == 0 {
		return 0, false
	}
	nth := model.Below(draw, candidates)
	for p := range s.Extent.Effects {
		if s.count(p) == 0 {
			continue
		}
		if nth == 0 {
			return p, true
		}
		nth--
	}
	panic("faults: fewer processes than counted")
}
