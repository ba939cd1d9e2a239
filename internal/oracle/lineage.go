package oracle

import (
	"strings"

	"github.com/oncesim/oncesim/model"
)

// ident is the identity of a record.
type ident struct {
	part   int32
	offset int64
	path   model.Path
	op     int32
}

func identOf(rec *model.Record) ident {
	return ident{rec.ID.Part, rec.ID.Offset, rec.Path, rec.Op}
}

// step is the identity of an input as state requests carry it: they name the operator whose state
// it is, not the one that emitted the input.
type step struct {
	part   int32
	offset int64
	path   model.Path
}

func stepOf(rec *model.Record) step { return step{rec.ID.Part, rec.ID.Offset, rec.Path} }

// inputOf is the identity of an input of an operator.
func inputOf(in step, op int32) ident { return ident{in.part, in.offset, in.path, op} }

// parentOf is the input of the step that emitted a record.
func parentOf(rec *model.Record) step {
	return step{rec.ID.Part, rec.ID.Offset, rec.Path >> model.PathBits}
}

// slot is the place of one keyed state.
type slot struct {
	op  int32
	key string
}

// flaw says what is wrong with the lineage of something. A worse one hides a lesser one.
type flaw uint8

const (
	sound       flaw = iota
	unexplained      // a step was taken, but it does not give this
	fabricated       // no step was taken
)

// version is one value that a keyed state has had. The chain of bases ends where the state was
// still empty.
type version struct {
	base   *version     // what it was computed from, or nil
	by     *application // nil: no step computed it
	value  model.Value
	length int          // of the chain
	again  *application // a step that is in the chain for the second time, or nil
	flaw   flaw
}

// newVersion is the version that a step makes of another one.
func newVersion(base *version, by *application, value model.Value, f flaw) *version {
	v := &version{base: base, by: by, value: value, length: 1, flaw: f}
	if base != nil {
		v.length, v.again = base.length+1, base.again
	}
	for ; base != nil && v.again == nil; base = base.base {
		if base.by != nil && stepOf(&base.by.in) == stepOf(&by.in) {
			v.again = by
		}
	}
	return v
}

// application is one application of an operator, taken again.
type application struct {
	n         int64
	task      *model.Task
	life      *life
	in        model.Record
	outs      []model.Record
	made      *version // the new state; nil for stateless operators
	delivered int64    // the delivery that it handles, or 0
	before    *application
	flaw      flaw
	coverage  coverage
	isAstray  bool // the input is nothing that its sender had to send
	withholds bool // the input was set aside, and what it would have come to with it
}

// emits finds the output with the identity of a record, or nil.
func (a *application) emits(rec *model.Record) *model.Record {
	for i := range a.outs {
		if a.outs[i].Same(*rec) {
			return &a.outs[i]
		}
	}
	return nil
}

// setAside begins the reason of an application that put its input into the dead letter queue.
const setAside = "set aside: "

// applied records an application, takes its step again on the state that the life had in memory,
// and looks back for what it was applied to.
func (r *run) applied(e *model.Entry) {
	l := r.lifeOf(e)
	task := &r.o.job.Tasks[e.Proc]
	a := &application{n: e.N, task: task, life: l, in: e.Msg.Record}
	base := l.memory[a.in.Key]
	if base != nil {
		a.flaw = base.flaw
	}
	a.delivered = r.taken(l, &a.in)
	a.flaw = max(a.flaw, r.flawOfDelivery(a.delivered, &a.in))
	a.isAstray = a.delivered == 0 || r.nodes[r.sendOf(a.delivered)].isOther ||
		r.entry(a.delivered).Msg.Record != a.in
	after := valueOf(base)
	outs, ok := try(task, &a.in, l.nonce, &after)
	switch {
	case strings.HasPrefix(e.Detail, setAside):
		a.withholds = !ok || len(outs) > 0
	case task.Operator.Kind == model.Stateless:
		a.outs = outs
	default:
		a.outs = outs
		a.made = newVersion(base, a, after, a.flaw)
		l.remember(a.in.Key, a.made)
	}
	l.apps = append(l.apps, a)
	r.apps = append(r.apps, a)
	if a.delivered != 0 {
		node := &r.nodes[a.delivered]
		a.before, node.app = node.app, a
	}
}

func valueOf(v *version) model.Value {
	if v == nil {
		return model.Value{}
	}
	return v.value
}

// handled finds the delivery that a life is handling: the last one of that record as it is, or at
// least with its identity.
func (r *run) handled(l *life, rec *model.Record) int64 {
	n := r.latest(l, func(m *model.Message) bool { return m.Record == *rec })
	if n == 0 {
		n = r.latest(l, func(m *model.Message) bool { return m.Record.Same(*rec) })
	}
	return n
}

// latest finds the last delivery to a life that is wanted, or 0. Where the job restarts as a whole,
// what lives of other attempts send counts only if there is nothing else.
func (r *run) latest(l *life, isWanted func(*model.Message) bool) int64 {
	other := int64(0)
	for i := len(l.deliveries) - 1; i >= 0; i-- {
		n := l.deliveries[i]
		switch m := &r.entry(n).Msg; {
		case !isWanted(m):
		case r.o.mode.RestartOf(r.o.job) == model.RestartTask || m.Attempt == l.attempt:
			return n
		case other == 0:
			other = n
		}
	}
	return other
}

// flawOfDelivery is the flaw of a record that a task claims to have got by a delivery.
func (r *run) flawOfDelivery(n int64, rec *model.Record) flaw {
	if n == 0 {
		return fabricated
	}
	worst := r.nodes[r.sendOf(n)].flaw
	if r.entry(n).Msg.Record != *rec {
		worst = max(worst, unexplained)
	}
	return worst
}

