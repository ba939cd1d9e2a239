package report

import (
	"fmt"
	"strings"

	"github.com/oncesim/oncesim/faults"
	"github.com/oncesim/oncesim/model"
)

// legend explains the marks of a diagram.
var legend = []string{
	"o--> a message or request on its way to where it is handled   --x it does not arrive",
	"X end of a life   ^ next attempt   = stands still   | lives   #2 the second such write",
}

// String draws the diagram.
func (d *diagram) String() string {
	g := d.grid()
	var b strings.Builder
	b.WriteString(g.header(d))
	alive := d.aliveAtStart()
	n := int64(1)
	for i := range d.rows {
		r := &d.rows[i]
		for ; n <= r.e.N; n++ {
			d.live(d.t.at(n), alive)
		}
		b.WriteString(g.line(d, r, alive))
	}
	if d.left > 0 {
		fmt.Fprintf(&b, "%*s  and %d more events about it\n", g.number, "…", d.left)
	}
	for _, line := range legend {
		b.WriteString(line)
		b.WriteByte('\n')
	}
	return b.String()
}

// grid is where things stand in a line.
type grid struct {
	number int // width of the event number
	time   int // width of the virtual time
	start  int // where the first column begins
	width  int // of a column
	at     map[place]int
}

func (d *diagram) grid() *grid {
	g := &grid{number: len("event"), time: len("time"), at: map[place]int{}}
	for i := range d.rows {
		g.number = max(g.number, len(fmt.Sprint(d.rows[i].e.N)))
		g.time = max(g.time, len(clock(d.rows[i].e.At)))
	}
	g.start = g.number + 2 + g.time + 2
	g.width = 16
	if n := len(d.places); n > 0 {
		g.width = min(g.width, (columnsMax-g.start)/n)
	}
	for i, p := range d.places {
		g.at[p] = g.start + i*g.width
	}
	return g
}

// clock writes virtual time in milliseconds.
func clock(ns int64) string { return fmt.Sprintf("%d.%03dms", ns/1_000_000, ns/1_000%1_000) }

func (g *grid) header(d *diagram) string {
	c := newCanvas()
	c.put(g.number-len("event"), "event")
	c.put(g.number+2+g.time-len("time"), "time")
	for _, p := range d.places {
		c.put(g.at[p], clip(d.placeName(p), g.width-1))
	}
	return c.String()
}

func (d *diagram) placeName(p place) string {
	if p.isService {
		return model.ServiceNames[p.id]
	}
	return d.t.name(model.ProcID(p.id))
}

// line draws one row over the life lines.
func (g *grid) line(d *diagram, r *row, alive map[place]byte) string {
	c := newCanvas()
	c.putRight(g.number, fmt.Sprint(r.e.N))
	c.putRight(g.number+2+g.time, clock(r.e.At))
	for _, p := range d.places {
		c.put(g.at[p], string(alive[p]))
	}
	defer func() {
		for _, p := range r.also {
			c.put(g.at[p], "^")
		}
	}()
	from, to := g.at[r.from], g.at[r.to]
	text := r.text
	switch {
	case from == to:
		c.put(to, clip(text, columnsMax-to))
	case from < to:
		c.arrow(from, to, r.labels, r.isLost)
		c.put(to+1, clip(text, columnsMax-to-1))
	default:
		c.arrow(from, to, r.labels, r.isLost)
		c.put(from+2, clip(text, columnsMax-from-2))
	}
	return c.String()
}

// live follows the life lines through an event.
func (d *diagram) live(e *model.Entry, alive map[place]byte) {
	p := procPlace(e.Proc)
	switch {
	case isDeath(e):
		if l := d.t.life(e); l == nil || l.Replaced == 0 {
			alive[p] = ' '
		}
	case e.Kind == model.EntryStart, e.Kind == model.EntryResume:
		alive[p] = '|'
	case e.Kind == model.EntryPause:
		alive[p] = '='
	}
}

func (d *diagram) aliveAtStart() map[place]byte {
	alive := map[place]byte{}
	for _, p := range d.places {
		alive[p] = '|'
	}
	return alive
}

// canvas is a line that can be written to anywhere.
type canvas struct{ runes []rune }

func newCanvas() *canvas { return &canvas{} }

func (c *canvas) put(at int, text string) {
	for _, r := range text {
		for len(c.runes) <= at {
			c.runes = append(c.runes, ' ')
		}
		c.runes[at] = r
		at++
	}
}

// putRight writes a text that ends before a column.
func (c *canvas) putRight(end int, text string) { c.put(end-len(text), text) }

// arrow draws a way between two columns, with the longest label that there is room for.
func (c *canvas) arrow(from, to int, labels []string, isLost bool) {
	lo, hi := min(from, to), max(from, to)
	for i := lo + 1; i < hi; i++ {
		c.put(i, "-")
	}
	c.put(from, "o")
	head := ">"
	tip := hi - 1
	if to < from {
		head, tip = "<", lo+1
	}
	if isLost {
		head = "x"
	}
	c.put(tip, head)
	room := hi - lo - 4
	for _, label := range labels {
		if n := len([]rune(label)); n <= room {
			c.put(lo+2+(room-n+1)/2, label)
			return
		}
	}
}

// String is the line without white space at its end, and a line end.
func (c *canvas) String() string { return strings.TrimRight(string(c.runes), " ") + "\n" }

// clip shortens a text to a number of columns.
func clip(text string, most int) string {
	runes := []rune(text)
	if len(runes) <= most {
		return text
	}
	if most <= 1 {
		return string(runes[:max(most, 0)])
	}
	return string(runes[:most-1]) + "…"
}

// clipWords shortens a text to a number of columns and leaves out what it would cut in the middle.
func clipWords(text string, most int) string {
	short := clip(text, most)
	if i := strings.LastIndexByte(short, ' '); short != text && i > 0 {
		return strings.TrimRight(short[:i], " ") + " …"
	}
	return short
}

// clipStart shortens a text to a number of columns and keeps its end, where paths differ.
func clipStart(text string, most int) string {
	runes := []rune(text)
	if len(runes) <= most {
		return text
	}
	return "…" + string(runes[len(runes)-most+1:])
}

// duration writes virtual time as scenario files do.
func duration(ns int64) string { return faults.FormatDuration(ns) }
