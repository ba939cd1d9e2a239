// Package search is everything that calls a run many times: the matrix of modes and fault classes,
// seeds for breadth, and exhaustive placement of faults at small scope.
//
// A cell of the matrix says what a mode claims under a class of faults, what was observed, and the
// smallest witness of each anomaly. The breadth comes from seeds: each draws a plan of the class.
// The "never" comes from placement: a small scenario is run once for every place at which a fault
// can strike, and once for every pair of a fault and a crash, whichever strikes first.
//
// # Placing more than one fault
//
// Explore takes that further: every plan of at most so many faults, of any classes, each at every
// effect, call and message of the run that those before it have made. What it leaves out is the
// same run by another name:
//
//   - a place that would strike before the faults of the plan: up to the event at which it strikes,
//     a run is the run without it, so the plan is reached from there, with the roles exchanged;
//   - what follows on plans of as many crashes that came to one hash, which covers every event and
//     draw: a process that has crashed leaves nothing else behind;
//   - a crash that strikes the same process at the same event as another place: after an effect and
//     before the next, with nothing between them.
//
// Its "never" is one of its bound: so many faults of these classes, on so many records, under the
// latencies of these seeds. Orders explores what latencies decide.
//
// # Sweeps
//
// NewSweep runs units, a scenario under a mode each, under one seed after the other, in blocks.
// What came of a block is a line of a result file, and Results are any set of such lines: of one
// sweep, of its shards, or of one that was killed and resumed. The same seeds give the same
// Results.
//
// Runs are spread over all cores, one world a worker; what is returned does not depend on how many
// there are.
//
// # Shrinking
//
// Shrink takes a scenario that violates something and deletes, weakens and moves what its signature
// does not need, until no single step is left that keeps it, or the runs allowed are spent: Shrunk
// says which.
package search

// TracedMax is how many events a run may have for its trace to be kept: some 300 MB. A longer run
// is judged all the same; its report has no diagram, and its costs leave out what takes a trace.
const TracedMax = 200_000
