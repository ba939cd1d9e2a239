package right

import _ "github.com/oncesim/oncesim/testdata/tidy/imports/left" // want "it knows only imports/right"
