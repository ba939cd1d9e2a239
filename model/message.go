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

	Barrier     // between tasks: what follows on this channel is behind checkpoint Seq
	Trigger     // coordinator to a source: begin checkpoint Seq; a batch: see Batches
	Acknowledge // task to coordinator: its part of checkpoint Seq is durable
	Decline     // task to coordinator: its part of checkpoint Seq failed
	Complete    // coordinator to a task: checkpoint Seq is completed
	Cancel      // coordinator to a task: checkpoint Seq is aborted
	Restore     // coordinator to a task: begin from checkpoint Seq; 0: from the start
	Ready       // task to coordinator: it has begun from checkpoint Seq

	NextCheckpoint // state store: a checkpoint id that was never given out
	Upload         // state store: Parts become the part of task Token of checkpoint Seq
	Completion     // state store: the completed checkpoint becomes Seq; see there
	Newest         // state store: the completed checkpoint, or the N-th before it
	Download       // state store: the part of task Token of checkpoint Seq
	Discard        // state store: drop the parts of checkpoint Seq; see there

	WriteBatch // external sink: make Parts visible in partition Seq, in one step
	BeginTxn   // transactional log: begin transaction Token; see there
	PrepareTxn // transactional log: what the transaction holds is whole, and kept for its commit
	CommitTxn  // transactional log: what the transaction holds becomes visible
	AbortTxn   // transactional log: what it holds never does
	ListTxns   // transactional log: the undecided transactions of partition Channel

	PlanBatch   // state store: the input of batch Seq, put if absent; see there
	FinishBatch // state store: batch Seq is finished
	NewestBatch // state store: the batch planned last, and whether it is finished

	InitTxn // transactional log: nothing is open under id Token, and its epoch is a new one
	kindEnd
)

var kindNames = [kindEnd]string{"none", "data", "ack", "position", "latest", "fetch",
	"offset-commit", "get", "put", "write", "read", "load-ids", "load-outbox", "update", "mark",
	"barrier", "trigger", "acknowledge", "decline", "complete", "cancel", "restore", "ready",
	"checkpoint-id", "upload", "completion", "newest", "download", "discard",
	"write-batch", "begin-txn", "prepare-txn", "commit-txn", "abort-txn", "list-txns",
	"plan-batch", "finish-batch", "newest-batch", "init-txn"}

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
	Update: StateStore, Mark: StateStore,

	Barrier: Nobody, Trigger: Nobody, Acknowledge: Nobody, Decline: Nobody, Complete: Nobody,
	Cancel: Nobody, Restore: Nobody, Ready: Nobody,

	NextCheckpoint: StateStore, Upload: StateStore, Completion: StateStore, Newest: StateStore,
	Download: StateStore, Discard: StateStore,

	WriteBatch: External, BeginTxn: External, PrepareTxn: External, CommitTxn: External,
	AbortTxn: External, ListTxns: External,

	PlanBatch: StateStore, FinishBatch: StateStore, NewestBatch: StateStore,

	InitTxn: External}

// IsCall reports whether k is a request to a service.
func (k Kind) IsCall() bool { return k < kindEnd && services[k] != Nobody }

// IsMessage reports whether k travels between two processes.
func (k Kind) IsMessage() bool { return k != NoKind && k < kindEnd && services[k] == Nobody }

// IsNotice reports whether k travels between the coordinator of checkpoints and a task.
func (k Kind) IsNotice() bool { return k >= Trigger && k <= Ready }

// IsDurable reports whether a request of kind k changes something durable.
func (k Kind) IsDurable() bool {
	switch k {
	case Put, Update, Mark, Write, OffsetCommit, NextCheckpoint, Upload, Completion, Discard,
		WriteBatch, BeginTxn, PrepareTxn, CommitTxn, AbortTxn, PlanBatch, FinishBatch, InitTxn:
		return true
	}
	return false
}

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
// channel, is answered DoneBefore and changes nothing. Mark is Update of the catalog alone; a sink
// that writes ahead marks in it what it has written, with a checkpoint for the number. LoadIDs
// and LoadOutbox read the row and take part in fencing: with them a new life shuts out those before
// it.

