package faults

import (
	"fmt"
	"strings"
)

// SyntaxError is what is wrong with a line of the fault language, and where. Callers that know
// more of the place put it before the message.
type SyntaxError struct {
	Line     int    // from 1; 0: the only one
	Column   int    // from 1, in characters
	Word     string // the word in question; "" at the end of the line
	Problem  string // what the word is: "unknown call kind"
	Expected string // what could have stood in its place
	Nearest  string // the word that was perhaps meant, or ""
}

// Error is one line: the place, the word, what was expected and what was perhaps meant.
func (e *SyntaxError) Error() string {
	var b strings.Builder
	if e.Line > 0 {
		fmt.Fprintf(&b, "line %d, ", e.Line)
	}
	fmt.Fprintf(&b, "column %d: ", e.Column)
	if e.Word == "" {
		b.WriteString("end of line")
	} else {
		fmt.Fprintf(&b, "%s %q", e.Problem, e.Word)
	}
	fmt.Fprintf(&b, ", expected %s", e.Expected)
	b.WriteString(didYouMean(e.Nearest))
	return b.String()
}

func didYouMean(name string) string {
	if name == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", name)
}

// expectation says that one of the words was expected, or what form describes. Few words are
// quoted, since some of them are small: "of" or "for".
func expectation(words []string, form string) string {
	var choices []string
	if len(words) > 2 {
		choices = append(choices, "one of "+strings.Join(words, ", "))
	} else {
		for _, w := range words {
			choices = append(choices, fmt.Sprintf("%q", w))
		}
	}
	if form != "" {
		choices = append(choices, form)
	}
	return strings.Join(choices, " or ")
}
