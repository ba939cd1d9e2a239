package left_test

import (
	_ "golang.org/x/tools/go/ast/inspector"

	_ "github.com/oncesim/oncesim/testdata/tidy/imports/left"
	_ "github.com/oncesim/oncesim/testdata/tidy/imports/model"
	_ "github.com/oncesim/oncesim/testdata/tidy/imports/right"
)
