package checker

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/oncesim/oncesim/model"
)

// step is what an operation on a register does that depends on what it holds.
type step uint8

const (
	noStep   step = iota
	swap          // to value, where it holds what is expected
	begin         // the next transaction: it is undecided then
	beginAs       // the same, if its epoch is the version
	decide        // the transaction of the epoch that is its version, to value, if it is undecided
	stays         // nothing: it is undecided
	takeOver      // the next epoch, as of a transaction that is aborted
)

// What becomes of a transaction, as values of a register; 0: it is undecided.
const (
	toCommit int32 = 1
	toAbort  int32 = 2
)

// noEpoch is the version before the first transaction of an id; epoch e has version noEpoch+e.
const noEpoch = math.MinInt64

// takeStep is take for an operation with a step. An open one may have been refused.
func (op *registerOp) takeStep(held registerState, isOpen bool) (registerState, bool) {
	after, found := held, model.Stale
	switch op.step {
	case swap:
		switch held.value {
		case op.value:
			found = model.DoneBefore
		case op.expected:
			after.value, found = op.value, model.Done
		default:
			if held.value != op.heard {
				found = model.Refused // it is told what is there
			}
		}
	case begin, beginAs:
		after, found = op.takeBegin(held)
		isOpen = isOpen || found == model.DoneBefore && op.outcome == model.Stale // of another
	case takeOver:
		after, found = op.takeID(held)
	case decide:
		if isIts := op.isOf(held); isIts && held.value == 0 && !op.isEarly {
			after.value, found = op.value, model.Done
		} else if isIts && held.value == op.value {
			found = model.DoneBefore
		}
	case stays:
		if op.isOf(held) && held.value == 0 {
			found = op.outcome
		}
	}
	return after, isOpen || found == op.outcome
}

// isOf reports whether a request is about the transaction that is the latest of its id.
func (op *registerOp) isOf(held registerState) bool {
	return held.version > noEpoch && (op.version == noEpoch || op.version == held.version)
}

// takeBegin begins a transaction. One that names its epoch is told where that is not the next.
func (op *registerOp) takeBegin(held registerState) (registerState, model.Outcome) {
	next := registerState{0, held.version + 1}
	switch {
	case op.version == next.version, op.version == noEpoch:
		return next, model.Done
	case op.step == begin:
		return held, model.Refused // it is told of another epoch than the next
	case op.version == held.version && held.value == 0:
		return held, model.DoneBefore
	}
	return held, model.Stale
}

// takeID takes an id over, unless the attempt that asks has done so before.
func (op *registerOp) takeID(held registerState) (registerState, model.Outcome) {
	next := registerState{toAbort, held.version + 1}
	switch {
	case op.outcome == model.DoneBefore && op.version == held.version && held.version > noEpoch:
		return held, model.DoneBefore
	case op.outcome != model.DoneBefore && (op.version == next.version || op.version == noEpoch):
		return next, model.Done
	}
	return held, model.Refused // it is told of another epoch
}

// addPointer takes a request about the completed checkpoint. It is a register that completions
// swap; 0 is what it holds first. What was completed before that is not looked at.
func (r *registers) addPointer(call *model.Call, op registerOp, isCopy bool) {
	switch {
	case !isCopy && call.Outcome == model.Refused:
		return
	case call.Req.Kind == model.Newest && (call.Req.N != 0 || op.until == never):
		return
	case call.Req.Kind == model.Newest:
		op.value = r.value(call.Ans.Seq != 0, model.Value{Num: call.Ans.Seq})
	default:
		op.step, op.isWrite, op.outcome = swap, true, call.Outcome
		op.value = r.value(true, model.Value{Num: call.Req.Seq})
		op.heard = r.value(call.Ans.Seq != 0, model.Value{Num: call.Ans.Seq})
		op.expected = r.value(call.Req.Cursor != 0, model.Value{Num: call.Req.Cursor})
	}
	r.enter(math.MaxUint64, 0, op)
}

// enter adds an operation to a register.
func (r *registers) enter(a, b uint64, op registerOp) {
	n, fresh := r.names.number(a, b)
	if fresh {
		r.ops = append(r.ops, nil)
	}
	r.ops[n] = append(r.ops[n], op)
}

// decisions judges a transactional log by what becomes of its transactions: each transactional id
// is a register that is undecided with each begin, and then decided once.
func (l *linear) decisions(stepsMax int) model.Verdict {
	l.begin()
	r := &registers{left: stepsMax}
	r.value(false, model.Value{})
	l.each(model.External, r.addDecision)
	l.findEarly(r)
	l.each(model.External, func(call *model.Call, source int32, _ bool) {
		if call.Req.Kind == model.CommitTxn && call.Req.Flags&model.Whole != 0 &&
			call.Outcome != model.Refused && l.mayBeDecided(call) {
			r.mayDecide(toCommit, call.Invoked, source)
			r.mayDecide(toAbort, call.Invoked, source)
		}
	})
	l.addTimeouts(r)
	l.fences(model.External)
	return l.judgeRegisters(r)
}

