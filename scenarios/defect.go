package scenarios

import (
	"errors"
	"fmt"
	"strings"

	"github.com/oncesim/oncesim/defects"
	"github.com/oncesim/oncesim/model"
)

// Showing is a small run in which a defect of the library is caught.
func (lib *Library) Showing(d *defects.Defect) (*Scenario, error) {
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
		if text := misfit(d, mode); text != "" {
			return nil, wrongSetting("defect", "%s", text)
		}
		return d, nil
	}
	return nil, fmt.Errorf("unknown defect %s", unknown(name, names))
}
