package checker

import (
	"fmt"

	"github.com/oncesim/oncesim/model"
)

// Linearizable asks of each service whether what its callers were told can be told of one that
// takes calls one at a time, each at some instant between its invocation and its answer. It is a
// second opinion on the services themselves: no mode claims it, it is not in All, and it neither
// implies nor follows from exactly-once. A perfectly linearizable log may hold every output twice.
//
// There is one verdict for each of model.InputLog, model.StateStore and model.External, in this
// order, all named "linearizable". Of the subject only History and Shape are looked at, and where
// Mode keeps its state. Each object is judged alone, which loses nothing, since linearizability is
// local; one is asked what another may have held:
//
//   - the committed offset of a partition of the input is a register, 0 at first: offset commits
//     write it, positions read it. Latest and Fetch depend on the clock and are left out;
//   - what the state store holds for an operator under a key is a register, absent at first, that
//     puts and updates with state write;
//   - the row of a task in the state store knows the highest attempt that it has accepted a fenced
//     request of, and accepts none of a lower one. What else a row holds is not looked at. So do
//     all checkpoints and batches together, and each partition of the external system;
//   - the completed checkpoint is a register, 0 at first, that completions change by compare and
//     set and that Newest reads. Reads of what was completed before it are left out;
//   - a partition of an external log is a list. A write appends and is told its place. Each
//     observation of a reader reads one place. The final read, and a Read that a task asked for,
//     returns everything from its cursor on, so that it also says where the log ended;
//   - a batch is as many writes of which all take effect or none. That it is one step is not
//     judged;
//   - of a log with transactions each transactional id is a register that is undecided with each
//     begin, and then decided once: by a commit or an abort, by the next begin, or, which no call
//     tells, by time. Writes, and requests to prepare, say that it is undecided. A commit of
//     whatever is prepared may decide any. Where entries are is not judged. If the mode has its
//     state in checkpoints, a commit that names one is also held to the register of the completed
//     checkpoint: it is not done before a completion of that one, or of a later one, can be;
//   - a row of an external table is a register that holds a record, absent at first. Writes with a
//     version change it if theirs is above the one that it holds, and are told otherwise: done
//     before if it is the same, stale if it is below. An observation during the run says that the
//     row held a record at some time before it, since a reader is shown all changes; the final read
//     says what it holds then. What tasks read of tables is not looked at.
//
// An update writes to a row and to keyed state at once. That each by itself is right is necessary
// and not sufficient; whether its catalog knows an input is not judged either.
//
// Instants are event numbers, and an interval holds both its ends. A call whose outcome is unknown
// or that had no answer when the run ended may take effect at any time from its invocation on, or
// never. So may the copy of a doubled request, beside the request. A call that was refused is left
// out, since a service may refuse any and do nothing: a history does not tell a request that was
// fenced off from one that a fault refused. A change that had been made before is left out as well;
// a Write to a log that had been made before reads that its identity is at the place that it is
// told. When a service served a request is not looked at: that is what is judged.
//
// # How it is decided
//
// Logs are decided completely, in one pass over the calls and a sort of the writes whose place
// nobody was told: places force the order, so that it is enough that they are dense and unique and
// that nothing was finished before what lies in front of it had begun. Registers are searched
// with porcupine (Athalye, "Porcupine: a fast linearizability checker in Go"; after Wing and Gong
// 1993 and Lowe 2017); so are rows of tables. A fence needs no search: attempts order its calls. A
// write of unknown outcome is left out where nobody read its value. That is exact for a register; a
// list has no such rule, because an unread entry still moves what comes after it.
//
// # When the answer is unknown
//
// Recognising linearizable registers is NP-complete (Gibbons and Korach 1997). stepsMax bounds the
// steps that the search takes for all registers of one service; 0 means StepsDefault. There is a
// second bound for memory, of which a search needs an eighth of a byte a step and call: registers
// of about forty thousand calls are beyond it. Neither is a matter of time, so that a verdict is
// the same wherever it is worked out. What is hard in practice is an impossible read beside many
// repeated writes of one value without an answer, or writes with versions without one, of which
// none may be left out.
//
// # What a violation says
//
// Each object has at most one anomaly, Unexplained. Of a register or a row it cites the invocation
// and the answer of the first call that cannot be placed: what was answered before it can be
// explained, what was answered up to it cannot. Of a log it cites the two events whose order
// contradicts the places, or the events of the call or observation that no list gives. Reason says
// the first of them in words. Where the budget runs out while the first call is looked for, a later
// one is cited, up to which nothing is explained either.
//
// The definition is that of Herlihy and Wing, "Linearizability: A Correctness Condition for
// Concurrent Objects", TOPLAS 1990.
func Linearizable(s Subject, stepsMax int) []model.Verdict {
	if stepsMax == 0 {
		stepsMax = StepsDefault
	}
	isDecided := s.Mode != nil && s.Mode.State == model.Snapshotted
	l := linear{h: s.History, hasDecisions: isDecided}
	g := l.sort(s.Shape)
	if l.hasBatches {
		l = linear{h: unbatched(s.History), hasDecisions: isDecided}
		g = l.sort(s.Shape)
	}
	verdicts := []model.Verdict{
		l.registers(model.InputLog, stepsMax),
		l.registers(model.StateStore, stepsMax),
	}
	switch {
	case s.Shape == model.Log && l.hasTransactions:
		return append(verdicts, l.decisions(stepsMax))
	case s.Shape == model.Log:
		return append(verdicts, l.logs(g))
	}
	return append(verdicts, l.tables(s.Shape, stepsMax))
}

