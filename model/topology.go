package model

import "fmt"

// OperatorKind declares what an operator's result depends on. Golden cells and checkers rely on
// it, and a property test holds operators to it.
type OperatorKind uint8

// The kinds of operator.
const (
	Stateless        OperatorKind = iota // the state is never read
	Commutative                          // the final state does not depend on the order of inputs
	NonCommutative                       // it does
	NonDeterministic                     // a step may differ each time it is taken
)

var operatorKindNames = [...]string{"stateless", "commutative", "non-commutative",
	"non-deterministic"}

// String names the kind as declarations and tables do.
func (k OperatorKind) String() string { return operatorKindNames[k] }

// Operator is a user's pure step: a record and the state under its key give outputs and the new
// state. Step must not keep or change anything outside its arguments; it may be applied to the
// same record more than once, which is what the testbed is about.
type Operator struct {
	Name string
	Says string // one line for lists
	Kind OperatorKind
	Step func(in Record, state Value, out *Outputs) Value
}

// Exchange says how records go from one stage to the subtasks of the next.
type Exchange uint8

// The exchanges.
const (
	Forward Exchange = iota // subtask i feeds subtask i modulo the parallelism
	ByKey                   // all records of one key go to one subtask
)

var exchangeNames = [...]string{"forward", "by-key"}

// String is the word that scenario files use.
func (e Exchange) String() string { return exchangeNames[e] }

// ParseExchange is the inverse of String.
func ParseExchange(word string) (Exchange, bool) {
	for i, name := range exchangeNames {
		if name == word {
			return Exchange(i), true
		}
	}
	return Forward, false
}

// InputSpec declares one input of a topology.
type InputSpec struct {
	Name       string
	Partitions int
}

// Stage is one operator at one place of a topology. Its tasks are named Name/0, Name/1 and so on.
type Stage struct {
	Name     string
	Operator *Operator
	From     []string // names of inputs and of earlier stages
	Parallel int
	Exchange Exchange
}

// Topology is a graph of stages from inputs to one sink. Stages whose output no other stage reads
// feed the sink. The zero values of Parallel and Partitions mean 1.
type Topology struct {
	Name   string
	Says   string
	Inputs []InputSpec
	Stages []Stage
	// Conserves is a sum that no step changes, or nil.
	Conserves *Invariant
	Decoder   string // how lines of a file become records: a name in the library
	Sample    string // the embedded input that runs by default, or "": generated
}

// Invariant is a sum over all keyed states, and all records on their way between two operators,
// that is the same at every moment of a failure-free execution: money is moved and never made.
type Invariant struct {
	Says   string // what the sum is of: "money"
	Total  int64
	State  func(op int32, v Value) int64
	Record func(r Record) int64 // of what an operator emitted; records of the input count nothing
}

// SourceName and SinkName are the stage names that the framework gives to its own tasks.
const (
	SourceName = "source"
	SinkName   = "sink"
)

// TopologyError says what is wrong with a topology, and of which part.
type TopologyError struct {
	Topology string // its name
	Input    int    // the index of the input that is wrong, or -1
	Stage    int    // the index of the stage that is wrong, or -1
	// Field is what is wrong of the part, or of the topology where it is no part: "name", "from"
	// and so on, as scenario files call it; "": all of it.
	Field string
	From  int // of the field "from": the index of the name that is wrong
	Msg   string
}

// Error is one line: the name of the topology and what is wrong with it.
func (e *TopologyError) Error() string {
	return fmt.Sprintf("topology %q%s", e.Topology, e.Msg)
}

// wrong is an error about t as a whole.
func (t *Topology) wrong(field, format string, args ...any) *TopologyError {
	return &TopologyError{Topology: t.Name, Input: -1, Stage: -1, Field: field,
		Msg: fmt.Sprintf(format, args...)}
}

// Validate reports the first thing wrong with t, as a *TopologyError: an empty or doubled name, a
// reference to no earlier stage, too many hops, two operators of one name, a task that nothing
// feeds. The error says which name is meant and what was expected.
func (t *Topology) Validate() error {
	if err := t.firstWrong(); err != nil {
		return err
	}
	return nil
}

func (t *Topology) firstWrong() *TopologyError {
	const needs = " needs at least one input and one stage"
	switch {
	case len(t.Inputs) == 0:
		return t.wrong("inputs", needs)
	case len(t.Stages) == 0:
		return t.wrong("stages", needs)
	case len(t.Stages) > HopsMax:
		err := t.wrong("", " has %d stages, limit %d", len(t.Stages), HopsMax)
		err.Stage = HopsMax
		return err
	}
	seen := map[string]bool{SourceName: true, SinkName: true}
	for i, in := range t.Inputs {
		err := t.wrongName("input", in.Name, seen)
		if err == nil && (in.Partitions < 0 || in.Partitions > 64) {
			err = t.wrong("partitions", ": input %q has %d partitions, expected 1 to 64", in.Name,
				in.Partitions)
		}
		if err != nil {
			err.Input = i
			return err
		}
		seen[in.Name] = true
	}
	for i := range t.Stages {
		err := t.wrongStage(&t.Stages[i], seen)
		if err == nil {
			err = t.namesake(i)
		}
		if err != nil {
			err.Stage = i
			return err
		}
		seen[t.Stages[i].Name] = true
	}
	return nil
}

