package report

import (
	"strings"

	"github.com/oncesim/oncesim/defects"
	"github.com/oncesim/oncesim/scenarios"
)

// defect explains a planted bug, and how to see it.
func (w *writer) defect(lib *scenarios.Library, d *defects.Defect, program string) {
	w.topic(d.Name, "a defect")
	w.paragraph(strings.ToUpper(d.Says[:1]) + d.Says[1:] + ".")
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
