package model

import "fmt"

// History is what a checker judges: what services saw of calls, what callers know of them, what
// readers read, and what tasks claim to have applied. Event numbers order everything; 0 stands
// for an event that never came. All slices are in the order of their first event number.
type History struct {
	Lives        []Life
	Calls        []Call
	Servings     []Serving
	Applications []Application
	Observations []Observation // as readers saw it come
	Final        []Observation // what a reader sees that starts over when all is quiet
	Reached      []int64       // per rule: the event at which it fired, or 0
	Extent       Extent
	End          End
}

// LifeEnd says how a life of a process ended.
type LifeEnd uint8

// The ends of a life.
const (
	Alive     LifeEnd = iota // it lives at the end of the run
	Crashed                  // a fault killed it
	GaveUp                   // it ended itself with Fail
	Cancelled                // the supervisor ended it: the job restarts, or it had been replaced
)

var lifeEndNames = [...]string{"alive", "crashed", "gave up", "cancelled"}

// String names the end.
func (e LifeEnd) String() string { return lifeEndNames[e] }

// Life is one incarnation of a process.
type Life struct {
	Proc     ProcID
	Attempt  int32
	Life     int32 // from 1
	Began    int64
	Ended    int64
	Replaced int64 // the event at which a successor began while this one lived: a zombie from then
	How      LifeEnd
	Reason   string // GaveUp: why
	Nonce    uint64 // what its operator decides by, if it is not deterministic
}

// Call is one transmission of a request.
type Call struct {
	Proc     ProcID
	Attempt  int32
	Service  ServiceID
	Outcome  Outcome // what the caller knows
	Invoked  int64
	Served   int64 // the first time the service applied it
	Answered int64
	Req      Message
	Ans      Answer // what the service said at Served
}

// Serving is one application of a request by its service: a doubled request has two.
type Serving struct {
	N    int64
	At   int64 // virtual ns
	Call int32 // index in Calls
	Copy bool  // the second copy of a doubled request
	// Forgotten: the service answered, but what it was told is gone.
	Forgotten bool
	// Torn: the service answered, and has only the FirstHalf of the parts of the request.
	Torn bool
	Ans  Answer
}

// Application is a task's claim that it has applied its operator to a record.
type Application struct {
	N       int64
	At      int64
	Proc    ProcID
	Attempt int32
	Op      int32
	In      Record
	Outputs int32
	Dropped string
}

// Observation is one output as a reader saw it.
type Observation struct {
	N    int64
	At   int64
	Part int32
	Seq  int64 // its place in the partition
	Out  Record
}

// EndReason says why a run ended.
type EndReason uint8

// The reasons.
const (
	Quiescent   EndReason = iota + 1 // nothing is left to happen
	TimeBound                        // virtual time ran out: no progress
	EventBound                       // the budget of events is spent: nothing is known of the rest
	RestartLoop                      // as TimeBound, and life after life had given up
)

var endReasonNames = [...]string{"", "quiescent", "time bound", "event bound", "restart loop"}

// String names the reason.
func (r EndReason) String() string { return endReasonNames[r] }

// End is how a run ended.
type End struct {
	Reason EndReason
	N      int64  // the number of events
	At     int64  // virtual ns
	Hash   uint64 // of the whole trace: every event and every draw
	Draws  int64
}

// Reset empties h and keeps its memory. Extent is left to its own Reset, which wants a size.
func (h *History) Reset() {
	h.Lives, h.Calls, h.Servings = h.Lives[:0], h.Calls[:0], h.Servings[:0]
	h.Applications, h.Observations = h.Applications[:0], h.Observations[:0]
	h.Final, h.Reached, h.End = h.Final[:0], h.Reached[:0], End{}
}

// EntryKind says what a trace entry tells.
type EntryKind uint8

