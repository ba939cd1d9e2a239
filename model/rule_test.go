package model_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/model"
)

// A fault of messages names a channel, a kind of message and an ordinal, and nothing else.
func TestRule_Validate_messages(t *testing.T) {
	good := model.Rule{Action: model.DelayMessage, Proc: 1, Peer: 2, Scope: model.MessageOnChannel,
		Call: model.Data, N: 1, For: 1}
	require.NotPanics(t, good.Validate)
	for name, change := range map[string]func(*model.Rule){
		"no channel":      func(r *model.Rule) { r.Peer = model.Nobody },
		"no sender":       func(r *model.Rule) { r.Proc = model.Nobody },
		"a request":       func(r *model.Rule) { r.Call = model.Write },
		"no kind":         func(r *model.Rule) { r.Call = model.NoKind },
		"no ordinal":      func(r *model.Rule) { r.N = 0 },
		"no time":         func(r *model.Rule) { r.For = 0 },
		"a point":         func(r *model.Rule) { r.Point = model.After },
		"a scope of call": func(r *model.Rule) { r.Scope = model.CallOfKind },
		"a crash":         func(r *model.Rule) { r.Action, r.Point = model.Crash, model.Before },
		"no such action":  func(r *model.Rule) { r.Action = model.TearRequest + 1 },
	} {
		rule := good
		change(&rule)
		require.Panics(t, rule.Validate, name)
	}
}