// findEarly finds the commits that were answered before the completed checkpoint can have become
// the one that they name, or a later one.
func (l *linear) findEarly(r *registers) {
	for n := range r.ops {
		for i := range r.ops[n] {
			op := &r.ops[n][i]
			op.isEarly = op.step == decide && op.value == toCommit &&
				!l.mayBeDecided(&l.h.Calls[op.source])
		}
	}
}

// mayBeDecided reports whether a completion of the checkpoint that a commit names, or of a later
// one, may have taken effect before the commit was answered.
func (l *linear) mayBeDecided(commit *model.Call) bool {
	if !l.hasDecisions || commit.Req.Seq == 0 {
		return true
	}
	return slices.ContainsFunc(l.calls[model.StateStore], func(i int32) bool {
		call := &l.h.Calls[i]
		isInTime := isOpen(commit) || call.Invoked < commit.Answered
		return isInTime && call.Req.Kind == model.Completion && call.Req.Seq >= commit.Req.Seq &&
			(isOpen(call) || isKnown(call))
	})
}

// addDecision takes a request about a transaction, or the copy of one.
func (r *registers) addDecision(call *model.Call, source int32, isCopy bool) {
	req := &call.Req
	op := registerOp{call: call.Invoked, until: call.Answered, source: source, rec: &req.Record,
		isWrite: true, version: noEpoch + req.N, outcome: call.Outcome}
	part := uint64(uint16(req.Channel))
	switch {
	case req.Kind == model.InitTxn:
		op.step, op.version = takeOver, noEpoch+call.Ans.Seq
		if call.Ans.Seq < 1 {
			op.version = math.MaxInt64 // no epoch: it cannot have been told so
		}
	case req.Kind == model.BeginTxn:
		op.step, op.version = begin, noEpoch+call.Ans.Seq
		switch {
		case req.N != 0:
			op.step, op.version = beginAs, noEpoch+req.N
		case call.Ans.Seq < 1:
			op.version = math.MaxInt64 // no epoch: it cannot have been told so
		}
	case req.Kind == model.CommitTxn && req.Flags&model.Whole == 0:
		op.step, op.value = decide, toCommit
	case req.Kind == model.AbortTxn:
		op.step, op.value = decide, toAbort
	case req.Kind == model.PrepareTxn:
		op.step = stays
	case req.Kind == model.Write && req.Token != 0:
		op.step, part = stays, uint64(uint16(req.Seq))
	default:
		return
	}
	if isCopy || isOpen(call) {
		op.until = never
		if op.step == begin || op.step == takeOver {
			op.version = noEpoch
		}
	}
	isTold := op.until != never && call.Outcome != model.Stale // of a write it may be its number
	if !isCopy && call.Outcome == model.Refused || op.step == stays && !isTold {
		return
	}
	r.enter(part, uint64(req.Token), op)
}

// mayDecide has all transactions be decided from an event on, or not.
func (r *registers) mayDecide(value int32, from int64, source int32) {
	for n := range r.ops {
		r.ops[n] = append(r.ops[n], registerOp{call: from, until: never, source: source,
			rec: r.ops[n][0].rec, isWrite: true, step: decide, value: value, version: noEpoch})
	}
}

// addTimeouts has transactions be aborted once their time is over. The last event that is known not
// to be later is when that can begin.
func (l *linear) addTimeouts(r *registers) {
	for i := range l.h.Servings {
		s := &l.h.Servings[i]
		call := &l.h.Calls[s.Call]
		due := s.At + call.Req.Cursor
		isBegun := call.Req.Kind == model.BeginTxn && isApplied(&s.Ans)
		if !isBegun || call.Req.Cursor == 0 || due >= l.h.End.At {
			continue
		}
		after := sort.Search(len(l.h.Servings), func(k int) bool {
			return l.h.Servings[k].At > due
		})
		n := r.names.find(uint64(uint16(call.Req.Channel)), uint64(call.Req.Token))
		if n >= 0 {
			r.ops[n] = append(r.ops[n], registerOp{call: l.h.Servings[after-1].N, until: never,
				source: s.Call, rec: &call.Req.Record, isWrite: true, step: decide,
				value: toAbort, version: noEpoch + s.Ans.Seq})
		}
	}
}

// reportStep reports a request about the completed checkpoint, or about a transaction, that cannot
// be placed.
func (l *linear) reportStep(op *registerOp) {
	call := &l.h.Calls[op.source]
	req := &call.Req
	object, rec := "the completed checkpoint", ofCheckpoint(req.Seq)
	if call.Service == model.External {
		part := int32(req.Channel)
		if req.Kind == model.Write {
			part = int32(req.Seq)
		}
		rec = model.Record{ID: model.ID{Part: part, Offset: req.Token}}
		object = fmt.Sprintf("transaction %d of partition %d", req.Token, part)
	}
	l.report(&rec, model.Fact{Times: -1}, fmt.Sprintf("%s: no order of the calls explains that %s "+
		"was answered %s at event %d", object, req.Kind, call.Outcome, call.Answered),
		call.Invoked, call.Answered)
}
