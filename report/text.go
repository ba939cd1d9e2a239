package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/oncesim/oncesim/model"
)

// How many lines of a kind a report shows before it says how many more there are.
const (
	affectedMax  = 10
	anomaliesMax = 8
)

// Text is the report of one run: the title, the verdicts, what was expected and seen, the records
// concerned, why, a diagram, and how to run it again.
func Text(c *Case, style Style) string {
	w := &writer{style: style}
	t := newTape(c)
	l := newLedger(c, t)
	s := newStory(c, t, l)
	w.line("%s", style.paint(bold, Title(c)))
	w.verdicts(c)
	w.anomalies(c)
	w.linearizable(c)
	if len(t.entries) == 0 {
		w.blank()
		w.line("no trace was kept of its %d events: no diagram, and no count of what became of "+
			"which record", c.Result.Subject.History.End.N)
		w.tail(c)
		return w.String()
	}
	w.ledger(c, l)
	if len(s.sentences) > 0 {
		w.blank()
		w.line("why")
		w.paragraph(s.text())
	}
	if len(s.sentences) > 0 || len(l.affected()) > 0 || t.hasCheckpoints() {
		w.blank()
		w.WriteString(newDiagram(c, t, s).String())
	}
	w.tail(c)
	return w.String()
}

// writer collects the text of a report.
type writer struct {
	strings.Builder
	style Style
}

func (w *writer) line(format string, args ...any) {
	fmt.Fprintf(w, format, args...)
	w.WriteByte('\n')
}

func (w *writer) blank() { w.WriteByte('\n') }

// paragraph writes a text in lines of at most 98 columns, indented.
func (w *writer) paragraph(text string) {
	const width = columnsMax - 2
	column := 0
	for _, word := range strings.Fields(text) {
		n := len([]rune(word))
		switch {
		case column == 0:
			w.WriteString("  ")
			column = 2
		case column+1+n > width:
			w.WriteString("\n  ")
			column = 2
		default:
			w.WriteByte(' ')
			column++
		}
		w.WriteString(word)
		column += n
	}
	w.blank()
}

// hanging writes a text in lines of at most 100 columns, the first behind one margin and the others
// behind another.
func (w *writer) hanging(text, first, rest string) {
	margin := first
	for _, line := range fill(strings.Fields(text), " ", columnsMax-len(rest)) {
		w.line("%s%s", margin, line)
		margin = rest
	}
}

// verdicts is the table of properties: what was found, and whether the mode claims it.
func (w *writer) verdicts(c *Case) {
	w.blank()
	width := 0
	for i := range c.Result.Verdicts {
		width = max(width, len(c.Result.Verdicts[i].Property))
	}
	for i := range c.Result.Verdicts {
		v := &c.Result.Verdicts[i]
		mark := ""
		switch {
		case c.isClaimed(v.Property) && v.Result == model.Violated:
			mark = "claim broken"
		case c.isClaimed(v.Property):
			mark = "claimed"
		case c.mustHold(v.Property) && v.Result == model.Violated:
			mark = "not kept"
		case c.mustHold(v.Property):
			mark = "required"
		}
		text := fmt.Sprintf("%-8s  %-12s  %s", v.Result, mark, verdictDetail(v))
		text = strings.TrimRight(text, " ")
		word := v.Result.String()
		w.line("  %-*s  %s%s", width, v.Property, w.style.result(v.Result, word), text[len(word):])
	}
	if lines := c.Scenario.Unlike(); len(lines) > 0 {
		w.blank()
		w.line("%s claims nothing here: it is set otherwise than it says", c.Scenario.Mode.Name)
		for _, line := range lines {
			w.line("  %s", line)
		}
	}
	if lines := c.outside(); len(lines) > 0 {
		w.blank()
		w.line("%s claims nothing here: it does not say that it tolerates", c.Scenario.Mode.Name)
		for _, line := range lines {
			w.line("  %s", line)
		}
	}
}

// verdictDetail counts the anomalies of a violated property, or says why nothing is known.
func verdictDetail(v *model.Verdict) string {
	if v.Result == model.Undecided {
		return v.Reason
	}
	var parts []string
	for _, kind := range model.Anomalies() {
		n := 0
		for i := range v.Anomalies {
			if v.Anomalies[i].Kind == kind {
				n++
			}
		}
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, kind))
		}
	}
	return strings.Join(parts, ", ")
}

// anomalies lists what was expected and seen, one line a record and kind.
func (w *writer) anomalies(c *Case) {
	list := c.anomalies()
	if len(list) == 0 {
		return
	}
	w.blank()
	w.line("expected and observed")
	rows := [][]string{{"anomaly", "record", "expected", "observed", "events"}}
	for i := range list[:min(len(list), anomaliesMax)] {
		a := &list[i]
		rows = append(rows, []string{a.Kind.String(), c.anomalyRecord(a), c.expected(a),
			c.observed(a), events(a)})
	}
	w.table(rows)
	if more := len(list) - anomaliesMax; more > 0 {
		w.line("  … and %d more", more)
	}
}

// anomalyRecord names the record of an anomaly, with its key where it has one.
func (c *Case) anomalyRecord(a *model.Anomaly) string {
	name := c.anomalyName(a)
	if name == "of the run" {
		name = "-"
	}
	if a.Record.Key != "" {
		name += fmt.Sprintf(" (%s)", clipStart(a.Record.Key, 18))
	}
	return name
}

func events(a *model.Anomaly) string {
	var words []string
	for _, n := range a.Events {
		if n != 0 {
			words = append(words, fmt.Sprint(n))
		}
	}
	return strings.Join(words, " ")
}

