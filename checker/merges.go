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
	held  []mark // of tables by key; at: 1 for what a row holds in the end, else 0
	marks []mark // those that are looked at
	edges []edge
	waits []int32 // by step: of how many others it must be behind that have no place yet
	queue []int32
}

// merge is one step.
type merge struct {
	task   int32
	chann  int32 // by which its input came
	isPure bool  // its input depends on no state, and so on no witness
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
	m.steps, m.shown, m.taken, m.held = m.steps[:0], m.shown[:0], m.taken[:0], m.held[:0]
}

// merged notes the step of an operator without state on an item, if its task merges channels, and
// returns the last such step behind what it emits, plus one.
func (j *Judge) merged(op int32, it *item) int32 {
	if !j.plan.merges[it.task] {
		return it.merge
	}
	m := &j.flow.merges
	m.steps = append(m.steps, merge{task: it.task, chann: it.chann, before: it.merge,
		isPure: j.plan.of(op, it.rec.ID.Part).owner == 0})
	return int32(len(m.steps))
}

// show notes that an entry shows an output of a step and of those behind it.
func (j *Judge) show(entry, step, chann, part int32) {
	f := &j.flow
	way := wayTo(part, j.seen.entries[entry].row)
	f.merges.shown = f.mark(f.merges.shown, entry, step, chann, way)
}

// hold notes whether a row of a table by key holds an output of a step in the end.
func (j *Judge) hold(out *model.Record, row, step, chann, part int32) {
	f, s := &j.flow, &j.seen
	at := int32(0)
	if final := s.rows.list[row].final; final > 0 && s.list[final-1].Out.Same(*out) {
		at = 1
	}
	f.merges.held = f.mark(f.merges.held, at, step, chann, wayTo(part, row))
}

// wayTo is the end of a way at a partition, or at a row of one in a table by key.
func wayTo(part, row int32) uint64 {
	return model.Mix(uint64(uint32(part))^hashA, uint64(uint32(row))^hashB)
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

// What joint looks at besides the orders in which tasks take their inputs.
const (
	asShown = 1 << iota // the order in which outputs are shown
	asHeld              // what the rows of a table by key hold in the end
)

// joint settles what holds by the flow, where a task merges channels: the orders in which the tasks
// behind it take their inputs in the witness, and other orders that are asked for, must fit
// together. Where they do not, another witness may.
func (j *Judge) joint(result model.Result, reason string, other int) (model.Result, string) {
	m := &j.flow.merges
	if result != model.Holds || len(m.steps) == 0 {
		return result, reason
	}
	m.marks, m.edges = append(m.marks[:0], m.taken...), m.edges[:0]
	if other&asShown != 0 {
		m.marks = append(m.marks, m.shown...)
	}
	if other&asHeld != 0 {
		m.endWithHeld()
	}
	if m.tangled(len(j.flow.chans), true) > 0 {
		return model.Undecided, reasonJoint
	}
	return result, reason
}

// shownTangled is tangled of what is shown alone, which must be what the flow emits, and only of
// steps that are the same in every execution.
func (j *Judge) shownTangled() int32 {
	m := &j.flow.merges
	m.marks, m.edges = m.marks[:0], m.edges[:0]
	for _, k := range m.shown {
		if m.steps[k.step].isPure {
			m.marks = append(m.marks, k)
		}
	}
	return m.tangled(len(j.flow.chans), false)
}

// endWithHeld adds that what a row holds in the end comes after all else that came to it the same
// way.
func (m *merges) endWithHeld() {
	slices.SortFunc(m.held, compareMarks)
	for from := 0; from < len(m.held); {
		to := from
		for to < len(m.held) && m.held[to].lane == m.held[from].lane {
			to++
		}
		last := m.held[to-1]
		for _, k := range m.held[from:to] {
			if last.at == 1 && k.step != last.step {
				m.edges = append(m.edges, edge{k.step, last.step})
			}
		}
		from = to
	}
}

func compareMarks(a, b mark) int {
	return cmp.Or(cmp.Compare(a.lane, b.lane), cmp.Compare(a.at, b.at))
}

// tangled is a place, plus one, which says that the steps of a task that merges channels were not
// taken one after the other, or 0: the first at which a step goes on that others have followed, or
// else the first of one that must be before itself. Channels behind operators with state, which
// depend on the witness, count on request. Without marks the place is 1.
func (m *merges) tangled(channels int, isAll bool) int32 {
	slices.SortFunc(m.marks, compareMarks)
	for i := 1; i < len(m.marks); i++ {
		if a, b := &m.marks[i-1], &m.marks[i]; a.lane == b.lane && a.step != b.step {
			m.edges = append(m.edges, edge{a.step, b.step})
		}
	}
	m.follow(channels, isAll)
	if m.place() {
		return 0
	}
	knot, back := int32(math.MaxInt32), int32(math.MaxInt32)
	for i := range m.steps {
		m.steps[i].lane = 0
	}
	for i := range m.marks {
		k := &m.marks[i]
		s := &m.steps[k.step]
		if s.lane == k.lane && m.marks[i-1].step != k.step {
			back = min(back, k.at)
		}
		if m.waits[k.step] > 0 {
			knot = min(knot, k.at)
		}
		s.lane = k.lane
	}
	switch {
	case back < math.MaxInt32:
		return back + 1
	case knot < math.MaxInt32:
		return knot + 1
	}
	return 1
}

// follow adds that a task takes what comes by one channel in the order in which it comes.
func (m *merges) follow(channels int, isAll bool) {
	m.queue = lengthen(m.queue[:0], channels, 0)
	for i := range m.steps {
		s := &m.steps[i]
		if !s.isPure && !isAll {
			continue
		}
		if last := m.queue[s.chann]; last > 0 {
			m.edges = append(m.edges, edge{last - 1, int32(i)})
		}
		m.queue[s.chann] = int32(i + 1)
	}
}

// place gives the steps places one after the other, and reports whether all have one. Those that
// get none wait for each other.
func (m *merges) place() bool {
	slices.SortFunc(m.edges, func(a, b edge) int { return cmp.Compare(a.from, b.from) })
	m.waits = lengthen(m.waits[:0], len(m.steps), 0)
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
	return len(m.queue) == len(m.steps)
}
