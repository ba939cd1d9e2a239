//go:build !race

package trust

// underRace is set when the race detector is on, which makes runs some ten times slower.
const underRace = false
