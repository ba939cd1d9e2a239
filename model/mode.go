package model

import "slices"

// RestartScope says what the supervisor restarts when one task dies.
type RestartScope uint8

// The restart scopes.
const (
	RestartTask RestartScope = iota // the task alone, under the next attempt
	RestartJob                      // every task, under the next attempt
)

// Durability says where keyed operator state lives. Checkers judge a restart by it.
type Durability uint8

// The durabilities.
const (
	Volatile       Durability = iota // in memory: a restart begins with empty state
	WrittenThrough                   // in the state store, one write a record: carried over
	Snapshotted                      // in memory, and in checkpoints: a restart goes back to one
	Scattered                        // in memory, and in snapshots that each task takes by itself
)

// Cell is one cell of the golden table: what a mode shows under a fault class plus at most one
// crash, for one kind of operator. Must has a witness in the small scenario of the class, May
// covers what appears only on some inputs or under some parameters; the rest is never.
type Cell struct {
	Class string
	Kind  OperatorKind
	Must  []AnomalyKind
	May   []AnomalyKind
}

// Mechanism is one thing that a mode's guarantee rests on, and how to take it away: parameters, a
// weaker sink, or the variant of the mode that does without it, in front of the mode's own sink. In
// a class of faults that it lists, the fault of the class shows something once it is gone, and not
// only the crash that a cell covers besides; a test holds modes to that.
type Mechanism struct {
	Name    string
	Says    string   // one line
	Classes []string // the fault classes in which it is needed
	Without []ParamValue
	Sink    string // the sink that does without it, or ""
	Variant string // the mode that does without it, or ""
}

// Harmless is a class of faults that takes nothing away that a mode needs, and why not: whichever
// of its mechanisms is gone, the fault of the class shows nothing by itself; a test holds modes to
// that. Where a mechanism lists the class too, this is said of jobs where it makes no difference.
type Harmless struct {
	Class string
	Says  string // one line
}

// Mode is one way of winning a guarantee: how tasks are built, and what is claimed of the result.
type Mode struct {
	Name   string
	Says   string // one line for lists
	Source string // where the rules are taken from

	Restart RestartScope
	State   Durability
	Commits bool   // offsets are committed, so that they reach the end of the input
	Sink    string // the default sink, by name
	Params  []Param

	// Claims are the properties that hold under every fault class in Tolerates (the envelope).
	Claims    []string
	Tolerates []string
	// ClaimsStateless hold besides where no operator keeps state.
	ClaimsStateless []string
	// ClaimsDeterministic hold besides where every operator is deterministic.
	ClaimsDeterministic []string
	// ClaimsWith hold besides where a parameter has a value that is not its default.
	ClaimsWith []ClaimsWith
	// RestsOn names what makes cells clean: the class of each is listed with a mechanism, or among
	// Harmless, where the cell is clean because what it covers besides, a crash, is.
	RestsOn  []Mechanism
	Harmless []Harmless
	// Cells is the golden table's column: what is seen in small worlds, one for each kind of
	// operator. It contradicts no claim, and says more than they do.
	Cells []Cell

	// Extra names processes that the mode has besides the tasks of the job: "acker".
	Extra []string
	// Transacts: it writes transactions, and needs a sink that has them.
	Transacts bool
	// IsVariant marks a mode that is made to fail, to show what its sibling rests on.
	IsVariant bool

	// New builds the process of a task. It is called once for each process object; the object
	// lives many lives, one Start each.
	New func(*Job, *Task) Process
}

// ClaimsFor is what m claims of a job whose strongest operator is of a kind.
func (m *Mode) ClaimsFor(kind OperatorKind) []string {
	switch kind {
	case Stateless:
		return slices.Concat(m.Claims, m.ClaimsDeterministic, m.ClaimsStateless)
	case NonDeterministic:
		return m.Claims
	}
	return slices.Concat(m.Claims, m.ClaimsDeterministic)
}

// ClaimsWith are what a mode claims besides of a job with a value of a parameter.
type ClaimsWith struct {
	Param  ParamValue
	Claims []string
}

// ClaimsUnder is what m claims of such a job with parameters that are set.
func (m *Mode) ClaimsUnder(kind OperatorKind, params []ParamValue) []string {
	claims := m.ClaimsFor(kind)
	for _, w := range m.ClaimsWith {
		if slices.Contains(params, w.Param) {
			claims = slices.Concat(claims, w.Claims)
		}
	}
	return claims
}

// Param returns the declaration of a parameter, or nil.
func (m *Mode) Param(name string) *Param {
	for i := range m.Params {
		if m.Params[i].Name == name {
			return &m.Params[i]
		}
	}
	return nil
}

// Cell returns the golden cell of a class and an operator kind; ok is false where the table is
// silent.
func (m *Mode) Cell(class string, kind OperatorKind) (c Cell, ok bool) {
	for _, c := range m.Cells {
		if c.Class == class && c.Kind == kind {
			return c, true
		}
	}
	return Cell{}, false
}

// SinkShape says how what a sink shows is to be read.
type SinkShape uint8

// The shapes.
const (
	Log  SinkShape = iota // every write is a new entry; entries keep their place
	Rows                  // a table with a row for each output identity; a write overwrites its row
	Keys                  // a table with a row for each key
)

// SinkSpec is an external system as a Library offers it.
type SinkSpec struct {
	Name  string
	Says  string
	Shape SinkShape
	// Transactional: it serves requests about transactions.
	Transactional bool
	New           func(partitions int) Service
}

// RestartOf is what the supervisor restarts in a job of the mode when one task dies. In every mode
// with a parameter lone-restart that decides: the task alone where it is 1, or else the job.
func (m *Mode) RestartOf(job *Job) RestartScope {
	for _, p := range job.Params {
		switch {
		case p.Name != "lone-restart":
		case p.Value == 1:
			return RestartTask
		default:
			return RestartJob
		}
	}
	return m.Restart
}
