// Package report is everything that shows a result: one run as a text with its story and a
// space-time diagram, the matrix of modes and fault classes as a table, both as JSON, the trace as
// JSON lines, and what the names of the field mean.
//
// # The smallest use
//
//	runner, result, err := scenarios.Run(library, scenario, scenarios.Options{Trace: true})
//	...
//	fmt.Print(report.Text(&report.Case{
//		Library: library, Scenario: scenario, Result: result, Stats: runner.Stats(),
//	}, report.Plain))
//
// # The rules
//
//   - A report is a function of the case: the same failure gives the same bytes. There are no
//     times of day, process ids, absolute paths and map orders in it.
//   - Records, processes and faults have the names that users write: input/1:7, op/0, and lines of
//     the fault language.
//   - The first line alone says what happened.
//   - An event number in a sentence is in the diagram below it.
//   - Unknown is never shown as a pass.
//
// # How the story is found
//
// A trace names for every event the event that brought it about. Two writes of one record have two
// chains of causes that part somewhere, and the link of the second behind the parting says why it
// was made: a network that doubled a request, a caller without an answer, a sender without an
// acknowledgement, a successor that began again. What became of the acknowledgement is found by
// following the first transmission the other way, from hop to hop. A loss is followed like that
// too: to the hop at which the record, or what an operator made of it, was last seen.
package report
