package report

import (
	"fmt"
	"io"

	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/scenarios"
)

// traceHeader is the first line of a trace file.
type traceHeader struct {
	Trace    int      `json:"trace"` // version of the format
	Golden   int      `json:"golden"`
	Scenario string   `json:"scenario"`
	Mode     string   `json:"mode"`
	Seed     uint64   `json:"seed"`
	Faults   []string `json:"faults"`
	Hash     string   `json:"hash"`
	Events   int64    `json:"events"`
}

// traceEvent is one line of a trace file.
type traceEvent struct {
	I       int64  `json:"i"`
	T       int64  `json:"t"`
	At      string `json:"at,omitempty"`
	Attempt int32  `json:"attempt,omitempty"`
	Kind    string `json:"kind"`
	To      string `json:"to,omitempty"`
	From    string `json:"from,omitempty"`
	Msg     string `json:"msg,omitempty"`
	Record  string `json:"record,omitempty"`
	Key     string `json:"key,omitempty"`
	Value   string `json:"value,omitempty"`
	Seq     *int64 `json:"seq,omitempty"`
	Try     int32  `json:"try,omitempty"`
	Outcome string `json:"outcome,omitempty"`
	// Checkpoint is the checkpoint, or the batch, that the event is about.
	Checkpoint int64 `json:"checkpoint,omitempty"`
	// Txn is the transaction of the external log: its id, and behind a slash its epoch unless that
	// is the only one. An id that was made within an attempt is the attempt, a dot and a number.
	Txn    string  `json:"txn,omitempty"`
	Cause  []int64 `json:"cause,omitempty"`
	Detail string  `json:"detail,omitempty"`
}

// traceVersion is the version of the format of trace files.
const traceVersion = 1

// WriteTrace writes the full trace of a run as JSON lines: a header, then an event a line. The
// error is that of the writer.
func WriteTrace(to io.Writer, c *Case) error {
	h := c.Result.Subject.History
	if err := writeLine(to, traceHeader{Trace: traceVersion, Golden: scenarios.GoldenVersion,
		Scenario: c.Scenario.Name, Mode: c.Scenario.Mode.Name, Seed: c.Scenario.Seed,
		Faults: list(c.Scenario.Faults.Lines()), Hash: hex(h.End.Hash),
		Events: h.End.N}); err != nil {
		return err
	}
	t := newTape(c)
	for i := range t.entries {
		if err := writeLine(to, t.event(c, &t.entries[i])); err != nil {
			return err
		}
	}
	return nil
}

func writeLine(to io.Writer, doc any) error {
	data, err := marshal(doc, "")
	if err != nil {
		panic(fmt.Sprintf("report: a line of type %T: %v", doc, err))
	}
	_, err = to.Write(data)
	return err
}

func (t *tape) event(c *Case, e *model.Entry) traceEvent {
	ev := traceEvent{I: e.N, T: e.At, Attempt: e.Attempt, Kind: e.Kind.String(), Detail: e.Detail}
	if e.Proc >= 0 {
		ev.At = t.name(e.Proc)
	}
	switch {
	case e.Service >= 0:
		ev.To = model.ServiceNames[e.Service]
	case e.Kind == model.EntryDeliver:
		ev.From = t.name(e.To)
	case e.To >= 0:
		ev.To = t.name(e.To)
	}
	if e.Cause != 0 {
		ev.Cause = []int64{e.Cause}
	}
	if e.Msg.Kind != model.NoKind || e.Kind == model.EntryApply {
		t.message(c, e, &ev)
	}
	if e.Service >= 0 && e.Outcome != model.Pending {
		ev.Outcome = e.Outcome.String()
	}
	return ev
}

// message tells of the message or request of an event.
func (t *tape) message(c *Case, e *model.Entry, ev *traceEvent) {
	m := &e.Msg
	if m.Kind != model.NoKind {
		ev.Msg = m.Kind.String()
		ev.Seq, ev.Try = &m.Seq, m.Try
	}
	ev.Checkpoint, ev.Txn = t.checkpointOf(e), t.txnName(e)
	switch m.Kind {
	case model.Position, model.Latest, model.Fetch, model.OffsetCommit:
		ev.Record = t.job.Topology.PartitionName(m.Record.ID.Part)
		if e.Kind == model.EntryAnswer && e.Outcome != model.Unknown {
			ev.Value = fmt.Sprintf("offset %d, %d records", e.Ans.Seq, e.Ans.N)
		}
		return
	case model.Get:
		ev.Value = e.Ans.Value.String()
	default:
		if m.Record.ID.Offset >= 0 {
			ev.Value = m.Record.Value.String()
		}
	}
	if c.Result.Subject.Input.Has(m.Record.ID) {
		ev.Record = c.recordName(m.Record.ID)
	}
	ev.Key = m.Record.Key
}
