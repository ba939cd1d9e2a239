package report

import "github.com/oncesim/oncesim/model"

// lore is what there is to know of one kind of anomaly.
type lore struct {
	kind   model.AnomalyKind
	is     string // what it is, and what it means to whoever reads the output
	found  string // how it is found
	source string
	shown  topic // a run that shows it, where one fault on a few records does not, or none
}

// anomalyLore explains the anomalies.
var anomalyLore = []lore{
	{
		kind: model.Loss,
		is: "An input record left no trace: no application of an operator to it has all its " +
			"outputs visible when the run has come to rest. Mostly a position was moved past " +
			"the record before its effect was durable; or the effect is durable, and waits " +
			"behind a transaction that nobody decides.",
		found: "For each input record there must be an application, through every operator on " +
			"the way, each of whose outputs a reader that starts over can see. What an " +
			"operator drops on purpose counts as covered. While a run has not come to rest, " +
			"what is missing may be late, and nothing is reported.",
		source: "Hwang et al., High-Availability Algorithms for Distributed Stream Processing, " +
			"ICDE 2005 (gap recovery); jepsen.tests.kafka, lost-write",
	},
	{
		kind: model.StateLoss,
		is: "An input record is not in the keyed state, although it should have been folded " +
			"in: the state was in memory when its task died, a write of it was lost, or a " +
			"task with an old copy overwrote it.",
		found: "The final state under each key is explained by the steps that tasks claim; the " +
			"record is in none of them.",
		source: "Carbone et al., State Management in Apache Flink, VLDB 2017",
	},
	{
		kind: model.Phantom,
		is: "An output is visible that nothing accounts for: its record is not in the input, " +
			"or no step of the operators emits it.",
		found: "Each visible output names the input record, the operator and the ordinals that " +
			"it came from. The name is checked by taking the steps again, never trusted.",
		source: "Jepsen, total-queue checker (unexpected elements)",
	},
	{
		kind: model.Unexplained,
		is: "What is visible cannot be had by any rewinding and replaying of what tasks claim " +
			"to have done: not even a pipeline that may repeat itself could have shown it.",
		found: "The claimed steps are taken again, life by life, from the state that each life " +
			"began with; the value or the state is the result of none.",
		source: "Veresov et al., Failure Transparency in Stateful Dataflow Systems, ECOOP 2024",
	},
	{
		kind: model.NoSubsequence,
		is: "A visible value, or the final state, is that of no subsequence of the inputs: " +
			"something was counted more than once, or overwritten after it was shown.",
		found: "The claimed steps of an operator and key are taken again, each input once or " +
			"not at all, and no selection gives what is visible and the state that is left.",
		source: "Hwang et al., High-Availability Algorithms for Distributed Stream Processing, " +
			"ICDE 2005 (gap recovery)",
	},
	{
		kind: model.WrongValue,
		is: "An output has the right identity and a value that no run without faults gives. " +
			"Behind it is mostly an earlier record that is in the state twice or not at all.",
		found: "The output is compared with the fold of the input in every order that first in, " +
			"first out allows on each channel; keys are taken one by one.",
		source: "Veresov et al., Failure Transparency in Stateful Dataflow Systems, ECOOP 2024",
	},
	{
		kind: model.WrongState,
		is: "Every input is in the state once, and still no legal order of them gives it: " +
			"records were folded in an order that no run without faults has.",
		found:  "As for a wrong value, on the state in the end.",
		source: "Carbone et al., State Management in Apache Flink, VLDB 2017",
		shown: topic{on: "running-average", mode: "snapshot",
			further: "--set alignment=3 --records 16 " + lateTrigger},
	},
	{
		kind: model.Divergence,
		is: "State and output are each what some run without faults gives, but not the same " +
			"run: they were made durable apart, and a crash fell between.",
		found: "An order is searched that explains both; there is one for each alone and none " +
			"for both.",
		source: "Akidau et al., MillWheel, VLDB 2013 (strong and weak productions)",
	},
	{
		kind: model.Duplicate,
		is: "One output is visible more than once. Something was done again because whoever " +
			"did it could not know that it was done: the acknowledgement was lost, or lay in " +
			"the memory of a task that died.",
		found: "Outputs are told apart by the input record, the operator and the ordinals that " +
			"they came from, so two equal values are no duplicate and two values of one " +
			"identity are.",
		source: "Hwang et al., High-Availability Algorithms for Distributed Stream Processing, " +
			"ICDE 2005 (rollback recovery); jepsen.tests.kafka, duplicate",
	},
	{
		kind: model.StateDuplicate,
		is: "One input record was folded into the keyed state twice. A count is too high, and " +
			"stays so after the output has been cleaned of duplicates.",
		found: "The final state under each key is explained by the steps that tasks claim; the " +
			"record is in two of them.",
		source: "Carbone et al., Lightweight Asynchronous Snapshots for Distributed Dataflows, " +
			"2015",
	},
	{
		kind: model.Revised,
		is: "One output was shown with two values, or was shown and vanished: a reader that " +
			"acted on the first was misled. A replay took another state, or another order.",
		found:  "Whatever readers saw of one identity is compared over the whole run.",
		source: "Akidau et al., The Dataflow Model, VLDB 2015 (accumulation against retraction)",
	},
	{
		kind: model.Reorder,
		is: "Outputs first appear in an order that no legal run shows. Exactly-once looks at " +
			"the order within a partition of the sink, whatever the keys; order looks at each " +
			"key alone.",
		found: "First occurrences are compared with the order that first in, first out on every " +
			"channel leaves possible.",
		source: "jepsen.tests.kafka, nonmonotonic-send",
	},
	{
		kind: model.Regression,
		is: "Under one key something older is shown again after something newer: a reader " +
			"sees the total go back.",
		found:  "Whatever is shown under a key is followed from entry to entry.",
		source: "jepsen.tests.kafka, nonmonotonic-poll",
	},
	{
		kind: model.Stuck,
		is: "The job makes no progress after the last fault: a source never reaches the end " +
			"of its partition, or restarts never end.",
		found: "The run has a bound of virtual time after the last fault and the last arrival; " +
			"what is not at rest by then is stuck.",
		source: "Alpern and Schneider, Defining Liveness, 1985",
	},
	{
		kind: model.ZombieWrite,
		is: "A finding about the mechanism: a durable write of an attempt that had been " +
			"replaced was accepted. It may do no harm, for example where the sink keeps one " +
			"value a key.",
		found:  "Each served write is compared with the attempt that was current at that event.",
		source: "Akidau et al., MillWheel, VLDB 2013 (sequencers)",
	},
	{
		kind: model.OffsetRegression,
		is: "A finding about the mechanism: a committed offset went back, so that the next " +
			"restart repeats more than it must.",
		found:  "The committed offset of each partition is followed from commit to commit.",
		source: "Kafka documentation, consumer positions",
	},
	{
		kind: model.Conflict,
		is: "Participants of one checkpoint decided differently: one committed its transaction, " +
			"and that of another was aborted. Part of the output of the checkpoint is there for " +
			"good, and part of it never will be.",
		found: "Transactions belong to the checkpoint for which they were prepared; of those of " +
			"one checkpoint all must end alike, whoever ends them.",
		source: "Gray and Lamport, Consensus on Transaction Commit, TODS 2006; Bernstein et al., " +
			"Concurrency Control and Recovery in Database Systems, 1987, chapter 7",
	},
	{
		kind: model.PrematureCommit,
		is: "A participant committed before that was decided: its checkpoint was not complete " +
			"then, nor a later one, or the transaction was not even prepared. If the checkpoint " +
			"fails, what is replayed is shown twice; that it was completed later is luck. X/Open " +
			"calls it a heuristic commit where a participant loses patience.",
		found: "The commit of a transaction, or the write of a batch, is compared with the " +
			"completions of checkpoints, or plans of batches, that were served before it.",
		source: "Bernstein et al., Concurrency Control and Recovery in Database Systems, 1987, " +
			"chapter 7 (AC3); apache/iceberg#10765",
	},
	{
		kind: model.Torn,
		is: "Part of what should become visible in one step is all that ever becomes visible: " +
			"the rest was lost or aborted.",
		found: "The writes of a transaction, of a batch, or of a checkpoint are compared with " +
			"what a reader sees who starts over in the end.",
		source: "Bailis et al., Scalable Atomic Visibility with RAMP Transactions, SIGMOD 2014",
	},
	{
		kind: model.Unbalanced,
		is: "A completed checkpoint does not add up: what no step makes or takes, such as money " +
			"that is moved between accounts, is more or less than it was. The checkpoint is of " +
			"no one moment, or lacks what was in flight.",
		found: "The topology says what it conserves; the sum over keyed states and records in " +
			"flight is taken for each completed checkpoint.",
		source: "Chandy and Lamport, Distributed Snapshots, TOCS 1985; jepsen.tests.bank",
	},
	{
		kind: model.DirtyRead,
		is: "A reader saw output of a transaction that was aborted: it acts on something that, " +
			"by what the log says in the end, never happened.",
		found: "Each entry that a reader saw is traced to the transaction that wrote it, and " +
			"that to how it ended.",
		source: "Adya, Liskov and O'Neil, Generalized Isolation Level Definitions, ICDE 2000 (G1a)",
	},
	{
		kind: model.EarlyRead,
		is: "A reader saw output of a transaction before it was decided. It may be aborted yet, " +
			"and a reader of committed data must not see it before.",
		found: "The event at which an entry was seen is compared with the one that decided its " +
			"transaction.",
		source: "jepsen.tests.kafka, precommitted-read",
	},
	{
		kind: model.TornRead,
		is: "A reader saw some writes of a transaction, or of a batch, without the others, which " +
			"should become visible in one step. Later it is whole.",
		found: "After each poll of a reader, of each transaction and batch either all writes " +
			"have been seen or none.",
		source: "Adya, Liskov and O'Neil, Generalized Isolation Level Definitions, ICDE 2000 (G1b)",
	},
	{
		kind: model.FracturedRead,
		is: "A finding about the mechanism: a reader saw part of what belongs to a checkpoint, " +
			"or to a batch, and not the rest: one partition ahead of another, since each sink " +
			"makes its part visible by itself, or one record ahead of another where nothing " +
			"holds them back. Later it is whole.",
		found: "After each poll of a reader, of all that is written under one checkpoint either " +
			"everything has been seen or nothing.",
		source: "Bailis et al., Scalable Atomic Visibility with RAMP Transactions, SIGMOD 2014",
	},
	{
		kind: model.Hanging,
		is: "A transaction of the external log is undecided in the end, and nobody is left who " +
			"would end it. A reader of committed data waits at its first entry for ever.",
		found: "Transactions are followed from their begin; when all is quiet each must have " +
			"been committed or aborted.",
		source: "Apache Kafka, kafka-transactions.sh find-hanging; Apache Flink, Kafka connector " +
			"documentation, lingering transactions",
	},
	{
		kind: model.InconsistentCut,
		is: "The states in a completed checkpoint are not those after exactly the records before " +
			"its offsets. The state of the job goes wrong only if a restart goes back to it; " +
			"then records are missing from the state or are in it twice.",
		found: "The state of each completed checkpoint, after the records that it holds in " +
			"flight, must be what some failure-free run gives for the records before its offsets.",
		source: "Chandy and Lamport, Distributed Snapshots, TOCS 1985; Carbone et al., " +
			"Lightweight Asynchronous Snapshots, 2015",
	},
	{
		kind: model.PointerRegression,
		is: "A finding about the mechanism: the completed checkpoint became an older one than it " +
			"had been. A restart from it repeats what the newer one had behind it, or loses it " +
			"where others have moved on.",
		found:  "The writes that complete checkpoints are followed in the order of the store.",
		source: "Apache Flink, CompletedCheckpointStore and CheckpointIDCounter",
	},
}
