// Package pieces has a list, and one mode that is not in it.
package pieces

import "github.com/oncesim/oncesim/testdata/tidy/lists/kinds"

// All lists the modes, one part of them by way of a list of its own.
func All() []*kinds.Mode {
	return append([]*kinds.Mode{byFunc(), &byValue, derived}, more...)
}

var more = []*kinds.Mode{byPointer}

var byPointer = &kinds.Mode{}

var byValue = kinds.Mode{}

var derived = &kinds.Mode{Base: forgotten}

var forgotten = &kinds.Mode{} // want "forgotten is in no list: add it to All in lists/pieces"

func byFunc() *kinds.Mode { return &kinds.Mode{} }

func forgottenFunc() kinds.Mode { return kinds.Mode{} } // want "forgottenFunc is in no list"

func with(base *kinds.Mode) *kinds.Mode { return base }