// The reasons for Undecided of Linearizable.
const (
	reasonLinearSteps = "the search for an order of the calls spent its budget of steps"
)

// linear judges the services of one history.
type linear struct {
	h       *model.History
	calls   [model.External][]int32 // to the services before the external one
	verdict *model.Verdict

	hasBatches, hasTransactions bool
	hasDecisions                bool // the completion of a checkpoint decides of transactions
}

// sort goes through the calls once: it lists those to each service, and enters those to an external
// log into what it returns. If there are batches, or a log has transactions, that is of no use.
func (l *linear) sort(shape model.SinkShape) (g *logs) {
	if shape == model.Log {
		g = &logs{linear: l, end: l.h.End.N, isGuess: true}
		g.showFinal()
	}
	for i := range l.h.Calls {
		call := &l.h.Calls[i]
		if g != nil {
			g.end = max(g.end, call.Invoked, call.Answered)
		}
		if call.Service >= 0 && call.Service < model.External {
			l.calls[call.Service] = append(l.calls[call.Service], int32(i))
			continue
		}
		switch call.Req.Kind {
		case model.WriteBatch:
			l.hasBatches = true
		case model.BeginTxn:
			l.hasTransactions = true
		case model.Write, model.Read:
			if g != nil && isOfLog(call) {
				g.guess(call)
			}
		}
	}
	return g
}

// begin starts a verdict.
func (l *linear) begin() *model.Verdict {
	l.verdict = &model.Verdict{Property: "linearizable"}
	return l.verdict
}

// conclude settles the verdict: reason is why it would be undecided, or "".
func (l *linear) conclude(reason string) model.Verdict {
	v := l.verdict
	switch {
	case len(v.Anomalies) > 1:
		v.Result = model.Violated
		v.Reason += fmt.Sprintf("; %d more", len(v.Anomalies)-1)
	case len(v.Anomalies) == 1:
		v.Result = model.Violated
	case reason != "":
		v.Result, v.Reason = model.Undecided, reason
	default:
		v.Result = model.Holds
	}
	return *v
}

// report adds an anomaly about a record, with the events that it cites in order.
func (l *linear) report(rec *model.Record, observed model.Fact, reason string, events ...int64) {
	a := model.Anomaly{Kind: model.Unexplained, Record: *rec, Expected: model.Fact{Times: -1},
		Observed: observed}
	for _, n := range events {
		a.Cite(n)
	}
	if len(l.verdict.Anomalies) == 0 {
		l.verdict.Reason = reason
	}
	l.verdict.Anomalies = append(l.verdict.Anomalies, a)
}

// isKnown reports whether the caller has the answer to its call.
func isKnown(call *model.Call) bool {
	return call.Answered != 0 && (call.Outcome == model.Done || call.Outcome == model.DoneBefore)
}

// isOpen reports whether the caller cannot tell if its call took effect.
func isOpen(call *model.Call) bool {
	return call.Answered == 0 || call.Outcome == model.Unknown || call.Outcome == model.Pending
}
