package left

import _ "github.com/oncesim/oncesim/testdata/tidy/imports/right" // want "must not import imports/right"
