package faults

import (
	"strings"
	"testing"

	"github.com/oncesim/oncesim/model"
	"github.com/stretchr/testify/require"
)

func TestAll_specs(t *testing.T) {
	owner := map[model.Action]string{}
	for _, s := range All() {
		require.NotEmpty(t, s.Says, s.Name)
		f, err := Parse(s.Example)
		require.NoError(t, err)
		require.Equal(t, s.Example, f.String())
		require.Contains(t, s.Actions, f.Action)
		for _, form := range append(s.Syntax, s.Example) {
			require.True(t, strings.HasPrefix(form, s.Name+" "), form)
		}
		for _, a := range s.Actions {
			require.Empty(t, owner[a], "%s belongs to two faults", a)
			owner[a] = s.Name
		}
	}
	for a := model.Crash; a <= model.TearRequest; a++ {
		require.NotEmpty(t, owner[a], "%s belongs to no fault", a)
	}
}
