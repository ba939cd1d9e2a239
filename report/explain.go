package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/oncesim/oncesim/checker"
	"github.com/oncesim/oncesim/faults"
	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/scenarios"
)

// fileTopic is the name under which the format of scenario files is explained.
const fileTopic = "scenario-file"

// Topics lists the names that Explain knows, in a fixed order: modes, properties, anomalies,
// faults, fault classes, terms and the format of scenario files. A name with several meanings is
// there for each of them.
func Topics(lib *scenarios.Library) []string {
	var names []string
	for _, m := range lib.Modes {
		names = append(names, m.Name)
	}
	for i := range lib.Properties {
		names = append(names, lib.Properties[i].Name)
	}
	for _, kind := range model.Anomalies() {
		names = append(names, kind.String())
	}
	for i := range lib.Faults {
		names = append(names, lib.Faults[i].Name)
	}
	for _, c := range lib.Classes {
		names = append(names, c.Name)
	}
	for _, p := range parts(lib) {
		names = append(names, p.name)
	}
	for _, d := range lib.Defects {
		names = append(names, d.Name)
	}
	for _, term := range Terms() {
		names = append(names, term.Name)
	}
	for _, kind := range model.Kinds() {
		names = append(names, kind.String())
	}
	return append(append(names, paramTopics(lib)...), fileTopic)
}

// Explain says what a name means, whatever it is the name of; a name that has several meanings has
// them all explained. The result is empty for a name that nothing has. The program is what lines
// that show a term begin with. runs gives lines that show an anomaly, the smallest runs there are;
// it is called only where one is explained.
func Explain(lib *scenarios.Library, name, program string,
	runs func(model.AnomalyKind) []string) string {
	w := &writer{}
	if other, isAlias := aliases[name]; isAlias {
		name = other
	}
	if t := findTopic(name); t != nil {
		w.term(lib, t, program)
	}
	for _, m := range lib.Modes {
		if m.Name == name {
			w.mode(lib, m)
		}
	}
	for i := range lib.Properties {
		if lib.Properties[i].Name == name {
			w.property(lib, &lib.Properties[i])
		}
	}
	for _, l := range anomalyLore {
		if l.kind.String() == name {
			w.anomaly(lib, &l, runs(l.kind), program)
		}
	}
	for i := range lib.Faults {
		if lib.Faults[i].Name == name {
			w.fault(&lib.Faults[i])
		}
	}
	for _, c := range lib.Classes {
		if c.Name == name {
			w.class(lib, c)
		}
	}
	for _, p := range parts(lib) {
		if p.name == name {
			w.topic(p.name, p.what)
			w.paragraph(p.says + ".")
		}
	}
	for _, d := range lib.Defects {
		if d.Name == name {
			w.defect(lib, d, program)
		}
	}
	if kind, isKind := model.ParseKind(name); isKind {
		w.kind(kind)
	}
	w.param(lib, name)
	if name == fileTopic {
		w.topic(fileTopic, "the format of scenario files")
		w.WriteString(scenarios.Schema())
	}
	return w.String()
}

// topic begins an explanation, apart from the one before it.
func (w *writer) topic(name, what string) {
	if w.Len() > 0 {
		w.blank()
	}
	w.line("%s: %s", name, what)
	w.blank()
}

// part is a piece of a job that is explained by what it says of itself.
type part struct{ name, what, says string }

func parts(lib *scenarios.Library) []part {
	var list []part
	for _, o := range lib.Operators {
		list = append(list, part{o.Name, "an operator, " + o.Kind.String(), o.Says})
	}
	for _, s := range lib.Sinks {
		list = append(list, part{s.Name, "a sink", s.Says})
	}
	for _, d := range lib.Decoders {
		list = append(list, part{d.Name, "a decoder", d.Says})
	}
	return list
}

// item writes a word and what belongs to it, if anything does.
func (w *writer) item(word, text string) {
	if text != "" {
		w.paragraph(word + ": " + text)
	}
}

func (w *writer) mode(lib *scenarios.Library, m *model.Mode) {
	w.topic(m.Name, "a mode")
	w.paragraph(m.Says + ".")
	w.item("claims", strings.Join(m.Claims, ", "))
	for _, with := range m.ClaimsWith {
		w.item(fmt.Sprintf("with %s=%d", with.Param.Name, with.Param.Value),
			strings.Join(with.Claims, ", "))
	}
	w.item("and where operators are deterministic", strings.Join(m.ClaimsDeterministic, ", "))
	w.item("and without keyed state", strings.Join(m.ClaimsStateless, ", "))
	w.item("under", strings.Join(m.Tolerates, ", "))
	w.item("state", durabilities[m.State])
	w.item("restart", map[model.RestartScope]string{
		model.RestartTask: "the task that died",
		model.RestartJob:  "the whole job",
	}[m.Restart])
	w.item("sink", m.Sink)
	w.item("source", m.Source)
	w.params(m)
	w.mechanisms(m)
	w.cells(lib, m)
}