// namesake refuses stage i if one before it has another operator of the same name: files and
// reports would mean one of the two and say the other.
func (t *Topology) namesake(i int) *TopologyError {
	op := t.Stages[i].Operator
	for _, s := range t.Stages[:i] {
		if other := s.Operator; other != op && other.Name == op.Name {
			return t.wrong("operator", ": stages %q and %q have different operators of the name %q",
				s.Name, t.Stages[i].Name, op.Name)
		}
	}
	return nil
}

// wrongName refuses names that are taken, and those that a fault line could not spell.
func (t *Topology) wrongName(what, name string, seen map[string]bool) *TopologyError {
	if seen[name] {
		return t.wrong("name", ": %s name %q is reserved or doubled", what, name)
	}
	for i, r := range name {
		isLetter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		isOther := r >= '0' && r <= '9' || r == '-' || r == '_'
		if !isLetter && (i == 0 || !isOther) {
			return t.wrong("name", ": %s name %q, expected a letter, then letters, digits, - and _",
				what, name)
		}
	}
	if name == "" {
		return t.wrong("name", " has a nameless %s", what)
	}
	return nil
}

func (t *Topology) wrongStage(s *Stage, seen map[string]bool) *TopologyError {
	if err := t.wrongName("stage", s.Name, seen); err != nil {
		return err
	}
	switch {
	case s.Operator == nil || s.Operator.Step == nil:
		return t.wrong("operator", ": stage %q has no operator", s.Name)
	case len(s.From) == 0:
		return t.wrong("from", ": stage %q reads from nothing", s.Name)
	case s.Parallel < 0 || s.Parallel > 64:
		return t.wrong("parallel", ": stage %q has parallelism %d, expected 1 to 64", s.Name,
			s.Parallel)
	case s.Exchange == Forward && s.Operator.Kind != Stateless && s.Parallel > 1:
		return t.wrong("exchange", ": stage %q keeps keyed state and runs %d tasks: its exchange "+
			"must be by-key", s.Name, s.Parallel)
	}
	for i, from := range s.From {
		if !seen[from] || from == SourceName || from == SinkName {
			err := t.wrong("from", ": stage %q reads from %q, which is no input or earlier stage",
				s.Name, from)
			err.From = i
			return err
		}
	}
	if fed := t.Senders(s); s.Exchange == Forward && s.Parallel > fed {
		return t.wrong("parallel", ": stage %q runs %d tasks, of which forward feeds %d, as many "+
			"as the widest that it reads from has: expected parallelism %d at most, or by-key",
			s.Name, s.Parallel, fed, fed)
	}
	return nil
}

// Senders is how many tasks the widest of the inputs and stages has that a stage reads from:
// behind a forward exchange no more tasks than that get anything.
func (t *Topology) Senders(s *Stage) int {
	n := 1
	for _, from := range s.From {
		for _, in := range t.Inputs {
			if in.Name == from {
				n = max(n, in.Partitions)
			}
		}
		for i := range t.Stages {
			if t.Stages[i].Name == from {
				n = max(n, t.Stages[i].Parallel)
			}
		}
	}
	return n
}

// Partitions is the number of partitions over all inputs: the range of ID.Part.
func (t *Topology) Partitions() int {
	n := 0
	for _, in := range t.Inputs {
		n += max(in.Partitions, 1)
	}
	return n
}

// PartitionName is how records of partition part are written: the input's name and the partition
// within it, "input/1".
func (t *Topology) PartitionName(part int32) string {
	rest := int(part)
	for _, in := range t.Inputs {
		if rest < max(in.Partitions, 1) {
			return fmt.Sprintf("%s/%d", in.Name, rest)
		}
		rest -= max(in.Partitions, 1)
	}
	panic(fmt.Sprintf("model: partition %d of topology %q", part, t.Name))
}

// FindPartition is the inverse of PartitionName; ok is false where there is no such partition.
func (t *Topology) FindPartition(input string, part int) (p int32, ok bool) {
	base := 0
	for _, in := range t.Inputs {
		if in.Name == input {
			return int32(base + part), part >= 0 && part < max(in.Partitions, 1)
		}
		base += max(in.Partitions, 1)
	}
	return 0, false
}

// RecordName writes an identity as users read it: "input/1:7".
func (t *Topology) RecordName(id ID) string {
	return fmt.Sprintf("%s:%d", t.PartitionName(id.Part), id.Offset)
}

// IsTerminal reports whether stage i feeds the sink.
func (t *Topology) IsTerminal(i int) bool {
	for _, s := range t.Stages[i+1:] {
		for _, from := range s.From {
			if from == t.Stages[i].Name {
				return false
			}
		}
	}
	return true
}

// Kind is the strongest kind among the operators: it decides which golden row applies.
func (t *Topology) Kind() OperatorKind {
	kind := Stateless
	for _, s := range t.Stages {
		kind = max(kind, s.Operator.Kind)
	}
	return kind
}
