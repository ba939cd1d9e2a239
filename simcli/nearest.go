package simcli

import (
	"fmt"
	"strings"
)

// namesMax is how many names a complaint lists; of more it says where they are listed.
const namesMax = 16

// unknown is the complaint about a name that is none of those.
func unknown(what, name string, names []string) error {
	message := fmt.Sprintf("unknown %s %q", what, name)
	if len(names) <= namesMax {
		message += ", expected one of " + strings.Join(names, ", ")
	}
	if near := nearest(name, names); near != "" {
		message += fmt.Sprintf("; did you mean %q?", near)
	} else if len(names) > namesMax {
		message += "; \"list\" shows what there is"
	}
	return fail(statusUsage, "%s", message)
}

// nearest is the first name at the least edit distance to word, "" where all are further away than
// half of the word.
func nearest(word string, names []string) string {
	best, least := "", len(word)/2+1
	for _, name := range names {
		if d := distance(strings.ToLower(word), strings.ToLower(name)); d < least {
			best, least = name, d
		}
	}
	return best
}

// distance counts the insertions, deletions, replacements and swaps of neighbours that lead from a
// to b, no letter being touched twice. Long words are not compared: nobody mistypes them.
func distance(a, b string) int {
	const tooLong = 100
	if max(len(a), len(b)) > tooLong {
		return tooLong
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
