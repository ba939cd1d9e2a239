package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/scenarios"
)

// aliases are other names of what Explain explains.
var aliases = map[string]string{
	"2pc": "two-phase-commit", "transaction": "two-phase-commit",
	"transactions": "two-phase-commit", "eos": "exactly-once", "barriers": "barrier",
	"checkpoints": "checkpoint", "snapshots": "snapshot", "fence": "fencing",
	"microbatch": "micro-batch", "scenario": fileTopic,
}

// kindLore says what each kind of message and request is.
var kindLore = map[model.Kind]string{
	model.Data: "a record on its way from a task to the next",
	model.Ack:  "the receiver is done with a record, as far as it answers for it",

	model.Position:     "a source asks where its partition was committed last",
	model.Latest:       "a source asks where what has arrived in its partition ends",
	model.Fetch:        "a source asks for records from an offset on",
	model.OffsetCommit: "the committed offset moves: a restart begins there",

	model.Get: "an operator reads the state under a key",
	model.Put: "an operator writes the state under a key",

	model.Write: "a sink writes a record, at once or into a transaction",
	model.Read:  "a reader asks what there is to see",

	model.LoadIDs:    "a task that begins again asks what it had taken up, or written",
	model.LoadOutbox: "a task that begins again asks what it had still to send",
	model.Update:     "a task writes the id of an input, its state and its outputs in one step",
	model.Mark:       "a task writes the id of an input, or a sink what it has written, by itself",

	model.Barrier:     "the mark between what belongs to a checkpoint and what comes behind it",
	model.Trigger:     "the coordinator has a source begin a checkpoint, or a batch",
	model.Acknowledge: "a task tells the coordinator that its part of a checkpoint is durable",
	model.Decline:     "a task tells the coordinator that its part of a checkpoint failed",
	model.Complete:    "the coordinator tells a task that a checkpoint is complete",
	model.Cancel:      "the coordinator tells a task that a checkpoint is aborted",
	model.Restore:     "the coordinator tells a task where to begin",
	model.Ready:       "a task tells the coordinator that it has begun from there",

	model.NextCheckpoint: "the coordinator takes a number for a checkpoint",
	model.Upload:         "a task makes its part of a checkpoint durable",
	model.Completion:     "the decision: a checkpoint becomes the completed one",
	model.Newest:         "a coordinator that begins asks for the completed checkpoint",
	model.Download:       "a task that begins again reads its part of a checkpoint",
	model.Discard:        "the coordinator drops the parts of a checkpoint",

	model.WriteBatch: "a sink writes all of a batch in one step",
	model.InitTxn: "a sink takes a transactional id over: what is open under it is aborted, and " +
		"nothing is begun",
	model.BeginTxn:   "a sink begins a transaction of the external log",
	model.PrepareTxn: "a sink makes sure that its transaction can be committed: its vote",
	model.CommitTxn:  "a transaction is committed: what it holds becomes visible",
	model.AbortTxn:   "a transaction is aborted: what it holds never becomes visible",
	model.ListTxns:   "a sink that begins again asks for the transactions that are undecided",

	model.PlanBatch:   "the driver writes down what a batch reads",
	model.FinishBatch: "the driver writes down that a batch is finished",
	model.NewestBatch: "a driver that begins asks for the batch planned last",
}

// kind explains a kind of message or request, and how to strike it.
func (w *writer) kind(k model.Kind) {
	what, lines := "a message between processes", []string{
		fmt.Sprintf("lose %s 1 from PROCESS to PROCESS", k),
		fmt.Sprintf("delay %s 1 from PROCESS to PROCESS by 60ms", k)}
	if k.IsCall() {
		what, lines = "a request to the service "+model.ServiceNames[k.Service()], []string{
			fmt.Sprintf("crash PROCESS before ack of %s 1", k),
			fmt.Sprintf("lose answer of %s 1 from PROCESS", k)}
	}
	w.topic(k.String(), what)
	w.paragraph(kindLore[k] + ".")
	if k == model.Read {
		return // readers are no process, and nothing strikes them
	}
	w.blank()
	w.line("  faults that strike it, for example:")
	for _, line := range lines {
		w.line("    %s", line)
	}
}

// paramTopics are the names of all parameters, each once.
func paramTopics(lib *scenarios.Library) []string {
	var names []string
	for _, m := range lib.Modes {
		for i := range m.Params {
			if name := m.Params[i].Name; !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// param explains the parameters of a name: modes may mean different things by it.
func (w *writer) param(lib *scenarios.Library, name string) {
	var said []string
	for _, m := range lib.Modes {
		p := m.Param(name)
		if p == nil || slices.Contains(said, declared(p)) {
			continue
		}
		text := declared(p)
		said = append(said, text)
		var modes []string
		for _, other := range lib.Modes {
			if q := other.Param(name); q != nil && declared(q) == text {
				modes = append(modes, other.Name)
			}
		}
		w.topic(name, "a parameter, set by --set "+name+"=VALUE")
		for _, line := range meanings(p.Says) {
			w.hanging(line, "  ", "     ")
		}
		w.blank()
		w.item("default", scenarios.ParamText(p, p.Default))
		w.item("range", rangeText(p))
		w.premise(p)
		w.item("modes that have it", strings.Join(modes, ", "))
	}
}

// meanings are the parts of what a parameter says of itself: what it is, and what each value means.
func meanings(says string) []string {
	const mark = "; "
	says = strings.NewReplacer(": 1: ", ":"+mark+"1: ", ", 0: ", ":"+mark+"0: ").Replace(says)
	return strings.Split(says, mark)
}

// premise says with which values of a parameter the claims of a mode hold.
func (w *writer) premise(p *model.Param) {
	if !p.IsPremise {
		return
	}
	values := []string{scenarios.ParamText(p, p.Default)}
	for _, v := range p.Also {
		values = append(values, scenarios.ParamText(p, v))
	}
	w.paragraph("The modes claim what they claim with " + strings.Join(values, " or ") +
		"; with another value they claim nothing.")
}

// declared is all that a parameter is, as a text to compare.
func declared(p *model.Param) string { return fmt.Sprintf("%+v", *p) }
