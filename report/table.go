package report

import (
	"fmt"
	"strings"

	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/search"
)

// Text is the matrix at a glance: a line for each class with a column for each mode, what each mode
// costs, for each anomaly the smallest run that shows it, and what does not agree with the claims.
// Of a single mode, or with details, it has also a line for each mode and class with a column for
// each property, what went wrong how often, and for each row the smallest run that shows it.
func (m *Matrix) Text(style Style, details bool) string {
	w := &writer{style: style}
	w.line("%s", style.paint(bold, fmt.Sprintf("%s: %s", withDefect(m.Scenario, m.Defect),
		m.Bound)))
	w.without(m.Defect, m.Without)
	if m.Malformed > 0 {
		w.line("%d of the records are malformed", m.Malformed)
	}
	isOverview := w.overview(m)
	details = details || !isOverview
	if details {
		w.details(m)
	}
	w.costTable(m)
	if details {
		w.witnesses(m)
	} else {
		w.smallest(m)
	}
	w.summary(m, details)
	return w.String()
}

// details is the table by property.
func (w *writer) details(m *Matrix) {
	heads := shortNames(m.properties())
	witnesses := 0
	for from := 0; from < len(m.rows); {
		upTo := from + 1
		for upTo < len(m.rows) && m.rows[upTo].mode == m.rows[from].mode {
			upTo++
		}
		witnesses = w.detailsOf(m.rows[from:upTo], heads, witnesses)
		from = upTo
	}
	w.marks(m, m.properties(), heads)
}

// detailsOf is the part of one mode. With many properties it has several tables below each other,
// of about as many columns each; what was seen how often is in the first.
func (w *writer) detailsOf(rows []matrixRow, heads []string, witnesses int) int {
	tables := (len(heads) + cellsMax - 1) / cellsMax
	most := (len(heads) + tables - 1) / tables
	name := clip(rows[0].mode, nameWidth)
	for from := 0; from < len(heads); from += most {
		upTo := min(from+most, len(heads))
		w.blank()
		w.line("%s%s", w.style.paint(bold, name), headLine(len([]rune(name)), heads[from:upTo]))
		for i := range rows {
			r := &rows[i]
			w.row(r, from, upTo)
			if r.witness != nil && from == 0 {
				witnesses++
				w.counts(r, witnesses)
			}
		}
	}
	return witnesses
}

// smallest lists for each anomaly the smallest run that shows it, over all modes and classes.
func (w *writer) smallest(m *Matrix) {
	head := "smallest runs"
	for _, kind := range model.Anomalies() {
		var best *witness
		for i := range m.rows {
			r := &m.rows[i]
			found := r.found[kind]
			if found != nil && !r.findings[kind] && (best == nil || found.isSmaller(best)) {
				best = found
			}
		}
		if best == nil || best.command == "" {
			continue
		}
		if head != "" {
			w.blank()
			w.line("%s", head)
			head = ""
		}
		w.line("  %s", kind)
		w.line("      %s", best.command)
	}
}

// The columns of the table.
const (
	nameWidth = 18
	cellWidth = 7
	cellsMax  = (columnsMax - nameWidth - 2 - len("1000 seeds, 100000 places")) / cellWidth
)

func headLine(used int, heads []string) string {
	line := strings.Repeat(" ", nameWidth+2-used)
	for _, head := range heads {
		line += fmt.Sprintf("%-*s", cellWidth, head)
	}
	return line + "bound"
}

func (m *Matrix) properties() []string {
	var names []string
	for i := range m.lib.Properties {
		names = append(names, m.lib.Properties[i].Name)
	}
	return names
}

// shortNames abbreviates names by the initials of their words, and takes more letters of the first
// word where that is not enough to tell them apart.
func shortNames(names []string) []string {
	var short []string
	seen := map[string]bool{}
	for _, name := range names {
		words := strings.Split(name, "-")
		text := strings.ToUpper(name[:min(3, len(name))])
		for letters := 1; len(words) > 1 && letters <= len(words[0]); letters++ {
			text = strings.ToUpper(words[0][:1]) + words[0][1:letters]
			for _, word := range words[1:] {
				text += strings.ToUpper(word[:min(1, len(word))])
			}
			if !seen[text] {
				break
			}
		}
		seen[text] = true
		short = append(short, clip(text, cellWidth-1))
	}
	return short
}

