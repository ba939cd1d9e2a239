package oncesim_test

import (
	"runtime/debug"
	"testing"
)

// TestMain lets garbage grow to four times what lives. Each test makes many small worlds, of which
// little lives at a time: collected as often as usual, a third of the time goes there.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	m.Run()
}
