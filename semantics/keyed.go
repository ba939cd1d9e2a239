package semantics

import (
	"fmt"

	"github.com/oncesim/oncesim/model"
)

// keyed applies an operator to one record at a time and owns its keyed state. With a durable
// store, a key is read once a life and every application writes the new value through before
// anything is sent: state first, output second.
type keyed struct {
	op       int32
	operator *model.Operator
	durable  bool
	values   map[string]model.Value
	keys     []string // scratch for encoding
	out      model.Outputs
}

func newKeyed(task *model.Task, durability model.Durability) keyed {
	stateful := task.Operator.Kind != model.Stateless
	return keyed{op: task.Op, operator: task.Operator, values: map[string]model.Value{},
		durable: stateful && durability == model.WrittenThrough}
}

func (k *keyed) reset() { clear(k.values) }

// about is the identity that state requests carry: the record that triggers them, and the
// operator and key whose state it is.
func (k *keyed) about(kind model.Kind, in model.Record, v model.Value) model.Message {
	return model.Message{Kind: kind,
		Record: model.Record{ID: in.ID, Path: in.Path, Op: k.op, Key: in.Key, Value: v}}
}

// isReady reports whether the state under the record's key is known, and asks for it if not. The
// answer must be given to learn.
func (k *keyed) isReady(s *model.Script, in model.Record) bool {
	if !k.durable {
		return true
	}
	if _, known := k.values[in.Key]; known {
		return true
	}
	s.CallUntilDone(model.StateStore, k.about(model.Get, in, model.Value{}))
	return false
}

// learn takes the answer that isReady asked for.
func (k *keyed) learn(ev *model.Event) { k.values[ev.Msg.Record.Key] = ev.Ans.Value }

// apply takes the step and returns what it emits, valid until the next apply.
func (k *keyed) apply(s *model.Script, in model.Record) []model.Record {
	k.out.Begin(k.op, in)
	before := k.values[in.Key]
	after := k.operator.Step(in, before, &k.out)
	s.Applied(in, k.op, &k.out)
	if k.operator.Kind != model.Stateless {
		k.values[in.Key] = after
	} else if after != (model.Value{}) {
		panic(fmt.Sprintf("semantics: operator %s is declared stateless and returned state %s",
			k.operator.Name, after))
	}
	if k.durable {
		s.CallUntilDone(model.StateStore, k.about(model.Put, in, after))
	}
	return k.out.Records()
}

func (k *keyed) state(c *model.Codec) { model.Map(c, k.values, &k.keys, c.Value) }
