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
	kindEnd
)

var kindNames = [kindEnd]string{"none", "data", "ack", "position", "latest", "fetch",
	"offset-commit", "get", "put", "write", "read"}

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
	Write: External, Read: External}

// IsCall reports whether k is a request to a service.
func (k Kind) IsCall() bool { return k < kindEnd && services[k] != Nobody }

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

// Message is what travels: between two tasks, or as a request to a service. One flat struct for
// all kinds, since it lives on the hot path; each Kind says which fields it uses.
type Message struct {
	Kind    Kind
	Channel int16  // Data, Ack: the receiver's input or output channel it belongs to
	Attempt int32  // the attempt of the sender: the fencing token
	Try     int32  // transmission number, from 0; a resend of the same thing counts up
	Seq     int64  // Data, Ack: number on the channel; requests: see Kind
	N       int64  // requests: how many
	Cursor  int64  // Read: where to go on
	Token   int64  // Ack: the sender's token of the Data it answers; a wiring detail of modes
	Record  Record // what it is about
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
)

var outcomeNames = [...]string{"pending", "done", "done before", "refused", "unknown"}

// String names the outcome.
func (o Outcome) String() string { return outcomeNames[o] }

// Answer is what a service says to a request. Records is a view that the service owns and never
// changes afterwards.
type Answer struct {
	Outcome Outcome
	Seq     int64    // Position, Latest: an offset; Fetch: the first offset; Write: where it is
	N       int64    // Fetch, Read: how many records
	Wait    int64    // Fetch with N == 0: virtual ns until the next record arrives
	End     bool     // Fetch: the input ends where this answer ends
	Found   bool     // Get: the key is present
	Value   Value    // Get
	Records []Record // Fetch, Read
}
