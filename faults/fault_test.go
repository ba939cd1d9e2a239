package faults

import (
	"testing"

	"github.com/oncesim/oncesim/model"
	"github.com/stretchr/testify/require"
)

// Each shape of each fault, over the extremes of what its fields hold.
func TestFault_roundTrip(t *testing.T) {
	n := 0
	for _, f := range everyShape() {
		requireRoundTrip(t, f)
		require.True(t, f.isLine(), f.String())
		n++
	}
	calls, messages, reads, writes, uploads := 0, 0, 0, 0, 0
	for _, kind := range model.Kinds() {
		calls += one(kind.IsCall())
		messages += one(kind.IsMessage())
		reads += one(model.StaleRead.Fits(kind))
		writes += one(model.ForgetRequest.Fits(kind))
		uploads += one(model.TearRequest.Fits(kind))
	}
	require.Equal(t, 2*2*(4*(3+2+2+4)+3)+2*2*calls+2*2*calls+3*2*calls+2*messages*(1+2+3+3)+
		2*(calls+reads+writes+uploads)+2*2*(3*calls+messages+3*4+4)+2*3, n)
}

func one(is bool) int {
	if is {
		return 1
	}
	return 0
}

func everyShape() []Fault {
	var list []Fault
	for _, proc := range []string{"op/0", "before/12"} {
		for _, action := range []model.Action{model.Crash, model.Pause} {
			for _, f := range everyPoint() {
				f.Action, f.Proc = action, proc
				if action == model.Pause {
					f.For = 1
				}
				list = append(list, f)
			}
		}
		list = append(list, everyCall(proc)...)
		list = append(list, everyBeginning(proc)...)
		for _, r := range []RecordName{{}, {Offset: 7}, {"input", 1, 1<<63 - 1}} {
			list = append(list, Fault{Action: model.PoisonRecord, Proc: proc, Record: r,
				Scope: model.RecordEffect})
		}
	}
	return append(list, everyMessage()...)
}

func everyCall(proc string) []Fault {
	var list []Fault
	for _, kind := range model.Kinds() {
		f := Fault{Proc: proc, Scope: model.CallOfKind, Call: kind, N: 1<<63 - 1}
		for _, action := range []model.Action{model.LoseRequest, model.LoseAnswer,
			model.DelayRequest, model.DuplicateRequest, model.RefuseRequest, model.ForgetRequest,
			model.StaleRead, model.TearRequest} {
			if !kind.IsCall() || !action.Fits(kind) {
				continue
			}
			for _, ns := range durationsOf(action) {
				f.Action, f.For = action, ns
				list = append(list, f)
			}
		}
	}
	return list
}

// everyBeginning is what begins at a time or at what it strikes first. A list for one process is
// less what it has without one.
func everyBeginning(proc string) []Fault {
	var list []Fault
	add := func(f Fault, changes ...func(*Fault)) {
		for _, change := range changes {
			g := f
			change(&g)
			list = append(list, g)
		}
	}
	at := func(ns int64) func(*Fault) {
		return func(f *Fault) { f.Point, f.At = model.AtTime, ns }
	}
	for _, ns := range []int64{1, durationMax} {
		for _, kind := range model.Kinds() {
			call := func(f *Fault) {
				f.Scope, f.Call, f.N, f.Proc = model.CallOfKind, kind, 7, proc
			}
			answer := func(f *Fault) { call(f); f.Point = model.BeforeAck }
			message := func(f *Fault) { call(f); f.Scope = model.MessageOnChannel }
			if !kind.IsCall() {
				add(Fault{Action: model.CutLink, Proc: proc, Peer: "x/1", For: ns}, message)
				continue
			}
			service := model.ServiceNames[kind.Service()]
			add(Fault{Action: model.CutLink, Proc: proc, Service: service, For: ns}, call, answer)
			add(Fault{Action: model.CrashService, Service: service, For: ns}, call)
		}
		for _, service := range model.ServiceNames {
			add(Fault{Action: model.CutLink, Proc: proc, Service: service, For: ns}, at(0), at(ns))
			add(Fault{Action: model.CrashService, Service: service, For: ns}, at(0), at(ns))
		}
		add(Fault{Action: model.CutLink, Proc: proc, Peer: "x/1", For: ns}, at(0), at(ns))
		add(Fault{Action: model.TruncateInput, Record: RecordName{"in", 1<<31 - 1, ns}}, at(ns),
			func(f *Fault) {
				f.Scope, f.Call, f.N, f.Proc = model.CallOfKind, model.Fetch, 7, proc
			})
	}
	return list
}

func everyMessage() []Fault {
	var list []Fault
	for _, peer := range []string{"sink/0", "to/12"} {
		for _, kind := range model.Kinds() {
			if !kind.IsMessage() {
				continue
			}
			f := Fault{Proc: "from/0", Peer: peer, Scope: model.MessageOnChannel, Call: kind,
				N: 1<<63 - 1}
			for a := model.LoseMessage; a <= model.ReorderMessages; a++ {
				for _, ns := range durationsOf(a) {
					f.Action, f.For = a, ns
					list = append(list, f)
				}
			}
		}
	}
	return list
}

func durationsOf(a model.Action) []int64 {
	switch a {
	case model.DelayRequest, model.DelayMessage:
		return []int64{1, durationMax}
	case model.ReorderMessages:
		return []int64{0, ReorderWithin, durationMax}
	case model.DuplicateRequest, model.DuplicateMessage:
		return []int64{0, DuplicateAfter, 1_234_567_891}
	}
	return []int64{0}
}

