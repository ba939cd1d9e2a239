package oracle

import "github.com/oncesim/oncesim/model"

// choices are what operators that are not deterministic may decide by: for each step the nonces of
// the lives that took it, and did not set its input aside. What a step that no life took would have
// decided nobody knows: it goes by the operator's first life, and an execution that has it explains
// nothing. Nil are the choices of a job whose operators are all deterministic.
type choices struct {
	nonces map[ident][]uint64 // by input and operator
	first  map[int32][]uint64 // per operator
}

// choices collects what the lives of a run decided by before an event.
func (r *run) choices(before int64) *choices {
	c := &choices{nonces: map[ident][]uint64{}, first: map[int32][]uint64{}}
	for _, l := range r.lives {
		op := r.o.job.Tasks[l.proc].Op
		if len(c.first[op]) == 0 {
			c.first[op] = []uint64{l.nonce}
		}
	}
	for _, a := range r.apps {
		if a.n >= before {
			break
		}
		if a.made == nil {
			continue // its input was set aside, or there is nothing to decide
		}
		id := inputOf(stepOf(&a.in), a.task.Op)
		c.nonces[id] = with(c.nonces[id], a.life.nonce)
	}
	return c
}

// with adds a nonce to a list unless it is there.
func with(list []uint64, nonce uint64) []uint64 {
	for _, known := range list {
		if known == nonce {
			return list
		}
	}
	return append(list, nonce)
}

// of lists what the step of a task on a record may decide by; nil if the operator is deterministic.
func (c *choices) of(task *model.Task, rec *model.Record) []uint64 {
	if c == nil || task.Operator.Kind != model.NonDeterministic {
		return nil
	}
	if list := c.nonces[inputOf(stepOf(rec), task.Op)]; len(list) > 0 {
		return list
	}
	return c.first[task.Op]
}

// isGuess reports whether no life took the step of an operator on a record, which needs a decision.
func (c *choices) isGuess(operator *model.Operator, rec *model.Record, op int32) bool {
	return c != nil && operator.Kind == model.NonDeterministic &&
		len(c.nonces[inputOf(stepOf(rec), op)]) == 0
}

// along lists the choices for a sequence of steps, a list of nonces each; nil if there are more
// than most. The choice of a deterministic operator is a nil list.
func (c *choices) along(task *model.Task, order []model.Record, most int) [][]uint64 {
	if c == nil || task.Operator.Kind != model.NonDeterministic {
		return make([][]uint64, 1)
	}
	lists := [][]uint64{nil}
	for i := range order {
		var longer [][]uint64
		for _, list := range lists {
			for _, nonce := range c.of(task, &order[i]) {
				longer = append(longer, append(list[:i:i], nonce))
			}
		}
		if len(longer) > most {
			return nil
		}
		lists = longer
	}
	return lists
}

// options is how many choices a list from of offers.
func options(nonces []uint64) int { return max(len(nonces), 1) }

// nonceAt is the i-th of a list of nonces; a deterministic operator decides by none.
func nonceAt(nonces []uint64, i int) uint64 {
	if nonces == nil {
		return 0
	}
	return nonces[i]
}
