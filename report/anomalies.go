package report

import "github.com/oncesim/oncesim/model"

// lore is what there is to know of one kind of anomaly.
type lore struct {
	kind   model.AnomalyKind
	is     string // what it is, and what it means to whoever reads the output
	found  string // how it is found
	source string
}

// anomalyLore explains the anomalies in the order in which they are reported.
var anomalyLore = []lore{
	{
		kind: model.Loss,
		is: "An input record left no trace: no application of an operator to it has all its " +
			"outputs visible when the run has come to rest. A position was moved past the " +
			"record before its effect was durable.",
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
}
