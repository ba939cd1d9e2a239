// Package right may import nothing of ours.
package right

import _ "github.com/oncesim/oncesim/testdata/tidy/imports/model" // want "it knows nothing of ours"

// Name is there to be used.
const Name = "right"
