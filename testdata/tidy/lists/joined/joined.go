// Package joined has the list of lists.
package joined

import (
	"github.com/oncesim/oncesim/testdata/tidy/lists/kinds"
	"github.com/oncesim/oncesim/testdata/tidy/lists/pieces"
)

// Library is everything.
type Library struct {
	Modes []*kinds.Mode
	Sinks []kinds.Sink
	Rules []kinds.Rule
}

// Builtin is the library of this module.
func Builtin() *Library { return builtin() }

var builtin = func() *Library {
	return &Library{Modes: pieces.All(), Sinks: sinks()}
}

func sinks() []kinds.Sink { return []kinds.Sink{log} }

var log = kinds.Sink{}

var forgotten = kinds.Sink{} // want "forgotten is in no list: add it to Builtin in lists/joined"
