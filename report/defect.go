package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/oncesim/oncesim/defects"
	"github.com/oncesim/oncesim/scenarios"
)

// defect explains a planted bug, and how to see it.
func (w *writer) defect(lib *scenarios.Library, d *defects.Defect, program string) {
	w.topic(d.Name, "a defect")
	if d.Says != "" {
		w.paragraph(strings.ToUpper(d.Says[:1]) + d.Says[1:] + ".")
	}
	if d.Kind != nil {
		w.item("kind", d.Kind.Name+": "+d.Kind.Says)
	}
	origin := d.Origin
	if d.IsKindOnly {
		origin += "; it does not tell every step: this is a bug of the kind, not that very one"
	}
	w.item("reported as", origin)
	w.item("modes that it can be planted in", strings.Join(d.Modes, ", "))
	w.item("caught by", d.Property)
	if d.Shown.Topology == "" {
		return
	}
	s, err := lib.Showing(d)
	if err != nil {
		w.item("not shown", err.Error())
		return
	}
	base := &scenarios.Scenario{Mode: s.Mode}
	w.blank()
	w.line("  a small run in which it is caught:")
	w.command(Command(program+" run "+d.Shown.Topology, true, base, s))
}

// withDefect names a scenario in a heading, and the defect that its modes have.
func withDefect(scenario, defect string) string {
	if defect == "" {
		return scenario
	}
	return scenario + " with " + defect
}

// without says of modes that they run without the defect of the heading.
func (w *writer) without(defect string, modes []string) {
	if len(modes) > 0 {
		w.hanging(fmt.Sprintf("without %s, which they cannot have: %s", defect,
			strings.Join(modes, ", ")), "", "  ")
	}
}

// plantedIn is the defect that is planted in some of several modes, and those that do not have it:
// nothing where none has one. Each of the list has a mode, and the name of its defect or "".
func plantedIn[T any](list []T, of func(T) (mode, defect string)) (defect string,
	lacking []string) {
	for _, x := range list {
		switch mode, name := of(x); {
		case name != "":
			defect = name
		case !slices.Contains(lacking, mode):
			lacking = append(lacking, mode)
		}
	}
	if defect == "" {
		return "", nil
	}
	return defect, lacking
}
