package bare // want "the package has no package comment"
