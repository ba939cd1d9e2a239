// Package docs says too little.
package docs

// Plain is documented.
type Plain struct{ Field int }

type Bare struct{} // want "Bare has no doc comment that begins with its name"

// This describes another thing.
type Wrong struct{} // want "Wrong has no doc comment"

// A List of things, and the Pair of two, share a comment.
type (
	List[T any]    []T
	Pair[K, V any] struct{}
	Third          int // want "Third has no doc comment"
)

// The Plain's method.
func (p Plain) Method() {} // want "Method has no doc comment"

// Append adds.
func (l *List[T]) Append() {}

func (l *List[T]) Drop() {} // want "Drop has no doc comment"

func (p *Pair[K, V]) Swap() {} // want "Swap has no doc comment"

func (h hidden) Shown() {}

type hidden struct{}

func Func() {} // want "Func has no doc comment that begins with its name: write .Func ...."

// Func2, which begins with its name.
func Func2() {}

// An Article may come first.
func Article() {}

// Limits of things.
const (
	LimitA = 1
	LimitB = 2
)

const (
	LineC = 1 // a line will do
	// So will one above.
	LineD = 2
	BareE = 3
)

// want-3 "BareE has no doc comment"

// Something about a value.
var Value = 1 // want "Value has no doc comment"

// Other is a value.
var Other = 1

func helper() {}
