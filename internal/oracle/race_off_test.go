//go:build !race

package oracle_test

const underRace = false
