// Package inits registers itself.
package inits

type registry struct{}

func (registry) init() {}

func init() { // want "an init function: put the value in an explicit list"
	registry{}.init()
}
