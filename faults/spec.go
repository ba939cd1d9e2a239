package faults

import (
	"strings"

	"github.com/oncesim/oncesim/model"
)

// Spec is one fault of the language: what lists and help say of it, and how its lines are read
// and printed. There is one a file.
type Spec struct {
	Name    string // the first word of its lines
	Says    string // one line for lists
	Syntax  []string
	Example string         // a line as it prints
	Actions []model.Action // what its lines compile to; each action belongs to one Spec

	parse func(p *parser) Fault // reads what follows the name
	print func(f Fault) string  // the inverse, from the name on
}

// All lists the faults in the order in which help shows them. Its slices are shared: read only.
func All() []Spec {
	return []Spec{crash, pause, lose, delay, duplicate, reorder, partition, refuse, forget, tear,
		stale, truncate, poison}
}

// Parse reads one line of the fault language. A line with nothing but a comment is no fault. The
// error is a *SyntaxError with Line 0.
func Parse(line string) (Fault, error) {
	p := newParser(line)
	f := p.fault(All())
	if p.err != nil {
		return Fault{}, p.err
	}
	return f, nil
}

// ParsePlan reads a plan, one fault a line; blank lines and comments are skipped. The error is a
// *SyntaxError whose Line counts the arguments from 1.
func ParsePlan(lines ...string) (Plan, error) {
	specs := All()
	plan := make(Plan, 0, len(lines))
	for i, line := range lines {
		p := newParser(line)
		if p.isBlank() {
			continue
		}
		f := p.fault(specs)
		if p.err != nil {
			p.err.Line = i + 1
			return nil, p.err
		}
		plan = append(plan, f)
	}
	return plan, nil
}

// fault reads a whole line; the name at its beginning says which fault it is.
func (p *parser) fault(specs []Spec) (f Fault) {
	names := make([]string, len(specs))
	for i, s := range specs {
		names[i] = s.Name
	}
	name := p.oneOf("unknown fault", names...)
	for _, s := range specs {
		if s.Name == name {
			f = s.parse(p)
		}
	}
	p.finish()
	return f
}

// syntax joins the forms of a point with what comes before and after it in a line.
func syntax(before, after string) []string {
	forms := pointSyntax()
	for i := range forms {
		forms[i] = strings.TrimSpace(before + " " + forms[i] + " " + after)
	}
	return forms
}
