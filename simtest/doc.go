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
// if nothing can be said of one, unless AllowUnknown; and if an operator or a mode panics. A test
// in which nothing is required fails, and so does one whose own faults are not reached: it would
// pass whatever the code does. The first seed is run twice, in two worlds, and once more when all
// others are done, and must do the same: code that keeps something outside the engine does not.
//
// # What does not fail
//
// A run is compared with what the same code does where nothing fails. A mistake that it makes even
// then is no failure: an operator that takes two payments for one because they are of the same
// amount passes every Sweep. Test its Step besides, with a record and a state, as any function.
//
// A property says no more than its words. An operator that knows a record again and then emits
// nothing loses the output of the first time for ever, if a crash came before that was written. Its
// state is right, and so exactly-once-state holds; at-least-once wants one application of a record
// of which all outputs are visible, and the second has none. What forbids it is exactly-once, under
// a sink that recognises what it has:
//
//	simtest.Sweep(t, simtest.Scenario{Topology: &orders, Sink: "identity-log"},
//		simtest.Holds("exactly-once"))
//
// "simrun explain exactly-once-state" has the definition of that property, and so on.
//
// # Flags
//
// Each has a twin in the environment, SIM_SEED for -sim.seed, for "go test ./..." where not every
// package has the flags. The flag wins; -sim.seed, -sim.seeds, -sim.runs and -sim.for are one
// setting, of which nothing is taken from the environment if one of them is given. A variable SIM_*
// that is no twin is an error.
//
//	-sim.seed=7      this seed alone; random, or the hash of a commit: from there on
//	-sim.seeds=1-200 these seeds
//	-sim.runs=1000   so many seeds
//	-sim.for=10m     seeds for so long; the -timeout of "go test" ends them in time
//	-sim.mode=NAME   under another mode
//	-sim.replay=FILE this scenario file, from the folder of the package, and nothing else
//	-sim.shrink=N    make a failure smaller in up to N runs; 0: leave it
//	-sim.verify      every seed twice, in two worlds
//	-sim.update      write what fails into testdata/sim, from where it is replayed
//	-sim.v           log every run
//
// A hash without a letter looks like a number: commit:1234567 is one. The seed 0 is one as well,
// although Scenario.Seed cannot say it.
//
// # The corpus
//
// The scenario files in testdata/sim/TestName are replayed by Sweep and Fuzz in that test before
// any seed is run: what was found once stays found. A file that shows its failure again fails, and
// one that does not fit the code any more fails as well, whether a name in it is gone or a fault is
// not reached: it is there to test something. So it is with a file that no test would replay, for
// its test has another name now. A file is written with -sim.update; those that Run and Compare
// write there are for -sim.replay.
//
// "simrun run --save" writes such files too, of what simrun has. It cannot run one that names
// operators, modes or topologies of one's own, since these are in the program of the test: "go test
// -sim.replay" can, or a command of one's own, three lines with simcli.Main and the library.
package simtest
