package checker

import (
	"fmt"

	"github.com/oncesim/oncesim/model"
)

// fenceOp is a fenced request to the row of a task that was accepted, or may have been.
type fenceOp struct {
	call, until int64 // never: the outcome is unknown
	attempt     int32
	req         *model.Message
}

// fences judges the rows of tasks as fenced stores: a row knows the highest attempt that it has
// accepted a request of, and accepts none of a lower one.
//
// What was accepted must have an order in which attempts do not go down, which is so if no request
// had been answered before one of a lower attempt was made. What was refused is left out: a service
// may refuse any request and do nothing, and a history does not say why one did. So a refusal says
// nothing of the row either, which the request may not have reached.
func (l *linear) fences() {
	var names table
	var rows [][]fenceOp
	l.each(model.StateStore, func(call *model.Call, _ int32, isCopy bool) {
		if call.Req.Flags&model.Fenced == 0 || !isCopy && call.Outcome == model.Refused {
			return
		}
		op := fenceOp{call.Invoked, call.Answered, call.Req.Attempt, &call.Req}
		if isCopy || isOpen(call) {
			op.until = never
		}
		n, fresh := names.number(uint64(call.Req.Token), 0)
		if fresh {
			rows = append(rows, nil)
		}
		rows[n] = append(rows[n], op)
	})
	for _, ops := range rows {
		l.fence(ops)
	}
}

// fence judges one row and reports the first request that cannot be placed.
func (l *linear) fence(ops []fenceOp) {
	var wrong, because *fenceOp
	for i := range ops {
		op := &ops[i]
		if op.until == never || wrong != nil && wrong.until <= op.until {
			continue
		}
		if by := shutOut(ops, op); by != nil {
			wrong, because = op, by
		}
	}
	if wrong == nil {
		return
	}
	l.report(&wrong.req.Record, model.Fact{Times: -1}, fmt.Sprintf(
		"the row of task %d: %s of attempt %d, answered at event %d, was accepted, although one "+
			"of attempt %d had been answered before", wrong.req.Token, wrong.req.Kind,
		wrong.attempt, wrong.until, because.attempt),
		wrong.call, wrong.until, because.call, because.until)
}

// shutOut is a request of a higher attempt that had been accepted when one was made, or nil.
func shutOut(ops []fenceOp, op *fenceOp) *fenceOp {
	for i := range ops {
		if by := &ops[i]; by.attempt > op.attempt && by.until < op.call {
			return by
		}
	}
	return nil
}
