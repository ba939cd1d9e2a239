//go:build !race

package oncesim_test

const underRace = false
