package scenarios

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/oncesim/oncesim/checker"
	"github.com/oncesim/oncesim/model"
)

// String is the line that a verdict section has for e.
func (e Expectation) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-8s %s", e.Result, e.Property)
	if e.Kind != 0 {
		fmt.Fprintf(&b, ": %s", e.Kind)
		if e.Record != "" {
			fmt.Fprintf(&b, " %s", e.Record)
		}
		if e.Times != 0 {
			fmt.Fprintf(&b, " x%d", e.Times)
		}
	}
	return b.String()
}

// word is a word of a line and its column: characters from 1.
type word struct {
	text string
	col  int
}

// words splits a line at spaces and tabs; a colon that ends a word is a word of its own.
func words(line string) []word {
	var list []word
	for at := 0; at < len(line); {
		if line[at] == ' ' || line[at] == '\t' {
			at++
			continue
		}
		end := at
		for end < len(line) && line[end] != ' ' && line[end] != '\t' {
			end++
		}
		col := utf8.RuneCountInString(line[:at]) + 1
		text, hasColon := strings.CutSuffix(line[at:end], ":")
		if text != "" {
			list = append(list, word{text, col})
		}
		if hasColon {
			list = append(list, word{":", col + utf8.RuneCountInString(text)})
		}
		at = end
	}
	return list
}

// verdictParser reads one line of a verdict section.
type verdictParser struct {
	*fileParser
	line  int
	words []word
	end   int // the column behind the line
}

// peek is the next word; behind the last one its text is empty.
func (p *verdictParser) peek() word {
	if len(p.words) == 0 {
		return word{col: p.end}
	}
	return p.words[0]
}

func (p *verdictParser) next() word {
	w := p.peek()
	p.words = p.words[min(1, len(p.words)):]
	return w
}

// complain says what is wrong with a word.
func (p *verdictParser) complain(w word, format string, args ...any) {
	p.fail(p.line, w.col, "%s", fmt.Sprintf(format, args...))
}

// unknown complains about a word that is none of the names, or is missing.
func (p *verdictParser) unknown(w word, what string, names []string) {
	if w.text == "" {
		p.complain(w, "end of line, expected the %s: %s", what, strings.Join(names, ", "))
		return
	}
	p.complain(w, "unknown %s %s", what, unknown(w.text, names))
}

// verdict reads the expectations. Two lines may speak of one property only if both say violated:
// with different anomalies.
func (p *fileParser) verdict(sec *section) {
	if sec == nil || p.err != nil {
		return
	}
	for i, line := range strings.Split(string(sec.data), "\n") {
		v := &verdictParser{fileParser: p, line: sec.line + i, words: words(line),
			end: utf8.RuneCountInString(line) + 1}
		if len(v.words) == 0 || strings.HasPrefix(v.words[0].text, "#") {
			continue
		}
		property := v.words[min(1, len(v.words)-1)]
		e := v.expectation()
		if p.err != nil {
			return
		}
		for _, other := range p.s.Expect {
			if !canStandBeside(other, e) {
				v.complain(property, "%s is on line %d already, expected it once", e.Property,
					other.Line)
			}
		}
		p.s.Expect = append(p.s.Expect, e)
	}
}

func canStandBeside(a, b Expectation) bool {
	a.Line, b.Line = 0, 0
	return a.Property != b.Property ||
		a.Result == model.Violated && b.Result == model.Violated && a != b
}

func (p *verdictParser) expectation() Expectation {
	e := Expectation{Line: p.line, Result: p.result()}
	property := p.property()
	e.Property = property.Name
	if p.err != nil || len(p.words) == 0 {
		return e
	}
	if w := p.next(); w.text != ":" || e.Result != model.Violated {
		expected := "the end of the line"
		if e.Result == model.Violated {
			expected = "a colon and an anomaly, or " + expected
		}
		p.complain(w, "unexpected %q, expected %s", clip(w.text), expected)
		return e
	}
	e.Kind = p.anomaly(property)
	if w := p.peek(); strings.Contains(w.text, ":") {
		e.Record = p.record()
	}
	if w := p.peek(); strings.HasPrefix(w.text, "x") {
		e.Times = p.times()
	}
	if w := p.peek(); w.text != "" {
		p.complain(w, "unexpected %q, expected a record such as %s, a count such as x2 or the end "+
			"of the line", clip(w.text), p.s.Topology.RecordName(model.ID{}))
	}
	return e
}

