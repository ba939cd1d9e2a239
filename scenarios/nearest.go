package scenarios

import (
	"fmt"
	"strings"
)

// unknown says of a name that is none of those: it, what was expected and what was perhaps meant.
func unknown(name string, names []string) string {
	const limit = 16
	known := strings.Join(names[:min(len(names), limit)], ", ")
	switch {
	case len(names) == 0:
		known = "nothing, for there are none"
	case len(names) > limit:
		known += ", …"
	}
	message := fmt.Sprintf("%q, expected %s", clip(name), known)
	if near := nearest(name, names); near != "" {
		message += fmt.Sprintf("; did you mean %q?", near)
	}
	return message
}

// nearest is the name that word was perhaps meant to be: the first at the least edit distance,
// and "" where all are further away than half of the word.
func nearest(word string, names []string) string {
	best, least := "", min(len(word)/2+1, nameMax)
	for _, name := range names {
		if d := distance(strings.ToLower(word), strings.ToLower(name)); d < least {
			best, least = name, d
		}
	}
	return best
}

// distance counts the insertions, deletions and replacements that lead from a to b. Long words
// are not compared: nobody mistypes them.
func distance(a, b string) int {
	if max(len(a), len(b)) > nameMax {
		return nameMax
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(row[j+1]+1, row[j]+1, cost)
		}
	}
	return row[len(b)]
}
