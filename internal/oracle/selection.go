package oracle

import (
	"cmp"
	"maps"
	"slices"

	"github.com/oncesim/oncesim/model"
)

// fold is what one operator made of the inputs of one key or, where state is volatile, what one
// life of it made.
type fold struct {
	at      slot
	task    *model.Task
	offers  []model.Record // what could be folded
	shown   []emission     // what is visible of it, perhaps further down, each identity once
	final   *version       // the state that it left in the end
	isFinal bool           // it left one: the life that made it is the last
}

// folds collects what each operator made of each key, in the order of first applications.
func (r *run) folds() []*fold {
	var list []*fold
	index := map[*life]map[slot]*fold{}
	of := func(a *application) *fold {
		l := a.life
		if r.o.mode.State == model.WrittenThrough {
			l = nil // state is carried over: all lives make one fold
		}
		at := slot{a.task.Op, a.in.Key}
		if index[l] == nil {
			index[l] = map[slot]*fold{}
		}
		if index[l][at] == nil {
			f := &fold{at: at, task: a.task, final: r.final[at], isFinal: true}
			switch r.o.mode.State {
			case model.Volatile:
				f.final, f.isFinal = l.memory[at.key], l == r.current[l.proc]
			case model.Snapshotted, model.Scattered:
				f.final, f.isFinal = nil, false
			}
			index[l][at] = f
			list = append(list, f)
		}
		return index[l][at]
	}
	for _, a := range r.apps {
		if a.made != nil {
			of(a).offer(&a.in)
		}
	}
	show := func(_ int, s *visible) {
		if s.flaw != sound {
			return
		}
		e := emission{s.rec, s.by}
		for ; e.by != nil; e = r.above(e.by) {
			if e.by.made != nil {
				of(e.by).show(e)
			}
		}
	}
	if r.isKeyed() {
		r.lasts(show)
	} else {
		r.firsts(show)
	}
	if s := r.o.mode.State; s == model.Snapshotted || s == model.Scattered {
		list = append(list, r.finalFolds()...)
	}
	for _, f := range list {
		r.offerLegal(f)
	}
	return list
}

// finalFolds are those of the final states, of which nothing needs to be visible.
func (r *run) finalFolds() []*fold {
	slots := slices.SortedFunc(maps.Keys(r.final), func(a, b slot) int {
		return cmp.Or(cmp.Compare(a.op, b.op), cmp.Compare(a.key, b.key))
	})
	var list []*fold
	for _, at := range slots {
		list = append(list, &fold{at: at, task: r.o.taskOf(at), final: r.final[at], isFinal: true})
	}
	return list
}

// taskOf is a task that has the operator of a state.
func (o *Oracle) taskOf(at slot) *model.Task {
	i := slices.IndexFunc(o.job.Tasks, func(t model.Task) bool { return t.Op == at.op })
	return &o.job.Tasks[i]
}

// emission is a record and the step that emitted it.
type emission struct {
	rec model.Record
	by  *application
}

// above is the emission that a step was taken on; by is nil above the first operator.
func (r *run) above(a *application) emission {
	return emission{a.in, r.nodes[r.sendOf(a.delivered)].app}
}

func (f *fold) show(e emission) {
	for i := range f.shown {
		if f.shown[i].rec.Same(e.rec) {
			return
		}
	}
	f.shown = append(f.shown, e)
}

func (f *fold) offer(rec *model.Record) {
	if !contains(f.offers, rec) {
		f.offers = append(f.offers, *rec)
	}
}

// offerLegal adds the inputs that legal executions have under the key: what was applied but left
// no trace, or was not applied, can explain a value too.
func (r *run) offerLegal(f *fold) {
	for i := range r.legal.executions {
		for j := range r.legal.executions[i].groups {
			if g := &r.legal.executions[i].groups[j]; g.slot == f.at {
				for k := range g.inputs {
					f.offer(&g.inputs[k])
				}
			}
		}
	}
}

// isOnce reports whether something that really happened took each input at most once: the state
// that was left, or the longest chain behind what is visible, holds none twice, and its steps emit
// all that is visible. In which order they were taken is asked elsewhere.
func (f *fold) isOnce(withFinal bool) bool {
	if withFinal {
		return f.final.isOnce(f.shown)
	}
	var longest *version
	for _, s := range f.shown {
		if longest == nil || s.by.made.length > longest.length {
			longest = s.by.made
		}
	}
	return longest.isOnce(f.shown)
}

func (v *version) isOnce(shown []emission) bool {
	for _, s := range shown {
		if !v.emits(&s.rec) {
			return false
		}
	}
	return v == nil || v.again == nil
}

// emits reports whether a step in the chain of a version emits a record, as it is.
func (v *version) emits(rec *model.Record) bool {
	for ; v != nil; v = v.base {
		if v.by != nil && stepOf(&v.by.in) == parentOf(rec) && contains(v.by.outs, rec) {
			return true
		}
	}
	return false
}

// selection is the search for some of the inputs of a fold, each taken once and those of one
// source partition in their order: what a run may do that loses but repeats nothing.
type selection struct {
	fold      *fold
	withFinal bool // the final state must come out too
	choices   *choices
	shown     map[step][]emission
	picked    []step
	left      *int // picks that may still be made
}

// selects looks for a selection that gives what is visible of a fold, and the state it left.
func (r *run) selects(f *fold, withFinal bool) answer {
	if f.isOnce(withFinal) {
		return found
	}
	s := &selection{fold: f, withFinal: withFinal, choices: r.possible, left: &r.left,
		shown: map[step][]emission{}}
	for _, shown := range f.shown {
		in := parentOf(&shown.rec)
		s.shown[in] = append(s.shown[in], shown)
	}
	switch {
	case s.from(model.Value{}, len(f.shown)):
		return found
	case r.left < 0:
		return gaveUp
	}
	return nothing
}

// from reports whether the selection can be completed from a state on, with need entries still to
// come out.
func (s *selection) from(state model.Value, need int) bool {
	if need == 0 && (!s.withFinal || s.isFinal(state)) {
		return true
	}
	for i := range s.fold.offers {
		rec := &s.fold.offers[i]
		in := stepOf(rec)
		isGuess := s.choices.isGuess(s.fold.task.Operator, rec, s.fold.at.op)
		if isGuess || !s.mayPick(in) {
			continue
		}
		nonces := s.choices.of(s.fold.task, rec)
		for c := range options(nonces) {
			if *s.left--; *s.left < 0 {
				return false
			}
			after := state
			outs := take(s.fold.task, rec, nonceAt(nonces, c), &after)
			if showsAll(outs, s.shown[in]) && s.pick(in, after, need) {
				return true
			}
		}
	}
	return false
}

// pick goes on behind an input that was picked.
func (s *selection) pick(in step, after model.Value, need int) bool {
	s.picked = append(s.picked, in)
	ok := s.from(after, need-len(s.shown[in]))
	s.picked = s.picked[:len(s.picked)-1]
	return ok
}

// mayPick reports whether an input may follow those picked.
func (s *selection) mayPick(next step) bool {
	for _, p := range s.picked {
		isBefore := p.offset < next.offset || p.offset == next.offset && p.path < next.path
		if p.part == next.part && !isBefore {
			return false
		}
	}
	return true
}

// isFinal reports whether a state is the one that was left. No state is an empty one.
func (s *selection) isFinal(state model.Value) bool { return valueOf(s.fold.final) == state }

// showsAll reports whether all that is visible of a step is among what it emits.
func showsAll(outs []model.Record, shown []emission) bool {
	for i := range shown {
		if !contains(outs, &shown[i].rec) {
			return false
		}
	}
	return true
}
