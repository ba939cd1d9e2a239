package scenarios

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/model"
)

// What is set is changed, and everything else stays as it is.
func TestSettings_Resolve(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.sim")
	require.NoError(t, os.WriteFile(file, []byte(minimal("seed: 5\ninput: [a=1, b=2]\n"+
		"params: {window: 9, level: 2}\nfaults: [crash op/0 at 1ms]\n")), 0o666))
	_, base, err := (&Settings{Library: testLibrary(), Name: file}).Resolve()
	require.NoError(t, err)
	for name, c := range map[string]struct {
		set  Settings
		want func(s *Scenario)
	}{
		"nothing": {Settings{}, func(*Scenario) {}},
		"mode": {Settings{Mode: "none"}, func(s *Scenario) {
			s.Mode, s.Params = testMode("none"), nil
		}},
		"same mode": {Settings{Mode: "at-least-once"}, func(*Scenario) {}},
		"sink":      {Settings{Sink: "append-log"}, func(s *Scenario) { s.Sink = "append-log" }},
		"lines": {Settings{Lines: []string{"c=3"}}, func(s *Scenario) {
			s.Input.Lines = []string{"c=3"}
		}},
		"input": {Settings{Input: "y.log"}, func(s *Scenario) {
			s.Input = InputSpec{Kind: InputFile, Path: "y.log"}
		}},
		"records":  {Settings{Records: 1}, func(s *Scenario) { s.Input.Records = 1 }},
		"seed":     {Settings{Seed: 7}, func(s *Scenario) { s.Seed = 7 }},
		"no fault": {Settings{Faults: []string{""}}, func(s *Scenario) { s.Faults = nil }},
		"set": {Settings{Set: []string{"window=1", "timeout=5ms"}}, func(s *Scenario) {
			s.Params = []model.ParamValue{{Name: "level", Value: 2}, {Name: "window", Value: 1},
				{Name: "timeout", Value: 5_000_000}}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			before, want := *base, *base
			c.want(&want)
			c.set.Library, c.set.Name = testLibrary(), file
			_, got, err := c.set.Resolve()
			require.NoError(t, err)
			got.Mode, want.Mode = testMode(got.Mode.Name), testMode(want.Mode.Name)
			require.Equal(t, want, *got)
			require.Equal(t, before, *base, "the scenario itself is not touched")
		})
	}
}

func testMode(name string) *model.Mode {
	mode, err := testLibrary().FindMode(name)
	if err != nil {
		panic(err)
	}
	mode.New, mode.Sink = nil, ""
	return mode
}

// A topology of one's own is found by its name from then on, with its operators, in place of others
// of these names; the library that was given stays as it is.
func TestSettings_OwnTopology(t *testing.T) {
	lib := testLibrary()
	before := *lib
	own := &model.Operator{Name: Count.Name, Kind: model.Commutative, Step: Count.Step}
	topology := &model.Topology{Name: PageViews.Name, Inputs: []model.InputSpec{{Name: "input"}},
		Stages: []model.Stage{{Name: "op", Operator: own, From: []string{"input"}}}}
	with, s, err := (&Settings{Library: lib, Topology: topology}).Resolve()
	require.NoError(t, err)
	require.Equal(t, before, *lib)
	require.Same(t, topology, s.Topology)
	require.Equal(t, ModeDefault, s.Mode.Name)
	again, err := Parse(with, "x.sim", Format(with, s))
	require.NoError(t, err)
	require.Same(t, topology, again.Topology)
	require.Len(t, with.Operators, len(lib.Operators))
	require.Contains(t, with.Operators, own)
	require.NotContains(t, with.Operators, &Count)
}

// A complaint says what is wrong, and with which setting.
func TestSettings_Refuse(t *testing.T) {
	for want, set := range map[string]Settings{
		`unknown mode "nome", expected none, at-least-once; did you mean "none"?`: {Mode: "nome"},
		`records -1, expected a number from 1`:                                    {Records: -1},
		`fault "" stands for no fault, and there are others`: {
			Faults: []string{"", "crash op/0 at 1ms"}},
		`set "window", expected NAME=VALUE`: {Set: []string{"window"}},
		`set window=65, expected a whole number from 1 to 64`: {
			Set: []string{"window=65"}},
		`set timeout=5, expected a duration such as 80ms from 1ns to 1099.511627776s`: {
			Set: []string{"timeout=5"}},
		`unknown parameter of at-least-once "windo", expected window, timeout, level; ` +
			`did you mean "window"?`: {Set: []string{"windo=1"}},
		`the library has no sink "log" (mode at-least-once)`: {Sink: "log"},
	} {
		set.Library, set.Name = testLibrary(), "pipeline"
		_, _, err := set.Resolve()
		require.EqualError(t, err, want)
	}
	_, _, err := (&Settings{Name: "gone.sim"}).Resolve()
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, _, err = (&Settings{Name: "gone"}).Resolve()
	require.ErrorContains(t, err, `unknown scenario "gone"`)
	_, _, err = (&Settings{}).Resolve()
	require.Error(t, err)
	_, _, err = (&Settings{Name: "pipeline", Topology: &Pipeline}).Resolve()
	require.Error(t, err)
	_, _, err = (&Settings{Topology: &model.Topology{Name: "empty"}}).Resolve()
	require.ErrorContains(t, err, "at least one input")
	var wrong *SettingError
	_, _, err = (&Settings{Name: "pipeline", Faults: []string{"crash"}}).Resolve()
	require.True(t, errors.As(err, &wrong))
	require.Equal(t, "fault", wrong.Setting)
}
