package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/anishathalye/porcupine"

	"github.com/oncesim/oncesim/model"
)

// pageSteps bounds the search for each object of a page.
const pageSteps = 1 << 18

// WriteLinearizablePage writes a page for a browser, by itself in one file: the calls of a run
// over its events, an order of them for each object or the longest there are, the verdicts of
// CheckLinearizable, and what faults did. The same run gives the same bytes. The error is that of
// the writer.
//
// The objects shown are committed offsets, keyed state, the completed checkpoint and logs; a batch
// is shown as its writes. Of rows of tasks in the store, and of sinks that are tables or have
// transactions, the page has the verdicts only.
func WriteLinearizablePage(to io.Writer, c *Case) error {
	k := newCalls(c, pageSteps)
	_, info := porcupine.CheckOperationsVerbose(k.model(true), k.operations(), 0)
	for _, found := range info.PartialLinearizations() {
		settleOrders(found)
	}
	info.AddAnnotations(k.annotations())
	return porcupine.Visualize(k.model(false), info, to)
}

// settleOrders sorts the orders that the search found for an object: longest first, then by their
// calls. The search lists them as a map does.
func settleOrders(orders [][]int) {
	slices.SortFunc(orders, func(a, b []int) int {
		return cmp.Or(cmp.Compare(len(b), len(a)), slices.Compare(a, b))
	})
}

// operations are the calls as the search wants them.
func (k *calls) operations() []porcupine.Operation {
	var list []porcupine.Operation
	for _, op := range k.ops {
		list = append(list, porcupine.Operation{ClientId: op.lane, Input: op, Output: op,
			Call: op.from, Return: op.until})
	}
	return list
}

// pageState is what an object holds: the one value of a register, or the entries of a log. It is
// never changed.
type pageState struct {
	hash    uint64
	entries []int32
}

func (s *pageState) with(entry int32) *pageState {
	n := len(s.entries)
	return &pageState{model.Mix(s.hash^uint64(entry), 0x9e3779b97f4a7c15),
		append(s.entries[:n:n], entry)}
}

// model says what is allowed of all objects. With a budget the search for an object that has spent
// it finds nothing more.
func (k *calls) model(isBudgeted bool) porcupine.Model {
	texts := k.numbers()
	return porcupine.Model{
		Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
			parts := make([][]porcupine.Operation, len(k.objects))
			for _, op := range history {
				n := op.Input.(*operation).on.number
				parts[n] = append(parts[n], op)
			}
			return slices.DeleteFunc(parts, func(p []porcupine.Operation) bool {
				return len(p) == 0
			})
		},
		Init: func() any { return &pageState{} },
		Step: func(state, input, _ any) (bool, any) {
			op := input.(*operation)
			if isBudgeted {
				if op.on.left == 0 {
					return false, state
				}
				op.on.left--
			}
			ok, next := op.step(state.(*pageState))
			return ok, next
		},
		Equal: func(a, b any) bool {
			return slices.Equal(a.(*pageState).entries, b.(*pageState).entries)
		},
		Hash:              func(state any) uint64 { return state.(*pageState).hash },
		DescribeOperation: func(input, _ any) string { return k.describe(input.(*operation)) },
		DescribeState: func(state any) string {
			return describeState(state.(*pageState), texts)
		},
	}
}

// step takes an operation in a state, if it is allowed there.
func (op *operation) step(s *pageState) (bool, *pageState) {
	if !op.on.isLog {
		held := int32(0)
		if len(s.entries) > 0 {
			held = s.entries[0]
		}
		if op.isWrite {
			return true, (&pageState{}).with(op.what[0])
		}
		return held == op.what[0], s
	}
	length := int64(len(s.entries))
	if op.isWrite {
		known, isKnown := op.on.known[length]
		fits := op.place < 0 && (!isKnown || known == op.what[0])
		return fits || op.place == length, s.with(op.what[0])
	}
	end := op.place + int64(len(op.what))
	if op.place < 0 || end > length || op.isWhole && end != length {
		return false, s
	}
	return slices.Equal(s.entries[op.place:end], op.what), s
}

func (k *calls) numbers() []string {
	texts := make([]string, len(k.texts)+1)
	for text, n := range k.texts {
		texts[n] = text
	}
	texts[0] = "nothing"
	return texts
}

func (k *calls) describe(op *operation) string {
	text := fmt.Sprintf("%s: %s", k.process(op.proc), op.text)
	if op.isOpen {
		text += ", outcome unknown"
	}
	return text
}

func (k *calls) process(proc model.ProcID) string {
	if tasks := k.c.Result.Subject.Job.Tasks; int(proc) < len(tasks) {
		return tasks[proc].Name
	}
	return "reader"
}

// describeState shows the last thing that came to be there.
func describeState(s *pageState, texts []string) string {
	switch n := len(s.entries); n {
	case 0:
		return texts[0]
	case 1:
		return texts[s.entries[0]]
	default:
		return fmt.Sprintf("%d entries, last %s", n, texts[s.entries[n-1]])
	}
}

// annotations are what the page says beside the calls: the verdicts, and what faults did.
func (k *calls) annotations() []porcupine.Annotation {
	var list []porcupine.Annotation
	for i := range k.c.Linearizable {
		v := &k.c.Linearizable[i]
		a := porcupine.Annotation{Tag: "verdicts", Start: 1, End: k.end, Details: v.Reason,
			Description: fmt.Sprintf("%s: %s", linearObjects[i], v.Result)}
		if n := len(v.Anomalies); n > 0 && v.Anomalies[0].Events[0] > 0 {
			a.Start, a.End = v.Anomalies[0].Events[0], 0
			for _, event := range v.Anomalies[0].Events {
				a.End = max(a.End, event)
			}
		}
		list = append(list, a)
	}
	for _, o := range k.objects {
		if o.left == 0 {
			list = append(list, porcupine.Annotation{Tag: "verdicts", Start: 1, End: k.end,
				Description: o.name + ": the page shows only part of the search"})
		}
	}
	for i, n := range k.h.Reached {
		if n != 0 && i < len(k.c.Scenario.Faults) {
			list = append(list, porcupine.Annotation{Tag: "faults", Start: n,
				Description: k.c.Scenario.Faults[i].String()})
		}
	}
	return append(list, k.absences()...)
}

// absences are the times at which a process is down or stands still.
func (k *calls) absences() []porcupine.Annotation {
	var list []porcupine.Annotation
	for i := range k.h.Lives {
		life := &k.h.Lives[i]
		if life.How == model.Alive {
			continue
		}
		a := porcupine.Annotation{Tag: "faults", Start: life.Ended, End: k.end,
			Description: fmt.Sprintf("%s %s", k.process(life.Proc), life.How),
			Details:     life.Reason}
		for _, next := range k.h.Lives[i+1:] {
			if next.Proc == life.Proc && next.Began >= life.Ended {
				a.End = next.Began
				break
			}
		}
		list = append(list, a)
	}
	trace := k.c.Result.Trace
	for i := range trace {
		if trace[i].Kind != model.EntryPause {
			continue
		}
		a := porcupine.Annotation{Tag: "faults", Start: trace[i].N, End: k.end,
			Description: k.process(trace[i].Proc) + " stands still"}
		for _, later := range trace[i:] {
			if later.Kind == model.EntryResume && later.Proc == trace[i].Proc &&
				later.Attempt == trace[i].Attempt {
				a.End = later.N
				break
			}
		}
		list = append(list, a)
	}
	return list
}
