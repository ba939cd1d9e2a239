// Package globals keeps state where it must not.
package globals

import (
	"errors"
	"slices"
)

type item struct{ n int }

func (i item) read() int { return i.n }
func (i *item) grow()    { i.n++ }

var count int // want "count is package-level state: make it a constant"

var cache map[string]int // want "cache is package-level state"

var name, other = "a", func() {} // want "name is package-level state" "other is package-level state"

var built = make([]int, 3) // want "built is package-level state"

var (
	names   = [...]string{"a", "b"}
	primes  = []int{2, 3, 5}
	squares = map[int]int{1: 1}
	one     = item{1}
	two     = &item{2}
	both    = []*item{&one, two}
	errGone = errors.New("gone")
	step    = []func(){func() { count++ }} // want "count is a package-level table and it is changed"
	last    = &names[1]                    // want "last is package-level state"

	_ interface{ grow() } = (*item)(nil)
)

// Exported is changed by another package.
var Exported = []int{1}

func list() []*item { return []*item{&one, two} }

func library() *struct{ one *item } { return &struct{ one *item }{&one} }

func reads() (string, []int) {
	primes := primes
	primes = append(primes, 7)
	primes[0], _ = one.read(), two.read()
	return names[0], slices.Clone(primes)
}

func changes() {
	names[0] = "c"            // want "names is a package-level table and it is changed: keep what varies in a field"
	primes = nil              // want "primes is a package-level table and it is changed"
	primes[1]++               // want "primes is a package-level table and it is changed"
	(one).n += 1              // want "one is a package-level table and it is changed"
	two.n, _ = 3, errGone     // want "two is a package-level table and it is changed"
	*both[0] = item{}         // want "both is a package-level table and it is changed"
	delete(squares, 1)        // want "squares is a package-level table and it is changed"
	clear(squares)            // want "squares is a package-level table and it is changed"
	copy(primes[1:], []int{}) // want "primes is a package-level table and it is changed"
	slices.Sort(names[:])     // want "names is a package-level table and it is changed"
	for primes[0] = range 3 { // want "primes is a package-level table and it is changed"
	}
}

func leaks() (*item, func()) {
	one.grow()              // want "one is a package-level table and a method with a pointer receiver is called"
	return &one, (one).grow // want "one is a package-level table and its address is taken" "a method with a pointer receiver"
}