// anomalies are those of all properties, each record and kind once, most severe first.
func (c *Case) anomalies() []model.Anomaly {
	var list []model.Anomaly
	for _, kind := range model.Anomalies() {
		from := len(list)
		for i := range c.Result.Verdicts {
			for _, a := range c.Result.Verdicts[i].Anomalies {
				isSame := func(o model.Anomaly) bool { return o.Record.Same(a.Record) }
				if a.Kind == kind && !slices.ContainsFunc(list[from:], isSame) {
					list = append(list, a)
				}
			}
		}
		slices.SortStableFunc(list[from:], func(a, b model.Anomaly) int {
			return a.Record.ID.Compare(b.Record.ID)
		})
	}
	return list
}

// table writes rows of columns, each as wide as it must be, indented. The line stays within the
// page: the last columns are cut.
func (w *writer) table(rows [][]string) {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], len([]rune(cell)))
		}
	}
	for _, row := range rows {
		line := " "
		for i, cell := range row {
			line += " " + cell + strings.Repeat(" ", widths[i]-len([]rune(cell))+1)
		}
		w.line("%s", clipWords(strings.TrimRight(line, " "), columnsMax))
	}
}

// wrapped is a table whose last column is broken into lines where it does not fit.
func (w *writer) wrapped(rows [][]string) {
	widths := make([]int, len(rows[0])-1)
	for _, row := range rows {
		for i := range widths {
			widths[i] = max(widths[i], len([]rune(row[i])))
		}
	}
	for _, row := range rows {
		first := "  "
		for i := range widths {
			first += row[i] + strings.Repeat(" ", widths[i]-len([]rune(row[i]))+2)
		}
		rest := strings.Repeat(" ", len([]rune(first)))
		w.hanging(row[len(row)-1], first, rest)
	}
}

// ledger shows the records that fared otherwise than without faults, and the totals.
func (w *writer) ledger(c *Case, l *ledger) {
	list := l.affected()
	w.blank()
	head := fmt.Sprintf("records: %d read", l.input.Total())
	if c.Stats.Malformed > 0 {
		head += fmt.Sprintf(", %d of them malformed", c.Stats.Malformed)
	}
	w.line("%s", head)
	rows := [][]string{{"record", "delivered", "applied", "written", "visible"}}
	for _, a := range list[:min(len(list), affectedMax)] {
		rows = append(rows, accountRow(c.recordName(a.id), a.counts, a.applied))
	}
	rows = append(rows, accountRow("all", l.total, l.applied))
	w.table(rows)
	w.hanging(fmt.Sprintf("delivered to the first operator, applied by %s, written at the sink, "+
		"visible in the end", l.operators()), "  ", "    ")
	if more := len(list) - affectedMax; more > 0 {
		w.line("  … and %d more records that differ from a run without faults", more)
	}
	reasons := make([]string, 0, len(l.drops))
	for reason := range l.drops {
		reasons = append(reasons, reason)
	}
	slices.Sort(reasons)
	for _, reason := range reasons {
		w.line("  dropped by an operator as %s: %d", reason, l.drops[reason])
	}
	if l.t.hasCheckpoints() {
		w.line("%s", l.t.coordination())
	}
}

// accountRow is a line of the ledger. How often a record was processed is said of each operator: it
// is what an exactly-once effect does not promise.
func accountRow(name string, c counts, applied []int64) []string {
	var each []string
	for _, n := range applied[1:] {
		each = append(each, fmt.Sprint(n))
	}
	return []string{name, fmt.Sprint(c.Delivered), strings.Join(each, "/"), fmt.Sprint(c.Written),
		fmt.Sprint(c.Visible)}
}

// operators names the operators as the ledger counts what they applied.
func (l *ledger) operators() string {
	var names []string
	for i := range l.t.job.Topology.Stages {
		names = append(names, l.t.job.Topology.Stages[i].Name)
	}
	return strings.Join(names, "/")
}

// tail says what the run cost, which faults were not reached and how to run it again.
func (w *writer) tail(c *Case) {
	w.costs(c)
	w.shrunk(c)
	if list := c.notReached(); len(list) > 0 {
		w.blank()
		w.line("not reached, so that it tests nothing:")
		for _, f := range list {
			w.hanging(c.missed(f), "  ", "    ")
		}
	}
	if end := c.Result.Subject.History.End; end.Reason != model.Quiescent {
		w.blank()
		w.hanging(fmt.Sprintf("the run did not end by itself: %s after %d events, %s; bounds in a "+
			"scenario file move that", end.Reason, end.N, duration(end.At)), "", "  ")
	}
	w.expectations(c)
	if c.Command != "" || c.Saved != "" {
		w.blank()
	}
	if c.Command != "" {
		w.line("reproduce: %s", c.Command)
	}
	if c.Saved != "" {
		w.line("saved: %s", c.Saved)
	}
}

// expectations says whether the run is what the scenario's verdict section says.
func (w *writer) expectations(c *Case) {
	if !c.Judged || len(c.Scenario.Expect) == 0 {
		return
	}
	w.blank()
	lines := Unmet(c)
	if len(lines) == 0 {
		w.line("as the verdict section expects")
		return
	}
	w.line("%s", w.style.paint(red, "not as the verdict section expects:"))
	for _, line := range lines {
		w.line("  %s", line)
	}
}

// Several counts things in words: "1 record", "3 records".
func Several[N int | int64](n N, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return strings.TrimSpace(fmt.Sprintf("%d %ss", n, thing))
}
