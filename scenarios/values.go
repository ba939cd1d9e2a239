package scenarios

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/oncesim/oncesim/faults"
	"go.yaml.in/yaml/v3"
)

// key is one key of a mapping and what the schema says of it.
type key struct {
	name string
	says string
}

func keyNames(keys []key) []string {
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = k.name
	}
	return names
}

// fields are the values of a mapping; those that are not given are nil.
type fields struct {
	at    *yaml.Node
	names []string
	nodes []*yaml.Node
}

func (f fields) get(name string) *yaml.Node {
	for i := range f.names {
		if f.names[i] == name {
			return f.nodes[i]
		}
	}
	return nil
}

// mapping reads a mapping of text to anything: each key once, in the order of the file.
func (r *reader) mapping(n *yaml.Node, what string) fields {
	f := fields{at: n}
	if r.err != nil || n == nil {
		return f
	}
	if n.Kind != yaml.MappingNode {
		r.failAt(n, "%s is %s, expected a mapping", what, describe(n))
		return f
	}
	for i := 0; i+1 < len(n.Content) && r.err == nil; i += 2 {
		k := n.Content[i]
		if k.Kind != yaml.ScalarNode {
			r.failAt(k, "key is %s, expected a name", describe(k))
		}
		if f.get(k.Value) != nil {
			r.failAt(k, "key %q for the second time, expected it once", clip(k.Value))
		}
		f.names, f.nodes = append(f.names, k.Value), append(f.nodes, n.Content[i+1])
	}
	return f
}

// known reads a mapping that has no other keys than those.
func (r *reader) known(n *yaml.Node, what string, keys []key) fields {
	f := r.mapping(n, what)
	for i, name := range f.names {
		if names := keyNames(keys); !slices.Contains(names, name) {
			r.failAt(n.Content[2*i], "unknown key %s", unknown(name, names))
		}
	}
	return f
}

// need is the value of a key that must be there.
func (r *reader) need(f fields, name, what string) *yaml.Node {
	n := f.get(name)
	if n == nil && r.err == nil {
		r.failAt(f.at, "%s has no %q, expected one", what, name)
	}
	return n
}

// list reads a sequence.
func (r *reader) list(n *yaml.Node, what string) []*yaml.Node {
	if r.err != nil || n == nil {
		return nil
	}
	if n.Kind != yaml.SequenceNode {
		r.failAt(n, "%s is %s, expected a list", what, describe(n))
		return nil
	}
	return n.Content
}

// text reads a scalar as it is written: 007, true and 1_0 are text like any other.
func (r *reader) text(n *yaml.Node, what string) string {
	if r.err != nil || n == nil {
		return ""
	}
	if n.Kind != yaml.ScalarNode || n.Style == 0 && n.Value == "" {
		r.failAt(n, "%s is %s, expected text", what, describe(n))
		return ""
	}
	return n.Value
}

// nameMax bounds names and other texts of one line.
const nameMax = 200

// line reads a text of one line that is fit for messages.
func (r *reader) line(n *yaml.Node, what string) string {
	text := r.text(n, what)
	if r.err == nil && n != nil && !isLine(text) {
		r.failAt(n, "%s %q, expected one line of 1 to %d bytes, without space around it or "+
			"control characters", what, clip(text), nameMax)
	}
	return text
}

func isLine(text string) bool {
	return text != "" && len(text) <= nameMax && strings.IndexFunc(text, isYAMLSpecial) < 0 &&
		text == strings.TrimSpace(text)
}

// number reads a whole number in decimal, from lo to hi.
func (r *reader) number(n *yaml.Node, what string, lo, hi int64) int64 {
	text, ok := r.digits(n, what)
	if !ok {
		return 0
	}
	v, err := strconv.ParseInt(text, 10, 64)
	if err != nil || v < lo || v > hi {
		r.failAt(n, "%s %s is out of range, expected %d to %d", what, clip(text), lo, hi)
		return 0
	}
	return v
}

// unsigned reads a whole number in decimal, from 0 to the largest of 64 bits.
func (r *reader) unsigned(n *yaml.Node, what string) uint64 {
	text, ok := r.digits(n, what)
	if !ok {
		return 0
	}
	v, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		r.failAt(n, "%s %s is out of range, expected 0 to %d", what, clip(text), ^uint64(0))
	}
	return v
}

// digits reads the text of a number. Signs, leading zeros, other bases, fractions and quotes are
// refused: readers of YAML disagree about them.
func (r *reader) digits(n *yaml.Node, what string) (text string, ok bool) {
	if r.err != nil || n == nil {
		return "", false
	}
	unsigned := strings.TrimPrefix(n.Value, "-")
	isNumber := n.Kind == yaml.ScalarNode && n.Style == 0 && unsigned != "" &&
		strings.Trim(unsigned, "0123456789") == "" &&
		(n.Value == "0" || unsigned[0] != '0')
	if !isNumber {
		r.failAt(n, "%s is %s, expected a whole number in decimal", what, describe(n))
	}
	return n.Value, isNumber
}

// duration reads virtual time from lo to hi, in ns.
func (r *reader) duration(n *yaml.Node, what string, lo, hi int64) int64 {
	if r.err != nil || n == nil {
		return 0
	}
	v, ok := faults.ParseDuration(n.Value)
	if n.Kind != yaml.ScalarNode || !ok || v < lo || v > hi {
		r.failAt(n, "%s is %s, expected a duration from %s to %s, such as 80ms", what, describe(n),
			faults.FormatDuration(lo), faults.FormatDuration(hi))
	}
	return v
}

// flag reads a switch that can only be set.
func (r *reader) flag(n *yaml.Node, what string) bool {
	if r.err != nil || n == nil {
		return false
	}
	if n.Kind != yaml.ScalarNode || n.Style != 0 || n.Value != "true" {
		r.failAt(n, "%s is %s, expected true", what, describe(n))
	}
	return true
}

// describe names a node in messages.
func describe(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.Style == 0 && n.Value == "":
		return "empty"
	case n.Style == 0:
		return strconv.Quote(clip(n.Value))
	}
	return "the text " + strconv.Quote(clip(n.Value))
}

// clip shortens a text that a message quotes.
func clip(text string) string {
	const limit = 60
	if len(text) <= limit {
		return text
	}
	end := limit
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}

// pick finds the named value in a list of a library.
func pick[T any](r *reader, n *yaml.Node, what string, list []T, name func(T) string) (item T) {
	word := r.text(n, what)
	if r.err != nil || n == nil {
		return item
	}
	names := make([]string, len(list))
	for i := range list {
		names[i] = name(list[i])
		if names[i] == word {
			return list[i]
		}
	}
	r.failAt(n, "unknown %s %s", what, unknown(word, names))
	return item
}
