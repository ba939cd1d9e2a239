// Package rules has a complete list that the list of lists does not take up.
package rules

import "github.com/oncesim/oncesim/testdata/tidy/lists/kinds"

// All lists the rules.
var All = []kinds.Rule{rule} // want "All is in no list: add it to Builtin in lists/joined"

var rule = kinds.Rule{}
