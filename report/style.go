package report

import "github.com/oncesim/oncesim/model"

// Style says whether a report is for a file or for a terminal with colour.
type Style uint8

// The styles.
const (
	Plain  Style = iota // text alone
	Colour              // escape sequences mark what is violated
)

// The escape sequences of a terminal.
const (
	bold   = "\x1b[1m"
	red    = "\x1b[31m"
	green  = "\x1b[32m"
	yellow = "\x1b[33m"
	reset  = "\x1b[0m"
)

func (s Style) paint(colour, text string) string {
	if s == Plain {
		return text
	}
	return colour + text + reset
}

// result paints a text by a verdict: unknown is never green.
func (s Style) result(r model.Result, text string) string {
	switch r {
	case model.Holds:
		return s.paint(green, text)
	case model.Violated:
		return s.paint(red, text)
	}
	return s.paint(yellow, text)
}
