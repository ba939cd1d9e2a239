// Package exports shows three names where two are allowed.
package exports // want "the package exports 3 names, limit 2: keep to itself what no other package uses .Bound Kind New."

// Kind is an enum: its constants and methods do not count.
type Kind uint8

// The kinds.
const (
	One Kind = iota
	Two
)

// String names the kind.
func (k Kind) String() string { return "" }

// New does count.
func New() {}

// Bound does too.
const Bound = 3
