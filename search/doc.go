// Package search is everything that calls a run many times: the matrix of modes and fault classes,
// seeds for breadth, and exhaustive placement of faults at small scope.
//
// A cell of the matrix says what a mode claims under a class of faults, what was observed, and the
// smallest witness of each anomaly. The breadth comes from seeds: each draws a plan of the class.
// The "never" comes from placement: a small scenario is run once for every place at which a fault
// can strike, and once for every pair of a fault and a crash.
//
// Runs are spread over all cores, one world a worker; what is returned does not depend on how many
// there are.
package search
