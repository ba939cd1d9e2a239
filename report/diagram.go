package report

import (
	"cmp"
	"slices"
	"strings"

	"github.com/oncesim/oncesim/model"
)

// The size of a diagram, its header and its legend included.
const (
	columnsMax = 100
	linesMax   = 25
)

// Diagram is the space-time diagram of a run: a column for each process and service that has to do
// with the record that the report is about, a line an event, at most 100 columns and 25 lines.
// Time runs downwards. Events that the report cites are always in it.
func Diagram(c *Case) string {
	t := newTape(c)
	l := newLedger(c, t)
	return newDiagram(c, t, newStory(c, t, l)).String()
}

// place is a column of the diagram.
type place struct {
	isService bool
	id        int32
}

// row is one line: what happens at one place, or goes from one to another.
type row struct {
	e      *model.Entry
	rank   int // 0 must be there; the greater, the sooner it is left out
	from   place
	to     place    // same as from: nothing goes anywhere
	labels []string // of the way, the longest first
	text   string   // at the place where it ends
	isLost bool     // it does not arrive
	also   []place  // further processes that begin with it
}

// diagram is the choice of rows and columns.
type diagram struct {
	c      *Case
	t      *tape
	about  model.ID
	label  string // how the record is written in it
	cited  []int64
	rows   []row
	left   int // rows that there was no room for
	places []place
	writes map[stepName]int
	cuts   map[int64]bool // the checkpoints, or batches, that have to do with the record
}

func newDiagram(c *Case, t *tape, s *story) *diagram {
	d := &diagram{c: c, t: t, about: s.about, cited: s.cited, writes: map[stepName]int{}}
	d.label = d.short(s.about)
	d.cuts = t.cutsOf(s.about)
	for i := range t.entries {
		if r, ok := d.row(&t.entries[i]); ok {
			d.rows = append(d.rows, r)
		}
	}
	d.forgetStrangers()
	d.joinStarts()
	d.trim(linesMax - 1 - len(legend))
	d.choosePlaces()
	return d
}

// short is the name of a record, without the input where there is only one.
func (d *diagram) short(id model.ID) string {
	name := d.c.recordName(id)
	if inputs := d.t.job.Topology.Inputs; len(inputs) == 1 {
		return strings.TrimPrefix(name, inputs[0].Name+"/")
	}
	return name
}

// forgetStrangers leaves out what happened to processes that have nothing to do with the record,
// before the first row about it and long after the last.
func (d *diagram) forgetStrangers() {
	known := map[place]bool{}
	for i := range d.rows {
		if r := &d.rows[i]; r.rank == 0 || !isLife(r.e) {
			known[r.from], known[r.to] = true, true
		}
	}
	d.rows = slices.DeleteFunc(d.rows, func(r row) bool {
		return r.rank != 0 && isLife(r.e) && !known[r.from] && !isReached(d.t.hist, r.e.N)
	})
}

// joinStarts makes one row of the starts of all processes of a job that begins again.
func (d *diagram) joinStarts() {
	rows := d.rows[:0]
	for _, r := range d.rows {
		isNext := len(rows) > 0 && r.e.Kind == model.EntryStart && r.rank != 0 &&
			rows[len(rows)-1].e.Kind == model.EntryStart &&
			rows[len(rows)-1].e.Attempt == r.e.Attempt && rows[len(rows)-1].e.At == r.e.At
		if isNext {
			last := &rows[len(rows)-1]
			last.also = append(last.also, r.from)
			continue
		}
		rows = append(rows, r)
	}
	d.rows = rows
}

// isLife reports whether an event is something that happens to a process.
func isLife(e *model.Entry) bool {
	return isDeath(e) || e.Kind == model.EntryStart || e.Kind == model.EntryPause ||
		e.Kind == model.EntryResume
}

// trim leaves out rows, the least important and among those the latest first, until there are no
// more than most.
func (d *diagram) trim(most int) {
	if len(d.rows) <= most {
		return
	}
	byRank := slices.Clone(d.rows)
	slices.SortStableFunc(byRank, func(a, b row) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.e.N, b.e.N))
	})
	d.left = len(d.rows) - (most - 1)
	d.rows = byRank[:most-1]
	slices.SortFunc(d.rows, func(a, b row) int { return cmp.Compare(a.e.N, b.e.N) })
}

// choosePlaces orders the columns: the input, the processes along the flow, what is external, and
// the store.
func (d *diagram) choosePlaces() {
	used := map[place]bool{}
	for i := range d.rows {
		used[d.rows[i].from], used[d.rows[i].to] = true, true
	}
	order := []place{servicePlace(model.InputLog)}
	for i := range d.t.job.Tasks {
		order = append(order, procPlace(d.t.job.Tasks[i].Proc))
	}
	order = append(order, servicePlace(model.External), servicePlace(model.StateStore))
	for _, p := range order {
		if used[p] {
			d.places = append(d.places, p)
		}
	}
}
