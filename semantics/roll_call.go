package semantics

import "github.com/oncesim/oncesim/model"

// rollCall is what a coordinator waits for: an answer of each of some tasks.
type rollCall struct {
	waiting []bool // by process: it has not answered
	missing int64  // how many have not
}

// await expects an answer of some of n processes.
func (r *rollCall) await(n int, tasks []model.ProcID) {
	r.waiting = r.waiting[:0]
	for range n {
		r.waiting = append(r.waiting, false)
	}
	for _, task := range tasks {
		r.waiting[task] = true
	}
	r.missing = int64(len(tasks))
}

// hear notes that a task has answered, and reports whether it was the last one.
func (r *rollCall) hear(from model.ProcID) bool {
	if !r.waiting[from] {
		return false
	}
	r.waiting[from] = false
	r.missing--
	return r.missing == 0
}

func (r *rollCall) state(c *model.Codec) {
	model.Slice(c, &r.waiting, c.Bool)
	c.Int64(&r.missing)
}
