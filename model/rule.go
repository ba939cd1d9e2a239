package model

import "fmt"

// Action is what a fault does. The set is fixed: a new fault recombines actions.
type Action uint8

// The actions.
const (
	Crash            Action = iota + 1 // the process dies; the supervisor restarts it
	Pause                              // the process stands still for Rule.For
	LoseRequest                        // the request never reaches the service
	LoseAnswer                         // the service applies the request; the answer is lost
	DelayRequest                       // the request is Rule.For later, and may be overtaken
	DuplicateRequest                   // a second copy reaches the service Rule.For after the first
	LoseMessage                        // the message never arrives
	DelayMessage                       // the message is Rule.For later, and may be overtaken
	DuplicateMessage                   // a second copy arrives Rule.For after the first
	ReorderMessages                    // the message arrives after the next, or Rule.For later
)

var actionNames = [...]string{"", "crash", "pause", "lose request", "lose answer", "delay call",
	"duplicate call", "lose message", "delay message", "duplicate message", "reorder message"}

// HitsMessage reports whether a strikes a message on a channel between two tasks.
func (a Action) HitsMessage() bool { return a >= LoseMessage && a <= ReorderMessages }

// String names the action; 0 has the empty name.
func (a Action) String() string {
	if int(a) >= len(actionNames) {
		panic(fmt.Sprintf("model: action %d has no name", uint8(a)))
	}
	return actionNames[a]
}

// Point says where within an effect a crash or pause falls.
type Point uint8

// The points. For an effect that is not a call, During and BeforeAck are never reached.
const (
	Before    Point = iota + 1 // the effect is next
	During                     // the request is on its way; the service applies it afterwards
	BeforeAck                  // the service has applied it; the caller does not know yet
	After                      // the effect is done and, for a call, its outcome known
	AtTime                     // at virtual time Rule.At, between two effects
)

var pointNames = [...]string{"", "before", "during", "before ack of", "after", "at"}

// String is the word of the fault language; 0 has none.
func (p Point) String() string {
	if int(p) >= len(pointNames) {
		panic(fmt.Sprintf("model: point %d has no name", uint8(p)))
	}
	return pointNames[p]
}

// Scope says what a rule's ordinal counts.
type Scope uint8

// The scopes. All count what the process does, over every life and attempt.
const (
	EveryEffect      Scope = iota + 1 // numbered effects of the process
	RecordEffect                      // numbered effects whose message names Rule.Record
	StartEffect                       // numbered effects of the process in its Rule.Life-th life
	CallOfKind                        // requests of kind Rule.Call, repeats included
	MessageOnChannel                  // messages of kind Rule.Call to Rule.Peer, resends included
)

// Rule is a compiled fault: the world matches it by comparing numbers, never by parsing. A rule
// fires once, at the N-th match (from 1).
type Rule struct {
	Action Action
	Proc   ProcID
	Point  Point
	Scope  Scope
	N      int64
	Record ID
	Life   int32
	Call   Kind   // CallOfKind: of the request; MessageOnChannel: Data or Ack
	Peer   ProcID // MessageOnChannel: the receiver
	At     int64  // virtual ns
	For    int64  // virtual ns
}

// Validate panics on a rule that no fault compiles to; it documents the legal combinations.
func (r *Rule) Validate() {
	if !r.isLegal() {
		panic(fmt.Sprintf("model: no fault compiles to rule %+v", *r))
	}
}

// takesTime reports whether a needs Rule.For.
func (a Action) takesTime() bool {
	switch a {
	case Pause, DelayRequest, DelayMessage, ReorderMessages:
		return true
	}
	return false
}

func (r *Rule) isLegal() bool {
	isProcess := r.Action == Crash || r.Action == Pause
	switch {
	case r.Action < Crash || r.Action > ReorderMessages || r.Proc < 0:
		return false
	case r.Action.takesTime() && r.For <= 0:
		return false
	case r.Action.HitsMessage():
		return r.Scope == MessageOnChannel && r.Point == 0 && r.N >= 1 && r.Peer >= 0 &&
			(r.Call == Data || r.Call == Ack)
	case isProcess && r.Point == AtTime:
		return r.At >= 0
	case isProcess && (r.Point < Before || r.Point > After):
		return false
	case !isProcess && (r.Scope != CallOfKind || r.Point != 0):
		return false
	}
	switch r.Scope {
	case EveryEffect:
		return r.N >= 1
	case RecordEffect:
		return r.N >= 1 && r.Record.Offset >= 0
	case StartEffect:
		return r.N >= 1 && r.Life >= 1
	case CallOfKind:
		return r.N >= 1 && r.Call.IsCall()
	}
	return false
}
