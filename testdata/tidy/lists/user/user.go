// Package user stands above the list of lists: its values are its own.
package user

import (
	"github.com/oncesim/oncesim/testdata/tidy/lists/joined"
	"github.com/oncesim/oncesim/testdata/tidy/lists/kinds"
)

var extra = kinds.Sink{}

func library() *joined.Library {
	l := joined.Builtin()
	l.Sinks = append(l.Sinks, extra)
	return l
}
