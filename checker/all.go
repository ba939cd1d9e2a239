package checker

// All returns the built-in properties in the order in which lists and tables show them: a property
// is one file of this package and one line here.
func All() []Property {
	return []Property{
		atMostOnce(),
		atLeastOnce(),
		replayExplained(),
		exactlyOnceState(),
		exactlyOnce(),
		effectivelyOnce(),
		order(),
		noRevision(),
		atomicVisibility(),
		globalVisibility(),
		agreement(),
		conserved(),
		progress(),
		mechanism(),
	}
}
