// Package defects holds planted bugs: ways in which implementations of the modes have gone wrong in
// the field. A testbed is worth what it catches, and these are what it has to catch.
//
// A mode knows nothing of them. A defect stands in front of a process or a service and changes what
// the one asks and the other answers, or it sets a parameter of the mode behind the scenario's
// back. What a mode claims stays claimed: it is not told, and so whatever the defect does shows as
// a broken claim, or not at all.
//
// # How to plant one
//
// Each kind of root cause has a file; All lists the defects. A value of type Defect is all that
// there is to one: the Example plants one and looks for it, in ten lines.
//
// An outsider appends defects of their own to Library.Defects in the same way, with any
// model.Process or model.Service of theirs as the wrapper. One that names a mode, a property or a
// parameter that nothing is called is refused before anything is run.
//
// A request that a defect leaves out is answered as if it had been done: a process that waits for
// an answer would otherwise only stand still, whatever the bug. A wrapper encodes its state, as
// every process and service does, behind that of what it stands in front of.
package defects
