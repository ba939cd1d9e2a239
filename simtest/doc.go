// Package simtest tests stream processing code under crashes, in "go test". A test says which job
// runs and what must hold; the package draws faults, runs the job in the simulated world, and shows
// the smallest run in which it does not hold.
//
// # The smallest use
//
//	func TestOrders(t *testing.T) {
//		simtest.Sweep(t, simtest.Scenario{Topology: &orders, Mode: "at-least-once"},
//			simtest.Holds("exactly-once-state"))
//	}
//
// The topology has operators of one's own: pure functions of a record and the state under its key.
// Modes and sinks of one's own are in Scenario.Library.
//
// # What fails
//
// A run fails if a property is violated that the mode claims of such a run, or that Holds requires;
// and if nothing can be said of one, unless AllowUnknown. A test in which nothing is required
// fails, and so does one whose own faults are not reached: it would pass whatever the code does.
// The first seed is run twice, in two worlds, and must do the same: code that keeps something
// outside the engine does not.
//
// # Flags
//
// Each has a twin in the environment, SIM_SEED for -sim.seed, for "go test ./..." where not every
// package has the flags. The flag wins.
//
//	-sim.seed=7      this seed alone; random, or the hash of a commit: from there on
//	-sim.seeds=1-200 these seeds
//	-sim.runs=1000   so many seeds
//	-sim.for=10m     seeds for so long
//	-sim.mode=NAME   under another mode
//	-sim.replay=FILE this scenario file, from the folder of the package, and nothing else
//	-sim.shrink=N    make a failure smaller in up to N runs; 0: leave it
//	-sim.verify      every seed twice, in two worlds
//	-sim.update      write what fails into testdata/sim, from where it is replayed
//	-sim.v           log every run
//
// # The corpus
//
// The scenario files in testdata/sim are replayed before any seed is run: what was found once stays
// found. A file that shows its failure again fails, and one that does not fit the code any more
// fails as well, whether a name in it is gone or a fault is not reached: it is there to test
// something. A file is written with -sim.update; it is also what "simrun run --save" writes.
package simtest