// mechanisms says what the clean cells of a mode rest on and how to take it away.
func (w *writer) mechanisms(m *model.Mode) {
	if len(m.RestsOn) == 0 {
		return
	}
	w.blank()
	w.line("what its clean cells rest on, and how to do without")
	rows := make([][]string, 0, len(m.RestsOn))
	for i := range m.RestsOn {
		r := &m.RestsOn[i]
		var how []string
		for _, v := range r.Without {
			how = append(how, fmt.Sprintf("--set %s=%d", v.Name, v.Value))
		}
		if r.Variant != "" {
			how = append(how, "--mode "+r.Variant)
		}
		if r.Sink != "" {
			how = append(how, "sink: "+r.Sink)
		}
		rows = append(rows, []string{r.Name, strings.Join(how, " "), r.Says})
	}
	w.wrapped(rows)
	w.harmless(m)
}

// harmless says which classes take nothing away that a mode rests on, and why not.
func (w *writer) harmless(m *model.Mode) {
	if len(m.Harmless) == 0 {
		return
	}
	w.blank()
	w.line("what does no harm by its fault alone, whichever of these is gone")
	rows := make([][]string, 0, len(m.Harmless))
	for _, h := range m.Harmless {
		rows = append(rows, []string{h.Class, h.Says})
	}
	w.wrapped(rows)
}

func (w *writer) params(m *model.Mode) {
	if len(m.Params) == 0 {
		return
	}
	w.blank()
	w.line("parameters, set by --set NAME=VALUE")
	rows := make([][]string, 0, len(m.Params))
	for i := range m.Params {
		p := &m.Params[i]
		rows = append(rows, []string{p.Name, scenarios.ParamText(p, p.Default),
			rangeText(p), p.Says})
	}
	w.wrapped(rows)
}

// rangeText says which values a parameter takes.
func rangeText(p *model.Param) string {
	return fmt.Sprintf("%s to %s", scenarios.ParamText(p, p.Min), scenarios.ParamText(p, p.Max))
}

// kindsAll is how many kinds of operator there are.
const kindsAll = int(model.NonDeterministic) + 1

// cells is the golden table of a mode.
func (w *writer) cells(lib *scenarios.Library, m *model.Mode) {
	if len(m.Cells) == 0 {
		return
	}
	w.blank()
	w.line("what small worlds show, by class and kind of operator; " +
		"but for findings, the rest never")
	rows := [][]string{{"class", "operator", "must be reachable", "may be"}}
	used := map[model.AnomalyKind]bool{}
	for _, c := range lib.Classes {
		first := len(rows)
		for i := range m.Cells {
			cell := &m.Cells[i]
			if cell.Class != c.Name {
				continue
			}
			row := []string{cell.Class, cell.Kind.String(), codes(cell.Must), codes(cell.May)}
			for _, kind := range slices.Concat(cell.Must, cell.May) {
				used[kind] = true
			}
			if n := len(rows); n > first && slices.Equal(rows[n-1][2:], row[2:]) {
				rows[n-1][1] += ", " + row[1]
				continue
			}
			rows = append(rows, row)
		}
		for _, row := range rows[first:] {
			row[1] = kindsOfOperator(row[1])
		}
	}
	w.wrapped(rows)
	var legend []string
	for _, kind := range model.Anomalies() {
		if used[kind] {
			legend = append(legend, kind.Code()+" "+kind.String())
		}
	}
	w.paragraph(strings.Join(legend, ", "))
}

// kindsOfOperator shortens a list of the kinds of operator that lacks none of them, or one.
func kindsOfOperator(list string) string {
	words := strings.Split(list, ", ")
	switch len(words) {
	case kindsAll:
		return "all"
	case kindsAll - 1:
		for kind := model.Stateless; kind <= model.NonDeterministic; kind++ {
			if !slices.Contains(words, kind.String()) {
				return "all but " + kind.String()
			}
		}
	}
	return list
}

// codes is a list of anomalies by their short codes.
func codes(kinds []model.AnomalyKind) string {
	var words []string
	for _, kind := range kinds {
		words = append(words, kind.Code())
	}
	if len(words) == 0 {
		return "-"
	}
	return strings.Join(words, " ")
}

