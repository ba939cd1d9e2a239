// Package checker is the black-box judge: it takes what services and readers saw of a run, and
// what tasks claim, and says of each property whether the run keeps it.
//
// # The smallest use
//
//	j := checker.NewJudge()
//	for _, verdict := range j.Judge(subject, checker.All()) {
//		fmt.Println(verdict.Property, verdict.Result)
//	}
//
// A Judge is reused from run to run: a passing judgement allocates nothing.
//
// # A duplicate
//
// A task writes, dies before its offset is committed, and its successor reads the record again:
//
//	event    source           task             sink        what the reader sees
//	  5                       apply in/0:0
//	  8                       write a=1        a=1         in/0:0 op 1 = 1
//	 10                       x crash
//	 14      fetch from 0
//	 17                       apply in/0:0
//	 20                       write a=1        a=1 a=1     in/0:0 op 1 = 1
//	 21      commit 1
//
// The judge counts identities, never values: both entries are output 0 of operator 1 for the
// record at offset 0 of partition 0. The verdict on exactly-once is violated, its certificate a
// Duplicate of that record that cites the two writes, 8 and 20, and the reader's observations of
// them. At-least-once holds. That the state was kept in memory and is therefore not counted twice
// is a matter of exactly-once-state, and that nothing was shown out of turn one of order.
//
// # What is believed
//
// The answers of services and the observations of readers are facts. Claims are witnesses: the
// judge takes each claimed step again, on the state that its life had by what the store returned
// and by its own earlier steps, and compares. A claim whose record is no input of the operator, or
// whose step emits another number of outputs, counts for nothing. A claimed order of consumption
// counts if it is complete, each input once, first in first out on every channel, and if its fold
// reproduces what is visible and the state. If it does not, a search looks for another order.
//
// A step of an operator that is not deterministic depends on the nonce of the life that takes it. A
// claimed one is taken again with the nonce of its life; an execution may take each step with that
// of any life that claims to have taken it. A claim that a record was set aside is one of nothing:
// neither outputs nor state come of it. A serving whose effect the service forgot, or that was
// refused, stale or done before, changes nothing.
//
// What a service holds follows from the requests that it served. A checkpoint that counts again
// does so with the parts that are still there. What a service answers may be something else, and is
// what its caller goes on from: a state is the latest that was put with that value, or that was
// uploaded in the part that was asked for, or else in any part of that task, and what is empty and
// was never put is the empty state. A task that is handed the part of another one has that.
//
// # What is visible
//
// Of a log it is what it shows in the end. So it is of a table by identity, where an entry is a
// row; a row that held another value before has been revised. Of a table by key it is the feed of
// changes: what a row has shown, in order, where a value of an identity that follows another one
// directly replaces it. The last one is what the row holds in the end.
//
// # The properties
//
// Let π be a failure-free execution: an order in which each task takes its inputs, first in first
// out on every channel. Its fold is the state that it leaves and the output that it makes visible.
// V is what is visible in the end.
//
//   - at-most-once: no identity is in V twice, and under each key V and the state are what some of
//     the inputs give, each applied once at most. Volatile state may have been emptied as often as
//     the task was restarted. Gaps are allowed anywhere, and order is left to order; the inputs are
//     taken in channel order, or in that of the claims. That a row of a table by key shows an
//     identity again, after another one, is called a regression. Where state is in checkpoints each
//     value, and the state, is that of some inputs by itself: a restart goes back to a checkpoint,
//     and what comes of it is another branch.
//   - at-least-once: each input has an application all of whose outputs are in V with their values,
//     through all operators on the way. Whichever application they came of, outputs that are equal
//     are the same. A step that emits nothing is covered by a claim. In a table by key an output
//     has arrived as well if V has, under its key, one that comes after it in some execution.
//   - replay-explained: what is in V, and each stored state, is what a claimed step gives.
//   - exactly-once-state: for some π the state is that of its fold. It is the state store's, or
//     where state is volatile that of the last life of each task, recomputed from its claims. Where
//     it is in checkpoints, each completed one is besides, after what it has in flight has been
//     delivered, the state of an execution of exactly the inputs before its cut.
//   - exactly-once: for some π, V and the state are those of its fold, and readers always saw a
//     prefix of V in each partition. In a table by key V is, row by row, a subsequence of the
//     output of π that ends with its last one. Where no search has an answer, what breaks order or
//     repeats refutes it; a loss does not.
//   - effectively-once: for some π the content of the durable state backend is that of its fold,
//     and in a mode without one what is in memory in the end. What each row of a table by key holds
//     in the end is the last output of the same π under its key.
//   - order: of one operator, under one key of one partition of the sink, nothing goes back. In a
//     table by key all of that is called a regression.
//   - no-revision: no identity has two values, and nothing seen vanishes.
//   - atomic-visibility: of each transaction, and each batch, readers see in one poll all writes
//     that they ever see of it for the first time, and in the end all there are. They see none of
//     one that is undecided, or was aborted.
//   - global-visibility: the same for all that belongs to one checkpoint, in all partitions, if
//     some of it is committed.
//   - agreement: of the transactions of one checkpoint none is committed if another is aborted. In
//     a mode with its state in checkpoints none is committed, and no batch written, before that is
//     decided: for a transaction by the completion of the checkpoint that it was prepared for, or
//     of a later one by the same attempt if the job restarts as a whole; for a batch by the
//     completion of that checkpoint, or of a later one, or by its plan. A transaction that was not
//     prepared is not decided.
//   - conserved: the sum that the topology says no step changes is right in each completed
//     checkpoint: over its states, and what is in flight between operators.
//   - progress: the run ends by itself with its input drained, and no transaction is undecided. A
//     run that lost records may still have made progress.
//   - mechanism: findings, such as a write of a replaced attempt that was accepted. They need not
//     show in any outcome, and no mode claims their absence.
//
// An absent key is the empty state. Operators without state are transparent: what they emit keeps
// the order of the channel by which it came. A task of one that merges channels takes one step
// after the other: what is shown of its steps along different ways must fit one order of them, and
// so must the orders in which tasks with state behind it take their inputs. Two such tasks in a row
// are compared only as far as one way leads through both.
//
// What the definitions are taken from stands in each Property's Source. The common ground is
// observational explainability: a run with failures is right if some run without failures looks
// the same to its observer (Veresov, Spenger, Carbone and Haller, ECOOP 2024). Recovery types are
// those of Hwang, Balazinska, Rasin, Çetintemel, Stonebraker and Zdonik, ICDE 2005.
//
// # What is complete, and when the answer is unknown
//
// Without state all properties are decided in one pass. With state, the claims decide runs that
// keep their promise in one pass too: a checkpoint is compared with the one before it, by the
// claims in between. Where they do not, the search decides: by key, since keys
// commute, then by task, since channels and partitions of the sink tie keys together. It goes
// through how far each channel has been taken and what state that leaves (Warmuth and Haussler,
// JCSS 1984, for why more is not to be had: recognising a shuffle is NP-complete). The answer is
// Undecided, with the reason, where
//
//   - the search has spent Judge.StepsMax operator steps, which always suffice to try one order,
//   - an operator with state reads from another one, and the claims do not explain the run,
//   - the orders in which several tasks take their inputs were found for each by itself, and were
//     not shown to fit together,
//   - records reach an operator by two routes, so that one identity names two of its records,
//   - the run did not come to its end, and nothing is violated that the rest could not mend.
package checker
