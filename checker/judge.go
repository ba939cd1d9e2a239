package checker

import (
	"cmp"
	"slices"

	"github.com/oncesim/oncesim/model"
)

// StepsDefault is how many operator steps the searches of one property may take where
// Judge.StepsMax is 0: some hundredths of a second.
const StepsDefault = 1 << 18

// Judge judges histories, one after the other. It keeps its memory: once it has seen a history of
// some size, judging one that is no larger allocates nothing unless something is violated.
//
// What several properties need is worked out once a subject, when the first of them asks.
type Judge struct {
	// StepsMax bounds the operator steps that the searches of one property may take. When they are
	// spent the verdict is Undecided. 0 means StepsDefault.
	StepsMax int

	s            Subject
	h            *model.History
	plan         plan
	spans        []span // by partition of the input
	total        int32  // records of the input
	recall       recall
	nodes        []node
	extra        table // identities with a path: beyond the dense slots
	outs         []model.Outputs
	seen         seen
	claims       claims
	states       states
	checkpoints  checkpoints
	cuts         cuts
	transactions transactions
	flow         flow
	finder       finder
	journeys     journeys
	streams      streams
	survey       survey
	severity     [64]int8 // by AnomalyKind
	verdicts     []model.Verdict
	verdict      *model.Verdict // the one being found
	completed    bool           // the run came to its end: what is missing is missing
}

// node is what is known of one slot. A slot stands for the record that an operator emits for one
// input record under one path, and for the step of that operator on its input with the same path.
// Links are numbers plus one, so that 0 is no link and clearing is enough.
type node struct {
	first, last int32 // entries of the record, in the order shown
	times       int32 // how often the record is visible
	claim       int32 // claims of the step, latest first
	claims      int32 // how many
	folded      int32 // how often the step is in the final state
	item        int32 // the step's input in the flow
	expected    bool  // the flow emits the record
	passed      bool  // search: something visible came through the step
	past        int32 // tables: what was shown of the record and has been replaced, plus one
}

// NewJudge returns a Judge without memory of anything.
func NewJudge() *Judge {
	j := &Judge{outs: make([]model.Outputs, model.HopsMax+1)}
	for rank, kind := range model.Anomalies() {
		j.severity[kind] = int8(rank)
	}
	return j
}

// Judge judges one subject by each property in turn. What it returns, anomalies included, is valid
// until the next call.
func (j *Judge) Judge(s Subject, props []Property) []model.Verdict {
	j.begin(s)
	for len(j.verdicts) < len(props) {
		j.verdicts = append(j.verdicts, model.Verdict{})
	}
	for i := range props {
		j.finder.left = j.StepsMax
		if j.StepsMax == 0 {
			j.finder.left = StepsDefault
		}
		j.verdict = &j.verdicts[i]
		*j.verdict = model.Verdict{Property: props[i].Name, Anomalies: j.verdict.Anomalies[:0]}
		j.verdict.Result, j.verdict.Reason = props[i].Check(j)
		j.settle()
	}
	return j.verdicts[:len(props)]
}

func (j *Judge) begin(s Subject) {
	j.s, j.h = s, s.History
	j.completed = s.History.End.Reason == model.Quiescent
	isNew := j.plan.make(s.Job)
	j.measure(s.Input)
	dense := int((j.plan.ops + 1) * j.total)
	if isNew || j.recall.input != s.Input {
		j.recall.open(s.Input, dense)
	} else if len(j.recall.keys.list) > 2*dense {
		j.recall.forget(dense)
	}
	j.nodes = slices.Grow(j.nodes[:0], dense)[:dense]
	clear(j.nodes)
	j.extra.reset()
	j.states.reset()
	j.checkpoints.reset(len(s.Job.Tasks))
	j.seen.done, j.claims.done = false, false
	j.flow.done, j.transactions.done = false, false
	j.journeys.begin()
	j.finder.lasts = false
	j.openSurvey()
}

// span is which of the numbers of all input records a partition has.
type span struct {
	base   int32
	length uint64
}

func (j *Judge) measure(input *model.Input) {
	j.spans, j.total = j.spans[:0], int32(input.Total())
	base := int32(0)
	for i := range input.Parts {
		length := len(input.Parts[i].Records)
		j.spans = append(j.spans, span{base, uint64(length)})
		base += int32(length)
	}
}

