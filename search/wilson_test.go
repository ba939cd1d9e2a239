package search_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/search"
)

// The intervals are those of Brown, Cai and DasGupta, "Interval Estimation for a Binomial
// Proportion", 2001, and what follows from the formula by hand.
func TestWilson(t *testing.T) {
	for _, tc := range []struct {
		k, n      int64
		low, high float64
	}{
		{0, 0, 0, 1},
		{0, 10, 0, 0.2775},
		{10, 10, 0.7225, 1},
		{1, 10, 0.0179, 0.4042},
		{5, 10, 0.2366, 0.7634},
		{81, 263, 0.2553, 0.3662},
		{3, 10_000_000, 1.02e-7, 8.82e-7},
		{0, 10_000_000, 0, 3.84e-7},
	} {
		low, high := search.Wilson(tc.k, tc.n)
		require.InDelta(t, tc.low, low, 0.01*math.Max(tc.low, 1e-9)+1e-9, "%d of %d", tc.k, tc.n)
		require.InDelta(t, tc.high, high, 0.01*tc.high, "%d of %d", tc.k, tc.n)
		require.LessOrEqual(t, low, high)
	}
}

// Seen from the other side the interval is the same.
func TestWilson_Symmetric(t *testing.T) {
	for k := range int64(51) {
		low, high := search.Wilson(k, 50)
		otherLow, otherHigh := search.Wilson(50-k, 50)
		require.InDelta(t, low, 1-otherHigh, 1e-12)
		require.InDelta(t, high, 1-otherLow, 1e-12)
		require.LessOrEqual(t, low, float64(k)/50)
		require.GreaterOrEqual(t, high, float64(k)/50)
	}
}

// Where none was seen the interval begins at nothing, and where all were it ends at all: exactly.
func TestWilson_Ends(t *testing.T) {
	for n := int64(1); n < 3_000; n++ {
		low, _ := search.Wilson(0, n)
		require.Zero(t, low, n)
		_, high := search.Wilson(n, n)
		require.Equal(t, 1.0, high, n)
	}
	for _, bad := range [][2]int64{{-1, 5}, {6, 5}, {0, -1}} {
		require.Panics(t, func() { search.Wilson(bad[0], bad[1]) })
	}
}
