// Package elsewhere is outside the core: it may have state of its own, but not change the core's.
package elsewhere

import "github.com/oncesim/oncesim/testdata/tidy/globals"

var calls int

func changes() {
	calls++
	globals.Exported[0] = 2 // want "Exported is a package-level table and it is changed"
}
