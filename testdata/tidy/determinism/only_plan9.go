package determinism // want "a build constraint: the core is the same code on every platform"
