package model

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
	// Cells is the golden table's column: claims and envelope follow from it where it speaks.
	Cells []Cell

	// New builds the process of a task. It is called once for each process object; the object
	// lives many lives, one Start each.
	New func(*Job, *Task) Process
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
	Log SinkShape = iota // every write is a new entry; entries keep their place
)

// SinkSpec is an external system as a Library offers it.
type SinkSpec struct {
	Name  string
	Says  string
	Shape SinkShape
	New   func(partitions int) Service
}
