package search

import (
	"fmt"
	"math"
)

// confidence is how many standard deviations around its mean hold 95 % of a normal distribution.
const confidence = 1.959963984540054

// Wilson is the 95 % interval of the share of which k of n were seen (Wilson 1927). Unlike the
// textbook's interval around k/n it never leaves 0 to 1, and none of many seen is not "never". Of
// none it is all there is, 0 to 1. It panics unless 0 <= k <= n.
func Wilson(k, n int64) (low, high float64) {
	if k < 0 || k > n {
		panic(fmt.Sprintf("search: %d of %d", k, n))
	}
	if n == 0 {
		return 0, 1
	}
	const square = confidence * confidence
	share, many := float64(k)/float64(n), float64(n)
	middle := (share + square/(2*many)) / (1 + square/many)
	half := confidence / (1 + square/many) *
		math.Sqrt(share*(1-share)/many+square/(4*many*many))
	low, high = max(middle-half, 0), min(middle+half, 1)
	if k == 0 { // rounding aside
		low = 0
	}
	if k == n {
		high = 1
	}
	return low, high
}