// sent records a transmission and finds the step that emitted it.
func (r *run) sent(e *model.Entry) {
	if e.Msg.Kind != model.Data {
		return
	}
	rec, node := &e.Msg.Record, &r.nodes[e.N]
	r.sends[*rec] = append(r.sends[*rec], e.N)
	task := &r.o.job.Tasks[e.Proc]
	if task.Role == model.Source {
		node.flaw = r.flawOfInput(rec)
		node.isOther = node.flaw != sound
		return
	}
	l := r.lifeOf(e)
	node.app = r.emitter(l, e)
	l.sends = append(l.sends, e.N)
	if node.app == nil {
		node.flaw, node.isOther = fabricated, true
		return
	}
	node.flaw = node.app.flaw
	out := node.app.emits(rec)
	node.isOther = out == nil || *out != *rec
	switch {
	case out == nil:
		node.flaw = fabricated
	case node.isOther:
		node.flaw = max(node.flaw, unexplained)
	}
}

// flawOfInput is the flaw of what a source hands out.
func (r *run) flawOfInput(rec *model.Record) flaw {
	switch {
	case !r.o.input.Has(rec.ID) || rec.Op != 0 || rec.Path != 0:
		return fabricated
	case *r.o.input.At(rec.ID) != *rec:
		return unexplained
	}
	return sound
}

// emitter finds the application whose output a transmission carries. A repeated transmission
// repeats another one. A first one comes out of the outbox, where whoever took the step has stored
// it, or belongs to the last step of this life on its parent.
func (r *run) emitter(l *life, e *model.Entry) *application {
	if n := r.original(l, e); n != 0 {
		return r.nodes[n].app
	}
	rec := &e.Msg.Record
	rows := r.outbox[outboxKey{l.proc, identOf(rec)}]
	for i := len(rows) - 1; i >= 0; i-- {
		if rows[i].rec == *rec {
			return rows[i].by
		}
	}
	if a := l.lastOn(parentOf(rec)); a != nil || len(rows) == 0 {
		return a
	}
	return rows[len(rows)-1].by
}

// original finds the transmission that another one repeats, or 0: the last with its number that
// carries the same, or at least something with its identity.
func (r *run) original(l *life, e *model.Entry) int64 {
	similar := int64(0)
	for i := len(l.sends) - 1; i >= 0 && e.Msg.Try > 0; i-- {
		s := r.entry(l.sends[i])
		switch {
		case s.To != e.To || s.Msg.Channel != e.Msg.Channel || s.Msg.Seq != e.Msg.Seq ||
			!s.Msg.Record.Same(e.Msg.Record):
		case s.Msg.Record == e.Msg.Record:
			return s.N
		case similar == 0:
			similar = s.N
		}
	}
	return similar
}

// outboxKey is the place of an output in the outbox of a task.
type outboxKey struct {
	proc model.ProcID
	id   ident
}

// outboxRow is one output that an update has stored. It is kept when its row is gone from the
// store: a life that has read it may still send it.
type outboxRow struct {
	rec model.Record
	by  *application // whose update stored it
}

// rowUpdated records what a served update made of a row: the state and the outbox.
func (r *run) rowUpdated(e *model.Entry, invoked int64) {
	if e.Msg.Flags&model.WithState != 0 {
		r.put(e, invoked)
	}
	for i := range e.Msg.Parts {
		rec := &e.Msg.Parts[i]
		at := outboxKey{model.ProcID(e.Msg.Token), identOf(rec)}
		r.outbox[at] = append(r.outbox[at], outboxRow{*rec, r.nodes[invoked].app})
	}
}

// put records what a served put made of a state.
func (r *run) put(e *model.Entry, invoked int64) {
	rec := &e.Msg.Record
	a := r.nodes[invoked].app
	v := &version{value: rec.Value, flaw: fabricated}
	switch {
	case a == nil:
	case a.made == nil || a.made.value != rec.Value || a.in.Key != rec.Key:
		var base *version
		if a.made != nil {
			base = a.made.base
		}
		v = newVersion(base, a, rec.Value, unexplained)
	default:
		v = a.made
	}
	r.store[slot{rec.Op, rec.Key}] = v
	r.puts = append(r.puts, servedPut{e.N, v})
}

// servedPut is one write that the store accepted.
type servedPut struct {
	n int64
	v *version
}

// reads is the version that a served get answers. Where it is not what the store holds, it is what
// the latest put has left that had the value, or that there is nothing yet; a value that no put had
// has no explanation.
func (r *run) reads(e *model.Entry) *version {
	at := slot{e.Msg.Record.Op, e.Msg.Record.Key}
	if v := r.store[at]; valueOf(v) == e.Ans.Value && (v != nil) == e.Ans.Found {
		return v
	}
	for i := len(r.puts) - 1; i >= 0 && e.Ans.Found; i-- {
		rec := &r.entry(r.puts[i].n).Msg.Record
		if rec.Op == at.op && rec.Key == at.key && rec.Value == e.Ans.Value {
			return r.puts[i].v
		}
	}
	if e.Ans.Value == (model.Value{}) {
		return nil
	}
	return &version{value: e.Ans.Value, flaw: unexplained}
}

// got is what a life learns from a get.
func (r *run) got(e *model.Entry) {
	r.lifeOf(e).remember(e.Msg.Record.Key, r.nodes[e.Cause].version)
}

// chain lists the inputs that a state holds, latest first.
func (v *version) chain() []step {
	var steps []step
	for ; v != nil; v = v.base {
		if v.by != nil {
			steps = append(steps, stepOf(&v.by.in))
		}
	}
	return steps
}
