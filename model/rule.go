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
	CutLink                            // what leaves Proc for its other side, or back, is lost
	CrashService                       // the service is down for Rule.For; what is durable stays
	RefuseRequest                      // the service answers Refused and does nothing
	ForgetRequest                      // the service answers, and what it was told is gone
	StaleRead                          // the service answers as it was before its last change
	TruncateInput                      // records before Rule.Record are gone from the input log
	PoisonRecord                       // applying the operator to Rule.Record fails every time
	TearRequest                        // the service answers, and keeps the first half of the parts
)

var actionNames = [...]string{"", "crash", "pause", "lose request", "lose answer", "delay call",
	"duplicate call", "lose message", "delay message", "duplicate message", "reorder message",
	"partition", "crash service", "refuse call", "forget call", "stale call", "truncate", "poison",
	"tear call"}

// HitsMessage reports whether a strikes a message on a channel between two tasks.
func (a Action) HitsMessage() bool { return a >= LoseMessage && a <= ReorderMessages }

// HitsService reports whether a strikes a service by itself, whoever calls it.
func (a Action) HitsService() bool { return a == CrashService || a == TruncateInput }

// Fits reports whether a can be anchored at requests of kind k. Only what changes something can be
// forgotten, and only what was changed can be read as it was. Only what is written piece by piece
// can be torn: files are, while a row, a batch and a plan are one step by the promise of who has
// them.
func (a Action) Fits(k Kind) bool {
	switch a {
	case ForgetRequest:
		return k.IsDurable()
	case StaleRead:
		return k.IsCall() && !k.IsDurable() && k != Read
	case TruncateInput:
		return k == Fetch
	case TearRequest:
		return k == Upload
	}
	return k.IsCall()
}

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
	CheckpointEffect                  // numbered effects about checkpoint Rule.Checkpoint
)

// Rule is a compiled fault: the world matches it by comparing numbers, never by parsing. A rule
// fires once, at the N-th match (from 1).
//
// CutLink, CrashService and TruncateInput begin at a time, or at the N-th match: then what matches
// is the first that they strike. It is a request of Proc, for CutLink also a message from Proc to
// Peer, or with point BeforeAck the answer to a request.
type Rule struct {
	Action Action
	Proc   ProcID // CrashService and TruncateInput at a time: Nobody
	Point  Point
	Scope  Scope
	N      int64
	Record ID // RecordEffect, PoisonRecord; TruncateInput: the first that stays
	Life   int32
	// Checkpoint: CheckpointEffect, the id.
	Checkpoint int64
	Call       Kind      // CallOfKind: of the request; MessageOnChannel: of the message
	Peer       ProcID    // MessageOnChannel: the receiver; CutLink: the other side, or Nobody
	Service    ServiceID // CrashService; CutLink with Peer Nobody: the other side
	At         int64     // virtual ns
	For        int64     // virtual ns
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
	case Pause, DelayRequest, DelayMessage, ReorderMessages, CutLink, CrashService:
		return true
	}
	return false
}

func (r *Rule) isLegal() bool {
	isNobody := r.Action.HitsService() && r.Point == AtTime
	switch {
	case r.Action < Crash || r.Action > TearRequest || r.Action.takesTime() && r.For <= 0:
		return false
	case isNobody != (r.Proc == Nobody) || r.Proc < Nobody:
		return false
	case r.Action == Crash || r.Action == Pause:
		return r.isLegalOfProcess()
	case r.Action == CutLink:
		return r.isLegalCut()
	case r.Action.HitsService():
		return r.isLegalOfService()
	case r.Action == PoisonRecord:
		return r.Scope == RecordEffect && r.Point == 0 && r.N == 0 && r.Record.Offset >= 0
	case r.Action.HitsMessage():
		return r.isMessage() && r.Point == 0
	}
	return r.isCall() && r.Point == 0
}

// isCall reports whether r is anchored at a request that its action fits.
func (r *Rule) isCall() bool {
	return r.Scope == CallOfKind && r.N >= 1 && r.Call.IsCall() && r.Action.Fits(r.Call)
}

// isMessage reports whether r is anchored at a message to another process.
func (r *Rule) isMessage() bool {
	return r.Scope == MessageOnChannel && r.N >= 1 && r.Peer >= 0 && r.Call.IsMessage()
}

func (r *Rule) isAtTime() bool { return r.Point == AtTime && r.Scope == 0 && r.At >= 0 }

func (r *Rule) isLegalOfProcess() bool {
	switch {
	case r.Point == AtTime:
		return r.At >= 0
	case r.Point < Before || r.Point > After || r.N < 1:
		return false
	}
	switch r.Scope {
	case EveryEffect:
		return true
	case RecordEffect:
		return r.Record.Offset >= 0
	case StartEffect:
		return r.Life >= 1
	case CheckpointEffect:
		return r.Checkpoint >= 1
	}
	return r.isCall()
}

func (r *Rule) isLegalCut() bool {
	switch {
	case r.Peer >= 0:
		return r.Peer != r.Proc && (r.isAtTime() || r.isMessage() && r.Point == 0)
	case r.Peer != Nobody || r.Service < 0 || r.Service >= ServiceEnd:
		return false
	case r.Point == 0 || r.Point == BeforeAck:
		return r.isCall() && r.Call.Service() == r.Service
	}
	return r.isAtTime()
}

func (r *Rule) isLegalOfService() bool {
	switch {
	case r.Service < 0 || r.Service >= ServiceEnd:
		return false
	case r.Action == TruncateInput && (r.Service != InputLog || r.Record.Offset < 1):
		return false
	case r.Point == 0:
		return r.isCall() && r.Call.Service() == r.Service
	}
	return r.isAtTime()
}
