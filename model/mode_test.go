package model_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/model"
)

// What a mode restarts is its own, unless a parameter says it.
func TestMode_RestartOf(t *testing.T) {
	lone := func(value int64) []model.ParamValue {
		return []model.ParamValue{{Name: "other", Value: 1}, {Name: "lone-restart", Value: value}}
	}
	for _, tc := range []struct {
		own    model.RestartScope
		params []model.ParamValue
		want   model.RestartScope
	}{
		{model.RestartJob, nil, model.RestartJob},
		{model.RestartTask, nil, model.RestartTask},
		{model.RestartJob, lone(1), model.RestartTask},
		{model.RestartTask, lone(0), model.RestartJob},
	} {
		mode := model.Mode{Restart: tc.own}
		require.Equal(t, tc.want, mode.RestartOf(&model.Job{Params: tc.params}))
	}
}
