package model

import (
	"fmt"
	"slices"
)

// ProcID names a process of a run: its index in the assembly. ServiceID names a service likewise.
type (
	ProcID    int32
	ServiceID int32
)

// Nobody is the ProcID and ServiceID of no one.
const Nobody = -1

// Process is a state machine. The world hands it one event at a time and carries out the script
// that it answers with. It has no clock, draws nothing and does no input or output.
//
// Recovery is not a method. A restarted process is Started anew: it must forget all that it knew
// and open itself on what is durable, by calls.
type Process interface {
	// Start begins a life. The receiver may have lived before: it must be as if newly made.
	Start(self Self, s *Script)
	// Step handles one event. An answer to a blocking call arrives here too; effects that its
	// handling adds are carried out before what is left of the script.
	Step(ev *Event, s *Script)
	// State encodes or restores everything that Start and Step read or write.
	State(c *Codec)
}

// Service is a durable party: its state survives every crash of a process. Serve applies one
// request atomically; now is virtual time. Reset makes it as new.
type Service interface {
	Reset()
	Serve(now int64, req *Message, ans *Answer)
	State(c *Codec)
}

// Self is what a process knows of its own life.
type Self struct {
	Proc    ProcID
	Attempt int32 // unique in the run and growing: the fencing token
	Life    int32 // the how-manieth life of this process, from 1
	// Nonce is drawn anew for every life: what an operator that is not deterministic decides by.
	Nonce uint64
}

// EventKind says what an Event brings.
type EventKind uint8

// The kinds of event.
const (
	Delivered  EventKind = iota + 1 // Msg came from process From
	Answered                        // Ans is the outcome of the call Msg to a service
	TimerFired                      // the timer set with Token is due
)

// Event is what a process handles in one step. It is valid during Step only.
type Event struct {
	Kind  EventKind
	From  ProcID
	Token int64
	Msg   Message
	Ans   Answer
}

// EffectKind says what an Effect does.
type EffectKind uint8

// The kinds of effect. Send, Call and Begin can be seen by others and are numbered; a crash can be
// placed at each. After, Applied and Fail are the process's own and are not.
const (
	EffectSend    EffectKind = iota + 1 // a message to a process
	EffectCall                          // a request; the script waits for its outcome
	EffectBegin                         // a request; the script goes on, its outcome is an event
	EffectAfter                         // a timer
	EffectApplied                       // a claim: this task has applied the operator to a record
	EffectFail                          // give up this life; the supervisor starts another
)

// IsNumbered reports whether a fault can be anchored at effects of this kind.
func (k EffectKind) IsNumbered() bool { return k <= EffectBegin }

// Effect is one step of a script, made by the methods of Script.
type Effect struct {
	Kind      EffectKind
	UntilDone bool // calls: repeat while the outcome is unknown
	To        ProcID
	Service   ServiceID
	Delay     int64  // After: virtual ns
	Token     int64  // After
	Outputs   int32  // Applied: how many records the step emitted
	Reason    string // Applied: why the record was dropped, or ""; Fail: why
	Msg       Message
}

// Script is the ordered list of effects with which a process answers an event. The world owns and
// reuses it. A wrapper of a process may rewrite the effects that one Step has appended: those
// behind the length that Effects had before it.
type Script struct {
	Effects []Effect
	Memory  *Memory // where Message.Parts are kept; nil: they are copied to the heap
}

// add appends an effect whose Msg the caller sets: it is large, and is written once.
func (s *Script) add(k EffectKind) *Effect {
	n := len(s.Effects)
	if n == cap(s.Effects) {
		s.Effects = slices.Grow(s.Effects, 1)
	}
	s.Effects = s.Effects[:n+1]
	e := &s.Effects[n]
	e.Kind, e.UntilDone, e.To, e.Service = k, false, Nobody, Nobody
	e.Delay, e.Token, e.Outputs, e.Reason = 0, 0, 0, ""
	return e
}

// Send puts m on the channel to a process. It does not wait.
func (s *Script) Send(to ProcID, m Message) {
	e := s.add(EffectSend)
	e.To, e.Msg = to, m
}

// Call sends a request and blocks the process until its outcome is known: later events queue.
// The outcome, Unknown included, arrives as an Answered event before the script goes on.
func (s *Script) Call(to ServiceID, m Message) {
	m.Parts = s.Memory.Keep(m.Parts)
	e := s.add(EffectCall)
	e.Service, e.Msg = to, m
}

// CallUntilDone is Call that is sent again for as long as its outcome is unknown. Each repetition
// is a transmission of its own, which can be lost, delayed or doubled like the first.
func (s *Script) CallUntilDone(to ServiceID, m Message) {
	s.Call(to, m)
	s.Effects[len(s.Effects)-1].UntilDone = true
}

// Begin sends a request and does not wait; its outcome arrives as an Answered event in its turn.
func (s *Script) Begin(to ServiceID, m Message) {
	m.Parts = s.Memory.Keep(m.Parts)
	e := s.add(EffectBegin)
	e.Service, e.Msg = to, m
}

// After asks for a TimerFired event with the token in delay ns of virtual time.
func (s *Script) After(delay, token int64) {
	if delay <= 0 {
		panic(fmt.Sprintf("model: timer with delay %d", delay))
	}
	e := s.add(EffectAfter)
	e.Delay, e.Token, e.Msg = delay, token, Message{}
}

// Applied claims that this task has applied its operator to in, and what came of it. A claim is
// provenance for checkers; it is not an effect that others see.
func (s *Script) Applied(in Record, op int32, out *Outputs) {
	e := s.add(EffectApplied)
	e.Msg, e.Token = Message{Record: in}, int64(op)
	e.Outputs, e.Reason = int32(len(out.Records())), out.Dropped()
}

// Fail ends this life: what is left of the script is dropped and the supervisor restarts it.
func (s *Script) Fail(reason string) {
	e := s.add(EffectFail)
	e.Reason, e.Msg = reason, Message{}
}

// FailOn is Fail because of a record that cannot be processed, or of what a record stands for. A
// task that fails on the same one life after life gets nowhere.
func (s *Script) FailOn(rec Record, reason string) {
	e := s.add(EffectFail)
	e.Reason, e.Msg = reason, Message{Kind: Data, Record: rec}
}
