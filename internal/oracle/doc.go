// Package oracle is the white-box judge. It reads the full trace of a run, every send, delivery,
// application and service call with its cause, and says for each property of a history whether it
// holds. The checker judges the same runs from the outside; the two share no code and no method,
// and where they disagree the testbed itself is wrong.
//
// # The smallest use
//
//	history := world.Run(seed, rules, sim.Options{Trace: true})
//	report := oracle.Judge(job, mode, input, model.Log, world.Trace(), history)
//	result, kinds := report.Verdict("exactly-once")
//
// Many runs of one job share the list of legal executions: make an Oracle once and call its Judge.
// Disagreement compares a report with the verdicts of a checker.
//
// # The method
//
// Events name their causes, so lineage is known and not guessed. A visible entry leads to the
// write that made it, the delivery that the sink was handling, the send, the application that
// emitted it, and so on up to a record of the input. Keyed state is a chain of versions: each
// application makes one from the version that its life had in memory, and that came from an
// earlier application of the same life or from what the store held when it served the life's get.
// What the store and the external system hold follows from the requests that they served, in
// order, copies included; those that were refused, recognised as done before or forgotten changed
// nothing. An output may leave a task long after its step: from an outbox that an update of an
// earlier life has stored. Every step is taken again and compared with what left the task.
//
// Versions outlive a life in checkpoints too. The snapshot of a life is its memory when its barrier
// leaves; the upload that follows carries those versions, and the deliveries of the records that
// were in flight, and a life that downloads the part begins with them. What is in flight it takes
// first. A checkpoint counts when its completion has been served, with the parts that are there by
// then; a batch when it is finished, with the input that was planned. One that counts again gives
// up those that followed it, and has the parts that are still there. Where a job restarts as a
// whole, tasks listen to lives of their own attempt only, and lineage follows that.
//
// A store may answer something else than it holds, because it is stale or because it is wrong, and
// the life goes on from what it was told. So an answer has the lineage of what it says: that of the
// latest put with its value, or of a part that was uploaded with its records, or else, record by
// record, of the latest part that has each, first in the place that was asked for and then of the
// task. A value that is empty and was never put is the empty state. What nobody has put or uploaded
// has no explanation.
//
// A log with transactions is modelled from the requests that it has served. A transaction is
// aborted on request, when its id begins another one, or when something is served, or read, after
// its time; readers see what is committed, up to the first entry that is undecided. Whether readers
// wait for commits, and whether a log leaves out of a batch what it has, nobody is told: the first
// reading under which they saw what was accepted counts.
//
// Legal executions are enumerated: each task may merge its input channels in any way that keeps
// every channel in order. At a stage that feeds the sink the merge is enumerated for each key by
// itself, since neither state nor output of one key depends on another's. Where that gives the
// states, and order matters to them, a search looks for one order of all keys that does: channels
// tie their orders together. An operator that is not deterministic decides, in each step, as one of
// the lives did that took it in this run.
//
// # The definitions
//
// Identity of an output is the input record that triggered it, the operator and the path. A
// property is violated if one of its anomalies is found.
//
//   - at-most-once. No identity is visible twice (duplicate). Every visible entry descends from the
//     input (phantom) by steps that give what it shows (no-subsequence). For each operator and key
//     there is one way to fold some of the inputs, each once, that emits all that is visible, first
//     showings only, and leaves the final state. It is either what happened, in whatever order, or
//     any selection that keeps source partitions in order. Where there is none, the state holds
//     an input twice (state-duplicate), or outputs and state fit no selection (no-subsequence).
//     Volatile state is folded anew by each life. Where state is in checkpoints, what each life
//     shows and what the newest checkpoint holds are asked for one by one: a restart takes the one
//     back and not the other.
//   - at-least-once. On every route from the source, each input has an application all of whose
//     outputs, and theirs in turn, were written as they are; one that emits nothing is finished by
//     being applied (loss). Whichever application emitted what was written or taken up, outputs
//     that are equal are the same. Setting an input aside that would have emitted something, or
//     cannot be handled at all, is no such application. What a task that keeps a catalog recognises
//     has arrived, and so has what a sink writes in vain because it is there. That the
//     external system takes another output for it, by its version, does not make it arrive.
//   - replay-explained. Every visible entry and every value put or uploaded is what some step taken
//     gives on the state that its life had, by its own steps and by what the store told it
//     (phantom, unexplained). Of a step on something that nobody had to send another judge may say
//     that it is none, and call phantom what comes of it. Steps of a replaced life interleave with
//     those of its successor: in such a run a violation is left undecided.
//   - exactly-once-state. The final states are those of one legal execution. Where they are not,
//     the chain of each state that fits none tells why: an input of the key is missing
//     (state-loss), is there twice (state-duplicate), or neither (wrong-state). The final state is
//     the store's, or, if state is volatile, what the last life of each task has in memory, or, if
//     it is in checkpoints, that of the newest completed one after what was in flight has been
//     delivered, in some way. And every completed checkpoint, delivered likewise, is the state of a
//     legal execution of just the input that it cuts off (inconsistent-cut).
//   - exactly-once. Some legal execution has the visible entries as its output, in each partition
//     of the sink in their order, and the final states as its states. See below. Where there are
//     too many, no repetition, revision, disorder, or input that was lost between the last step and
//     readers is in any of them.
//   - effectively-once. The final states are what exactly-once-state asks for.
//   - order. In a partition of the sink, among entries of one key and operator, those that went one
//     way from one source partition first appear in input order (reorder), and no identity comes
//     again after one that first appeared later (regression).
//   - no-revision. No identity is visible with two contents, and what a reader saw is still there
//     in the end (revised).
//   - progress. The run ends by itself, a life that lives was told the end of each partition, and
//     in a mode that commits offsets the end has been committed (stuck). No transaction is
//     undecided in the end (hanging).
//   - mechanism. No served commit moves an offset back (offset-regression), and no completion goes
//     back to a checkpoint with a lower number (pointer-regression); nothing durable that a life
//     asks for is accepted after a later life of the same process began (zombie-write).
//   - atomic-visibility. Of each transaction that is committed in the end, and of each batch, every
//     poll of readers has seen all or nothing (torn-read; torn if it stays so). Nothing has been
//     seen of one that is undecided then (early-read), and nothing ever of one that is aborted
//     (dirty-read).
//   - global-visibility. The same of all transactions and batches of one checkpoint together, if
//     one of them is committed: torn-read and torn. A transaction belongs to the checkpoint that it
//     was prepared for or, if it was not, that its commit names; a batch to that of its number, as
//     often as it is taken. A row of a table that comes again is the same row. What a batch brings
//     in vain, since it is there, is none of its writes.
//   - agreement. Of the transactions of one checkpoint none is committed if another is aborted
//     (conflict). Where the state is in checkpoints, before a commit of a transaction comes the
//     completion of the checkpoint that it was prepared for, or of a later one, by the attempt that
//     prepared it if the job restarts as a whole; before a batch comes the completion of its
//     checkpoint or of a later one, or the plan of the batch (premature-commit).
//   - conserved. In every completed checkpoint the sum that the topology conserves comes out, with
//     what is on its way between two operators (unbalanced).
//
// What is visible of a log are its entries. A table by identity shows its rows as they are, each at
// the place where it was first inserted. It holds every identity once, and exactly-once asks that
// none of its rows ever changed (revised).
//
// What is visible of a table by key is everything that its rows have been, in order: later outputs
// take the place of earlier ones. Definitions change with that.
//
//   - at-most-once. An identity that comes again when something else was in its row meanwhile is a
//     regression, and there is no duplicate. Of an identity that was revised the last content
//     counts.
//   - at-least-once. An output that some order puts before another of its row need not have been
//     there itself.
//   - exactly-once. Each row has been some of the outputs under its key of one legal execution, in
//     their order, and is the last of them; the final states are its states.
//   - effectively-once. Each row is the last output under its key of a legal execution that has the
//     final states (wrong-value).
//   - order. What takes a row back is a regression, whether or not it has been there before.
//   - no-revision. No identity has been there with two contents; that it is gone is no revision.
//
// A run that was cut off proves nothing about its end: losses, final states and divergence are
// then undecided. So is what needs the legal executions where they are too many, what needs
// identities where two routes give two records the same one, and what is visible where readers see
// something else than the external system accepted, or see an entry of a log more or less than
// once on the way and once in the end. A store that does not hold what it accepted is found out by
// its answers only: what it is said to hold in the end is what it accepted.
//
// # What is to blame
//
// Whether a run is exactly-once does not depend on who looks; which anomaly is to blame does. An
// output that the state no longer holds is a loss of state under the execution that the output
// shows, and a divergence under the one that the state shows. So the oracle sorts its findings.
// Needed is what is wrong under every execution: an identity that is visible twice; an input that
// was not carried through and whose outputs every execution emits; an entry that no step emitted,
// or that no execution shows in its partition; a first showing with a value that no execution
// gives. Optional is what follows from something else, such as a revision, which is also a
// duplicate, or a wrong state behind an operator whose state is wrong already, or what is a wrong
// value where one state is fed from another. A state that is fed from another one may be blamed for
// an input that it holds twice even if its value is right. Disagreement asks another judge for what
// is needed and allows what is optional.
//
// # Sources
//
// The executable readings of the guarantees follow failure transparency (Veresov, Spenger, Carbone
// and Haller, ECOOP 2024: a run with failures is explained by one without) and the recovery types
// of Hwang et al., "High-Availability Algorithms for Distributed Stream Processing", ICDE 2005.
package oracle
