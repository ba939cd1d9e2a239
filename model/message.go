package model

import "fmt"

// Kind says what a message or a request is. Its String is the word that traces print and that the
// fault language reads.
type Kind uint8

// The kinds. Data and Ack travel between tasks; the others are requests to services. Their numbers
// enter trace hashes: append, never reorder.
const (
	NoKind       Kind = iota
	Data              // a record, from a task to the next
	Ack               // the receiver has finished with Data number Seq
	Position          // input log: the committed offset of partition Record.ID.Part
	Latest            // input log: the end of what has arrived in a partition
	Fetch             // input log: up to N records of a partition from offset Seq on
	OffsetCommit      // input log: the committed offset of a partition becomes Seq
	Get               // state store: the value under Record.Key for operator Record.Op
	Put               // state store: the value under Record.Key becomes Record.Value
	Write             // external sink: make Record visible in partition Seq
	Read              // external sink: what partition Seq shows from Cursor on
	LoadIDs           // state store: the catalog of input channel Channel in the row of task Token
	LoadOutbox        // state store: the outbox in the row of task Token
	Update            // state store: one atomic write to the row of task Token; see there
	Mark              // state store: the catalog of channel Channel in the row of task Token, alone
	kindEnd
)

var kindNames = [kindEnd]string{"none", "data", "ack", "position", "latest", "fetch",
	"offset-commit", "get", "put", "write", "read", "load-ids", "load-outbox", "update", "mark"}

// String is the kind's word in traces and fault lines.
func (k Kind) String() string {
	if k >= kindEnd {
		panic(fmt.Sprintf("model: kind %d has no name", uint8(k)))
	}
	return kindNames[k]
}

// services says which service serves a kind of request; Nobody: it is no request.
var services = [kindEnd]ServiceID{NoKind: Nobody, Data: Nobody, Ack: Nobody, Position: InputLog,
	Latest: InputLog, Fetch: InputLog, OffsetCommit: InputLog, Get: StateStore, Put: StateStore,
	Write: External, Read: External, LoadIDs: StateStore, LoadOutbox: StateStore,
	Update: StateStore, Mark: StateStore}

// IsCall reports whether k is a request to a service.
func (k Kind) IsCall() bool { return k < kindEnd && services[k] != Nobody }

// Service is the service that serves requests of kind k, or Nobody.
func (k Kind) Service() ServiceID { return services[k] }

// ParseKind is the inverse of String; ok is false for a word that names no kind.
func ParseKind(word string) (k Kind, ok bool) {
	for i := Data; i < kindEnd; i++ {
		if kindNames[i] == word {
			return i, true
		}
	}
	return NoKind, false
}

// Kinds lists all kinds in order.
func Kinds() []Kind {
	list := make([]Kind, 0, kindEnd)
	for k := Data; k < kindEnd; k++ {
		list = append(list, k)
	}
	return list
}

// A row is what the state store keeps for a task besides keyed state. Update writes all of it, and
// the keyed state, in one atomic step:
//
//	Token              the task whose row it is
//	Channel, Seq       the input: its channel, and its number there. The row keeps the highest
//	                   number of each channel, and a catalog of the inputs taken up
//	Record             the input's identity. Op is the operator; with WithState, Key and Value are
//	                   its new keyed state
//	N                  how many inputs the catalog of a channel holds at most, the latest ones
//	Parts              the outputs, to be appended to the outbox, which numbers them from 0 on
//	Cursor             outbox rows below this number are delivered and can go
//	Attempt, Fenced    with the flag, the store remembers the highest attempt that asked for the
//	                   row, and answers Refused to a lower one
//
// An input that is in the catalog already, or with InOrder is not above the highest number of its
// channel, is answered DoneBefore and changes nothing. Mark is Update of the catalog alone. LoadIDs
// and LoadOutbox read the row and take part in fencing: with them a new life shuts out those before
// it.

// Flags are the yes-or-no parts of a Message.
type Flags uint8

// The flags.
const (
	Fenced    Flags = 1 << iota // row requests: refuse an attempt older than the newest seen
	WithState                   // Update: Record.Key and Record.Value are the new keyed state
	// InOrder: of a Write, refuse what leaves a gap behind Cursor, or is of an earlier epoch N than
	// the last; of an Update or a Mark, a number that is not above the last was taken.
	InOrder
	Versioned // Write to a table by key: refuse a version that is not above
	Whole     // Read: the table as it is, not what changed in it
	Poisoned  // Data: applying the operator to it fails every time
)

// Message is what travels: between two tasks, or as a request to a service. One flat struct for
// all kinds, since it lives on the hot path; each Kind says which fields it uses. Between the tasks
// of the mode acker, Seq, Token and N of Data and Ack mean what semantics.Acker says.
type Message struct {
	Kind    Kind
	Flags   Flags
	Channel int16    // Data, Ack: the receiver's input or output channel it belongs to
	Attempt int32    // the attempt of the sender: the fencing token
	Try     int32    // transmission number, from 0; a resend of the same thing counts up
	Seq     int64    // Data, Ack: number on the channel; requests: see Kind
	N       int64    // requests: how many
	Cursor  int64    // Read: where to go on; Data, Write: the number before Seq or Token, or -1
	Token   int64    // Ack: the sender's token of the Data it answers; requests: see Kind
	Record  Record   // what it is about
	Parts   []Record // Update: what goes into the outbox. The world keeps it; a view
}

// Outcome is what a caller knows of its call.
type Outcome uint8

// The outcomes. Unknown is a value, not an error: the call may have been applied or not.
const (
	Pending    Outcome = iota // no answer yet
	Done                      // applied now
	DoneBefore                // an earlier transmission had been applied
	Refused                   // not applied, and the answer says so
	Unknown                   // no answer in time
	Stale                     // not applied: something newer is there already
)

var outcomeNames = [...]string{"pending", "done", "done before", "refused", "unknown", "stale"}

// String names the outcome.
func (o Outcome) String() string { return outcomeNames[o] }

// Answer is what a service says to a request. Records is a view that the service owns and never
// changes afterwards.
type Answer struct {
	Outcome Outcome
	Seq     int64 // Position, Latest: an offset; Fetch: the first offset; Write: where it is;
	// LoadIDs: the last number taken; LoadOutbox: the number of the first row
	N       int64    // Fetch, Read: how many records; Write when Stale: the version that is there
	Wait    int64    // Fetch with N == 0: virtual ns until the next record arrives
	End     bool     // Fetch: the input ends where this answer ends
	Found   bool     // Get: the key is present
	Value   Value    // Get
	Records []Record // Fetch, Read, LoadIDs, LoadOutbox
	Places  []int64  // Read of a table: the row of each record; nil: consecutive from Seq
}
