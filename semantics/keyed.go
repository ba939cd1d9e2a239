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
	nonce    uint64
	// setsAside: a record whose step fails goes to the dead letter queue.
	setsAside bool
	values    map[string]model.Value
	keys      []string // those of values, in order, unless there are more by now
	out       model.Outputs
}

// deadLetterParam says what becomes of a record whose step fails.
var deadLetterParam = model.Param{Name: "dead-letter", Default: 0, Min: 0, Max: 1,
	Says: "1: a record whose step fails is set aside; 0: the task fails, and does so again"}

func newKeyed(job *model.Job, task *model.Task, durability model.Durability) keyed {
	stateful := task.Operator.Kind != model.Stateless
	return keyed{op: task.Op, operator: task.Operator, values: map[string]model.Value{},
		durable:   stateful && durability == model.WrittenThrough,
		setsAside: job.Param(deadLetterParam.Name) == 1}
}

func (k *keyed) reset(self model.Self) {
	clear(k.values)
	k.keys, k.nonce = k.keys[:0], self.Nonce
}

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

// apply takes the step on what a message brought, writes the new state through and returns what
// is emitted, valid until the next apply. ok is false if the step failed and the life ends.
func (k *keyed) apply(s *model.Script, m *model.Message) (out []model.Record, ok bool) {
	after, ok := k.take(s, m)
	if !ok {
		return nil, false
	}
	if k.hasState() {
		s.CallUntilDone(model.StateStore, k.about(model.Put, m.Record, after))
	}
	return k.out.Records(), true
}

// take takes the step and keeps the new state in memory; writing it and sending what is in k.out
// is up to the caller. A step that fails ends the life, and ok is false; with a dead letter queue
// the record is set aside instead: claimed as dropped, without state or outputs.
func (k *keyed) take(s *model.Script, m *model.Message) (after model.Value, ok bool) {
	in := m.Record
	before := k.values[in.Key]
	k.out.Begin(k.op, in)
	k.out.Seed(k.nonce)
	if m.Flags&model.Poisoned != 0 {
		k.out.Fail("poison")
	} else {
		after = k.operator.Step(in, before, &k.out)
	}
	if why := k.out.Failed(); why != "" {
		if !k.setsAside {
			s.FailOn(in, why)
			return before, false
		}
		k.out.SetAside()
		s.Applied(in, k.op, &k.out)
		return before, true
	}
	s.Applied(in, k.op, &k.out)
	if k.operator.Kind != model.Stateless {
		k.values[in.Key] = after
	} else if after != (model.Value{}) {
		panic(fmt.Sprintf("semantics: operator %s is declared stateless and returned state %s",
			k.operator.Name, after))
	}
	return after, true
}

// list appends the keyed state in memory to into, in the order of keys: what a snapshot holds.
func (k *keyed) list(into []model.Record) []model.Record {
	if len(k.keys) != len(k.values) {
		k.keys = model.SortedKeys(k.values, k.keys[:0])
	}
	for _, key := range k.keys {
		into = append(into, model.Record{Op: k.op, Key: key, Value: k.values[key]})
	}
	return into
}

// restore takes what list has made.
func (k *keyed) restore(list []model.Record) {
	for i := range list {
		k.values[list[i].Key] = list[i].Value
	}
}

// hasState reports whether the step that was taken last made a state to be kept durable.
func (k *keyed) hasState() bool { return k.durable && k.out.Failed() == "" }

func (k *keyed) state(c *model.Codec) {
	nonce := int64(k.nonce)
	c.Int64(&nonce)
	k.nonce = uint64(nonce)
	model.Map(c, k.values, &k.keys, c.Value)
	k.keys = k.keys[:0] // those of before, if the states were restored
}
