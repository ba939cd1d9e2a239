package report

import (
	"strings"

	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/scenarios"
)

// topic is a term of the field that a run can show: what it is, the smallest run to see it, and
// where that is from. A term may be the name of a mode or a property too.
type topic struct {
	name    string
	is      string
	on      string // the topology of the run
	mode    string
	further string // the rest of the line that runs it
	see     string // what to look at
	source  string
}

// lateTrigger has the barrier of one source come late, so that another one's waits for it, and then
// has the job go back to that checkpoint.
const lateTrigger = "--fault 'delay trigger 1 from coordinator/0 to source/1 by 15ms' " +
	"--fault 'crash coordinator/0 after completion 1'"

// topics are the terms that have an explanation of their own, in the order of the alphabet.
var topics = []topic{
	{
		name: "alignment",
		is: "A task with several inputs gets the barriers of a checkpoint at different times. If " +
			"it waits, and holds back what comes behind those that are there, its state is " +
			"exactly that of the records before them. If it goes on instead, records behind a " +
			"barrier get into the snapshot, and after a restart they are applied twice. With one " +
			"input there is nothing to align.",
		on: "running-average", mode: "snapshot-counting", further: "--records 16 " + lateTrigger,
		see: "exactly-once-state: the mode only counts barriers; with --mode snapshot it holds",
		source: "Carbone et al., Lightweight Asynchronous Snapshots for Distributed Dataflows, " +
			"2015, section 4; Apache Flink documentation, Stateful Stream Processing, exactly " +
			"once vs. at least once",
	},
	{
		name: "at-least-once",
		is: "Nothing is lost: a position moves on only when the effect of what is before it is " +
			"durable. A failure in between has everything since the position done again, so that " +
			"output and state may have some of it twice.",
		on: "pipeline", mode: "at-least-once",
		further: "--records 3 --fault 'crash source/0 before offset-commit 1'",
		see:     "what is visible twice, and that nothing is missing",
		source: "Hwang et al., High-Availability Algorithms for Distributed Stream Processing, " +
			"ICDE 2005 (rollback recovery); Apache Kafka documentation, section 4.6",
	},
	{
		name: "barrier",
		is: "A mark in the stream, sent by every source when a checkpoint begins: what comes " +
			"before it belongs to the checkpoint, what comes behind it does not. It travels with " +
			"the records and must not overtake them or be overtaken, but see unaligned. " +
			"When it has come on all inputs a task makes its part of the checkpoint and " +
			"sends the barrier on.",
		on: "pipeline", mode: "snapshot", further: "--records 2",
		see: "the barrier on its way from the source to the sink",
		source: "Carbone et al., Lightweight Asynchronous Snapshots for Distributed Dataflows, " +
			"2015, section 4",
	},
	{
		name: "checkpoint",
		is: "What the whole job goes back to after a failure: the offsets of the sources and the " +
			"state of every task as of those offsets. It has a number, takes effect when the " +
			"coordinator has made it the completed one in a single write, and counts for nothing " +
			"before that: not an offset commit, and not the commit of a transaction.",
		on: "pipeline", mode: "snapshot",
		further: "--records 12 --fault 'crash op/0 after effect 1 of record 9'",
		see: "the trigger, the uploads, the write that decides, and from which checkpoint " +
			"attempt 2 begins",
		source: "Carbone et al., State Management in Apache Flink, VLDB 2017, section 3; Apache " +
			"Flink, CheckpointCoordinator",
	},
	{
		name: "effectively-once",
		is: "A record may be processed more than once, and its effect on the state that counts " +
			"is that of once. It is a promise about state, and about output only where a later " +
			"write replaces an earlier one.",
		on: "pipeline", mode: "snapshot",
		further: "--records 4 --fault 'crash op/0 after effect 1 of record 1'",
		see: "effectively-once holds and exactly-once does not: the log shows output twice, and " +
			"of each record how often it was applied",
		source: "Apache Heron documentation, delivery semantics; Akidau et al., MillWheel, VLDB " +
			"2013, section 5",
	},
	{
		name: "exactly-once",
		is: "Whoever reads the output sees what a run without failures would have shown, at " +
			"every moment and in the end. Records are still processed again after a failure; " +
			"what is shown waits for a decision, or knows its repetitions.",
		on: "pipeline", mode: "two-phase-commit",
		further: "--records 4 --fault 'crash op/0 after effect 1 of record 1'",
		see:     "the first transaction is aborted, and each record is visible once",
		source: "Veresov et al., Failure Transparency in Stateful Dataflow Systems, ECOOP 2024; " +
			"Apache Flink blog, End-to-End Exactly-Once Processing, 2018",
	},
	{
		name: "fencing",
		is: "A process that is taken for dead may only have stood still. When it goes on it must " +
			"not be able to write: each attempt has a number, and a service that has heard of a " +
			"higher one refuses what comes from a lower one. It takes the fence at everything " +
			"durable: at the external system as well as where checkpoints are completed.",
		on: "pipeline", mode: "two-phase-commit",
		further: "--set fencing=0 --records 4 --fault 'pause sink/0 before effect 1 for 80ms'",
		see: "mechanism: attempt 1 begins a transaction when attempt 2 has begun, and nobody " +
			"ends it; without --set it is refused",
		source: "Akidau et al., MillWheel, VLDB 2013 (sequencers); KIP-98 (producer epochs); " +
			"Burrows, The Chubby Lock Service, OSDI 2006 (sequencers)",
	},
	{
		name: "micro-batch",
		is: "The job runs batch by batch. What a batch reads is written down before it begins, " +
			"so that after a failure the same batch runs again from the state before it, and the " +
			"output log knows batches by their number.",
		on: "pipeline", mode: "micro-batch",
		further: "--records 4 --fault 'crash sink/0 after write-batch 1'",
		see:     "batch 1 runs twice and is visible once; with --mode micro-batch-plain twice",
		source: "Zaharia et al., Discretized Streams, SOSP 2013; Armbrust et al., Structured " +
			"Streaming, SIGMOD 2018, section 6",
	},
	{
		name: "snapshot",
		is: "The states of all tasks as of one cut through the stream, taken while the job goes " +
			"on. The cut is consistent if nothing before it depends on anything behind it and " +
			"nothing in flight is forgotten.",
		on: "accounts", mode: "snapshot",
		further: "--records 12 --fault 'crash coordinator/0 after completion 1'",
		see:     "conserved and exactly-once-state hold in spite of the restart",
		source: "Chandy and Lamport, Distributed Snapshots, TOCS 1985; Carbone et al., " +
			"Lightweight Asynchronous Snapshots, 2015",
	},
	{
		name: "two-phase-commit",
		is: "Participants first make sure that they can commit, and say so; then one decision, " +
			"written in one place, holds for all of them. Here a sink prepares its transaction " +
			"at the barrier, and the completion of the checkpoint is the decision. Whoever " +
			"restores the checkpoint commits what it holds as prepared, and aborts what was " +
			"begun after it.",
		on: "pipeline", mode: "two-phase-commit",
		further: "--records 4 --fault 'crash coordinator/0 after completion 1'",
		see:     "the decision, the crash behind it, and the commit by the next attempt",
		source: "Gray, Notes on Data Base Operating Systems, 1978; Apache Flink, " +
			"TwoPhaseCommitSinkFunction",
	},
	{
		name: "unaligned",
		is: "A snapshot that waits neither for other barriers nor for what is in front of them: " +
			"when a barrier comes to a task that is busy, it overtakes the records that wait " +
			"there. The task finishes what it has in hand, takes its part, hands the barrier on, " +
			"and adds to its part what was overtaken, and what comes on other channels before " +
			"their barriers. They are in flight, and after a restart they are handled first. " +
			"Without them they would be lost. What has left a task is not overtaken.",
		on: "running-average", mode: "two-phase-commit",
		further: "--set alignment=3 --set work=5ms --records 12 " +
			"--fault 'crash coordinator/0 after completion 1'",
		see: "loss: alignment=3 does not keep what is in flight; with alignment=2 it is kept, " +
			"and all claims hold; with alignment=0 checkpoint 1 is complete later",
		source: "Apache Flink documentation, Checkpointing under Backpressure; Chandy and " +
			"Lamport, Distributed Snapshots, TOCS 1985 (channel states)",
	},
}