func everyPoint() []Fault {
	list := []Fault{{Point: model.AtTime}, {Point: model.AtTime, At: 1},
		{Point: model.AtTime, At: durationMax}}
	for point := model.Before; point <= model.After; point++ {
		for _, n := range []int64{1, 2, 1<<63 - 1} {
			list = append(list, Fault{Point: point, Scope: model.EveryEffect, N: n})
		}
		for _, life := range []int32{1, 1<<31 - 1} {
			list = append(list, Fault{Point: point, Scope: model.StartEffect, N: 1, Life: life})
		}
		for _, id := range []int64{1, 1<<63 - 1} {
			list = append(list, Fault{Point: point, Scope: model.CheckpointEffect, N: 1,
				Checkpoint: id})
		}
		for _, n := range []int64{1, 2} {
			for _, r := range []RecordName{{Offset: 7}, {"input", 1<<31 - 1, 1<<63 - 1}} {
				list = append(list, Fault{Point: point, Scope: model.RecordEffect, N: n, Record: r})
			}
		}
	}
	return list
}

// Values that no line means still print, since they turn up in messages, and as nothing that
// Parse would take for something else.
func TestFault_notALine(t *testing.T) {
	good := Fault{Action: model.Pause, Proc: "op/0", Point: model.After, Scope: model.EveryEffect,
		N: 1, For: 1}
	require.True(t, good.isLine())
	for name, change := range map[string]func(*Fault){
		"no action":        func(f *Fault) { f.Action = 0 },
		"unknown action":   func(f *Fault) { f.Action = 99 },
		"no point":         func(f *Fault) { f.Point = 0 },
		"unknown point":    func(f *Fault) { f.Point = 99 },
		"no scope":         func(f *Fault) { f.Scope = 0 },
		"unknown scope":    func(f *Fault) { f.Scope = 99 },
		"no ordinal":       func(f *Fault) { f.N = 0 },
		"negative ordinal": func(f *Fault) { f.N = -1 },
		"no duration":      func(f *Fault) { f.For = 0 },
		"least duration":   func(f *Fault) { f.For = -1 << 63 },
		"no such run":      func(f *Fault) { f.For = durationMax + 1 },
		"no call":          func(f *Fault) { f.Scope = model.CallOfKind },
		"no request":       func(f *Fault) { f.Scope, f.Call = model.CallOfKind, model.Data },
		"unknown call":     func(f *Fault) { f.Scope, f.Call = model.CallOfKind, 99 },
		"no process":       func(f *Fault) { f.Proc = "" },
		"two words":        func(f *Fault) { f.Proc = "my op/0" },
		"a comment":        func(f *Fault) { f.Proc = "#op/0" },
		"a line break":     func(f *Fault) { f.Proc = "o\np/0" },
		"unused field":     func(f *Fault) { f.Life = 1 },
		"unused peer":      func(f *Fault) { f.Peer = "op/1" },
		"no message":       func(f *Fault) { f.Action, f.Call = model.LoseMessage, model.Data },
		"message of call": func(f *Fault) {
			f.Action, f.Scope, f.Call = model.DelayMessage, model.MessageOnChannel, model.Put
		},
		"message to nobody": func(f *Fault) {
			f.Action, f.Scope, f.Call = model.DelayMessage, model.MessageOnChannel, model.Data
		},
		"no life":           func(f *Fault) { f.Scope = model.StartEffect },
		"no checkpoint":     func(f *Fault) { f.Scope = model.CheckpointEffect },
		"unused checkpoint": func(f *Fault) { f.Checkpoint = 1 },
		"unused service":    func(f *Fault) { f.Service = "store" },
		"other service": func(f *Fault) {
			*f = Fault{Action: model.CrashService, Service: "store", Proc: "op/0", For: 1,
				Scope: model.CallOfKind, Call: model.Write, N: 1}
		},
		"two other sides": func(f *Fault) {
			*f = Fault{Action: model.CutLink, Proc: "op/0", Peer: "op/1", Service: "store",
				Point: model.AtTime, For: 1}
		},
		"no other side": func(f *Fault) {
			*f = Fault{Action: model.CutLink, Proc: "op/0", Point: model.AtTime, For: 1}
		},
		"same other side": func(f *Fault) {
			*f = Fault{Action: model.CutLink, Proc: "op/0", Peer: "op/0",
				Point: model.AtTime, For: 1}
		},
		"cut after": func(f *Fault) {
			*f = Fault{Action: model.CutLink, Proc: "op/0", Service: "store", Point: model.After,
				For: 1, Scope: model.CallOfKind, Call: model.Put, N: 1}
		},
		"forgotten read": func(f *Fault) {
			*f = Fault{Action: model.ForgetRequest, Proc: "op/0", Scope: model.CallOfKind,
				Call: model.Get, N: 1}
		},
		"stale write": func(f *Fault) {
			*f = Fault{Action: model.StaleRead, Proc: "op/0", Scope: model.CallOfKind,
				Call: model.Put, N: 1}
		},
		"nothing truncated": func(f *Fault) {
			*f = Fault{Action: model.TruncateInput, Record: RecordName{Input: "in"},
				Point: model.AtTime}
		},
		"bare truncation": func(f *Fault) {
			*f = Fault{Action: model.TruncateInput, Record: RecordName{Offset: 3},
				Point: model.AtTime}
		},
		"offset below 0":   func(f *Fault) { f.Scope, f.Record.Offset = model.RecordEffect, -1 },
		"part of no input": func(f *Fault) { f.Scope, f.Record.Part = model.RecordEffect, 1 },
	} {
		f := good
		change(&f)
		require.False(t, f.isLine(), "%s: %s", name, f)
	}
}
