package checker

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/anishathalye/porcupine"

	"github.com/oncesim/oncesim/model"
)

// registerOp is one call to a register.
type registerOp struct {
	call    int64         // from here
	until   int64         // to here; never: the outcome is unknown
	source  int32         // index in Calls; -1: a reader saw it
	rec     *model.Record // what it is about
	value   int32         // written or read
	version int64         // written, if isVersioned
	isWrite bool

	isVersioned bool
	outcome     model.Outcome // isVersioned, and with a step
	step        step
	expected    int32 // swap: it changes nothing else
	heard       int32 // swap: what it was told is there instead
	isEarly     bool  // decide: when it was answered nobody had decided that yet
}

// registerState is what a register holds.
type registerState struct {
	value   int32
	version int64
}

// take applies an operation; it reports whether the answer that is known by event until is right. A
// versioned write changes a register that holds an older version, and is told what it has found.
func (op *registerOp) take(held registerState, until int64) (registerState, bool) {
	switch {
	case op.step != noStep:
		return op.takeStep(held, op.until > until || op.until == never)
	case !op.isWrite:
		return held, op.value == held.value
	case !op.isVersioned:
		return registerState{op.value, held.version}, true
	}
	found, after := model.Done, registerState{op.value, op.version}
	switch cmp.Compare(op.version, held.version) {
	case 0:
		found, after = model.DoneBefore, held
	case -1:
		found, after = model.Stale, held
	}
	isOpen := op.until > until || op.until == never
	return after, isOpen || op.outcome == found
}

// never ends the interval of an operation without an answer.
const never = math.MaxInt64

// linearBits bounds the memory of one search: it keeps a set of calls, one bit a call, for each
// step that it takes.
const linearBits int64 = 1 << 31

// registers is a family of registers whose values have numbers. Value 0 is what each holds first.
type registers struct {
	names   table // of the registers
	keys    texts
	values  table
	strings texts
	ops     [][]registerOp // by register
	isRead  []bool         // by value, scratch
	left    int            // steps
	isSpent bool           // some search wanted more
}

// registers judges the committed offsets, or the state store.
func (l *linear) registers(service model.ServiceID, stepsMax int) model.Verdict {
	l.begin()
	r := &registers{left: stepsMax}
	r.value(service == model.InputLog, model.Value{})
	l.each(service, r.add)
	if service == model.StateStore {
		l.fences(model.StateStore)
	}
	return l.judgeRegisters(r)
}

// each hands out all calls to a service, and the copies of those that were doubled.
func (l *linear) each(service model.ServiceID, use func(call *model.Call, i int32, isCopy bool)) {
	if service < model.External {
		for _, i := range l.calls[service] {
			use(&l.h.Calls[i], i, false)
		}
	} else {
		for i := range l.h.Calls {
			if call := &l.h.Calls[i]; call.Service == service {
				use(call, int32(i), false)
			}
		}
	}
	for i := range l.h.Servings {
		s := &l.h.Servings[i]
		if call := &l.h.Calls[s.Call]; s.Copy && call.Service == service && isApplied(&s.Ans) {
			use(call, s.Call, true)
		}
	}
}

// judgeRegisters searches an order for each register and ends the verdict.
func (l *linear) judgeRegisters(r *registers) model.Verdict {
	r.isRead = make([]bool, r.values.len())
	for _, ops := range r.ops {
		if r.search(ops, never) == model.Violated {
			l.reportCall(r.locate(ops))
		}
	}
	if r.isSpent {
		return l.conclude(reasonLinearSteps)
	}
	return l.conclude("")
}

// value numbers a value that was found, or its absence.
func (r *registers) value(found bool, v model.Value) int32 {
	if !found {
		n, _ := r.values.number(math.MaxUint64, 0)
		return n
	}
	n, _ := r.values.number(uint64(r.strings.number(v.Text)), uint64(v.Num))
	return n
}

// add takes a call, or the copy of one, as an operation of its register.
func (r *registers) add(call *model.Call, source int32, isCopy bool) {
	rec := &call.Req.Record
	op := registerOp{call: call.Invoked, until: call.Answered, source: source, rec: rec}
	if isCopy || isOpen(call) {
		op.until = never
	}
	a, b := uint64(uint32(rec.ID.Part)), uint64(0)
	switch call.Req.Kind {
	case model.Position:
		op.value = r.value(true, model.Value{Num: call.Ans.Seq})
	case model.OffsetCommit:
		op.value, op.isWrite = r.value(true, model.Value{Num: call.Req.Seq}), true
	case model.Get:
		op.value = r.value(call.Ans.Found, call.Ans.Value)
	case model.Put, model.Update:
		if !setsState(&call.Req) {
			return
		}
		op.value, op.isWrite = r.value(true, rec.Value), true
	case model.Completion, model.Newest:
		r.addPointer(call, op, isCopy)
		return
	default:
		return
	}
	isEmpty := !isCopy && (call.Outcome == model.Refused ||
		op.isWrite && call.Outcome == model.DoneBefore)
	if isEmpty || !op.isWrite && op.until == never {
		return
	}
	if call.Service == model.StateStore {
		a, b = uint64(uint32(rec.Op)), uint64(r.keys.number(rec.Key))
	}
	n, fresh := r.names.number(a, b)
	if fresh {
		r.ops = append(r.ops, nil)
	}
	r.ops[n] = append(r.ops[n], op)
}

