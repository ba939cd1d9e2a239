package faults

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/oncesim/oncesim/model"
)

// word is a word of a line and its column: characters, not bytes, from 1.
type word struct {
	text   string
	column int
}

// parser reads the words of one line from left to right. Its methods do nothing and return zero
// once err is set, so that what reads a fault is written as if lines were always right.
type parser struct {
	words  []word   // those still to be read
	end    int      // the column behind the last word
	wanted []string // what has been tried in place of the next word, in vain
	err    *SyntaxError
}

// newParser splits a line. A line break within it is an error, not white space: behind a comment
// the rest would be dropped unseen.
func newParser(line string) *parser {
	line = strings.TrimRight(line, "\r\n")
	if i := strings.IndexAny(line, "\r\n"); i >= 0 {
		return &parser{err: &SyntaxError{Column: utf8.RuneCountInString(line[:i]) + 1,
			Word: line[i : i+1], Problem: "unexpected", Expected: "one fault a line"}}
	}
	p := &parser{end: 1}
	for column := 1; ; column = p.end {
		rest := strings.TrimLeftFunc(line, unicode.IsSpace)
		if rest == "" || rest[0] == '#' {
			return p
		}
		column += utf8.RuneCountInString(line[:len(line)-len(rest)])
		length := strings.IndexFunc(rest, unicode.IsSpace)
		if length < 0 {
			length = len(rest)
		}
		p.words = append(p.words, word{rest[:length], column})
		p.end, line = column+utf8.RuneCountInString(rest[:length]), rest[length:]
	}
}

// isBlank reports whether the line says nothing, which is not an error everywhere.
func (p *parser) isBlank() bool { return p.err == nil && len(p.words) == 0 }

// peek is the next word; at the end of the line its text is empty.
func (p *parser) peek() word {
	if len(p.words) == 0 {
		return word{column: p.end}
	}
	return p.words[0]
}

func (p *parser) advance() { p.words, p.wanted = p.words[1:], p.wanted[:0] }

// accept reads the word if it comes next. If not, it is remembered as one that could have come.
func (p *parser) accept(text string) bool {
	if p.err != nil {
		return false
	}
	if p.peek().text != text {
		p.wanted = append(p.wanted, text)
		return false
	}
	p.advance()
	return true
}

// expect reads a word that must come next.
func (p *parser) expect(text string) { p.oneOf("unexpected", text) }

// oneOf reads one of the words and returns it. If none comes next, problem says what the word
// that does is, and the result is "".
func (p *parser) oneOf(problem string, words ...string) string {
	for _, w := range words {
		if p.accept(w) {
			return w
		}
	}
	p.fail(problem, "")
	return ""
}

// fail records that the next word is wrong. What was expected is what has been tried in its
// place, and then form, the description of a value, if there is one.
func (p *parser) fail(problem, form string) {
	if p.err != nil {
		return
	}
	next := p.peek()
	p.err = &SyntaxError{Column: next.column, Word: next.text, Problem: problem,
		Expected: expectation(p.wanted, form), Nearest: model.Nearest(next.text, p.wanted)}
}

// refuse is fail of a value: if only its numbers are out of range, bounds says what was expected,
// and else form.
func (p *parser) refuse(problem string, isValue func(string) bool, form, bounds string) {
	if isValue(smallest(p.peek().text)) {
		form = bounds
	}
	p.fail(problem, form)
}

// finish makes sure that nothing follows.
func (p *parser) finish() {
	if len(p.words) > 0 {
		p.fail("unexpected", "the end of the line")
	}
}

// process reads the name of a process. Only Compile knows whether there is one of that name.
func (p *parser) process() string {
	name := p.peek().text
	isProcess := func(s string) bool { _, _, ok := cutNumber(s, "/", math.MaxInt64); return ok }
	if !isProcess(name) {
		p.refuse("bad process", isProcess, "a process such as op/1",
			fmt.Sprintf("a process with a number up to %d", int64(math.MaxInt64)))
	}
	if p.err != nil {
		return ""
	}
	p.advance()
	return name
}

// record reads the name of a record, with its partition or bare.
func (p *parser) record() RecordName {
	name, ok := parseRecord(p.peek().text)
	if !ok {
		isRecord := func(s string) bool { _, ok := parseRecord(s); return ok }
		p.refuse("bad record", isRecord, "a record such as input/1:7 or 7",
			fmt.Sprintf("a record with a partition up to %d and an offset up to %d", math.MaxInt32,
				int64(math.MaxInt64)))
	}
	if p.err != nil {
		return RecordName{}
	}
	p.advance()
	return name
}

// ordinal reads a number from 1 to limit.
func (p *parser) ordinal(limit int64) int64 {
	n, ok := parseNumber(p.peek().text, limit)
	if !ok || n == 0 {
		isNumber := func(s string) bool { _, ok := parseNumber(s, limit); return ok }
		p.refuse("bad ordinal", isNumber, "a whole number from 1",
			fmt.Sprintf("a whole number from 1 to %d", limit))
	}
	if p.err != nil {
		return 0
	}
	p.advance()
	return n
}

// duration reads a duration that may be zero.
func (p *parser) duration() int64 {
	ns, ok := ParseDuration(p.peek().text)
	if !ok {
		isDuration := func(s string) bool { _, ok := ParseDuration(s); return ok }
		p.refuse("bad duration", isDuration, "a duration such as 80ms, 1.5s or 300us",
			"a duration of whole ns up to "+FormatDuration(durationMax))
	}
	if p.err != nil {
		return 0
	}
	p.advance()
	return ns
}

func (p *parser) positiveDuration() int64 {
	if ns, ok := ParseDuration(p.peek().text); ok && ns == 0 {
		p.fail("bad duration", "a duration above zero")
	}
	return p.duration()
}

// parseRecord reads "input/1:7" or "7". The name of the input may itself have both marks.
func parseRecord(s string) (r RecordName, ok bool) {
	if offset, ok := parseNumber(s, math.MaxInt64); ok {
		return RecordName{Offset: offset}, true
	}
	partition, offset, ok := cutNumber(s, ":", math.MaxInt64)
	if !ok {
		return RecordName{}, false
	}
	input, part, ok := cutNumber(partition, "/", math.MaxInt32)
	return RecordName{Input: input, Part: int(part), Offset: offset}, ok
}

// cutNumber splits s at the last separator into a name, which is not empty, and a number.
func cutNumber(s, separator string, limit int64) (name string, n int64, ok bool) {
	i := strings.LastIndex(s, separator)
	if i <= 0 {
		return "", 0, false
	}
	n, ok = parseNumber(s[i+1:], limit)
	return s[:i], n, ok
}

// parseNumber reads a number of nothing but digits, up to limit.
func parseNumber(s string, limit int64) (n int64, ok bool) {
	if s == "" || digits(s) < len(s) {
		return 0, false
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil && n <= limit
}

// smallest is s with 0 in place of each number: what can be read then and not before has a number
// that is out of range.
func smallest(s string) string {
	var b strings.Builder
	for s != "" {
		n := digits(s)
		if n > 0 {
			b.WriteByte('0')
		} else {
			b.WriteByte(s[0])
			n = 1
		}
		s = s[n:]
	}
	return b.String()
}

// digits is the number of digits that s begins with.
func digits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}
