package scenarios

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// FileError is a complaint about a scenario file. Col counts characters from 1, Line counts lines
// of the whole file, not of the section.
type FileError struct {
	File string
	Line int
	Col  int
	Msg  string
	Err  error // what errors.Is finds, or nil
}

// Error is one line: the place, what is wrong, what was expected and what was perhaps meant.
func (e *FileError) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Col, e.Msg)
}

// Unwrap returns the class of the complaint, or nil.
func (e *FileError) Unwrap() error { return e.Err }

// yamlMax bounds the text that the YAML parser is given.
const yamlMax = 1 << 20

// reader reads values from the nodes of a YAML text. Its methods do nothing and return zero once
// err is set, so that what reads a scenario is written as if files were always right.
//
// Nodes are never decoded by reflection: the library's own decoding quietly rounds numbers that
// are out of range, gives meaning to tags, and loses positions.
type reader struct {
	file  string
	first int      // the line of the file at which the text begins
	lines []string // of the text
	err   *FileError
}

func (r *reader) fail(line, col int, format string, args ...any) {
	if r.err == nil {
		r.err = &FileError{File: r.file, Line: line, Col: col, Msg: fmt.Sprintf(format, args...)}
	}
}

// failAt complains about a node.
func (r *reader) failAt(n *yaml.Node, format string, args ...any) {
	r.fail(r.first+n.Line-1, n.Column, format, args...)
}

// document reads text, which begins at line first of the file, and returns its root; nil after a
// complaint.
func (r *reader) document(text []byte, first int) *yaml.Node {
	r.first, r.lines = first, strings.Split(string(text), "\n")
	if len(text) > yamlMax {
		r.fail(first, 1, "section has %d bytes, expected at most %d", len(text), yamlMax)
	}
	for i, line := range r.lines {
		r.plainLine(i, line)
	}
	if r.err != nil {
		return nil
	}
	root, second, err := decodeYAML(text)
	switch {
	case err != nil:
		line, col := locateYAML(text, err)
		_, problem := splitYAMLError(err)
		r.fail(first+line-1, col, "bad YAML in %q: %s", clip(r.lines[line-1]), problem)
	case root == nil:
		r.fail(first, 1, "section is empty, expected a mapping with format, topology and mode")
	case second != nil:
		r.failAt(second, "second YAML document, expected one")
	default:
		r.forbid(root)
	}
	if r.err != nil {
		return nil
	}
	return root.Content[0]
}

// plainLine refuses what positions, or other readers of the file, would disagree about: invalid
// UTF-8, control characters, line breaks that only YAML knows, and directives.
func (r *reader) plainLine(i int, line string) {
	if strings.HasPrefix(line, "%") {
		r.fail(r.first+i, 1, "YAML directive %q, expected none", clip(line))
	}
	for at, col := 0, 1; at < len(line); col++ {
		c, size := utf8.DecodeRuneInString(line[at:])
		switch {
		case c == utf8.RuneError && size == 1:
			r.fail(r.first+i, col, "byte %#02x is not UTF-8", line[at])
		case isYAMLSpecial(c) && c != '\t':
			r.fail(r.first+i, col, "character %U, expected it as an escape in double quotes", c)
		}
		at += size
	}
}

// isYAMLSpecial reports whether c is a control character, a line break of YAML that is not one of
// text files, or a character that YAML does not allow.
func isYAMLSpecial(c rune) bool {
	return c < 0x20 || c >= 0x7f && c < 0xa0 || c == 0x2028 || c == 0x2029 || c == 0xfeff ||
		c == 0xfffe || c == 0xffff
}

// decodeYAML returns the first document of text, and the second if there is one. A panic of the
// library is an error like any other.
func decodeYAML(text []byte) (first, second *yaml.Node, err error) {
	defer func() {
		if problem := recover(); problem != nil {
			err = fmt.Errorf("yaml: %v", problem)
		}
	}()
	d := yaml.NewDecoder(bytes.NewReader(text))
	var nodes [2]*yaml.Node
	for i := range nodes {
		n := new(yaml.Node)
		err := d.Decode(n)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, nil, err
		}
		nodes[i] = n
	}
	return nodes[0], nodes[1], nil
}

