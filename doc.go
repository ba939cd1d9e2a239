// Package oncesim is the front page of a testbed for the guarantees of stream processing. It holds
// no code: the house rules (tidy_test.go) and this map of the packages are all there is here.
//
// The module answers one question: under these faults, does this pipeline still lose nothing,
// repeat nothing and keep its state right? Source, operators, sinks and the services between them
// live in one simulated world with a virtual clock, and whatever happens there is decided by a
// scenario: a topology, an input, a mode (the protocol that is meant to win the guarantee), a plan
// of faults and a seed. Two runs of one scenario agree to the last byte, on every machine.
//
//	seed -- draw -->  scenario  <-- parse -- scenario file
//	                     |
//	   topology, input, mode, plan of faults, seed
//	                     |
//	                    run           one goroutine, virtual time
//	                   /   \
//	           history       trace    what the services saw; all that happened
//	              |            |
//	ideal --> checker       report    judged against a run in which nothing fails
//	              |            |
//	           verdict      diagram   holds, violated (with its certificate) or unknown
//
// Nothing flows upwards. Seeds, every place of a fault in turn, the matrix of modes against faults
// and a test in someone else's package are all loops around run.
//
// # Reading order
//
//  1. model: the nouns (record, topology, process, service, mode, history, verdict) and the run in
//     which nothing fails. Everything else speaks in its terms.
//  2. semantics: how each mode wins its guarantee, one mode a file. The shortest of them shows what
//     a process is.
//  3. faults: what can go wrong, and the language in which a plan is written down.
//  4. sim: the world that carries out the effects of the processes and applies the plan.
//  5. checker: what each property means, judged from the history alone.
//  6. scenarios: how the five are joined to a run, the file format and the built-in library.
//  7. search and report: many runs, and one run shown to a person.
//  8. simcli: the command line as a package. simtest: the same for "go test".
//
// One package stands aside: internal/oracle judges the same runs from the inside, with no line of
// code in common with the checker, to see that the two agree.
package oncesim