// Term is a term of the field that Explain knows, and the first sentence that it has for it.
type Term struct{ Name, Says string }

// Terms lists the terms of the field, in the order of the alphabet.
func Terms() []Term {
	list := make([]Term, len(topics))
	for i := range topics {
		says, _, _ := strings.Cut(topics[i].is, ". ")
		list[i] = Term{topics[i].name, strings.TrimSuffix(says, ".")}
	}
	return list
}

// findTopic is the explanation of a term, or nil.
func findTopic(name string) *topic {
	for i := range topics {
		if topics[i].name == name {
			return &topics[i]
		}
	}
	return nil
}

// isOf reports whether a library has what the run of a topic takes.
func (t *topic) isOf(lib *scenarios.Library) bool {
	hasMode, hasTopology := false, false
	for _, m := range lib.Modes {
		hasMode = hasMode || m.Name == t.mode
	}
	for _, top := range lib.Topologies {
		hasTopology = hasTopology || top.Name == t.on
	}
	return hasMode && hasTopology
}

func (t *topic) line() string {
	return strings.Join([]string{"run", t.on, "--mode", t.mode, t.further}, " ")
}

// term explains a term of the field.
func (w *writer) term(lib *scenarios.Library, t *topic, program string) {
	w.topic(t.name, "a term of the field")
	w.paragraph(t.is)
	if t.isOf(lib) {
		w.blank()
		w.line("  to see it:")
		w.command(program + " " + t.line())
		w.item("look at", t.see)
	}
	w.item("source", t.source)
}

// command writes a line that runs something, broken for a shell.
func (w *writer) command(line string) {
	for i, part := range fill(strings.Split(line, " --"), " --", columnsMax-10) {
		if i > 0 {
			w.WriteString(" \\\n      ")
		} else {
			w.WriteString("    ")
		}
		w.WriteString(strings.TrimPrefix(part, " "))
	}
	w.blank()
}

// durabilities say where keyed state is.
var durabilities = map[model.Durability]string{
	model.Volatile:       "in memory; a restart begins with none",
	model.WrittenThrough: "in the store, one write a record",
	model.Snapshotted:    "in memory and in checkpoints; a restart goes back to one",
	model.Scattered:      "in memory and in snapshots of its own; a restart looks for a fit",
}
