// Package kinds defines what is listed.
package kinds

// Mode is listed by the package that makes it.
type Mode struct{ Base *Mode }

// Sink is listed only by the list of lists.
type Sink struct{}

// Rule is listed by a package whose list nobody took up.
type Rule struct{}