func (p *verdictParser) result() model.Result {
	results := []model.Result{model.Holds, model.Violated, model.Undecided}
	var names []string
	w := p.next()
	for _, r := range results {
		names = append(names, r.String())
		if r.String() == w.text {
			return r
		}
	}
	p.unknown(w, "verdict", names)
	return model.Undecided
}

func (p *verdictParser) property() (property checker.Property) {
	w := p.next()
	var names []string
	for _, property := range p.lib.Properties {
		names = append(names, property.Name)
		if property.Name == w.text {
			return property
		}
	}
	p.unknown(w, "property", names)
	return property
}

// anomaly reads the name of an anomaly that a violation of the property can be.
func (p *verdictParser) anomaly(property checker.Property) model.AnomalyKind {
	kinds := property.Anomalies
	if len(kinds) == 0 {
		kinds = model.Anomalies()
	}
	var names []string
	w := p.next()
	for _, k := range kinds {
		names = append(names, k.String())
		if k.String() == w.text {
			return k
		}
	}
	p.unknown(w, "anomaly of "+property.Name, names)
	return 0
}

// record reads the name of a record that the topology can have.
func (p *verdictParser) record() string {
	w := p.next()
	t := p.s.Topology
	partition, offset, _ := cutLast(w.text, ":")
	input, part, _ := cutLast(partition, "/")
	n, err := strconv.Atoi(part)
	_, known := t.FindPartition(input, n)
	if _, bad := strconv.ParseInt(offset, 10, 64); bad != nil || strings.HasPrefix(offset, "-") ||
		strings.HasPrefix(offset, "+") {
		known = false
	}
	if err != nil || !known || part != strconv.Itoa(n) {
		p.complain(w, "bad record %q, expected one such as %s", clip(w.text),
			t.RecordName(model.ID{}))
	}
	return w.text
}

// cutLast cuts s around the last separator.
func cutLast(s, separator string) (before, after string, found bool) {
	i := strings.LastIndex(s, separator)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(separator):], true
}

func (p *verdictParser) times() int64 {
	w := p.next()
	n, err := strconv.ParseInt(w.text[1:], 10, 64)
	switch {
	case errors.Is(err, strconv.ErrRange) || w.text == "x0":
		p.complain(w, "count %s is out of range, expected x1 to x%d", clip(w.text),
			int64(math.MaxInt64))
		return 0
	case err != nil || n < 1 || w.text != fmt.Sprintf("x%d", n):
		p.complain(w, "bad count %q, expected one such as x2", clip(w.text))
		return 0
	}
	return n
}

// recorded reads what the machine wrote: one "key: value" a line.
func (p *fileParser) recorded(sec *section) {
	if sec == nil || p.err != nil {
		return
	}
	p.s.Recorded = new(Recorded)
	names := keyNames(recordedKeys)
	var seen []string
	for i, line := range strings.Split(strings.TrimSuffix(string(sec.data), "\n"), "\n") {
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch at := sec.line + i; {
		case !slices.Contains(names, name):
			p.fail(at, 1, "unknown key %s", unknown(name, names))
		case slices.Contains(seen, name):
			p.fail(at, 1, "key %q for the second time, expected it once", name)
		case !p.record(name, value):
			p.fail(at, utf8.RuneCountInString(line[:len(line)-len(value)])+1,
				"%s is %q, expected %s", name, clip(value), recordedSays(name))
		}
		seen = append(seen, name)
	}
	if !slices.Contains(seen, "hash") {
		p.fail(sec.line-1, 1, "section %q has no %q, expected one", recordedSection, "hash")
	}
}

// record stores one recorded value; ok is false where it is not what the key wants.
func (p *fileParser) record(name, value string) (ok bool) {
	r := p.s.Recorded
	var err error
	switch name {
	case "hash":
		ok = isHex(value, 16)
		r.Hash, err = strconv.ParseUint(value, 16, 64)
	case "golden":
		ok = true
		r.Format, err = strconv.Atoi(value)
		ok = value == strconv.Itoa(r.Format) && r.Format >= 0
	case "signature":
		r.Signature, ok = value, isRecordable(value)
	case "version":
		r.Version, ok = value, isRecordable(value)
	}
	return ok && err == nil
}

// isRecordable reports whether a text can stand behind a key in the section recorded.
func isRecordable(text string) bool {
	return isLine(text) && utf8.ValidString(text)
}

// recordedSays is the form of a recorded value.
func recordedSays(name string) string {
	for _, k := range recordedKeys {
		if k.name == name {
			says, _, _ := strings.Cut(k.says, ":")
			return says
		}
	}
	return ""
}