// splitYAMLError takes the line out of a message of the library; 0 where it gives none.
func splitYAMLError(err error) (line int, problem string) {
	problem = strings.TrimPrefix(err.Error(), "yaml: ")
	rest, ok := strings.CutPrefix(problem, "line ")
	if !ok {
		return 0, problem
	}
	number, rest, _ := strings.Cut(rest, ": ")
	line, err = strconv.Atoi(number)
	if err != nil {
		return 0, problem
	}
	return line, rest
}

// locateMax bounds the text in which the place of a problem is looked for, walkMax the bytes that
// are parsed once more for it.
const (
	locateMax = 32 << 10
	walkMax   = 64 << 10
)

// locateYAML says where text, which gives err, stops being YAML. The library names no column, and
// as often as not the line of something earlier. So the place is where the longest prefix ends
// that is YAML by itself; only a problem inside brackets or quotes is then put at their beginning,
// where the library's line is the better one.
func locateYAML(text []byte, err error) (line, col int) {
	lines := bytes.SplitAfter(text, []byte("\n"))
	known, _ := splitYAMLError(err)
	known = min(max(known, 1), len(lines))
	if len(text) > locateMax {
		return known, 1
	}
	ends := make([]int, len(lines))
	for i, at := 0, 0; i < len(lines); i++ {
		at += len(lines[i])
		ends[i] = at
	}
	line = min(longestYAML(text, ends, err)+1, len(lines))
	if known > line {
		return known, 1 + len(lines[known-1]) - len(bytes.TrimLeft(lines[known-1], " "))
	}
	at := ends[line-1] - len(lines[line-1])
	columns := []int{at}
	for _, c := range strings.TrimSuffix(string(lines[line-1]), "\n") {
		at += utf8.RuneLen(c)
		columns = append(columns, at)
	}
	return line, max(longestYAML(text, columns, err), 1)
}

// longestYAML is how many of the ends come before the problem err of text: the last of them is the
// end of the longest prefix that is YAML. The parser goes from left to right, so all prefixes that
// have the problem give the same error; one that does not may still be cut off within brackets.
func longestYAML(text []byte, ends []int, err error) int {
	n := sort.Search(len(ends), func(i int) bool {
		_, _, other := decodeYAML(text[:ends[i]])
		return other != nil && other.Error() == err.Error()
	})
	for walked := 0; n > 0 && walked < walkMax; n-- {
		if _, _, err := decodeYAML(text[:ends[n-1]]); err == nil {
			break
		}
		walked += ends[n-1]
	}
	return n
}

// forbid refuses what makes the meaning of a file depend on more than the place where it stands:
// anchors, aliases, merge keys and tags. A tag is looked for in the text, since the library drops
// the tag "!" and rewrites others.
func (r *reader) forbid(n *yaml.Node) {
	isScalar := n.Kind == yaml.ScalarNode
	switch {
	case r.err != nil:
	case n.Anchor != "":
		r.failAt(n, "anchor %q, expected the value itself", "&"+n.Anchor)
	case n.Kind == yaml.AliasNode:
		r.failAt(n, "alias %q, expected the value itself", "*"+n.Value)
	case strings.HasPrefix(r.source(n), "!"):
		tag, _, _ := strings.Cut(r.source(n), " ")
		r.failAt(n, "tag %q, expected the value alone", clip(tag))
	case isScalar && n.Style == 0 && n.Value == "<<":
		r.failAt(n, "merge key %q, expected the keys themselves", n.Value)
	}
	for _, child := range n.Content {
		r.forbid(child)
	}
}

// source is the rest of the line at which a node begins.
func (r *reader) source(n *yaml.Node) string {
	if n.Line < 1 || n.Line > len(r.lines) {
		return ""
	}
	line := r.lines[n.Line-1]
	for col := 1; col < n.Column && line != ""; col++ {
		_, size := utf8.DecodeRuneInString(line)
		line = line[size:]
	}
	return line
}
