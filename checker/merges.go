package checker

import (
	"cmp"
	"math"
	"slices"

	"github.com/oncesim/oncesim/model"
)

// merges are the steps of tasks that keep no state and take their inputs from several channels. A
// run without failures may merge the channels in any order; but in one order, and each step emits
// all that it emits before the next one begins. Something of that order is known along each way
// from such a task: to a partition of the sink from what is shown, to a task that keeps state from
// the order in which that takes its inputs in the witness.
type merges struct {
	steps []merge
	shown []mark
	taken []mark
	marks []mark // those that are looked at
	edges []edge
	waits []int32 // by step: of how many others it must be behind that have no place yet
	queue []int32
}

// merge is one step.
type merge struct {
	task   int32
	chann  int32 // by which its input came, if that orders it, plus one
	before int32 // the step of another such task behind that input, plus one

	lane uint64 // the last one that it was met in
}

// mark is a place of a step in an order.
type mark struct {
	lane uint64 // the step's task and the way from there, in one row of a table by key
	at   int32  // the entry, or the place in the witness
	step int32
}

// edge says that one step was taken before another.
type edge struct{ from, to int32 }

func (m *merges) reset() {
	m.steps, m.shown, m.taken = m.steps[:0], m.shown[:0], m.taken[:0]
}

// merged notes the step of an operator without state on an item, if its task merges channels, and
// returns the last such step behind what it emits, plus one.
func (j *Judge) merged(op int32, it *item) int32 {
	if !j.plan.merges[it.task] {
		return it.merge
	}
	m := &j.flow.merges
	step := merge{task: it.task, before: it.merge}
	if j.plan.of(op, it.rec.ID.Part).owner == 0 {
		step.chann = it.chann + 1
	}
	m.steps = append(m.steps, step)
	return int32(len(m.steps))
}

// show notes that an entry shows an output of a step and of those behind it.
func (j *Judge) show(entry, step, chann, part int32) {
	row := j.seen.entries[entry].row
	way := model.Mix(uint64(uint32(part))^hashA, uint64(uint32(row))^hashB)
	f := &j.flow
	f.merges.shown = f.mark(f.merges.shown, entry, step, chann, way)
}

// mark adds the place of a step, and of those behind it, in the order at the end of a channel.
func (f *flow) mark(list []mark, at, step, chann int32, way uint64) []mark {
	for step > 0 {
		s := &f.merges.steps[step-1]
		for f.chans[chann].task != s.task {
			way = model.Mix(way^hashA, uint64(uint32(f.chans[chann].task))^hashB)
			chann = f.chans[chann].from
		}
		lane := model.Mix(way^hashB, uint64(uint32(s.task))^hashA)
		list = append(list, mark{lane, at, step - 1})
		step = s.before
	}
	return list
}

// joint settles what holds by the flow, where a task merges channels: the orders in which the tasks
// behind it take their inputs in the witness, and perhaps what is shown, must fit together. Where
// they do not, another witness may.
func (j *Judge) joint(result model.Result, reason string, isShown bool) (model.Result, string) {
	m := &j.flow.merges
	if result != model.Holds || len(m.steps) == 0 {
		return result, reason
	}
	m.marks = append(m.marks[:0], m.taken...)
	if isShown {
		m.marks = append(m.marks, m.shown...)
	}
	if j.tangled() > 0 {
		return model.Undecided, reasonJoint
	}
	return result, reason
}

// shownTangled is tangled of what is shown alone, which must be what the flow emits.
func (j *Judge) shownTangled() int32 {
	m := &j.flow.merges
	m.marks = append(m.marks[:0], m.shown...)
	return j.tangled()
}

// tangled is a place, plus one, which says that the steps of a task that merges channels were not
// taken one after the other, or 0: the first at which a step goes on that others have followed, or
// else the first of one that must be before itself.
func (j *Judge) tangled() int32 {
	m := &j.flow.merges
	slices.SortFunc(m.marks, func(a, b mark) int {
		return cmp.Or(cmp.Compare(a.lane, b.lane), cmp.Compare(a.at, b.at))
	})
	m.edges = m.edges[:0]
	for i := 1; i < len(m.marks); i++ {
		if a, b := &m.marks[i-1], &m.marks[i]; a.lane == b.lane && a.step != b.step {
			m.edges = append(m.edges, edge{a.step, b.step})
		}
	}
	m.follow(len(j.flow.chans))
	m.place()
	knot, back := int32(0), int32(0)
	for i := range m.steps {
		m.steps[i].lane = 0
	}
	for i := range m.marks {
		k := &m.marks[i]
		s := &m.steps[k.step]
		if s.lane == k.lane && m.marks[i-1].step != k.step {
			back = min(k.at+1, cmp.Or(back, math.MaxInt32))
		}
		if m.waits[k.step] > 0 {
			knot = min(k.at+1, cmp.Or(knot, math.MaxInt32))
		}
		s.lane = k.lane
	}
	return cmp.Or(back, knot)
}

// follow adds that a task takes what comes by one channel in the order in which it comes.
func (m *merges) follow(channels int) {
	m.queue = append(m.queue[:0], make([]int32, channels)...)
	for i := range m.steps {
		chann := m.steps[i].chann
		if chann == 0 {
			continue
		}
		if last := m.queue[chann-1]; last > 0 {
			m.edges = append(m.edges, edge{last - 1, int32(i)})
		}
		m.queue[chann-1] = int32(i + 1)
	}
}

// place gives the steps places one after the other. Those that get none wait for each other.
func (m *merges) place() {
	slices.SortFunc(m.edges, func(a, b edge) int { return cmp.Compare(a.from, b.from) })
	m.waits = append(m.waits[:0], make([]int32, len(m.steps))...)
	for _, e := range m.edges {
		m.waits[e.to]++
	}
	m.queue = m.queue[:0]
	for i, waits := range m.waits {
		if waits == 0 {
			m.queue = append(m.queue, int32(i))
		}
	}
	for at := 0; at < len(m.queue); at++ {
		step := m.queue[at]
		i, _ := slices.BinarySearchFunc(m.edges, step, func(e edge, step int32) int {
			return cmp.Compare(e.from, step)
		})
		for ; i < len(m.edges) && m.edges[i].from == step; i++ {
			to := m.edges[i].to
			if m.waits[to]--; m.waits[to] == 0 {
				m.queue = append(m.queue, to)
			}
		}
	}
}
