package report

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/oncesim/oncesim/model"
)

// calls are the calls of a run as operations on objects, for the page. They are gathered anew from
// the history, and what is allowed of an object is said anew as well: the page shows what happened,
// and that it agrees with the verdict beside it is a test.
type calls struct {
	c       *Case
	h       *model.History
	objects []*object
	index   map[string]*object
	texts   map[string]int32 // numbers of values and records; 0 is what a register holds first
	ops     []*operation
	end     int64 // after everything
}

// object is a register or a log.
type object struct {
	number int
	name   string
	isLog  bool
	known  map[int64]int32 // log: what somebody saw or was told to be at a place
	left   int             // steps of the search
}

// operation is one call as the page shows it. An open one ends after everything.
type operation struct {
	on          *object
	proc        model.ProcID // that of the reader comes behind the last task
	lane        int
	from, until int64
	isOpen      bool
	isWrite     bool
	place       int64   // log: where it wrote or from where it read; -1: nobody knows
	isWhole     bool    // log: the read went on to the end
	what        []int32 // the value, or the records
	text        string
}

func newCalls(c *Case, stepsMax int) *calls {
	s := &c.Result.Subject
	k := &calls{c: c, h: s.History, index: map[string]*object{}, texts: map[string]int32{},
		end: s.History.End.N + 1}
	for i := range k.h.Calls {
		k.call(&k.h.Calls[i], false)
	}
	for i := range k.h.Servings {
		if v := &k.h.Servings[i]; v.Copy && v.Ans.Outcome == model.Done {
			k.call(&k.h.Calls[v.Call], true)
		}
	}
	if k.hasLogs() {
		k.observations()
	}
	k.ops = slices.DeleteFunc(k.ops, k.isIdle)
	slices.SortStableFunc(k.ops, func(a, b *operation) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.until, b.until))
	})
	k.spread()
	for _, o := range k.objects {
		o.left = stepsMax
	}
	return k
}

func (k *calls) object(name string, isLog bool) *object {
	o := k.index[name]
	if o == nil {
		o = &object{number: len(k.objects), name: name, isLog: isLog, known: map[int64]int32{}}
		k.index[name] = o
		k.objects = append(k.objects, o)
	}
	return o
}

// number is the number of a text.
func (k *calls) number(text string) int32 {
	n, ok := k.texts[text]
	if !ok {
		n = int32(len(k.texts) + 1)
		k.texts[text] = n
	}
	return n
}

// call takes a call, or the second copy of one.
func (k *calls) call(call *model.Call, isCopy bool) {
	isOpen := isCopy || call.Answered == 0 || call.Outcome == model.Unknown ||
		call.Outcome == model.Pending
	isSeen := !isOpen && (call.Outcome == model.Done || call.Outcome == model.DoneBefore)
	op := operation{proc: call.Proc, from: call.Invoked, until: call.Answered, isOpen: isOpen,
		place: -1}
	if isOpen {
		op.until = k.end
	}
	if !isOpen && !isSeen {
		return // refused: it did nothing
	}
	switch {
	case call.Service == model.External && k.hasLogs():
		k.logCall(op, call)
	case call.Req.Kind == model.Completion || call.Req.Kind == model.Newest:
		k.pointerCall(op, call)
	case call.Service != model.External:
		k.registerCall(op, call)
	}
}

// hasLogs reports whether the partitions of the sink are logs whose entries readers see in the
// order of their places, and all of them. A log with transactions is none.
func (k *calls) hasLogs() bool {
	return k.c.Result.Subject.Shape == model.Log &&
		!slices.ContainsFunc(k.h.Calls, func(c model.Call) bool { return isTxnKind(c.Req.Kind) })
}

// pointerCall takes a call about the completed checkpoint.
func (k *calls) pointerCall(op operation, call *model.Call) {
	op.isWrite = call.Req.Kind == model.Completion
	value := call.Ans.Seq
	switch {
	case op.isWrite && call.Outcome == model.DoneBefore:
		return
	case op.isWrite:
		value = call.Req.Seq
	case op.isOpen || call.Req.N != 0: // what was completed before it is no register
		return
	}
	op.on, op.what = k.object("completed checkpoint", false), []int32{0}
	if value != 0 {
		op.what[0] = k.number(fmt.Sprint(value))
	}
	op.text = fmt.Sprintf("%s: %d", call.Req.Kind, value)
	k.ops = append(k.ops, &op)
}

func (k *calls) registerCall(op operation, call *model.Call) {
	req := &call.Req
	rec := &req.Record
	value, found := call.Ans.Value, call.Ans.Found
	switch req.Kind {
	case model.Put:
		value, found, op.isWrite = rec.Value, true, true
	case model.OffsetCommit:
		value, found, op.isWrite = model.Value{Num: req.Seq}, true, true
	case model.Position:
		value, found = model.Value{Num: call.Ans.Seq}, true
	case model.Get:
	default:
		return
	}
	if !op.isWrite && op.isOpen || op.isWrite && call.Outcome == model.DoneBefore && !op.isOpen {
		return
	}
	name, text := fmt.Sprintf("%s %q", k.operator(rec.Op), rec.Key), "nothing"
	if found {
		text = value.String()
	}
	if call.Service == model.InputLog {
		name = k.c.Scenario.Topology.PartitionName(rec.ID.Part)
		found = found && value.Num != 0
	}
	op.on = k.object(name, false)
	op.what = []int32{0}
	if found {
		op.what[0] = k.number(text)
	}
	op.text = fmt.Sprintf("%s %s: %s", req.Kind, name, text)
	k.ops = append(k.ops, &op)
}

