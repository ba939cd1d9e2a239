// Package left may import the model, and one package of another module.
package left

import (
	_ "fmt"

	_ "golang.org/x/tools/go/ast/inspector" // want "imports/left must not import golang.org/x/tools/go/ast/inspector"
	_ "golang.org/x/tools/go/packages"

	_ "github.com/oncesim/oncesim/testdata/tidy/imports/model"
	renamed "github.com/oncesim/oncesim/testdata/tidy/imports/right" // want "must not import imports/right: it knows only imports/model"
)

var _ = renamed.Name
