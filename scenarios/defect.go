package scenarios

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/oncesim/oncesim/checker"
	"github.com/oncesim/oncesim/defects"
	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/semantics"
)

// CheckDefect refuses a defect that says what nothing is called: a mode, a property or a parameter.
// It could never be planted, or never be caught, and nobody would notice. A library may lack modes
// and properties of this module that its defects name.
func (lib *Library) CheckDefect(d *defects.Defect) error {
	var known []string
	for _, p := range slices.Concat(lib.Properties, checker.All()) {
		known = append(known, p.Name)
	}
	if d.Property != "" && !slices.Contains(known, d.Property) {
		return fmt.Errorf("defect %s: unknown property %s", d.Name, unknown(d.Property,
			known[:len(lib.Properties)]))
	}
	if len(d.Modes) == 0 {
		return fmt.Errorf("defect %s has no mode that it can be planted in", d.Name)
	}
	modes := slices.Concat(lib.Modes, semantics.All())
	for _, name := range d.Modes {
		at := slices.IndexFunc(modes, func(m *model.Mode) bool { return m.Name == name })
		if at < 0 {
			_, err := lib.FindMode(name)
			return fmt.Errorf("defect %s: %w", d.Name, err)
		}
		for _, v := range d.Set {
			if modes[at].Param(v.Name) == nil {
				return fmt.Errorf("defect %s sets %q, and mode %s has no such parameter", d.Name,
					v.Name, name)
			}
		}
	}
	return nil
}

// Showing is a small run in which a defect of the library is caught.
func (lib *Library) Showing(d *defects.Defect) (*Scenario, error) {
	if err := lib.CheckDefect(d); err != nil {
		return nil, err
	}
	c := d.Shown
	if c.Mode == "" {
		c.Mode = d.Modes[0]
	}
	set := Settings{Name: c.Topology, Library: lib, Mode: c.Mode, Records: c.Records, Seed: c.Seed,
		Faults: c.Plan}
	_, s, err := set.Resolve()
	if err != nil {
		return nil, fmt.Errorf("defect %s: %w", d.Name, err)
	}
	if text := misfit(d, s.Mode); text != "" {
		return nil, errors.New("defect " + text)
	}
	s.Params, s.Defect = c.Set, d
	return s, nil
}

// misfit says that a defect cannot be planted in a mode; "": it can.
func misfit(d *defects.Defect, mode *model.Mode) string {
	if d.Fits(mode.Name) {
		return ""
	}
	return fmt.Sprintf("%s is one of %s, and the mode is %s", d.Name, strings.Join(d.Modes, ", "),
		mode.Name)
}

// defectIn is the defect of a name, which must be one that can be planted in a mode.
func (lib *Library) defectIn(mode *model.Mode, name string) (*defects.Defect, error) {
	var names []string
	for _, d := range lib.Defects {
		if d.Name != name {
			names = append(names, d.Name)
			continue
		}
		if err := lib.CheckDefect(d); err != nil {
			return nil, err
		}
		if text := misfit(d, mode); text != "" {
			return nil, wrongSetting("defect", "%s", text)
		}
		return d, nil
	}
	return nil, fmt.Errorf("unknown defect %s", unknown(name, names))
}