// Checkpoints. Seq is the checkpoint in every message and request about one; ids begin with 1. The
// attempt number of a job is its fencing token: a request with Fenced makes the service refuse,
// from then on, requests with Fenced of a lower Attempt. The checkpoint requests of the state store
// share one fence, and so do the requests about one partition of the external system.
//
//	NextCheckpoint  the answer's Seq is the id
//	Upload          Parts[:N] are keyed state (Op, Key, Value), or what the role of the task
//	                keeps; the rest are records that were in flight. A part that is there already
//	                is answered DoneBefore and stays
//	Completion      compare and set: Cursor is the checkpoint that is completed now. Where it is
//	                Seq already the answer is DoneBefore, where it is another one Stale, with it
//	                in the answer's Seq. The last N completed checkpoints are retained, this one
//	                included; parts of older ones are dropped. One that counts again, since its
//	                request comes late, gives up those that were completed after it
//	Newest          the answer's Seq is the completed checkpoint that N others followed, or the
//	                oldest retained one; 0: there is none
//	Download        Found, and Records and N as uploaded; without it the part is not there. Seq 0
//	                stands for the part that the task uploaded last. End: it is not what was
//	                uploaded, by length or checksum, but the beginning of it
//	Discard         all parts of a checkpoint go, be it the completed one. Of a batch, which runs
//	                again under its number, only those of earlier attempts do
//
// Transactions. A transactional id, Token, stands for one transaction after the other in a
// partition of the external log, Channel. Each has an epoch: the answer of BeginTxn gives it, and
// requests say it in N; N 0 stands for whichever comes.
//
//	InitTxn     what is undecided under the id is aborted, and its epoch is one above the last, as
//	            of a transaction that was aborted; none is begun. The answer's Seq is the epoch: 1
//	            says that the id was never used. Where the last is of the same attempt the request
//	            is a repeated one: DoneBefore, with that epoch
//	BeginTxn    Cursor is the timeout, virtual ns from now, after which the service aborts what is
//	            undecided; 0: it never does. N is the epoch that the transaction is to have: one
//	            above the last of this id. Where the last has it, is undecided and of the same
//	            attempt, the answer is DoneBefore, where there is any other it is Stale. With N 0
//	            the epoch is one above the last, and what is undecided under this id is aborted
//	Write       with Token and Cursor: the Cursor-th record (from 0) of the open transaction Token
//	            in partition Seq. A lower Cursor is answered DoneBefore, a higher one Stale. With
//	            Cursor -1 nothing is compared
//	PrepareTxn  CommitTxn, AbortTxn: Done, or DoneBefore where that is so already; Stale where it
//	            cannot be any more: it was ended otherwise, is not known, or is of another epoch.
//	            So is a Write. CommitTxn takes an open transaction too
//	CommitTxn   with Whole: what is prepared for checkpoint Seq, or an earlier one, in any
//	            partition is decided in one step. Of a checkpoint all is committed, or, where one
//	            of its transactions was aborted, the rest is too: N of the answer are. Where
//	            nothing is left to decide the answer is DoneBefore, or Stale if Seq was given up
//	ListTxns    Records: ID.Offset is the transactional id, Op 0: open, 1: prepared, Value.Num
//	            the checkpoint, if it is prepared, and Path the epoch
//
// PrepareTxn, CommitTxn and AbortTxn say the checkpoint in Seq.
//
// Batches. WriteBatch with Token other than 0 is the batch of that id of the partition: a log that
// knows batches answers DoneBefore to one that it holds. PlanBatch holds in Parts the end of each
// partition: ID.Part and ID.Offset. A batch that is planned already is answered Stale, with its
// Records, unless the same attempt asks again with what is there: DoneBefore. NewestBatch is
// answered with its number in Seq, 0 for none, its Records, and Found if it is finished. Between
// the tasks of a job that runs in batches
//
//	Trigger  has the source's range: from Cursor on, up to N
//	Data     has its batch in Token and its number within the batch and channel in Seq
//	Barrier  has in N how many Data it follows
//
// Snapshots that tasks take by themselves are uploaded under numbers of the task's own; their Parts
// end with counts (semantics.IndependentSnapshots). Restore then has in N the newest number.

// Flags are the yes-or-no parts of a Message.
type Flags uint8

// The flags.
const (
	Fenced    Flags = 1 << iota // refuse an attempt older than the newest seen with it
	WithState                   // Update: Record.Key and Record.Value are the new keyed state
	// InOrder: of a Write, refuse what leaves a gap behind Cursor, or is of an earlier epoch N than
	// the last; of an Update or a Mark, a number that is not above the last was taken.
	InOrder
	Versioned // Write to a table by key: refuse a version that is not above
	Whole     // Read: the table as it is, not what changed in it; CommitTxn: see there
	Poisoned  // Data: applying the operator to it fails every time
	// Idle: of an Upload or an Acknowledge, the task has nothing left to do behind this checkpoint;
	// of a Trigger, a Barrier or a Complete, it is to do nothing: the job stops with it.
	Idle
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
	Parts   []Record // Update, Upload, WriteBatch, PlanBatch: see there. The world keeps it; a view
}

// FirstHalf is what a service keeps of the parts of a request that it tears.
func FirstHalf(parts []Record) []Record { return parts[:len(parts)/2] }

// Checkpoint is the checkpoint that m is about, or 0.
func (m *Message) Checkpoint() int64 {
	switch m.Kind {
	case Barrier, Trigger, Acknowledge, Decline, Complete, Cancel, Restore, Ready, Upload,
		Completion, Download, Discard, PrepareTxn, CommitTxn, AbortTxn:
		return m.Seq
	}
	return 0
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
	End     bool  // Fetch: the input ends where this answer ends; Download: see there
	Found   bool  // Get, Download: it is present; NewestBatch: it is finished
	Seq     int64 // Position, Latest: an offset; Fetch: the first offset; Write: where it is;
	// LoadIDs: the last number taken; LoadOutbox: the number of the first row; requests about
	// checkpoints, transactions and batches: an id, an epoch or a number, see there
	N       int64    // Records: how many; Download: how many are state; Write when Stale: a version
	Wait    int64    // Fetch with N == 0: virtual ns until the next record arrives
	Value   Value    // Get
	Records []Record // Fetch, Read, LoadIDs, LoadOutbox, Download, ListTxns, NewestBatch
	Places  []int64  // Read: the place of each record, row or offset; nil: consecutive from Seq
}
