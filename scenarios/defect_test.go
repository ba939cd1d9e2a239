package scenarios

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/checker"
	"github.com/oncesim/oncesim/defects"
	"github.com/oncesim/oncesim/model"
)

// A defect that says what nothing is called is refused wherever it is asked for.
func TestCheckDefect_Refuses(t *testing.T) {
	for name, c := range map[string]struct {
		change func(d *defects.Defect)
		want   string
	}{
		"property": {func(d *defects.Defect) { d.Property = "at-laest-once" },
			`defect mine: unknown property "at-laest-once", .*did you mean "at-least-once"`},
		"mode": {func(d *defects.Defect) { d.Modes = []string{"at-least-once", "dedpu"} },
			`defect mine: unknown mode "dedpu", expected .*did you mean "dedup"`},
		"no mode": {func(d *defects.Defect) { d.Modes = nil },
			`defect mine has no mode that it can be planted in`},
		"parameter": {func(d *defects.Defect) {
			d.Modes = []string{"dedup", "at-least-once"}
			d.Set = []model.ParamValue{{Name: "horizon", Value: 2}}
		}, `defect mine sets "horizon", and mode at-least-once has no such parameter`},
	} {
		t.Run(name, func(t *testing.T) {
			lib := Builtin()
			d := &defects.Defect{Name: "mine", Property: "at-least-once",
				Modes: []string{"at-least-once"}, Shown: defects.Case{Topology: "pipeline"}}
			lib.Defects = append(lib.Defects, d)
			require.NoError(t, lib.CheckDefect(d))
			c.change(d)
			require.Regexp(t, c.want, lib.CheckDefect(d))
			set := Settings{Library: lib, Name: "pipeline", Mode: "at-least-once", Defect: "mine"}
			_, _, err := set.Resolve()
			require.Regexp(t, c.want, err)
			_, err = lib.Showing(d)
			require.Regexp(t, c.want, err)
			_, err = Parse(lib, "x.sim", []byte(minimal("defect: mine\n")))
			require.Regexp(t, `x\.sim:5:9: `+c.want, err)
		})
	}
}

// A library of one mode of its own may keep the defects of this module.
func TestCheckDefect_LibraryMayLackModes(t *testing.T) {
	lib := Builtin()
	lib.Modes, lib.Properties = lib.Modes[:1], []checker.Property{}
	for _, d := range lib.Defects {
		require.NoError(t, lib.CheckDefect(d))
	}
}
