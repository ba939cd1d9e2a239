// Package trust measures what the instrument is worth: which planted defects its judges catch, and
// after how many blind runs; that nothing is reported of modes that are right; that two judges that
// share no code agree; and that the runs which say so reached every branch of the protocols.
//
// # Blind
//
// A blind run is one whose faults nobody chose: a world of a fixed list, a seed, and a plan of up
// to three faults that a search.Planner draws from all classes that the mode tolerates. Worlds take
// turns, so that a number of runs says something about all of them. A defect is not told where it
// would be seen.
//
// A run catches a defect if it breaks what the mode claims of it, whichever property that is. What
// the white box says of the same run, and what linearizability checking says of the services, are
// columns of their own.
//
// # In full and again
//
// Measuring takes minutes, and is asked for by -trust.full. It writes down which runs have caught a
// defect, in catches.txt, and which run of a mode was the first to reach a branch, in probes.txt.
// These few thousand runs the ordinary tests make again, and each must show what it has shown: what
// makes a row of the kill matrix worse, or a branch unreached, fails at once.
package trust
