package bench

import (
	"fmt"

	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/sim"
)

// flights is how many events of the loop one round takes.
const flights = 300_000

// loops measures the event loop of a world: taking the first event, handing it to a trivial
// process of one of four kinds, the draw of a latency, the check of faults, the trace hash, and
// queueing what the process sends.
func loops() []contest {
	return []contest{
		{name: "event loop, 256 pending", unit: "ns/event",
			to: "a bare 4-ary heap of 48-byte events: pop, draw, push", goal: atMost("1.00", 1),
			setUp: func() (side, side, error) {
				h := newBareHeap(256)
				return loop(256, true), func() int { return h.turn(flights) }, nil
			}},
		{name: "trace hash and fault check in it", unit: "ns/event",
			to: "the same loop without them", goal: atMost("1.25", 1.25),
			setUp: func() (side, side, error) { return loop(256, true), loop(256, false), nil }},
		{name: "event loop, 4096 pending", unit: "ns/event",
			to: "the same loop with 16 pending", goal: atMost("1.60", 1.6),
			setUp: func() (side, side, error) { return loop(4096, true), loop(16, true), nil }},
	}
}

// loop returns the product's side: a world of pings, whole or without hash and rules.
func loop(pending int, isWhole bool) side { return loopOf(pending, flights, isWhole) }

// loopOf is loop with so many events.
func loopOf(pending, events int, isWhole bool) side {
	w := pings(pending, events)
	var rules []model.Rule
	if isWhole {
		rules = unreached()
	}
	return func() int {
		end := w.Run(1, rules, sim.Options{Unhashed: !isWhole}).End
		if end.Reason != model.EventBound {
			panic(fmt.Sprintf("bench: the balls came to rest: %s", end.Reason))
		}
		return int(end.N / 2)
	}
}