// settle sorts the anomalies, most severe first and then by record, and keeps one a record and
// kind.
func (j *Judge) settle() {
	list := j.verdict.Anomalies
	slices.SortStableFunc(list, func(a, b model.Anomaly) int {
		return cmp.Or(cmp.Compare(j.severity[a.Kind], j.severity[b.Kind]),
			a.Record.ID.Compare(b.Record.ID), cmp.Compare(a.Record.Op, b.Record.Op),
			cmp.Compare(a.Record.Path, b.Record.Path))
	})
	j.verdict.Anomalies = slices.CompactFunc(list, func(a, b model.Anomaly) bool {
		return a.Kind == b.Kind && a.Record.Same(b.Record)
	})
}

// Subject returns what is being judged.
func (j *Judge) Subject() Subject { return j.s }

// Completed reports whether the run came to its end by itself. If it did not, what is missing may
// only be late: a property that needs the end must answer Undecided.
func (j *Judge) Completed() bool { return j.completed }

// Report adds an anomaly to the verdict being found. One a record and kind is kept. The events
// are put in order.
func (j *Judge) Report(a model.Anomaly) {
	n := slices.Index(a.Events[:], 0)
	if n < 0 {
		n = len(a.Events)
	}
	slices.Sort(a.Events[:n])
	j.verdict.Anomalies = append(j.verdict.Anomalies, a)
}

// Reported is how many anomalies the property being checked has reported so far.
func (j *Judge) Reported() int { return len(j.verdict.Anomalies) }

// Visible is how often a record, named by ID, Op and Path, is visible in the end; while the run
// is not completed: has been visible.
func (j *Judge) Visible(rec model.Record) int {
	j.look()
	if slot := j.slot(rec.ID, rec.Op, rec.Path); slot != noSlot {
		return int(j.nodes[slot].times)
	}
	return 0
}

// Applications is how many valid claims there are that operator op was applied to a record. A
// claim is valid if its record is an input of the operator, or the output of an earlier valid
// claim, and if the step emits as many records as it says.
func (j *Judge) Applications(op int32, in model.Record) int {
	j.replay()
	if slot := j.slot(in.ID, op, in.Path); slot != noSlot {
		return int(j.nodes[slot].claims)
	}
	return 0
}

// Folded is how often the step of operator op on a record is in the final state, by the
// provenance of what the state store, or the last life of a task, holds.
func (j *Judge) Folded(op int32, in model.Record) int {
	j.trace(j.home())
	if slot := j.slot(in.ID, op, in.Path); slot != noSlot {
		return int(j.nodes[slot].folded)
	}
	return 0
}

// noSlot stands for no slot.
const noSlot = -1

// slot returns the slot of an identity, or noSlot where no record has it. It may move j.nodes.
func (j *Judge) slot(id model.ID, op int32, path model.Path) int32 {
	if uint32(id.Part) >= uint32(len(j.spans)) || uint32(op) > uint32(j.plan.ops) {
		return noSlot
	}
	span := &j.spans[id.Part]
	if uint64(id.Offset) >= span.length {
		return noSlot
	}
	index := span.base + int32(id.Offset)
	if path == 0 {
		return op*j.total + index
	}
	return j.farSlot(index, op, path)
}

// farSlot is the slot of an identity with a path.
func (j *Judge) farSlot(index, op int32, path model.Path) int32 {
	n, fresh := j.extra.number(uint64(index)<<8|uint64(op), uint64(path))
	if fresh {
		j.nodes = append(j.nodes, node{})
	}
	return (j.plan.ops+1)*j.total + n
}

// step runs an operator on a record and a state, in a life with a nonce. A step that fails leaves
// the state and emits nothing. What it emits is valid until the next step at the same level.
func (j *Judge) step(level int, op int32, in *model.Record, state model.Value, nonce uint64) (
	model.Value, []model.Record) {
	out := &j.outs[level]
	out.Begin(op, *in)
	out.Seed(nonce)
	after := j.plan.stages[op].operator.Step(*in, state, out)
	if out.Failed() != "" {
		return state, nil
	}
	return after, out.Records()
}

// pure is step for an operator without state; slot is that of the step. What it emits is kept for
// as long as the job and the input are judged, or valid until the next step at the same level.
func (j *Judge) pure(level int, op, slot int32, in *model.Record) (
	records []model.Record, isKept bool) {
	isDense := int(slot) < len(j.recall.steps)
	if isDense {
		if records, isKept = j.recall.recall(slot, in); isKept {
			return records, true
		}
	}
	_, records = j.step(level, op, in, model.Value{}, 0)
	if isDense {
		j.recall.keep(slot, in, records)
	}
	return records, false
}