func (k *calls) logCall(op operation, call *model.Call) {
	part := call.Req.Seq
	switch {
	case call.Req.Kind == model.Write && op.isOpen:
		op.isWrite = true
		k.entry(op, part, -1, &call.Req.Record, "write")
	case call.Req.Kind == model.Write:
		op.isWrite = call.Outcome == model.Done
		k.entry(op, part, call.Ans.Seq, &call.Req.Record, "write")
	case call.Req.Kind == model.WriteBatch:
		op.isWrite = op.isOpen || call.Outcome == model.Done
		for i := range call.Req.Parts {
			place := int64(-1)
			if !op.isOpen {
				place = call.Ans.Seq + int64(i)
			}
			k.entry(op, part, place, &call.Req.Parts[i], "write in a batch")
		}
	case call.Req.Kind == model.Read && !op.isOpen:
		op.place = call.Req.Cursor
		k.whole(op, part, call.Ans.Records)
	}
}

// entry takes an operation on one place of a log.
func (k *calls) entry(op operation, part, place int64, rec *model.Record, verb string) {
	text := k.record(rec)
	op.on, op.place, op.what = k.log(part), place, []int32{k.number(text)}
	op.text = fmt.Sprintf("%s partition %d: %s", verb, part, text)
	if place >= 0 {
		op.text += fmt.Sprintf(" at %d", place)
		op.on.known[place] = op.what[0]
	}
	k.ops = append(k.ops, &op)
}

func (k *calls) log(part int64) *object {
	return k.object(fmt.Sprintf("log of partition %d", part), true)
}

// record is the text of a record: its identity, key and value.
func (k *calls) record(rec *model.Record) string {
	name := fmt.Sprintf("%+v", rec.ID)
	if k.c.Result.Subject.Input.Has(rec.ID) {
		name = k.c.recordName(rec.ID)
	}
	text := fmt.Sprintf("%s %s %s = %s", name, k.operator(rec.Op), rec.Key, rec.Value)
	if rec.Path != 0 {
		text += fmt.Sprintf(" (path %x)", uint64(rec.Path))
	}
	return text
}

func (k *calls) operator(op int32) string {
	if op < 1 || int(op) > len(k.c.Scenario.Topology.Stages) {
		return "?"
	}
	return k.c.Scenario.Topology.Stages[op-1].Name
}

// whole takes a read of a log from a place to its end.
func (k *calls) whole(op operation, part int64, records []model.Record) {
	op.on, op.isWhole = k.log(part), true
	for i := range records {
		what := k.number(k.record(&records[i]))
		op.what = append(op.what, what)
		op.on.known[op.place+int64(i)] = what
	}
	op.text = fmt.Sprintf("read partition %d: %d entries from %d on", part, len(records), op.place)
	k.ops = append(k.ops, &op)
}

// observations takes what readers saw, and what one sees that starts over in the end.
func (k *calls) observations() {
	reader := model.ProcID(len(k.c.Result.Subject.Job.Tasks))
	for i := range k.h.Observations {
		o := &k.h.Observations[i]
		k.entry(operation{proc: reader, from: o.N, until: o.N}, int64(o.Part), o.Seq, &o.Out, "see")
	}
	if k.h.End.Reason != model.Quiescent {
		return
	}
	for part := range k.c.Result.Subject.Job.SinkPart {
		op := operation{proc: reader, from: k.h.End.N, until: k.h.End.N}
		var records []model.Record
		for i := range k.h.Final {
			if o := &k.h.Final[i]; int(o.Part) == part {
				if len(records) == 0 {
					op.from = o.N
				}
				op.until = o.N
				records = append(records, o.Out)
			}
		}
		k.whole(op, int64(part), records)
	}
}

// isIdle reports whether an operation can be left out: a write to a register of unknown outcome
// whose value nobody read.
func (k *calls) isIdle(op *operation) bool {
	return op.isOpen && op.isWrite && !op.on.isLog &&
		!slices.ContainsFunc(k.ops, func(other *operation) bool {
			return other.on == op.on && !other.isWrite && other.what[0] == op.what[0]
		})
}

// spread gives operations of one process that overlap lanes of their own. Lanes are numbered in the
// order of the processes.
func (k *calls) spread() {
	type lane struct {
		proc  model.ProcID
		until int64
		ops   []*operation
	}
	var lanes []*lane
	for _, op := range k.ops {
		i := slices.IndexFunc(lanes, func(l *lane) bool {
			return l.proc == op.proc && l.until < op.from
		})
		if i < 0 {
			i = len(lanes)
			lanes = append(lanes, &lane{proc: op.proc})
		}
		lanes[i].until = op.until
		lanes[i].ops = append(lanes[i].ops, op)
	}
	slices.SortStableFunc(lanes, func(a, b *lane) int { return cmp.Compare(a.proc, b.proc) })
	for i, l := range lanes {
		for _, op := range l.ops {
			op.lane = i
		}
	}
}
