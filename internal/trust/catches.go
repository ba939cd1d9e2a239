package trust

import (
	_ "embed" // of caughtText
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/oncesim/oncesim/scenarios"
)

// caughtText says how the rows of the kill matrix were caught when they were measured last, so that
// the same runs can be made again. A line has a defect, a mode, and one of
//
//	blind PROPERTY RUN...     the blind runs that break a property, of those that are counted
//	placed PROPERTY FAULT     a fault that breaks it by itself, in the small scenario of the row
//
// A row that is never caught has none.
//
//go:embed catches.txt
var caughtText string

// The words of caughtText.
const (
	wordBlind  = "blind"
	wordPlaced = "placed"
)

// Caught writes how rows were caught.
func Caught(rows []*Row) string {
	var b strings.Builder
	for _, r := range rows {
		for _, by := range r.By {
			fmt.Fprintf(&b, "%s %s %s %s", r.Defect.Name, r.Mode, wordBlind, by.Property)
			for _, n := range by.Runs {
				fmt.Fprintf(&b, " %d", n)
			}
			b.WriteByte('\n')
		}
		if p := r.PlacedFirst; p.Property != "" {
			fmt.Fprintf(&b, "%s %s %s %s %s\n", r.Defect.Name, r.Mode, wordPlaced, p.Property,
				p.Fault)
		}
	}
	return b.String()
}

// Recall reads what Caught has written, as far as it goes: the rows of the kill matrix of a
// library, measured with some effort.
func Recall(lib *scenarios.Library, text string, effort Effort) ([]*Row, error) {
	var rows []*Row
	at := map[[2]string]*Row{}
	for _, d := range lib.Defects {
		for _, mode := range d.Modes {
			r := &Row{Defect: d, Mode: mode}
			rows, at[[2]string{d.Name, mode}] = append(rows, r), r
		}
	}
	for i, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		words := strings.SplitN(line, " ", 5)
		if len(words) < 5 {
			return nil, fmt.Errorf("catches.txt:%d: %q, expected five words", i+1, line)
		}
		r := at[[2]string(words[:2])]
		if r == nil {
			return nil, fmt.Errorf("catches.txt:%d: %s is not planted in %s", i+1, words[0],
				words[1])
		}
		if err := r.recall(words[2], words[3], words[4]); err != nil {
			return nil, fmt.Errorf("catches.txt:%d: %w", i+1, err)
		}
	}
	for _, r := range rows {
		slices.Sort(r.Catches)
		r.Catches = slices.Compact(r.Catches)
		r.Runs = effort.RunsMax
		if len(r.Catches) == effort.CatchesMax {
			r.Runs = r.Catches[effort.CatchesMax-1]
		}
	}
	return rows, nil
}

// recall takes a line about the row.
func (r *Row) recall(word, property, rest string) error {
	switch word {
	case wordPlaced:
		r.PlacedFirst = Placement{property, rest}
		return nil
	case wordBlind:
		by := Broken{Property: property}
		for _, field := range strings.Fields(rest) {
			n, err := strconv.ParseInt(field, 10, 64)
			if err != nil || n < 1 {
				return fmt.Errorf("%q is no run", field)
			}
			by.Runs, r.Catches = append(by.Runs, n), append(r.Catches, n)
		}
		r.By = append(r.By, by)
		return nil
	}
	return fmt.Errorf("%q, expected %s or %s", word, wordBlind, wordPlaced)
}
