package checker

import (
	"fmt"
	"testing"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/model"
)

// longLog is a history of n operations of a log: writes by eight clients at once, every tenth
// operation an observation, and the final read.
func longLog(n int) Subject {
	const clients = 8
	h := &model.History{End: model.End{Reason: model.Quiescent, N: int64(2*n + 10*clients)}}
	d := &draws{seed: 1}
	var log []model.Record
	free := [clients]int64{}
	for i := range n - 1 {
		at := int64(2*i + 2*clients)
		if i%10 == 9 {
			place := len(log) - 1
			h.Observations = append(h.Observations, model.Observation{N: at, Seq: int64(place),
				Out: log[place]})
			continue
		}
		client := i % clients
		rec := model.Record{ID: model.ID{Offset: int64(i)}, Op: 1, Key: "key",
			Value: model.Value{Num: int64(i)}}
		from := free[client] + 1 + d.below(at-free[client])
		free[client] = at + d.below(2*clients-2)
		h.Calls = append(h.Calls, model.Call{Service: model.External, Invoked: from,
			Answered: free[client], Outcome: model.Done, Ans: model.Answer{Seq: int64(len(log))},
			Req: model.Message{Kind: model.Write, Record: rec}})
		log = append(log, rec)
	}
	for i, rec := range log {
		h.Final = append(h.Final, model.Observation{N: h.End.N + int64(i), Seq: int64(i),
			Out: rec})
	}
	return Subject{History: h, Shape: model.Log}
}

// longRegister is a history of n calls to one register by few clients.
func longRegister(n, clients int) Subject {
	h := &model.History{End: model.End{Reason: model.Quiescent, N: int64(4 * n)}}
	d := &draws{seed: 1}
	free := make([]int64, clients)
	held := model.Answer{}
	for i := range n {
		client, at := i%clients, int64(2*i+2*clients)
		call := model.Call{Service: model.StateStore, Outcome: model.Done,
			Invoked: free[client] + 1 + d.below(at-free[client]),
			Req:     model.Message{Kind: model.Get}}
		free[client] = at + d.below(int64(max(1, 2*clients-2)))
		call.Answered = free[client]
		if d.below(2) == 0 {
			held = model.Answer{Found: true, Value: model.Value{Num: int64(i)}}
			call.Req.Kind, call.Req.Record.Value = model.Put, held.Value
		} else {
			call.Ans = held
		}
		call.Req.Record.Op = 1
		h.Calls = append(h.Calls, call)
	}
	return Subject{History: h, Shape: model.Log}
}

// TestLinearizableLong judges long histories: a log of any length, a register up to the bound of
// its memory.
func TestLinearizableLong(t *testing.T) {
	for _, v := range Linearizable(longLog(100_000), 0) {
		require.Equal(t, model.Holds, v.Result, v.Reason)
	}
	require.Equal(t, model.Holds, Linearizable(longRegister(10_000, 2), 0)[1].Result)
	require.Equal(t, model.Undecided, Linearizable(longRegister(100_000, 2), 0)[1].Result)
}

func BenchmarkLinearizableLog(b *testing.B) {
	for _, n := range []int{300, 1_000, 10_000, 100_000} {
		s := longLog(n)
		b.Run(fmt.Sprintf("places/%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if Linearizable(s, 0)[model.External].Result != model.Holds {
					b.Fatal("it is linearizable")
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/operation")
		})
		operations := logOperations(s.History, 0)
		b.Run(fmt.Sprintf("porcupine/%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if !porcupine.CheckOperations(logModel(), operations) {
					b.Fatal("it is linearizable")
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/operation")
		})
	}
}

func BenchmarkLinearizableRegister(b *testing.B) {
	for _, n := range []int{1_000, 10_000} {
		for _, clients := range []int{1, 2, 5} {
			s := longRegister(n, clients)
			b.Run(fmt.Sprintf("%d/%d", clients, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if Linearizable(s, 0)[model.StateStore].Result != model.Holds {
						b.Fatal("it is linearizable")
					}
				}
			})
		}
	}
}
