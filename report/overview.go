package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/oncesim/oncesim/model"
)

// The columns of the overview. A comparison of many modes has several tables below each other, of
// about as many modes each.
const (
	overviewModes    = 7
	overviewWidthMin = 11
	overviewWidthMax = 20
)

// overview is the golden table as it was seen: a line for each class of faults, a column for each
// mode, and in the cells the codes of the anomalies. One mode alone has none: false.
func (w *writer) overview(m *Matrix) bool {
	var modes, classes []string
	cells := map[[2]string]*matrixRow{}
	for i := range m.rows {
		r := &m.rows[i]
		cells[[2]string{r.class, r.mode}] = r
		if !slices.Contains(modes, r.mode) {
			modes = append(modes, r.mode)
		}
		if !slices.Contains(classes, r.class) {
			classes = append(classes, r.class)
		}
	}
	if len(modes) < 2 {
		return false
	}
	tables := (len(modes) + overviewModes - 1) / overviewModes
	for some := range slices.Chunk(modes, (len(modes)+tables-1)/tables) {
		w.blank()
		first := nameWidth
		for _, class := range classes {
			first = min(max(first, len([]rune(class))+2), columnsMax/4)
		}
		width := max(overviewWidthMin, min(overviewWidthMax, (columnsMax-first)/len(some)))
		head := [][]string{{""}}
		for _, mode := range some {
			head = append(head, fill(strings.Split(mode, "-"), "-", width-1))
		}
		w.tall(head, first, width, bold)
		for _, class := range classes {
			line := [][]string{{class}}
			for _, mode := range some {
				words := codesOf(cells[[2]string{class, mode}])
				if !m.applies(class, mode) {
					words = []string{"."}
				}
				line = append(line, fill(words, " ", width-1))
			}
			w.tall(line, first, width, "")
		}
	}
	w.codes(m)
	return true
}

// applies reports whether a class of faults says anything of a mode.
func (m *Matrix) applies(class, mode string) bool {
	for _, c := range m.lib.Classes {
		for _, known := range m.lib.Modes {
			if c.Name == class && known.Name == mode {
				return c.Applies(known)
			}
		}
	}
	return true
}

// appliesToAll reports whether a class of faults says something of every mode that was compared.
func (m *Matrix) appliesToAll(class string) bool {
	return !slices.ContainsFunc(m.rows, func(r matrixRow) bool { return !m.applies(class, r.mode) })
}

// codesOf are the codes of what a cell shows, most severe first, and how they relate to the claims.
// Findings are no outcome and are left out.
func codesOf(r *matrixRow) []string {
	if r == nil {
		return []string{""} // interrupted before it was compared
	}
	var codes []string
	for _, kind := range model.Anomalies() {
		if r.anomalies[kind] > 0 && !r.findings[kind] {
			codes = append(codes, kind.Code())
		}
	}
	isUnknown, mark := false, ""
	for i := range r.cells {
		c := &r.cells[i]
		isUnknown = isUnknown || c.observed == model.Undecided
		switch {
		case c.isBroken() || c.isUnsure():
			mark = "!"
		case c.isUnreached() && mark == "":
			mark = "~"
		}
	}
	if isUnknown {
		codes = append(codes, "?")
	}
	if len(codes) == 0 {
		codes = append(codes, "-")
	}
	if mark != "" {
		codes = append(codes, mark)
	}
	return codes
}

// fill joins words to lines of at most a width. A line that goes on begins with what is between,
// unless that is white.
func fill(words []string, between string, width int) []string {
	lines := []string{""}
	for _, word := range words {
		last := &lines[len(lines)-1]
		switch {
		case *last == "":
			*last = word
		case len(*last)+len(between)+len(word) > width:
			lines = append(lines, strings.TrimLeft(between, " ")+word)
		default:
			*last += between + word
		}
	}
	return lines
}

// tall writes a line of cells that are several lines high; the first column has its own width.
func (w *writer) tall(line [][]string, first, width int, colour string) {
	height := 0
	for _, cell := range line {
		height = max(height, len(cell))
	}
	for i := range height {
		text := ""
		for j, cell := range line {
			part, columns := "", width
			if i < len(cell) {
				part = cell[i]
			}
			if j == 0 {
				columns = first
			}
			text += fmt.Sprintf("%-*s", columns, clip(part, columns-1))
		}
		text = strings.TrimRight(text, " ")
		if colour != "" {
			text = w.style.paint(colour, text)
		}
		w.line("%s", text)
	}
}

// codes is the legend of the overview.
func (w *writer) codes(m *Matrix) {
	seen := map[model.AnomalyKind]bool{}
	for i := range m.rows {
		for kind := range m.rows[i].anomalies {
			seen[kind] = seen[kind] || !m.rows[i].findings[kind]
		}
	}
	other := []string{"- nothing"}
	if slices.ContainsFunc(m.rows, func(r matrixRow) bool { return !m.appliesToAll(r.class) }) {
		other = append(other, ". does not apply")
	}
	w.legend(seen, other)
	w.line("! breaks a claim   ~ what is claimed to be reachable was not all seen   ? unknown")
}

// legend says what the codes of the anomalies seen stand for, most severe first, and what others
// do that are in their place.
func (w *writer) legend(seen map[model.AnomalyKind]bool, other []string) {
	var items []string
	for _, kind := range model.Anomalies() {
		if seen[kind] {
			items = append(items, kind.Code()+" "+kind.String())
		}
	}
	w.blank()
	for _, line := range fill(append(items, other...), "  ", columnsMax) {
		w.line("%s", line)
	}
}
