package model

import "slices"

// SortedKeys appends the keys of m to into, in order, and returns it. It is the one place where
// the core packages range over a map: what comes out does not depend on the order.
func SortedKeys[T any](m map[string]T, into []string) []string {
	from := len(into)
	for key := range m { // sorted below
		into = append(into, key)
	}
	slices.Sort(into[from:])
	return into
}
