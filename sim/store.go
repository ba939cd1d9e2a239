package sim

import (
	"fmt"

	"github.com/oncesim/oncesim/model"
)

// store is the durable keyed state of the operators: one value for each operator and key. Get and
// Put are atomic; a read-modify-write is two calls, and nothing holds them together.
type store struct {
	ops  []map[string]model.Value // by Record.Op-1
	keys []string                 // scratch for encoding
}

func newStore(ops int) *store {
	s := &store{ops: make([]map[string]model.Value, ops)}
	for i := range s.ops {
		s.ops[i] = map[string]model.Value{}
	}
	return s
}

// Reset implements model.Service.
func (s *store) Reset() {
	for i := range s.ops {
		clear(s.ops[i])
	}
}

// Serve implements model.Service.
func (s *store) Serve(_ int64, req *model.Message, ans *model.Answer) {
	values := s.ops[req.Record.Op-1]
	switch req.Kind {
	case model.Get:
		ans.Value, ans.Found = values[req.Record.Key]
	case model.Put:
		values[req.Record.Key] = req.Record.Value
	default:
		panic(fmt.Sprintf("sim: the state store does not serve %s", req.Kind))
	}
}

// State implements model.Service.
func (s *store) State(c *model.Codec) {
	for i := range s.ops {
		model.Map(c, s.ops[i], &s.keys, c.Value)
	}
}
