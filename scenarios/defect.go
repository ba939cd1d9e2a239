package scenarios

import (
	"fmt"
	"strings"

	"github.com/oncesim/oncesim/defects"
	"github.com/oncesim/oncesim/faults"
	"github.com/oncesim/oncesim/model"
)

// Showing is the smallest run in which a defect of the library is caught.
func (lib *Library) Showing(d *defects.Defect) (*Scenario, error) {
	c := d.Shown
	if c.Mode == "" {
		c.Mode = d.Modes[0]
	}
	mode, err := lib.FindMode(c.Mode)
	if err != nil {
		return nil, err
	}
	if !d.Fits(mode.Name) {
		return nil, fmt.Errorf("defect %s is shown in mode %s, expected one of %s", d.Name,
			mode.Name, strings.Join(d.Modes, ", "))
	}
	s, err := lib.find(c.Topology)
	if err != nil {
		return nil, err
	}
	if s = s.UnderMode(mode); c.Seed != 0 {
		s.Seed = c.Seed
	}
	s.Input.Records, s.Params, s.Defect = c.Records, c.Set, d
	for _, line := range c.Plan {
		f, err := faults.Parse(line)
		if err != nil {
			return nil, fmt.Errorf("defect %s: %q: %w", d.Name, line, err)
		}
		s.Faults = append(s.Faults, f)
	}
	return s, nil
}

// defectIn is the defect of a name, which must be one that can be planted in a mode.
func (lib *Library) defectIn(mode *model.Mode, name string) (*defects.Defect, error) {
	var names []string
	for _, d := range lib.Defects {
		switch {
		case d.Name != name:
			names = append(names, d.Name)
		case !d.Fits(mode.Name):
			return nil, wrongSetting("defect", "%s is one of %s, and the mode is %s", name,
				strings.Join(d.Modes, ", "), mode.Name)
		default:
			return d, nil
		}
	}
	return nil, fmt.Errorf("unknown defect %s", unknown(name, names))
}