// moment is an end of the interval of an operation.
type moment struct {
	at       int64
	op       int32
	isReturn bool
}

func (m moment) compare(other moment) int {
	if m.at == other.at && m.isReturn != other.isReturn {
		if m.isReturn {
			return 1 // intervals are closed: what touches overlaps
		}
		return -1
	}
	return cmp.Or(cmp.Compare(m.at, other.at), cmp.Compare(m.op, other.op))
}

// search looks for an order of the operations that explains all answers up to an event. It spends
// steps.
func (r *registers) search(ops []registerOp, until int64) model.Result {
	moments := r.moments(ops, until)
	if len(moments) == 0 {
		return model.Holds
	}
	slices.SortFunc(moments, moment.compare)
	events := make([]porcupine.Event, len(moments))
	for i, m := range moments {
		events[i] = porcupine.Event{Kind: porcupine.EventKind(m.isReturn), Id: int(m.op),
			Value: &ops[m.op]}
	}
	limit, steps := int(min(int64(r.left), linearBits/int64(len(moments)/2))), 0
	isSpent := false
	spec := porcupine.Model{
		Init: func() any { return registerState{0, math.MinInt64} },
		Step: func(state, input, _ any) (bool, any) {
			if steps >= limit {
				isSpent = true
				return false, state
			}
			steps++
			after, isRight := input.(*registerOp).take(state.(registerState), until)
			return isRight, after
		},
		Hash: func(state any) uint64 {
			held := state.(registerState)
			return model.Mix(uint64(held.value)^hashA, uint64(held.version)^hashB)
		},
	}
	holds := porcupine.CheckEvents(spec, events)
	r.left -= steps
	switch {
	case holds:
		return model.Holds
	case isSpent:
		r.isSpent = true
		return model.Undecided
	}
	return model.Violated
}

// moments lists the ends of the operations that matter up to an event. What has no answer by then
// is a write that may have happened, or a read of nothing.
//
// Such a write is left out if nobody read its value: no read follows it but those behind the next
// write. That is not so where writes have versions or conditions: an unread one may be what another
// one is told of.
func (r *registers) moments(ops []registerOp, until int64) []moment {
	if slices.ContainsFunc(ops, isConditional) {
		return appendMoments(nil, ops, until, func(*registerOp) bool { return true })
	}
	for i := range ops {
		op := &ops[i]
		r.isRead[op.value] = r.isRead[op.value] || !op.isWrite && op.until <= until
	}
	list := appendMoments(make([]moment, 0, 2*len(ops)), ops, until, func(op *registerOp) bool {
		return r.isRead[op.value]
	})
	for i := range ops {
		r.isRead[ops[i].value] = false
	}
	return list
}

// appendMoments appends the ends of the operations that have an answer by an event, and of the
// other writes begun by then that count.
func appendMoments(list []moment, ops []registerOp, until int64,
	counts func(*registerOp) bool) []moment {

	for i := range ops {
		op := &ops[i]
		end := op.until
		if end > until {
			end = never
		}
		if end != never || op.isWrite && op.call <= until && counts(op) {
			list = append(list, moment{op.call, int32(i), false}, moment{end, int32(i), true})
		}
	}
	return list
}

// isConditional reports whether what an operation does depends on what the register holds.
func isConditional(op registerOp) bool { return op.isVersioned || op.step != noStep }

// locate finds the call to a register that is not linearizable whose answer is the first that
// cannot be explained beside those before it. It is a read, or a write with a condition: any other
// write that has just been answered can always come last.
func (r *registers) locate(ops []registerOp) *registerOp {
	var answered []*registerOp
	for i := range ops {
		if !ops[i].isWrite || isConditional(ops[i]) && ops[i].until != never {
			answered = append(answered, &ops[i])
		}
	}
	slices.SortStableFunc(answered, func(a, b *registerOp) int {
		return cmp.Compare(a.until, b.until)
	})
	low, high := 0, len(answered)-1 // the first that fails is among these, and high fails
	isSpent := r.isSpent
	for low < high {
		middle := (low + high) / 2
		switch r.search(ops, answered[middle].until) {
		case model.Holds:
			low = middle + 1
		case model.Violated:
			high = middle
		default:
			low = high
		}
	}
	r.isSpent = isSpent
	return answered[high]
}

// reportCall reports a call to a register that cannot be placed.
func (l *linear) reportCall(op *registerOp) {
	switch {
	case op.step != noStep,
		op.source >= 0 && l.h.Calls[op.source].Req.Kind == model.Newest:
		l.reportStep(op)
		return
	case op.source < 0, l.h.Calls[op.source].Service == model.External:
		l.reportRow(op)
		return
	}
	call := &l.h.Calls[op.source]
	rec := &call.Req.Record
	object := fmt.Sprintf("the state of operator %d under %q", rec.Op, rec.Key)
	value, found := call.Ans.Value, call.Ans.Found
	if call.Service == model.InputLog {
		object = fmt.Sprintf("the committed offset of partition %d", rec.ID.Part)
		value, found = model.Value{Num: call.Ans.Seq}, true
	}
	observed, what := model.Fact{Times: -1}, "nothing"
	if found {
		observed.Value, observed.HasValue, what = value, true, value.String()
	}
	l.report(rec, observed, fmt.Sprintf("%s: no order of the calls explains the answer %s at "+
		"event %d", object, what, call.Answered), call.Invoked, call.Answered)
}
