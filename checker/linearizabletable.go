package checker

import (
	"fmt"

	"github.com/oncesim/oncesim/model"
)

// rowName names a row of a table: its partition, and what the rows of its shape are told apart by.
type rowName struct {
	part int64
	id   model.ID
	path model.Path
	op   int32
	key  string
}

// tables are the rows of the external system as registers. What a row holds is a record.
type tables struct {
	registers
	shape   model.SinkShape
	rows    map[rowName]int
	records map[model.Record]int32
	inFinal []bool // by register
}

// tables judges the external system as a table.
func (l *linear) tables(shape model.SinkShape, stepsMax int) model.Verdict {
	l.begin()
	t := &tables{registers: registers{left: stepsMax}, shape: shape, rows: map[rowName]int{},
		records: map[model.Record]int32{}}
	end := l.h.End.N
	for i := range l.h.Calls {
		end = max(end, l.h.Calls[i].Invoked, l.h.Calls[i].Answered)
	}
	l.each(model.External, t.add)
	for i := range l.h.Observations {
		o := &l.h.Observations[i]
		end = max(end, o.N)
		t.see(o, 0)
	}
	for i := range l.h.Final {
		o := &l.h.Final[i]
		end = max(end, o.N)
		t.inFinal[t.see(o, o.N)] = true
	}
	if l.h.End.Reason == model.Quiescent || len(l.h.Final) > 0 {
		for n := range t.ops {
			if !t.inFinal[n] {
				t.ops[n] = append(t.ops[n], registerOp{call: end, until: end, source: -1,
					rec: t.ops[n][0].rec})
			}
		}
	}
	for n := range len(t.records) + 1 {
		t.values.number(uint64(n), 0)
	}
	l.fences(model.External)
	return l.judgeRegisters(&t.registers)
}

// row is the register of a record in a partition.
func (t *tables) row(part int64, rec *model.Record) int {
	name := rowName{part: part, id: rec.ID, path: rec.Path, op: rec.Op}
	if t.shape == model.Keys {
		name = rowName{part: part, op: rec.Op, key: rec.Key}
	}
	n, ok := t.rows[name]
	if !ok {
		n = len(t.ops)
		t.rows[name] = n
		t.ops, t.inFinal = append(t.ops, nil), append(t.inFinal, false)
	}
	return n
}

// record numbers what a row holds, from 1; 0 is nothing.
func (t *tables) record(rec *model.Record) int32 {
	n, ok := t.records[*rec]
	if !ok {
		n = int32(len(t.records) + 1)
		t.records[*rec] = n
	}
	return n
}

// add takes a write, or the copy of one.
func (t *tables) add(call *model.Call, source int32, isCopy bool) {
	rec := &call.Req.Record
	op := registerOp{call: call.Invoked, until: call.Answered, source: source, rec: rec,
		isWrite: true, isVersioned: call.Req.Flags&model.Versioned != 0,
		version: call.Req.Token, outcome: call.Outcome}
	if isCopy || isOpen(call) {
		op.until = never
	}
	isEmpty := !isCopy && (call.Outcome == model.Refused ||
		call.Outcome == model.DoneBefore && !op.isVersioned)
	if call.Req.Kind != model.Write || isEmpty {
		return
	}
	op.value = t.record(rec)
	n := t.row(call.Req.Seq, rec)
	t.ops[n] = append(t.ops[n], op)
}

// see takes what a reader saw: the row held it at some time from an event on. During the run a
// reader is shown all that has changed since it looked last, and not only what a row holds by now.
func (t *tables) see(o *model.Observation, from int64) int {
	n := t.row(int64(o.Part), &o.Out)
	t.ops[n] = append(t.ops[n], registerOp{call: from, until: o.N, source: -1, rec: &o.Out,
		value: t.record(&o.Out)})
	return n
}

// reportRow reports a call to a row of a table, or what a reader saw of it, that cannot be placed.
func (l *linear) reportRow(op *registerOp) {
	observed := model.Fact{Times: -1}
	what := "nothing"
	switch {
	case op.isWrite:
		what = op.outcome.String()
	case op.value > 0:
		observed.Value, observed.HasValue, what = op.rec.Value, true, op.rec.Value.String()
	}
	l.report(op.rec, observed, fmt.Sprintf("the row of operator %d, key %q, record %d:%d: no "+
		"order of the calls explains %s at event %d", op.rec.Op, op.rec.Key, op.rec.ID.Part,
		op.rec.ID.Offset, what, op.until), op.call, op.until)
}
