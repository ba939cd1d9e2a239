package report

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/oncesim/oncesim/faults"
	"github.com/oncesim/oncesim/model"
)

// Difference tells where two traces of one scenario part: the first event that differs, as it is
// on either side and with its cause. It is empty where all events are the same.
func Difference(job *model.Job, a, b []model.Entry) string {
	d := firstDifference(a, b)
	if d == nil {
		return ""
	}
	w := &writer{}
	for side, name := range [...]string{"one", "other"} {
		e := d.Sides[side]
		if e == nil {
			w.line("%-5s  has ended before", name)
			continue
		}
		w.line("%-5s  %s", name, entryLine(job, e))
		if cause := d.Causes[side]; cause != nil {
			w.line("       because of %s", entryLine(job, cause))
		}
	}
	if len(d.Fields) > 0 {
		w.line("they differ in %s", strings.Join(d.Fields, ", "))
	}
	return w.String()
}

// entryLine is an event on one line, with all that can tell it from another.
func entryLine(job *model.Job, e *model.Entry) string {
	var b strings.Builder
	fmt.Fprintf(&b, "event %d at %s: %s", e.N, faults.FormatDuration(e.At), e.Kind)
	word := func(format string, args ...any) { fmt.Fprintf(&b, " "+format, args...) }
	if e.Proc != model.Nobody {
		word("%s attempt %d", job.Tasks[e.Proc].Name, e.Attempt)
	}
	if e.To != model.Nobody {
		word("to %s", job.Tasks[e.To].Name)
	}
	if e.Service != model.Nobody {
		word("at %s", model.ServiceNames[e.Service])
	}
	if m := &e.Msg; m.Kind != model.NoKind || e.Kind == model.EntryApply ||
		e.Kind == model.EntryObserve {
		rec := &m.Record
		word("%s %s op %d %q = %s seq %d", m.Kind, job.Topology.RecordName(rec.ID), rec.Op,
			rec.Key, rec.Value, m.Seq)
	}
	if e.Service != model.Nobody && e.Outcome != model.Pending {
		word("%s", e.Outcome)
	}
	if e.Detail != "" {
		word("(%s)", e.Detail)
	}
	return b.String()
}

// difference is the first event in which two traces of one scenario differ. A run is a function of
// its scenario: where there is a difference, something that the run does not own has decided it.
type difference struct {
	Sides  [2]*model.Entry // nil: that trace has ended
	Causes [2]*model.Entry // the event that brought it about, in its own trace, or nil
	Fields []string        // in which the two differ: "Msg.Record.Value.Num"
}

// firstDifference compares two traces event by event; nil: they are the same. Each must be of
// another world, or the world's second run would have overwritten what the first trace refers to.
func firstDifference(a, b []model.Entry) *difference {
	for i := range max(len(a), len(b)) {
		d := &difference{Sides: [2]*model.Entry{entryAt(a, int64(i+1)), entryAt(b, int64(i+1))}}
		if d.Sides[0] != nil && d.Sides[1] != nil {
			d.compare("", reflect.ValueOf(*d.Sides[0]), reflect.ValueOf(*d.Sides[1]))
			if len(d.Fields) == 0 {
				continue
			}
		}
		for side, trace := range [2][]model.Entry{a, b} {
			if e := d.Sides[side]; e != nil {
				d.Causes[side] = entryAt(trace, e.Cause)
			}
		}
		return d
	}
	return nil
}

// entryAt is event n of a trace, or nil.
func entryAt(trace []model.Entry, n int64) *model.Entry {
	if n < 1 || n > int64(len(trace)) {
		return nil
	}
	return &trace[n-1]
}

// compare collects the fields in which two values differ. A list without elements is as good as
// none.
func (d *difference) compare(name string, a, b reflect.Value) {
	switch a.Kind() {
	case reflect.Struct:
		for i := range a.NumField() {
			field := a.Type().Field(i).Name
			if name != "" {
				field = name + "." + field
			}
			d.compare(field, a.Field(i), b.Field(i))
		}
	case reflect.Slice:
		if a.Len() == 0 && b.Len() == 0 {
			return
		}
		if !reflect.DeepEqual(a.Interface(), b.Interface()) {
			d.Fields = append(d.Fields, name)
		}
	default:
		if !a.Equal(b) {
			d.Fields = append(d.Fields, name)
		}
	}
}
