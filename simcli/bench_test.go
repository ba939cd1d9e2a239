package simcli

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/internal/bench"
)

func TestBenchLine(t *testing.T) {
	r := bench.Result{Name: "loop", Value: 44.61, Unit: "ns/event", Ratio: 0.674, To: "a heap",
		Goal: "<= 1.00", Met: true}
	require.Equal(t, "ok    loop: 44.61 ns/event\n      0.674x (goal <= 1.00) a heap\n",
		benchLine(r))
	r.Met = false
	require.Contains(t, benchLine(r), "FAIL  loop")
}
