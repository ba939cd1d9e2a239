package bench

import (
	"fmt"

	"github.com/anishathalye/porcupine"

	"github.com/oncesim/oncesim/checker"
	"github.com/oncesim/oncesim/model"
)

// The sizes of the checks: records to count, keys among them, operations of a log, its clients.
const (
	counted    = 10_000_000
	keys       = 1024
	operations = 100_000
	clients    = 10
)

// checks measures the checks that are meant for long histories.
func checks() []contest {
	return []contest{
		{name: "exactly-once check, dense identities", unit: "ns/record",
			to: "counting them in a Go map", goal: atMost("0.06", 0.06),
			setUp: func() (side, side, error) {
				list, _ := outputs(func(i uint64) uint64 { return i })
				var c checker.Counter
				return func() int {
					mustBe(checker.Count{}, c.Dense(counted, keys, list))
					return counted
				}, inMap(list), nil
			}},
		{name: "exactly-once check, any identities", unit: "ns/record",
			to: "counting them in a Go map", goal: atMost("0.35", 0.35),
			setUp: func() (side, side, error) {
				list, expected := outputs(func(i uint64) uint64 {
					return model.Mix(i^0x9e3779b97f4a7c15, 0xbf58476d1ce4e5b9)
				})
				var c checker.Counter
				return func() int {
					mustBe(checker.Count{}, c.Sparse(expected, keys, list))
					return counted
				}, inMap(list), nil
			}},
		{name: "linearizability of a log, 100,000 operations", unit: "operations/s",
			isSpeed: true, to: "porcupine on the same calls and the same final read",
			goal: atLeast("200", 200),
			setUp: func() (side, side, error) {
				h := longLog(operations)
				s := checker.Subject{History: h, Shape: model.Log}
				return func() int {
					verdict := checker.Linearizable(s, 0)[model.External]
					mustBe(model.Holds, verdict.Result)
					return operations
				}, inPorcupine(h), nil
			}},
	}
}

func mustBe[T comparable](want, got T) {
	if got != want {
		panic(fmt.Sprintf("bench: the check says %v and not %v", got, want))
	}
}

// outputs is a list of outputs in which every identity is there once, and each near its place.
func outputs(name func(i uint64) uint64) (list []checker.Output, expected []uint64) {
	list, expected = make([]checker.Output, counted), make([]uint64, counted)
	for i := range uint64(counted) {
		list[i] = checker.Output{ID: name(i), Rank: i, Key: uint32(model.Mix(i, 1<<63+1) % keys)}
		expected[i] = name(i)
	}
	for i := range counted / 8 {
		a, b := &list[8*i], &list[8*i+int(model.Mix(uint64(i), 1<<63+1)%8)]
		if a.Key != b.Key {
			*a, *b = *b, *a
		}
	}
	return list, expected
}

// inMap counts how often each identity is there.
func inMap(list []checker.Output) side {
	return func() int {
		times := make(map[uint64]uint32, len(list))
		for i := range list {
			times[list[i].ID]++
		}
		mustBe(len(list), len(times))
		return len(list)
	}
}

// longLog is a history of n writes to one partition by clients at once, each told its place.
func longLog(n int) *model.History {
	h := &model.History{End: model.End{Reason: model.Quiescent, N: int64(4 * n)}}
	free := [clients]int64{}
	for i := range n {
		draw := model.Draw(1, model.DrawInput, uint64(i), 0, 0)
		client, at := i%clients, int64(2*i+2*clients)
		rec := model.Record{ID: model.ID{Offset: int64(i)}, Op: 1, Key: "key",
			Value: model.Value{Num: int64(i)}}
		from := free[client] + 1 + model.Below(draw, at-free[client])
		free[client] = at + model.Below(model.Mix(draw, 1<<63+1), 2*clients-2)
		h.Calls = append(h.Calls, model.Call{Service: model.External, Invoked: from,
			Answered: free[client], Outcome: model.Done, Ans: model.Answer{Seq: int64(i)},
			Req: model.Message{Kind: model.Write, Record: rec}})
		h.Final = append(h.Final, model.Observation{N: h.End.N + int64(i), Seq: int64(i),
			Out: rec})
	}
	return h
}

// logState is a log as porcupine explores it.
type logState struct {
	before *logState
	rec    *model.Record
	length int
	hash   uint64
}

// logStep is an operation on it: a write that was told a place, or a read of everything.
type logStep struct {
	rec   *model.Record
	place int
	all   []model.Observation
}

// step applies an operation, if it fits.
func (l *logState) step(op *logStep) (bool, *logState) {
	if op.rec != nil {
		hash := model.Mix(l.hash^op.rec.Subject()^uint64(op.rec.Value.Num), 0x9e3779b97f4a7c15)
		return op.place == l.length, &logState{l, op.rec, l.length + 1, hash}
	}
	at := l
	for i := len(op.all) - 1; i >= 0; i-- {
		if at.length != i+1 || *at.rec != op.all[i].Out {
			return false, l
		}
		at = at.before
	}
	return l.length == len(op.all), l
}

// inPorcupine checks the same writes and the same final read.
func inPorcupine(h *model.History) side {
	var list []porcupine.Operation
	for i := range h.Calls {
		c := &h.Calls[i]
		list = append(list, porcupine.Operation{ClientId: i % clients, Call: c.Invoked,
			Return: c.Answered, Input: &logStep{rec: &c.Req.Record, place: int(c.Ans.Seq)}})
	}
	list = append(list, porcupine.Operation{ClientId: clients, Input: &logStep{all: h.Final},
		Call: h.End.N, Return: h.End.N + int64(len(h.Final))})
	log := porcupine.Model{
		Init: func() any { return &logState{} },
		Step: func(state, input, _ any) (bool, any) {
			return state.(*logState).step(input.(*logStep))
		},
		Equal: func(a, b any) bool {
			return a.(*logState).length == b.(*logState).length &&
				a.(*logState).hash == b.(*logState).hash
		},
		Hash: func(state any) uint64 { return state.(*logState).hash },
	}
	return func() int {
		mustBe(true, porcupine.CheckOperations(log, list))
		return len(h.Calls)
	}
}
