package checker

import "github.com/oncesim/oncesim/model"

// states are the keyed states of the operators, in the end.
type states struct {
	done  bool
	from  source // what the provenance below was traced from
	index table  // (operator, key) → cell
	cells []cell
	near  []int32 // by key: the cell asked for last, plus one
}

// cell is the state of one operator under one key.
type cell struct {
	op, key int32
	backend held // what the store was told last
	memory  held // what the last life of the task knows
	written bool
	cut     held // in the checkpoint that is looked at, if that is cutIn
	cutIn   int32
	alien   bool // the provenance leads to a value that no replayed step made
	loose   bool // steps that nobody claims went into what the backend holds
	doubt   bool // at most once: the claims are no explanation

	judged    bool         // by its value alone; of the source traced last
	witnessed bool         // the claims explain it
	result    model.Result // what came of that
	expected  model.Fact   // where it is wrong

	current model.Value // while folding or searching
	first   int32       // search: its items, plus one
	last    int32
	items   int32 // search: how many
	round   int32 // search: in which it takes part
}

// source says which state counts.
type source uint8

const (
	backend  source = iota // the state store's
	memories               // that of the last life of each task
)

func (s *states) reset() {
	s.done = false
	s.near = s.near[:0]
	s.index.reset()
	s.cells = s.cells[:0]
}

// cell is the number of the state of an operator under a key.
func (s *states) cell(op, key int32) int32 {
	near := at(&s.near, key)
	if n := *near; n > 0 && s.cells[n-1].op == op {
		return n - 1
	}
	n, fresh := s.index.number(uint64(op), uint64(key))
	if fresh {
		s.cells = append(s.cells, cell{op: op, key: key})
	}
	*near = n + 1
	return n
}

// final is the state of c that counts. An absent key is the empty state.
func (c *cell) final(from source) *held {
	if from == backend {
		return &c.backend
	}
	return &c.memory
}

// home is where the mode keeps its state.
func (j *Judge) home() source {
	switch j.s.Mode.State {
	case model.Volatile, model.Scattered:
		return memories
	}
	return backend
}

// trace follows the provenance of each final state down to the empty state and marks the steps on
// the way. A put that was based on a stale value leaves out what others had folded in meanwhile.
func (j *Judge) trace(from source) {
	j.replay()
	s := &j.states
	if s.done && s.from == from {
		return
	}
	if s.done {
		j.untrace()
	}
	s.done, s.from = true, from
	for i := range s.cells {
		c := &s.cells[i]
		c.judged = false
		version := c.final(from).version
		for version > 0 {
			step := &j.claims.list[version-1]
			step.folded = true
			j.nodes[step.slot].folded++
			version = step.base
		}
		c.alien = version == alien
	}
	if from == backend {
		for _, slot := range j.checkpoints.landed {
			j.nodes[slot].folded++
		}
	}
}

func (j *Judge) untrace() {
	for i := range j.claims.list {
		if step := &j.claims.list[i]; step.folded {
			step.folded = false
			j.nodes[step.slot].folded = 0
		}
	}
	for _, slot := range j.checkpoints.landed {
		j.nodes[slot].folded = 0
	}
}
