//go:build !race

package determinism // want "a build constraint"