func kindList(kinds []model.AnomalyKind) string {
	var words []string
	for _, kind := range kinds {
		words = append(words, kind.String())
	}
	if len(words) == 0 {
		return "-"
	}
	return strings.Join(words, " ")
}

func (w *writer) property(lib *scenarios.Library, p *checker.Property) {
	w.topic(p.Name, "a property")
	w.paragraph(p.Says + ".")
	w.item("a violation is", strings.ReplaceAll(kindList(p.Anomalies), " ", ", "))
	always := claimants(lib, p.Name, func(m *model.Mode) []string { return m.Claims })
	ordered := claimants(lib, p.Name, func(m *model.Mode) []string { return m.ClaimsDeterministic })
	stateless := claimants(lib, p.Name, func(m *model.Mode) []string { return m.ClaimsStateless })
	with := claimants(lib, p.Name, func(m *model.Mode) (claims []string) {
		for _, w := range m.ClaimsWith {
			claims = append(claims, w.Claims...)
		}
		return claims
	})
	if always+ordered+stateless+with == "" {
		w.paragraph("No built-in mode claims it; the golden table says where it holds.")
	}
	w.item("modes that claim it", always)
	w.item("modes that claim it where every operator is deterministic", ordered)
	w.item("modes that claim it where no operator keeps state", stateless)
	w.item("modes that claim it with other parameters", with)
	w.item("source", p.Source)
}

// claimants lists the modes that have a property among some of their claims.
func claimants(lib *scenarios.Library, property string, of func(*model.Mode) []string) string {
	var names []string
	for _, m := range lib.Modes {
		if slices.Contains(of(m), property) {
			names = append(names, m.Name)
		}
	}
	return strings.Join(names, ", ")
}

func (w *writer) anomaly(lib *scenarios.Library, l *lore, runs []string, program string) {
	what := "an anomaly"
	if l.kind.IsFinding() {
		what = "a finding about the mechanism"
	}
	w.topic(l.kind.String(), what)
	w.paragraph(l.is)
	w.blank()
	w.item("how it is found", l.found)
	var names []string
	for i := range lib.Properties {
		for _, kind := range lib.Properties[i].Anomalies {
			if kind == l.kind {
				names = append(names, lib.Properties[i].Name)
			}
		}
	}
	w.item("it can be why these are violated", strings.Join(names, ", "))
	w.item("source", l.source)
	w.blank()
	if len(runs) == 0 {
		w.line("  no mode of the library shows it under one fault on a few records")
		if l.shown.isOf(lib) {
			w.line("  a run that shows it:")
			w.command(program + " " + l.shown.line())
		}
		return
	}
	w.line("  the smallest runs that show it, by mode:")
	for _, line := range runs {
		w.line("    %s", line)
	}
}

func (w *writer) fault(s *faults.Spec) {
	w.topic(s.Name, "a fault")
	w.paragraph(s.Says + ".")
	w.blank()
	for _, line := range s.Syntax {
		w.line("  %s", line)
	}
	w.blank()
	w.item("example", s.Example)
}

func (w *writer) class(lib *scenarios.Library, c *scenarios.Class) {
	what := "a class of faults"
	if c.Code != "" {
		what += ", " + c.Code + " in the literature's tables"
	}
	w.topic(c.Name, what)
	w.paragraph(c.Says + ".")
	names := tolerant(lib, c.Name)
	if len(names) == 0 {
		names = []string{"no mode"}
	}
	w.item("modes that tolerate it", strings.Join(names, ", "))
	var strangers []string
	for _, m := range lib.Modes {
		if !c.Applies(m) {
			strangers = append(strangers, m.Name)
		}
	}
	w.item("it says nothing of", strings.Join(strangers, ", "))
}

// tolerant lists the modes whose claims hold under a class.
func tolerant(lib *scenarios.Library, class string) []string {
	var names []string
	for _, m := range lib.Modes {
		for _, t := range m.Tolerates {
			if t == class {
				names = append(names, m.Name)
			}
		}
	}
	return names
}

// Lesson is the explanation of a run: what its file says, the report, and what the anomalies are.
func Lesson(c *Case, style Style) string {
	w := &writer{style: style}
	if c.Scenario.Prose != "" {
		w.line("%s", strings.TrimRight(c.Scenario.Prose, "\n"))
		w.blank()
	}
	w.WriteString(Text(c, style))
	seen := map[model.AnomalyKind]bool{}
	for _, a := range c.anomalies() {
		seen[a.Kind] = true
	}
	for _, l := range anomalyLore {
		if seen[l.kind] {
			w.blank()
			w.paragraph(l.kind.String() + ": " + l.is)
		}
	}
	return w.String()
}
