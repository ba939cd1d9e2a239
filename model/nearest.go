package model

import "strings"

// Nearest returns the name that word was perhaps meant to be: the one at the least edit distance,
// the first of several, and "" where all are further away than half of the word. Complaints about
// a name that nothing has suggest it.
func Nearest(word string, names []string) string {
	best, least := "", len(word)/2+1
	for _, name := range names {
		if d := distance(strings.ToLower(word), strings.ToLower(name), least); d < least {
			best, least = name, d
		}
	}
	return best
}

// distance counts the insertions, deletions, replacements and swaps of neighbours that lead from
// a to b, no letter being touched twice. From limit on it need not be exact.
func distance(a, b string, limit int) int {
	if max(len(a)-len(b), len(b)-len(a)) >= limit {
		return limit
	}
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			replace := last[j-1]
			if a[i-1] != b[j-1] {
				replace++
			}
			row[j] = min(last[j]+1, row[j-1]+1, replace)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
