package faults

import (
	"fmt"
	"slices"

	"github.com/oncesim/oncesim/model"
)

// Fault is one line of the fault language: what goes wrong, with whom, and at which event of the
// protocol. Names are as written; Compile resolves them against a job. Fields that the line does
// not speak of are zero, so that faults compare with ==.
type Fault struct {
	Action  model.Action
	Proc    string      // "op/1"
	Peer    string      // Scope MessageOnChannel: the receiver; CutLink: the other side
	Service string      // CrashService: "store"; CutLink: the other side
	Point   model.Point // Crash and Pause; CutLink: BeforeAck or AtTime
	Scope   model.Scope
	N       int64      // ordinal, from 1
	Record  RecordName // Scope RecordEffect; TruncateInput: the first that stays
	Life    int32      // Scope StartEffect
	// Checkpoint: Scope CheckpointEffect, its id.
	Checkpoint int64
	Call       model.Kind // Scope CallOfKind: of the request; MessageOnChannel: of the message
	At         int64      // Point AtTime: virtual ns
	For        int64      // what takes time: virtual ns; see DuplicateAfter and ReorderWithin
}

// String is the line that Parse reads back to f. A value that no line means prints as one that
// Parse refuses.
func (f Fault) String() string {
	for _, s := range All() {
		if slices.Contains(s.Actions, f.Action) {
			return s.print(f)
		}
	}
	return unsaid
}

// isLine reports whether some line means f. Faults made by Parse and FromRule are.
func (f Fault) isLine() bool {
	g, err := Parse(f.String())
	return err == nil && g == f
}

// unsaid stands in a printed fault for a value that the language has no word for.
const unsaid = "?"

// RecordName is an input record as written: "input/1:7", or "7" where the topology has a single
// partition (Input == "").
type RecordName struct {
	Input  string
	Part   int
	Offset int64
}

// String is the word that Parse reads.
func (r RecordName) String() string {
	if r.Input == "" {
		return fmt.Sprint(r.Offset)
	}
	return fmt.Sprintf("%s/%d:%d", r.Input, r.Part, r.Offset)
}

// Plan is the list of faults of a scenario. Where two of them strike at one place or one time, the
// first one strikes first, and may leave nothing for the other.
type Plan []Fault

// Lines is the plan as ParsePlan reads it.
func (p Plan) Lines() []string {
	lines := make([]string, len(p))
	for i, f := range p {
		lines[i] = f.String()
	}
	return lines
}
