package checker

import (
	"fmt"
	"slices"

	"github.com/oncesim/oncesim/model"
)

// fenceOp is a fenced request to the row of a task that was accepted, or may have been.
type fenceOp struct {
	call, until int64 // never: the outcome is unknown
	attempt     int32
	req         *model.Message
}

// fences judges what a service keeps behind fences: each knows the highest attempt that it has
// accepted a request of, and accepts none of a lower one. In the state store there is one for each
// row of a task, and one for all checkpoints and batches; in the external system one for each
// partition.
//
// What was accepted must have an order in which attempts do not go down, which is so if no request
// had been answered before one of a lower attempt was made. What was refused is left out: a service
// may refuse any request and do nothing, and a history does not say why one did. So a refusal says
// nothing of the row either, which the request may not have reached.
func (l *linear) fences(service model.ServiceID) {
	var names table
	var rows [][]fenceOp
	l.each(service, func(call *model.Call, _ int32, isCopy bool) {
		if call.Req.Flags&model.Fenced == 0 || !isCopy && call.Outcome == model.Refused {
			return
		}
		op := fenceOp{call.Invoked, call.Answered, call.Req.Attempt, &call.Req}
		if isCopy || isOpen(call) {
			op.until = never
		}
		n, fresh := names.number(behind(&call.Req))
		if fresh {
			rows = append(rows, nil)
		}
		rows[n] = append(rows[n], op)
	})
	for _, ops := range rows {
		l.fence(ops)
	}
}

// behind names the fence that a request is behind. One that is about all partitions is behind that
// of the first.
func behind(req *model.Message) (a, b uint64) {
	switch {
	case req.Kind == model.Write || req.Kind == model.WriteBatch || req.Kind == model.Read:
		return uint64(req.Seq), 1
	case req.Kind.Service() == model.External && req.Flags&model.Whole != 0:
		return 0, 1
	case req.Kind.Service() == model.External:
		return uint64(uint16(req.Channel)), 1
	case req.Kind >= model.NextCheckpoint:
		return 0, 2
	}
	return uint64(req.Token), 0
}

// fence judges one fence and reports the first request that cannot be placed.
func (l *linear) fence(ops []fenceOp) {
	var wrong, because *fenceOp
	first := firsts(ops)
	for i := range ops {
		op := &ops[i]
		if op.until == never || wrong != nil && wrong.until <= op.until {
			continue
		}
		if by := shutOut(first, op); by != nil {
			wrong, because = op, by
		}
	}
	if wrong == nil {
		return
	}
	l.report(&wrong.req.Record, model.Fact{Times: -1}, fmt.Sprintf(
		"the %s: %s of attempt %d, answered at event %d, was accepted, although one "+
			"of attempt %d had been answered before", fenced(wrong.req), wrong.req.Kind,
		wrong.attempt, wrong.until, because.attempt),
		wrong.call, wrong.until, because.call, because.until)
}

// fenced names what a request is about that is behind a fence.
func fenced(req *model.Message) string {
	switch a, b := behind(req); b {
	case 1:
		return fmt.Sprintf("external system, partition %d", a)
	case 2:
		return "checkpoint store"
	}
	return fmt.Sprintf("row of task %d", req.Token)
}

// firsts lists of each attempt the request that was answered first.
func firsts(ops []fenceOp) []fenceOp {
	var list []fenceOp
	for i := range ops {
		at := slices.IndexFunc(list, func(o fenceOp) bool { return o.attempt == ops[i].attempt })
		switch {
		case at < 0:
			list = append(list, ops[i])
		case ops[i].until < list[at].until:
			list[at] = ops[i]
		}
	}
	return list
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
