//go:build !race

package checker

const underRace = false
