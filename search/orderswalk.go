package search

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/sim"
)

// walker takes runs at random. One worker does it, so that the same walks come of the same seed.
type walker struct {
	*ordersWorker
	draw    *rand.Rand
	longest int // steps of a run
	list    []sim.Choice
}

// walk takes so many runs at random, of all that there are. Depth first, what begins to differ
// early is seen late; here it is as likely as anything else.
func (p *ordersPass) walk(ctx context.Context) {
	w := &walker{ordersWorker: p.workers[0], longest: 1,
		draw: rand.New(rand.NewPCG(p.scenario.Seed, uint64(p.orders.Crashes)))}
	for range p.orders.Walks {
		if ctx.Err() != nil {
			p.stop(context.Cause(ctx).Error())
		}
		if w.meet(); p.isOver.Load() {
			return
		}
		w.run()
	}
	p.stop(fmt.Sprintf("%s at random", counted(p.orders.Walks, "run")))
}

// run takes one run, and goes back to the beginning.
func (w *walker) run() {
	for !w.pass.isOver.Load() {
		w.list = w.ordered.Choices(w.list[:0])
		if len(w.list) == 0 {
			w.end()
			break
		}
		if w.depth == depthMax {
			panic(fmt.Sprintf("search: a run took more than %d steps", depthMax))
		}
		w.take(w.list[w.draw.IntN(len(w.list))])
	}
	w.longest = max(w.longest, w.depth)
	for w.depth > 0 {
		w.depth--
		w.ordered.Undo()
	}
}

// take takes a step, or the step with a crash in it: on average, as many crashes as there may be
// fall on the length of a run.
func (w *walker) take(c sim.Choice) {
	w.ordered.Take(&c)
	if w.draw.IntN(w.longest) < w.ordered.Left().Crashes {
		if crashes := w.ordered.Crashes(&c, nil); len(crashes) > 0 {
			crash := crashes[w.draw.IntN(len(crashes))]
			w.ordered.Undo()
			if c = crash; !w.ordered.Take(&c) {
				w.ordered.Undo()
				c.Crash, c.Victim, c.Effect = 0, model.Nobody, 0
				w.ordered.Take(&c)
			}
		}
	}
	w.found.Transitions++
	level := w.push()
	level.steps, level.next = append(level.steps, c), 1
	w.isNew()
}