// row is the line of one mode under one class, with some of the properties.
func (w *writer) row(r *matrixRow, from, upTo int) {
	line := fmt.Sprintf("  %-*s", nameWidth, clip(r.class, nameWidth-1))
	for i := from; i < upTo; i++ {
		text, mark := cellText(&r.cells[i])
		result := r.cells[i].observed
		painted := w.style.result(result, text+mark)
		if result == model.Violated && mark != "!" {
			painted = text + mark
		}
		line += painted + strings.Repeat(" ", cellWidth-len(text+mark))
	}
	w.line("%s%s", line, r.bound)
}

// cellText is what was observed in a word, and how it relates to the claim.
func cellText(c *MatrixCell) (text, mark string) {
	switch c.observed {
	case model.Holds:
		text = "holds"
	case model.Violated:
		text = "viol"
		if c.isBroken() {
			text = "VIOL"
		}
	default:
		text = "?"
	}
	switch {
	case c.isBroken() || c.isUnsure():
		mark = "!"
	case c.isUnreached():
		mark = "~"
	case c.claim != search.NoClaim:
		mark = "="
	case c.crash:
		mark = "*"
	}
	return text, mark
}

// counts says in how many runs of a row which anomaly was seen.
func (w *writer) counts(r *matrixRow, n int) {
	var parts []string
	for _, kind := range model.Anomalies() {
		if r.anomalies[kind] > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", kind, r.anomalies[kind]))
		}
	}
	line := fmt.Sprintf("    [%d]", n)
	for i, part := range parts {
		if i+1 < len(parts) {
			part += ","
		}
		if len(line)+1+len(part) > columnsMax {
			w.line("%s", line)
			line = "       "
		}
		line += " " + part
	}
	w.line("%s", line)
}

// marks is the legend of the table.
func (w *writer) marks(m *Matrix, names, heads []string) {
	w.blank()
	w.line("= as claimed   ! claimed to hold and does not   ~ claimed to be reachable, not seen")
	w.line("no mark: nothing is claimed   viol violated   ? unknown   numbers: runs that showed it")
	w.line("bound: how many runs stand behind a holds: plans from seeds, and %s",
		placedText(m.pairs))
	w.line("* only together with a crash: every other plan has one besides the fault of its class")
	line := ""
	for i := range names {
		item := heads[i] + " " + names[i]
		if line != "" && len(line)+2+len(item) > columnsMax {
			w.line("%s", line)
			line = ""
		}
		if line != "" {
			line += "  "
		}
		line += item
	}
	w.line("%s", line)
}

// witnesses lists the smallest runs and the lines that run them.
func (w *writer) witnesses(m *Matrix) {
	n := 0
	for i := range m.rows {
		r := &m.rows[i]
		if r.witness == nil {
			continue
		}
		if n++; n == 1 {
			w.blank()
			w.line("smallest witnesses")
		}
		plan := "no fault"
		switch many := len(r.witness.scenario.Faults); many {
		case 0:
		case 1:
			plan = "1 fault"
		default:
			plan = fmt.Sprintf("%d faults", many)
		}
		w.line("  [%d] %s, %s: %s on %d records with %s", n, r.mode, r.class, r.witness.kind,
			r.witness.records, plan)
		if r.witness.command == "" {
			w.line("      no one line says it: --json has it as a file")
			continue
		}
		w.line("      %s", r.witness.command)
	}
}

// summary says whether what was seen agrees with what is claimed.
func (w *writer) summary(m *Matrix, details bool) {
	w.blank()
	for i := range m.Cells {
		c := &m.Cells[i]
		switch {
		case c.isBroken():
			w.line("%s", w.style.paint(red, fmt.Sprintf("%s under %s claims %s: violated in %d of "+
				"%d runs", c.Mode, c.Fault, c.Property, c.Violations, c.Runs)))
		case c.isUnsure():
			w.line("%s under %s claims %s: unknown, %s", c.Mode, c.Fault, c.Property, c.Reason)
		}
	}
	for i := range m.Cells {
		if c := &m.Cells[i]; c.isUnreached() && details {
			w.line("%s under %s can violate %s: not seen in these %d runs", c.Mode, c.Fault,
				c.Property, c.Runs)
		}
	}
	switch {
	case m.Partial:
		w.line("interrupted: only what is above was compared")
	case len(m.Cells) == 0:
		w.line("nothing was compared")
	case m.Agrees && m.Unreached == 0:
		w.line("agrees: every cell is as claimed")
	case m.Agrees:
		w.line("agrees: no claim is broken; %d violations are claimed and were not seen",
			m.Unreached)
	default:
		w.line("disagrees: see above")
	}
}
