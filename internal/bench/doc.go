// Package bench measures how fast the testbed is, against a yardstick that runs beside it.
//
// Times of one machine drift by half within an hour. So nothing here has an absolute goal: both
// sides of a measurement take turns in one process, a ratio is taken in each round, and the median
// of the rounds decides. What runs on one core is measured in processor time, so that other work on
// the machine counts less. The one yardstick that cannot run outside of "go test", goroutines under
// testing/synctest, is measured by a test of this package that wants the flag -twin.
package bench