// The kinds of trace entry.
const (
	EntryStart   EntryKind = iota + 1 // a life begins
	EntryCrash                        // a life ends by a fault
	EntryGiveUp                       // a life ends itself
	EntryCancel                       // the supervisor ends a life
	EntryPause                        // a process stands still
	EntryResume                       // it goes on
	EntrySend                         // a message leaves
	EntryDeliver                      // a message is handled
	EntryDrop                         // a message finds nobody
	EntryInvoke                       // a request leaves
	EntryServe                        // a service applies a request
	EntryAnswer                       // a caller knows the outcome
	EntryLate                         // an answer comes too late and is ignored
	EntryLose                         // a fault takes a request, an answer or a message
	EntryDelay                        // a fault holds a request or a message up
	EntryDouble                       // a fault doubles a request or a message
	EntryTimer                        // a timer is due
	EntryApply                        // a task claims an application
	EntryObserve                      // a reader sees an output
	EntryEnd                          // the run ends
	entryEnd
)

var entryNames = [entryEnd]string{"", "start", "crash", "give-up", "cancel", "pause", "resume",
	"send", "deliver", "drop", "invoke", "serve", "answer", "late", "lose", "delay", "double",
	"timer", "apply", "observe", "end"}

// String is the word in trace files.
func (k EntryKind) String() string {
	if k == 0 || k >= entryEnd {
		panic(fmt.Sprintf("model: entry kind %d has no name", uint8(k)))
	}
	return entryNames[k]
}

// Entry is one event of a full trace.
type Entry struct {
	N       int64
	At      int64
	Cause   int64 // the event that brought this one about, or 0
	Kind    EntryKind
	Proc    ProcID // whose event it is, or Nobody
	Attempt int32
	To      ProcID    // Send, Deliver, Drop, and what faults do to messages: the other end
	Service ServiceID // calls: the service, else Nobody
	Outcome Outcome
	Msg     Message
	Ans     Answer
	Detail  string
}

// Extent is what a run offers to anchor faults at: everything that happened, counted as rules
// count it.
type Extent struct {
	Effects  []int64   // per process: numbered effects
	Calls    [][]int64 // per process, by Kind: transmissions
	Messages [][]int64 // per process, by MessageIndex: messages to other processes
	Lives    []int32   // per process: lives begun
	Seen     [][]ID    // per process: the input records that it claims to have applied, in order
	Input    []int64   // per partition of the input: how many records it has
}

// messageKinds is how many kinds of message there are: Data, Ack, and Barrier to Ready.
const messageKinds = 2 + int(Ready-Barrier) + 1

// MessageIndex is where Extent.Messages of a sender counts messages of a kind to a receiver.
func MessageIndex(to ProcID, kind Kind) int {
	if kind >= Barrier {
		kind -= Barrier - Ack - 1
	}
	return messageKinds*int(to) + int(kind-Data)
}

// MessageAt is the inverse of MessageIndex.
func MessageAt(index int) (to ProcID, kind Kind) {
	kind = Data + Kind(index%messageKinds)
	if kind > Ack {
		kind += Barrier - Ack - 1
	}
	return ProcID(index / messageKinds), kind
}

// Reset makes e ready for a run of n processes; it keeps its memory.
func (e *Extent) Reset(n int) {
	for len(e.Effects) < n {
		e.Effects = append(e.Effects, 0)
		e.Calls = append(e.Calls, make([]int64, kindEnd))
		e.Messages = append(e.Messages, nil)
		e.Lives = append(e.Lives, 0)
		e.Seen = append(e.Seen, nil)
	}
	e.Effects, e.Calls, e.Lives = e.Effects[:n], e.Calls[:n], e.Lives[:n]
	e.Messages, e.Seen, e.Input = e.Messages[:n], e.Seen[:n], e.Input[:0]
	for i := range n {
		e.Effects[i], e.Lives[i], e.Seen[i] = 0, 0, e.Seen[i][:0]
		clear(e.Calls[i])
		if cap(e.Messages[i]) < messageKinds*n {
			e.Messages[i] = make([]int64, messageKinds*n)
		}
		e.Messages[i] = e.Messages[i][:messageKinds*n]
		clear(e.Messages[i])
	}
}
